"""URDF: links, joints and what each link looks like and collides with; loops in a YAML file beside it.

URDF has one root and joints at the origin of the frame of their child. The root is a link called ``world``; the frame
of a link that hangs by a joint elsewhere is moved to the joint, with its mass and its shapes, and its own becomes a
link called ``link frame``. Coordinates are zero where the frames of a joint coincide, whatever the configuration of the
scene.

| joint | URDF |
|---|---|
| revolute | ``revolute`` or, without limits, ``continuous`` |
| prismatic, fixed, planar, free | ``prismatic``, ``fixed``, ``planar``, ``floating`` |
| universal | two hinges with a link without mass between |
| cylindrical | a slide and a hinge |
| screw | a slide and a hinge, the slide mimics the hinge |
| ball | three hinges about x, y and z, singular where the middle one is at a right angle |
| one that closes a loop | frames in a YAML file beside it, as ``robot.yaml`` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Inertia
from rattleback.io.robots.source.placing import inverse
from rattleback.io.robots.survey.borrowed import ANY
from rattleback.io.robots.writers.names import Names
from rattleback.io.robots.writers.urdf.geometry import add_geometries
from rattleback.io.robots.writers.urdf.joints import CHAINS, add_joint, posed
from rattleback.io.robots.writers.urdf.rest import add_couplings, tell_rest, write_loops
from rattleback.io.robots.writers.xml_tree import document, element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Joint, Link
    from rattleback.io.robots.writers.writing import Writing

    Floats = NDArray[np.float64]

ABLE = tuple(CHAINS)
MASSLESS = ANY
SAME = 1e-12
# What the name of a link's own frame has at its end, where the link's frame in the file lies elsewhere.
OWN = " frame"


def write(writing: Writing) -> bytes:
    """The bytes of the file."""
    return Robot(writing).document()


class Robot:
    """A URDF robot under way.

    Attributes:
        writing: The file.
        root: Its outermost element.
        links: Names of links in the file.
        joints: Names of joints in the file.
        origins: Frame of each link in the file in that of the description (4, 4).
        single: Name in the file of the joint that has the one coordinate of a joint.
    """

    def __init__(self, writing: Writing) -> None:
        self.writing, self.description, self.report = writing, writing.description, writing.report
        self.root = element(None, "robot", name=self.description.name)
        self.links, self.joints = Names(self.report, "link"), Names(self.report, "joint")
        self.origins: dict[str, Floats] = {WORLD: np.eye(4)}
        self.single: dict[str, str] = {}
        # The world has a name of its own here, which no link can have.
        self._world = self.links.add("world")
        self._kept: dict[str, str] = {}

    def link(self, name: str) -> str:
        """Name in the file of a link, or of the world."""
        return self._world if name == WORLD else self._kept[name]

    def document(self) -> bytes:
        """The whole file."""
        hanging = self.writing.hanging()
        for joint in [joint for joints in hanging.values() for joint in joints]:
            self._kept[joint.child] = self.links.add(joint.child)
            self.origins[joint.child] = _origin(joint)
        element(self.root, "link", name=self._world)
        stack = hanging.get(WORLD, [])[::-1]
        while stack:
            joint = stack.pop()
            self._add_link(self.description.links[joint.child])
            add_joint(self, joint)
            stack.extend(hanging.get(joint.child, [])[::-1])
        self._add_frames()
        add_couplings(self)
        write_loops(self)
        tell_rest(self)
        return document(self.root)

    def _add_link(self, link: Link) -> None:
        made = element(self.root, "link", name=self._kept[link.name])
        back = inverse(self.origins[link.name])
        if link.inertia is not None:
            add_inertia(made, link.inertia, back)
        add_geometries(self, made, link, back)
        moved = np.abs(back - np.eye(4)).max() > SAME
        told = (
            f"its frame lies at its joint, its own is the link {link.name + OWN!r}; mass and shapes are where they were"
        )
        self.report.keep(link.where, told if moved else "")

    def _add_frames(self) -> None:
        """Add named frames as links without mass that are fixed to others."""
        for site in self.description.sites.values():
            if site.link == WORLD and site.name == self._world and np.allclose(site.place, np.eye(4), atol=SAME):
                continue
            self._add_fixed(site.name, site.link, site.place)
            self.report.keep(f"frame {site.name!r}", "as a link without mass")
        for name, place in self.origins.items():
            if np.abs(place - np.eye(4)).max() > SAME and name + OWN not in self.links:
                self.add_frame(name + OWN, name, np.eye(4))

    def add_frame(self, name: str, link: str, place: Floats) -> str:
        """Add a link without mass that is fixed to another, unless it is there; its name in the file."""
        if self.writing.has_frame(name, link, place):
            return self.links[name]
        return self._add_fixed(name, link, place)

    def _add_fixed(self, name: str, link: str, place: Floats) -> str:
        label = self.links.add(name)
        element(self.root, "link", name=label)
        made = element(self.root, "joint", name=self.joints.add(f"{label} mount"), type="fixed")
        element(made, "parent", link=self.link(link))
        element(made, "child", link=label)
        element(made, "origin", **posed(inverse(self.origins[link]) @ place))
        return label


def _origin(joint: Joint) -> Floats:
    """The frame that a link has in the file, in its own: moved to its joint, and turned only where it must be."""
    found = np.eye(4)
    if joint.kind in ("fixed", "free"):
        return found
    if joint.kind == "planar":
        return joint.frame_child.copy()
    if joint.kind != "prismatic":
        found[:3, 3] = joint.frame_child[:3, 3]
    return found


def add_inertia(made: Element, own: Inertia, back: Floats) -> None:
    """Add mass, centre and tensor, in the axes of the link in the file."""
    turn = back[:3, :3]
    tensor = turn @ own.tensor @ turn.T
    center = (back @ np.append(own.center, 1.0))[:3]
    inside = element(made, "inertial")
    element(inside, "origin", xyz=center, rpy=(0.0, 0.0, 0.0))
    element(inside, "mass", value=own.mass)
    names: dict[str, Any] = {
        f"i{first}{second}": tensor["xyz".index(first), "xyz".index(second)]
        for first, second in ("xx", "xy", "xz", "yy", "yz", "zz")
    }
    element(inside, "inertia", **names)
