"""A chunk of a sweep as a file: what came of some variants, sealed, without code.

    header.json   0.npy   1.npy   2.npy   ...   | seal

The header says of which sweep and chunk it is, which variants failed and why, and of every array which result of which
variants it holds, one below the other; results of other shapes have arrays of their own, so that every bit is kept. The
archive is that of state files: nothing is pickled, and the same outcomes give the same bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import FileError
from rattleback.io import state_archive
from rattleback.io.faults import Faults
from rattleback.sweeps.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

KIND = "chunk"
FORMAT = "rattleback-sweep-chunk"


def pack(key: str, chunk: int, outcomes: Sequence[Outcome]) -> bytes:
    """The bytes of a chunk.

    Args:
        key: The key of the sweep.
        chunk: Number of the chunk.
        outcomes: What came of its variants, in their order.
    """
    groups, arrays = _groups(outcomes)
    header = {
        "format": FORMAT,
        "key": key,
        "chunk": chunk,
        "variants": [outcomes[0].index, len(outcomes)],
        "failed": [[entry.index, entry.error, entry.report] for entry in outcomes if entry.error],
        "groups": groups,
    }
    return state_archive.pack(header, {str(number): array for number, array in enumerate(arrays)})


def read(path: str | PathLike[str], key: str) -> list[Outcome]:
    """What came of the variants of a chunk.

    Raises:
        FileError: The file cannot be read, is damaged, or belongs to another sweep.
    """
    content = whole_file.read(path, KIND)
    try:
        header, arrays = unpacked(content)
        if header["format"] == FORMAT and header["key"] == key:
            return _outcomes(header, arrays)
    except Exception as error:  # a file can be wrong in as many ways as it has bytes
        raise _damaged(path) from error
    raise FileError(f"The chunk {str(path)!r} belongs to another sweep; move it elsewhere.")


def unpacked(content: bytes) -> tuple[Any, dict[str, Any]]:
    """Header and numbered arrays of a sealed archive; what is wrong with it raises one exception or another."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        stems = [name.removesuffix(".npy") for name in archive.namelist()]
    known = [stem for stem in stems if stem.isdecimal()]
    return state_archive.unpack(content, known, Faults(KIND, "", {}))


def belongs(path: str | PathLike[str], key: str, chunk: int) -> bool:
    """Whether a file is that chunk of that sweep, by its header alone; one that was cut short is not."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(state_archive.HEADER))
        return bool((header["format"], header["key"], header["chunk"]) == (FORMAT, key, chunk))
    except Exception:  # likewise
        return False


def _groups(outcomes: Sequence[Outcome]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Results of one name, shape and type together; in the order of their first variants."""
    found: dict[Any, list[tuple[int, Any]]] = {}
    for entry in outcomes:
        for name, value in entry.values.items():
            kind = "text" if isinstance(value, str) else (value.dtype.str, value.shape)
            found.setdefault((name, kind), []).append((entry.index, value))
    groups: list[dict[str, Any]] = []
    arrays = []
    good = [entry.index for entry in outcomes if not entry.error]
    for (name, kind), members in found.items():
        indices, values = [index for index, _ in members], [value for _, value in members]
        group = {"name": name, "variants": None if indices == good else indices}
        if kind == "text":
            groups.append({**group, "text": values})
            continue
        stacked = np.stack(values)
        truth = stacked.dtype == np.bool_
        groups.append({**group, "truth": True} if truth else group)
        arrays.append(stacked.astype(np.uint8) if truth else stacked)
    return groups, arrays


def _outcomes(header: dict[str, Any], arrays: dict[str, Any]) -> list[Outcome]:
    first, count = header["variants"]
    failed = {index: (str(error), str(report)) for index, error, report in header["failed"]}
    good = [index for index in range(first, first + count) if index not in failed]
    values: dict[int, dict[str, Any]] = {index: {} for index in good}
    number = 0
    for group in header["groups"]:
        if "text" in group:
            stacked: Any = [str(text) for text in group["text"]]
        else:
            stacked = arrays[str(number)].astype(np.bool_) if group.get("truth") else arrays[str(number)]
            number += 1
        for index, value in zip(good if group["variants"] is None else group["variants"], stacked, strict=True):
            values[index][str(group["name"])] = value if isinstance(value, str) else np.asarray(value)
    return [
        Outcome(index, values.get(index, {}), *failed.get(index, ("", ""))) for index in range(first, first + count)
    ]


def _damaged(path: str | PathLike[str]) -> FileError:
    return FileError(f"The chunk {str(path)!r} is damaged; remove it and run the sweep again, which makes it anew.")
