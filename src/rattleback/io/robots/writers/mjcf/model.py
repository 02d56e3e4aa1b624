"""MJCF: bodies in each other, several joints on a body, loops as equalities, forces as springs and actuators.

The configuration of the file, which MuJoCo calls ``qpos0``, is the start of the scene; ``ref`` says the coordinate of a
joint there, so that coordinates and limits stay as they are. The named state ``rattleback:start`` has velocities and
controls as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.io.robots.builder.motion import places, starts
from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import inverse
from rattleback.io.robots.survey.borrowed import CHAINS as IN_CHAINS
from rattleback.io.robots.survey.borrowed import in_chain
from rattleback.io.robots.writers.mjcf.chains import CHAINS, Chain, add_chain
from rattleback.io.robots.writers.mjcf.contacts import Contacts
from rattleback.io.robots.writers.mjcf.drives import add_actuators, add_lines, add_sensors
from rattleback.io.robots.writers.mjcf.geometry import add_geometries, posed
from rattleback.io.robots.writers.mjcf.loops import add_couplings, add_loops
from rattleback.io.robots.writers.mjcf.states import add_keyframes
from rattleback.io.robots.writers.names import Names
from rattleback.io.robots.writers.xml_tree import document, element
from rattleback.maths.inertia import principal_axes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from numpy.typing import NDArray

    from rattleback.io.robots.description import Inertia, Joint, Link
    from rattleback.io.robots.writers.writing import Writing

    Floats = NDArray[np.float64]

ABLE = tuple(CHAINS)
MASSLESS = IN_CHAINS


def write(writing: Writing) -> bytes:
    """The bytes of the file."""
    return Model(writing).document()


class Model:
    """An MJCF model under way.

    Attributes:
        writing: The file.
        root: Its outermost element.
        names: Names in the file by kind of element.
        frames: Frames of all links at the start (4, 4).
        chains: What joints of the trees have become, in the order in which MuJoCo counts.
    """

    def __init__(self, writing: Writing) -> None:
        self.writing, self.description, self.report = writing, writing.description, writing.report
        self.root = element(None, "mujoco", model=self.description.name)
        self.names = {kind: Names(self.report, kind) for kind in ("body", "joint", "site", "equality", "mesh", "key")}
        self.names |= {kind: Names(self.report, kind) for kind in ("geom", "actuator", "tendon", "camera", "hfield")}
        self.frames = places(self.description, starts(self.description))
        self.chains: list[Chain] = []
        self._sections: dict[str, Element] = {}
        self.contacts = Contacts(self)

    def section(self, name: str) -> Element:
        """A part of the model, made when it is first needed."""
        if name not in self._sections:
            self._sections[name] = element(self.root, name)
        return self._sections[name]

    def document(self) -> bytes:
        """The whole file."""
        compiler = {"angle": "radian", "autolimits": True, "inertiafromgeom": False, "balanceinertia": False}
        element(self.root, "compiler", **compiler)
        option = element(self.root, "option", gravity=self.description.gravity)
        self.report.keep("gravity")
        self.contacts.add_option(option)
        for name in ("asset", "worldbody"):
            self.section(name)
        self.names["body"].reserve("world")
        self._add_below(self.section("worldbody"), WORLD, self.writing.hanging())
        add_loops(self)
        add_couplings(self)
        self.contacts.add_pairs()
        add_lines(self)
        add_actuators(self)
        add_sensors(self)
        add_keyframes(self)
        for name, part in self._sections.items():
            if name != "worldbody" and not len(part):
                self.root.remove(part)
        return document(self.root)

    def _add_below(self, start: Element, name: str, hanging: dict[str, list[Joint]]) -> None:
        """Add what is on the world, and all bodies, each inside the one it hangs on."""
        self._add_frames(start, name)
        stack = [(start, joint) for joint in hanging.get(name, [])[::-1]]
        while stack:
            above, joint = stack.pop()
            chain = [joint]
            while self._hollow(chain[-1].child):
                chain.extend(hanging[chain[-1].child])
            link = self.description.links[chain[-1].child]
            frame = inverse(self.frames[joint.parent]) @ self.frames[link.name]
            body = element(above, "body", name=self.names["body"].add(link.name), **posed(frame))
            if link.gravity_compensation:
                body.set("gravcomp", repr(float(link.gravity_compensation)))
                self.report.keep(f"{link.where} gravity compensation")
            if link.inertia is not None:
                add_inertia(body, link.inertia)
            self.report.keep(link.where)
            for one in chain:
                add_chain(self, body, one, link.name)
            self._add_link(body, link)
            stack.extend((body, below) for below in hanging.get(link.name, [])[::-1])

    def _hollow(self, name: str) -> bool:
        """Whether a link has no mass and moves: its joints belong to the body that hangs on it."""
        link = self.description.links[name]
        if link.inertia is not None or not in_chain(self.description, name):
            return False
        told = "it has no mass; its joint belongs to the body that hangs on it"
        # Readers of MJCF call it by the body and the number of its joint.
        if name.rpartition(" ")[2].isdecimal():
            self.report.keep(link.where, told)
        else:
            self.report.approximate(link.where, f"{told}, so that it has no name")
        return True

    def _add_link(self, body: Element, link: Link) -> None:
        add_geometries(self, body, link)
        self._add_frames(body, link.name)

    def _add_frames(self, body: Element, link: str) -> None:
        """Add sites and cameras of a link."""
        for site in self.description.sites.values():
            if site.link == link:
                element(body, "site", name=self.names["site"].add(site.name), **posed(site.place))
                self.report.keep(f"frame {site.name!r}", "as a site")
        for view in self.description.cameras.values():
            if view.link == link:
                angle = float(np.degrees(view.field_of_view))
                element(body, "camera", name=self.names["camera"].add(view.name), fovy=angle, **posed(view.place))
                self.report.keep(f"camera {view.name!r}")


def add_inertia(body: Element, own: Inertia) -> None:
    """Add mass and inertia along the principal axes."""
    moments, turn = principal_axes(own.tensor)
    # A flat body has one moment that is the sum of the others, which rounding must not pass.
    top = int(np.argmax(moments))
    moments[top] = min(moments[top], float(np.delete(moments, top).sum()))
    x, y, z, w = turn.tolist()
    element(body, "inertial", pos=own.center, quat=(w, x, y, z), mass=own.mass, diaginertia=moments)
