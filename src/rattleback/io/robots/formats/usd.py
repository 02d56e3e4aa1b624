"""USD: rigid bodies, colliders, joints and drives of UsdPhysics, in any unit and with any up axis.

Joints list two bodies each: they become trees and joints that close loops. Bodies are free unless a joint holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Description, Joint, Link, Site, View
from rattleback.io.robots.formats.graph import plant
from rattleback.io.robots.formats.loops import add_loops
from rattleback.io.robots.formats.usd_bodies import fill_body
from rattleback.io.robots.formats.usd_geometry import Solid, add_geometry
from rattleback.io.robots.formats.usd_joints import add_couplings, add_joint
from rattleback.io.robots.formats.usd_stage import EXACT, Stage, refused

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.read import Source

    Floats = NDArray[np.float64]

EARTH = 9.81
PAIRS = "physics:filteredPairs"
GROUPS = "physics:filteredGroups"


def read(source: Source) -> Description:
    """The description of a USD file."""
    with refused(source.path):
        return _read(source)


def _read(source: Source) -> Description:
    stage = Stage(source)
    default = stage.stage.GetDefaultPrim()
    described = Described(stage, source, Description(str(default.GetName()) if default else "stage"))
    described.add_gravity()
    described.add_bodies()
    described.add_shapes()
    for prim in stage.prims:
        if prim.IsA(stage.physics.Joint):
            add_joint(described, prim)
    add_couplings(described)
    described.add_filters()
    described.add_cameras()
    described.add_frames()
    plant(described.description)
    add_loops(described.description, source)
    stage.tell(source.report)
    return described.description


class Described:
    """A description under way.

    Attributes:
        stage: The stage.
        source: The file.
        description: What is made.
        links: Names of the links by path of their prims.
    """

    def __init__(self, stage: Stage, source: Source, description: Description) -> None:
        self.stage, self.source, self.description = stage, source, description
        self.links: dict[str, str] = {}
        self._names: dict[str, int] = {}
        self._told: dict[tuple[Any, str], int] = {}
        for prim in stage.prims:
            self._names[prim.GetName()] = self._names.get(prim.GetName(), 0) + 1
            told = stage.value(prim, f"{EXACT}name"), str(prim.GetTypeName())
            if isinstance(told[0], str) and told[0]:
                self._told[told] = self._told.get(told, 0) + 1

    def name(self, prim: Any) -> str:
        """Name of a prim where only one has it, else its path."""
        name = str(prim.GetName())
        told = self.stage.value(prim, f"{EXACT}name")
        if self._told.get((told, str(prim.GetTypeName()))) == 1:
            return str(told)
        return name if self._names.get(name) == 1 else str(prim.GetPath()).lstrip("/")

    def add_gravity(self) -> None:
        """Gravity of the first physics scene; that of the Earth, downwards, where nothing is said."""
        stage, description = self.stage, self.description
        down, size = np.array([0.0, 0.0, -1.0]), EARTH
        for prim in stage.prims:
            if prim.IsA(stage.physics.Scene):
                told = stage.vector(prim, "physics:gravityDirection", (0.0, 0.0, 0.0))
                if np.linalg.norm(told) > 0.0:
                    down = stage.up[:3, :3] @ told / np.linalg.norm(told)
                number = stage.number(prim, "physics:gravityMagnitude", -np.inf)
                size = number * stage.meters if 0.0 <= number < np.inf else EARTH
                break
        x, y, z = (size * down).tolist()
        description.gravity = x, y, z

    def add_bodies(self) -> None:
        """A link for every rigid body; one that is kinematic or switched off is fixed where it is."""
        stage = self.stage
        for prim in stage.prims:
            if not prim.HasAPI(stage.physics.RigidBodyAPI):
                continue
            name, path = self.name(prim), str(prim.GetPath())
            link = Link(name, path, stage.frame(prim))
            self.links[path] = name
            self.description.links[name] = link
            if not stage.value(prim, "physics:rigidBodyEnabled", True):
                self._fix(link)
            elif stage.value(prim, "physics:kinematicEnabled", False):
                self._fix(link)
                self.source.report.approximate(f"{path}.physics:kinematicEnabled", "it is fixed where it is")

    def _fix(self, link: Link) -> None:
        label = f"{link.name} mount"
        self.description.joints[label] = Joint(label, "fixed", WORLD, link.name, frame_parent=link.place)

    def add_shapes(self) -> None:
        """Shapes of all links, then their mass properties; what collides without a body stands still."""
        stage = self.stage
        solid: dict[str, list[Solid]] = {}
        for prim in stage.prims:
            if prim.IsA(stage.geom.Gprim):
                link = self.link_of(prim)
                if link is None and prim.HasAPI(stage.physics.CollisionAPI):
                    link = self._still(prim)
                if link is not None and (entry := add_geometry(self, link, prim)) is not None:
                    solid.setdefault(link.name, []).append(entry)
        for path, name in self.links.items():
            fill_body(self, stage.stage.GetPrimAtPath(path), self.description.links[name], solid.get(name, []))

    def link_of(self, prim: Any) -> Link | None:
        """The link a prim belongs to: that of the nearest body above."""
        while prim and not prim.IsPseudoRoot():
            if (path := str(prim.GetPath())) in self.links:
                return self.description.links[self.links[path]]
            prim = prim.GetParent()
        return None

    def _still(self, prim: Any) -> Link:
        link = Link(self.name(prim), str(prim.GetPath()), self.stage.frame(prim))
        self.description.links[link.name] = link
        self._fix(link)
        return link

    def add_filters(self) -> None:
        """Pairs, groups and articulations that do not collide."""
        stage = self.stage
        for prim in stage.prims:
            for target in stage.targets(prim, PAIRS) if prim.HasRelationship(PAIRS) else []:
                ends = self.link_of(prim), self.link_of(stage.stage.GetPrimAtPath(target))
                if ends[0] is not None and ends[1] is not None:
                    self._keep_apart([ends[0].name], [ends[1].name])
            if prim.IsA(stage.physics.CollisionGroup):
                own = self._members(prim)
                for target in stage.targets(prim, GROUPS):
                    self._keep_apart(own, self._members(stage.stage.GetPrimAtPath(target)))
            apart = "physxArticulation:enabledSelfCollisions"
            if prim.HasAttribute(apart) and not stage.value(prim, apart, True):
                inside = [name for path, name in self.links.items() if path.startswith(f"{prim.GetPath()}/")]
                self._keep_apart(inside, inside)

    def _members(self, prim: Any) -> list[str]:
        if not prim:
            return []
        found = []
        for target in self.stage.targets(prim, "collection:colliders:includes"):
            link = self.link_of(self.stage.stage.GetPrimAtPath(target))
            if link is not None:
                found.append(link.name)
        return found

    def _keep_apart(self, first: list[str], second: list[str]) -> None:
        pairs = {tuple(sorted((a, b))) for a in first for b in second if a != b}
        known = set(self.description.exclusions)
        self.description.exclusions.extend((a, b) for a, b in sorted(pairs) if (a, b) not in known)

    def add_frames(self) -> None:
        """Frames that files of our own mark as such."""
        for prim in self.stage.prims:
            if prim.HasAttribute(f"{EXACT}frame") and self.stage.value(prim, f"{EXACT}frame"):
                link, place, name = self.link_of(prim), self.stage.frame(prim), self.name(prim)
                if link is not None:
                    place = np.linalg.inv(link.place) @ place
                self.description.sites[name] = Site(name, WORLD if link is None else link.name, place)

    def add_cameras(self) -> None:
        """Views."""
        stage = self.stage
        for prim in stage.prims:
            if prim.IsA(stage.geom.Camera):
                link, place = self.link_of(prim), stage.frame(prim)
                high = stage.number(prim, "verticalAperture", 15.2908)
                far = stage.number(prim, "focalLength", 50.0)
                field = 2.0 * float(np.arctan2(0.5 * high, far))
                stage.value(prim, "horizontalAperture")
                if link is not None:
                    place = np.linalg.inv(link.place) @ place
                name = self.name(prim)
                self.description.cameras[name] = View(name, WORLD if link is None else link.name, place, field)
