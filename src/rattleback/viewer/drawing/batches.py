"""Pieces of bodies as instances of few meshes: a thousand bricks of a thousand sizes are one mesh.

A box, ball, cylinder or cone is a mesh of size one with a scale for each of its instances. A capsule is a tube and two
balls, so that its ends stay round. Hulls, meshes and height fields are meshes of their own, one for each geometry.
Balls wear a band and cylinders a bar, so that one sees them turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.maths.rotation import multiply, rotate
from rattleback.recording.picture import solid_of
from rattleback.recording.tessellation import Surface, revolve, tessellate
from rattleback.shapes import Box, Capsule, Compound, Cone, Cylinder, Ellipsoid, Plane, Sphere

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from numpy.typing import NDArray

    from rattleback.model.body import Body

    Floats = NDArray[np.float64]

ONES = (1.0, 1.0, 1.0)
# Faces that meet at a smaller angle than this look like one curved surface (cosine).
CREASE = float(np.cos(np.radians(35.0)))
# Flat pieces around a circle: (up to so many instances, pieces).
SEGMENTS = ((200, 32), (1000, 20))
FEWEST_SEGMENTS = 12
TEETH = 24
# Half the width of the band of a ball [rad], the width of the bar of a cylinder in radii, how far both stand out.
BAND, BAR, PROUD = 0.13, 0.12, 1.002
# Pieces that only show how a body is turned.
SIGNS_OF_TURN = ("band", "bar")


class Piece(NamedTuple):
    """An instance of a mesh in the frame of a body.

    Attributes:
        key: Which mesh; a word for those of size one.
        shape: What the mesh is made from, where it is not of size one.
        scale: Size along the axes of the mesh (3,) [m], or 1.
        position: Where it is (3,) [m].
        orientation: How it is turned, a quaternion x, y, z, w.
    """

    key: Hashable
    shape: Any
    scale: tuple[float, float, float]
    position: Floats
    orientation: Floats


def solids(body: Body) -> Iterator[tuple[Any, Floats, Floats]]:
    """What a body looks like: its shape or, where it has none, what collides; each with its place in the body.

    Where nothing collides either, it is the ellipsoid that has its mass and inertia.
    """
    if body.shape is not None or (body.mass > 0.0 and not body.colliders):
        yield solid_of(body), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        return
    for entry in body.colliders:
        if isinstance(entry, Plane):
            yield entry, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
        else:
            yield entry.shape, np.array(entry.position), np.array(entry.orientation)


def pieces(shape: Any, position: Floats, orientation: Floats) -> Iterator[Piece]:
    """The pieces of a shape at a place in a body; none for a plane, which is ground."""
    if isinstance(shape, Plane):
        return
    if isinstance(shape, Compound):
        for part in shape.parts:
            place = position + rotate(orientation, np.array(part.position))
            yield from pieces(part.shape, place, multiply(orientation, np.array(part.orientation)))
    elif isinstance(shape, Capsule):
        r, half = shape.radius, np.array([0.0, 0.0, 0.5 * shape.straight])
        if shape.straight > 0.0:
            yield Piece("tube", None, (r, r, shape.straight), position, orientation)
        for end in (half, -half) if shape.straight > 0.0 else (half,):
            yield Piece("ball", None, (r, r, r), position + rotate(orientation, end), orientation)
    else:
        yield Piece(*_kind(shape), position, orientation)
        if isinstance(shape, Sphere):
            yield Piece("band", None, (PROUD * shape.radius,) * 3, position, orientation)
        elif isinstance(shape, Cylinder):
            r, length = shape.radius, shape.length
            yield Piece("bar", None, (2.0 * PROUD * r, BAR * r, PROUD * length), position, orientation)


def _kind(shape: Any) -> tuple[Hashable, Any, tuple[float, float, float]]:
    """Mesh and scale of a shape."""
    if isinstance(shape, Box):
        return "box", None, (shape.x, shape.y, shape.z)
    if isinstance(shape, Sphere):
        return "ball", None, (shape.radius,) * 3
    if isinstance(shape, Ellipsoid):
        return "ball", None, (shape.x, shape.y, shape.z)
    if isinstance(shape, Cylinder):
        return "cylinder", None, (shape.radius, shape.radius, shape.length)
    if isinstance(shape, Cone):
        return "cone", None, (shape.radius, shape.radius, shape.height)
    own = tessellate(shape)
    return (type(shape).__name__, own.vertices.tobytes(), own.triangles.tobytes()), shape, ONES


def mesh_of(piece: Piece, instances: int) -> Surface:
    """The mesh of a piece; the more instances, the coarser. Faces share a corner only where they look like one."""
    segments = next((pieces for most, pieces in SEGMENTS if instances <= most), FEWEST_SEGMENTS)
    if piece.key == "ball":
        return tessellate(Sphere(1.0), segments)
    if piece.key == "tube":
        return tube(np.array([(1.0, -0.5), (1.0, 0.5)]), segments)
    if piece.key == "band":
        angle = np.linspace(-BAND, BAND, 3)
        return tube(np.stack([np.cos(angle), np.sin(angle)], axis=1), segments)
    if piece.key == "gear":
        return creased(gear(TEETH))
    unit = {"box": Box(*ONES), "bar": Box(*ONES), "cylinder": Cylinder(1.0, 1.0), "cone": Cone(1.0, 1.0)}
    shape = unit[piece.key] if isinstance(piece.key, str) else piece.shape
    return creased(tessellate(shape, segments))


def tube(profile: Floats, segments: int) -> Surface:
    """The surface swept by a profile (radius, z) (points, 2) turned about the z axis, open at both ends."""
    ends = np.array([(0.0, profile[0, 1]), (0.0, profile[-1, 1])])
    whole = revolve(np.concatenate([ends[:1], profile, ends[1:]]), segments)
    side = np.all((whole.triangles > 0) & (whole.triangles < len(whole.vertices) - 1), axis=1)
    return Surface(whole.vertices[1:-1], whole.triangles[side] - 1)


def gear(teeth: int) -> Surface:
    """A toothed wheel of pitch radius and width one about z."""
    angle = np.pi * np.arange(4 * teeth) / (2 * teeth)
    radius = np.tile([0.94, 1.06, 1.06, 0.94], teeth)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    n, k = len(rim), np.arange(4 * teeth)
    low, high = (np.column_stack([rim, np.full(n, z)]) for z in (-0.5, 0.5))
    vertices = np.concatenate([low, high, [[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]])
    after = (k + 1) % n
    sides = [np.stack([k, after, n + after], axis=1), np.stack([k, n + after, n + k], axis=1)]
    caps = [
        np.stack([after, k, np.full(n, 2 * n)], axis=1),
        np.stack([n + k, n + after, np.full(n, 2 * n + 1)], axis=1),
    ]
    return Surface(vertices, np.concatenate([*sides, *caps]))


def creased(surface: Surface) -> Surface:
    """The same surface with corners doubled along sharp edges, so that light does not run around them."""
    corner = surface.triangles.reshape(-1)
    a, b, c = surface.vertices[surface.triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit = np.repeat(normal / np.where(length > 0.0, length, 1.0), 3, axis=0)
    order = np.argsort(corner, kind="stable")
    starts = np.flatnonzero(np.diff(corner[order], prepend=-1))
    found = np.empty(len(corner), dtype=np.int64)
    vertices: list[Floats] = []
    for members in np.split(order, starts[1:]):
        left = members
        while len(left):
            alike = unit[left] @ unit[left[0]] > CREASE
            found[left[alike | (left == left[0])]] = len(vertices)
            vertices.append(surface.vertices[corner[left[0]]])
            left = left[~alike & (left != left[0])]
    return Surface(np.array(vertices), found.reshape(-1, 3))
