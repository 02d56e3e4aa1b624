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
    names = _names(description, joints)
    follows = {coupling.follower: coupling for coupling in description.couplings}
    links = [
        Link(name, joint="fixed", place=where[name])
        for name in description.links
        if name not in hanging and name != WORLD
    ]
    for joint in joints:
        links.extend(_links(joint, names, follows))
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


def _names(description: Description, joints: list[Joint]) -> dict[str, str]:
    """What each joint is called in the tree: its name, or another one where a link or a joint has that."""
    taken, found = {*description.links, *(joint.name for joint in joints)}, {}
    for name in [joint.name for joint in joints]:
        own = name
        while name in description.links and own in taken:
            own += " joint"
        taken.add(own)
        found[name] = own
    return found


def _links(joint: Joint, names: dict[str, str], follows: dict[str, Coupling]) -> Iterator[Link]:
    """The links of one joint and of what hangs on it."""
    name, above = names[joint.name], joint.parent
    place: Any = joint.frame_parent
    for freedom in FREEDOMS.get(joint.kind, ()):
        own = f"{name}.{freedom.name}" if freedom.name else name
        limits = joint.limits[freedom.place] if freedom.place is not None and joint.limits else None
        told = _mimic(joint.name, names, follows) if not freedom.name else {}
        yield Link(own, above, freedom.kind, place, freedom.axis, limits, **told)
        above, place = own, HERE
    if joint.kind == "screw":
        yield Link(f"{name}.slide_z", above, "prismatic", mimic=Mimic(name, joint.pitch / (2.0 * np.pi)))
        above, place = f"{name}.slide_z", HERE
    below = inverse(joint.frame_child)
    yield Link(joint.child, above, "fixed", below if FREEDOMS.get(joint.kind) else np.asarray(place) @ below)


def _mimic(name: str, names: dict[str, str], follows: dict[str, Coupling]) -> dict[str, Any]:
    """How a joint follows another, through all that this one follows; one that follows a curve has a coordinate."""
    leader, ratio, offset, met = name, 1.0, 0.0, {name}
    while (coupling := follows.get(leader)) is not None and coupling.linear and coupling.leader in names:
        slope = coupling.coefficients[1] if len(coupling.coefficients) > 1 else 0.0
        offset += ratio * coupling.value(0.0)
        leader, ratio = coupling.leader, ratio * slope
        if leader in met:
            raise InputError(f"Joint {name!r} follows itself.")
        met.add(leader)
    return {} if leader == name else {"mimic": Mimic(names[leader], ratio, offset)}
