"""Geometry of MJCF: shapes, colours, friction, and the bits that say which shapes meet.

MuJoCo lets two shapes meet where (c₁ & a₂) | (c₂ & a₁), c contype and a conaffinity, or where ``contact/pair`` lists
them. Every (c, a, listed pairs) that occurs is a category here, and it meets those of the others for which that holds:
the same pairs of shapes, whatever the bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.description import Geometry
from rattleback.io.robots.formats.mjcf_flags import contacts_are_off
from rattleback.io.robots.source.placing import from_quaternion
from rattleback.shapes import Box, Capsule, ConvexHull, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from rattleback.io.robots.formats.mjcf import Described

PLANE, HEIGHTS, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
# Colour of a geometry of which the file says none.
UNSAID = [0.5, 0.5, 0.5, 1.0]
# Groups that MuJoCo shows if nothing is said.
SHOWN_GROUPS = 3
# More categories than these have no bits.
MOST_CLASSES = 31


class Class(NamedTuple):
    """What says which shapes a geometry meets: its bits, and the numbers of the listed pairs it is in."""

    contype: int
    conaffinity: int
    pairs: tuple[int, ...]


def add_geometries(described: Described) -> None:
    """Add the geometry of all bodies."""
    model = described.model
    classed = _classes(model)
    classes = list(dict.fromkeys(one for one in classed if any(one)))
    few = 1 < len(classes) <= MOST_CLASSES or classes not in ([], [Class(1, 1, ())])
    for k in range(model.ngeom):
        shape = _shape(model, k)
        if shape is None:
            continue
        w, x, y, z = model.geom_quat[k]
        place = from_quaternion(model.geom_pos[k], (x, y, z, w))
        geometry = Geometry(model.geom(k).name, shape, place, int(model.geom_group[k]) < SHOWN_GROUPS, any(classed[k]))
        geometry.colour = _colour(model, k)
        geometry.surface = _surface(model, k)
        if geometry.collides and few:
            geometry.category = _named(classed[k])
            geometry.collides_with = tuple(_named(other) for other in classes if _meet(classed[k], other))
        if geometry.collides and isinstance(shape, Mesh):
            _add_hull(described, k, geometry)
        described.description.links[described.links[int(model.geom_bodyid[k])]].geometries.append(geometry)


def _add_hull(described: Described, k: int, geometry: Geometry) -> None:
    """A mesh collides as its hull, as in MuJoCo; what is seen is the mesh."""
    hull = _hull(described.model, k)
    if hull is not None:
        place, link = geometry.place, described.description.links[described.links[int(described.model.geom_bodyid[k])]]
        own = Geometry(geometry.name, hull, place, False, True, geometry.colour, geometry.surface)
        own.category, own.collides_with = geometry.category, geometry.collides_with
        link.geometries.append(own)
    geometry.collides = False


def _classes(model: Any) -> list[Class]:
    """The class of each geometry."""
    listed: dict[int, list[int]] = {}
    if not contacts_are_off(model):
        for number, ends in enumerate(zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)):
            for end in ends:
                listed.setdefault(end, []).append(number)
    bits = zip(model.geom_contype.tolist(), model.geom_conaffinity.tolist(), strict=True)
    return [Class(c, a, tuple(listed.get(k, ()))) for k, (c, a) in enumerate(bits)]


def listed_pairs(model: Any) -> list[tuple[int, int]]:
    """Numbers of the bodies whose shapes are listed one by one to meet."""
    if contacts_are_off(model):
        return []
    ends = zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), strict=True)
    bodies = [tuple(int(model.geom_bodyid[geom]) for geom in pair) for pair in ends]
    return [(first, second) for first, second in bodies if first != second]


def _named(one: Class) -> str:
    pairs = f" pairs {', '.join(map(str, one.pairs))}" if one.pairs else ""
    return f"contype {one.contype:#x} conaffinity {one.conaffinity:#x}{pairs}"


def _meet(one: Class, other: Class) -> bool:
    bits = (one.contype & other.conaffinity) | (other.contype & one.conaffinity)
    return bool(bits or set(one.pairs) & set(other.pairs))


def _shape(model: Any, k: int) -> Any:
    """The shape of a geometry; None for what is not solid."""
    kind, (x, y, z) = int(model.geom_type[k]), model.geom_size[k].tolist()
    if kind == SPHERE:
        return Sphere(x)
    if kind == CAPSULE:
        return Capsule(x, 2.0 * (x + y))
    if kind == ELLIPSOID:
        return Ellipsoid(x, y, z)
    if kind == CYLINDER:
        return Cylinder(x, 2.0 * y)
    if kind == BOX:
        return Box(2.0 * x, 2.0 * y, 2.0 * z)
    if kind == PLANE:
        return Plane()
    if kind == MESH:
        return Mesh(*_mesh(model, k))
    if kind == HEIGHTS:
        return _heights(model, int(model.geom_dataid[k]))
    return None


def _mesh(model: Any, k: int) -> Any:
    m = int(model.geom_dataid[k])
    first, count = int(model.mesh_vertadr[m]), int(model.mesh_vertnum[m])
    face, faces = int(model.mesh_faceadr[m]), int(model.mesh_facenum[m])
    triangles = np.array(model.mesh_face[face : face + faces], dtype=np.int64)
    solid = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    return np.array(model.mesh_vert[first : first + count], dtype=np.float64), triangles[solid]


def _hull(model: Any, k: int) -> ConvexHull | None:
    from rattleback.core.errors import InputError

    try:
        return ConvexHull(_mesh(model, k)[0])
    except InputError:
        return None


def _heights(model: Any, h: int) -> HeightField:
    rows, columns, first = int(model.hfield_nrow[h]), int(model.hfield_ncol[h]), int(model.hfield_adr[h])
    x, y, top, _ = model.hfield_size[h].tolist()
    heights = top * np.array(model.hfield_data[first : first + rows * columns], dtype=np.float64).reshape(rows, columns)
    return HeightField(heights.T, (2.0 * x / (columns - 1), 2.0 * y / (rows - 1)))


def _colour(model: Any, k: int) -> Any:
    material = int(model.geom_matid[k])
    colour = (model.mat_rgba[material] if material >= 0 else model.geom_rgba[k]).astype(float).tolist()
    return None if material < 0 and colour == UNSAID else tuple(colour)


def _surface(model: Any, k: int) -> dict[str, Any]:
    """Friction as far as the number of contact dimensions asks for it."""
    slide, spin, roll = model.geom_friction[k].tolist()
    dimensions = int(model.geom_condim[k])
    return {
        "friction": slide if dimensions > 1 else 0.0,
        "spinning_friction": spin if dimensions > 3 else 0.0,
        "rolling_friction": roll if dimensions > 4 else 0.0,
    }
