"""A glTF 2.0 document as it grows: JSON that names accessors, and the one buffer of numbers they look into.

    .glb:  12 bytes of header, a chunk of JSON, a chunk with the buffer      .gltf:  JSON with the buffer in base64

Numbers are single precision, as the format has them: places within 100 m keep 4e-6 m.

Reference: Khronos Group, glTF 2.0 Specification, §3.6 (binary data), §4.4 (GLB).
"""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FLOAT, UNSIGNED_INT = 5126, 5125
VERTICES, INDICES = 34962, 34963
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
MAGIC, JSON_CHUNK, BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942


class Document:
    """A glTF document.

    Attributes:
        json: Its JSON; lists of nodes, meshes and so on come into being with their first entry.

    Args:
        generator: The program that writes it.
    """

    def __init__(self, generator: str) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0", "generator": generator}}
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, kind: str, entry: dict[str, Any]) -> int:
        """Add a node, a mesh or another entry of a list; returns its index."""
        entries = self.json.setdefault(kind, [])
        entries.append(entry)
        return len(entries) - 1

    def numbers(self, values: ArrayLike, target: int | None = None, bounds: bool = False) -> int:
        """Add an accessor to numbers (count,) or (count, components); returns its index.

        Args:
            values: The numbers; written as single precision.
            target: What they are for, ``VERTICES``; None for frames of an animation and other data.
            bounds: Whether the least and largest of each component are written, as the format wants it for
                times and vertices.
        """
        array = np.ascontiguousarray(values, dtype="<f4")
        columns = array.reshape(len(array), -1)
        entry: dict[str, Any] = {
            "bufferView": self._view(array.tobytes(), target),
            "componentType": FLOAT,
            "count": len(array),
            "type": KINDS[columns.shape[1]],
        }
        if bounds:
            entry |= {"min": columns.min(axis=0).tolist(), "max": columns.max(axis=0).tolist()}
        return self.add("accessors", entry)

    def indices(self, triangles: NDArray[np.int64]) -> int:
        """Add an accessor to the corners of triangles; returns its index."""
        array = np.ascontiguousarray(triangles.reshape(-1), dtype="<u4")
        view = self._view(array.tobytes(), INDICES)
        entry = {"bufferView": view, "componentType": UNSIGNED_INT, "count": len(array), "type": "SCALAR"}
        return self.add("accessors", entry)

    def binary(self) -> bytes:
        """The document as a .glb file."""
        self.json["buffers"] = [{"byteLength": self._size}]
        text = _padded(self._text(), b" ")
        buffer = b"".join(self._parts)
        total = 12 + 8 + len(text) + 8 + len(buffer)
        header = struct.pack("<III", MAGIC, 2, total)
        chunks = struct.pack("<II", len(text), JSON_CHUNK) + text
        return header + chunks + struct.pack("<II", len(buffer), BINARY_CHUNK) + buffer

    def embedded(self) -> bytes:
        """The document as a .gltf file that holds its buffer itself."""
        coded = base64.b64encode(b"".join(self._parts)).decode("ascii")
        uri = f"data:application/octet-stream;base64,{coded}"
        self.json["buffers"] = [{"byteLength": self._size, "uri": uri}]
        return self._text()

    def _text(self) -> bytes:
        return json.dumps(self.json, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    def _view(self, content: bytes, target: int | None) -> int:
        """Add bytes to the buffer; returns the index of the view of them."""
        padded = _padded(content, b"\0")
        entry: dict[str, Any] = {"buffer": 0, "byteOffset": self._size, "byteLength": len(content)}
        if target is not None:
            entry["target"] = target
        self._parts.append(padded)
        self._size += len(padded)
        return self.add("bufferViews", entry)


def _padded(content: bytes, filling: bytes) -> bytes:
    """Bytes up to a multiple of four."""
    return content + filling * (-len(content) % 4)
