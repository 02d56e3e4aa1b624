"""Damaged robot files: a good file of each format after one to four changes, drawn from a number.

Numbers go to the edge of what a float holds, names are swapped, lost and doubled, elements are cut out, put in twice,
nested deeply and wrapped; bytes are flipped, cut and repeated; document types, entities and paths outside are put in.
"""

import re
from pathlib import Path

import numpy as np

from fuzz.file_mutations import spoilt_bytes
from fuzz.random_parts import Rng, chance

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "robots"
ENDINGS = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf", "usd": ".usda"}
MOST_CHANGES = 4
NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1e308",
    "1e-320",
    "0",
    "-0",
    "-1",
    "1",
    "1e9",
    "1e30",
    "1e-30",
    "",
    "x",
    "1 2",
    "0x10",
)
NUMBERS += ("1_0", "9" * 400, "1e160", "2147483648", "-5")
TEXTS = (
    "",
    "world",
    "base",
    "a",
    "\u20ac" * 50,
    "../../etc/passwd",
    "file:///etc/passwd",
    "package://x/../../etc/passwd",
    "/dev/zero",
)
PIECES = (
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&b;",
    b"<x>" * 500,
    b"<link name='base'/>",
    b"</",
    b"<!--",
    b"\x00",
    b"\xff\xfe",
)
PIECES += (b"<?xml version='1.0' encoding='x'?>", b"<![CDATA[", b"<include file='../x.xml'/>", b'def Xform "a" {\n}\n')


def good(kind: str) -> bytes:
    """The good file of a format."""
    return next(EXAMPLES.glob(f"arm*{ENDINGS[kind]}")).read_bytes()


def damaged(kind: str, number: int) -> bytes:
    """The damaged file of a format and number."""
    rng = np.random.default_rng([number, list(ENDINGS).index(kind), 23])
    content = good(kind)
    for _ in range(min(int(rng.geometric(0.6)), MOST_CHANGES)):
        content = changed(rng, content)
    return content


def changed(rng: Rng, content: bytes) -> bytes:
    if not content:
        return content
    way = rng.integers(6)
    if way == 0:
        return spoilt_bytes(rng, content)
    if way == 1:
        at = int(rng.integers(len(content)))
        return content[:at] + PIECES[rng.integers(len(PIECES))] + content[at:]
    if way == 2:
        return _another(rng, content, rb"(?<=[\s\"(,])-?\d[\d.e-]*(?=[\s\"),])", NUMBERS)
    if way == 3:
        return _another(rng, content, rb"(?<=\")[^\"\n]*(?=\")", TEXTS)
    if way == 4:
        return _lines(rng, content)
    return _swapped(rng, content)


def _another(rng: Rng, content: bytes, pattern: bytes, choices: tuple[str, ...]) -> bytes:
    """One number or text is another."""
    places = list(re.finditer(pattern, content))
    if not places:
        return content
    place = places[rng.integers(len(places))]
    return content[: place.start()] + choices[rng.integers(len(choices))].encode() + content[place.end() :]


def _lines(rng: Rng, content: bytes) -> bytes:
    """Lines are lost, doubled or moved."""
    lines = content.split(b"\n")
    at, count = int(rng.integers(len(lines))), int(rng.integers(1, 6))
    taken = lines[at : at + count]
    if chance(rng, 0.4):
        del lines[at : at + count]
    there = int(rng.integers(len(lines) + 1))
    return b"\n".join([*lines[:there], *taken, *lines[there:]] if chance(rng, 0.6) else lines)


def _swapped(rng: Rng, content: bytes) -> bytes:
    """Two names, or an element's name and another, change places."""
    words = sorted(set(re.findall(rb"[A-Za-z_]{3,}", content)))
    if len(words) < 2:
        return content
    first, second = (words[k] for k in rng.choice(len(words), size=2, replace=False))
    return content.replace(first, second, 1 if chance(rng, 0.5) else -1)
