"""The container of glTF 2.0: JSON with buffers, in one binary file or beside it, and accessors into the buffers.

Everything that a file says of sizes and offsets is checked against what is there before it is read. Buffers are inside
of the file, in its text, or files in its own folder; nothing else is opened.

Reference: glTF 2.0 specification, sections 3.6 and 4.4.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import FileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
# Extensions that a file may need although they are not read: they change looks alone, or nothing here.
WITHOUT_LOSS = (
    "KHR_mesh_quantization", "KHR_texture_transform", "KHR_texture_basisu", "EXT_texture_webp", "EXT_texture_avif",
    "KHR_lights_punctual", "KHR_xmp_json_ld", "KHR_animation_pointer", "KHR_node_visibility",
)  # fmt: skip
COMPRESSED = "decompress it, as `gltf-transform copy in.glb out.glb` does"


class GltfFile:
    """A glTF file as data and arrays.

    Attributes:
        name: Its path, for messages.
        data: What its JSON says.

    Args:
        path: The file.
    """

    def __init__(self, path: Any) -> None:
        self.name = whole_file.location(path, "glTF file")
        content = whole_file.read(path, "glTF file")
        text, self._inside = self._chunks(content) if content[:4] == b"glTF" else (content, b"")
        try:
            self.data = json.loads(text.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise self.fault(f"its text is not JSON: {error}") from None
        if not isinstance(self.data, dict) or str(self.table("asset").get("version", ""))[:2] != "2.":
            raise self.fault("it does not say that it is of version 2.0")
        self._check_extensions()
        self._buffers: dict[int, bytes] = {}

    def _check_extensions(self) -> None:
        """Refuse a file that needs an extension which changes what is read of it."""
        needed = self.data.get("extensionsRequired", [])
        for name in map(str, needed if isinstance(needed, list) else []):
            if name not in WITHOUT_LOSS and not name.startswith("KHR_materials_"):
                way = COMPRESSED if "compression" in name else "save it without that"
                raise self.fault(f"it needs the extension {name!r}, which is not read here; {way}")

    def fault(self, what: str) -> FileError:
        """An error about the file."""
        return FileError(f"The glTF file {self.name!r} cannot be read: {what}.")

    def table(self, key: str) -> dict[str, Any]:
        """A table of the file; empty where it has none."""
        found = self.data.get(key, {})
        return found if isinstance(found, dict) else {}

    def rows(self, key: str, of: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """A list of tables of the file, or of a table in it; empty where there is none."""
        found = (self.data if of is None else of).get(key, [])
        if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
            raise self.fault(f"{key!r} is not a list of tables")
        return found

    def pick(self, key: str, number: Any) -> dict[str, Any]:
        """One table of a list, by its number."""
        rows = self.rows(key)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(rows):
            raise self.fault(f"it names entry {number!r} of {key!r}, which has {len(rows)}")
        return rows[number]

    def numbers(self, value: Any, count: int, what: str) -> NDArray[np.float64]:
        """Numbers that stand in the text (count,)."""
        try:
            found = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (count,) or not np.isfinite(found).all():
            raise self.fault(f"{what} is {value!r}; it must be {count} numbers")
        return found

    def array(self, number: Any, what: str) -> NDArray[Any]:
        """What an accessor holds (elements, width), normalised whole numbers scaled to −1 … 1."""
        accessor = self.pick("accessors", number)
        kind, width = TYPES.get(accessor.get("componentType", 0)), WIDTHS.get(str(accessor.get("type")))
        count = accessor.get("count")
        if kind is None or width is None or not isinstance(count, int) or count < 0:
            raise self.fault(f"accessor {number} of {what} has a type or a count that is not known")
        if count * width > 2**28:
            raise self.fault(f"accessor {number} of {what} has {count} elements, more than can be")
        found = self._viewed(accessor, kind, width, count, what)
        if "sparse" in accessor:
            found = self._sparse(accessor["sparse"], found, kind, width, what)
        if accessor.get("normalized") and found.dtype != np.float32:
            found = np.maximum(found.astype(np.float64) / np.iinfo(found.dtype).max, -1.0)
        if found.dtype == np.float32 and not np.isfinite(found).all():
            raise self.fault(f"accessor {number} of {what} has a number that is not finite")
        return found

    def _viewed(self, place: dict[str, Any], kind: Any, width: int, count: int, what: str) -> NDArray[Any]:
        """Elements of a buffer view; zeros where there is none."""
        if place.get("bufferView") is None:
            return np.zeros((count, width), kind)
        view = self.pick("bufferViews", place["bufferView"])
        buffer = self._buffer(view.get("buffer"))
        size = width * np.dtype(kind).itemsize
        stride = view.get("byteStride", size)
        start = self._whole(view.get("byteOffset", 0)) + self._whole(place.get("byteOffset", 0))
        end = self._whole(view.get("byteOffset", 0)) + self._whole(view.get("byteLength", 0))
        if self._whole(stride) < size or (count and start + (count - 1) * stride + size > min(end, len(buffer))):
            raise self.fault(f"{what} lies beyond its buffer of {len(buffer)} bytes")
        if not count:
            return np.zeros((0, width), kind)
        return np.ndarray((count, width), kind, buffer, start, (stride, np.dtype(kind).itemsize)).copy()

    def _sparse(self, sparse: Any, found: NDArray[Any], kind: Any, width: int, what: str) -> NDArray[Any]:
        try:
            count, indices, values = self._whole(sparse["count"]), sparse["indices"], sparse["values"]
            places = self._viewed(indices, TYPES[indices["componentType"]], 1, count, what)[:, 0].astype(np.int64)
            given = self._viewed(values, kind, width, count, what)
        except (KeyError, TypeError, AttributeError):
            raise self.fault(f"{what} is sparse in a way that is not known") from None
        if count and places.max() >= len(found):
            raise self.fault(f"{what} is sparse and names element {int(places.max())} of {len(found)}")
        found[places] = given
        return found

    def _whole(self, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.fault(f"{value!r} stands where a whole number not below zero is expected")
        return value

    def _buffer(self, number: Any) -> bytes:
        entry = self.pick("buffers", number)
        if number not in self._buffers:
            self._buffers[number] = self._load(entry.get("uri"), number)
        return self._buffers[number]

    def _load(self, uri: Any, number: int) -> bytes:
        if uri is None:
            if number != 0 or not self._inside:
                raise self.fault(f"buffer {number} has no address and is not inside of it")
            return self._inside
        if not isinstance(uri, str):
            raise self.fault(f"the address of buffer {number} is not text")
        if uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except binascii.Error:
                raise self.fault(f"buffer {number} is not base64") from None
        inside = PurePosixPath(unquote(uri))
        folder = Path(self.name).resolve().parent
        target = (folder / inside).resolve()
        if ":" in uri or inside.is_absolute() or not target.is_relative_to(folder):
            raise self.fault(f"buffer {number} is at {uri!r}; only files in the folder of the glTF file are read")
        return whole_file.read(target, "buffer of a glTF file")

    def _chunks(self, content: bytes) -> tuple[bytes, bytes]:
        """The JSON and the buffer of a binary file."""
        found: dict[int, bytes] = {}
        at = 12
        while at + 8 <= len(content):
            length, kind = struct.unpack_from("<II", content, at)
            if at + 8 + length > len(content):
                raise self.fault("it is cut off")
            found.setdefault(kind, content[at + 8 : at + 8 + length])
            at += 8 + length + (-length) % 4
        if JSON_CHUNK not in found:
            raise self.fault("it has no JSON inside")
        return found[JSON_CHUNK], found.get(BINARY_CHUNK, b"")
