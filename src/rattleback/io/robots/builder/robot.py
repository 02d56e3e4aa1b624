"""What a scene knows of the robot it was made from: its frames, named states, joint data, actuators, cameras.

scene.robot.frames["tool0"]                        body and frame of a link, merged or not, or of a site
scene.robot.joints["elbow"].armature               what the file says, used by the scene or not
scene.robot.pose(scene, "home")                    move the bodies to a named state, or to joint coordinates
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.io.robots.builder.couple import PINION_RADIUS, Pinion
from rattleback.io.robots.builder.drives import target_of
from rattleback.io.robots.builder.motion import followed, places
from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import about_z
from rattleback.io.robots.source.placing import parts as split

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.io.robots.builder.parts import Bodies
    from rattleback.io.robots.description import Actuator, Coupling, Description, Inertia, Joint, Keyframe, Sensor, View
    from rattleback.model import Scene

    Floats = NDArray[np.float64]


class NamedFrame(NamedTuple):
    """A frame on a body.

    Attributes:
        body: Name of the body; ``"world"`` for the world.
        place: The frame in that of the body (4, 4).
    """

    body: str
    place: Floats


@sealed
class Robot:
    """What a file says of a robot, beside the scene made from it.

    Attributes:
        description: Everything that was read.
        frames: Frames by name: links, those merged into other bodies too, and sites.
        joint_names: Name of each joint of the file in the scene; joints that are not in it are left out.
        start: Coordinates of the joints at the start, by name, before loops were closed.
        pinions: Bodies that are not in the file, between slides that follow each other.
        drives: Names of the servos of each actuator in the scene.
        masses: Mass properties of each body as in the file, None without mass, and as it got them, by its name.
    """

    def __init__(self, description: Description, bodies: Bodies, names: Mapping[str, str]) -> None:
        self.description = description
        self._names = dict(names)
        self._parts = [part.name for part in bodies.parts.values() if part.name != WORLD]
        self.frames: dict[str, NamedFrame] = {}
        self.joint_names: dict[str, str] = {}
        self.start: dict[str, Any] = {}
        self.pinions: list[Pinion] = []
        self.drives: dict[str, list[str]] = {}
        self.masses: dict[str, tuple[Inertia | None, Inertia]] = {}
        for link in bodies.home:
            if link != WORLD:
                part, place = bodies.place(link)
                self.frames[link] = NamedFrame(self._names[part], place)
        for site in description.sites.values():
            if site.link in bodies.home:
                part, place = bodies.place(site.link)
                self.frames.setdefault(site.name, NamedFrame(self._names[part], place @ site.place))

    @property
    def joints(self) -> dict[str, Joint]:
        """What the file says of the joints, by name."""
        return self.description.joints

    @property
    def armature(self) -> dict[str, float]:
        """Inertia of rotors by joint of the scene [kg m² or kg], as ``rb.dynamics.Articulation`` takes them."""
        return {
            name: self.joints[told].armature for told, name in self.joint_names.items() if self.joints[told].armature
        }

    @property
    def damping(self) -> dict[str, float]:
        """Damping by joint of the scene [N m s or N s/m], as ``rb.dynamics.Articulation`` takes it."""
        return {name: self.joints[told].damping for told, name in self.joint_names.items() if self.joints[told].damping}

    @property
    def couplings(self) -> list[Coupling]:
        """Joints that follow others."""
        return self.description.couplings

    @property
    def actuators(self) -> list[Actuator]:
        """What drives joints."""
        return self.description.actuators

    @property
    def keyframes(self) -> dict[str, Keyframe]:
        """Named states."""
        return self.description.keyframes

    @property
    def cameras(self) -> dict[str, View]:
        """Views of the file."""
        return self.description.cameras

    @property
    def sensors(self) -> list[Sensor]:
        """What the file wants to be measured."""
        return self.description.sensors

    def coordinates(self, state: str | Mapping[str, Any]) -> dict[str, Any]:
        """Coordinates of a named state, or those given with the rest as at the start; joints that follow do so."""
        if isinstance(state, str):
            if state not in self.keyframes:
                known = list(self.keyframes)
                raise UnknownName(
                    f"There is no named state {state!r}.{did_you_mean(state, known)} There are {listing(known)}."
                )
            state = self.keyframes[state].coordinates
        return followed(self.description, {**self.start, **state})

    def link_frames(self, state: str | Mapping[str, Any]) -> dict[str, Floats]:
        """Frames of all links in the world (4, 4), by name, at a named state or at coordinates of joints by name."""
        found = places(self.description, self.coordinates(state))
        return {name: frame for name, frame in found.items() if name != WORLD}

    def control(self, scene: Scene, controls: Mapping[str, float]) -> None:
        """Give actuators other controls, in the units of the file; their servos get the targets that follow.

        Args:
            scene: The scene, or a copy of it.
            controls: Controls by name of the actuator.
        """
        known = {actuator.name: actuator for actuator in self.actuators if actuator.name in self.drives}
        for name, value in controls.items():
            if name not in known:
                raise UnknownName(
                    f"There is no servo of an actuator {name!r}.{did_you_mean(name, list(known))} There are "
                    f"{listing(list(known))}."
                )
            for label in self.drives[name]:
                scene.change_force(label, target=target_of(known[name], value))

    def use_drives(self, scene: Scene) -> list[str]:
        """Give hinges and slides of a scene made from this file the armature and the friction loss that it tells.

        Only ``joints="reduced"`` holds these; every other method of joints refuses such a scene by name.

        Args:
            scene: The scene, or a copy of it.

        Returns:
            Names of the joints that got any.
        """
        found = []
        for told, name in self.joint_names.items():
            joint, made = self.joints[told], scene.joints.get(name)
            given = {"armature": joint.armature, "friction": joint.friction_loss}
            if made is not None and hasattr(made, "armature") and any(given.values()):
                scene.change_joint(name, **given)
                found.append(name)
        return found

    def pose(self, scene: Scene, state: str | Mapping[str, Any]) -> None:
        """Move the bodies of a scene made from this file; loops are closed by ``scene.assemble()`` afterwards.

        Args:
            scene: The scene, or a copy of it.
            state: A named state, or coordinates of joints by name [rad or m].
        """
        values = self.coordinates(state)
        frames = {WORLD: np.eye(4), **self.link_frames(values)}
        for link in self._parts:
            point, turn = split(frames[link])
            scene.change_body(self._names[link], origin=point, orientation=turn)
        for pinion in self.pinions:
            way = float(values[pinion.leader] or 0.0) - float(self.start[pinion.leader] or 0.0)
            point, turn = split(frames[pinion.carrier] @ pinion.place @ about_z(way / PINION_RADIUS))
            scene.change_body(pinion.body, origin=point, orientation=turn)
