"""Which joints bodies hang by, and which close loops; turning joints round; reading their coordinates from poses.

From the world, the first joint of the scene that leads to a body not yet reached is followed, then the next; where none
is left, the first body not yet reached floats. It is the order of ``reduced.spanning``, over the joints that a format
can hang bodies by.

    M(q)⁻¹ = H M(q) H⁻¹          H what turns the frames of a kind so that its coordinates stay as they are
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.builder.motion import motion
from rattleback.io.robots.description import COORDINATES, WORLD
from rattleback.io.robots.source.placing import about_x, inverse, parts, with_axes

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Description, Joint

    Floats = NDArray[np.float64]

# Frames change places: z of the first is x of the second, both turned half round.
ABOUT_Y = np.diag([-1.0, 1.0, -1.0, 1.0])
CROSSED = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
HALF = ("fixed", "revolute", "prismatic", "screw", "cylindrical")
EQUAL = ("ball", "planar", "fixed_orientation", "common_direction")
CROSSING = ("universal", "double_rotation")


def hang(description: Description, able: Collection[str]) -> None:
    """Choose the joints that bodies hang by, and put them in the order of the trees, those of loops last."""
    joints = list(description.joints.values())
    at: dict[str, list[tuple[int, Joint]]] = {}
    for number, joint in enumerate(joints):
        if joint.kind in able:
            for end in {joint.parent, joint.child}:
                at.setdefault(end, []).append((number, joint))
    reached: set[str] = {WORLD}
    queue: list[Any] = [(number, joint) for number, joint in at.get(WORLD, [])]
    waiting = [name for name in description.links if name != WORLD][::-1]
    made: dict[str, Joint] = {}
    while queue or waiting:
        if queue:
            _, joint = heapq.heappop(queue)
            turned = joint if joint.parent in reached else turned_round(joint)
            if {joint.parent, joint.child} <= reached or turned is None:
                continue
            made[joint.name], name = turned, turned.child
        elif (name := waiting.pop()) in reached:
            continue
        reached.add(name)
        for entry in at.get(name, []):
            heapq.heappush(queue, entry)
    loops = {joint.name: replace(joint, closes=True) for joint in joints if joint.name not in made}
    description.joints.clear()
    description.joints.update({**{name: replace(joint, closes=False) for name, joint in made.items()}, **loops})


def turned_round(joint: Joint) -> Joint | None:
    """The joint with parent and child exchanged and the same coordinates; None of a kind that has no such twin."""
    first, second, limits, start = joint.frame_child, joint.frame_parent, joint.limits, joint.start
    if joint.kind in HALF:
        first, second = first @ about_x(np.pi), second @ about_x(np.pi)
    elif joint.kind in CROSSING:
        first, second = first @ CROSSED @ ABOUT_Y, second @ CROSSED @ ABOUT_Y
        limits, start = limits[::-1], None if start is None else start[::-1]
    elif joint.kind not in EQUAL:
        return None
    ends: dict[str, Any] = {"parent": joint.child, "child": joint.parent, "frame_parent": first, "frame_child": second}
    return replace(joint, **ends, limits=limits, start=start)


def between(joint: Joint, frames: dict[str, Floats]) -> Floats:
    """The child's frame of a joint in the parent's, where its links lie at these frames (4, 4)."""
    ends = frames[joint.parent] @ joint.frame_parent, frames[joint.child] @ joint.frame_child
    return np.asarray(inverse(ends[0]) @ ends[1])


def coordinates(joint: Joint, way: Floats) -> Any:
    """The coordinates of a joint that come nearest to a motion (4, 4); None where it has none."""
    turn = float(np.arctan2(way[1, 0], way[0, 0]))
    if joint.kind == "revolute":
        return _counted(turn, joint)
    if joint.kind == "prismatic":
        return float(way[2, 3])
    if joint.kind == "screw":
        angle = 2.0 * np.pi * way[2, 3] / joint.pitch
        return float(turn + 2.0 * np.pi * np.round((angle - turn) / (2.0 * np.pi)))
    if joint.kind == "cylindrical":
        return np.array([way[2, 3], turn])
    if joint.kind == "universal":
        return np.array([turn, np.arctan2(way[2, 1], way[2, 2])])
    if joint.kind == "planar":
        return np.array([way[0, 3], way[1, 3], turn])
    if joint.kind == "ball":
        return parts(way)[1]
    return (*parts(way)[0], *parts(way)[1]) if joint.kind == "free" else None


def _counted(turn: float, joint: Joint) -> float:
    """The angle with the full turns that bring it between the limits, if any do."""
    lower, upper = joint.limit
    if lower <= turn <= upper or not np.isfinite([lower, upper]).any():
        return turn
    middle = float(np.mean([bound for bound in (lower, upper) if np.isfinite(bound)]))
    other = turn + 2.0 * np.pi * float(np.round((middle - turn) / (2.0 * np.pi)))
    return other if lower <= other <= upper else turn


def level(joint: Joint, frames: dict[str, Floats]) -> None:
    """Give a joint without coordinates frames that coincide where the links lie, and mean the same.

    Both lie at the anchor of the child and have the axes of the parent's; of two axes that cross, the x axis is that of
    the child.
    """
    first, second = frames[joint.parent] @ joint.frame_parent, frames[joint.child] @ joint.frame_child
    first[:3, 3] = second[:3, 3]
    if joint.kind == "double_rotation":
        first = with_axes(second[:3, 0], first[:3, 2], second[:3, 3])
    joint.frame_parent = inverse(frames[joint.parent]) @ first
    joint.frame_child = inverse(frames[joint.child]) @ first


def opening(joint: Joint, way: Floats) -> float:
    """How far a joint is from being closed at a motion (4, 4) [m or rad]; zero for kinds without coordinates."""
    if joint.kind not in COORDINATES:
        return 0.0
    left = inverse(motion(joint, coordinates(joint, way))) @ way
    return float(max(np.linalg.norm(left[:3, 3]), np.abs(left[:3, :3] - np.eye(3)).max()))
