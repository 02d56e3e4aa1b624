"""Equalities, actuators, named states and sensors of MJCF.

| MJCF | becomes |
|---|---|
| ``connect``, ``weld`` | a ball joint, a fixed joint that closes a loop: exact, not soft |
| ``equality/joint`` | a coupling, q₁ − q₁₀ = Σ c_k (q₂ − q₂₀)^k |
| ``motor``, ``position``, ``velocity``, ``general`` | effort = gain u + b₀ + b₁ l + b₂ l̇ on joints or fixed tendons |
| fixed tendon | the weights of an actuator on its joints |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Actuator, Coupling, Joint, Keyframe, Sensor
from rattleback.io.robots.source.placing import from_quaternion, shift

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.formats.mjcf import Described
    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

CONNECT, WELD, JOINT, TENDON = range(4)
BODY = 1
ON_JOINT, IN_PARENT, ON_TENDON = 0, 1, 3
# Kinds of joints of one freedom: slide, hinge.
ONE_FREEDOM = (2, 3)
FIXED_GAIN = 0
INTEGRATES = 1
NO_BIAS, AFFINE_BIAS = 0, 1
# The named state that files of our own start with.
START = "rattleback:start"
# Object of the simulator that a fixed tendon wraps.
WRAPS_JOINT = 1


def add_equalities(described: Described, report: Report) -> None:
    """Add loops and couplings."""
    model, description = described.model, described.description
    for k in range(model.neq):
        kind, name = int(model.eq_type[k]), described.name("eq", k, description.joints)
        where = f"equality {name!r}"
        if not model.eq_active0[k]:
            report.drop(where, "it is not active")
        elif kind in (CONNECT, WELD):
            description.joints[name] = _loop(described, k, name)
        elif kind == TENDON:
            # Held lengths are told of with the tendons.
            continue
        elif kind == JOINT:
            description.couplings.append(_coupling(described, k, where))
        else:
            report.drop(where, "only connect, weld and joint are constraints here")


def _loop(described: Described, k: int, name: str) -> Joint:
    model = described.model
    ends = [int(getattr(model, f"eq_obj{side}id")[k]) for side in (1, 2)]
    weld = int(model.eq_type[k]) == WELD
    if int(model.eq_objtype[k]) == BODY:
        links, data = [described.links[end] for end in ends], model.eq_data[k]
        if weld:
            w, x, y, z = data[6:10]
            frames = [from_quaternion(data[3:6], (x, y, z, w)), shift(*data[0:3])]
        else:
            frames = [shift(*data[0:3]), shift(*data[3:6])]
    else:
        links = [described.links[int(model.site_bodyid[site])] for site in ends]
        frames = []
        for site in ends:
            w, x, y, z = model.site_quat[site]
            frames.append(from_quaternion(model.site_pos[site], (x, y, z, w)))
    kind = "fixed" if weld else "ball"
    return Joint(name, kind, links[0], links[1], frames[0], frames[1], f"equality {name!r}", closes=True)


def _coupling(described: Described, k: int, where: str) -> Coupling:
    model = described.model
    first, second = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    coefficients = model.eq_data[k][:5].tolist()
    coefficients[0] += float(model.qpos0[int(model.jnt_qposadr[first])])
    if second < 0:
        return Coupling(described.joints[first], "", (coefficients[0],), 0.0, where)
    origin = float(model.qpos0[int(model.jnt_qposadr[second])])
    return Coupling(described.joints[first], described.joints[second], _trimmed(coefficients, origin), 0.0, where)


def _trimmed(coefficients: list[float], origin: float) -> tuple[float, ...]:
    """The polynomial in q − origin as one in q, without zeros at its end."""
    shifted = np.polynomial.Polynomial(coefficients)(np.polynomial.Polynomial([-origin, 1.0])).coef.tolist()
    while len(shifted) > 2 and shifted[-1] == 0.0:
        shifted.pop()
    return tuple(shifted)


def add_actuators(described: Described, report: Report) -> None:
    """Add what drives."""
    model = described.model
    for k in range(model.nu):
        name = described.name("actuator", k)
        where, joints = f"actuator {name!r}", _driven(described, k)
        if reason := _no_drive(model, k, joints):
            report.drop(where, reason)
            described.lost.add(name)
            continue
        if int(model.actuator_dyntype[k]):
            report.approximate(where, "its activation follows the control at once")
        described.description.actuators.append(_actuator(model, k, (name, where), joints))
        lower, upper = model.actuator_forcerange[k].tolist()
        if model.actuator_forcelimited[k] and lower != -upper:
            report.approximate(where, f"its force range is not even; it is {max(-lower, upper):g} both ways")
        driven = described.description.actuators[-1].kind != "motor"
        together = min(joints.values()) * max(joints.values()) > 0.0
        if driven and len(joints) > 1 and together and not _alike(described, joints):
            report.approximate(where, "each joint of its tendon is driven as if the others moved with it")


def _no_drive(model: Any, k: int, joints: dict[str, float]) -> str:
    """Why an actuator is none here; empty if it is one."""
    if not joints:
        return "it acts on no joint of one freedom and on no fixed tendon of such joints"
    gain, bias = int(model.actuator_gaintype[k]), int(model.actuator_biastype[k])
    if gain != FIXED_GAIN or bias not in (NO_BIAS, AFFINE_BIAS):
        return "its force is no linear function of control, coordinate and speed"
    return "no drive integrates its control" if int(model.actuator_dyntype[k]) == INTEGRATES else ""


def _driven(described: Described, k: int) -> dict[str, float]:
    """Joints of an actuator, and what a unit of its force does to each."""
    model = described.model
    kind, target = int(model.actuator_trntype[k]), int(model.actuator_trnid[k][0])
    gear = float(model.actuator_gear[k][0])
    if kind in (ON_JOINT, IN_PARENT):
        return {described.joints[target]: gear} if int(model.jnt_type[target]) in ONE_FREEDOM else {}
    if kind != ON_TENDON:
        return {}
    found = {}
    for wrap in range(int(model.tendon_adr[target]), int(model.tendon_adr[target]) + int(model.tendon_num[target])):
        if int(model.wrap_type[wrap]) != WRAPS_JOINT:
            return {}
        found[described.joints[int(model.wrap_objid[wrap])]] = gear * float(model.wrap_prm[wrap])
    return found


def _alike(described: Described, joints: dict[str, float]) -> bool:
    """Whether joints are coupled one to one."""
    first, *others = joints
    pairs = {
        frozenset((one.follower, one.leader))
        for one in described.description.couplings
        if one.coefficients in ((0.0, 1.0), (-0.0, 1.0))
    }
    return all(frozenset((first, other)) in pairs for other in others)


def _actuator(model: Any, k: int, named: tuple[str, str], joints: dict[str, float]) -> Actuator:
    gain, bias = float(model.actuator_gainprm[k][0]), model.actuator_biasprm[k].tolist()
    if int(model.actuator_biastype[k]) == NO_BIAS:
        bias = [0.0, 0.0, 0.0]
    kind = "position" if bias[1] < 0.0 else "velocity" if bias[2] < 0.0 else "motor"
    found = Actuator(named[0], joints, kind, gain, -bias[1], -bias[2], bias[0], where=named[1])
    if model.actuator_forcelimited[k]:
        found.limit = float(np.abs(model.actuator_forcerange[k]).max())
    if model.actuator_ctrllimited[k]:
        lower, upper = model.actuator_ctrlrange[k].tolist()
        found.control_range = lower, upper
        found.control = min(max(0.0, lower), upper)
    return found


def add_keyframes(described: Described) -> None:
    """Add named states."""
    model, description = described.model, described.description
    for k in range(model.nkey):
        name = described.name("key", k, description.keyframes)
        if name == START:
            _begin(described, k)
            continue
        state = {joint: described.coordinate(number, model.key_qpos[k]) for number, joint in described.joints.items()}
        controls = {described.name("actuator", a): float(model.key_ctrl[k][a]) for a in range(model.nu)}
        description.keyframes[name] = Keyframe(name, state, controls)


def _begin(described: Described, k: int) -> None:
    """Start with the controls and velocities of a named state that a file of our own has for it."""
    from rattleback.io.robots.formats.mjcf_files import mujoco_module

    mujoco, model = mujoco_module(""), described.model
    controls = {described.name("actuator", a): float(model.key_ctrl[k][a]) for a in range(model.nu)}
    for actuator in described.description.actuators:
        actuator.control = controls.get(actuator.name, actuator.control)
    if not model.key_qvel[k].any():
        return
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = model.key_qpos[k], model.key_qvel[k]
    mujoco.mj_forward(model, data)
    for number, link in described.links.items():
        found = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, number, found, 0)
        if number and found.any():
            described.description.links[link].velocity = np.concatenate([found[3:], found[:3]])


def add_sensors(described: Described) -> None:
    """Add what is to be measured."""
    from rattleback.io.robots.formats.mjcf_files import mujoco_module

    mujoco, model = mujoco_module(""), described.model
    for k in range(model.nsensor):
        kind = mujoco.mjtSensor(int(model.sensor_type[k])).name.removeprefix("mjSENS_").lower()
        target, number = mujoco.mjtObj(int(model.sensor_objtype[k])), int(model.sensor_objid[k])
        on = mujoco.mj_id2name(model, int(target), number) or WORLD
        sensor = Sensor(described.name("sensor", k), kind, str(on))
        if target == mujoco.mjtObj.mjOBJ_JOINT:
            sensor.joint = described.joints[number]
        elif target == mujoco.mjtObj.mjOBJ_ACTUATOR:
            sensor.actuator = described.name("actuator", number)
        else:
            sensor.frame = _frame(described, target.name, number)
        reference = mujoco.mjtObj(int(model.sensor_reftype[k]))
        sensor.reference = _frame(described, reference.name, int(model.sensor_refid[k]))
        described.description.sensors.append(sensor)


def _frame(described: Described, kind: str, number: int) -> tuple[str, Floats] | None:
    """Link of a thing, and its frame in the link's; None for what has none."""
    model, kind = described.model, kind.removeprefix("mjOBJ_").lower()
    if number < 0:
        return None
    if kind == "xbody":
        return described.links[number], np.eye(4)
    if kind == "body":
        w, x, y, z = model.body_iquat[number]
        return described.links[number], from_quaternion(model.body_ipos[number], (x, y, z, w))
    names = {"site": "site", "geom": "geom", "camera": "cam"}
    if kind not in names:
        return None
    body, point, (w, x, y, z) = (getattr(model, f"{names[kind]}_{end}")[number] for end in ("bodyid", "pos", "quat"))
    return described.links[int(body)], from_quaternion(point, (x, y, z, w))
