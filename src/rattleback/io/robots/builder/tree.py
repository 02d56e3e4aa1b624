"""A kinematic tree from a description: every joint a link of its own, named after it, and every link and site a tool.

    joint "elbow"          a link of the tree called "elbow", its coordinate
    link "forearm"         a fixed link called "forearm" on it; a joint of the same name is called "forearm joint"
    mimic, coupling        Mimic where it is linear; a joint that closes a loop is left out

Joints of several freedoms become links without length, as in ``Tree.from_scene``: ``"hip.turn_x"`` and on. What moves
freely is fixed where it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import InputError
from rattleback.io.robots.builder.motion import places, tree_joints
from rattleback.io.robots.builder.scene import set_base
from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import inverse
from rattleback.kinematics import Tree
from rattleback.kinematics.link import HERE, Link, Mimic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Coupling, Description, Joint

    Floats = NDArray[np.float64]

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Freedom(NamedTuple):
    """One freedom of a joint: the end of its name, its kind, axis, and which of the joint's limits it has."""

    name: str
    kind: str
    axis: tuple[float, ...]
    place: int | None = None


FREEDOMS = {
    "revolute": (Freedom("", "revolute", Z, 0),),
    "prismatic": (Freedom("", "prismatic", Z, 0),),
    "screw": (Freedom("", "revolute", Z, 0),),
    "cylindrical": (Freedom("slide_z", "prismatic", Z, 0), Freedom("turn_z", "revolute", Z, 1)),
    "universal": (Freedom("turn_a", "revolute", Z, 0), Freedom("turn_b", "revolute", X, 1)),
    "ball": tuple(Freedom(f"turn_{name}", "revolute", axis) for name, axis in zip("xyz", (X, Y, Z), strict=True)),
    "planar": (
        Freedom("slide_x", "prismatic", X, 0),
        Freedom("slide_y", "prismatic", Y, 1),
        Freedom("turn_z", "revolute", Z, 2),
    ),
}


def build_tree(description: Description, base: str | None, options: dict[str, Any]) -> Tree:
    """The tree of a description."""
    set_base(description, base)
    where = places(description, {})
    joints = tree_joints(description)
    hanging = {joint.child for joint in joints}
    names = {joint.name: joint.name for joint in joints}
    names |= {name: f"{name} joint" for name in names if name in description.links}
    follows = {coupling.follower: coupling for coupling in description.couplings}
    links = [
        Link(name, joint="fixed", place=where[name])
        for name in description.links
        if name not in hanging and name != WORLD
    ]
    for joint in joints:
        links.extend(_links(joint, names, follows.get(joint.name)))
    if not any(link.moves for link in links):
        raise InputError("Nothing in it moves by a joint; a kinematic tree needs a coordinate.")
    tools = {
        site.name: (site.link, site.place)
        for site in description.sites.values()
        if site.link != WORLD and site.name not in description.links
    }
    return Tree(
        links, **{"name": description.name or "robot", **options, "tools": {**tools, **options.get("tools", {})}}
    )


def _links(joint: Joint, names: dict[str, str], coupling: Coupling | None) -> Iterator[Link]:
    """The links of one joint and of what hangs on it."""
    name, above = names[joint.name], joint.parent
    place: Any = joint.frame_parent
    for freedom in FREEDOMS.get(joint.kind, ()):
        own = f"{name}.{freedom.name}" if freedom.name else name
        limits = joint.limits[freedom.place] if freedom.place is not None and joint.limits else None
        told = _mimic(coupling, names) if not freedom.name else {}
        yield Link(own, above, freedom.kind, place, freedom.axis, limits, **told)
        above, place = own, HERE
    if joint.kind == "screw":
        yield Link(f"{name}.slide_z", above, "prismatic", mimic=Mimic(name, joint.pitch / (2.0 * np.pi)))
        above, place = f"{name}.slide_z", HERE
    below = inverse(joint.frame_child)
    yield Link(joint.child, above, "fixed", below if FREEDOMS.get(joint.kind) else np.asarray(place) @ below)


def _mimic(coupling: Coupling | None, names: dict[str, str]) -> dict[str, Any]:
    """How a joint follows another; one that follows a curve has a coordinate of its own."""
    if coupling is None or not coupling.linear or coupling.leader not in names:
        return {}
    ratio = coupling.coefficients[1] if len(coupling.coefficients) > 1 else 0.0
    return {"mimic": Mimic(names[coupling.leader], ratio, coupling.value(0.0))}
