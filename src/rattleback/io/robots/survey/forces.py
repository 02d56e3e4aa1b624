"""Forces of a scene as springs, dampers and drives of joints, springs between points, and weight that is taken off.

| force | becomes |
|---|---|
| ``TorsionSpring`` | stiffness, rest and damping of the joint |
| ``Servo`` | a position actuator, u = K (x* − x) − K T_V ẋ, or a velocity actuator, u = K (v* − ẋ) |
| ``Spring`` | a spring between points |
| ``Gravity`` of all bodies | part of the gravity of the scene |
| ``Gravity`` of some, against that of the scene | part of their weight that is taken off |
| others | dropped: the formats have no forces of the surroundings |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback import forces as kinds
from rattleback.io.robots.builder.drives import target_of
from rattleback.io.robots.description import WORLD, Actuator, Line
from rattleback.io.robots.source.placing import inverse

if TYPE_CHECKING:
    from rattleback.io.robots.description import Joint
    from rattleback.io.robots.survey.surveyed import Surveyed

SINGLE = ("revolute", "prismatic", "screw")
CLOSE = 1e-12


def add_forces(surveyed: Surveyed) -> None:
    """Add all forces."""
    drives = _drives_of_file(surveyed)
    # What acts on all bodies first, because weight is taken off the whole of it.
    for name, force in sorted(surveyed.scene.forces.items(), key=lambda entry: not _acts_on_all(entry[1])):
        where = f"force {name!r}"
        if isinstance(force, kinds.TorsionSpring):
            _add_torsion(surveyed, where, force)
        elif isinstance(force, kinds.Servo):
            if name not in drives:
                _add_servo(surveyed, (name, where), force)
        elif isinstance(force, kinds.Spring):
            _add_spring(surveyed, name, force)
        elif isinstance(force, kinds.Gravity):
            _add_gravity(surveyed, where, force)
        else:
            why = f"robot files have no {type(force).__name__.lower()}; scene.save keeps what is on the menu of forces"
            surveyed.report.drop(where, why)


def _acts_on_all(force: Any) -> bool:
    return isinstance(force, kinds.Gravity) and force.bodies is None


def _drives_of_file(surveyed: Surveyed) -> set[str]:
    """Add the actuators of the file whose servos still stand, and its motors; names of these servos."""
    robot, scene, found = surveyed.robot, surveyed.scene, set[str]()
    known = surveyed.description.joints
    for told in robot.actuators if robot else ():
        if not told.joints.keys() <= known.keys():
            continue
        labels = robot.drives.get(told.name, [])
        if told.kind != "motor" and not (labels and all(_as_told(scene, label, told) for label in labels)):
            continue
        made = Actuator(**{**vars(told), "where": f"actuator {told.name!r}"})
        if labels:
            target = scene.forces[labels[0]].target
            gain = told.position_gain if told.kind == "position" else told.velocity_gain
            if told.gain:
                made.control = (target * gain * sum(told.joints.values()) - told.bias) / told.gain
        found.update(labels)
        surveyed.description.actuators.append(made)
    return found


def _as_told(scene: Any, label: str, told: Actuator) -> bool:
    """Whether a servo is still the one that an actuator of the file gave, but for its target."""
    servo = scene.forces.get(label)
    if not isinstance(servo, kinds.Servo) or isinstance(servo.target, kinds.Schedule):
        return False
    if servo.reset_time < np.inf or (told.gain == 0.0 and abs(servo.target - target_of(told, told.control)) > CLOSE):
        return False
    joint = scene.joint_name(servo.joint)
    names = {made: name for name, made in scene.robot.joint_names.items()}
    gear, total = told.joints.get(names.get(joint, ""), 0.0), sum(told.joints.values())
    stiff, slow = told.position_gain * gear * total, told.velocity_gain * gear * total
    law = (stiff, slow / stiff if stiff else 0.0) if told.kind == "position" else (slow, 0.0)
    return bool(np.allclose((servo.gain, servo.rate_time), law) and servo.limit == abs(gear) * told.limit)


def _joint(surveyed: Surveyed, where: str, name: Any) -> Joint | None:
    """The joint that a force acts on, if it has one coordinate in the formats."""
    label = surveyed.joints.get(str(surveyed.scene.joint_name(name)), "")
    joint = surveyed.description.joints.get(label)
    if joint is None or joint.kind not in SINGLE:
        kind = "its joint" if joint is None else f"a {joint.kind} joint"
        surveyed.report.drop(where, f"{kind} has no single coordinate that could be driven")
        return None
    return joint


def _add_torsion(surveyed: Surveyed, where: str, force: Any) -> None:
    joint = _joint(surveyed, where, force.joint)
    if joint is not None:
        _stiffen(joint, force.stiffness, force.angle)
        joint.damping += force.damping
        surveyed.report.keep(where, f"as stiffness and damping of the joint {joint.name!r}")


def _stiffen(joint: Joint, stiffness: float, rest: float) -> None:
    """Add a spring to a joint: two are as stiff as both, and at rest between."""
    total = joint.stiffness + stiffness
    joint.rest = (joint.stiffness * joint.rest + stiffness * rest) / total if total > 0.0 else rest
    joint.stiffness = total


def _add_servo(surveyed: Surveyed, named: tuple[str, str], force: Any) -> None:
    name, where = named
    joint = _joint(surveyed, where, force.joint)
    if joint is None:
        return
    target = force.target
    if isinstance(target, kinds.Schedule):
        target = float(target.values[0])
        surveyed.report.approximate(f"{where} target", f"it stays at its first value, {target:g}")
    if force.reset_time < np.inf:
        surveyed.report.approximate(f"{where} reset_time", "the drives of the formats have no integral part")
    slow = force.gain * force.rate_time
    if force.control == "velocity":
        if slow:
            surveyed.report.approximate(f"{where} rate_time", "the drives of the formats feel no acceleration")
        made = Actuator(name, {joint.name: 1.0}, "velocity", force.gain, 0.0, force.gain, control=target)
    elif _is_spring(surveyed, name, joint, force):
        _stiffen(joint, force.gain, target)
        surveyed.report.keep(where, f"as stiffness of the joint {joint.name!r}")
        return
    else:
        made = Actuator(name, {joint.name: 1.0}, "position", force.gain, force.gain, slow, control=target)
    made.limit, made.where = force.limit, where
    surveyed.description.actuators.append(made)


def _is_spring(surveyed: Surveyed, name: str, joint: Joint, force: Any) -> bool:
    """Whether a servo stands for the spring of a slide in the file of the scene."""
    told = surveyed.robot.joints.get(joint.name) if surveyed.robot else None
    plain = force.limit == np.inf and force.reset_time == np.inf and not force.rate_time
    return bool(told is not None and told.stiffness and name == f"{joint.name} spring" and plain)


def _add_spring(surveyed: Surveyed, name: str, force: Any) -> None:
    ends = force.a, force.b
    points = [
        (inverse(surveyed.frames[end]) @ np.append(point, 1.0))[:3]
        for end, point in zip(ends, (force.at, force.at_b), strict=True)
    ]
    law = force.stiffness, force.damping, float(force.length or 0.0)
    links = surveyed.link(ends[0]), surveyed.link(ends[1])
    surveyed.description.lines.append(Line(name, links, (points[0], points[1]), *law))


def _add_gravity(surveyed: Surveyed, where: str, force: Any) -> None:
    description = surveyed.description
    own, whole = np.array(force.acceleration), np.array(description.gravity)
    if force.bodies is None:
        x, y, z = (own + whole).tolist()
        description.gravity = x, y, z
        surveyed.report.keep(where, "as part of the gravity of the file")
        return
    square = float(whole @ whole)
    share = -float(own @ whole) / square if square > 0.0 else 0.0
    if not np.allclose(own, -share * whole, rtol=0.0, atol=CLOSE * max(1.0, float(np.linalg.norm(own)))):
        surveyed.report.drop(where, "only the weight of bodies can be made less, not turned")
        return
    for name in _chosen(surveyed, force.bodies):
        if name in description.links and name != WORLD:
            description.links[name].gravity_compensation += share
    surveyed.report.keep(where, "as part of their weight that is taken off its bodies")


def _chosen(surveyed: Surveyed, names: tuple[str, ...]) -> list[str]:
    scene = surveyed.scene
    return [body.name for name in names for body in scene.groups.get(name, [scene[name]] if name in scene else [])]
