"""The free coordinates of joints: those that one number tells, the angle of a hinge and the position of a slide.

    turn_z, where a joint turns about no other axis       angle of B against A about the joint's axis, over full turns
    slide_z, where a joint slides along no other axis     way of B's anchor from A's along the axis

They stand in the order of the scene, world by world; a joint that has both, as a ``Cylindrical`` does, has its position
first. Beside each stands the effort written by hand: a torque about or a force along the same axis, on B, and its
opposite on A.
"""

from typing import Any, NamedTuple

import numpy as np

from rattleback.core.arrays import field, group
from rattleback.core.precision import real

# The freedoms that one number tells, and what that number is called.
SLIDE, TURN = "slide_z", "turn_z"
FREEDOMS = {SLIDE: "position", TURN: "angle"}


@group(axis="coordinates")
class Efforts:
    """What drives the free coordinates by hand."""

    effort: real = field("N m or N", "torque or force on B, written by hand; it stays until it is written again")


class Coordinate(NamedTuple):
    """A free coordinate of a scene.

    Attributes:
        name: Its name: that of the joint, with that of the coordinate after a dot where the joint has two.
        joint: Place of the joint among those of a world.
        freedom: ``TURN`` or ``SLIDE``.
    """

    name: str
    joint: int
    freedom: str


def free_freedoms(joint: Any) -> list[str]:
    """The freedoms of a joint that one number tells."""
    return [
        freedom
        for freedom in FREEDOMS
        if [name for name in joint.freedoms if name.startswith(freedom.split("_")[0])] == [freedom]
    ]


def free_coordinates(scene: Any) -> list[Coordinate]:
    """The free coordinates of one world, in the order of the scene."""
    found = []
    for place, (name, joint) in enumerate(scene.joints.items()):
        freedoms = free_freedoms(joint)
        for freedom in freedoms:
            label = name if len(freedoms) == 1 else f"{name}.{FREEDOMS[freedom]}"
            found.append(Coordinate(label, place, freedom))
    return found


def driven_bodies(scene: Any, worlds: int) -> np.ndarray:
    """Rows of the two bodies that each coordinate moves against each other, in all worlds (coordinates, 2); −1 none."""
    joints, own = list(scene.joints.values()), {body.name: row for row, body in enumerate(scene.bodies)}
    pairs = [[own.get(side, -1) for side in (joints[c.joint].a, joints[c.joint].b)] for c in free_coordinates(scene)]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    shift = np.arange(worlds)[:, None, None] * len(scene.bodies)
    return np.where(rows >= 0, rows + shift, -1).reshape(-1, 2)


def start_names(joint: Any) -> list[str]:
    """What a joint can start with: its angle or position, and its velocity; nothing where it couples two motions."""
    if not hasattr(joint, "freedoms") or any(row.kind in ("screw", "mesh", "rack") for row in joint.rows()):
        return []
    freedoms = free_freedoms(joint)
    names = {TURN: "angle", SLIDE: "position"}
    return [*(names[freedom] for freedom in freedoms), *(["velocity"] if freedoms else [])]
