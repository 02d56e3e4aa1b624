"""What some programs add to URDF: surfaces of links, named frames, groups of links that do not collide.

| element | becomes |
|---|---|
| ``contact`` in a link: ``lateral_friction``, ``rolling_friction``, ``spinning_friction``, ``restitution`` | material |
| ``frame`` with ``link``, ``xyz``, ``rpy`` | a named frame |
| ``drake:collision_filter_group`` with ``drake:member``, ``drake:ignored_collision_filter_group`` | pairs kept apart |
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from rattleback.io.robots.description import Site
from rattleback.io.robots.source.placing import from_roll_pitch_yaw

if TYPE_CHECKING:
    from rattleback.io.robots.description import Description
    from rattleback.io.robots.source.xml_text import Node

SURFACE = {
    "lateral_friction": "friction",
    "rolling_friction": "rolling_friction",
    "spinning_friction": "spinning_friction",
    "restitution": "restitution",
}
GROUP = "drake:collision_filter_group"


def surface(link: Node) -> dict[str, Any]:
    """Options of the material of a link."""
    contact, found = link.child("contact"), {}
    for tag, name in SURFACE.items():
        node = None if contact is None else contact.child(tag)
        if node is None:
            continue
        value = node.number("value")
        if value < 0.0 or (name == "restitution" and value > 1.0):
            raise node.error(f"the value is {value:g}; it must not be below zero, and a restitution not above one.")
        found[name] = value
    if contact is not None:
        for node in contact.children:
            if node.tag not in SURFACE:
                node.drop("contacts are exact here, not soft")
    return found


def add_frames(description: Description, root: Node) -> None:
    """Add named frames of links."""
    for node in root.all("frame"):
        name, link = node.need("name"), node.need("link")
        if link not in description.links:
            raise node.error(f"there is no link {link!r}.")
        place = from_roll_pitch_yaw(node.numbers("xyz", 3), node.numbers("rpy", 3))
        description.sites[name] = Site(name, link, place)


def add_filters(description: Description, root: Node) -> None:
    """Add pairs of links that groups keep apart."""
    members: dict[str, list[str]] = {}
    ignored: list[tuple[str, Node]] = []
    for node in root.all(GROUP):
        name = node.need("name")
        members[name] = [one.need("link") for one in node.all("drake:member")]
        ignored.extend((name, one) for one in node.all("drake:ignored_collision_filter_group"))
    for name, node in ignored:
        other = node.need("name")
        if other not in members:
            node.drop(f"there is no group {other!r}")
            continue
        pairs = {tuple(sorted(pair)) for pair in product(members[name], members[other]) if len(set(pair)) == 2}
        known = [(a, b) for a, b in sorted(pairs) if {a, b} <= description.links.keys()]
        description.exclusions.extend(known)
