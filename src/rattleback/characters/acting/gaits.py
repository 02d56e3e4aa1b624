"""The gaits of any figure: cut out of its own clips, else those of the person that comes with the package.

A clip that stays in place is a gait too: it goes as fast as its feet slide back while they are on the ground. A gait of
the person is retargeted by what the joints are, not by their names; it takes longer by the square root of how much
longer the legs are, as pendulums do.

    Froude's number v² / (g l) stays:   v' = v √(l'/l),   T' = T √(l'/l)

Reference: Alexander, Principles of animal locomotion, §4.3 (dynamic similarity).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.motion.cycle import Cycle
from rattleback.characters.motion.footing import LOW, soles
from rattleback.characters.motion.ground import grounded, moved, where
from rattleback.characters.motion.limb import turned
from rattleback.characters.motion.retarget import retarget
from rattleback.characters.person import LEGS, RUN, WALK, gait_cycle, person
from rattleback.characters.pose import Pose
from rattleback.core.errors import InputError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.characters.acting.anatomy import Anatomy
    from rattleback.characters.figure import Figure
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

GAITS = {"walk": WALK, "run": RUN}
# Names of clips in which a figure stands.
STANDING = ("stand", "idle", "stance")
# A clip goes somewhere if it goes farther than this part of a leg.
SOMEWHERE = 0.3


def gait_of(figure: Figure, parts: Anatomy, kind: str, names: Mapping[str, str]) -> Cycle:
    """A stride of a figure that walks or runs.

    Args:
        figure: The figure.
        parts: What its joints are.
        kind: ``"walk"`` or ``"run"``.
        names: Names of its clips, by what they are, where they are not called so.
    """
    clip = own_clip(figure, (kind,), names)
    if clip is not None:
        return cycle_of(clip, parts)
    made = person()
    cycle = gait_cycle(made.skeleton, GAITS[kind])
    poses = cycle.pose(np.linspace(0.0, 1.0, len(cycle.poses) + 1))
    clip = Clip.from_poses(made.skeleton, poses, cycle.duration / len(cycle.poses), kind)
    wide, found = _on(clip, parts)
    return Cycle(figure.skeleton, found[:-1], cycle.duration * np.sqrt(wide), cycle.stride * wide)


def stand_of(figure: Figure, parts: Anatomy, names: Mapping[str, str]) -> Pose:
    """How a figure stands, above the origin and heading along x."""
    clip = own_clip(figure, STANDING, {**names, **({"stand": names["stand"]} if "stand" in names else {})})
    if clip is not None:
        return grounded(figure.skeleton, clip.pose(clip.start))
    return grounded(figure.skeleton, _on(person().clips["stand"], parts)[1][0])


def at_ease(figure: Figure, parts: Anatomy, names: Mapping[str, str]) -> Pose:
    """How a figure stands on the ground, its feet to both sides of the origin."""
    skeleton, stand = figure.skeleton, stand_of(figure, parts, names)
    ends = np.array([soles(skeleton, stand, leg) for leg in parts.legs])
    middle = ends.mean(axis=(0, 1))
    rise = clearance(figure) - float(ends[..., 2].min())
    return moved(skeleton, stand, np.array([-middle[0], -middle[1], rise]))


def clearance(figure: Figure) -> float:
    """How high the lowest joint is above the floor on which the skin stands, at rest [m]."""
    skeleton = figure.skeleton
    lowest = float(skeleton.matrices(skeleton.rest)[:, 2, 3].min())
    if not figure.skins:
        return 0.0
    return max(0.0, lowest - float(figure.skin.vertices(skeleton.rest)[:, 2].min()))


def own_clip(figure: Figure, kinds: tuple[str, ...], names: Mapping[str, str]) -> Clip | None:
    """The clip of a figure that is of a kind: named so by the caller, else the first with the kind in its name."""
    for kind in kinds:
        if kind in names:
            return figure.clip(names[kind])
        for exact in (True, False):
            for name, clip in figure.clips.items():
                if name.lower() == kind or (not exact and kind in name.lower() and "_to_" not in name.lower()):
                    return clip
    return None


def cycle_of(clip: Clip, parts: Anatomy) -> Cycle:
    """A stride of a clip of many, of a clip that is one stride, or of one that stays in place."""
    skeleton, step = clip.skeleton, clip.frame_time or 1.0 / 60.0
    leg = parts.legs[0].length(skeleton)
    times = np.arange(clip.start, clip.duration - 0.25 * step, step)
    poses = clip.pose(times)
    places, _ = where(skeleton, poses)
    if np.linalg.norm(places - places[0], axis=1).max() < SOMEWHERE * leg:
        speed = _treadmill(skeleton, poses, parts, step)
        poses = moved(skeleton, poses, np.stack([speed * (times - times[0]), 0.0 * times], axis=-1))
        whole = Clip.from_poses(skeleton, _thrice(skeleton, poses, step, speed), step, clip.name)
        return Cycle.from_clip(whole, parts.legs)
    try:
        return Cycle.from_clip(Clip.from_poses(skeleton, poses[1:], step, clip.name), parts.legs)
    except InputError:
        return Cycle.from_clip(Clip.from_poses(skeleton, _thrice(skeleton, poses, step), step, clip.name), parts.legs)


def _thrice(skeleton: Skeleton, poses: Pose, step: float, speed: float = 0.0) -> Pose:
    """Poses three times one after the other, each as much farther as they go."""
    places, _ = where(skeleton, poses)
    way = places[-1] - places[0]
    way = way + (way / (len(poses) - 1) if speed == 0.0 else np.array([speed * step, 0.0]))
    parts = [moved(skeleton, poses, k * way) for k in range(3)]
    return Pose(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("rotation", "translation", "scale"))
    )


def _treadmill(skeleton: Skeleton, poses: Pose, parts: Anatomy, step: float) -> float:
    """How fast a motion in place would go: as fast as feet that are on the ground slide back [m/s]."""
    found = []
    for leg in parts.legs:
        path = soles(skeleton, poses, leg)
        low = path[..., 2].min(axis=1)
        on = low < np.quantile(low, 0.05) + 0.5 * LOW * leg.length(skeleton)
        found.append(-np.gradient(path.mean(axis=1)[:, 0], step)[on])
    return float(np.median(np.concatenate(found)))


def _on(clip: Clip, parts: Anatomy) -> tuple[float, Pose]:
    """A clip of the person on another figure: how much longer its legs are, and its poses."""
    wide = parts.legs[0].length(parts.skeleton) / LEGS[0].length(clip.skeleton)
    found = retarget(clip, parts.skeleton, names=_roles(parts), size=wide)
    poses = found.pose(found.frames) if found.tracks else found.pose(np.zeros(2))
    source = clip.pose(clip.frames)
    for mine, other in zip(parts.legs, LEGS, strict=True):
        poses = _level(clip.skeleton, source, other.limb.end, parts.skeleton, poses, mine.limb.end)
    return wide, poses


def _roles(parts: Anatomy) -> dict[str, str]:
    """Joints of a figure by those of the person."""
    found = {"Hips": parts.hips}
    found.update(zip(("Chest", "Spine"), dict.fromkeys((*parts.spine[-1:], *parts.spine[:1])), strict=False))
    found.update(zip(("Neck", "Head"), dict.fromkeys((*parts.neck[:1], *parts.neck[-1:])), strict=False))
    limbs = [(f"{side.title()}", limb, ("Arm", "ForeArm", "Hand")) for side, limb in parts.arms.items()]
    limbs += [
        (side, leg.limb, ("UpLeg", "Leg", "Foot")) for side, leg in zip(("Left", "Right"), parts.legs, strict=True)
    ]
    for side, limb, joints in limbs:
        found.update(
            {side + joint: name for joint, name in zip(joints, (limb.upper, limb.hinge, limb.end), strict=True)}
        )
    return found


def _level(source: Skeleton, here: Pose, foot: str, skeleton: Skeleton, poses: Pose, other: str) -> Pose:
    """Poses with a foot turned from rest as another one is, however its bones lie: soles are level at rest."""
    i, j = source.number(foot), skeleton.number(other)
    turn = source.matrices(here)[:, i, :3, :3] @ source.matrices(source.rest)[i, :3, :3].T
    frames, rest = skeleton.matrices(poses), skeleton.matrices(skeleton.rest)[j, :3, :3]
    now = frames[:, j, :3, :3] @ np.linalg.inv(rest)
    wanted = rotation.quaternion_from_matrix(turn @ np.swapaxes(now, -1, -2))
    return turned(skeleton, poses, frames, j, wanted)
