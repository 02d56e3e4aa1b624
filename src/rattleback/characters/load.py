"""Loading figures: BVH and glTF files, told by what they begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core import whole_file
from rattleback.core.errors import FileError

if TYPE_CHECKING:
    from rattleback.characters.figure import Figure


def load(path: Any) -> Figure:
    """A figure from a BVH or glTF file: skeleton, clips and skins, in the axes and the unit of the file.

    Args:
        path: The file: ``.bvh``, ``.gltf`` or ``.glb``; what it is, its content says.
    """
    start = whole_file.read(path, "character file")[:256].decode("utf-8-sig", errors="replace").lstrip()
    if start.upper().startswith("HIERARCHY"):
        from rattleback.characters.formats.bvh import read_bvh

        return read_bvh(path)
    if start.startswith(("glTF", "{")):
        from rattleback.characters.formats.gltf import read_gltf

        return read_gltf(path)
    raise FileError(
        f"The file {whole_file.location(path, 'character file')!r} is neither BVH, which begins with HIERARCHY, nor "
        "glTF, which begins with glTF or a brace."
    )
