"""Solids as other programs draw them: triangles with normals in the frame of the body, one mesh for all that are alike.

    point = place + R (size · core + rounding · edge)        normal = R n,  or R (n / size) where it is stretched

core, edge, n of the mould the solid is cast from, as in pictures. A plane has no end; a square of it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.maths.rotation import rotate
from rattleback.recording.ground import GroundPlane
from rattleback.recording.instances import ROUNDNESS
from rattleback.recording.joint_marks import marks
from rattleback.recording.look import Appearance
from rattleback.recording.moulds import Cast, casts, mould
from rattleback.recording.picture import solid_of
from rattleback.recording.snapshot import Snapshot
from rattleback.shapes import Cone, Cylinder, Plane

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from rattleback.model import Scene

    Floats = NDArray[np.float64]

# A plane is shown this many times as wide as the scene, and at least so wide [m].
PLANE_WIDTH, LEAST_WIDTH = 12.0, 10.0
# Flat pieces around an arrow.
ARROW_SEGMENTS = 20


class Piece(NamedTuple):
    """A mesh.

    Attributes:
        vertices: Shape (vertices, 3) [m].
        normals: Of length one, shape (vertices, 3).
        triangles: Anticlockwise seen from outside, shape (triangles, 3).
    """

    vertices: Floats
    normals: Floats
    triangles: NDArray[np.int64]


class Solid(NamedTuple):
    """Something to be drawn with a body.

    Attributes:
        body: Row of the body it moves with.
        mesh: Which mesh; equal for solids that are alike.
        colour: Row of its colour: that of the body, or one past the last for the mark of a joint.
    """

    body: int
    mesh: Hashable
    colour: int


class Solids(NamedTuple):
    """All solids of a scene.

    Attributes:
        solids: What is drawn, and with which body.
        meshes: The meshes by what the solids call them.
        colours: Colours of the bodies and, after them, of the marks of joints, as light (bodies + 1, 3).
    """

    solids: list[Solid]
    meshes: dict[Hashable, Piece]
    colours: Floats


def solids_of(scene: Scene, width: float, joints: bool) -> Solids:
    """The solids of a scene, with the marks of its joints if asked for.

    Args:
        scene: The scene.
        width: How far the scene reaches [m].
        joints: Whether joints are marked.
    """
    found: list[tuple[int, tuple[Cast, ...], int]] = []
    square = max(PLANE_WIDTH * width, LEAST_WIDTH)
    planes = {row: body.shape for row, body in enumerate(scene.bodies) if isinstance(body.shape, Plane)}
    for row, body in enumerate(scene.bodies):
        if row not in planes:
            found.append((row, tuple(casts(solid_of(body))), row))
    for row, cast in marks(scene) if joints else ():
        found.append((row, (cast,), len(scene.bodies)))
    count = sum(len(parts) for _, parts, _ in found)
    segments = next(pieces for limit, pieces in ROUNDNESS if count <= limit)
    solids = [Solid(row, _name(parts), colour) for row, parts, colour in found]
    alike = {_name(parts): parts for _, parts, _ in found}
    meshes = {name: _piece(parts, segments) for name, parts in alike.items()}
    for row, plane in planes.items():
        solids.append(Solid(row, (plane, square), row))
        meshes[plane, square] = _square(plane, square)
    # The solid of a body comes before the marks on it.
    solids.sort(key=lambda solid: solid.colour == len(scene.bodies))
    return Solids(solids, meshes, Appearance().colours(_at_rest(scene), 1.0))


def arrow() -> Piece:
    """An arrow of length one along z from the origin."""
    parts = (*casts(Cylinder(0.02, 0.75), (0.0, 0.0, 0.375)), *casts(Cone(0.06, 0.25), (0.0, 0.0, 0.875)))
    return _piece(parts, ARROW_SEGMENTS)


def _at_rest(scene: Scene) -> Snapshot:
    """A snapshot that has the bodies in it, for their colours."""
    count = len(scene.bodies)
    return Snapshot(scene, np.zeros((count, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.zeros(count))


def _name(parts: Sequence[Cast]) -> Hashable:
    """Equal for solids of the same parts at the same places."""
    return tuple(
        (cast.key, cast.size, cast.rounding, *cast.position.tolist(), *np.asarray(cast.orientation).tolist())
        for cast in parts
    )


def _piece(parts: Sequence[Cast], segments: int) -> Piece:
    """The parts of a solid as one mesh."""
    vertices, normals, triangles, before = [], [], [], 0
    for cast in parts:
        form = mould(cast.shape, segments)
        own = np.array(cast.size) * form.core + cast.rounding * form.edge
        vertices.append(cast.position + rotate(cast.orientation, own))
        normals.append(rotate(cast.orientation, form.normal / np.array(cast.size) if form.stretched else form.normal))
        triangles.append(form.triangles + before)
        before += len(own)
    normal = np.concatenate(normals)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    unit = np.where(length > 0.0, normal / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
    return Piece(np.concatenate(vertices), unit, np.concatenate(triangles))


def _square(plane: Plane, width: float) -> Piece:
    """A square of a plane, around the point of it that is nearest to the origin of its body."""
    normal = np.array(plane.normal)
    along, across = GroundPlane(normal, plane.offset * normal, False).sides()
    corners = 0.5 * width * np.array([-along - across, along - across, along + across, across - along])
    return Piece(plane.offset * normal + corners, np.tile(normal, (4, 1)), np.array([(0, 1, 2), (0, 2, 3)]))
