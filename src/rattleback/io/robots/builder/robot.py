"""What a scene knows of the robot it was made from: its frames, named states, joint data, actuators, cameras.

scene.robot.frames["tool0"]                        body and frame of a link, merged or not, or of a site
scene.robot.joints["elbow"].armature               what the file says, used by the scene or not
scene.robot.pose(sim, "home")                      move the bodies to a named state, or to joint coordinates
scene.robot.control(sim, {"gripper": 255})         give actuators controls
scene.robot.frame(sim, "tool0")                    where a frame is now
scene.robot.measure(sim, "wrist_force")            what a sensor of the file shows
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.io.robots.builder.command import control, effort, is_running, stated
from rattleback.io.robots.builder.couple import Pinion
from rattleback.io.robots.builder.looks import camera
from rattleback.io.robots.builder.motion import followed, places
from rattleback.io.robots.builder.sensors import WORLD_BODY, Measure, Seen, seen
from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import about_z
from rattleback.io.robots.source.placing import parts as split
from rattleback.kinematics.pose import make_pose
from rattleback.maths.rotation import quaternion_from_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.io.robots.builder.parts import Bodies
    from rattleback.io.robots.description import (
        Actuator,
        Colour,
        Coupling,
        Description,
        Inertia,
        Joint,
        Keyframe,
        Sensor,
        View,
    )
    from rattleback.model import Scene
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]


# Length of a step for robots whose file asks for none [s].
TIME_STEP = 0.002


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
        pinions: Bodies that are not in the file, between slides, or hinges on one axis, that follow each other.
        drives: Names of the servos of each actuator in the scene.
        joints_driven: Whether hinges and slides of the scene got armature and friction loss of the file.
        measures: What the sensors of the file measure, by name.
        dots: Bodies that are shown as a small ball, as their links have no mass and no shape.
        colours: Red, green, blue and opacity, 0 to 1, of the bodies that have a colour in the file.
        masses: Mass properties of each body as in the file, None without mass, and as it got them, by its name.
    """

    def __init__(self, description: Description, bodies: Bodies, names: Mapping[str, str], joints_driven: bool) -> None:
        self.description = description
        self.joints_driven = joints_driven
        self._names = dict(names)
        self._parts = [part.name for part in bodies.parts.values() if part.name != WORLD]
        self.frames: dict[str, NamedFrame] = {}
        self.joint_names: dict[str, str] = {}
        self.start: dict[str, Any] = {}
        self.pinions: list[Pinion] = []
        self.drives: dict[str, list[str]] = {}
        self.measures: dict[str, Measure] = {}
        self.colours: dict[str, Colour] = {}
        self.dots = {
            self._names[part.name]
            for part in bodies.parts.values()
            if part.dot > 0.0 and not any(description.links[link].geometries for link in part.members)
        }
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
    def damping(self) -> dict[str, float]:
        """Damping by joint of the scene [N m s or N s/m], as ``rb.dynamics.Articulation`` takes it."""
        return {name: self.joints[told].damping for told, name in self.joint_names.items() if self.joints[told].damping}

    @property
    def time_step(self) -> float:
        """Length of a step that the file asks for, or one for robots [s]; the command line and the page take it."""
        return self.description.time_step or TIME_STEP

    @property
    def settings(self) -> dict[str, Any]:
        """What ``rb.Simulation`` is best given for the scene as it was read: the time step, and a method of joints.

        Light links with heavy rotors are for reduced coordinates, which other methods follow in shorter steps only.
        """
        driven = [joint for joint in self.joints.values() if max(joint.armature, joint.friction_loss) > 0.0]
        whole = not any(joint.closes or joint.breaking_force or joint.breaking_torque for joint in driven)
        joints = {"joints": "reduced"} if self.joints_driven and driven and whole else {}
        return {"time_step": self.time_step, **joints}

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

    def frame(self, where: Any, name: str) -> Floats:
        """Frame of a link or site in the world (4, 4), as it is now; with a leading axis for worlds.

        Args:
            where: A scene, or a simulation that runs.
            name: Name of a link, merged or not, or of a site.
        """
        now = self._seen(where, name)
        return np.asarray(make_pose(now.point, now.turn))

    def motion(self, where: Any, name: str) -> tuple[Floats, Floats, Floats, Floats]:
        """Motion of a link or site in the world, as it is now; each with a leading axis for worlds.

        Args:
            where: A scene, or a simulation that runs.
            name: Name of a link, merged or not, or of a site.

        Returns:
            Origin (3,) [m], quaternion (x, y, z, w), velocity of the origin [m/s] and angular velocity [rad/s].
        """
        now = self._seen(where, name)
        return now.point, np.asarray(quaternion_from_matrix(now.turn)), now.velocity, now.spin

    def _seen(self, where: Any, name: str) -> Seen:
        if name not in self.frames:
            known = list(self.frames)
            raise UnknownName(f"There is no frame {name!r}.{did_you_mean(name, known)} There are {listing(known)}.")
        return seen(where, self.frames[name])

    def placed(self, link: str, place: Floats) -> NamedFrame | None:
        """A frame in that of a link as one on a body; None where the link is part of a joint."""
        if link == WORLD:
            return NamedFrame("world", place)
        home = self.frames.get(link)
        return None if home is None else NamedFrame(home.body, home.place @ place)

    def control(self, where: Scene | Simulation, controls: Mapping[str, Any]) -> None:
        """Give actuators their controls by name, in the units of the file.

        Servos get the targets that follow. The effort of a motor acts in every step until another control is given;
        motors that share a joint are given theirs in one call.

        Args:
            where: A simulation, in which they change at once; or a scene, in which motors cannot be driven.
            controls: Controls by name of the actuator.
        """
        control(self, where, controls)

    def camera(self, where: Any, name: str) -> dict[str, Any]:
        """What ``rb.Camera`` takes to see as a camera of the file does: ``rb.Camera(**robot.camera(sim, "eye"))``.

        Args:
            where: A scene, or one world of a simulation that runs.
            name: Name of the camera.
        """
        if name not in self.cameras:
            known = list(self.cameras)
            raise UnknownName(f"There is no camera {name!r}.{did_you_mean(name, known)} There are {listing(known)}.")
        view = self.cameras[name]
        frame = self.placed(view.link, view.place)
        if frame is None:
            raise InputError(f"Camera {name!r} is on link {view.link!r}, which is part of a joint.")
        now, bodies = seen(where, frame), [where[body] for body in self._names.values() if body != WORLD_BODY]
        middle = np.mean([body.position for body in bodies] or [now.point - now.turn[:, 2]], axis=0)
        return camera(np.asarray(make_pose(now.point, now.turn)), view.field_of_view, middle)

    def effort(self, sim: Simulation, name: str) -> Any:
        """Force of an actuator in the last step, before its gear [N or N m]."""
        return effort(self, sim, name)

    def measure(self, sim: Simulation, name: str) -> Any:
        """What a sensor of the file shows now; a ``Recorder`` takes the names of sensors, too."""
        if name not in self.measures:
            known = list(self.measures)
            raise UnknownName(f"No sensor {name!r} measures.{did_you_mean(name, known)} There are {listing(known)}.")
        return self.measures[name].read(sim)

    def pose(self, where: Scene | Simulation, state: str | Mapping[str, Any]) -> None:
        """Move the bodies of a scene made from this file, or of a simulation, where they are at rest afterwards.

        A named state gives actuators its controls, too: in a scene those of servos. Loops that the coordinates leave
        open are closed by ``scene.assemble()``, or in the next steps.

        Args:
            where: The scene, a copy of it, or a simulation of one of them.
            state: A named state, or coordinates of joints by name [rad or m].
        """
        values = self.coordinates(state)
        frames = {WORLD: np.eye(4), **self.link_frames(values)}
        for link in self._parts:
            _put(where, self._names[link], frames[link])
        for pinion in self.pinions:
            way = float(values[pinion.leader] or 0.0) - float(self.start[pinion.leader] or 0.0)
            _put(where, pinion.body, frames[pinion.carrier] @ pinion.place @ about_z(way * pinion.turn))
        if isinstance(state, str):
            stated(self, where, state)


def _put(where: Any, body: str, frame: Floats) -> None:
    """Move a body of a scene, or of a simulation, where it is at rest."""
    point, turn = split(frame)
    if not is_running(where):
        where.change_body(body, origin=point, orientation=turn)
        return
    view = where[body]
    view.orientation = np.broadcast_to(turn, np.shape(view.orientation))
    view.origin = point
    for name in ("velocity", "angular_velocity"):
        setattr(view, name, np.zeros_like(getattr(view, name)))
