"""Springs, actuators and sensors of MJCF.

| description | MJCF |
|---|---|
| spring between points | ``spatial`` tendon of two sites |
| position actuator, effort = K (u − q) − c q̇ | ``position`` with kp and kv |
| velocity actuator, effort = c (u − q̇) | ``velocity`` with kv |
| motor | ``motor`` |
| others that are linear | ``general`` |
| several joints | a ``fixed`` tendon with their weights |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.writers.mjcf.loops import tendon
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from rattleback.io.robots.description import Actuator
    from rattleback.io.robots.writers.mjcf.model import Model

# Sensors on joints and sites that need nothing but the name of what they are on.
ON_JOINT = ("jointpos", "jointvel", "ballquat", "ballangvel")
ON_SITE = ("accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "touch")


def add_lines(model: Model) -> None:
    """Add springs between points."""
    for line in model.description.lines:
        law = {"stiffness": line.stiffness, "damping": line.damping, "springlength": line.length}
        tendon(model, line.name, line.links, line.points, **law)
        model.report.keep(f"force {line.name!r}", "as a spatial tendon of two sites")


def add_actuators(model: Model) -> None:
    """Add what drives joints."""
    chains = {chain.joint.name: chain for chain in model.chains}
    for actuator in model.description.actuators:
        where = actuator.where or f"actuator {actuator.name!r}"
        ends = {name: chains[name].single if name in chains else "" for name in actuator.joints}
        if not all(ends.values()):
            model.report.drop(where, "one of its joints has no single coordinate in the tree")
            continue
        tag, law = _law(actuator)
        target = _target(model, actuator, ends)
        made: dict[str, Any] = {"name": model.names["actuator"].add(actuator.name), **target, **law}
        if actuator.limit < np.inf:
            made["forcerange"] = -actuator.limit, actuator.limit
        made["ctrlrange"] = actuator.control_range
        element(model.section("actuator"), tag, **made)
        model.report.keep(where, f"as the actuator {tag!r}")


def _target(model: Model, actuator: Actuator, ends: dict[str, str]) -> dict[str, Any]:
    """What an actuator acts on: a joint with a gear, or a tendon with the weights of several."""
    if len(actuator.joints) == 1:
        ((name, gear),) = actuator.joints.items()
        return {"joint": ends[name], "gear": None if gear == 1.0 else (gear, 0.0, 0.0, 0.0, 0.0, 0.0)}
    label = model.names["tendon"].add(f"{actuator.name} weights")
    made = element(model.section("tendon"), "fixed", name=label)
    for name, gear in actuator.joints.items():
        element(made, "joint", joint=ends[name], coef=gear)
    return {"tendon": label}


def _law(actuator: Actuator) -> tuple[str, dict[str, Any]]:
    """The shortcut that a law has, or the law itself."""
    gain, stiff, slow = actuator.gain, actuator.position_gain, actuator.velocity_gain
    plain = actuator.bias == 0.0
    if actuator.kind == "position" and plain and gain == stiff:
        return "position", {"kp": stiff, "kv": slow or None}
    if actuator.kind == "velocity" and plain and gain == slow and not stiff:
        return "velocity", {"kv": slow}
    if actuator.kind == "motor" and plain and gain == 1.0 and not stiff and not slow:
        return "motor", {}
    return "general", {"biastype": "affine", "gainprm": (gain,), "biasprm": (actuator.bias, -stiff, -slow)}


def add_sensors(model: Model) -> None:
    """Add sensors on joints and sites that are in the file."""
    names = {name for chain in model.chains for name in chain.names}
    for sensor in model.description.sensors:
        where = f"sensor {sensor.name!r}"
        site = sensor.kind in ON_SITE and sensor.on in model.names["site"]
        if not site and not (sensor.kind in ON_JOINT and sensor.on in names):
            model.report.drop(where, f"what a {sensor.kind} sensor is on is not in the file, or needs more than a name")
            continue
        on = {"site": model.names["site"][sensor.on]} if site else {"joint": sensor.on}
        element(model.section("sensor"), sensor.kind, name=sensor.name, **on)
        model.report.keep(where)
