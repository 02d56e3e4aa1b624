"""Integrals over the solid inside a closed triangle mesh, and whether it is closed at all.

    V = Σ d/6      ∫ r dV = Σ d/24 s      ∫ r rᵀ dV = Σ d/120 (a aᵀ + b bᵀ + c cᵀ + s sᵀ)

a, b, c corners of a triangle, anticlockwise seen from outside, d = a · (b × c), s = a + b + c; the sums run over the
triangles. Each triangle spans a tetrahedron with the reference point, and a linear or quadratic monomial integrates
over a tetrahedron in closed form; by the divergence theorem the signed tetrahedra add up to the solid.

The sums run about a point inside the bounding box first and about the centre of mass then, so a mesh far from the
origin keeps its digits. Cost: a few hundred operations a triangle.

Source: the integrals of Bender, dissertation, D.1, which refers to Mirtich (1996) for polyhedra; the tetrahedron sums
are an equivalent and shorter way to the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.shapes.mass import MassProperties

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Moments:
    """Volume integrals of a polyhedron.

    Attributes:
        volume: Volume [m³], negative if the triangles face inward.
        center: Centroid [m], shape (3,).
        inertia: Inertia about the centroid for the density one [m⁵], shape (3, 3).
        flat: Whether the volume is zero but for rounding; centroid and inertia mean nothing then.
    """

    volume: float
    center: NDArray[np.float64]
    inertia: NDArray[np.float64]
    flat: bool

    def mass_properties(self, density: float, of: str) -> MassProperties:
        """Properties for a density [kg/m³]; messages say what they are the properties of."""
        with np.errstate(over="ignore", invalid="ignore"):
            inertia = density * self.inertia
        return MassProperties(density * self.volume, self.center, inertia, of=of)


@dataclass(frozen=True)
class EdgeCount:
    """How the edges of a triangle mesh fail to pair up; all zero for a closed, consistently wound surface.

    Attributes:
        open: Edges with one triangle only.
        crowded: Edges with more than two triangles.
        twisted: Edges whose two triangles run along it in the same direction, so that one faces the wrong way.
    """

    open: int
    crowded: int
    twisted: int


def count_edges(triangles: NDArray[np.int32]) -> EdgeCount:
    """Count the edges that do not belong to exactly two triangles, one in each direction.

    Args:
        triangles: Vertex indices, shape (triangles, 3).
    """
    start = triangles.astype(np.int64).ravel()
    end = np.roll(triangles, -1, axis=1).astype(np.int64).ravel()
    key = np.minimum(start, end) * (np.int64(triangles.max()) + 1) + np.maximum(start, end)
    _, edge, users = np.unique(key, return_inverse=True, return_counts=True)
    forward = np.bincount(edge, weights=start < end, minlength=len(users))
    return EdgeCount(
        open=int(np.count_nonzero(users == 1)),
        crowded=int(np.count_nonzero(users > 2)),
        twisted=int(np.count_nonzero((users == 2) & (forward != 1))),
    )


def moments(vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> Moments:
    """Volume, centroid and inertia of the solid inside a closed mesh.

    Args:
        vertices: Corner points [m], shape (vertices, 3).
        triangles: Vertex indices, anticlockwise seen from outside, shape (triangles, 3).
    """
    corners = vertices[triangles]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    middle = low + 0.5 * (high - low)
    # A power of two, so that the division is exact; the sums then neither overflow nor underflow.
    unit = float(np.exp2(np.frexp((high - low).max())[1]))
    near = (corners - middle) / unit
    sixfold = _determinants(near)
    volume = float(sixfold.sum()) / 6.0
    # The points of a flat mesh leave its plane by their rounding only: some units in the last place of a coordinate.
    rounding = 16.0 * np.finfo(np.float64).eps * float(np.abs(corners).max()) / unit
    if abs(volume) <= rounding * _area(near):
        return Moments(0.0, middle, np.zeros((3, 3)), flat=True)
    shift = sixfold @ near.sum(axis=1) / (24.0 * volume)
    cube = unit * unit * unit
    with np.errstate(over="ignore", invalid="ignore"):
        inertia = _inertia(_second_moments(near - shift)) * cube * (unit * unit)
    return Moments(volume * cube, middle + unit * shift, inertia, flat=False)


def _determinants(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Six times the signed volume of each tetrahedron between a triangle and the origin, shape (triangles,)."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    result: NDArray[np.float64] = (a * np.cross(b, c)).sum(axis=1)
    return result


def _area(corners: NDArray[np.float64]) -> float:
    """Total area of the triangles [m²]."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def _second_moments(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Integral of r rᵀ over all tetrahedra, shape (3, 3)."""
    weight = _determinants(corners) / 120.0
    four = np.concatenate([corners, corners.sum(axis=1, keepdims=True)], axis=1)
    points = four.reshape(-1, 3)
    result: NDArray[np.float64] = (points * np.repeat(weight, 4)[:, None]).T @ points
    return 0.5 * (result + result.T)


def _inertia(second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inertia tr(C) 1 − C from second moments C, shape (3, 3), without cancellation on the diagonal."""
    xx, yy, zz = np.diagonal(second)
    inertia = -second
    inertia[np.diag_indices(3)] = yy + zz, xx + zz, xx + yy
    return inertia
