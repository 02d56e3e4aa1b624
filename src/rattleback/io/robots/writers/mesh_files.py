"""Meshes beside a file: surfaces as triangles, and as OBJ text with every number in full.

Cones and ellipsoids, where a format has none, are polyhedra whose corners lie on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.shapes import Cone, ConvexHull, Ellipsoid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Corners around a circle.
SEGMENTS = 48


class Triangles(NamedTuple):
    """Points (n, 3) [m] and the corners of triangles, anticlockwise seen from outside (m, 3)."""

    points: Floats
    corners: NDArray[np.int64]


def triangles_of(shape: Any) -> Triangles:
    """The surface of a mesh, hull or height field, or of a polyhedron in a cone or ellipsoid."""
    made = inscribed(shape)
    return Triangles(np.asarray(made.vertices), np.asarray(made.triangles, dtype=np.int64))


def inscribed(shape: Any) -> Any:
    """A polyhedron whose corners lie on a cone or ellipsoid; other shapes as they are."""
    angle = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    around = np.stack([np.cos(angle), np.sin(angle), np.zeros(SEGMENTS)], axis=1)
    if isinstance(shape, Cone):
        base = shape.radius * around - (0.0, 0.0, 0.5 * shape.height)
        return ConvexHull(np.concatenate([base, [(0.0, 0.0, 0.5 * shape.height)]]))
    if isinstance(shape, Ellipsoid):
        high = 0.5 * np.pi * np.linspace(-1.0, 1.0, SEGMENTS // 2 + 1)[1:-1]
        rings = [np.cos(one) * around + (0.0, 0.0, np.sin(one)) for one in high]
        ball = np.concatenate([*rings, [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]])
        return ConvexHull(ball * (shape.x, shape.y, shape.z))
    return shape


def as_obj(surface: Triangles) -> bytes:
    """OBJ text of a surface."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in surface.points.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in surface.corners.tolist()]
    return ("\n".join(lines) + "\n").encode()
