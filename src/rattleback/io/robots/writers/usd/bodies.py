"""Bodies of USD: mass properties, velocities, shapes and their surfaces; and what UsdPhysics has no word for.

What stands still is a rigid body that is switched off, so that it keeps its name and its shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.writers.mesh_files import triangles_of
from rattleback.maths.inertia import principal_axes
from rattleback.shapes import Box, Capsule, Cone, ConvexHull, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

if TYPE_CHECKING:
    from rattleback.io.robots.description import Geometry, Link
    from rattleback.io.robots.writers.usd.stage import Stage

OFF = "physxRigidBody:disableGravity"


def add_body(stage: Stage, link: Link) -> None:
    """Add a rigid body."""
    made = stage.define(stage.geom.Xform, stage.root, link.name, told=True)
    stage.paths[link.name] = str(made.GetPath())
    stage.place(made, stage.frames[link.name])
    body = stage.physics.RigidBodyAPI.Apply(made)
    if link.inertia is None:
        body.CreateRigidBodyEnabledAttr(False)
        stage.report.keep(link.where, "as a rigid body that is switched off")
    else:
        _add_mass(stage, made, link)
        stage.report.keep(link.where)
    for geometry in link.geometries:
        _add_geometry(stage, link, geometry)
    _tell_surface(stage, link)
    if link.velocity is not None:
        stage.vector(made, "physics:velocity", link.velocity[:3], "Vector3f")
        stage.vector(made, "physics:angularVelocity", np.degrees(link.velocity[3:]), "Vector3f")
        stage.report.keep(f"{link.where} velocity")


def _add_mass(stage: Stage, made: Any, link: Link) -> None:
    own = link.inertia
    assert own is not None
    stage.physics.MassAPI.Apply(made)
    moments, turn = principal_axes(own.tensor)
    stage.number(made, "physics:mass", own.mass)
    stage.vector(made, "physics:centerOfMass", own.center, "Point3f")
    stage.vector(made, "physics:diagonalInertia", moments)
    stage.turn(made, "physics:principalAxes", turn)
    share = link.gravity_compensation
    if share == 1.0:
        made.CreateAttribute(OFF, stage.sdf.ValueTypeNames.Bool, False).Set(True)
        stage.report.keep(f"{link.where} gravity compensation", "gravity is switched off for it")
    elif share:
        stage.report.drop(
            f"{link.where} gravity compensation", "gravity acts on a body of USD as a whole or not at all"
        )


def _add_geometry(stage: Stage, link: Link, geometry: Geometry) -> None:
    """Add a shape."""
    name = geometry.name or type(geometry.shape).__name__.lower()
    if isinstance(geometry.shape, Plane):
        # The plane is the body where it is read.
        name = link.name
    elif name == link.name:
        name = f"{name}_shape"
    made, scale = _form(stage, stage.paths[link.name], name, geometry.shape)
    stage.place(made, geometry.place, scale)
    if not geometry.seen:
        stage.geom.Imageable(made).CreatePurposeAttr(stage.geom.Tokens.guide)
    if geometry.colour is not None:
        stage.geom.Gprim(made).CreateDisplayColorAttr([stage.gf.Vec3f(*geometry.colour[:3])])
    if geometry.collides:
        stage.physics.CollisionAPI.Apply(made)
        _bind(stage, made, geometry)
        _add_approximation(stage, made, link, geometry)
    _tell(stage, link, geometry)


def _form(stage: Stage, above: str, name: str, shape: Any) -> tuple[Any, Any]:
    """A prim of the form of a shape, and how it is stretched."""
    geom = stage.geom
    if isinstance(shape, Box):
        made = stage.define(geom.Cube, above, name)
        geom.Cube(made).CreateSizeAttr(1.0)
        return made, (shape.x, shape.y, shape.z)
    if isinstance(shape, (Sphere, Ellipsoid)):
        made = stage.define(geom.Sphere, above, name)
        geom.Sphere(made).CreateRadiusAttr(shape.radius if isinstance(shape, Sphere) else 1.0)
        return made, (shape.x, shape.y, shape.z) if isinstance(shape, Ellipsoid) else None
    if isinstance(shape, Plane):
        made = stage.define(geom.Plane, above, name, told=True)
        geom.Plane(made).CreateAxisAttr("Z")
        return made, None
    if isinstance(shape, (Capsule, Cylinder, Cone)):
        return _round(stage, above, name, shape), None
    return _mesh(stage, above, name, shape), None


def _round(stage: Stage, above: str, name: str, shape: Any) -> Any:
    kind = getattr(stage.geom, type(shape).__name__)
    made = stage.define(kind, above, name)
    heights = {Capsule: "straight", Cylinder: "length", Cone: "height"}
    kind(made).CreateRadiusAttr(float(shape.radius))
    kind(made).CreateHeightAttr(float(getattr(shape, heights[type(shape)])))
    kind(made).CreateAxisAttr("Z")
    return made


def _mesh(stage: Stage, above: str, name: str, shape: Any) -> Any:
    made = stage.define(stage.geom.Mesh, above, name)
    points, corners = triangles_of(shape)
    mesh = stage.geom.Mesh(made)
    mesh.CreatePointsAttr([stage.gf.Vec3f(*point) for point in points.tolist()])
    mesh.CreateFaceVertexCountsAttr([3] * len(corners))
    mesh.CreateFaceVertexIndicesAttr(corners.ravel().tolist())
    mesh.CreateSubdivisionSchemeAttr("none")
    return made


def _add_approximation(stage: Stage, made: Any, link: Link, geometry: Geometry) -> None:
    if isinstance(geometry.shape, (Mesh, ConvexHull, HeightField)):
        moving_mesh = isinstance(geometry.shape, Mesh) and link.inertia is not None
        hull = isinstance(geometry.shape, ConvexHull) or moving_mesh
        law = stage.physics.MeshCollisionAPI.Apply(made)
        law.CreateApproximationAttr("convexHull" if hull else "none")


def _bind(stage: Stage, made: Any, geometry: Geometry) -> None:
    """Bind a physics material, one for equal surfaces."""
    names = {"dynamic_friction": "dynamicFriction", "static_friction": "staticFriction", "restitution": "restitution"}
    values = {key: float(geometry.surface.get(name) or 0.0) for name, key in names.items()}
    key = tuple(values.items())
    if key not in stage.surfaces:
        above = f"{stage.root}/materials"
        stage.geom.Scope.Define(stage.stage, above)
        material = stage.define(stage.shade.Material, above, f"surface_{len(stage.surfaces) + 1}")
        stage.physics.MaterialAPI.Apply(material)
        for name, value in values.items():
            stage.number(material, f"physics:{name}", value)
        stage.surfaces[key] = stage.shade.Material(material)
    stage.shade.MaterialBindingAPI.Apply(made).Bind(stage.surfaces[key], materialPurpose="physics")


def _tell(stage: Stage, link: Link, geometry: Geometry) -> None:
    where, shape = stage.writing.where(link.name, geometry), geometry.shape
    if isinstance(shape, HeightField):
        stage.report.approximate(where, "as a mesh; what reads it may take the hull of a mesh that collides")
    elif isinstance(shape, Mesh) and geometry.collides:
        told = "its convex hull collides" if link.inertia is not None else "what reads it may take its hull"
        stage.report.approximate(f"{where} collision", told)
    elif isinstance(shape, (Mesh, ConvexHull)):
        stage.report.keep(where, "its corners are in single precision")
    else:
        stage.report.keep(where)


def _tell_surface(stage: Stage, link: Link) -> None:
    surface = next((one.surface for one in link.geometries if one.collides), None)
    if surface is None:
        return
    stage.report.keep(f"body {link.name!r} material")
    for name in ("rolling_friction", "spinning_friction"):
        if surface.get(name):
            stage.report.drop(f"body {link.name!r} material {name}", "materials of UsdPhysics have none")


def tell_rest(stage: Stage) -> None:
    """Tell of what UsdPhysics cannot say."""
    description, report = stage.description, stage.report
    for line in description.lines:
        report.drop(f"force {line.name!r}", "UsdPhysics has no springs between points")
    if stage.surfaces:
        rules = ", ".join(f"{name} by {rule}" for name, rule in description.combine.items())
        report.drop("rules of materials", f"UsdPhysics leaves to the simulator how they combine, here {rules}")
    for name in description.keyframes:
        report.drop(f"named state {name!r}", "a stage of USD has one state")
    for sensor in description.sensors:
        report.drop(f"sensor {sensor.name!r}", "UsdPhysics has no sensors")
    report.keep("start", "as the places and velocities of the prims")
