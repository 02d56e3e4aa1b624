"""Footing: when the feet of a figure stand on the ground, and poses in which they stay where they stand.

A heel or a ball stands while it is low and slow, measured at ankle and toe, less their heights at rest; so a foot
that rolls over its ball still stands. Planting holds what stands in its place by turning hip and knee, and fades in
and out over a few frames, so that nothing jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from rattleback.characters.motion.ground import moved
from rattleback.characters.motion.limb import Limb, reached
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.characters.pose import Pose
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

# A sole stands below this part of the length of its leg above its lowest place, slower than that many of it a second.
LOW, SLOW = 0.06, 0.9
# A leg is held by this part shorter than it is, so that the knee does not snap straight.
SPARE = 1e-3
# Time over which a leg goes back to its motion where the foot leaves the ground [s].
FADE = 0.08


@sealed
@dataclass(frozen=True)
class Leg:
    """A leg: a limb and the toe that hangs on its end.

    Args:
        limb: Hip, knee and ankle.
        toe: The joint at the ball of the foot or at its tip.
    """

    limb: Limb
    toe: str

    def length(self, skeleton: Skeleton) -> float:
        """Length of thigh and shank at rest [m]."""
        points = skeleton.matrices(skeleton.rest)[:, :3, 3]
        a, b, c = self.limb.numbers(skeleton)
        return float(np.linalg.norm(points[b] - points[a]) + np.linalg.norm(points[c] - points[b]))


def soles(skeleton: Skeleton, pose: Pose, leg: Leg) -> Floats:
    """Ankle and toe of a leg in the world (..., 2, 3), each by its height at rest lower: where the sole is."""
    points = skeleton.matrices(pose)[..., :3, 3]
    rest = skeleton.matrices(skeleton.rest)[:, :3, 3]
    places = [skeleton.number(leg.limb.end), skeleton.number(leg.toe)]
    found = points[..., places, :].copy()
    found[..., 2] -= rest[places, 2] - rest[:, 2].min()
    return np.asarray(found)


def standing(skeleton: Skeleton, poses: Pose, leg: Leg, frame_time: float, slow: float = SLOW) -> NDArray[np.bool_]:
    """In which frames a foot stands (frames, 2): its heel, and its ball.

    Args:
        skeleton: The skeleton, in metres with z up.
        poses: Poses at equal distances in time (frames, ...).
        leg: The leg.
        frame_time: Time between them [s].
        slow: Speed below which it stands, in lengths of the leg [1/s].
    """
    if len(poses) < 3:
        raise InputError(f"Footing needs three frames at least to see how fast feet move; there are {len(poses)}.")
    where, length = soles(skeleton, poses, leg), leg.length(skeleton)
    speed = np.linalg.norm(np.gradient(where, checks.positive(frame_time, "The frame_time"), axis=0), axis=-1)
    # One frame apart, such as a pose at rest in front of a clip, says nothing about the ground.
    height = where[..., 2] - np.quantile(where[..., 2].min(axis=-1), 0.05)
    return np.asarray((height < LOW * length) & (speed < slow * length))


def planted(skeleton: Skeleton, poses: Pose, legs: Sequence[Leg], frame_time: float, fade: float = FADE) -> Pose:
    """Poses in which feet that stand stay where they stand; hips go down where a leg would be too short for it.

    Args:
        skeleton: The skeleton, in metres with z up.
        poses: Poses at equal distances in time (frames, ...).
        legs: The legs.
        frame_time: Time between them [s].
        fade: Time over which a leg goes back to its motion where the foot leaves the ground [s].
    """
    points = skeleton.matrices(poses)[..., :3, 3]
    count = max(1, round(fade / checks.positive(frame_time, "The frame_time")))
    goals = [points[:, skeleton.number(leg.limb.end)] + _shift(skeleton, poses, leg, frame_time, count) for leg in legs]
    low = np.max([drop(skeleton, points, leg, goal) for leg, goal in zip(legs, goals, strict=True)], axis=0)
    down = np.zeros((len(poses), 3))
    down[:, 2] = -smooth(low, count)
    found = moved(skeleton, poses, down)
    for leg, goal in zip(legs, goals, strict=True):
        found = reached(skeleton, found, leg.limb, goal)
    return found


def _shift(skeleton: Skeleton, poses: Pose, leg: Leg, frame_time: float, count: int) -> Floats:
    """How far the ankle of a leg is moved over the ground (frames, 3)."""
    stands, where = standing(skeleton, poses, leg, frame_time), soles(skeleton, poses, leg)
    shift, held = np.zeros((len(poses), 3)), np.zeros(len(poses), dtype=bool)
    for start, end, part in stretches(stands):
        anchor = np.median(where[start:end, part], axis=0)
        wanted = anchor - where[start:end, part]
        wanted[:, 2] = 0.0
        if start > 0 and held[start - 1]:
            wanted += shift[start - 1] - wanted[0]
        shift[start:end], held[start:end] = wanted, True
    return np.asarray(_faded(shift, held, count))


def drop(skeleton: Skeleton, points: Floats, leg: Leg, goal: Floats) -> Floats:
    """How far the hips must go down so that a leg reaches its goal (frames,) [m].

    Args:
        skeleton: The skeleton.
        points: Places of all joints (frames, joints, 3) [m].
        leg: The leg.
        goal: Where its ankle is to be (frames, 3) [m].
    """
    hip = points[:, skeleton.number(leg.limb.upper)]
    reach = (1.0 - SPARE) * leg.length(skeleton)
    across = np.minimum(np.linalg.norm(goal[:, :2] - hip[:, :2], axis=-1), reach)
    # A leg that was straight before may stay as it is.
    long = np.linalg.norm(points[:, skeleton.number(leg.limb.end)] - hip, axis=-1)
    reach = np.maximum(reach, np.minimum(long, leg.length(skeleton)))
    return np.asarray(np.maximum(0.0, hip[:, 2] - goal[:, 2] - np.sqrt(reach * reach - across * across)))


def smooth(values: Floats, count: int) -> Floats:
    """Values over time that are nowhere less and change gently: the greatest nearby, and then the mean nearby."""
    wide = sliding_window_view(np.pad(values, 2 * count, mode="edge"), 2 * count + 1).max(axis=-1)
    return np.asarray(sliding_window_view(wide, 2 * count + 1).mean(axis=-1))


def stretches(stands: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Stretches of frames in which a foot stands on one part (start, end, part): on its heel, else on its ball."""
    part = np.where(stands[:, 1], 1, np.where(stands[:, 0], 0, -1))
    edges = np.flatnonzero(np.diff(part)) + 1
    bounds = [0, *edges.tolist(), len(part)]
    return [(start, end, int(part[start])) for start, end in pairwise(bounds) if part[start] >= 0]


def slide(skeleton: Skeleton, poses: Pose, leg: Leg, frame_time: float, slow: float = SLOW) -> float:
    """The farthest that a foot slides while it stands on one part, as seen from the motion alone [m].

    Args:
        skeleton: The skeleton, in metres with z up.
        poses: Poses at equal distances in time (frames, ...).
        leg: The leg.
        frame_time: Time between them [s].
        slow: Speed below which it stands, in lengths of the leg [1/s]; less for motion that is made, whose feet leave
            the ground gently, than for what is captured.
    """
    stands, where = standing(skeleton, poses, leg, frame_time, slow), soles(skeleton, poses, leg)
    found = [0.0]
    for start, end, part in stretches(stands):
        path = where[start:end, part, :2]
        found.append(float(np.linalg.norm(path - path.mean(axis=0), axis=-1).max()))
    return max(found)


def _faded(shift: Floats, held: NDArray[np.bool_], count: int) -> Any:
    """Shifts that go to zero within some frames of where a foot stands."""
    found = shift.copy()
    frames = np.arange(len(held))
    on = np.flatnonzero(held)
    if not len(on):
        return found
    after = np.searchsorted(on, frames)
    for side, near in ((-1, on[np.clip(after - 1, 0, len(on) - 1)]), (1, on[np.clip(after, 0, len(on) - 1)])):
        away = side * (near - frames)
        reach = ~held & (away > 0) & (away <= count)
        part = 1.0 - away[reach] / (count + 1)
        found[reach] += (part * part * (3.0 - 2.0 * part))[:, None] * shift[near[reach]]
    return found
