"""Joints of SDF: kinds, axes in any frame, limits, dynamics, mimic axes and gearboxes.

| SDF | becomes |
|---|---|
| ``revolute``, ``continuous``, ``prismatic``, ``fixed``, ``ball``, ``universal``, ``screw`` | the joint |
| ``revolute2`` with perpendicular axes | a universal joint, which is the same |
| ``mimic`` of an axis | a joint that follows |
| ``gearbox`` | its hinges follow each other: θ₂ = −ratio · θ₁, both seen from the reference body |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Coupling, Joint
from rattleback.io.robots.formats.sdf_frames import MODEL
from rattleback.io.robots.formats.sdf_values import drop_unused, text_of, value_of
from rattleback.io.robots.source.placing import along_axis, inverse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.formats.sdf import Described
    from rattleback.io.robots.formats.sdf_frames import Scope
    from rattleback.io.robots.source.xml_text import Node

    Floats = NDArray[np.float64]

KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "ball": "ball",
    "universal": "universal",
    "screw": "screw",
    "revolute2": "universal",
}
GEARBOX = "gearbox"
# Axes this far from a right angle, or from each other, are not perpendicular, or not parallel.
OFF = 1e-6


def add_joints(described: Described) -> None:
    """Add all joints, then what couples them."""
    for node, scope in described.joint_nodes:
        if node.get("type") != GEARBOX:
            _add_joint(described, node, scope)
    for node, scope in described.joint_nodes:
        if node.get("type") == GEARBOX and (reason := _add_gearbox(described, node, scope)):
            node.drop(reason)


def _add_joint(described: Described, node: Node, scope: Scope) -> None:
    """Add a joint between two links."""
    kind, name = node.need("type"), scope.resolve(node.need("name"))
    if kind not in KINDS:
        raise node.error(f"the type {kind[:40]!r} is not known; it may be {', '.join((*KINDS, GEARBOX))}.")
    ends = [described.link_of(scope.resolve(text_of(node, tag)), node) for tag in ("parent", "child")]
    own = described.frames.in_world(name, node)
    axes = _axis_frame(described, node, scope, own)
    if axes is None:
        node.drop("the axes of a revolute2 joint that are not perpendicular make no joint that is known here")
        return
    frame = own @ axes
    first, second = (
        inverse(np.eye(4) if end == WORLD else described.frames.in_world(end, node)) @ frame for end in ends
    )
    joint = Joint(name, KINDS[kind], ends[0], ends[1], first, second, f"line {node.line}, {node.path}", start=0.0)
    if joint.kind in ("ball", "fixed", "universal"):
        joint.start = None
    if joint.kind == "screw":
        joint.pitch = _pitch(node)
    _read_axis(described, joint, node, scope, kind)
    drop_unused(node)
    described.description.joints[name] = joint


def _axis_frame(described: Described, node: Node, scope: Scope, own: Floats) -> Floats | None:
    """The frame in that of the joint whose z axis is the axis; x is the second one, where there are two."""
    axis, kind = _direction(described, node.child("axis"), scope, own), node.get("type")
    if KINDS[kind] != "universal":
        return along_axis(axis)
    second = _direction(described, node.child("axis2"), scope, own)
    if abs(axis @ second) > OFF:
        if kind == "revolute2":
            return None
        raise node.error("the axes of a universal joint must be perpendicular.")
    found = np.eye(4)
    found[:3, :3] = np.stack([second, np.cross(axis, second), axis], axis=-1)
    return found


def _direction(described: Described, axis: Node | None, scope: Scope, own: Floats) -> Floats:
    """A direction of unit length in the frame of a joint."""
    if axis is None:
        return np.array([0.0, 0.0, 1.0])
    node = axis.child("xyz")
    direction = np.array([0.0, 0.0, 1.0]) if node is None else node.values(3)
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        raise axis.error("the axis is the zero vector.")
    expressed = "" if node is None else node.get("expressed_in")
    old = axis.child("use_parent_model_frame")
    if old is not None and old.flag(""):
        expressed = MODEL
    if expressed:
        frame = described.frames.in_world(scope.resolve(expressed), axis)
        direction = own[:3, :3].T @ frame[:3, :3] @ direction
    return np.asarray(direction / length)


def _read_axis(described: Described, joint: Joint, node: Node, scope: Scope, kind: str) -> None:
    limits: list[Any] = []
    for tag in ("axis", "axis2"):
        axis = node.child(tag)
        if axis is None:
            continue
        limits.append(_limits(joint, axis, kind))
        dynamics = axis.child("dynamics")
        if dynamics is not None:
            joint.damping, joint.friction_loss = value_of(dynamics, "damping"), value_of(dynamics, "friction")
            joint.stiffness, joint.rest = value_of(dynamics, "spring_stiffness"), value_of(dynamics, "spring_reference")
        for mimic in axis.all("mimic"):
            _add_mimic(described, joint, mimic, scope)
        initial = axis.child("initial_position")
        if initial is not None:
            joint.start = initial.value()
    joint.limits = tuple(limits) if any(limits) else ()


def _add_mimic(described: Described, joint: Joint, node: Node, scope: Scope) -> None:
    leader = scope.resolve(node.need("joint"))
    node.get("axis")
    ratio, offset, origin = (value_of(node, tag) for tag in ("multiplier", "offset", "reference"))
    where = f"line {node.line}, {node.path}"
    described.description.couplings.append(Coupling(joint.name, leader, (offset, ratio), origin, where))


def _add_gearbox(described: Described, node: Node, scope: Scope) -> str:
    """Couple the two hinges that a gearbox lies between; why not, where it cannot be."""
    reference = node.child("gearbox_reference_body")
    if reference is None:
        return "a gearbox without a gearbox_reference_body says nothing of its hinges"
    base = described.link_of(scope.resolve(reference.text.strip()), node)
    own = described.frames.in_world(scope.resolve(node.need("name")), node)
    hinges = []
    for tag, axis_tag in (("parent", "axis"), ("child", "axis2")):
        link = described.link_of(scope.resolve(text_of(node, tag)), node)
        axis = node.child(axis_tag)
        direction = own[:3, :3] @ _direction(described, axis, scope, own)
        found = _hinge_between(described, base, link, direction)
        if found is None:
            return f"no hinge along its {axis_tag} joins {link or 'world'!r} to its reference body {base or 'world'!r}"
        hinges.append(found)
    (leader, first), (follower, second) = hinges
    ratio = -value_of(node, "gearbox_ratio", 1.0) * first * second
    where = f"line {node.line}, {node.path}"
    described.description.couplings.append(Coupling(follower, leader, (0.0, ratio), 0.0, where))
    return ""


def _hinge_between(described: Described, base: str, link: str, direction: Floats) -> tuple[str, float] | None:
    """The hinge from a link to another along a direction of the world, and the sign of its angle about that."""
    links = described.description.links
    for joint in described.description.joints.values():
        if joint.kind != "revolute" or {joint.parent, joint.child} != {base, link}:
            continue
        place = np.eye(4) if joint.parent == WORLD else links[joint.parent].place
        along = float((place @ joint.frame_parent)[:3, 2] @ direction)
        if abs(abs(along) - 1.0) < OFF:
            return joint.name, float(np.sign(along)) * (1.0 if joint.parent == base else -1.0)
    return None


def _limits(joint: Joint, axis: Node, kind: str) -> Any:
    limit = axis.child("limit")
    if limit is None:
        return None
    lower, upper = (value_of(limit, tag, end, True) for tag, end in (("lower", -np.inf), ("upper", np.inf)))
    joint.effort_limit, joint.velocity_limit = (value_of(limit, tag, np.inf, True) for tag in ("effort", "velocity"))
    if kind == "continuous":
        return None
    # Limits beyond this mean none, as the format says.
    pair = tuple(None if abs(end) >= 1e16 else end for end in (lower, upper))
    if lower > upper:
        raise limit.error(f"the lower limit {lower:g} is above the upper one, {upper:g}.")
    return None if pair == (None, None) else pair


def _pitch(node: Node) -> float:
    """Way of a screw for one turn [m]."""
    new, old = node.child("screw_thread_pitch"), node.child("thread_pitch")
    if new is not None:
        return new.value()
    if old is not None:
        # Radians for a metre, the other way round, in files of old.
        return -2.0 * np.pi / old.value(1.0) if old.value(1.0) else 0.0
    return 1.0
