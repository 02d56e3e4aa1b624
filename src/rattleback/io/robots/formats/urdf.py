"""URDF: links, joints, geometry and materials, with mimic joints; loops from a file beside it.

Frames of joints are those of the child links; inertial frames may be turned. A link without ``inertial`` has no mass.
Effort and speed limits are data of the drive and act only through what drives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import FAR, WORLD, Coupling, Description, Geometry, Inertia, Joint, Link
from rattleback.io.robots.formats.loops import add_loops
from rattleback.io.robots.formats.urdf_extras import add_filters, add_frames, surface
from rattleback.io.robots.source.placing import along_axis, from_roll_pitch_yaw
from rattleback.shapes import Box, Capsule, Cylinder, Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.read import Source
    from rattleback.io.robots.source.xml_text import Node

    Floats = NDArray[np.float64]

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
    "spherical": "ball",
    "ball": "ball",
}
UNUSED = {
    "transmission": "motors are declared by the user; sim.joints takes efforts",
    "ros2_control": "it is for the controller of the real robot",
    "gazebo": "it is for another simulator",
    "sensor": "recorders measure bodies and joints",
}
DATA = "data in scene.robot.joints; only drives act"


def read(source: Source) -> Description:
    """The description of a URDF file."""
    assert source.document is not None
    root = source.document.root
    description = Description(root.get("name", "robot"))
    root.get("version")
    colours = {node.get("name"): _colour(node) for node in root.all("material")}
    for node in root.all("link"):
        link = _link(node, source, colours)
        if link.name in description.links:
            raise node.error(f"another link is called {link.name!r}, too.")
        description.links[link.name] = link
    if not description.links:
        raise root.error("there is no link.")
    for node in root.all("joint"):
        _add_joint(description, node)
    for tag, why in UNUSED.items():
        for node in root.all(tag):
            node.drop(why)
    add_frames(description, root)
    add_filters(description, root)
    _hang_on_world(description, source.base)
    add_loops(description, source)
    return description


def _hang_on_world(description: Description, base: str | None) -> None:
    """A root is fixed to the world, unless it is to float; a root called world is the world."""
    hanging = {joint.child for joint in description.joints.values()}
    for name in description.links:
        if name not in hanging and base != "floating":
            label = f"{name} base"
            description.joints[label] = Joint(label, "fixed", WORLD, name)


def _link(node: Node, source: Source, colours: dict[str, Any]) -> Link:
    link = Link(node.need("name"), f"line {node.line}, {node.path}")
    inertial = node.child("inertial")
    if inertial is not None:
        link.inertia = _inertia(inertial)
    material = surface(node)
    for tag in ("visual", "collision"):
        for shown in node.all(tag):
            geometry, colour = _geometry(shown, source, tag == "visual"), _shown_colour(shown, colours)
            link.unseen |= geometry is None and tag == "visual"
            if geometry is not None:
                geometry.colour = colour
                geometry.surface = material if geometry.collides else {}
                link.geometries.append(geometry)
    return link


def _inertia(node: Node) -> Inertia | None:
    frame = origin(node)
    mass_node, tensor_node = node.child("mass"), node.child("inertia")
    mass = 0.0 if mass_node is None else mass_node.number("value")
    if mass < 0.0:
        raise node.error(f"the mass is {mass:g} kg; it must not be below zero.")
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    xx, yy, zz, xy, xz, yz = (0.0 if tensor_node is None else tensor_node.number(name) for name in names)
    if mass == 0.0:
        if any((xx, yy, zz)):
            node.drop("its mass is zero, so that its moments are, too")
        return None
    own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turn = frame[:3, :3]
    return Inertia(mass, frame[:3, 3], turn @ own @ turn.T)


def origin(node: Node) -> Floats:
    """The frame that the element ``origin`` in an element says."""
    found = node.child("origin")
    if found is None:
        return np.eye(4)
    return from_roll_pitch_yaw(found.numbers("xyz", 3), found.numbers("rpy", 3))


def _geometry(node: Node, source: Source, seen: bool) -> Geometry | None:
    """What is seen or collides; None where it cannot be used."""
    node.get("name")
    inside = node.child("geometry")
    if inside is None:
        raise node.error("the element geometry is missing.")
    place = origin(node)
    shape = None
    for tag, make in SHAPES.items():
        if (found := inside.child(tag)) is not None:
            shape = make(found)
            break
    else:
        mesh = inside.child("mesh")
        if mesh is None:
            inside.drop("this reader knows box, cylinder, sphere, capsule and mesh")
            return None
        shape = _mesh(mesh, source, seen)
    return None if shape is None else Geometry(node.get("name"), shape, place, seen, not seen)


def _mesh(node: Node, source: Source, seen: bool) -> Any:
    found = source.meshes.find(node.need("filename"), node.numbers("scale", 3, (1.0, 1.0, 1.0)))
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


def _solid(kind: Any, node: Node, size: list[float]) -> Any:
    """A shape of a size; None, and a word, where it has none."""
    if min(size) < 0.0:
        raise node.error(f"the size is {min(size):g}; it must not be below zero.")
    if min(size) == 0.0:
        node.drop("its size is zero")
        return None
    return kind(*size)


def _box(node: Node) -> Any:
    return _solid(Box, node, node.numbers("size", 3).tolist())


def _cylinder(node: Node) -> Any:
    return _solid(Cylinder, node, [node.number("radius"), node.number("length")])


def _sphere(node: Node) -> Any:
    return _solid(Sphere, node, [node.number("radius")])


def _capsule(node: Node) -> Any:
    radius = node.number("radius")
    return _solid(Capsule, node, [radius, node.number("length") + 2.0 * radius])


SHAPES = {"box": _box, "cylinder": _cylinder, "sphere": _sphere, "capsule": _capsule}


def _colour(node: Node) -> Any:
    colour, texture = node.child("color"), node.child("texture")
    if texture is not None:
        texture.drop("bodies have one colour")
    return None if colour is None else tuple(colour.numbers("rgba", 4, (0.5, 0.5, 0.5, 1.0)).tolist())


def _shown_colour(node: Node, colours: dict[str, Any]) -> Any:
    material = node.child("material")
    if material is None:
        return None
    own, name = _colour(material), material.get("name")
    return own if own is not None else colours.get(name)


def _add_joint(description: Description, node: Node) -> None:
    """Add a joint, and its coupling."""
    name, kind = node.need("name"), node.need("type")
    if kind not in KINDS:
        raise node.error(f"the type {kind[:40]!r} is not known; it may be {', '.join(KINDS)}.")
    if name in description.joints:
        raise node.error(f"another joint is called {name!r}, too.")
    parent, child = (_end(description, node, tag) for tag in ("parent", "child"))
    axis = _axis(node)
    frame = along_axis(axis)
    joint = Joint(name, KINDS[kind], parent, child, origin(node) @ frame, frame, f"line {node.line}, {node.path}")
    _read_limits(joint, node, kind)
    dynamics = node.child("dynamics")
    if dynamics is not None:
        joint.damping, joint.friction_loss = dynamics.number("damping"), dynamics.number("friction")
        if min(joint.damping, joint.friction_loss) < 0.0:
            raise dynamics.error("damping and friction must not be below zero.")
    for tag in ("calibration", "safety_controller"):
        if (extra := node.child(tag)) is not None:
            extra.drop("it is for the controller of the real robot")
    description.joints[name] = joint
    mimic = node.child("mimic")
    if mimic is not None:
        coefficients = (mimic.number("offset"), mimic.number("multiplier", 1.0))
        where = f"line {mimic.line}, {mimic.path}"
        description.couplings.append(Coupling(name, mimic.need("joint"), coefficients, 0.0, where))


def _end(description: Description, node: Node, tag: str) -> str:
    found = node.child(tag)
    if found is None:
        raise node.error(f"the element {tag} is missing.")
    name = found.need("link")
    if name not in description.links:
        raise found.error(f"there is no link {name!r}.")
    return name


def _axis(node: Node) -> Floats:
    found = node.child("axis")
    axis = np.array([1.0, 0.0, 0.0]) if found is None else found.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        if node.get("type") in ("fixed", "floating"):
            return np.array([0.0, 0.0, 1.0])
        raise node.error("the axis is the zero vector.")
    return axis / length


def _read_limits(joint: Joint, node: Node, kind: str) -> None:
    limit = node.child("limit")
    if kind in ("revolute", "prismatic") and not (limit and {"lower", "upper"} & limit.attributes.keys()):
        node.approximate(f"a {kind} joint without limits moves without an end")
        kind = "continuous"
    if limit is None:
        return
    lower, upper = limit.number("lower", infinite=True), limit.number("upper", infinite=True)
    if lower == upper == 0.0 and kind in ("revolute", "prismatic"):
        limit.approximate("both limits are zero, as in files whose authors set none; the joint moves without an end")
        kind = "continuous"
    joint.effort_limit, joint.velocity_limit = (limit.number(name, np.inf, True) for name in ("effort", "velocity"))
    for name in ("effort", "velocity"):
        if name in limit.attributes:
            limit.keep(DATA, name)
    if kind not in ("revolute", "prismatic"):
        for name in ("lower", "upper"):
            if limit.number(name, infinite=True):
                limit.drop(f"a {kind} joint has no limits", name)
        return
    if lower > upper:
        raise limit.error(f"the lower limit {lower:g} is above the upper one, {upper:g}.")
    pair = None if lower <= -FAR else lower, None if upper >= FAR else upper
    joint.limits = (pair,) if pair != (None, None) else ()
