"""Forces of a scene from a description: springs, dampers and drives of joints, and weight that is taken off.

| what the file says | what it becomes |
|---|---|
| damping of a hinge, slide or ball joint | ``VelocityJoint`` that yields, which is implicit: stable for any damping |
| stiffness of a hinge | ``TorsionSpring`` |
| stiffness of a slide | ``Servo`` of the position |
| a position actuator, effort = k (u − q) − c q̇ | ``Servo`` of gain k and rate time c/k |
| a velocity actuator, effort = c (u − q̇) | ``Servo`` of the velocity of gain c |
| a motor | nothing: its effort is written by the user, ``sim.joints[name].torque`` |
| gravity compensation | ``Gravity`` upwards on the body |
| a spring between two points | ``Spring`` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.forces import Gravity, Servo, Spring, TorsionSpring
from rattleback.io.robots.builder.bodies import free_name
from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import from_quaternion
from rattleback.joints import Fixed, VelocityJoint

if TYPE_CHECKING:
    from rattleback.io.robots.builder.joints import Attached
    from rattleback.io.robots.builder.robot import Robot
    from rattleback.io.robots.description import Actuator, Description, Joint, Line
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene


def add_drives(scene: Scene, attached: Attached, robot: Robot, report: Report) -> None:
    """Add what drives, brakes and carries the robot."""
    description, names = attached.description, robot.joint_names
    for joint in description.joints.values():
        _drop_negative(joint, report)
        if joint.stiffness or joint.damping:
            _add_spring(scene, joint, names.get(joint.name), report)
    for actuator in description.actuators:
        _add_actuator(scene, description, actuator, robot, report)
    for line in description.lines:
        _add_line(scene, attached, line)
    for name, link in description.links.items():
        if link.gravity_compensation and attached.bodies.home.get(name, WORLD) != WORLD:
            _compensate(scene, attached, name, report)


def _add_spring(scene: Scene, joint: Joint, name: str | None, report: Report) -> None:
    where = joint.where or f"joint {joint.name!r}"
    if name is not None and joint.kind == "ball" and joint.damping:
        _add_damper(scene, joint, name, {"angular": (0.0, 0.0, 0.0), "angular_damping": joint.damping})
        return
    if name is not None and isinstance(scene.joints[name], Fixed):
        report.drop(f"{where} damping", "its limits hold the joint where it is")
        return
    if name is None or joint.kind not in ("revolute", "prismatic"):
        told = f"springs and dampers act on joints of one freedom, not {joint.kind}; scene.robot.joints keeps it"
        report.drop(f"{where} damping", told)
        return
    turning = joint.kind == "revolute"
    if joint.damping:
        way = "angular" if turning else "linear"
        _add_damper(scene, joint, name, {way: (None, None, 0.0), f"{way}_damping": joint.damping})
    if joint.stiffness:
        spring: Any = TorsionSpring(name, stiffness=joint.stiffness, angle=joint.rest)
        if not turning:
            spring = Servo(name, target=joint.rest, control="position", gain=joint.stiffness)
        scene.add_force(spring, name=f"{joint.name} spring")


def _drop_negative(joint: Joint, report: Report) -> None:
    """Leave out springs and dampers below zero."""
    for field in ("damping", "stiffness"):
        value = getattr(joint, field)
        if value < 0.0:
            where = joint.where or f"joint {joint.name!r}"
            report.drop(f"{where} {field}", f"it is {value:g}, which would drive the joint ever faster")
            setattr(joint, field, 0.0)


def _add_damper(scene: Scene, joint: Joint, name: str, law: dict[str, Any]) -> None:
    """Add a velocity joint that brakes where a joint is."""
    made = scene.joints[name]
    damper = VelocityJoint(made.a, made.b, frame_a=made.frame_a, frame_b=made.frame_b, **law)
    scene.add_joint(damper, name=free_name(scene, f"{joint.name} damper", "joint"))


def _add_actuator(scene: Scene, description: Description, actuator: Actuator, robot: Robot, report: Report) -> None:
    """Add the servos of an actuator, one a joint."""
    names = robot.joint_names
    where = actuator.where or f"actuator {actuator.name!r}"
    if actuator.kind == "motor":
        joints = ", ".join(repr(name) for name in actuator.joints)
        report.keep(where, f"its effort on {joints} is written by the user; scene.robot.actuators has gear and limits")
        return
    if min(_gain(actuator, gear) for gear in actuator.joints.values()) <= 0.0:
        told = "it drives joints against each other, which no servo of one joint can do; scene.robot.actuators keeps it"
        report.drop(where, told)
        return
    for joint, gear in actuator.joints.items():
        if joint not in names or description.joints[joint].kind not in ("revolute", "prismatic", "screw"):
            report.drop(where, f"joint {joint!r} has no single coordinate that could be driven")
            continue
        if isinstance(scene.joints[names[joint]], Fixed):
            report.drop(where, f"the limits of joint {joint!r} hold it where it is")
            continue
        servo = _servo(description, actuator, (joint, gear), names)
        single = len(actuator.joints) == 1
        label = actuator.name if single else f"{actuator.name} {joint}"
        while label in scene.forces:
            label += " drive"
        scene.add_force(servo, name=label)
        robot.drives.setdefault(actuator.name, []).append(label)


def _gain(actuator: Actuator, gear: float) -> float:
    """Gain of the servo of a joint that an actuator drives by a gear, if its other joints move alike."""
    own = actuator.position_gain if actuator.kind == "position" else actuator.velocity_gain
    return own * gear * sum(actuator.joints.values())


def _servo(description: Description, actuator: Actuator, driven: tuple[str, float], names: dict[str, str]) -> Servo:
    """The servo of one joint of an actuator whose length is Σ gear_j q_j, all q_j alike where there are several."""
    joint, gear = driven
    total, target = sum(actuator.joints.values()), target_of(actuator, actuator.control)
    turning = description.joints[joint].kind != "prismatic"
    limit = min(abs(gear) * actuator.limit, description.joints[joint].effort_limit or np.inf)
    stiff, slow = actuator.position_gain * gear * total, actuator.velocity_gain * gear * total
    if actuator.kind == "position":
        control = "angle" if turning else "position"
        return Servo(names[joint], target=target, control=control, gain=stiff, rate_time=slow / stiff, limit=limit)
    return Servo(names[joint], target=target, control="velocity", gain=slow, limit=limit)


def target_of(actuator: Actuator, control: float) -> float:
    """The coordinate, or the rate, at which an actuator gives no effort for a control."""
    gain = actuator.position_gain if actuator.kind == "position" else actuator.velocity_gain
    return (actuator.gain * control + actuator.bias) / (gain * sum(actuator.joints.values()))


def _add_line(scene: Scene, attached: Attached, line: Line) -> None:
    """Add a spring between two points, where the bodies lie."""
    names, points = [], []
    for link, point in zip(line.links, line.points, strict=True):
        part, place = attached.bodies.place(link)
        name = attached.names[part]
        body = np.eye(4) if part == WORLD else from_quaternion(scene[name].origin, scene[name].orientation)
        names.append(name)
        points.append((body @ place @ np.append(point, 1.0))[:3])
    label = line.name
    while label in scene.forces:
        label += " spring"
    if names[0] != names[1]:
        law = {"stiffness": line.stiffness, "damping": line.damping, "length": line.length}
        scene.add_force(Spring(*names, at=points[0], at_b=points[1], **law), name=label)


def _compensate(scene: Scene, attached: Attached, link: str, report: Report) -> None:
    """Take a part of the weight off a body."""
    part, _ = attached.bodies.place(link)
    own, whole = attached.description.links[link].inertia, attached.bodies.parts[part].inertia
    if own is None or whole is None:
        return
    share = attached.description.links[link].gravity_compensation * own.mass / whole.mass
    upwards = -share * np.array(attached.description.gravity)
    scene.add_force(Gravity(tuple(upwards.tolist()), bodies=[attached.names[part]]), name=f"{link} compensation")
    if own.mass != whole.mass:
        report.approximate(
            f"link {link!r} gravity compensation", "it acts at the centre of mass of all that is fixed to the link"
        )
