"""Shapes of bodies as geometries: what is seen, what collides, and where both are the same, once.

A compound becomes its parts. A mesh that collides by its convex parts gives these; one that moves as a whole collides
as its hull in all formats, which the writers tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.description import Geometry
from rattleback.io.robots.source.placing import along_axis, from_quaternion
from rattleback.model.body import DEFAULT_CATEGORY
from rattleback.shapes import Compound, Mesh, Placed, Plane

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.io.robots.survey.surveyed import Surveyed
    from rattleback.model import Body

    Floats = NDArray[np.float64]

# Frames this close are the same [m, and parts of one].
SAME = 1e-12


class Piece(NamedTuple):
    """A shape that is no compound, and its frame in that of the body (4, 4)."""

    shape: Any
    place: Floats


def geometries(surveyed: Surveyed, body: Body) -> list[Geometry]:
    """The geometries of a body."""
    # The ball that shows a link without mass is not in the file it came from.
    plain = body.shape is None or (surveyed.robot is not None and body.name in surveyed.robot.dots)
    seen = [] if plain else list(pieces(body.shape, np.eye(4)))
    solid = [piece for collider in body.colliders for piece in _solid(collider)]
    found = []
    for piece in seen:
        twin = next((k for k, other in enumerate(solid) if _same(piece, other)), None)
        if twin is not None:
            del solid[twin]
        found.append(Geometry("", piece.shape, piece.place, True, twin is not None))
    found.extend(Geometry("", piece.shape, piece.place, False, True) for piece in solid)
    _dress(surveyed, body, found)
    return found


def pieces(shape: Any, place: Floats) -> Iterator[Piece]:
    """The parts of a shape, compounds taken apart; a plane has its normal along z of its frame."""
    if isinstance(shape, Placed):
        yield from pieces(shape.shape, place @ from_quaternion(shape.position, shape.orientation))
    elif isinstance(shape, Compound):
        for part in shape.parts:
            yield from pieces(part, place)
    elif isinstance(shape, Plane):
        normal = np.array(shape.normal)
        yield Piece(Plane(), place @ along_axis(normal, shape.offset * normal))
    else:
        yield Piece(shape, place)


def _solid(collider: Any) -> Iterator[Piece]:
    for piece in pieces(collider, np.eye(4)):
        if isinstance(piece.shape, Mesh) and piece.shape.decompose:
            yield from (Piece(part, piece.place) for part in piece.shape.parts)
        else:
            yield piece


def _same(one: Piece, other: Piece) -> bool:
    return bool(one.shape == other.shape and np.allclose(one.place, other.place, rtol=0.0, atol=SAME))


def _dress(surveyed: Surveyed, body: Body, found: list[Geometry]) -> None:
    """Give geometries their surface and categories, and the names and colours that the file of the scene gave them."""
    material = body.material
    surface = {
        "static_friction": material.static_friction,
        "dynamic_friction": material.dynamic_friction,
        "restitution": material.restitution,
        "rolling_friction": material.rolling_friction,
        "spinning_friction": material.spinning_friction,
    }
    told = list(_of_file(surveyed, body.name))
    for geometry in found:
        if geometry.collides:
            geometry.surface = surface
            geometry.category = "" if body.category == DEFAULT_CATEGORY else "\n".join(body.category)
            geometry.collides_with = body.collides_with
        piece = Piece(geometry.shape, geometry.place)
        for known, place in told:
            if _same(piece, Piece(known.shape, place)) and (known.colour or known.name):
                geometry.colour, geometry.name = known.colour, known.name
                break


def _of_file(surveyed: Surveyed, body: str) -> Iterator[tuple[Geometry, Floats]]:
    """Geometries that the file of a scene has on a body, with their frames in it."""
    robot = surveyed.scene.robot
    if robot is None:
        return
    for name, link in robot.description.links.items():
        home = robot.frames.get(name)
        if home is not None and home.body == body:
            yield from ((geometry, home.place @ geometry.place) for geometry in link.geometries)
