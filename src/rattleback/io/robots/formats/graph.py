"""Graphs of joints as trees and joints that close loops.

Files of SDF and USD list joints between any two links. Taken in order, a joint whose child hangs on nothing yet becomes
one of the tree; one whose parent hangs on nothing is turned round; every other one closes a loop. Turned round, its
frames change places and turn half a turn about x, so that its coordinate stays the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Joint
from rattleback.io.robots.source.placing import about_x, inverse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Description

    Floats = NDArray[np.float64]

REVERSIBLE = ("fixed", "revolute", "prismatic", "screw")
# How far frames may be off from a coordinate at which they coincide [m or rad].
OFF = 1e-6


def plant(description: Description) -> None:
    """Choose which joints form trees, and set the start of each to where its links lie."""
    group = {name: name for name in (WORLD, *description.links)}
    hanging: set[str] = set()
    for name, joint in description.joints.items():
        first, second = _top(group, joint.parent), _top(group, joint.child)
        free = [
            end
            for end in (joint.child, joint.parent)
            if end not in hanging and end != WORLD and _top(group, end) == end
        ]
        if first == second or not free or joint.kind not in (*REVERSIBLE, "universal", "ball", "cylindrical", "planar"):
            joint.closes = True
            continue
        if free[0] == joint.parent:
            if joint.kind not in REVERSIBLE:
                joint.closes = True
                continue
            joint = description.joints[name] = turned_round(joint)
        hanging.add(joint.child)
        group[joint.child] = joint.parent
    for joint in description.joints.values():
        if joint.start is None:
            joint.start = coordinate(joint, _between(description, joint))
        if isinstance(joint.start, float):
            joint.start = min(max(joint.start, joint.limit[0]), joint.limit[1])


def _top(group: dict[str, str], name: str) -> str:
    while group[name] != name:
        name = group[name]
    return name


def turned_round(joint: Joint) -> Joint:
    """The joint with parent and child exchanged, and the same coordinate."""
    half = about_x(np.pi)
    return replace(
        joint,
        parent=joint.child,
        child=joint.parent,
        frame_parent=joint.frame_child @ half,
        frame_child=joint.frame_parent @ half,
    )


def _between(description: Description, joint: Joint) -> Floats:
    """The child's frame of a joint in the parent's, as the links lie (4, 4)."""
    ends = [np.eye(4) if end == WORLD else description.links[end].place for end in (joint.parent, joint.child)]
    return np.asarray(inverse(ends[0] @ joint.frame_parent) @ ends[1] @ joint.frame_child)


def coordinate(joint: Joint, between: Floats) -> Any:
    """The coordinate at which a joint has a motion; None, its zero, where it has it at none."""
    turn, way = float(np.arctan2(between[1, 0], between[0, 0])), between[:3, 3]
    if joint.kind == "revolute" and np.linalg.norm(way) < OFF and abs(between[2, 2] - 1.0) < OFF:
        return turn
    if (
        joint.kind == "prismatic"
        and np.linalg.norm(way[:2]) < OFF
        and np.allclose(between[:3, :3], np.eye(3), atol=OFF)
    ):
        return float(way[2])
    if joint.kind == "cylindrical" and np.linalg.norm(way[:2]) < OFF and abs(between[2, 2] - 1.0) < OFF:
        return float(way[2]), turn
    return None
