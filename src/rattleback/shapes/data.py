"""Shapes as plain data and back, for scene files: dicts, lists, strings and numbers, every float kept exactly.

{"kind": "box", "x": 1.0, "y": 0.4, "z": 0.3}
{"kind": "compound", "parts": [{"shape": {"kind": "sphere", "radius": 0.1}, "position": [0.0, 0.0, 1.0]}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback import shapes  # the menu, looked up when a function runs
from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.shapes.compound import Placed

if TYPE_CHECKING:
    from rattleback.shapes.shape import Shape


def to_data(shape: Shape) -> dict[str, Any]:
    """A shape of the menu as plain data: its kind and its fields."""
    kind = next((name for name, known in shapes.MENU.items() if type(shape) is known), None)
    if kind is None:
        raise InputError(f"{shape!r} cannot be stored; shapes that can: {listing(list(shapes.MENU))}.")
    return {"kind": kind, **_plain_fields(shape)}


def from_data(data: Mapping[str, Any]) -> Shape:
    """The shape that plain data describe, made by its constructor with all its checks."""
    given = _mapping(data, "A shape")
    kind = given.pop("kind", None)
    menu = list(shapes.MENU)
    if kind not in menu:
        said = "has no kind" if kind is None else f"has the kind {kind!r}, which does not exist"
        hint = did_you_mean(kind, menu) if isinstance(kind, str) else ""
        raise UnknownName(f"A shape {said}.{hint} The menu: {listing(menu)}.")
    if kind == "mesh" and "vertices" in given:
        # The constructor would follow a path; plain data carry the points themselves.
        checks.array(given["vertices"], (-1, 3), "The array of vertices of a shape of kind 'mesh'")
    if kind == "compound" and "parts" in given:
        given["parts"] = [_placed(part, index) for index, part in enumerate(_list(given["parts"]))]
    shape: Shape = _made(shapes.MENU[kind], given, f"A shape of kind {kind!r}")
    return shape


def _placed(data: object, index: int) -> Placed:
    """One part of a compound from plain data."""
    what = f"Part {index} of a shape of kind 'compound'"
    given = _mapping(data, what)
    if "shape" in given:
        given["shape"] = from_data(given["shape"])
    placed: Placed = _made(Placed, given, what)
    return placed


def _made(kind: type[Any], given: dict[str, Any], what: str) -> Any:
    """An object with the given fields; unknown and missing ones are refused by name."""
    known = fields(kind)
    checks.options(given, [field.name for field in known], what)
    missing = [field.name for field in known if field.default is MISSING and field.name not in given]
    if missing:
        raise InputError(f"{what} lacks {listing(missing)}; it takes {listing([field.name for field in known])}.")
    return kind(**given)


def _plain_fields(thing: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(thing, field.name)) for field in fields(thing)}


def _plain(value: Any) -> Any:
    """A field as plain data."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Placed):
        return {**_plain_fields(value), "shape": to_data(value.shape)}
    return value


def _mapping(data: object, what: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(f"{what} is {data!r}; it must be a table with named fields, such as {{'kind': 'sphere'}}.")
    return dict(data)


def _list(parts: object) -> list[Any]:
    if not isinstance(parts, (list, tuple)):
        raise InputError(f"The parts of a shape of kind 'compound' is {parts!r}; it must be a list.")
    return list(parts)
