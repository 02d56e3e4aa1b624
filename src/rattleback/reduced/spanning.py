"""The joints of a scene that span a forest: each body hangs by one joint on the ground or on a body before it.

The ground is the world and all that is static. From it, the first joint of the scene that leads to a body not yet
reached is followed, then the next; where none is left, the first body not yet reached floats freely and becomes the
root of a tree of its own. Joints with armature or friction, which rows do not have, go before all others. Joints that
are left close loops; so do those without coordinates. For the steps of a simulation, whose error grows with the depth
of a tree, near bodies go before far ones, so that loops are cut in their middle.

Cost: O(n log n) in the number of joints; done once, before a simulation starts.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rattleback.maths import rotation
from rattleback.reduced.moves import CROSSED, FACING, FLOATING, SAME, Moves, moves_of


class Hanging(NamedTuple):
    """A body of the forest and what it hangs on.

    Attributes:
        body: Its place among the bodies of the scene.
        parent: Its parent's place in the forest; −1 for the ground.
        joint: Name of its joint; empty for a body that floats.
        forward: Whether it is body B of its joint.
        moves: The moves of its joint, from A to B.
        place: Frame of the joint on the parent, from its centre of mass and in its axes, or in the world.
        tip: Frame of the joint on the body, from its centre of mass and in its axes.
    """

    body: int
    parent: int
    joint: str
    forward: bool
    moves: Moves
    place: tuple[np.ndarray, np.ndarray]
    tip: tuple[np.ndarray, np.ndarray]


class Spanning(NamedTuple):
    """The bodies of a scene that move, parents before children, and the joints that close loops."""

    bodies: list[Hanging]
    cut: tuple[str, ...]


class Branch(NamedTuple):
    """A body that a forest reaches, the place of the joint that leads to it (−1 where it floats), and from which side.

    It leads ``forward`` where the body is body B of the joint.
    """

    body: int
    joint: int
    forward: bool


def branches(
    ends: Sequence[tuple[int, int]],
    usable: Sequence[bool],
    driven: Sequence[bool],
    bodies: Sequence[int],
    shallow: bool = False,
) -> list[Branch]:
    """The bodies of a forest, parents before children, in the order of the joints that lead to them.

    Args:
        ends: The bodies A and B of every joint; −1 for the ground.
        usable: Whether a joint may be part of the forest.
        driven: Whether it goes before others.
        bodies: Bodies that are to be reached, in the order in which they float where no joint leads to them.
        shallow: Whether near bodies go before far ones.
    """
    first = _reached(ends, {j: not driven[j] for j, may in enumerate(usable) if may}, bodies, shallow)
    return _reached(ends, {branch.joint: False for branch in first if branch.joint >= 0}, bodies, False)


def _reached(
    ends: Sequence[tuple[int, int]], later: dict[int, bool], bodies: Sequence[int], shallow: bool
) -> list[Branch]:
    """The bodies in the order in which joints lead to them: those that are not for later, near ones, the first."""
    at: dict[int, list[int]] = {}
    for j in later:
        for side in set(ends[j]):
            at.setdefault(side, []).append(j)
    found: list[Branch] = []
    depths, waiting = {-1: 0}, list(bodies)[::-1]
    queue = sorted((later[j], 0, j) for j in at.get(-1, []))
    while queue or waiting:
        if queue:
            j = heapq.heappop(queue)[2]
            first, last = ends[j]
            if first in depths and last in depths:
                continue
            found.append(Branch(last, j, True) if first in depths else Branch(first, j, False))
            depth = depths[first if first in depths else last] + 1
        elif (row := waiting.pop()) not in depths:
            found.append(Branch(row, -1, True))
            depth = 0
        else:
            continue
        depths[found[-1].body] = depth
        for j in at.get(found[-1].body, []):
            heapq.heappush(queue, (later[j], depth if shallow else 0, j))
    return found


def has_drive(joint: Any) -> bool:
    """Whether a joint has armature or friction, which only coordinates have."""
    return any(getattr(joint, name, 0.0) > 0.0 for name in ("armature", "friction"))


def span(scene: Any) -> Spanning:
    """The forest of a scene."""
    names, joints = list(scene.joints), list(scene.joints.values())
    moves, ends = [moves_of(joint) for joint in joints], [_sides(scene, joint) for joint in joints]
    moving = [row for row, body in enumerate(scene.bodies) if not body.static]
    drives = [has_drive(joint) for joint in joints]
    reached: dict[int, int] = {-1: -1}
    found: list[Hanging] = []
    for branch in branches(ends, [own is not None for own in moves], drives, moving):
        own = None if branch.joint < 0 else moves[branch.joint]
        if own is None:
            entry = _afloat(branch.body)
        else:
            entry = _hung(scene, names[branch.joint], own, ends[branch.joint], reached)
        reached[branch.body] = len(found)
        found.append(entry)
    used = {entry.joint for entry in found}
    cut = tuple(name for name, sides in zip(names, ends, strict=True) if name not in used and sides != (-1, -1))
    return Spanning(found, cut)


def _sides(scene: Any, joint: Any) -> tuple[int, int]:
    """Places of the two bodies of a joint in the scene; −1 for the ground."""
    rows = [-1 if name == scene.world.name else scene.index(name) for name in (joint.a, joint.b)]
    a, b = (-1 if row < 0 or scene.bodies[row].static else row for row in rows)
    return a, b


def _afloat(row: int) -> Hanging:
    here = (np.zeros(3), np.array(SAME))
    return Hanging(row, -1, "", True, FLOATING, here, here)


def _hung(scene: Any, name: str, moves: Moves, ends: tuple[int, int], reached: dict[int, int]) -> Hanging:
    """The body that a joint leads to."""
    joint, forward = scene.joints[name], ends[0] in reached
    first, last = (frame_on(scene, joint, side) for side in (0, 1))
    first = (first[0] + rotation.rotate(first[1], moves.way), first[1])
    rest = FACING if _faces(scene, joint) and moves.rest != CROSSED else moves.rest
    last = (last[0], rotation.multiply(last[1], rotation.conjugate(rest)))
    place, tip = (first, last) if forward else (last, first)
    body, parent = ends[1 if forward else 0], ends[0 if forward else 1]
    return Hanging(body, reached[parent], name, forward, moves._replace(rest=SAME), place, tip)


def frame_on(scene: Any, joint: Any, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Frame of a joint on one of its bodies: from its centre of mass and in its axes; in the world on the ground."""
    name, point, turn = (joint.a, joint.b)[side], joint.points()[side], joint.frames()[side]
    if name == scene.world.name:
        return np.array(point), np.array(turn)
    body = scene[name]
    if not joint.in_bodies:
        back = rotation.conjugate(body.orientation)
        point, turn = rotation.rotate(back, np.subtract(point, body.position)), rotation.multiply(back, turn)
    else:
        point = np.subtract(point, body.center_of_mass)
    if body.static:
        return body.position + rotation.rotate(body.orientation, point), rotation.multiply(body.orientation, turn)
    return np.array(point), np.array(turn)


def _faces(scene: Any, joint: Any) -> bool:
    """Whether a joint that keeps the z axes of its frames parallel has them point against each other at the start."""
    if not any(row.kind == "cross" and row.axis_a != row.axis_b for row in joint.rows()):
        return False
    axes = [rotation.rotate(_in_world(scene, joint, side), np.array((0.0, 0.0, 1.0))) for side in (0, 1)]
    return bool(axes[0] @ axes[1] < 0.0)


def _in_world(scene: Any, joint: Any, side: int) -> np.ndarray:
    name, turn = (joint.a, joint.b)[side], joint.frames()[side]
    if not joint.in_bodies or name == scene.world.name:
        return np.array(turn)
    return rotation.multiply(scene[name].orientation, turn)
