"""Code as a tree of calls and lists, laid out in lines that fit a screen."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH = 100
# Whole numbers are written without a point up to here.
LARGEST_WHOLE = 1e6
# An array with more numbers is packed.
MOST_NUMBERS = 240
# What unpacks an array, for the head of a script that has one.
UNPACK = '''
def unpacked(text, shape, kind="<f8"):
    """An array of numbers from text."""
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=kind).reshape(shape)
'''


@dataclass(frozen=True)
class Group:
    """Something in brackets: a call, a tuple or a list.

    Attributes:
        opening: What it begins with, such as ``rb.Box(``.
        items: What is in it, each with what stands before it, such as ``name=``.
        closing: The bracket that ends it.
    """

    opening: str
    items: tuple[tuple[str, Any], ...]
    closing: str

    def __str__(self) -> str:
        comma = "," if self.opening == "(" and len(self.items) == 1 else ""
        return f"{self.opening}{', '.join(f'{before}{item}' for before, item in self.items)}{comma}{self.closing}"


def call(head: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Group:
    """A call of something by its name."""
    items = [("", item) for item in positional] + [(f"{name}=", item) for name, item in named.items()]
    return Group(f"{head}(", tuple(items), ")")


def literal(value: Any) -> Any:
    """A value as code: numbers, text, None, and tuples, lists, tables and arrays of these."""
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, (tuple, list)):
        opening, closing = "()" if isinstance(value, tuple) else "[]"
        return Group(opening, tuple(("", literal(entry)) for entry in value), closing)
    if isinstance(value, dict):
        return Group("{", tuple((f"{key!r}: ", literal(entry)) for key, entry in value.items()), "}")
    if isinstance(value, (float, np.floating)):
        return number(float(value))
    return text(value) if isinstance(value, str) else repr(value)


def number(value: float) -> str:
    """A number with all its digits, and without a point where it is whole."""
    if not math.isfinite(value):
        return f'float("{value}")'
    whole = value == int(value) and abs(value) < LARGEST_WHOLE and not (value == 0.0 and math.copysign(1.0, value) < 0)
    return str(int(value)) if whole else repr(value)


def text(value: str) -> str:
    """A text in double quotes where that needs nothing else, and never in more than one line."""
    plain = value.isprintable() and not {'"', "\\"} & set(value)
    return f'"{value}"' if plain else ascii(value)


def lines_of(before: str, code: Any, indent: int = 0) -> list[str]:
    """The lines of a piece of code after what stands before it."""
    flat = f"{' ' * indent}{before}{code}"
    if len(flat) <= WIDTH or not isinstance(code, Group) or not code.items:
        return [flat]
    found, inner = [f"{' ' * indent}{before}{code.opening}"], indent + 4
    row = ""
    for name, item in code.items:
        piece = f"{name}{item},"
        if len(piece) + inner > WIDTH and isinstance(item, Group):
            found += [" " * inner + row] if row else []
            nested = lines_of(name, item, inner)
            found += [*nested[:-1], f"{nested[-1]},"]
            row = ""
        elif row and len(row) + len(piece) + 1 + inner > WIDTH:
            found.append(" " * inner + row)
            row = piece
        else:
            row = f"{row} {piece}" if row else piece
    return [*found, *([" " * inner + row] if row else []), f"{' ' * indent}{code.closing}"]


def packed(code: str) -> bool:
    """Whether code unpacks an array."""
    return "unpacked(" in code


def _array(values: np.ndarray) -> Any:
    """An array as a list, or packed where it has many numbers."""
    if values.size <= MOST_NUMBERS:
        return literal(_nested(values.tolist()))
    kind = "<i4" if values.dtype.kind in "iu" else "<f8"
    squeezed = base64.b64encode(zlib.compress(np.ascontiguousarray(values, kind).tobytes(), 9)).decode()
    named = {} if kind == "<f8" else {"kind": literal(kind)}
    return call("unpacked", (f'"{squeezed}"', literal(tuple(values.shape))), named)


def _nested(values: Any) -> Any:
    """A list of rows, each a tuple; numbers alone are a tuple."""
    if values and isinstance(values[0], list):
        return [_nested(row) for row in values]
    return tuple(values)
