"""Decomposition of a closed mesh into convex parts, found by CoACD and kept on disk.

CoACD cuts the solid by planes until no part is more concave than a threshold, and takes the convex hull of each part;
together they cover the solid but for a few thousandths of its size, and fill up hollows smaller than the threshold. A
convex mesh is one part, itself.

CoACD runs in a process of its own. The search takes seconds, so what it finds is kept in the folder ``decompositions``
under ``RATTLEBACK_CACHE``, or where the system keeps such files: ``XDG_CACHE_HOME`` or ``~/.cache``, on Windows
``LOCALAPPDATA``, each with ``rattleback`` below. The files may be deleted at any time; one that is damaged is found
anew.

Reference: Wei, Liu, Ling, Su: Approximate convex decomposition for 3D meshes with collision-aware concavity and tree
search (2022).
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import FileError, InputError
from rattleback.shapes import convex_search
from rattleback.shapes.convex_hull import ConvexHull

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What CoACD is asked for; part of the name of a file on disk. The threshold is in units of the mesh scaled to ±1.
PARAMETERS = {"threshold": 0.05, "seed": 0}
# A mesh that fills its hull but for this share of the volume is convex.
CONVEX = 1e-9


def convex_parts(vertices: NDArray[np.float64], triangles: NDArray[np.int32], volume: float) -> tuple[ConvexHull, ...]:
    """The convex parts of a solid, from the disk if they were found before.

    Args:
        vertices: Points [m], shape (vertices, 3), each a corner of a triangle.
        triangles: Closed surface, anticlockwise seen from outside, shape (triangles, 3).
        volume: Volume inside [m³].
    """
    whole = ConvexHull(vertices)
    if whole.volume() - volume <= CONVEX * volume:
        return (whole,)
    _check_coacd()
    path = cache_folder() / "decompositions" / f"{_key(vertices, triangles)}.npz"
    parts = _read(path)
    if not parts:
        parts = _hulls(_found(vertices, triangles))
        if not parts:
            raise InputError(f"CoACD finds no parts in a mesh of {len(triangles)} triangles; use a Compound instead.")
        _write(path, parts)
    return parts


def cache_folder() -> Path:
    """The folder for what can be computed again; it need not exist."""
    if own := os.environ.get("RATTLEBACK_CACHE"):
        return Path(own)
    variable, instead = ("LOCALAPPDATA", "AppData/Local") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    return Path(os.environ.get(variable) or Path.home() / instead) / "rattleback"


def _check_coacd() -> None:
    """Say what to install where the package is missing; it is looked for only when it is needed."""
    try:
        import coacd  # noqa: F401
    except ImportError:
        raise InputError(
            "Decomposing a mesh that is not convex needs coacd; install it with: pip install 'rattleback[formats]'."
        ) from None


def _found(vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> list[NDArray[np.float64]]:
    """What CoACD finds; a surface that cuts itself may be too much for it."""
    try:
        return convex_search.search(vertices, triangles, PARAMETERS)
    except TimeoutError:
        what = f"needs more than {convex_search.PATIENCE:g} s for"
    except OSError:
        what = "breaks down on"
    raise InputError(
        f"CoACD {what} a mesh of {len(triangles)} triangles; use a mesh that does not cut itself and has fewer of "
        "them, or a Compound."
    )


def _hulls(found: list[NDArray[np.float64]]) -> tuple[ConvexHull, ...]:
    """The hulls of what was cut apart, without chips so flat that they have no volume."""
    hulls = []
    for points in found:
        with suppress(InputError):
            hulls.append(ConvexHull(points))
    return tuple(hulls)


def _key(vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> str:
    """A name that changes with everything the parts depend on."""
    from importlib.metadata import version

    text = f"{vertices.shape} {triangles.shape} {sorted(PARAMETERS.items())} coacd {version('coacd')}"
    return hashlib.sha256(text.encode() + vertices.tobytes() + triangles.tobytes()).hexdigest()


def _read(path: Path) -> tuple[ConvexHull, ...]:
    """The parts in a file; none if there is no such file, or no sense in it."""
    try:
        with np.load(io.BytesIO(whole_file.read(path, "decomposition")), allow_pickle=False) as file:
            points, ends = file["points"], file["ends"]
        return tuple(ConvexHull(part) for part in np.split(points, ends[:-1]))
    except Exception:  # damage shows in as many ways as there are bytes
        return ()


def _write(path: Path, parts: tuple[ConvexHull, ...]) -> None:
    """Keep the parts for next time; without a place to keep them, they are found again next time."""
    content = io.BytesIO()
    ends = np.cumsum([len(part.points) for part in parts])
    np.savez(content, points=np.concatenate([part.points for part in parts]), ends=ends)
    with suppress(OSError, FileError):
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_file.write(path, content.getvalue(), "decomposition")
