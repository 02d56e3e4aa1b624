"""The archive of a state file: a header and arrays in a zip, sealed by a SHA-256 of every byte before it.

    header.json   motion.position.npy   motion.orientation.npy   ...   | seal

The seal is the comment at the end of the zip, so that ``numpy.load(path)`` opens the file too. A file that was cut
short or changed in a single bit no longer fits its seal. Nothing is pickled. The same content gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.io.faults import Faults

HEADER = "header.json"
SEAL = 64  # hexadecimal digits of a SHA-256
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest date a zip can hold; a real one would make equal states differ


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a state file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(header, ensure_ascii=False, allow_nan=False, indent=1)
        archive.writestr(zipfile.ZipInfo(HEADER, LONG_AGO), text.encode())
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", LONG_AGO), entry.getvalue())
        archive.comment = b"0" * SEAL
    return seal(stream.getvalue()[:-SEAL])


def seal(content: bytes) -> bytes:
    """Content followed by its SHA-256."""
    return content + hashlib.sha256(content).hexdigest().encode()


def unpack(content: bytes, faults: Faults) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Header and arrays of a state file, after its seal was checked.

    Raises:
        FileError: It is not a state file, was cut short, or was changed.
    """
    if not content.startswith(b"PK"):
        hint = " A scene file is read with rb.Scene.load(path)." if content.lstrip()[:1] == b"{" else ""
        raise faults.error(f"is not a rattleback state file.{hint}")
    if content != seal(content[:-SEAL]):
        raise faults.error(
            "is damaged: its checksum does not fit. It was cut short or changed, or is not a rattleback state file."
        )
    try:
        text, arrays = _entries(content)
    except Exception as error:  # zipfile and NumPy fail in as many ways as an archive can be wrong
        raise faults.error(f"is not an archive of arrays: {error}.") from None
    return json_text.parse(text, faults), arrays


def _entries(content: bytes) -> tuple[bytes, dict[str, NDArray[Any]]]:
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name != HEADER:
                entry = io.BytesIO(archive.read(name))
                arrays[name.removesuffix(".npy")] = np.lib.format.read_array(entry, allow_pickle=False)
        return archive.read(HEADER), arrays
