"""The two formats of a recording."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from rattleback.core.errors import InputError, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

# Rows turned into text at once; bounds the memory a long recording needs for it.
ROWS_AT_ONCE = 1024


def check_suffix(path: str | os.PathLike[str], suffixes: Iterable[str], what: str) -> Path:
    """The path, if its name ends with one of the suffixes."""
    known = sorted(suffixes)
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"The path of {what} is {path!r}; it must be a path, such as 'out{known[0]}'.")
    found = Path(path)
    if found.suffix.lower() not in known:
        raise InputError(f"The path of {what} is {str(path)!r}; its name must end with one of {listing(known, 20)}.")
    return found


def write_npz(stream: IO[bytes], arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write named arrays as NumPy reads them, without pickle; the same arrays give the same bytes."""
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)


def write_csv(stream: IO[bytes], header: list[str], tables: list[NDArray[np.generic]]) -> None:
    """Write columns under a header; every number keeps all its digits.

    Args:
        stream: Where to.
        header: Names of the columns of all tables.
        tables: Arrays of shape (samples, columns); truth values are written as 0 and 1.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    plain = [table.astype(np.int64) if table.dtype == np.bool_ else table for table in tables]
    for start in range(0, len(plain[0]), ROWS_AT_ONCE):
        pieces = [table[start : start + ROWS_AT_ONCE].tolist() for table in plain]
        writer.writerows([number for part in row for number in part] for row in zip(*pieces, strict=True))
    text.detach()
