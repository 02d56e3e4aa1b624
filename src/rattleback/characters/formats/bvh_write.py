"""Writing BVH files: the skeleton at rest and the frames of a clip.

A joint of a BVH file is unturned at rest and has no scale. A joint that is turned at rest is written with the channels
that turn it there, so that its motion is the same; the offsets are those of the pose at rest of the skeleton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, whole_file
from rattleback.core.errors import InputError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.characters.clip import Clip
    from rattleback.characters.pose import Pose

    Floats = NDArray[np.float64]

# Scales may differ from one by this.
ALIKE = 1e-5


def write_bvh(path: Any, clip: Clip, frame_time: float | None = None) -> None:
    """Write a clip and its skeleton as a BVH file.

    Args:
        path: Where to.
        clip: The motion.
        frame_time: Time between frames [s]; that of the clip, or 1/30 s, if left out.
    """
    step = checks.positive(frame_time or clip.frame_time or 1.0 / 30.0, "The frame_time of a BVH file")
    frames = int(np.floor((clip.duration - clip.start) / step + 1e-6)) + 1
    poses = clip.pose(clip.start + step * np.arange(frames))
    if np.abs(poses.scale - 1.0).max() > ALIKE:
        raise InputError(f"Clip {clip.name!r} scales joints; a BVH file has no scale.")
    lines = ["HIERARCHY", *_hierarchy(clip, poses), "MOTION", f"Frames: {frames}", f"Frame Time: {step!r}"]
    lines += [" ".join(map(repr, row)) for row in _numbers(clip, poses).tolist()]
    whole_file.write(path, ("\n".join(lines) + "\n").encode(), "BVH file")


def _moves(clip: Clip, poses: Pose) -> NDArray[np.bool_]:
    """Joints that need channels of positions: roots, and those that leave their offset."""
    away = np.abs(poses.translation - clip.skeleton.rest.translation).max(axis=(0, 2)) > 0.0
    return np.asarray(away | (clip.skeleton.parents < 0))


def _hierarchy(clip: Clip, poses: Pose) -> Iterator[str]:
    skeleton, moves = clip.skeleton, _moves(clip, poses)

    def write(j: int, depth: int) -> Iterator[str]:
        joint, tab = skeleton.joints[j], "\t" * depth
        ends = joint.end and not skeleton.children(joint.name)
        yield f"{tab}End Site" if ends else f"{tab}{'JOINT' if depth else 'ROOT'} {joint.name}"
        yield f"{tab}{{"
        yield f"{tab}\tOFFSET " + " ".join(repr(float(way)) for way in joint.translation)
        if not ends:
            turns = "Zrotation Yrotation Xrotation"
            yield f"{tab}\tCHANNELS " + (f"6 Xposition Yposition Zposition {turns}" if moves[j] else f"3 {turns}")
        for child in skeleton.children(joint.name):
            yield from write(skeleton.number(child), depth + 1)
        yield f"{tab}}}"

    for j, parent in enumerate(skeleton.parents):
        if parent < 0:
            yield from write(j, 0)


def _numbers(clip: Clip, poses: Pose) -> Floats:
    """The channels of all frames (frames, channels), in the order of the hierarchy."""
    skeleton, moves, columns = clip.skeleton, _moves(clip, poses), []

    def add(j: int) -> None:
        children = skeleton.children(skeleton.joints[j].name)
        if not (skeleton.joints[j].end and not children):
            if moves[j]:
                columns.append(poses.translation[:, j])
            columns.append(np.degrees(rotation.euler_from_quaternion(poses.rotation[:, j], "ZYX")))
        for child in children:
            add(skeleton.number(child))

    for j, parent in enumerate(skeleton.parents):
        if parent < 0:
            add(j)
    return np.concatenate(columns, axis=1)
