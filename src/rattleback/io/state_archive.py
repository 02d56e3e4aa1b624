"""The archive of a state file: a header and arrays in a zip, sealed by a SHA-256 of every byte before it.

    header.json   motion.position.npy   motion.orientation.npy   ...   | seal

The seal is the comment at the end of the zip, so that ``numpy.load(path)`` opens the file too. A file that was cut
short or changed in a single bit no longer fits its seal. Nothing is pickled. The same content gives the same bytes.

A seal does not tell where the file comes from. So names and sizes of all entries are looked at before one of them is
read: those of arrays that no state has, and those that would unpack to more than they take in the file, are refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.io import json_text
from rattleback.io.faults import shown_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray

    from rattleback.io.faults import Faults

HEADER = "header.json"
SEAL = 64  # hexadecimal digits of a SHA-256
LONGEST_HEADER = 256  # characters in which an array says its shape and kind
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest date a zip can hold; a real one would make equal states differ


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a state file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        # In ASCII, so that names with half of a surrogate pair can be written, too.
        text = json.dumps(header, allow_nan=False, indent=1)
        archive.writestr(zipfile.ZipInfo(HEADER, LONG_AGO), text.encode())
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", LONG_AGO), entry.getvalue())
        archive.comment = b"0" * SEAL
    return seal(stream.getvalue()[:-SEAL])


def seal(content: bytes) -> bytes:
    """Content followed by its SHA-256."""
    return content + _digest(content)


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def unpack(content: bytes, known: Collection[str], faults: Faults) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Header and arrays of a state file, after its seal was checked; they take no more memory than the file does.

    Args:
        content: The bytes of the file.
        known: Names of the arrays it may have.
        faults: Where faults are noted.

    Raises:
        FileError: It is not a state file, was cut short, or was changed.
    """
    if not content.startswith(b"PK"):
        hint = " A scene file is read with rb.Scene.load(path)." if content.lstrip()[:1] == b"{" else ""
        raise faults.error(f"is not a rattleback state file.{hint}")
    if content[-SEAL:] != _digest(memoryview(content)[:-SEAL]):
        raise faults.error(
            "is damaged: its checksum does not fit. It was cut short or changed, or is not a rattleback state file."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_entries(archive, len(content), known)
            text = archive.read(HEADER)
            arrays = {name: _array(archive, name) for name in known if f"{name}.npy" in archive.NameToInfo}
    except InputError as error:
        raise faults.error(str(error)) from None
    except Exception as error:  # zipfile and NumPy fail in as many ways as an archive can be wrong
        raise faults.error(f"is not an archive of arrays: {error}.") from None
    return json_text.parse(text, faults), arrays


def _check_entries(archive: zipfile.ZipFile, size: int, known: Collection[str]) -> None:
    """Refuse entries that are not known, are there twice, or would be larger than what the file holds of them."""
    allowed, seen = {HEADER, *(f"{name}.npy" for name in known)}, set()
    for entry in archive.infolist():
        name = entry.filename
        if name not in allowed:
            raise InputError(f"has an array {_shown(name)}, which no state has.")
        if name in seen:
            raise InputError(f"has {_shown(name)} twice.")
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise InputError(f"has {_shown(name)} compressed; the entries of a state file are stored as they are.")
        seen.add(name)
        size -= entry.file_size
    if size < 0:
        raise InputError("says that its arrays are larger than the file is.")


def _shown(name: str) -> str:
    return shown_value(name.removesuffix(".npy"))


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of numbers, read only, where its header says as many as there are."""
    content = archive.read(f"{name}.npy")
    stream = io.BytesIO(content)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, fortran, dtype = readers[np.lib.format.read_magic(stream)](stream, max_header_size=LONGEST_HEADER)
    if dtype.kind not in "fiu":
        raise InputError(f"has an array {name!r} that holds no numbers.")
    data = content[stream.tell() :]
    if math.prod(shape) * dtype.itemsize != len(data):
        raise InputError(f"has an array {name!r} of shape {shape} in {len(data)} bytes.")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
