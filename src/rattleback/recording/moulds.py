"""Moulds: one mesh for every kind of shape, from which each solid of that kind is cast in its own size.

    p = s ∘ c + r e        n = normalised (m / s), or m where the mould says so

c core and e edge direction of a vertex, m its normal in the mould, s the size of a solid along its axes [m], r the
radius of its rounded edges [m]. A box is a core of the eight corners with edge directions along the faces; a capsule a
core of two points with edge directions all around. So a thousand bricks of a thousand sizes are one mesh.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.maths.rotation import multiply, rotate
from rattleback.recording.tessellation import Surface, revolve, tessellate
from rattleback.shapes import Box, Capsule, Compound, Cone, ConvexHull, Cylinder, Ellipsoid, Sphere

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Radius of rounded edges, beside the shortest side of a box or the radius of a cylinder.
ROUNDING = 0.05
# Faces of a free mesh that meet at a smaller angle than this look like one curved surface (cosine).
CREASE = float(np.cos(np.radians(35.0)))


class Mould(NamedTuple):
    """A mesh whose vertices know how to follow the size of a solid.

    Attributes:
        core: Shape (vertices, 3).
        edge: Shape (vertices, 3).
        normal: Shape (vertices, 3).
        triangles: Indices of vertices, anticlockwise seen from outside, shape (triangles, 3).
        stretched: Whether normals follow the size, as those of an ellipsoid do.
        closed: Whether only its outside can be seen.
    """

    core: Floats
    edge: Floats
    normal: Floats
    triangles: NDArray[np.int64]
    stretched: bool
    closed: bool = True


class Cast(NamedTuple):
    """A solid to be cast from a mould, in the frame of a body.

    Attributes:
        key: Which mould.
        shape: A shape the mould can be made from.
        size: Size along the axes of the mould (3,) [m].
        rounding: Radius of the rounded edges [m].
        position: Where it is (3,) [m].
        orientation: How it is turned, a quaternion (x, y, z, w).
    """

    key: Hashable
    shape: Any
    size: tuple[float, float, float]
    rounding: float
    position: Floats
    orientation: Floats

    def sharpened(self, most: float) -> Cast:
        """The same solid with edges rounded by no more than that [m]."""
        excess = self.rounding - most
        if excess <= 0.0 or self.key not in (Box, Cylinder):
            return self
        x, y, z = self.size
        return self._replace(size=(x + excess, y + excess, z + excess), rounding=most)


def casts(shape: Any, position: Any = (0.0, 0.0, 0.0), orientation: Any = (0.0, 0.0, 0.0, 1.0)) -> Iterator[Cast]:
    """The solids a shape is made of; a compound is cast part by part."""
    place, turn = np.asarray(position, dtype=np.float64), np.asarray(orientation, dtype=np.float64)
    if isinstance(shape, Compound):
        for part in shape.parts:
            yield from casts(part.shape, place + rotate(turn, part.position), multiply(turn, part.orientation))
        return
    size, rounding = _size(shape)
    yield Cast(_key(shape), shape, size, rounding, place, turn)


def mould(shape: Any, segments: int) -> Mould:
    """The mould for shapes of this kind, curved ones of so many flat pieces around a circle."""
    if isinstance(shape, Box):
        return _box()
    if isinstance(shape, (Sphere, Ellipsoid)):
        ball = tessellate(Sphere(1.0), segments)
        return Mould(ball.vertices, 0.0 * ball.vertices, ball.vertices, ball.triangles, True)
    if isinstance(shape, Capsule):
        return _capsule(segments)
    if isinstance(shape, Cylinder):
        return _cylinder(segments)
    if isinstance(shape, Cone):
        return _cone(segments)
    return _free(tessellate(shape, segments), isinstance(shape, ConvexHull))


def _size(shape: Any) -> tuple[tuple[float, float, float], float]:
    """Size along the axes of the mould and rounding of the edges [m]."""
    if isinstance(shape, Box):
        r = ROUNDING * min(shape.x, shape.y, shape.z)
        return (0.5 * shape.x - r, 0.5 * shape.y - r, 0.5 * shape.z - r), r
    if isinstance(shape, Sphere):
        return (shape.radius, shape.radius, shape.radius), 0.0
    if isinstance(shape, Ellipsoid):
        return (shape.x, shape.y, shape.z), 0.0
    if isinstance(shape, Capsule):
        return (1.0, 1.0, 0.5 * shape.straight), shape.radius
    if isinstance(shape, Cylinder):
        r = ROUNDING * min(shape.radius, shape.length)
        return (shape.radius - r, shape.radius - r, 0.5 * shape.length - r), r
    return ((shape.radius, shape.radius, 0.5 * shape.height) if isinstance(shape, Cone) else (1.0, 1.0, 1.0)), 0.0


def _key(shape: Any) -> Any:
    """Equal for shapes that share a mould."""
    if isinstance(shape, (Sphere, Ellipsoid)):
        return Ellipsoid
    if isinstance(shape, (Box, Capsule, Cylinder, Cone)):
        return type(shape)
    own = tessellate(shape)
    return type(shape), own.vertices.tobytes(), own.triangles.tobytes()


def _box() -> Mould:
    """Every corner thrice, once for each of its faces; strips along edges and triangles at corners join them."""
    signs = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    core = np.repeat(signs, 3, axis=0)
    normal = core * np.tile(np.eye(3), (8, 1))
    pieces: list[list[Any]] = []
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        weight = 4 >> np.arange(3)
        for side in (0, 1):
            corners = [side * weight[axis] + j * weight[b] + k * weight[c] for j, k in ((0, 0), (1, 0), (1, 1), (0, 1))]
            pieces += _quad([3 * corner + axis for corner in corners])
        for j, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
            low = j * weight[b] + k * weight[c]
            high = low + weight[axis]
            pieces += _quad([3 * low + b, 3 * high + b, 3 * high + c, 3 * low + c])
    pieces += [[3 * corner, 3 * corner + 1, 3 * corner + 2] for corner in range(8)]
    return Mould(core, normal, normal, _outward(core + 0.1 * normal, np.array(pieces)), False)


def _quad(corners: list[Any]) -> list[list[Any]]:
    a, b, c, d = corners
    return [[a, b, c], [a, c, d]]


def _outward(points: Floats, triangles: NDArray[Any]) -> NDArray[np.int64]:
    """Triangles of a convex solid around the origin, turned so that each is anticlockwise from outside."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0.0
    return np.where(inward[:, None], triangles[:, ::-1], triangles).astype(np.int64)


def _capsule(segments: int) -> Mould:
    ball = tessellate(Capsule(1.0, 4.0), segments)
    core = np.zeros_like(ball.vertices)
    core[:, 2] = np.sign(ball.vertices[:, 2])
    edge = ball.vertices - core
    return Mould(core, edge, edge, ball.triangles, False)


def _cylinder(segments: int) -> Mould:
    """Each rim twice, for the cap and for the side; the strip between them is the rounded edge."""
    profile = np.array([(0.0, -1.1), (1.0, -1.1), (1.1, -1.0), (1.1, 1.0), (1.0, 1.1), (0.0, 1.1)])
    surface = revolve(profile, segments)
    radius = np.linalg.norm(surface.vertices[:, :2], axis=1)
    on_side = np.isclose(radius, 1.1)
    edge = np.zeros_like(surface.vertices)
    edge[:, 2] = np.where(on_side, 0.0, np.sign(surface.vertices[:, 2]))
    edge[on_side, :2] = surface.vertices[on_side, :2] / 1.1
    return Mould(surface.vertices - 0.1 * edge, edge, edge, surface.triangles, False)


def _cone(segments: int) -> Mould:
    """The tip once for every flat piece, so that the normals stay along the side."""
    angle = 2.0 * np.pi * np.arange(segments) / segments
    rim = np.stack([np.cos(angle), np.sin(angle), np.full(segments, -1.0)], axis=1)
    half = angle + np.pi / segments
    core = np.concatenate([rim, np.tile([0.0, 0.0, 1.0], (segments, 1)), rim, [[0.0, 0.0, -1.0]]])
    side = np.stack([np.cos(angle), np.sin(angle), np.full(segments, 0.5)], axis=1)
    tip = np.stack([np.cos(half), np.sin(half), np.full(segments, 0.5)], axis=1)
    normal = np.concatenate([side, tip, np.tile([0.0, 0.0, -1.0], (segments + 1, 1))])
    k, n = np.arange(segments), segments
    after = (k + 1) % n
    triangles = np.concatenate(
        [np.stack([k, after, n + k], axis=1), np.stack([2 * n + after, 2 * n + k, np.full(n, 3 * n)], axis=1)]
    )
    return Mould(core, np.zeros_like(core), normal, triangles, True)


def _free(surface: Surface, closed: bool) -> Mould:
    """A mesh as it is; normals are averaged over the faces at a corner that meet at small angles."""
    corners = surface.vertices[surface.triangles].reshape(-1, 3)
    normal = np.repeat(_face_normals(surface), 3, axis=0)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit = normal / np.where(length > 0.0, length, 1.0)
    smooth = normal.copy()
    order = np.argsort(surface.triangles.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.diff(surface.triangles.reshape(-1)[order], prepend=-1))
    for members in np.split(order, starts[1:]):
        alike = unit[members] @ unit[members].T > CREASE
        smooth[members] = alike @ normal[members]
    triangles = np.arange(len(corners)).reshape(-1, 3)
    return Mould(corners, np.zeros_like(corners), smooth, triangles, False, closed)


def _face_normals(surface: Surface) -> Floats:
    """Normals of the triangles, as long as twice their area (triangles, 3) [m²]."""
    a, b, c = surface.vertices[surface.triangles].transpose(1, 0, 2)
    normals: Floats = np.cross(b - a, c - a)
    return normals
