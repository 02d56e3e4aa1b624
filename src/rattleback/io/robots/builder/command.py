"""Commands to the actuators of a file by name: targets of servos, efforts of motors, in the units of the file.

    servo    target = (gain u + bias) / (k Σ gear)
    motor    effort on joint j = gear_j clip(gain u + bias, ±limit)

u the control, held within the range of the file; k the gain of the position, or of the velocity for a velocity drive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.io.robots.builder.drives import target_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.io.robots.builder.robot import Robot
    from rattleback.io.robots.description import Actuator

EFFORTS = {"revolute": "torque", "screw": "torque", "prismatic": "force"}


def is_running(where: Any) -> bool:
    """Whether something is a simulation; else it is a scene."""
    return hasattr(where, "state")


def control(robot: Robot, where: Any, controls: Mapping[str, Any]) -> None:
    """Give actuators of a scene or of a simulation their controls."""
    found = [(_actuator(robot, name), value) for name, value in controls.items()]
    efforts: dict[str, Any] = {}
    for actuator, value in found:
        u = checks.finite(value, f"The control of actuator {actuator.name!r}")
        if actuator.control_range is not None:
            u = np.clip(u, *actuator.control_range)
        if actuator.name in robot.drives:
            _aim(robot, where, actuator, u)
            continue
        if not is_running(where):
            raise InputError(
                f"Actuator {actuator.name!r} is a motor, which acts in a simulation only: "
                f"scene.robot.control(sim, {{{actuator.name!r}: ...}})."
            )
        effort = np.clip(actuator.gain * u + actuator.bias, -actuator.limit, actuator.limit)
        for joint, gear in actuator.joints.items():
            efforts[joint] = efforts.get(joint, 0.0) + gear * effort
    for joint, effort in efforts.items():
        _push(robot, where, joint, effort)


def _actuator(robot: Robot, name: str) -> Actuator:
    known = {actuator.name: actuator for actuator in robot.actuators if _acts(robot, actuator)}
    if name not in known:
        names = list(known)
        raise UnknownName(f"There is no actuator {name!r}.{did_you_mean(name, names)} There are {listing(names)}.")
    return known[name]


def _acts(robot: Robot, actuator: Actuator) -> bool:
    """Whether it has a servo, or is a motor on joints that can be driven."""
    driven = all(joint in robot.joint_names and robot.joints[joint].kind in EFFORTS for joint in actuator.joints)
    return actuator.name in robot.drives or (actuator.kind == "motor" and driven)


def _aim(robot: Robot, where: Any, actuator: Actuator, u: Any) -> None:
    target = target_of(actuator, u)
    for label in robot.drives[actuator.name]:
        if is_running(where):
            where.servo(label).target = target
        else:
            where.change_force(label, target=float(target))


def _push(robot: Robot, sim: Any, joint: str, effort: Any) -> None:
    """Write the effort of a joint, within its own limit."""
    told = robot.joints[joint]
    most = np.inf if told.effort_limit is None else told.effort_limit
    setattr(sim[robot.joint_names[joint]], EFFORTS[told.kind], np.clip(effort, -most, most))


def effort(robot: Robot, sim: Any, name: str) -> Any:
    """Force of an actuator in the last step, as it acts on its joints through their gears [N or N m]."""
    actuator = _actuator(robot, name)
    if name in robot.drives:
        found = [sim.servo(label).effort for label in robot.drives[name]]
    else:
        found = [getattr(sim[robot.joint_names[joint]], EFFORTS[robot.joints[joint].kind]) for joint in actuator.joints]
    return np.mean([one / gear for one, gear in zip(found, actuator.joints.values(), strict=True)], axis=0)


def stated(robot: Robot, where: Any, name: str) -> None:
    """Give actuators the controls of a named state: those of servos in a scene, of motors, too, in a simulation."""
    told = robot.keyframes[name].controls
    known = [one.name for one in robot.actuators if one.name in told and _acts(robot, one)]
    chosen = known if is_running(where) else [one for one in known if one in robot.drives]
    control(robot, where, {one: told[one] for one in chosen})
