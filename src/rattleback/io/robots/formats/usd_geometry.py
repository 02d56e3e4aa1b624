"""Geometry of USD: primitives and meshes, scaled as their prims are; surfaces; colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import InputError
from rattleback.io.robots.description import Geometry
from rattleback.io.robots.formats.usd_stage import SHEAR, pxr
from rattleback.io.robots.source.placing import inverse
from rattleback.kinematics.pose import make_pose
from rattleback.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Link
    from rattleback.io.robots.formats.usd import Described
    from rattleback.io.robots.formats.usd_stage import Stage

    Floats = NDArray[np.float64]

# Turns that bring z to an axis, by cyclic exchange.
AXES = {
    "X": np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    "Y": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "Z": np.eye(3),
}
HULL = "convexHull"


class Solid(NamedTuple):
    """A shape that collides, for the mass of its body.

    Attributes:
        geometry: The shape and its frame in that of the link.
        mass: Mass it has by itself [kg]; zero for none.
        density: Density of it or its material [kg/m³]; zero for none.
    """

    geometry: Geometry
    mass: float
    density: float


def add_geometry(described: Described, link: Link, prim: Any) -> Solid | None:
    """Add a shape to a link; what it is for the mass, if it collides."""
    stage = described.stage
    solid = prim.HasAPI(stage.physics.CollisionAPI) and stage.value(prim, "physics:collisionEnabled", True)
    imageable = stage.geom.Imageable(prim)
    seen = imageable.ComputeVisibility() != "invisible" and imageable.ComputePurpose() in ("default", "render")
    made = _shape(described, prim, bool(solid))
    if made is None:
        return None
    shape, frame = made
    geometry = Geometry(described.name(prim), shape, inverse(link.place) @ frame, seen, bool(solid))
    colours = stage.value(prim, "primvars:displayColor")
    if colours is not None and len(colours):
        red, green, blue = (float(part) for part in colours[0])
        geometry.colour = red, green, blue, 1.0
    if not solid:
        link.geometries.append(geometry)
        return None
    surface, density = _material(stage, prim)
    geometry.surface = surface
    _add_solid(described, link, geometry, prim)
    cube = stage.kilograms / stage.meters**3
    own = stage.number(prim, "physics:mass") * stage.kilograms
    told = stage.number(prim, "physics:density") * cube
    return Solid(geometry, own, told or density * cube)


def _add_solid(described: Described, link: Link, geometry: Geometry, prim: Any) -> None:
    """A mesh collides as its hull, whatever the file wants instead."""
    stage, shape = described.stage, geometry.shape
    wanted = str(stage.value(prim, "physics:approximation", "none"))
    if not isinstance(shape, Mesh):
        link.geometries.append(geometry)
        return
    if geometry.seen:
        link.geometries.append(Geometry(geometry.name, shape, geometry.place, True, False, geometry.colour))
    try:
        geometry.shape, geometry.seen = ConvexHull(shape.vertices), False
    except InputError:
        described.source.report.drop(f"{prim.GetPath()} collision", "the mesh is flat and does not collide")
        geometry.collides = False
        return
    link.geometries.append(geometry)
    if wanted != HULL:
        described.source.report.approximate(
            f"{prim.GetPath()}.physics:approximation", f"its convex hull collides, not {wanted!r}"
        )


def _shape(described: Described, prim: Any, solid: bool) -> tuple[Any, Floats] | None:
    """A shape and its frame in the world; None for what is not here."""
    stage, kind = described.stage, str(prim.GetTypeName())
    frame = stage.frame(prim)
    if kind == "Mesh":
        return _mesh(described, prim, frame)
    if kind not in SHAPES:
        described.source.report.drop(f"{prim.GetPath()} shape", f"{kind} is no solid that is known here")
        return None
    local = stage.local(prim)[:3, :3]
    if np.abs(local - np.diag(np.diag(local))).max() > SHEAR * np.abs(local).max():
        described.source.report.approximate(f"{prim.GetPath()} shape", "its transform is sheared, the shape is not")
    scale = np.abs(np.diag(local))
    if kind in ("Cube", "Sphere"):
        return SHAPES[kind](stage, prim, scale, ""), frame
    axis = str(stage.value(prim, "axis", "Z"))
    turn = AXES.get(axis, AXES["Z"])
    along = np.abs(turn.T @ scale)
    if abs(along[0] - along[1]) > SHEAR * along.max() and kind != "Plane":
        described.source.report.approximate(f"{prim.GetPath()} shape", "its cross-section is round, not oval")
    return SHAPES[kind](stage, prim, along, axis), frame @ make_pose((0.0, 0.0, 0.0), turn)


def _cube(stage: Stage, prim: Any, scale: Floats, axis: str) -> Any:
    return Box(*(_size(stage, prim, "size", 2.0) * scale).tolist())


def _sphere(stage: Stage, prim: Any, scale: Floats, axis: str) -> Any:
    radii = _size(stage, prim, "radius", 1.0) * scale
    if np.ptp(radii) <= SHEAR * radii.max():
        return Sphere(float(radii.mean()))
    return Ellipsoid(*radii.tolist())


def _round(stage: Stage, prim: Any, scale: Floats, axis: str) -> Any:
    radius = _size(stage, prim, "radius", 0.5 if prim.GetTypeName() == "Capsule" else 1.0) * float(scale[:2].mean())
    height = _size(stage, prim, "height", 1.0 if prim.GetTypeName() == "Capsule" else 2.0) * float(scale[2])
    if prim.GetTypeName() == "Capsule":
        return Capsule(radius, height + 2.0 * radius)
    return (Cylinder if prim.GetTypeName() == "Cylinder" else Cone)(radius, height)


def _plane(stage: Stage, prim: Any, scale: Floats, axis: str) -> Any:
    for name in ("width", "length"):
        stage.value(prim, name)
    return Plane()


SHAPES = {
    "Cube": _cube,
    "Sphere": _sphere,
    "Capsule": _round,
    "Cylinder": _round,
    "Cone": _round,
    "Plane": _plane,
}


def _size(stage: Stage, prim: Any, name: str, default: float) -> float:
    found = stage.number(prim, name, default)
    if not 0.0 < found < np.inf:
        raise stage.error(prim, f"{name} is {found:g}; it must be greater than zero.")
    return found


def _mesh(described: Described, prim: Any, frame: Floats) -> tuple[Any, Floats] | None:
    stage = described.stage
    points = np.array(stage.value(prim, "points", []), dtype=np.float64).reshape(-1, 3)
    counts = np.array(stage.value(prim, "faceVertexCounts", []), dtype=np.int64)
    corners = np.array(stage.value(prim, "faceVertexIndices", []), dtype=np.int64)
    for name in ("normals", "subdivisionScheme", "doubleSided", "orientation", "faceVarying", "cornerIndices"):
        stage.value(prim, name)
    if counts.sum() != len(corners) or len(corners) == 0 or (counts < 3).any():
        described.source.report.drop(f"{prim.GetPath()} mesh", "its faces do not fit its corners")
        return None
    if stage.value(prim, "orientation", "rightHanded") == "leftHanded":
        corners, counts = corners[::-1], counts[::-1]
    found = _fans(counts, corners)
    local = stage.local(prim)
    if np.linalg.det(local[:3, :3]) < 0.0:
        found = found[:, ::-1]
    try:
        return Mesh(points @ local[:3, :3].T + local[:3, 3], found), frame
    except InputError as error:
        described.source.report.drop(f"{prim.GetPath()} mesh", f"it cannot be used: {str(error)[:200]}")
        return None


def _fans(counts: NDArray[np.int64], corners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Triangles of polygons, those without area left out (triangles, 3)."""
    triangles = [
        (corners[first], corners[first + k], corners[first + k + 1])
        for first, count in zip(np.cumsum(counts) - counts, counts, strict=True)
        for k in range(1, count - 1)
    ]
    found = np.array(triangles, dtype=np.int64)
    return found[(found != np.roll(found, 1, axis=1)).all(axis=1)]


def _material(stage: Stage, prim: Any) -> tuple[dict[str, float], float]:
    """Friction and restitution of the physics material bound to a prim, and its density in units of the file."""
    shade = pxr(stage.path, "UsdShade")
    bound, _ = shade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    if not bound or not bound.GetPrim().HasAPI(stage.physics.MaterialAPI):
        return {}, 0.0
    material = bound.GetPrim()
    for name in ("material:binding:physics", "material:binding"):
        stage.targets(prim, name)
    names = {"dynamic_friction": "dynamicFriction", "static_friction": "staticFriction", "restitution": "restitution"}
    found = {key: max(0.0, stage.number(material, f"physics:{name}")) for key, name in names.items()}
    found["static_friction"] = max(found["static_friction"], found["dynamic_friction"])
    found["restitution"] = min(found["restitution"], 1.0)
    return found, stage.number(material, "physics:density")
