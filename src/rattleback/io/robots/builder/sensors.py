"""Sensors of a file as quantities of a running simulation, by the names that the file gives them.

| kind | what is measured |
|---|---|
| ``jointpos``, ``jointvel`` | coordinate of a hinge or slide, and its rate |
| ``actuatorpos``, ``actuatorvel``, ``actuatorfrc`` | length of an actuator, its rate, and its force on it |
| ``framepos``, ``framequat``, ``framexaxis``, ``frameyaxis``, ``framezaxis`` | a frame; quaternions are (x, y, z, w) |
| ``framelinvel``, ``frameangvel`` | velocity of the frame's origin, angular velocity |
| ``velocimeter``, ``gyro`` | the same along the axes of the frame itself |
| ``clock``, ``e_kinetic``, ``e_potential`` | time and energy |

A frame is seen from the reference frame of the sensor where it has one, velocities against it. Values are those of the
state at the time, without noise, delay or cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.description import MEASURED
from rattleback.maths.rotation import matrix_from_quaternion, quaternion_from_matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.io.robots.builder.robot import NamedFrame, Robot
    from rattleback.io.robots.description import Sensor
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]
    Read = Callable[[Any], Any]

# Name of the body that the world is in every scene.
WORLD_BODY = "world"
AXES = ("framexaxis", "frameyaxis", "framezaxis")
# Units of what frames are measured by.
UNITS = {
    "framepos": "m",
    "framequat": "",
    **dict.fromkeys(AXES, ""),
    "framelinvel": "m/s",
    "velocimeter": "m/s",
    "frameangvel": "rad/s",
    "gyro": "rad/s",
}


class Measure(NamedTuple):
    """A quantity of a simulation: its unit, empty for none, and the function that reads it."""

    unit: str
    read: Read


class Seen(NamedTuple):
    """A frame that moves: origin [m], axes (..., 3, 3), velocity of the origin [m/s], angular velocity [rad/s]."""

    point: Floats
    turn: Floats
    velocity: Floats
    spin: Floats


def seen(where: Any, frame: NamedFrame) -> Seen:
    """A frame on a body of a scene or of a simulation, as it is now; one on the world stands still."""
    if frame.body == WORLD_BODY:
        return Seen(frame.place[:3, 3], frame.place[:3, :3], np.zeros(3), np.zeros(3))
    body = where[frame.body]
    turn = np.asarray(matrix_from_quaternion(np.asarray(body.orientation)))
    point = np.asarray(body.origin) + turn @ frame.place[:3, 3]
    spin = np.asarray(body.angular_velocity)
    velocity = np.asarray(body.velocity) + np.cross(spin, point - np.asarray(body.position))
    return Seen(point, turn @ frame.place[:3, :3], velocity, spin)


def measures(robot: Robot, report: Report) -> dict[str, Measure]:
    """What the sensors of a file measure, by name; those whose joint or link is not in the scene are told."""
    found: dict[str, Measure] = {}
    for sensor in robot.sensors:
        if sensor.kind not in MEASURED:
            continue
        made = _measure(robot, sensor)
        if isinstance(made, str):
            report.drop(f"sensor {sensor.name!r}", f"{made}; scene.robot.sensors keeps it")
        else:
            found[sensor.name] = made
    return found


def _measure(robot: Robot, sensor: Sensor) -> Measure | str:
    """The quantity of a sensor; why not, where it is none."""
    kind = sensor.kind
    if kind in ("jointpos", "jointvel"):
        return _of_joint(robot, sensor.joint, rate=kind == "jointvel")
    if kind.startswith("actuator"):
        return _of_actuator(robot, sensor)
    if kind in UNITS and sensor.frame is not None:
        return _of_frame(robot, sensor)
    if kind == "clock":
        return Measure("s", lambda sim: sim.time)
    if kind in ("e_kinetic", "e_potential"):
        part = kind.removeprefix("e_")
        return Measure("J", lambda sim: getattr(sim.energy(), part))
    return f"no quantity here is a {kind}"


def _of_joint(robot: Robot, name: str, rate: bool) -> Measure | str:
    """Coordinate or rate of a joint of one freedom."""
    joint, label = robot.joints.get(name), robot.joint_names.get(name)
    if joint is None or label is None or joint.kind not in ("revolute", "prismatic", "screw"):
        return f"joint {name!r} is none of one freedom in the scene"
    turning = joint.kind != "prismatic"
    unit = ("rad" if turning else "m") + ("/s" if rate else "")
    inner = "velocity" if rate else "angle" if turning else "position"
    return Measure(unit, lambda sim: getattr(sim[label], inner))


def _of_actuator(robot: Robot, sensor: Sensor) -> Measure | str:
    """Length, rate or force of an actuator."""
    known = {actuator.name: actuator for actuator in robot.actuators}
    if sensor.kind not in ("actuatorpos", "actuatorvel", "actuatorfrc") or sensor.actuator not in known:
        return f"no quantity here is a {sensor.kind} of {sensor.actuator!r}"
    gears = known[sensor.actuator].joints
    if sensor.kind == "actuatorfrc":
        return Measure("", lambda sim: robot.effort(sim, sensor.actuator))
    found = [(_of_joint(robot, name, sensor.kind == "actuatorvel"), gear) for name, gear in gears.items()]
    if any(isinstance(part, str) for part, _ in found):
        return next(part for part, _ in found if isinstance(part, str))
    parts = [(part.read, gear) for part, gear in found if isinstance(part, Measure)]
    unit = found[0][0].unit if len(found) == 1 and isinstance(found[0][0], Measure) else ""
    return Measure(unit, lambda sim: sum(gear * read(sim) for read, gear in parts))


def _of_frame(robot: Robot, sensor: Sensor) -> Measure | str:
    """A frame, or a velocity of it."""
    places = []
    for told in (sensor.frame, sensor.reference):
        found = robot.placed(*told) if told is not None else None
        if told is not None and found is None:
            return f"link {told[0]!r} is part of a joint"
        places.append(found)
    own, reference = places
    assert own is not None
    kind = sensor.kind
    return Measure(UNITS[kind], lambda sim: _value(kind, seen(sim, own), seen(sim, reference) if reference else None))


def _value(kind: str, frame: Seen, reference: Seen | None) -> Floats:
    """What a sensor of a frame shows."""
    if kind in ("velocimeter", "gyro"):
        return _into(frame.turn, frame.velocity if kind == "velocimeter" else frame.spin)
    if reference is not None:
        frame = _against(frame, reference)
    if kind == "framequat":
        return np.asarray(quaternion_from_matrix(frame.turn))
    if kind in AXES:
        return frame.turn[..., :, AXES.index(kind)]
    return {"framepos": frame.point, "framelinvel": frame.velocity, "frameangvel": frame.spin}[kind]


def _into(turn: Floats, vector: Floats) -> Floats:
    """A vector of the world along the axes of a frame."""
    return np.asarray(np.einsum("...ji,...j->...i", turn, vector))


def _against(frame: Seen, reference: Seen) -> Seen:
    """A frame as it is seen from another that moves."""
    way, turn = frame.point - reference.point, reference.turn
    drift = frame.velocity - reference.velocity - np.cross(reference.spin, way)
    axes = np.swapaxes(turn, -1, -2) @ frame.turn
    return Seen(_into(turn, way), axes, _into(turn, drift), _into(turn, frame.spin - reference.spin))
