"""Spoilt files: the bytes of a scene or state file after one to four changes, drawn from a number.

Scene files lose, double, rename and swap their entries, get junk and numbers at the edge of what a float holds, nest
deeply, say fields twice, or have bytes flipped, cut and put in twice. State files get the same in their header, and
arrays of other values, shapes, kinds and names, entries that are compressed, doubled or lie about their size; most of
them with a seal that fits again.
"""

import copy
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fuzz.file_seeds import Good, good_files
from fuzz.random_parts import Rng, chance
from rattleback.io import state_archive

Arrays = dict[str, np.ndarray]
MOST_CHANGES = 4
JUNK: tuple[Any, ...] = (None, True, False, 0, -1, 1, 3, 2**31, -(2**63), 10**30, 10**299, 10**400, 0.5, -0.0, 1e-320)
JUNK += (1e-160, 1e-9, 1e9, 1e160, -1e308, math.nan, math.inf, -math.inf, "", "x", "world", "ground", "all", "body 0")
JUNK += ("infinity", "\ud800", "\u20ac" * 300, "\x00", "../../etc/passwd", [], {}, [[]], [0, 0, 0, 1], [1e200] * 3)
JUNK += ({"kind": "box"}, {"kind": "sphere", "radius": 1e-300}, [0] * 1000, [[0.0, 0.0, 0.0]] * 4)
DEEP = 100_000
# Numbers that an index, a count or a flag must not be, and that a float need not withstand.
WHOLE = (-1, 0, 1, 2, 3, 100, 10**6, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
REAL = (0.0, -1.0, 1.0, math.nan, math.inf, -math.inf, 1e-320, 1e-30, 1e6, 1e30, -1e200, 1.7e308)
KINDS = ("<f4", "<f2", ">f8", "<i4", "<i8", ">i4", "<u4", "<u8", "|u1", "|b1", "<c16", "|S4", "<U2", "<M8[s]")


def spoilt(number: int) -> tuple[str, bytes]:
    """The suffix and the bytes of the spoilt file of this number."""
    rng = np.random.default_rng([number, 11])
    goods = good_files()
    good, other = (goods[k] for k in rng.integers(len(goods), size=2))
    if chance(rng, 0.4):
        return ".json", spoilt_scene(rng, good, other)
    return ".npz", spoilt_state(rng, good, other)


def spoilt_scene(rng: Rng, good: Good, other: Good) -> bytes:
    data = copy.deepcopy(good.scene)
    for _ in range(min(int(rng.geometric(0.6)), MOST_CHANGES)):
        data = changed_data(rng, data, other.scene)
    text = written(data)
    return spoilt_text(rng, text) if chance(rng, 0.15) else text


def written(data: Any) -> bytes:
    return json.dumps(data).encode("utf-8", "replace")


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all nodes below the top."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in inner:
        yield (*here, step)
        yield from places(value, (*here, step))


def changed_data(rng: Rng, data: Any, other: Any) -> Any:
    """The data with one node changed; it may be changed in place."""
    known = list(places(data))
    if not known:
        return data
    *above, last = known[rng.integers(len(known))]
    node = data
    for step in above:
        node = node[step]
    change = CHANGES[rng.integers(len(CHANGES))]
    change(rng, node, last, other)
    return data


def _junk(rng: Rng, node: Any, last: Any, other: Any) -> None:
    node[last] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])


def _drop(rng: Rng, node: Any, last: Any, other: Any) -> None:
    del node[last]


def _double(rng: Rng, node: Any, last: Any, other: Any) -> None:
    if isinstance(node, list):
        node.insert(last, copy.deepcopy(node[last]))
    else:
        node[f"{last}_b"] = copy.deepcopy(node[last])


def _swap(rng: Rng, node: Any, last: Any, other: Any) -> None:
    keys = list(node) if isinstance(node, dict) else range(len(node))
    there = keys[rng.integers(len(keys))]
    node[last], node[there] = node[there], node[last]


def _scale(rng: Rng, node: Any, last: Any, other: Any) -> None:
    """A number a little or very different, which may well be one that loads."""
    value = node[last]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        factor = rng.choice([-1.0, 0.0, 0.5, 2.0, 10.0 ** rng.integers(-12, 13)])
        node[last] = min(max(value, -1e300), 1e300) * factor + rng.choice([0.0, 0.1])
    else:
        _junk(rng, node, last, other)


def _graft(rng: Rng, node: Any, last: Any, other: Any) -> None:
    """A node of another scene, at the same place where it has one, from anywhere otherwise."""
    known = list(places(other))
    alike = [place for place in known if place[-1] == last] or known
    value = other
    for step in alike[rng.integers(len(alike))]:
        value = value[step]
    node[last] = copy.deepcopy(value)


def _wrap(rng: Rng, node: Any, last: Any, other: Any) -> None:
    value = node[last]
    node[last] = (str(value)[:40], [value], {"value": value}, [value] * 300, {last: value})[rng.integers(5)]


CHANGES = (_junk, _drop, _double, _swap, _wrap, _graft, _graft, *[_scale] * 8)


def spoilt_text(rng: Rng, text: bytes) -> bytes:
    """A JSON text with bytes changed, cut out, put in twice, or something nested, doubled or endless put in."""
    if chance(rng, 0.6):
        return spoilt_bytes(rng, text)
    at = int(rng.integers(len(text)))
    pieces = (b"[" * DEEP, b'{"a":' * DEEP, b"9" * 5000, b"1e99999", b"NaN", b"-Infinity", b"\xff\xfe", b"\xef\xbb\xbf")
    pieces += (b'"name": "x", ', b'"\\ud800"', b"[" * 500 + b"]" * 500, b"-", b"\x00" * 50, b"0x10")
    return text[:at] + pieces[rng.integers(len(pieces))] + text[at + int(rng.integers(2)) :]


def spoilt_bytes(rng: Rng, content: bytes) -> bytes:
    """Bytes flipped, cut off, cut out, or put in twice."""
    changed, kind = bytearray(content), rng.integers(6)
    start, length = int(rng.integers(len(changed))), int(rng.integers(1, 200))
    if kind == 0:
        return bytes(changed[:start])
    if kind == 1:
        del changed[start : start + length]
    elif kind == 2:
        changed[start:start] = changed[start : start + length]
    elif kind == 3:
        changed[start : start + length] = rng.bytes(length)
    else:
        for place in rng.integers(len(changed), size=int(rng.integers(1, 5))):
            changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def opened(content: bytes) -> tuple[Any, Arrays]:
    """Header and arrays of a good state file, read without the code under test."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read("header.json"))
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return header, {name: archive[name] for name in archive.files if name != "header.json"}


def spoilt_state(rng: Rng, good: Good, other: Good) -> bytes:
    if chance(rng, 0.05):
        return spoilt_bytes(rng, good.state)
    if chance(rng, 0.15):
        return state_archive.seal(spoilt_bytes(rng, good.state[: -state_archive.SEAL]))
    header, arrays = opened(good.state)
    others = opened(other.state)
    for _ in range(min(int(rng.geometric(0.6)), MOST_CHANGES)):
        if chance(rng, 0.3):
            header = changed_header(rng, header, others[0])
        else:
            name = list(arrays)[rng.integers(len(arrays))]
            ARRAY_CHANGES[rng.integers(len(ARRAY_CHANGES))](rng, arrays, name, others[1])
    return packed(rng, header, arrays)


def changed_header(rng: Rng, header: Any, other: Any) -> Any:
    """The header with a node changed; every other time one of the settings, which are but a small part of it."""
    settings = header.get("settings") if isinstance(header, dict) else None
    if isinstance(settings, dict) and settings and chance(rng, 0.5):
        changed_data(rng, settings, other["settings"])
        return header
    return changed_data(rng, header, other)


def _value(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    """One number, or all of them, at the edge of its kind or near what is there."""
    array = arrays[name] = arrays[name].copy()
    if not array.size:
        return
    real = array.dtype.kind == "f"
    at = slice(None) if chance(rng, 0.2) else int(rng.integers(array.size))
    if chance(rng, 0.5):
        change = rng.normal() * 10.0 ** rng.integers(-6, 7) if real else int(rng.integers(-3, 4))
        with np.errstate(all="ignore"):
            array.flat[at] = array.flat[at] + np.array(change).astype(array.dtype)
    else:
        value = (REAL if real else WHOLE)[rng.integers(len(REAL if real else WHOLE))]
        with np.errstate(all="ignore"):
            array.flat[at] = np.array(value).astype(array.dtype)


def _permute(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    arrays[name] = rng.permutation(arrays[name])


def _shape(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    array, kind = arrays[name], rng.integers(7)
    if kind == 0:
        arrays[name] = array[: int(rng.integers(len(array) + 1))]
    elif kind == 1:
        arrays[name] = np.repeat(array, int(rng.integers(1, 4)), axis=0)
    elif kind == 2:
        arrays[name] = array.reshape(-1)
    elif kind == 3:
        arrays[name] = array[..., None]
    elif kind == 4:
        arrays[name] = array.T.copy()
    elif kind == 5:
        arrays[name] = np.asfortranarray(array)
    else:
        arrays[name] = np.concatenate([array, array[-1:]])


def _kind(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    kind = KINDS[rng.integers(len(KINDS))]
    with np.errstate(all="ignore"):
        arrays[name] = np.zeros(arrays[name].shape, kind) if kind[1] in "SUM" else arrays[name].astype(kind)


def _other(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    """The array of another file, or another array of this one."""
    source = other if chance(rng, 0.5) else arrays
    arrays[name] = source[list(source)[rng.integers(len(source))]] if chance(rng, 0.3) else other.get(name, np.zeros(0))


def _lose(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    """An array, or all of a group, is not there, or under another name."""
    group = name.split(".")[0]
    for lost in [name] if chance(rng, 0.5) else [one for one in arrays if one.startswith(group)]:
        array = arrays.pop(lost)
        if chance(rng, 0.3):
            arrays[str(rng.choice(["x", "motion.colour", "..", "\u20ac", lost.upper()]))] = array
    if not arrays:
        arrays["clock.time"] = np.zeros(1)


def _move(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    there = list(arrays)[rng.integers(len(arrays))]
    arrays[name], arrays[there] = arrays[there], arrays[name]


def _column(rng: Rng, arrays: Arrays, name: str, other: Arrays) -> None:
    """The same rows dropped from, or doubled in, all arrays of a group that are as long."""
    rows, kind = len(arrays[name]) if arrays[name].ndim else 0, rng.integers(3)
    if not rows:
        return
    kept = [np.arange(rows)[:-1], np.repeat(np.arange(rows), 2), rng.permutation(rows)][kind]
    for one in [one for one in arrays if one.split(".")[0] == name.split(".")[0]]:
        if arrays[one].ndim and len(arrays[one]) == rows:
            arrays[one] = arrays[one][kept]


ArrayChange = Callable[[Rng, Arrays, str, Arrays], None]
ARRAY_CHANGES: tuple[ArrayChange, ...] = (_value,) * 6 + (_permute, _shape, _kind, _other, _lose, _move, _column)


def packed(rng: Rng, header: Any, arrays: Arrays) -> bytes:
    """A sealed archive; one in ten not stored as a state file is."""
    stream, odd = io.BytesIO(), rng.integers(5) if chance(rng, 0.1) else -1
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED if odd == 0 else zipfile.ZIP_STORED) as archive:
        text = written(header)
        archive.writestr("header.json", spoilt_text(rng, text) if odd == 1 else text)
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
            content = entry.getvalue()
            archive.writestr(f"{name}.npy", spoilt_bytes(rng, content) if odd == 2 and chance(rng, 0.1) else content)
        if odd == 3:
            archive.writestr("bomb.npy", bytes(10**7), zipfile.ZIP_DEFLATED)
        archive.comment = b"0" * state_archive.SEAL
    content = bytearray(stream.getvalue()[: -state_archive.SEAL])
    if odd == 4:
        # What the directory at the end says of an entry: its method, sizes and place.
        entry = content.rindex(b"PK\x01\x02")
        content[entry + 10 + int(rng.integers(36))] = int(rng.integers(256))
    return state_archive.seal(bytes(content))
