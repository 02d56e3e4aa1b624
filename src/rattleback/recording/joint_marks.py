"""Joints drawn as what they are: a ball for a ball joint, a pin for a hinge, a cross for a universal joint.

A mark is a solid on body B of the joint, or on body A where B is the world, as thick as the thinner of the two allows.
Other joints have no mark. A body that does not reach the joint it hangs on, as the bob of a pendulum, has a rod to it,
and a joint that keeps two points at their distance is a rod between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.joints import Ball, Cylindrical, Distance, Revolute, Universal
from rattleback.joints.joint import turn_to
from rattleback.maths.rotation import conjugate, multiply, rotate
from rattleback.recording.moulds import Cast, casts
from rattleback.recording.picture import solid_of
from rattleback.shapes import Cylinder, Plane, Sphere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.model import Body, Scene

# Radius of a mark beside the thickness of the thinner body, and beside its length at most.
OF_THICKNESS, OF_LENGTH = 0.65, 0.18
# Length of a pin beside its radius.
PIN, CROSS = 3.4, 3.0
# Radius of a rod beside that of a mark; a joint so many times farther than a body reaches is out of its reach.
ROD, BEYOND = 0.3, 1.05


class Span(NamedTuple):
    """A rod between points of two bodies.

    Attributes:
        rows: Rows of the bodies; one past the last body for the world.
        points: The ends in the frames of the bodies, shape (2, 3) [m].
        radius: Radius [m].
    """

    rows: tuple[int, int]
    points: NDArray[np.float64]
    radius: float


def marks(scene: Scene) -> Iterator[tuple[int, Cast]]:
    """The marks of all joints that have one, each with the row of its body, in that body's frame."""
    rows = {body.name: row for row, body in enumerate(scene.bodies)}
    for joint in scene.joints.values():
        bodies = [scene[name] for name in (joint.b, joint.a) if name in rows]
        solid = [body for body in bodies if not isinstance(body.shape, Plane)]
        if type(joint) in MAKERS and solid:
            radius = min(_radius(body) for body in solid)
            side = "b" if joint.b in rows else "a"
            for shape, axis in MAKERS[type(joint)](joint, radius):
                place, turn = _in_body(joint, bodies[0], side, axis)
                for cast in casts(shape, place, turn):
                    yield rows[bodies[0].name], cast


def rods(scene: Scene) -> Iterator[tuple[int, Cast]]:
    """Rods from bodies to joints with a mark that they do not reach, each with the row of its body, in its frame."""
    for joint in scene.joints.values():
        for side, name in (("a", joint.a), ("b", joint.b)):
            body = None if name == scene.world.name else scene[name]
            if type(joint) in MAKERS and body is not None and not body.static:
                yield from ((scene.index(name), cast) for cast in _rod(joint, body, side))


def spans(scene: Scene) -> Iterator[Span]:
    """The rods between points that joints keep at their distance."""
    rows = {body.name: row for row, body in enumerate(scene.bodies)}
    for joint in scene.joints.values():
        if type(joint) is not Distance:
            continue
        points = [joint.points()[s] for s in (0, 1)]
        solid = []
        for side, name in (("a", joint.a), ("b", joint.b)):
            if name in rows:
                points["ab".index(side)] = _in_body(joint, scene[name], side, side)[0]
                solid.append(scene[name])
        radius = min((_radius(body) for body in solid if not isinstance(body.shape, Plane)), default=0.0)
        if radius > 0.0:
            ends = rows.get(joint.a, len(rows)), rows.get(joint.b, len(rows))
            yield Span(ends, np.array(points, dtype=np.float64), ROD * radius)


def hooks(scene: Scene) -> NDArray[np.float64]:
    """Where joints that are drawn hang something on the world, shape (points, 3) [m]."""
    found = []
    for joint in scene.joints.values():
        for side, name in enumerate((joint.a, joint.b)):
            if type(joint) in (*MAKERS, Distance) and name == scene.world.name:
                found.append(joint.points()[side])
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def _in_body(joint: Any, body: Body, side: str, axis: str) -> tuple[Any, Any]:
    """Where a joint is in the frame of a body, and how the frame on side ``axis`` is turned there."""
    point, turn = joint.points()["ab".index(side)], joint.frames()["ab".index(axis)]
    if joint.in_bodies:
        return point, joint.frames()["ab".index(side)]
    back = conjugate(body.orientation)
    return rotate(back, point - body.origin), multiply(back, turn)


def _rod(joint: Any, body: Body, side: str) -> Iterator[Cast]:
    """A rod from the centre of mass of a body to a joint that the body does not reach."""
    way = np.asarray(_in_body(joint, body, side, side)[0]) - body.center_of_mass
    length, reach = float(np.linalg.norm(way)), 0.0
    if body.shape is not None:
        reach = body.shape.bounding_radius() + float(np.linalg.norm(body.center_of_mass))
    if length > BEYOND * reach and not isinstance(body.shape, Plane):
        rod = Cylinder(ROD * _radius(body), length)
        yield from casts(rod, body.center_of_mass + 0.5 * way, turn_to(way / length))


def _radius(body: Body) -> float:
    """How thick a mark on a body may be [m]."""
    found = []
    for cast in casts(solid_of(body)):
        low, high = cast.shape.bounds()
        extent = np.asarray(high) - np.asarray(low)
        found.append(min(OF_THICKNESS * float(extent.min()), OF_LENGTH * float(extent.max())))
    return min(found)


def _ball(joint: Any, radius: float) -> list[tuple[Any, str]]:
    return [(Sphere(0.62 * radius), "a")]


def _pin(joint: Any, radius: float) -> list[tuple[Any, str]]:
    return [(Cylinder(0.7 * radius, PIN * radius), "a")]


def _cross(joint: Any, radius: float) -> list[tuple[Any, str]]:
    return [(Cylinder(0.5 * radius, CROSS * radius), side) for side in ("a", "b")]


MAKERS: dict[type[Any], Any] = {Ball: _ball, Revolute: _pin, Cylindrical: _pin, Universal: _cross}
