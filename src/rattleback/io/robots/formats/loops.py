"""Loops of a robot: pairs of frames that lie on each other, from a file beside it or from the user.

    loops=[("closedloop1_A", "closedloop1_B")]                     two links, fixed to each other
    loops=[("wrist_left", "wrist_right", "cylindrical")]           another joint, about the z axes of both
    loops="robot.yaml"                                             the same from a YAML file
    loops=False                                                    the tree stays open

The YAML file has ``closed_loop: [[frame, frame], ...]`` and ``type: ["6d", ...]``; ``"6d"`` is a fixed joint,
``"3d"`` a ball joint; a frame is a link, or a joint for its child. ``robot.yaml`` beside ``robot.urdf`` is found
without being named, if it has a ``closed_loop``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import FileError, InputError, did_you_mean, listing
from rattleback.io.robots.description import Description, Joint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.read import Source

    Floats = NDArray[np.float64]

NAMED = ("fixed", "ball", "revolute", "prismatic", "cylindrical", "universal", "planar")
LOOSE = ("point_on_line", "point_on_plane", "fixed_orientation", "common_direction", "double_rotation")
KINDS = {"6d": "fixed", "3d": "ball", **{kind: kind for kind in (*NAMED, *LOOSE)}}
# What is read of a YAML file; ``name`` says what the joints are called.
KEYS = ("closed_loop", "type", "name")
MOST_BYTES = 2**20
# What a YAML file beside a robot must hold to be one of loops.
KEY = b"closed_loop"


def add_loops(description: Description, source: Source) -> None:
    """Add the joints that close loops."""
    if source.loops is False:
        return
    given = source.loops
    if given is None:
        beside = Path(source.path).with_suffix(".yaml")
        if source.report.format != "URDF" or not beside.is_file() or KEY not in whole_file.read(beside, "loop file"):
            return
        given = str(beside)
    pairs = _from_yaml(str(given), source) if isinstance(given, (str, Path)) else _from_user(given)
    for number, (first, second, kind, label) in enumerate(pairs, 1):
        (a, frame_a), (b, frame_b) = (_frame(description, name) for name in (first, second))
        if kind not in KINDS:
            raise InputError(f"A loop is of the kind {kind!r}; it may be {listing(list(KINDS))}.")
        name = label if label and label not in description.joints else f"loop {number}"
        description.joints[name] = Joint(name, KINDS[kind], a, b, frame_a, frame_b, name, closes=True)
        source.report.keep(f"{name}, {first!r} to {second!r}", f"a {KINDS[kind]} joint")


def _frame(description: Description, name: str) -> tuple[str, Floats]:
    """Link and frame on it that a frame of a loop is: a link, a named frame, or the child of a joint."""
    if name in description.links:
        return name, np.eye(4)
    if name in description.sites:
        return description.sites[name].link, description.sites[name].place
    if name in description.joints:
        return description.joints[name].child, np.eye(4)
    known = [*description.links, *description.sites, *description.joints]
    raise InputError(f"A loop joins {name!r}, which is no link, frame or joint.{did_you_mean(name, known)}")


def _from_user(given: Any) -> list[tuple[str, str, str, str]]:
    pairs = []
    for entry in given if isinstance(given, (list, tuple)) else [given]:
        if not isinstance(entry, (list, tuple)) or len(entry) not in (2, 3) or not all(map(_is_text, entry)):
            raise InputError(
                f"The option loops has {entry!r}; it must be a list of (link, link) or (link, link, kind), a YAML "
                "file, or False."
            )
        pairs.append((entry[0], entry[1], entry[2] if len(entry) == 3 else "fixed", ""))
    return pairs


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _from_yaml(name: str, source: Source) -> list[tuple[str, str, str, str]]:
    """The loops of a YAML file; of the language it needs lists of names, in brackets or line by line."""
    content = whole_file.read(name, "loop file")
    if len(content) > MOST_BYTES:
        raise FileError(f"The loop file {name!r} has more than {MOST_BYTES} bytes.")
    table = _read_table(content.decode("utf-8", "replace"), name)
    pairs, kinds, names = (table.get(key, []) for key in KEYS)
    for key in table:
        if key not in KEYS:
            source.report.drop(f"{name}: {key}", f"only {', '.join(KEYS)} are read")
    if not all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair)) for pair in pairs):
        raise FileError(f"The loop file {name!r} has a closed_loop that is not a list of pairs of names.")
    given = [str(kinds[k]).lower() if k < len(kinds) else "6d" for k in range(len(pairs))]
    labels = [str(names[k]) if k < len(names) else "" for k in range(len(pairs))]
    return [(a, b, kind, label) for (a, b), kind, label in zip(pairs, given, labels, strict=True)]


def _read_table(text: str, name: str) -> dict[str, list[Any]]:
    """Keys with lists, each on one line or over several until its brackets close."""
    found: dict[str, list[Any]] = {}
    lines = [line.split("#")[0].rstrip() for line in text.splitlines()]
    joined = re.split(r"\n(?=\S)", "\n".join(line for line in lines if line.strip() and line.strip() != "---"))
    for block in joined:
        key, colon, rest = block.partition(":")
        if not colon:
            continue
        try:
            found[key.strip()] = _list(rest)
        except ValueError:
            raise FileError(f"The loop file {name!r} has a {key.strip()!r} that is not a list of names.") from None
    return found


def _list(text: str) -> list[Any]:
    """A list in brackets, its names quoted or not; or one with dashes."""
    quoted = re.sub(r"'([^']*)'", lambda match: json.dumps(match.group(1)), text.strip())
    if not quoted.startswith("["):
        items = re.findall(r"^\s*-\s*(.+?)\s*$", quoted, re.M)
        if not items:
            raise ValueError(text)
        quoted = "[" + ", ".join(items) + "]"
    bare = re.sub(r'("[^"]*")|([^\[\],"\s][^\[\],"]*)', lambda m: m.group(1) or json.dumps(m.group(2).strip()), quoted)
    value = json.loads(bare)
    if not isinstance(value, list):
        raise ValueError(text)
    return value
