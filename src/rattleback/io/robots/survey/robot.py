"""What a scene still knows of the file it was made from: frames, named states, cameras, sensors, data of joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import COORDINATES, WORLD, Keyframe, Site, View
from rattleback.io.robots.source.placing import inverse
from rattleback.io.robots.survey.tree import between, coordinates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Joint
    from rattleback.io.robots.survey.surveyed import Surveyed

    Floats = NDArray[np.float64]

SAME = 1e-12


def add_data(surveyed: Surveyed) -> None:
    """Give joints what the file says of them beside what the scene has: limits of drives, friction, rotors, springs."""
    robot = surveyed.robot
    if robot is None:
        return
    for told, made in robot.joint_names.items():
        joint, own = surveyed.description.joints.get(surveyed.joints.get(made, "")), robot.joints[told]
        if joint is None:
            continue
        joint.effort_limit, joint.velocity_limit = own.effort_limit, own.velocity_limit
        if not robot.joints_driven or joint.kind not in ("revolute", "prismatic"):
            joint.friction_loss, joint.armature = own.friction_loss, own.armature
        if joint.kind not in ("revolute", "prismatic") and not joint.damping:
            joint.damping = own.damping


def add_frames(surveyed: Surveyed) -> None:
    """Add named frames, cameras and sensors that lie on bodies of the scene."""
    scene, description = surveyed.scene, surveyed.description
    robot = surveyed.robot
    if robot is None:
        return
    for name, (body, place) in robot.frames.items():
        if body not in surveyed.frames:
            surveyed.report.drop(f"frame {name!r}", f"the body {body!r} that it lies on is not in the scene any more")
            continue
        if name in (body, WORLD) and np.allclose(place, np.eye(4), rtol=0.0, atol=SAME):
            continue
        if name not in description.links or body == scene.world.name:
            _add_frame(surveyed, name, body, place)
    for view in robot.cameras.values():
        home = robot.frames.get(view.link)
        body, place = (scene.world.name, np.eye(4)) if home is None else home
        if body in surveyed.frames:
            link = surveyed.link(body)
            description.cameras[view.name] = View(view.name, link, place @ view.place, view.field_of_view)
    description.sensors.extend(robot.sensors)


def _add_frame(surveyed: Surveyed, name: str, body: str, place: Floats) -> None:
    """Add a frame, unless it is that of a static body of its name."""
    link = surveyed.link(body)
    own = surveyed.frames.get(name)
    if own is None or not np.allclose(surveyed.frames[body] @ place, own, rtol=0.0, atol=SAME):
        surveyed.description.sites[name] = Site(name, link, place)


def add_keyframes(surveyed: Surveyed) -> None:
    """Add the named states of the file, in the coordinates of the joints that are there now."""
    robot, description = surveyed.scene.robot, surveyed.description
    if robot is None:
        return
    for key in robot.keyframes.values():
        frames = _frames_at(surveyed, key)
        found = {
            joint.name: _near(joint, coordinates(joint, between(joint, frames)), key)
            for joint in description.joints.values()
            if not joint.closes and joint.kind in COORDINATES
        }
        description.keyframes[key.name] = Keyframe(key.name, found, dict(key.controls))


def _frames_at(surveyed: Surveyed, key: Keyframe) -> dict[str, Floats]:
    """Frames of all links at a named state; those that the file does not have stay where they start."""
    robot = surveyed.robot
    known = set(key.coordinates) & {name for name, joint in robot.joints.items() if not joint.closes}
    places = robot.link_frames({name: key.coordinates[name] for name in known})
    frames = {**surveyed.frames, WORLD: np.eye(4)}
    for name, (body, place) in robot.frames.items():
        if body in surveyed.scene and not surveyed.scene[body].static and name in places:
            frames[body] = places[name] @ inverse(place)
    return frames


def _near(joint: Joint, value: Any, key: Keyframe) -> Any:
    """An angle with the full turns that it has in the file."""
    told = key.coordinates.get(joint.name)
    if joint.kind == "revolute" and told is not None:
        return value + 2.0 * np.pi * float(np.round((told - value) / (2.0 * np.pi)))
    return value
