"""Mesh: a surface of triangles; where it closes around a solid, that solid has mass.

    J = ρ (tr(C) 1 − C)      C = ∫ (r − c)(r − c)ᵀ dV

ρ density, c centroid, C second moments of the solid, computed exactly from the triangles (see ``polyhedron``).
Source: Bender, dissertation, D.1.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.shapes.decomposition import convex_parts
from rattleback.shapes.mesh_file import read_mesh
from rattleback.shapes.polyhedron import Moments, count_edges, moments
from rattleback.shapes.shape import check_density, unit_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.shapes.convex_hull import ConvexHull
    from rattleback.shapes.mass import MassProperties


@sealed
@dataclass(frozen=True, eq=False, repr=False)
class Mesh:
    """Triangles between points, each anticlockwise seen from outside; ``Mesh("part.obj")`` reads a file.

    An open mesh may be shown or stand still; only a closed one has volume and mass. For contacts a closed mesh that
    moves is split into convex parts with ``decompose=True``; mass and everything else stay those of the mesh itself.
    Two meshes are equal if they have the same points and triangles in the same order, and both or none are split.

    Attributes:
        vertices: Points [m], shape (vertices, 3), read-only; a path is read with ``load``.
        triangles: Indices of the corners of each triangle, shape (triangles, 3), read-only.
        decompose: Whether to split the mesh into convex ``parts``; it must be closed then.
    """

    vertices: Any
    triangles: Any = None
    decompose: bool = False

    def __post_init__(self) -> None:
        """Read the file if a path is given; check points and indices."""
        object.__setattr__(self, "decompose", checks.flag(self.decompose, "The option decompose of Mesh"))
        vertices, triangles = self.vertices, self.triangles
        if isinstance(vertices, (str, os.PathLike)):
            if triangles is not None:
                raise InputError(f"Mesh of file {os.fspath(vertices)!r} also has triangles; give one or the other.")
            vertices, triangles = read_mesh(vertices)
        # Adding zero turns −0.0 into 0.0, so that equal meshes have equal bytes.
        points = checks.array(vertices, (-1, 3), "The array of vertices of Mesh") + 0.0
        indices = _checked_triangles(triangles, len(points))
        for name, array in (("vertices", points), ("triangles", indices)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.decompose:
            _check_solid(self)

    @staticmethod
    def load(path: str | os.PathLike[str], decompose: bool = False) -> Mesh:
        """Read a mesh file (.obj, .stl and others); points that coincide exactly become one.

        Args:
            path: The file; lengths in it are taken as metres.
            decompose: Whether to split the mesh into convex ``parts``.
        """
        return Mesh(*read_mesh(path), decompose)

    @cached_property
    def parts(self) -> tuple[ConvexHull, ...]:
        """The convex parts of a mesh made with ``decompose=True``, found on first use and kept on disk."""
        if not self.decompose:
            raise InputError(f"{self!r} is not split into convex parts; make it with decompose=True.")
        used, corners = np.unique(self.triangles, return_inverse=True)
        triangles = corners.reshape(-1, 3).astype(np.int32)
        return convex_parts(self.vertices[used], triangles, self.volume())

    def __repr__(self) -> str:
        """The number of points and triangles."""
        split = ", decompose=True" if self.decompose else ""
        return f"Mesh({len(self.vertices)} vertices, {len(self.triangles)} triangles{split})"

    def __eq__(self, other: object) -> bool:
        """Whether the other is a mesh with the same points and triangles in the same order, split or not as this."""
        if not isinstance(other, Mesh):
            return NotImplemented
        same = np.array_equal(self.vertices, other.vertices) and np.array_equal(self.triangles, other.triangles)
        return same and self.decompose == other.decompose

    def __hash__(self) -> int:
        """A hash of the contents."""
        return self._hash

    def __reduce__(self) -> tuple[type[Mesh], tuple[NDArray[np.float64], NDArray[np.int32], bool]]:
        """Copies are made by the constructor, so that their arrays are read-only too."""
        return Mesh, (self.vertices, self.triangles, self.decompose)

    def volume(self) -> float:
        """Volume [m³] of a closed mesh; an open one raises an InputError."""
        return self._moments.volume

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]; the mesh must be closed."""
        return self._moments.mass_properties(check_density(self, density), of=repr(self))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the triangles [m], each (3,)."""
        return self._used.min(axis=0), self._used.max(axis=0)

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A vertex farthest along a direction [m], shape (3,)."""
        point: NDArray[np.float64] = self._used[np.argmax(self._used @ unit_direction(self, direction))].copy()
        return point

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return float(np.linalg.norm(self._used, axis=1).max())

    @cached_property
    def _used(self) -> NDArray[np.float64]:
        """The vertices that belong to a triangle."""
        used: NDArray[np.float64] = self.vertices[np.unique(self.triangles)]
        return used

    @cached_property
    def _hash(self) -> int:
        return hash((self.vertices.tobytes(), self.triangles.tobytes(), self.decompose))

    @cached_property
    def _moments(self) -> Moments:
        """Integrals over the solid inside, if there is one."""
        _check_closed(self)
        solid = moments(self.vertices, self.triangles)
        if solid.flat:
            raise InputError(f"{self!r} is flat and encloses no volume; give mass= and inertia=.")
        if solid.volume < 0.0:
            raise InputError(f"{self!r} is inside out; flip the triangles, for example triangles[:, ::-1].")
        return solid


def _checked_triangles(triangles: object, vertices: int) -> NDArray[np.int32]:
    """Triangles as an integer array of shape (triangles, 3), each of three different vertices that exist."""
    what = "The array of triangles of Mesh"
    if triangles is None:
        raise InputError("Mesh has vertices but no triangles; give triangles= or the path of a file.")
    shaped = checks.array(triangles, (-1, 3), what)
    given = np.asarray(triangles)
    if len(shaped) == 0:
        raise InputError(f"{what} is empty; a mesh needs at least one triangle.")
    if given.dtype.kind not in "iu":
        raise InputError(f"{what} holds {given.dtype} numbers; vertex indices must be whole numbers.")
    wrong = np.flatnonzero(((given < 0) | (given >= vertices)).any(axis=1))
    if len(wrong):
        raise InputError(
            f"Triangle {wrong[0]} of Mesh is {given[wrong[0]].tolist()}; with {vertices} vertices, indices run from 0 "
            f"to {vertices - 1}."
        )
    twice = np.flatnonzero((given == np.roll(given, 1, axis=1)).any(axis=1))
    if len(twice):
        raise InputError(f"Triangle {twice[0]} of Mesh is {given[twice[0]].tolist()}; its vertices must be different.")
    return given.astype(np.int32)


def _check_solid(mesh: Mesh) -> None:
    """Refuse to split a mesh that does not bound a solid."""
    try:
        mesh.volume()
    except InputError:
        raise InputError(
            f"{mesh!r} bounds no solid that could be split into parts; mend it, or leave out decompose=True. Without "
            f"that, its volume() says what is wrong."
        ) from None


def _check_closed(mesh: Mesh) -> None:
    """Refuse a mesh that does not bound a solid."""
    if len(mesh.triangles) < 4:
        raise InputError(
            f"{mesh!r} cannot be closed; a solid needs at least 4 triangles. Give mass= and inertia= or close it."
        )
    edges = count_edges(mesh.triangles)
    if edges.open:
        raise InputError(
            f"{mesh!r} is open ({edges.open} edges belong to one triangle only); give mass= and inertia= or close it. "
            f"Triangles that meet must share their vertices."
        )
    if edges.crowded:
        raise InputError(
            f"{mesh!r} has {edges.crowded} edges shared by more than two triangles; give mass= and inertia= or "
            f"separate the surfaces that meet there, each with vertices of its own."
        )
    if edges.twisted:
        raise InputError(
            f"{mesh!r} has {edges.twisted} edges whose two triangles face opposite ways; flip triangles until all are "
            f"anticlockwise seen from outside, or give mass= and inertia=."
        )
