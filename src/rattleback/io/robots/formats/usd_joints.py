"""Joints and drives of USD, with angles in degrees there and radians here.

| USD | becomes |
|---|---|
| fixed, revolute, prismatic, spherical joint | the same; the cone of a spherical joint is dropped |
| distance joint, both distances equal | a distance that is kept |
| joint with limits on single freedoms | what is locked, low above high, decides: hinge, slide, universal, plane … |
| drive of a hinge or slide | servo: effort = k (target − q) + c (rate − q̇) |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import WORLD, Actuator, Coupling, Joint
from rattleback.io.robots.formats.usd_bodies import quaternion
from rattleback.io.robots.formats.usd_geometry import AXES
from rattleback.io.robots.formats.usd_stage import EXACT
from rattleback.io.robots.source.placing import inverse
from rattleback.kinematics.pose import make_pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.formats.usd import Described
    from rattleback.io.robots.formats.usd_stage import Stage

    Floats = NDArray[np.float64]

KINDS = {
    "PhysicsFixedJoint": "fixed",
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "ball",
}
WAYS, TURNS = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")
FRICTION = "physxJoint:jointFriction"
# Drives of joints of one freedom, by kind.
DRIVEN = {"revolute": "angular", "prismatic": "linear"}
CONE = ("physics:coneAngle0Limit", "physics:coneAngle1Limit")


def add_joint(described: Described, prim: Any) -> None:
    """Add a joint and its drive."""
    stage, path = described.stage, str(prim.GetPath())
    ends = [_end(described, prim, side) for side in "01"]
    stage.value(prim, "physics:excludeFromArticulation")
    report = described.source.report
    if not stage.value(prim, "physics:jointEnabled", True):
        report.drop(f"{path} joint", "it is switched off")
        return
    if ends[0][0] == ends[1][0]:
        report.drop(f"{path} joint", "both of its ends are on one body")
        return
    joint = Joint(described.name(prim), "fixed", ends[0][0], ends[1][0], ends[0][1], ends[1][1], path)
    if reason := _read_kind(described, joint, prim):
        report.drop(f"{path} joint", reason)
        return
    _read_rest(described, joint, prim)
    described.description.joints[joint.name] = joint
    _add_drives(described, joint, prim)


def _read_kind(described: Described, joint: Joint, prim: Any) -> str:
    """Kind, axis and limits of a joint; why not, where it is none here."""
    stage, kind = described.stage, str(prim.GetTypeName())
    if kind in KINDS:
        joint.kind = KINDS[kind]
        _read_simple(described, joint, prim)
        return ""
    if kind == "PhysicsDistanceJoint":
        low, high = (stage.number(prim, f"physics:{end}Distance", -1.0) * stage.meters for end in ("min", "max"))
        joint.kind, joint.length = "distance", low
        return "" if low == high > 0.0 else "a distance between two bounds is no joint here"
    if kind == "PhysicsJoint":
        return _read_freedoms(described, joint, prim)
    return f"joints of the type {kind} are not known here"


def _end(described: Described, prim: Any, side: str) -> tuple[str, Floats]:
    """Link and frame of one side of a joint; a target that is no body stands in the world."""
    stage = described.stage
    point = stage.vector(prim, f"physics:localPos{side}", (0.0, 0.0, 0.0))
    turn = quaternion(stage.value(prim, f"physics:localRot{side}"))
    targets = stage.targets(prim, f"physics:body{side}")
    target = stage.stage.GetPrimAtPath(targets[0]) if targets else None
    if not target:
        place = np.append(point * stage.meters, 1.0)
        return WORLD, stage.up @ make_pose(place[:3], turn)
    link, frame = described.link_of(target), stage.frame(target)
    local = make_pose((stage.local(target) @ np.append(point, 1.0))[:3], turn)
    if link is None:
        return WORLD, frame @ local
    return link.name, inverse(link.place) @ frame @ local


def _read_simple(described: Described, joint: Joint, prim: Any) -> None:
    """Axis and limits of a joint of one freedom."""
    stage = described.stage
    axis = str(stage.value(prim, "physics:axis", "X"))
    if joint.kind == "fixed":
        return
    turn = make_pose((0.0, 0.0, 0.0), AXES.get(axis, AXES["X"]))
    joint.frame_parent, joint.frame_child = joint.frame_parent @ turn, joint.frame_child @ turn
    if joint.kind == "ball":
        for name in CONE:
            if stage.number(prim, name, -1.0) > 0.0:
                described.source.report.drop(f"{joint.where}.{name}", "a ball joint has no limits here")
        return
    unit = np.radians(1.0) if joint.kind == "revolute" else stage.meters
    lower, upper = stage.number(prim, "physics:lowerLimit", -np.inf), stage.number(prim, "physics:upperLimit", np.inf)
    if lower <= upper and (lower > -np.inf or upper < np.inf):
        joint.limits = ((_finite(lower * unit), _finite(upper * unit)),)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _read_freedoms(described: Described, joint: Joint, prim: Any) -> str:
    """Kind, axis and limits of a joint whose freedoms are limited one by one; why not, where it is none here."""
    stage = described.stage
    bounds: dict[str, tuple[float, float]] = {}
    for name in (*WAYS, *TURNS):
        low = stage.number(prim, f"limit:{name}:physics:low", -np.inf)
        bounds[name] = low, stage.number(prim, f"limit:{name}:physics:high", np.inf)
    free = [name for name in bounds if bounds[name][0] <= bounds[name][1]]
    found = _kind_of([WAYS.index(n) for n in free if n in WAYS], [TURNS.index(n) for n in free if n in TURNS])
    if found is None:
        return f"a joint that leaves {', '.join(free)} free is not known here"
    joint.kind, turn, order = found
    frame = make_pose((0.0, 0.0, 0.0), turn)
    joint.frame_parent, joint.frame_child = joint.frame_parent @ frame, joint.frame_child @ frame
    limits: list[Any] = []
    for name in order:
        unit = stage.meters if name in WAYS else np.radians(1.0)
        pair = tuple(_finite(end * unit) for end in bounds[name])
        limits.append(None if pair == (None, None) else pair)
    joint.limits = tuple(limits) if any(limits) else ()
    return ""


def _kind_of(ways: list[int], turns: list[int]) -> tuple[str, Floats, tuple[str, ...]] | None:
    """Kind of a joint that leaves ways and turns free, the turn that puts its axis on z, its coordinates in order."""
    letters = "XYZ"
    if not ways and not turns:
        return "fixed", np.eye(3), ()
    if not ways and len(turns) == 3:
        return "ball", np.eye(3), ()
    if not ways and len(turns) == 1:
        return "revolute", AXES[letters[turns[0]]], (TURNS[turns[0]],)
    if not ways and len(turns) == 2:
        return "universal", _crossed(*turns), (TURNS[turns[0]], TURNS[turns[1]])
    if len(ways) == 1 and not turns:
        return "prismatic", AXES[letters[ways[0]]], (WAYS[ways[0]],)
    if len(ways) == 1 and turns == ways:
        return "cylindrical", AXES[letters[ways[0]]], (WAYS[ways[0]], TURNS[ways[0]])
    if len(ways) == 1 and len(turns) == 3:
        return "point_on_line", AXES[letters[ways[0]]], ()
    if len(ways) == 2 and len(turns) == 3:
        return "point_on_plane", AXES[letters[({0, 1, 2} - set(ways)).pop()]], ()
    if len(ways) == 2 and len(turns) == 1 and turns[0] not in ways:
        return "planar", AXES[letters[turns[0]]], ()
    return _unanchored(turns) if len(ways) == 3 else None


def _unanchored(turns: list[int]) -> tuple[str, Floats, tuple[str, ...]] | None:
    """The same for a joint that leaves all ways free."""
    if not turns:
        return "fixed_orientation", np.eye(3), ()
    if len(turns) == 1:
        return "common_direction", AXES["XYZ"[turns[0]]], ()
    return ("double_rotation", _crossed(*turns), ()) if len(turns) == 2 else None


def _crossed(first: int, second: int) -> Floats:
    """The turn that puts the first of two axes on z and the second on x."""
    one, other = np.eye(3)[first], np.eye(3)[second]
    return np.stack([other, np.cross(one, other), one], axis=-1)


def _read_rest(described: Described, joint: Joint, prim: Any) -> None:
    """Strength, collisions, and what extensions say of friction and rotors."""
    stage = described.stage
    force = stage.number(prim, "physics:breakForce", np.inf) * stage.kilograms * stage.meters
    torque = stage.number(prim, "physics:breakTorque", np.inf) * stage.kilograms * stage.meters**2
    joint.breaking_force = force if 0.0 < force < np.inf else None
    joint.breaking_torque = torque if 0.0 < torque < np.inf else None
    if stage.value(prim, "physics:collisionEnabled", False) and WORLD not in (joint.parent, joint.child):
        described.description.allowed.append((joint.parent, joint.child))
    arm = stage.meters if joint.kind == "revolute" else 1.0
    joint.armature = stage.number(prim, "physxJoint:armature") * stage.kilograms * arm**2
    joint.friction_loss = stage.number(prim, FRICTION) * stage.kilograms * stage.meters * arm
    if joint.friction_loss and not prim.HasAttribute(EXACT + FRICTION):
        how = "it is taken as an effort; some programs multiply it with the load of the joint"
        described.source.report.approximate(f"{joint.where}.{FRICTION} meaning", how)


def add_couplings(described: Described) -> None:
    """Add joints that follow others, as files of our own say it."""
    stage, joints = described.stage, described.description.joints
    names = {joint.where: joint.name for joint in joints.values()}
    for prim in stage.prims:
        law = stage.value(prim, f"{EXACT}coefficients")
        if law is None or str(prim.GetPath()) not in names:
            continue
        leaders = [names[str(path)] for path in stage.targets(prim, f"{EXACT}leader") if str(path) in names]
        numbers = np.array(law, dtype=np.float64)
        if len(leaders) != 1 or not len(numbers) or not np.isfinite(numbers).all():
            raise stage.error(prim, f"{EXACT}coefficients needs finite numbers and one joint as {EXACT}leader.")
        where = f"{prim.GetPath()}.{EXACT}coefficients"
        coupling = Coupling(names[str(prim.GetPath())], leaders[0], tuple(numbers.tolist()), 0.0, where)
        described.description.couplings.append(coupling)


def _add_drives(described: Described, joint: Joint, prim: Any) -> None:
    """Add the servo of a drive."""
    stage = described.stage
    for entry in prim.GetAppliedSchemas():
        if not str(entry).startswith("PhysicsDriveAPI:"):
            continue
        which = str(entry).partition(":")[2]
        law = {
            name: stage.number(prim, f"drive:{which}:physics:{name}", default)
            for name, default in (
                ("stiffness", 0.0),
                ("damping", 0.0),
                ("targetPosition", 0.0),
                ("targetVelocity", 0.0),
            )
        }
        limit = stage.number(prim, f"drive:{which}:physics:maxForce", np.inf)
        where = f"{joint.where} drive {which!r}"
        if joint.kind not in ("revolute", "prismatic"):
            described.source.report.drop(where, f"a {joint.kind} joint has no single coordinate that could be driven")
            continue
        if which not in _freedoms(stage, joint, prim):
            described.source.report.drop(where, f"the {joint.kind} joint does not move that way")
            continue
        if stage.value(prim, f"drive:{which}:physics:type", "force") == "acceleration":
            described.source.report.approximate(where, "it gives a force, not an acceleration")
        _add_servo(described, joint, (law, limit), where)


def _freedoms(stage: Stage, joint: Joint, prim: Any) -> list[str]:
    """Names of drives that move a joint of one freedom."""
    if str(prim.GetTypeName()) != "PhysicsJoint":
        return [DRIVEN[joint.kind]]
    low, high = (
        {n: stage.number(prim, f"limit:{n}:physics:{end}", sign * np.inf) for n in (*WAYS, *TURNS)}
        for end, sign in (("low", -1.0), ("high", 1.0))
    )
    return [name for name in low if low[name] <= high[name]]


def _add_servo(described: Described, joint: Joint, told: tuple[dict[str, float], float], where: str) -> None:
    law, limit = told
    stage = described.stage
    turning = joint.kind == "revolute"
    force = stage.kilograms * stage.meters * (stage.meters if turning else 1.0)
    unit = np.radians(1.0) if turning else stage.meters
    stiff, slow = law["stiffness"] * force / unit, law["damping"] * force / unit
    rate = slow * law["targetVelocity"] * unit
    kind = "position" if stiff > 0.0 else "velocity"
    if stiff <= 0.0 and slow <= 0.0:
        return
    drive = Actuator(f"{joint.name} drive", {joint.name: 1.0}, kind, 1.0, stiff, slow, where=where)
    drive.gain, drive.control = (stiff, law["targetPosition"] * unit) if stiff > 0.0 else (0.0, 0.0)
    drive.bias, drive.limit = rate, limit * force if limit < np.inf else np.inf
    described.description.actuators.append(drive)
