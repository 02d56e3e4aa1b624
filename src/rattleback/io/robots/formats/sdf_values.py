"""Values of elements of SDF, which stand in elements of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rattleback.io.robots.source.xml_text import Node

UNUSED = {
    "plugin": "plugins are code",
    "light": "the viewer has lights of its own",
    "scene": "the viewer has settings of its own",
    "gui": "the viewer has settings of its own",
    "actor": "there are no actors",
    "atmosphere": "a medium is added with rb.Drag",
    "wind": "a medium is added with rb.Drag",
    "magnetic_field": "there are no magnets",
    "gripper": "drives are declared by the user",
    "sensor": "recorders measure bodies and joints",
    "self_collide": "links that no joint holds together collide",
    "allow_auto_disable": "bodies sleep by the scheme's own rule",
    "enable_wind": "a medium is added with rb.Drag",
}


def drop_unused(node: Node) -> None:
    """Drop what has no counterpart, with a reason."""
    for tag, why in UNUSED.items():
        for found in node.all(tag):
            found.drop(why)


def text_of(node: Node, tag: str) -> str:
    """The text of an element in an element."""
    found = node.child(tag)
    if found is None or not found.text.strip():
        raise node.error(f"the element {tag} is missing.")
    return found.text.strip()


def value_of(node: Node, tag: str, default: float = 0.0, infinite: bool = False) -> float:
    """The number in an element in an element."""
    found = node.child(tag)
    return default if found is None else found.value(default, infinite)
