"""Surfaces of shapes as triangles, for pictures: solids of revolution from a profile, the rest from their corners.

    (r, z) turned about the z axis by φ_k = 2πk/n  →  (r cos φ_k, r sin φ_k, z)

The corners lie on the true surface, so a curved solid loses a little volume: a cylinder or cone of n segments has
n/(2π) sin(2π/n) of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths.rotation import matrix_from_quaternion, rotate
from rattleback.shapes import (
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Sphere,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A plane has no end; this much of it is shown, from edge to edge [m].
PLANE_EXTENT = 10.0


class Surface(NamedTuple):
    """Triangles between points, each anticlockwise seen from outside.

    Attributes:
        vertices: Points [m], shape (vertices, 3).
        triangles: Indices of the corners, shape (triangles, 3).
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]


def tessellate(shape: Any, segments: int = 32) -> Surface:
    """The surface of a shape in its own frame; closed but for an open Mesh, a HeightField and the patch of a Plane.

    Args:
        shape: Any shape.
        segments: Number of flat pieces around a circle, at least 3.
    """
    count = checks.count(segments, "The segments of a tessellation", least=3)
    if type(shape) not in MAKERS:
        raise InputError(f"Cannot tessellate {shape!r}; it must be a shape, such as rb.Box(1, 1, 1).")
    return MAKERS[type(shape)](shape, count)


def refine(surface: Surface, longest: float) -> Surface:
    """The same surface with edges halved, the longest of each triangle first, until none exceeds ``longest`` [m].

    Neighbouring triangles no longer share all their corners; for pictures that does not matter.
    """
    limit = checks.positive(longest, "The longest edge of a refined surface")
    short, corners = [], surface.vertices[surface.triangles]
    while len(corners):
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        long = edges.max(axis=1) > limit
        short.append(corners[~long])
        first = np.argmax(edges[long], axis=1)[:, None] + np.arange(3)
        a, b, c = np.take_along_axis(corners[long], (first % 3)[:, :, None], axis=1).transpose(1, 0, 2)
        middle = 0.5 * (a + b)
        corners = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    found = np.concatenate(short)
    return Surface(found.reshape(-1, 3), np.arange(3 * len(found)).reshape(-1, 3))


def revolve(profile: NDArray[np.float64], segments: int) -> Surface:
    """The surface swept by a profile turned about the z axis.

    Args:
        profile: Points (radius, z) from the lower pole to the upper one [m], shape (points, 2); the first and the last
            lie on the axis, the others off it.
        segments: Number of flat pieces around the axis.
    """
    angle = 2.0 * np.pi * np.arange(segments) / segments
    rings = profile[1:-1]
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inner = np.concatenate([np.column_stack([r * around, np.full(segments, z)]) for r, z in rings])
    vertices = np.concatenate([[[0.0, 0.0, profile[0, 1]]], inner, [[0.0, 0.0, profile[-1, 1]]]])
    k = np.arange(segments)
    ring = 1 + np.arange(len(rings))[:, None] * segments
    here, there = ring + k, ring + (k + 1) % segments
    top = np.full(segments, len(vertices) - 1)
    fans = [np.stack([0 * k, there[0], here[0]], axis=1), np.stack([top, here[-1], there[-1]], axis=1)]
    low, next_low, high, next_high = (part.reshape(-1) for part in (here[:-1], there[:-1], here[1:], there[1:]))
    sides = [np.stack([low, next_low, next_high], axis=1), np.stack([low, next_high, high], axis=1)]
    return Surface(vertices, np.concatenate([*fans, *sides]))


def _arc(radius: float, height: float, start: float, end: float, segments: int) -> NDArray[np.float64]:
    """Points (r, z) of a circle about (0, height) between two latitudes [rad]; those at the poles lie on the axis."""
    latitude = np.linspace(start, end, max(2, round(segments * (end - start) / (2.0 * np.pi))) + 1)
    r = radius * np.cos(latitude)
    r[np.isclose(np.abs(latitude), 0.5 * np.pi)] = 0.0
    return np.stack([r, height + radius * np.sin(latitude)], axis=1)


def _ball(radius: float, segments: int) -> Surface:
    return revolve(_arc(radius, 0.0, -0.5 * np.pi, 0.5 * np.pi, segments), segments)


def _capsule(shape: Capsule, segments: int) -> Surface:
    middle, quarter = 0.5 * shape.straight, 0.5 * np.pi
    lower = _arc(shape.radius, -middle, -quarter, 0.0, segments)
    upper = _arc(shape.radius, middle, 0.0, quarter, segments)
    return revolve(np.concatenate([lower, upper if middle > 0.0 else upper[1:]]), segments)


def _cylinder(shape: Cylinder, segments: int) -> Surface:
    r, h = shape.radius, 0.5 * shape.length
    return revolve(np.array([(0.0, -h), (r, -h), (r, h), (0.0, h)]), segments)


def _cone(shape: Cone, segments: int) -> Surface:
    h = 0.5 * shape.height
    return revolve(np.array([(0.0, -h), (shape.radius, -h), (0.0, h)]), segments)


def _ellipsoid(shape: Ellipsoid, segments: int) -> Surface:
    ball = _ball(1.0, segments)
    return Surface(ball.vertices * np.array([shape.x, shape.y, shape.z]), ball.triangles)


def _box(shape: Box, segments: int) -> Surface:
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    # Corner 4x + 2y + z has the signs of its bits; each face anticlockwise seen from outside.
    faces = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    return Surface(corners * np.array([shape.x, shape.y, shape.z]), triangles)


def _plane(shape: Plane, segments: int) -> Surface:
    normal = np.array(shape.normal)
    aside = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    u = 0.5 * PLANE_EXTENT * aside / np.linalg.norm(aside)
    v = np.cross(normal, u)
    corners = shape.offset * normal + np.array([-u - v, u - v, u + v, v - u])
    return Surface(corners, np.array([(0, 1, 2), (0, 2, 3)]))


def _compound(shape: Compound, segments: int) -> Surface:
    vertices, triangles, before = [], [], 0
    for part in shape.parts:
        own = tessellate(part.shape, segments)
        vertices.append(own.vertices @ matrix_from_quaternion(part.orientation).T + np.array(part.position))
        triangles.append(own.triangles + before)
        before += len(own.vertices)
    return Surface(np.concatenate(vertices), np.concatenate(triangles))


def _own(shape: Mesh | ConvexHull | HeightField, segments: int) -> Surface:
    """The triangles the shape has itself."""
    return Surface(np.array(shape.vertices), np.array(shape.triangles, dtype=np.int64))


MAKERS: dict[type[Any], Callable[[Any, int], Surface]] = {
    Sphere: lambda shape, segments: _ball(shape.radius, segments),
    Box: _box,
    Capsule: _capsule,
    Cylinder: _cylinder,
    Cone: _cone,
    Ellipsoid: _ellipsoid,
    Plane: _plane,
    Mesh: _own,
    Compound: _compound,
    ConvexHull: _own,
    HeightField: _own,
}


def placed(surface: Surface, orientation: NDArray[np.float64], origin: NDArray[np.float64]) -> NDArray[np.float64]:
    """The vertices in the world [m], shape (vertices, 3), of a surface whose frame lies at ``origin``, turned."""
    return rotate(orientation, surface.vertices) + origin
