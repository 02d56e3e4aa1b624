"""Cycles: one stride of a gait, from a step of the first leg to its next, in place and without end.

    phase 0     the foot of the first leg comes down
    phase ½     that of the second
    phase 1     that of the first again, one stride farther

Time runs evenly between these, so cycles of different gaits are aligned by what the feet do and not by the clock.
The mean motion over the ground is taken out; what is left sways about it. What the last pose lacks to the first is
spread over the cycle.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.motion.blend import mix
from rattleback.characters.motion.footing import standing
from rattleback.characters.motion.ground import moved, where
from rattleback.characters.pose import Pose, slerp
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import rotation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.clip import Clip
    from rattleback.characters.motion.footing import Leg
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

# Poses that a cycle is made of.
POSES = 96
# A foot that was off the ground for less than this has not taken a step [s].
BRIEF = 0.1


@sealed
class Cycle:
    """One stride of a gait in place.

    Attributes:
        skeleton: The skeleton.
        poses: Poses at even phases, the first at 0 (poses, ...).
        duration: Time of a stride [s].
        stride: How far it goes [m].

    Args:
        skeleton: The skeleton, in metres with z up.
        poses: Poses at even phases, the first at 0 (poses, ...), heading along x above the origin.
        duration: Time of a stride [s].
        stride: How far it goes [m].
    """

    def __init__(self, skeleton: Skeleton, poses: Pose, duration: float, stride: float) -> None:
        self.skeleton, self.poses = skeleton, poses
        self.duration = checks.positive(duration, "The duration of a cycle")
        self.stride = checks.not_negative(stride, "The stride of a cycle")
        if len(poses) < 2:
            raise InputError(
                "A cycle has one pose; it needs two at least. For a figure that stands give the same twice."
            )

    @classmethod
    def from_clip(cls, clip: Clip, legs: Sequence[Leg], start: float | None = None, end: float | None = None) -> Cycle:
        """The first whole stride of a clip.

        Args:
            clip: The motion, of a skeleton in metres with z up.
            legs: The first leg and the second.
            start: Where to begin to look [s]; the start of the clip if left out.
            end: Where to end [s].
        """
        first, last = clip.start if start is None else start, clip.duration if end is None else end
        step = clip.frame_time or 1.0 / 60.0
        times = np.arange(first, last + 0.5 * step, step)
        poses, skeleton = clip.pose(times), clip.skeleton
        left, right = (_strikes(standing(skeleton, poses, leg, step), step) for leg in legs[:2])
        for a, b in pairwise(left):
            if len(between := right[(right > a) & (right < b)]):
                return cls._of_stride(clip, times[a], times[between[0]], times[b])
        raise InputError(
            f"Clip {clip.name!r} has no whole stride between {first:.3g} and {last:.3g} s: the first foot comes down "
            f"at {np.round(times[left], 3).tolist()}, the second at {np.round(times[right], 3).tolist()}."
        )

    @classmethod
    def _of_stride(cls, clip: Clip, down: float, other: float, again: float) -> Cycle:
        skeleton = clip.skeleton
        phases = np.linspace(0.0, 1.0, POSES + 1)
        poses = clip.pose(np.interp(phases, [0.0, 0.5, 1.0], [down, other, again]))
        places, headings = where(skeleton, poses)
        way = places[-1] - places[0]
        course = float(np.arctan2(way[1], way[0]))
        if np.linalg.norm(way) < 1e-3:
            course = float(np.mean(np.unwrap(headings)))
        even = places[0] + phases[:, None] * way
        still = moved(skeleton, moved(skeleton, poses, -even), np.zeros(2), -course)
        return cls(skeleton, _closed(still), again - down, float(np.linalg.norm(way)))

    @classmethod
    def still(cls, skeleton: Skeleton, pose: Pose) -> Cycle:
        """A figure that stands, as a cycle that leads nowhere.

        Args:
            skeleton: The skeleton.
            pose: How it stands.
        """
        both = Pose(*(np.stack([part, part]) for part in (pose.rotation, pose.translation, pose.scale)))
        return cls(skeleton, both, 1.0, 0.0)

    def __repr__(self) -> str:
        return f"<cycle of {self.skeleton.name!r}: {self.stride:.3g} m in {self.duration:.3g} s>"

    @property
    def speed(self) -> float:
        """How fast it goes [m/s]."""
        return self.stride / self.duration

    def pose(self, phase: ArrayLike) -> Pose:
        """The pose at a phase, or the poses at several (...); whole numbers are the same."""
        at = np.mod(np.asarray(phase, dtype=np.float64), 1.0) * len(self.poses)
        before = np.floor(at).astype(int) % len(self.poses)
        first, second = self.poses[before], self.poses[(before + 1) % len(self.poses)]
        return mix(first, second, np.clip(at - np.floor(at), 0.0, 1.0))


def _strikes(stands: NDArray[np.bool_], step: float) -> NDArray[np.int64]:
    """Frames in which a foot comes down that stands on its heel or its ball (frames, 2)."""
    down = stands[:, 0] | stands[:, 1]
    held = down.copy()
    gap = max(1, round(BRIEF / step))
    on = np.flatnonzero(down)
    for a, b in pairwise(on):
        if b - a <= gap:
            held[a:b] = True
    return np.flatnonzero(held[1:] & ~held[:-1]) + 1


def _closed(poses: Pose) -> Pose:
    """Poses whose last is the first again, which is left out: what is lacking is spread over them."""
    part = np.linspace(0.0, 1.0, len(poses))[:, None]
    lacking = rotation.multiply(rotation.conjugate(poses.rotation[-1]), poses.rotation[0])
    spread = slerp(
        np.broadcast_to([0.0, 0.0, 0.0, 1.0], poses.rotation.shape),
        np.broadcast_to(lacking, poses.rotation.shape),
        np.broadcast_to(part, poses.rotation.shape[:-1]),
    )
    turns = rotation.multiply(poses.rotation, spread)
    ways = poses.translation + part[..., None] * (poses.translation[0] - poses.translation[-1])
    scales = poses.scale + part[..., None] * (poses.scale[0] - poses.scale[-1])
    return Pose(turns[:-1], ways[:-1], scales[:-1])
