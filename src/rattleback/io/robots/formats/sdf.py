"""SDF: models of links, joints and frames, nested or in a world, with poses relative to each other.

A joint is placed in its child link; its axis is said in its own frame, in the model's or in any other. Links may hang
on several joints: what does not fit a tree closes a loop. A model is free unless it is static or a joint holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.io.robots.description import WORLD, Description, Inertia, Joint, Link, Site
from rattleback.io.robots.formats.graph import plant
from rattleback.io.robots.formats.loops import add_loops
from rattleback.io.robots.formats.sdf_frames import MODEL, Frames, Known, Scope, pose_of
from rattleback.io.robots.formats.sdf_geometry import add_geometry
from rattleback.io.robots.formats.sdf_includes import Includes, included_model
from rattleback.io.robots.formats.sdf_joints import add_joints
from rattleback.io.robots.formats.sdf_values import drop_unused, text_of, value_of
from rattleback.io.robots.source.placing import inverse

if TYPE_CHECKING:
    from rattleback.io.robots.read import Source
    from rattleback.io.robots.source.xml_text import Node


def read(source: Source) -> Description:
    """The description of an SDF file."""
    assert source.document is not None
    root = source.document.root
    root.get("version")
    world = root.child("world")
    top = root if world is None else world
    models = top.all("model")
    if not models and not top.all("include"):
        raise root.error("there is no model.")
    described = Described(Description(models[0].get("name") if models else ""), source)
    if world is not None:
        described.read_world(world)
    if world is None and len(models) == 1 and not top.all("include"):
        described.add_model(models[0], Scope(), Scope("", MODEL))
    else:
        described.add_contents(top, Scope())
    described.finish()
    add_joints(described)
    described.description.name = described.description.name or "robot"
    plant(described.description)
    add_loops(described.description, source)
    return described.description


class Described:
    """A description under way.

    Attributes:
        description: What is made.
        frames: Poses by scoped name.
        joint_nodes: Joints with the models they are in.
    """

    def __init__(self, description: Description, source: Source) -> None:
        self.description = description
        self.includes = Includes(source)
        self.frames = Frames()
        self.joint_nodes: list[tuple[Node, Scope]] = []
        self._links: list[tuple[Node, str, bool]] = []
        self._sites: list[tuple[Node, str]] = []
        self._placed: list[tuple[str, str]] = []

    def read_world(self, world: Node) -> None:
        """Read name, gravity and length of a step; everything else of methods is dropped."""
        self.description.name = world.get("name") or "world"
        gravity = world.child("gravity")
        if gravity is not None:
            x, y, z = gravity.values(3).tolist()
            self.description.gravity = x, y, z
        physics = world.child("physics")
        if physics is None:
            return
        for name in physics.attributes:
            physics.drop("methods are chosen with the Simulation", name)
        for node in physics.children:
            if node.tag != "max_step_size":
                node.drop("methods are chosen with the Simulation")
        step = value_of(physics, "max_step_size")
        self.description.time_step = step if step > 0.0 else None

    def add_model(
        self, node: Node, outer: Scope, scope: Scope, still: bool = False, include: Node | None = None
    ) -> None:
        """Add a model of its own scope inside another; what includes it may place it and hold it still."""
        placing = node if include is None or include.child("pose") is None else include
        for own in node.all("pose") if placing is include else ():
            own.drop("the include places the model")
        pose, relative = pose_of(placing)
        above = outer.resolve(relative or MODEL)
        self.frames.add(scope.model, Known(pose, above, placing, ""))
        placement = node.get("placement_frame")
        if include is not None and include.child("placement_frame") is not None:
            placement = text_of(include, "placement_frame")
        if placement:
            self._placed.append((scope.model, scope.resolve(placement)))
        for told in (node, include):
            static = None if told is None else told.child("static")
            still = still or (static is not None and static.flag(""))
        before = len(self.description.links)
        self.add_contents(node, scope, still)
        first = list(self.description.links)[before:][:1]
        canonical = node.get("canonical_link")
        attached = scope.resolve(canonical) if canonical else "".join(first)
        self.frames.known[scope.model] = self.frames.known[scope.model]._replace(attached=attached)

    def add_contents(self, node: Node, scope: Scope, still: bool = False) -> None:
        """Add what a model or a world holds, the models in it last."""
        for link in node.all("link"):
            self._add_link(link, scope, still)
        for frame in node.all("frame"):
            name, (pose, relative) = scope.resolve(frame.need("name")), pose_of(frame)
            attached = scope.resolve(frame.get("attached_to") or MODEL)
            self.frames.add(name, Known(pose, scope.resolve(relative) if relative else attached, frame, attached))
            self._sites.append((frame, name))
        for joint in node.all("joint"):
            name, (pose, relative) = scope.resolve(joint.need("name")), pose_of(joint)
            child = scope.resolve(text_of(joint, "child"))
            self.frames.add(name, Known(pose, scope.resolve(relative) if relative else child, joint, child))
            self.joint_nodes.append((joint, scope))
        drop_unused(node)
        for model in node.all("model"):
            self.add_model(model, scope, _scope_of(scope.resolve(model.need("name"))), still)
        for include in node.all("include"):
            self._add_include(include, scope, still)

    def _add_include(self, include: Node, scope: Scope, still: bool) -> None:
        with self.includes.opened(include) as document:
            model = None if document is None else included_model(include, document)
            if model is None:
                return
            own, told = model.need("name"), include.child("name")
            name = scope.resolve(own if told is None else text_of(include, "name"))
            inside = _scope_of(name)
            if include.flag("merge"):
                inside = Scope(scope.prefix, f"{name}::{MODEL}")
            drop_unused(include)
            self.add_model(model, scope, inside, still, include)

    def _add_link(self, node: Node, scope: Scope, still: bool) -> None:
        name = scope.resolve(node.need("name"))
        pose, relative = pose_of(node)
        self.frames.add(name, Known(pose, scope.resolve(relative or MODEL), node, name))
        self.description.links[name] = Link(name, f"line {node.line}, {node.path}")
        self._links.append((node, name, still))
        drop_unused(node)

    def finish(self) -> None:
        """Place the links, and read what needs all frames to be known; the models in models are placed first."""
        for model, placement in reversed(self._placed):
            self.frames.place_by(model, placement)
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
                    add_geometry(link, shown, self.includes.source_of(node))
            if still:
                label = f"{name} mount"
                self.description.joints[label] = Joint(label, "fixed", WORLD, name, frame_parent=link.place)
        for node, name in self._sites:
            on = self.link_of(name, node)
            above = np.eye(4) if on == WORLD else self.description.links[on].place
            self.description.sites[name] = Site(name, on, inverse(above) @ self.frames.in_world(name, node))

    def link_of(self, name: str, node: Node) -> str:
        """The link that a frame moves with; that of a model is its first one."""
        seen: set[str] = set()
        while name and name not in self.description.links:
            if name in seen or name not in self.frames.known:
                raise node.error(f"the frame is attached to {name!r}, which is on no link.")
            seen.add(name)
            name = self.frames.known[name].attached
        return name


def _scope_of(name: str) -> Scope:
    """The inside of a model of its own name."""
    return Scope(name, name)


def _inertia(node: Node) -> Inertia | None:
    frame, _ = pose_of(node)
    mass, tensor_node = value_of(node, "mass", 1.0), node.child("inertia")
    if mass < 0.0:
        raise node.error(f"the mass is {mass:g} kg; it must not be below zero.")
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    found = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    if tensor_node is not None:
        found = [value_of(tensor_node, name, default) for name, default in zip(names, found, strict=True)]
    xx, yy, zz, xy, xz, yz = found
    turn = frame[:3, :3]
    tensor = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    return Inertia(mass, frame[:3, 3], tensor) if mass > 0.0 else None
