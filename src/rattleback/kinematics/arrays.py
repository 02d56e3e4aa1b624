"""A tree as kernels see it: its links one after the other, parents before children."""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.maths.quat import quat_from_axis_angle, rotate

FIXED = wp.constant(0)
REVOLUTE = wp.constant(1)
PRISMATIC = wp.constant(2)


@group(axis="links")
class Links:
    """The links of a tree."""

    parent: wp.int32 = field("1", "link it hangs on, an earlier one; −1 for the base")
    kind: wp.int32 = field("1", "FIXED, REVOLUTE or PRISMATIC")
    place: vec3 = field("m", "place of the joint in the parent")
    turn: quat = field("1", "turn of the joint in the parent")
    axis: vec3 = field("1", "axis of the joint in its own frame")
    coordinate: wp.int32 = field("1", "coordinate that moves it; −1 for none")
    ratio: real = field("1", "how much it moves for a unit of the coordinate")
    offset: real = field("rad or m", "value of the joint where the coordinate is zero")


@wp.struct
class Pose:
    """A frame in the world."""

    position: vec3
    turn: quat


@wp.func
def value_of(links: Links, i: int, q: wp.array2d[real], row: int) -> real:
    """Value of the joint of link i in a configuration [rad or m]."""
    c = links.coordinate[i]
    if c < 0:
        return links.offset[i]
    return links.ratio[i] * q[row, c] + links.offset[i]


@wp.func
def carried(links: Links, i: int, value: real, parent: Pose) -> Pose:
    """Frame of link i, whose joint has a value, on its parent."""
    pose = Pose()
    pose.position = parent.position + rotate(parent.turn, links.place[i])
    pose.turn = parent.turn * links.turn[i]
    if links.kind[i] == REVOLUTE:
        pose.turn = pose.turn * quat_from_axis_angle(links.axis[i], value)
    elif links.kind[i] == PRISMATIC:
        pose.position = pose.position + value * rotate(pose.turn, links.axis[i])
    return pose


def compile_links(links: Any, coordinates: dict[str, int], device: Any) -> Links:
    """The links of a tree, in order, as arrays.

    Args:
        links: The declared links.
        coordinates: Number of the coordinate of each link that has one of its own.
        device: Where to.
    """
    number = {link.name: i for i, link in enumerate(links)}
    rows = [_row(link, number, coordinates) for link in links]
    columns = {name: [row[name] for row in rows] for name in arrays.fields(Links)}
    result = Links()
    for name, declared in arrays.fields(Links).items():
        kind = np.int32 if declared.dtype is wp.int32 else numpy_real
        setattr(result, name, wp.array(np.array(columns[name], dtype=kind), dtype=declared.dtype, device=device))
    return result


def _row(link: Any, number: dict[str, int], coordinates: dict[str, int]) -> dict[str, Any]:
    ratio, offset, leader = 1.0, link.offset, link.name
    if link.mimic is not None:
        leader, ratio, extra = link.mimic
        offset += extra
    return {
        "parent": number[link.parent] if link.parent else -1,
        "kind": ("fixed", "revolute", "prismatic").index(link.joint),
        "place": link.place.position,
        "turn": link.place.orientation,
        "axis": link.axis,
        "coordinate": coordinates.get(leader, -1),
        "ratio": ratio,
        "offset": offset,
    }
