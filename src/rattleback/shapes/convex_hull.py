"""Convex hull: the smallest convex solid around given points.

    { Σ λᵢ pᵢ : λᵢ ≥ 0, Σ λᵢ = 1 }

pᵢ points, λᵢ weights. Only the points that are corners of the solid are kept (see ``hull_face``); volume, centroid and
inertia are the exact integrals over the polyhedron (see ``polyhedron``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.shapes.hull_face import corners_and_faces, fan
from rattleback.shapes.polyhedron import Moments, moments
from rattleback.shapes.shape import check_density, unit_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.shapes.mass import MassProperties


@sealed
@dataclass(frozen=True, eq=False, repr=False)
class ConvexHull:
    """The smallest convex solid around points; two hulls are equal if they have the same corners in the same order.

    Attributes:
        points: Any points, at least 4 of them not in one plane [m]; kept are the corners of the hull, in the order
            given, shape (vertices, 3), read-only.
    """

    points: Any

    def __post_init__(self) -> None:
        """Find the corners and faces."""
        # Adding zero turns −0.0 into 0.0, so that equal hulls have equal bytes.
        given = checks.array(self.points, (-1, 3), "The array of points of ConvexHull") + 0.0
        corners, faces = corners_and_faces(given)
        corners.setflags(write=False)
        object.__setattr__(self, "points", corners)
        self.__dict__["faces"] = faces  # found along with the corners

    @property
    def vertices(self) -> NDArray[np.float64]:
        """The corners [m], shape (vertices, 3), read-only."""
        corners: NDArray[np.float64] = self.points
        return corners

    @cached_property
    def faces(self) -> tuple[tuple[int, ...], ...]:
        """For each face the indices of its corners, a convex loop anticlockwise seen from outside."""
        return corners_and_faces(self.points)[1]

    @cached_property
    def triangles(self) -> NDArray[np.int32]:
        """The faces cut into triangles, anticlockwise seen from outside, shape (triangles, 3), read-only."""
        triangles = fan(self.faces)
        triangles.setflags(write=False)
        return triangles

    def __repr__(self) -> str:
        """The number of corners and faces."""
        return f"ConvexHull({len(self.points)} vertices, {len(self.faces)} faces)"

    def __eq__(self, other: object) -> bool:
        """Whether the other is a hull with the same corners in the same order."""
        return np.array_equal(self.points, other.points) if isinstance(other, ConvexHull) else NotImplemented

    def __hash__(self) -> int:
        """A hash of the contents."""
        return self._hash

    def __reduce__(self) -> tuple[type[ConvexHull], tuple[NDArray[np.float64]]]:
        """Copies are made by the constructor, so that their arrays are read-only too."""
        return ConvexHull, (self.points,)

    def volume(self) -> float:
        """Volume [m³]."""
        return self._moments.volume

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        return self._moments.mass_properties(check_density(self, density), of=repr(self))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the hull [m], each (3,)."""
        return self.points.min(axis=0), self.points.max(axis=0)

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A corner farthest along a direction [m], shape (3,)."""
        point: NDArray[np.float64] = self.points[np.argmax(self.points @ unit_direction(self, direction))].copy()
        return point

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return float(np.linalg.norm(self.points, axis=1).max())

    @cached_property
    def _hash(self) -> int:
        return hash(self.points.tobytes())

    @cached_property
    def _moments(self) -> Moments:
        return moments(self.points, self.triangles)
