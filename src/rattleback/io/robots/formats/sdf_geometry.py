"""Geometry of SDF: shapes, colours and friction of a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import Geometry
from rattleback.io.robots.formats.sdf_frames import pose_of
from rattleback.io.robots.source.placing import along_axis
from rattleback.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Link
    from rattleback.io.robots.read import Source
    from rattleback.io.robots.source.xml_text import Node

    Floats = NDArray[np.float64]

UNUSED = {
    "transparency": "bodies have one colour",
    "cast_shadows": "the viewer has lights of its own",
    "laser_retro": "there are no lasers",
    "max_contacts": "manifolds are reduced by the narrow phase",
    "meta": "it only says what is shown",
    "plugin": "plugins are code",
    "visibility_flags": "it only says what is shown",
}


def add_geometry(link: Link, node: Node, source: Source) -> None:
    """Add what is seen or collides."""
    name, seen = node.get("name"), node.tag == "visual"
    pose, _ = pose_of(node)
    colour, surface = _colour(node), _surface(node)
    for tag, why in UNUSED.items():
        for found in node.all(tag):
            found.drop(why)
    inside = node.child("geometry")
    if inside is None:
        raise node.error("the element geometry is missing.")
    shape, own = _shape(inside, source, seen)
    if shape is not None:
        link.geometries.append(Geometry(name, shape, pose @ own, seen, not seen, colour, surface))


def _shape(node: Node, source: Source, seen: bool) -> tuple[Any, Floats]:
    """A shape and its own frame; None for what is not here."""
    for tag, sizes in SIZES.items():
        found = node.child(tag)
        if found is not None:
            return _solid(found, tag, sizes), np.eye(4)
    plane, mesh = node.child("plane"), node.child("mesh")
    if plane is not None:
        normal, size = plane.child("normal"), plane.child("size")
        if size is not None:
            size.approximate("the plane is infinite")
        return Plane(), along_axis((0.0, 0.0, 1.0) if normal is None else _direction(normal))
    if mesh is not None:
        return _mesh(mesh, source, seen), np.eye(4)
    if node.child("empty") is None:
        node.drop("this reader knows box, capsule, cylinder, ellipsoid, sphere, plane and mesh")
    return None, np.eye(4)


SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "ellipsoid": ("radii",),
}


def _direction(node: Node) -> Floats:
    found = node.values(3)
    if not np.linalg.norm(found):
        raise node.error("the normal is the zero vector.")
    return found


def _solid(node: Node, tag: str, names: tuple[str, ...]) -> Any:
    values: list[float] = []
    for name in names:
        found = node.child(name)
        if found is None:
            raise node.error(f"the element {name} is missing.")
        values.extend(found.values(3).tolist() if tag in ("box", "ellipsoid") else [found.value()])
    if min(values) < 0.0:
        raise node.error(f"the size is {min(values):g}; it must not be below zero.")
    if min(values) == 0.0:
        node.drop("its size is zero")
        return None
    if tag == "capsule":
        values[1] += 2.0 * values[0]
    return {"box": Box, "sphere": Sphere, "cylinder": Cylinder, "capsule": Capsule, "ellipsoid": Ellipsoid}[tag](
        *values
    )


def _mesh(node: Node, source: Source, seen: bool) -> Any:
    uri, scale = node.child("uri"), node.child("scale")
    if uri is None:
        raise node.error("the element uri is missing.")
    found = source.meshes.find(uri.text.strip(), (1.0, 1.0, 1.0) if scale is None else scale.values(3))
    for extra in node.all("submesh"):
        extra.approximate("the whole mesh is taken")
    if found.mesh is None:
        node.drop(found.reason)
        return None
    if seen:
        return found.mesh
    hull = source.meshes.hull(found.mesh)
    if hull is None:
        node.drop("it is flat and does not collide")
    else:
        node.approximate("its convex hull collides")
    return hull


def _colour(node: Node) -> Any:
    material = node.child("material")
    if material is None:
        return None
    diffuse = material.child("diffuse")
    for extra in material.children:
        if extra is not diffuse:
            extra.drop("bodies have one colour")
    if diffuse is None or len(diffuse.text.split()) not in (3, 4):
        return None
    values = diffuse.values(len(diffuse.text.split())).tolist()
    return (*values[:3], values[3] if len(values) > 3 else 1.0)


def _surface(node: Node) -> dict[str, Any]:
    """Friction and restitution of a collision."""
    surface, found = node.child("surface"), {}
    if surface is None:
        return {}
    friction, bounce = surface.child("friction"), surface.child("bounce")
    ode = None if friction is None else friction.child("ode")
    mu = None if ode is None else ode.child("mu")
    if mu is not None:
        found["friction"] = max(0.0, mu.value(1.0, True))
        if not np.isfinite(found["friction"]):
            mu.drop("a coefficient of friction is finite")
            del found["friction"]
    restitution = None if bounce is None else bounce.child("restitution_coefficient")
    if restitution is not None:
        found["restitution"] = min(max(0.0, restitution.value()), 1.0)
    for part in (ode, friction, bounce, surface):
        for extra in [] if part is None else part.children:
            if not extra.visited:
                extra.drop("contacts are exact here, not soft, and friction is the same in all directions")
    return found
