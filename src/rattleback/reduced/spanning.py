"""The joints of a scene that span a forest: each body hangs by one joint on the ground or on a body before it.

The ground is the world and all that is static. From it, the first joint of the scene that leads to a body not yet
reached is followed, then the next; where none is left, the first body not yet reached floats freely and becomes the
root of a tree of its own. Joints that are left close loops; so do those without coordinates.

Cost: O(n log n) in the number of joints; done once, before a simulation starts.
"""

from __future__ import annotations

import heapq
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


def span(scene: Any) -> Spanning:
    """The forest of a scene."""
    made = {name: moves_of(joint) for name, joint in scene.joints.items()}
    ends = {name: _sides(scene, joint) for name, joint in scene.joints.items()}
    hanging = _by_body(made, ends)
    found: list[Hanging] = []
    reached, queue = {-1: -1}, list(hanging.get(-1, []))
    floating = [row for row, body in enumerate(scene.bodies) if not body.static][::-1]
    while queue or floating:
        if queue:
            name = heapq.heappop(queue)[1]
            moves, sides = made[name], ends[name]
            if moves is None or all(side in reached for side in sides):
                continue
            entry = _hung(scene, name, moves, sides, reached)
        elif (row := floating.pop()) not in reached:
            entry = _afloat(row)
        else:
            continue
        reached[entry.body] = len(found)
        found.append(entry)
        for item in hanging.get(entry.body, []):
            heapq.heappush(queue, item)
    used = {entry.joint for entry in found}
    cut = tuple(name for name, sides in ends.items() if name not in used and sides != (-1, -1))
    return Spanning(found, cut)


def _by_body(made: dict[str, Moves | None], ends: dict[str, tuple[int, int]]) -> dict[int, list[tuple[int, str]]]:
    """The joints with coordinates at every body, with their places in the scene, in that order."""
    found: dict[int, list[tuple[int, str]]] = {}
    for number, (name, sides) in enumerate(ends.items()):
        for side in set(sides) if made[name] is not None else ():
            found.setdefault(side, []).append((number, name))
    return found


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
