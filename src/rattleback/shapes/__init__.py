"""Shapes: size, mass, bounds and support points of the solids that bodies are made of.

=========================================  =============================================================================
Shape                                      Frame
=========================================  =============================================================================
``Sphere(radius)``                         Origin at the centre.
``Box(x, y, z)``                           Full edge lengths along the axes; origin at the centre.
``Capsule(radius, length)``                Axis z, length from tip to tip (at least twice the radius); origin at the
                                           centre.
``Cylinder(radius, length)``               Axis z; origin at the centre.
``Cone(radius, height)``                   Axis z, apex at +height/2, base at −height/2; the origin is at mid height,
                                           the centre of mass at z = −height/4.
``Ellipsoid(x, y, z)``                     Radii along the axes; origin at the centre.
``Plane(normal=(0, 0, 1), offset=0.0)``    The half-space normal · p ≤ offset; static only, without mass.
``Mesh(vertices, triangles)``              Triangles anticlockwise seen from outside, in the frame of the vertices; mass
                                           only if closed.
``Mesh("part.obj")``                       The same, read from a file; lengths in metres. With ``decompose=True`` a
                                           closed mesh is split into convex ``parts`` for contacts.
``ConvexHull(points)``                     The smallest convex solid around the points, in their frame.
``HeightField(heights, spacing)``          z = heights on a grid centred on the origin, solid below; static only,
                                           without mass.
``Compound([Placed(shape, ...), ...])``    Parts in the frame of the compound, each with its own ``position``,
                                           ``orientation`` and ``density_ratio``; overlapping parts count twice.
=========================================  =============================================================================

Lengths in metres. Every shape is a frozen value with ``volume()``, ``mass_properties(density)``, ``bounds()``,
``support(direction)`` and ``bounding_radius()``, all in its own frame (see ``Shape``).
"""

from typing import Any

from rattleback.shapes.box import Box
from rattleback.shapes.capsule import Capsule
from rattleback.shapes.compound import Compound, Placed
from rattleback.shapes.cone import Cone
from rattleback.shapes.convex_hull import ConvexHull
from rattleback.shapes.cylinder import Cylinder
from rattleback.shapes.data import from_data, to_data
from rattleback.shapes.ellipsoid import Ellipsoid
from rattleback.shapes.height_field import HeightField
from rattleback.shapes.mass import MassProperties
from rattleback.shapes.mesh import Mesh
from rattleback.shapes.plane import Plane
from rattleback.shapes.shape import Shape
from rattleback.shapes.sphere import Sphere

__all__ = [
    "MENU",
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "MassProperties",
    "Mesh",
    "Placed",
    "Plane",
    "Shape",
    "Sphere",
    "from_data",
    "to_data",
]

MENU: dict[str, type[Any]] = {
    "sphere": Sphere,
    "box": Box,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "cone": Cone,
    "ellipsoid": Ellipsoid,
    "plane": Plane,
    "mesh": Mesh,
    "compound": Compound,
    "convex_hull": ConvexHull,
    "height_field": HeightField,
}
