"""What is typed into the fields of the Build folder: sizes of shapes, and further fields by name."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import numpy as np

from rattleback.core.errors import InputError, did_you_mean, listing
from rattleback.shapes import MENU as SHAPES
from rattleback.viewer.panels.entry import Numbers

# Shapes that a few numbers make, with numbers to begin with; meshes come from files, compounds from merging.
SIZES = {
    "box": "0.2, 0.2, 0.2",
    "sphere": "0.1",
    "capsule": "0.05, 0.3",
    "cylinder": "0.1, 0.2",
    "cone": "0.1, 0.2",
    "ellipsoid": "0.1, 0.08, 0.06",
    "plane": "0, 0, 1, 0",
    "convex_hull": "-0.1 -0.1 0; 0.1 -0.1 0; 0 0.1 0; 0 0 0.2",
    "height_field": "0 0 0; 0 0.1 0; 0 0 0; spacing 0.5",
}
WORDS = {"true": True, "yes": True, "false": False, "no": False, "free": None, "none": None}


def hint_of(kind: str) -> str:
    """What the sizes of a shape are."""
    if kind == "plane":
        return "Direction it faces, and how far it lies along that from the origin [m]."
    if kind == "convex_hull":
        return "Points x y z with semicolons between [m], at least four."
    if kind == "height_field":
        return "Rows of heights along y with semicolons between, one row for each x; at the end the spacing [m]."
    return f"{', '.join(field.name for field in fields(SHAPES[kind]))} [m], the full sizes.".capitalize()


def sizes_of(kind: str, text: str) -> tuple[Any, ...]:
    """What a shape is made of, from text.

    Raises:
        InputError: It is something else.
    """
    label = f"The size of a {kind.replace('_', ' ')}"
    if kind == "convex_hull":
        return ([Numbers((3,)).parse(row, None, label) for row in _rows(text)],)
    if kind == "height_field":
        *heights, last = _rows(text)
        rows = [[float(number) for number in _numbers(row, label)] for row in heights]
        if len({len(row) for row in rows}) > 1:
            raise InputError(f"{label} is {text!r}; all its rows must have as many heights.")
        return np.array(rows), Numbers().parse(last.replace("spacing", ""), None, f"{label}, its spacing,")
    count = 4 if kind == "plane" else len(fields(SHAPES[kind]))
    found = _numbers(text, label)
    if len(found) != count:
        raise InputError(f"{label} is {text!r}; it takes {count} numbers: {hint_of(kind)}")
    return (found[:3], found[3]) if kind == "plane" else found


def further(text: str, known: list[str], what: str) -> dict[str, Any]:
    """Fields by name from text such as ``limits -1 1; friction 0.2``.

    Args:
        text: What was typed.
        known: Names of the fields there are.
        what: What has them, for messages.

    Raises:
        InputError: It has no such field, or no value for one.
    """
    found: dict[str, Any] = {}
    for part in _rows(text):
        name, *words = re.split(r"[\s,=]+", part)
        if name not in known:
            raise InputError(f"{what} has no {name!r}.{did_you_mean(name, known)} It has {listing(known, 30)}.")
        values = tuple(_value(word) for word in words if word)
        if not values:
            raise InputError(f"{what} got no value for {name!r}; write it behind the name, such as {name} 0.1.")
        found[name] = values[0] if len(values) == 1 else values
    return found


def _rows(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _numbers(text: str, label: str) -> tuple[float, ...]:
    words = [word for word in re.split(r"[,\s]+", text) if word]
    found: tuple[float, ...] = tuple(Numbers().parse(word, None, label) for word in words)
    return found


def _value(word: str) -> Any:
    """A word as what it stands for: a number, yes, no, none, or itself."""
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    try:
        return float(word)
    except ValueError:
        return word
