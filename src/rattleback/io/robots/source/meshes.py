"""Meshes of robot files: read once, scaled, mirrored where a scale is negative, as what is seen and what collides.

    p' = diag(s) p        triangles turned round where s_x s_y s_z < 0

COLLADA says in its file how long its unit is, which counts; which axis it calls up does not, as in ROS. The others
are taken as metres, along their own axes. Files that a mesh names, such as the buffers of glTF, are read from the
named folders only.

A mesh that moves collides as its convex hull.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import FileError, InputError
from rattleback.io.robots.source.folders import Outside
from rattleback.io.robots.source.xml_text import read_document
from rattleback.shapes import ConvexHull, Mesh
from rattleback.shapes.mesh_file import read_mesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.source.folders import Folders

    Floats = NDArray[np.float64]

ENDINGS = (".obj", ".stl", ".ply", ".dae", ".gltf", ".glb", ".off")
MOST_BYTES = 256 * 2**20


class Found(NamedTuple):
    """A mesh, or why there is none.

    Attributes:
        mesh: The mesh as it is seen; None where there is none.
        reason: Why there is none.
    """

    mesh: Mesh | None
    reason: str = ""


class Beside:
    """Files that a mesh names, for trimesh: relative to it, and never outside the folders."""

    def __init__(self, path: Path, folders: Folders) -> None:
        self.path, self.folders = path, folders

    def get(self, name: str) -> bytes:
        """Contents of a file."""
        found = self.folders.find(str(self.path.parent / name))
        if found is None or found.stat().st_size > MOST_BYTES:
            raise FileError(f"the file {name!r} that it names cannot be read")
        return found.read_bytes()

    __getitem__ = get


def _unit(path: Path) -> float:
    """Length of the unit of a COLLADA file [m]; one with a document type is refused."""
    try:
        import_module("collada")
    except ImportError:
        raise FileError("COLLADA needs pycollada; install it with: pip install 'rattleback[formats]'") from None
    asset = read_document(str(path), "COLLADA").root.child("asset")
    unit = None if asset is None else asset.child("unit")
    return 1.0 if unit is None else unit.number("meter", 1.0)


class Meshes:
    """The meshes of one robot file, each read once.

    Args:
        folders: Where they are looked for.
    """

    def __init__(self, folders: Folders) -> None:
        self.folders = folders
        self._read: dict[Path, tuple[Floats, Any]] = {}
        self._made: dict[Any, Found] = {}
        self._hulls: dict[Mesh, ConvexHull | None] = {}

    def find(self, name: str, scale: Any = (1.0, 1.0, 1.0)) -> Found:
        """The mesh of a file, scaled."""
        key = (name, tuple(float(entry) for entry in scale))
        if key not in self._made:
            self._made[key] = self._find(name, np.array(key[1]))
        return self._made[key]

    def _find(self, name: str, scale: Floats) -> Found:
        try:
            path = self.folders.find(name)
        except Outside:
            return Found(None, f"the mesh {name!r} lies outside the folder of the file and those of search=")
        if path is None:
            return Found(None, f"the mesh {name!r} is missing; name its folder in search=")
        if path.suffix.lower() not in ENDINGS:
            return Found(None, f"{name!r} is no mesh that can be read; those are {', '.join(ENDINGS)}")
        if not np.all(scale):
            return Found(None, f"the scale of the mesh {name!r} is zero along an axis")
        try:
            return Found(self._scaled(path, scale))
        except (FileError, InputError, Outside) as error:
            return Found(None, f"the mesh {name!r} cannot be used: {str(error)[:200]}")

    def _scaled(self, path: Path, scale: Floats) -> Mesh:
        if path not in self._read:
            if path.stat().st_size > MOST_BYTES:
                raise FileError(f"it has more than {MOST_BYTES} bytes")
            unit = _unit(path) if path.suffix.lower() == ".dae" else 1.0
            points, triangles = read_mesh(path, Beside(path, self.folders))
            self._read[path] = unit * points, triangles
        points, triangles = self._read[path]
        turned = triangles[:, ::-1] if np.prod(np.sign(scale)) < 0 else triangles
        return Mesh(points * scale, turned)

    def hull(self, mesh: Mesh) -> ConvexHull | None:
        """The convex hull of a mesh; None of one that is flat."""
        if mesh not in self._hulls:
            try:
                self._hulls[mesh] = ConvexHull(mesh.vertices)
            except InputError:
                self._hulls[mesh] = None
        return self._hulls[mesh]
