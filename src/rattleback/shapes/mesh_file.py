"""Points and triangles from a mesh file, read by trimesh, which is imported only here and only when needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import FileError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_mesh(path: str | os.PathLike[str], resolver: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points [m], shape (vertices, 3), and triangles, shape (triangles, 3), of a file.

    Points that coincide exactly become one, because formats such as STL repeat the corners for every triangle; a
    triangle two of whose corners coincide has no area and is left out.

    Args:
        path: File of any format trimesh reads, such as .obj or .stl.
        resolver: Where further files that it names are read from, as trimesh asks for them; None for its folder.
    """
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise FileError(f"There is no mesh file {name!r}.")
    try:
        import trimesh
    except ImportError:
        raise FileError(
            f"Reading the mesh file {name!r} needs trimesh; install it with: pip install 'rattleback[formats]'."
        ) from None
    try:
        mesh: Any = trimesh.load_mesh(name, process=False, resolver=resolver)
        points, triangles = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    except Exception as error:  # trimesh's many loaders fail in as many ways
        raise FileError(f"The mesh file {name!r} cannot be read: {error}") from error
    if points.ndim != 2 or len(triangles) == 0:
        raise FileError(f"The mesh file {name!r} holds no triangles.")
    if not np.isfinite(points).all():
        raise FileError(f"The mesh file {name!r} holds points that are not finite.")
    return _merged(points, triangles)


def _merged(points: NDArray[np.float64], triangles: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Let triangles share the points that coincide, in the order in which they first appear."""
    _, first, which = np.unique(points + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    joined = rank[which.reshape(-1)][triangles]
    solid = (joined != np.roll(joined, 1, axis=1)).all(axis=1)
    return points[first[order]], joined[solid]
