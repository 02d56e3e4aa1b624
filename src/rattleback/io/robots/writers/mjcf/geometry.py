"""Geometry of MJCF: primitives with half extents, meshes and height fields as assets, surfaces, colours.

Shapes that only are seen meet nothing and stand in group 2; those that only collide stand in group 3, which MuJoCo does
not show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.source.placing import parts, shift
from rattleback.io.robots.writers.mesh_files import inscribed
from rattleback.io.robots.writers.xml_tree import element
from rattleback.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Geometry, Link
    from rattleback.io.robots.writers.mjcf.model import Model

    Floats = NDArray[np.float64]

ONLY_SEEN, ONLY_SOLID = 2, 3
# Depth of the base below a height field [m]; MuJoCo needs one.
BASE = 0.1
SIZES: dict[type, Any] = {
    Sphere: ("sphere", lambda s: (s.radius,)),
    Capsule: ("capsule", lambda s: (s.radius, 0.5 * s.straight)),
    Ellipsoid: ("ellipsoid", lambda s: (s.x, s.y, s.z)),
    Cylinder: ("cylinder", lambda s: (s.radius, 0.5 * s.length)),
    Box: ("box", lambda s: (0.5 * s.x, 0.5 * s.y, 0.5 * s.z)),
    Plane: ("plane", lambda s: (0.0, 0.0, 1.0)),
}


def add_geometries(model: Model, body: Element, link: Link) -> None:
    """Add the shapes of a link."""
    for geometry in link.geometries:
        where = model.writing.where(link.name, geometry)
        for shape, seen, solid in _uses(geometry):
            _add(model, body, (link.name, where), (geometry, shape, seen, solid))
    if link.geometries:
        model.contacts.tell_surface(link)


def _uses(geometry: Geometry) -> list[tuple[Any, bool, bool]]:
    """What is seen and what collides: a mesh that collides does so as its hull, and is seen as it is."""
    shape, seen, solid = geometry.shape, geometry.seen, geometry.collides
    if isinstance(shape, Mesh) and seen and solid:
        return [(shape, True, False), (shape, False, True)]
    return [(shape, seen, solid)]


def _add(model: Model, body: Element, named: tuple[str, str], used: tuple[Geometry, Any, bool, bool]) -> None:
    (link, where), (geometry, shape, seen, solid) = named, used
    place, options = geometry.place, _form(model, link, shape)
    if isinstance(shape, HeightField):
        place = place @ shift(0.0, 0.0, float(shape.heights.min()))
    own = link if isinstance(shape, (Plane, HeightField)) and not geometry.name else geometry.name
    if own:
        options["name"] = model.names["geom"].add(own) if own not in model.names["geom"] else None
    made = element(body, "geom", **options, **posed(place))
    if not (seen and solid):
        made.set("group", str(ONLY_SEEN if seen else ONLY_SOLID))
    if geometry.colour is not None:
        made.set("rgba", " ".join(repr(float(part)) for part in geometry.colour))
    if solid:
        model.contacts.dress(made, geometry)
    else:
        made.set("contype", "0")
        made.set("conaffinity", "0")
    _tell(model, where, shape, solid)


def _form(model: Model, link: str, shape: Any) -> dict[str, Any]:
    """Type and size of a shape, or the asset it is."""
    if type(shape) in SIZES:
        kind, size = SIZES[type(shape)]
        return {"type": kind, "size": size(shape)}
    if isinstance(shape, HeightField):
        return {"type": "hfield", "hfield": _field(model, link, shape)}
    return {"type": "mesh", "mesh": _mesh(model, link, shape)}


def _mesh(model: Model, link: str, shape: Any) -> str:
    path = model.writing.mesh(inscribed(shape), link)
    name = path.rsplit("/", 1)[-1].removesuffix(".obj")
    if name not in model.names["mesh"]:
        # The mass is said; a surface that is open needs no volume then.
        asset = element(model.section("asset"), "mesh", name=model.names["mesh"].add(name), file=path)
        if not isinstance(inscribed(shape), ConvexHull):
            asset.set("inertia", "shell")
    return name


def _field(model: Model, link: str, shape: HeightField) -> str:
    """A height field as an asset: rows along y, the last first as in a picture, heights from its lowest point."""
    name = model.names["hfield"].add(f"{link} heights")
    low, high = float(shape.heights.min()), float(shape.heights.max())
    (nx, ny), (dx, dy) = shape.heights.shape, shape.spacing
    size = 0.5 * (nx - 1) * dx, 0.5 * (ny - 1) * dy, max(high - low, 1e-9), BASE
    rows = (shape.heights.T[::-1] - low) / max(high - low, 1e-9)
    element(model.section("asset"), "hfield", name=name, nrow=ny, ncol=nx, size=size, elevation=np.ravel(rows))
    return name


def _tell(model: Model, where: str, shape: Any, solid: bool) -> None:
    report = model.report
    if isinstance(shape, Cone):
        report.approximate(where, "MJCF has no cones; it is a polyhedron whose corners lie on it")
    elif isinstance(shape, Mesh) and solid:
        report.approximate(f"{where} collision", "its convex hull collides")
    elif isinstance(shape, HeightField):
        report.keep(where, "MuJoCo keeps its heights in single precision, and a base below")
    elif isinstance(shape, (Mesh, ConvexHull)):
        report.keep(where, "as an OBJ file; MuJoCo keeps its corners in single precision")
    else:
        report.keep(where)


def posed(frame: Floats) -> dict[str, Any]:
    """A frame as attributes; what is as by default is left out."""
    point, (x, y, z, w) = parts(frame)
    found: dict[str, Any] = {"pos": point} if any(point) else {}
    return found | ({"quat": (w, x, y, z)} if any((x, y, z)) else {})
