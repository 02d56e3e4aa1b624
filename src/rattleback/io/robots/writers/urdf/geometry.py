"""Geometry of URDF: what is seen as ``visual``, what collides as ``collision``.

| shape | URDF |
|---|---|
| box, cylinder, sphere | the same |
| capsule | a cylinder and two balls, which are the same solid |
| hull, mesh, height field | an OBJ file beside the file |
| cone, ellipsoid | a polyhedron whose corners lie on it |
| plane | a large box below it |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.source.placing import shift
from rattleback.io.robots.writers.urdf.joints import posed
from rattleback.io.robots.writers.xml_tree import element
from rattleback.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Geometry, Link
    from rattleback.io.robots.writers.urdf.robot import Robot

    Floats = NDArray[np.float64]

# Extents of the box that stands for a plane [m].
WIDE, THICK = 100.0, 1.0
MANY = "what reads it may take the hull of a mesh that collides"


def add_geometries(robot: Robot, made: Element, link: Link, back: Floats) -> None:
    """Add the shapes of a link; ``back`` takes points of its frame to that of the link in the file."""
    for geometry in link.geometries:
        for tag, used in (("visual", geometry.seen), ("collision", geometry.collides)):
            for shape, place in _parts(geometry.shape) if used else ():
                inside = element(made, tag, name=geometry.name or None)
                element(inside, "origin", **posed(back @ geometry.place @ place))
                _add_form(robot, element(inside, "geometry"), link.name, shape)
                if tag == "visual" and geometry.colour is not None:
                    _add_colour(inside, geometry.colour)
        _tell(robot, link, geometry)
    _tell_surface(robot, link)


def _parts(shape: Any) -> list[tuple[Any, Floats]]:
    """A shape as shapes that URDF has, with their frames in its own."""
    if isinstance(shape, Capsule):
        half = 0.5 * shape.straight
        balls = [(Sphere(shape.radius), shift(0.0, 0.0, side)) for side in (-half, half)]
        return [(Cylinder(shape.radius, shape.straight), np.eye(4)), *balls] if half > 0.0 else balls[:1]
    if isinstance(shape, Plane):
        return [(Box(WIDE, WIDE, THICK), shift(0.0, 0.0, -0.5 * THICK))]
    return [(shape, np.eye(4))]


def _add_form(robot: Robot, inside: Element, link: str, shape: Any) -> None:
    if isinstance(shape, Box):
        element(inside, "box", size=(shape.x, shape.y, shape.z))
    elif isinstance(shape, Cylinder):
        element(inside, "cylinder", radius=shape.radius, length=shape.length)
    elif isinstance(shape, Sphere):
        element(inside, "sphere", radius=shape.radius)
    else:
        element(inside, "mesh", filename=robot.writing.mesh(shape, link))


def _add_colour(inside: Element, colour: Any) -> None:
    name = "rgba " + " ".join(f"{part:g}" for part in colour)
    element(element(inside, "material", name=name), "color", rgba=colour)


def _tell(robot: Robot, link: Link, geometry: Geometry) -> None:
    where, report, shape = robot.writing.where(link.name, geometry), robot.report, geometry.shape
    if isinstance(shape, (Cone, Ellipsoid)):
        report.approximate(where, "URDF has none; it is a polyhedron whose corners lie on it")
    elif isinstance(shape, Plane):
        report.approximate(where, f"URDF has none; it is a box of {WIDE:g} m by {WIDE:g} m below it")
    elif isinstance(shape, (Mesh, HeightField)) and geometry.collides:
        report.approximate(where, f"as an OBJ file; {MANY}")
    elif isinstance(shape, Capsule):
        report.keep(where, "as a cylinder and two balls, which are the same solid")
    else:
        report.keep(where, "as an OBJ file" if isinstance(shape, (Mesh, ConvexHull, HeightField)) else "")


def _tell_surface(robot: Robot, link: Link) -> None:
    surface = next((one.surface for one in link.geometries if one.collides), None)
    if surface:
        robot.report.drop(f"body {link.name!r} material", "links of URDF have no friction")
