"""SDF: models of links, joints and frames, nested or in a world, with poses relative to each other.

A joint is placed in its child link; its axis is said in its own frame, in the model's or in any other. Links may hang
on several joints: what does not fit a tree closes a loop. A model is free unless it is static or a joint holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Coupling, Description, Inertia, Joint, Link, Site
from rattleback.io.robots.formats.graph import plant
from rattleback.io.robots.formats.loops import add_loops
from rattleback.io.robots.formats.sdf_frames import MODEL, Frames, pose_of
from rattleback.io.robots.formats.sdf_geometry import add_geometry
from rattleback.io.robots.source.placing import along_axis, inverse

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
    "ball": "ball",
    "universal": "universal",
    "screw": "screw",
}
UNUSED = {
    "plugin": "plugins are code",
    "light": "the viewer has lights of its own",
    "scene": "the viewer has settings of its own",
    "gui": "the viewer has settings of its own",
    "include": "models of other folders are not opened",
    "actor": "there are no actors",
    "atmosphere": "a medium is added with rb.Drag",
    "wind": "a medium is added with rb.Drag",
    "magnetic_field": "there are no magnets",
    "gripper": "drives are declared by the user",
    "sensor": "recorders measure bodies and joints",
    "self_collide": "links that no joint holds together collide",
    "allow_auto_disable": "bodies sleep by the scheme's own rule",
    "enable_wind": "a medium is added with rb.Drag",
}


def read(source: Source) -> Description:
    """The description of an SDF file."""
    assert source.document is not None
    root = source.document.root
    root.get("version")
    world = root.child("world")
    top = root if world is None else world
    models = top.all("model")
    if not models:
        raise root.error("there is no model.")
    described = Described(Description(models[0].get("name") or "robot"), source)
    if world is not None:
        described.description.name = world.get("name") or "world"
        gravity = world.child("gravity")
        if gravity is not None:
            x, y, z = gravity.values(3).tolist()
            described.description.gravity = x, y, z
        described.read_step(world)
        _drop_unused(world)
    for model in models:
        described.add_model(model, "", single=world is None and len(models) == 1)
    for node, scope in described.joint_nodes:
        described.add_joint(node, scope)
    described.finish()
    plant(described.description)
    add_loops(described.description, source)
    return described.description


def _drop_unused(node: Node) -> None:
    for tag, why in UNUSED.items():
        for found in node.all(tag):
            found.drop(why)


class Described:
    """A description under way.

    Attributes:
        description: What is made.
        source: The file.
        frames: Poses by scoped name.
        joint_nodes: Joints with the models they are in.
    """

    def __init__(self, description: Description, source: Source) -> None:
        self.description, self.source = description, source
        self.frames = Frames()
        self.joint_nodes: list[tuple[Node, str]] = []
        self._links: list[tuple[Node, str, bool]] = []
        self._sites: list[tuple[Node, str, str]] = []
        self._models: list[Node] = []

    def read_step(self, world: Node) -> None:
        """Read the length of a step; everything else of methods is dropped."""
        physics = world.child("physics")
        if physics is None:
            return
        for name in physics.attributes:
            physics.drop("methods are chosen with the Simulation", name)
        for node in physics.children:
            if node.tag != "max_step_size":
                node.drop("methods are chosen with the Simulation")
        step = _value(physics, "max_step_size")
        self.description.time_step = step if step > 0.0 else None

    def add_model(self, node: Node, outer: str, single: bool = False) -> None:
        """Add a model; the only one of a file gives its links no scope."""
        self._models.append(node)
        scope = "" if single else self.frames.resolve(outer, node.need("name"))
        pose, relative = pose_of(node)
        above = self.frames.resolve(outer, relative or MODEL) if (outer or relative) else ""
        own = self.frames.resolve(scope, MODEL)
        self.frames.add(own, pose, above, node)
        if placement := node.get("placement_frame"):
            node.drop(f"the model is placed by its own frame, not by {placement!r}", "placement_frame")
        static = node.child("static")
        still = static is not None and static.flag("")
        for link in node.all("link"):
            self._add_link(link, scope, still)
        for frame in node.all("frame"):
            self._add_site(frame, scope, own)
        for joint in node.all("joint"):
            name = self.frames.resolve(scope, joint.need("name"))
            pose, relative = pose_of(joint)
            self.frames.add(name, pose, self.frames.resolve(scope, relative or _text(joint, "child")), joint)
            self.joint_nodes.append((joint, scope))
        _drop_unused(node)
        for model in node.all("model"):
            self.add_model(model, scope)

    def _add_site(self, node: Node, scope: str, model: str) -> None:
        name = self.frames.resolve(scope, node.need("name"))
        pose, relative = pose_of(node)
        attached = node.get("attached_to")
        self.frames.add(name, pose, self.frames.resolve(scope, relative or attached or MODEL), node)
        self._sites.append((node, name, self.frames.resolve(scope, attached) if attached else model))

    def _add_link(self, node: Node, scope: str, still: bool) -> None:
        name = self.frames.resolve(scope, node.need("name"))
        pose, relative = pose_of(node)
        self.frames.add(name, pose, self.frames.resolve(scope, relative or MODEL), node)
        if name in self.description.links:
            raise node.error(f"another link is called {name!r}, too.")
        self.description.links[name] = Link(name, f"line {node.line}, {node.path}")
        self._links.append((node, name, still))
        _drop_unused(node)

    def finish(self) -> None:
        """Place the links, and read what needs all frames to be known."""
        for node, name, still in self._links:
            link = self.description.links[name]
            link.place = self.frames.in_world(name, node)
            inertial = node.child("inertial")
            if inertial is not None:
                link.inertia = _inertia(inertial)
            elif not still:
                link.inertia = Inertia(1.0, np.zeros(3), np.eye(3))
                node.keep("it has no inertial; the format gives it 1 kg and moments of 1 kg m²")
            gravity = node.child("gravity")
            if gravity is not None and not gravity.flag("", True):
                link.gravity_compensation = 1.0
            for tag in ("visual", "collision"):
                for shown in node.all(tag):
                    add_geometry(link, shown, self.source)
            if still:
                label = f"{name} mount"
                self.description.joints[label] = Joint(label, "fixed", WORLD, name, frame_parent=link.place)
        for node, name, attached in self._sites:
            link_name = self._link_of(attached, node)
            above = np.eye(4) if link_name == WORLD else self.description.links[link_name].place
            place = inverse(above) @ self.frames.in_world(name, node)
            self.description.sites[name] = Site(name, link_name, place)

    def _link_of(self, name: str, node: Node) -> str:
        """The link that a frame moves with; that of a model is its first one."""
        seen: set[str] = set()
        while name and name not in self.description.links:
            if name in seen or name not in self.frames.known:
                raise node.error(f"the frame is attached to {name!r}, which is on no link.")
            seen.add(name)
            known = self.frames.known[name][2]
            if known.tag == "model":
                scope = name.removesuffix(MODEL)
                name = next((link for link in self.description.links if link.startswith(scope)), "")
            elif known.tag == "joint":
                name = self.frames.resolve(name.rpartition("::")[0], _text(known, "child"))
            else:
                attached = known.get("attached_to")
                name = self.frames.resolve(name.rpartition("::")[0], attached or MODEL)
        return name

    def add_joint(self, node: Node, scope: str) -> None:
        """Add a joint between two links."""
        kind, name = node.need("type"), self.frames.resolve(scope, node.need("name"))
        if kind not in KINDS:
            if kind in ("revolute2", "gearbox"):
                node.drop(f"a {kind} joint has no counterpart")
                return
            raise node.error(f"the type {kind[:40]!r} is not known; it may be {', '.join(KINDS)}.")
        ends = [self._link_of(self.frames.resolve(scope, _text(node, tag)), node) for tag in ("parent", "child")]
        own = self.frames.in_world(name, node)
        frame = own @ self._axis_frame(node, scope, own, kind)
        first, second = (
            inverse(np.eye(4) if end == WORLD else self.frames.in_world(end, node)) @ frame for end in ends
        )
        joint = Joint(name, KINDS[kind], ends[0], ends[1], first, second, f"line {node.line}, {node.path}", start=0.0)
        if joint.kind in ("ball", "fixed", "universal"):
            joint.start = None
        if joint.kind == "screw":
            joint.pitch = _pitch(node)
        self._read_axis(joint, node, scope, kind)
        _drop_unused(node)
        self.description.joints[name] = joint

    def _axis_frame(self, node: Node, scope: str, own: Floats, kind: str) -> Floats:
        """The frame in that of the joint whose z axis is the axis; for a universal joint x is the second one."""
        axis = self._direction(node.child("axis"), scope, own)
        if kind != "universal":
            return along_axis(axis)
        second = self._direction(node.child("axis2"), scope, own)
        if abs(axis @ second) > 1e-6:
            raise node.error("the axes of a universal joint must be perpendicular.")
        found = np.eye(4)
        found[:3, :3] = np.stack([second, np.cross(axis, second), axis], axis=-1)
        return found

    def _direction(self, axis: Node | None, scope: str, own: Floats) -> Floats:
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
            frame = self.frames.in_world(self.frames.resolve(scope, expressed), axis)
            direction = own[:3, :3].T @ frame[:3, :3] @ direction
        return np.asarray(direction / length)

    def _read_axis(self, joint: Joint, node: Node, scope: str, kind: str) -> None:
        limits: list[Any] = []
        for tag in ("axis", "axis2"):
            axis = node.child(tag)
            if axis is None:
                continue
            limits.append(_limits(joint, axis, kind))
            dynamics = axis.child("dynamics")
            if dynamics is not None:
                joint.damping, joint.friction_loss = _value(dynamics, "damping"), _value(dynamics, "friction")
                joint.stiffness, joint.rest = _value(dynamics, "spring_stiffness"), _value(dynamics, "spring_reference")
            for mimic in axis.all("mimic"):
                self._add_mimic(joint, mimic, scope)
            initial = axis.child("initial_position")
            if initial is not None:
                joint.start = initial.value()
        joint.limits = tuple(limits) if any(limits) else ()

    def _add_mimic(self, joint: Joint, node: Node, scope: str) -> None:
        leader = self.frames.resolve(scope, node.need("joint"))
        node.get("axis")
        ratio, offset, origin = (_value(node, tag) for tag in ("multiplier", "offset", "reference"))
        where = f"line {node.line}, {node.path}"
        self.description.couplings.append(Coupling(joint.name, leader, (offset, ratio), origin, where))


def _text(node: Node, tag: str) -> str:
    """The text of an element in an element."""
    found = node.child(tag)
    if found is None or not found.text.strip():
        raise node.error(f"the element {tag} is missing.")
    return found.text.strip()


def _value(node: Node, tag: str, default: float = 0.0, infinite: bool = False) -> float:
    found = node.child(tag)
    return default if found is None else found.value(default, infinite)


def _inertia(node: Node) -> Inertia | None:
    frame, _ = pose_of(node)
    mass, tensor_node = _value(node, "mass", 1.0), node.child("inertia")
    if mass < 0.0:
        raise node.error(f"the mass is {mass:g} kg; it must not be below zero.")
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    found = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    if tensor_node is not None:
        found = [_value(tensor_node, name, default) for name, default in zip(names, found, strict=True)]
    xx, yy, zz, xy, xz, yz = found
    turn = frame[:3, :3]
    tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    return Inertia(mass, frame[:3, 3], tensor) if mass > 0.0 else None


def _limits(joint: Joint, axis: Node, kind: str) -> Any:
    limit = axis.child("limit")
    if limit is None:
        return None
    lower, upper = (_value(limit, tag, end, True) for tag, end in (("lower", -np.inf), ("upper", np.inf)))
    joint.effort_limit, joint.velocity_limit = (_value(limit, tag, np.inf, True) for tag in ("effort", "velocity"))
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
