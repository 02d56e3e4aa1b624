"""Joints of USD: those with a type of their own, and joints whose freedoms are locked one by one.

A freedom is locked where its lower limit is above its upper one. Springs, dampers and actuators of a joint become one
drive, with angles in degrees:

    effort = K (x* − x) + C (v* − v)        K = Σ k_i      C = Σ c_i      x* = Σ k_i x_i / K      v* = Σ c_i v_i / C
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.builder.drives import target_of
from rattleback.io.robots.description import FAR, WORLD
from rattleback.io.robots.source.placing import parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.description import Actuator, Joint
    from rattleback.io.robots.writers.usd.stage import Stage

    Floats = NDArray[np.float64]

TYPES = {
    "fixed": "FixedJoint",
    "revolute": "RevoluteJoint",
    "prismatic": "PrismaticJoint",
    "ball": "SphericalJoint",
    "distance": "DistanceJoint",
}
ALL = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
TURNS = ALL[3:]
# Freedoms that are left, those with limits first and in the order of the coordinates.
FREEDOMS = {
    "cylindrical": ("transZ", "rotZ"),
    "universal": ("rotX", "rotZ"),
    "planar": ("transX", "transY", "rotZ"),
    "point_on_line": ("transZ", *TURNS),
    "point_on_plane": ("transX", "transY", *TURNS),
    "fixed_orientation": ALL[:3],
    "common_direction": (*ALL[:3], "rotZ"),
    "double_rotation": (*ALL[:3], "rotX", "rotZ"),
}
# The first axis of two that cross is x of the stage's frame, z of the description's.
CROSSED = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


# What stands before the names of attributes of our own.
OWN = "rattleback:"


@dataclass
class Drive:
    """One drive: stiffness, damping, and both times what they aim at."""

    stiffness: float = 0.0
    damping: float = 0.0
    pull: float = 0.0
    push: float = 0.0
    limit: float = np.inf

    def add(self, stiffness: float, damping: float, position: float = 0.0, velocity: float = 0.0) -> None:
        """Add a spring, a damper or an actuator."""
        self.pull, self.push = self.pull + stiffness * position, self.push + damping * velocity
        self.stiffness, self.damping = self.stiffness + stiffness, self.damping + damping


def add_joint(stage: Stage, joint: Joint) -> None:
    """Add a joint; what is fixed to the world, or free, needs none."""
    where = f"joint {joint.name!r}"
    if joint.kind == "free" or (joint.kind == "fixed" and joint.where != where):
        return
    if joint.kind not in (*TYPES, *FREEDOMS):
        stage.report.drop(where, f"UsdPhysics has no {joint.kind} joint")
        return
    above = f"{stage.root}/joints"
    stage.geom.Scope.Define(stage.stage, above)
    kind = getattr(stage.physics, TYPES.get(joint.kind, "Joint"))
    made = stage.define(kind, above, joint.name, told=True)
    _place(stage, made, joint)
    if joint.kind in FREEDOMS:
        _lock(stage, made, joint)
    elif joint.kind == "distance":
        for name in ("minDistance", "maxDistance"):
            stage.number(made, f"physics:{name}", joint.length)
    else:
        _add_limits(stage, made, joint)
    _add_options(stage, made, joint)
    stage.report.keep(where, "outside the articulation" if joint.closes else "")
    _add_drive(stage, made, joint)
    _tell(stage, joint)


def _add_options(stage: Stage, made: Any, joint: Joint) -> None:
    """Say whether it closes a loop, whether its bodies collide, and how strong it is."""
    base = stage.physics.Joint(made)
    if joint.closes:
        base.CreateExcludeFromArticulationAttr(True)
    if {joint.parent, joint.child} in [set(pair) for pair in stage.description.allowed]:
        base.CreateCollisionEnabledAttr(True)
    for name, value in (("breakForce", joint.breaking_force), ("breakTorque", joint.breaking_torque)):
        if value is not None:
            stage.number(made, f"physics:{name}", value)


def _place(stage: Stage, made: Any, joint: Joint) -> None:
    """Put its frames on both bodies; the world is no body."""
    crossed = CROSSED if joint.kind in ("universal", "double_rotation") else np.eye(4)
    sides = (joint.parent, joint.frame_parent), (joint.child, joint.frame_child)
    for number, (link, frame) in enumerate(sides):
        point, turn = parts(frame @ crossed)
        stage.vector(made, f"physics:localPos{number}", point, "Point3f")
        stage.turn(made, f"physics:localRot{number}", turn)
        if link != WORLD:
            made.CreateRelationship(f"physics:body{number}", False).SetTargets([stage.sdf.Path(stage.path(link))])


def _add_limits(stage: Stage, made: Any, joint: Joint) -> None:
    if joint.kind == "fixed":
        return
    made.GetAttribute("physics:axis").Set("Z")
    lower, upper = joint.limit
    unit = np.degrees(1.0) if joint.kind == "revolute" else 1.0
    for name, value in (("lowerLimit", lower), ("upperLimit", upper)):
        if np.isfinite(value):
            stage.number(made, f"physics:{name}", value * unit)


def _lock(stage: Stage, made: Any, joint: Joint) -> None:
    """Lock the freedoms that a joint does not leave, and limit those that have limits."""
    free = FREEDOMS[joint.kind]
    for name in ALL:
        if name not in free:
            stage.physics.LimitAPI.Apply(made, name)
            stage.number(made, f"limit:{name}:physics:low", 1.0)
            stage.number(made, f"limit:{name}:physics:high", -1.0)
    for name, pair in zip(free, joint.limits, strict=False):
        unit = np.degrees(1.0) if name in TURNS else 1.0
        for end, value in zip(("low", "high"), pair or (None, None), strict=True):
            if value is not None:
                stage.physics.LimitAPI.Apply(made, name)
                stage.number(made, f"limit:{name}:physics:{end}", value * unit)


def _add_drive(stage: Stage, made: Any, joint: Joint) -> None:
    """Add springs, dampers and actuators of a joint as one drive."""
    actuators = [one for one in stage.description.actuators if joint.name in one.joints and one.kind != "motor"]
    if joint.kind not in ("revolute", "prismatic"):
        return
    drive = Drive()
    drive.add(joint.stiffness, joint.damping, joint.rest)
    passive = bool(joint.stiffness or joint.damping)
    for actuator in actuators:
        _join(drive, joint, actuator)
    if drive.limit < np.inf and (passive or len(actuators) > 1):
        told = "its springs, dampers and actuators are one drive, whose largest effort holds for all of them"
        stage.report.approximate(f"joint {joint.name!r} drive", told)
    turning = joint.kind == "revolute"
    unit, which = (np.degrees(1.0), "angular") if turning else (1.0, "linear")
    if drive.stiffness or drive.damping:
        stage.physics.DriveAPI.Apply(made, which).CreateTypeAttr("force")
        law = {"stiffness": drive.stiffness / unit, "damping": drive.damping / unit}
        law["targetPosition"] = drive.pull / drive.stiffness * unit if drive.stiffness else 0.0
        law["targetVelocity"] = drive.push / drive.damping * unit if drive.damping else 0.0
        if drive.limit < np.inf:
            law["maxForce"] = drive.limit
        for name, value in law.items():
            if value:
                stage.number(made, f"drive:{which}:physics:{name}", value)


def _join(drive: Drive, joint: Joint, actuator: Actuator) -> None:
    """Add what an actuator does to one of its joints, the others moving alike."""
    gear, total = actuator.joints[joint.name], sum(actuator.joints.values())
    stiff, slow = actuator.position_gain * gear * total, actuator.velocity_gain * gear * total
    aim = target_of(actuator, actuator.control)
    if actuator.kind == "position":
        drive.add(stiff, slow, aim)
    else:
        drive.add(0.0, slow, 0.0, aim)
    drive.limit = min(drive.limit, abs(gear) * actuator.limit)


def _tell(stage: Stage, joint: Joint) -> None:
    """Tell what becomes of limits, springs, actuators and data of a joint."""
    where, report = f"joint {joint.name!r}", stage.report
    single = joint.kind in ("revolute", "prismatic")
    if any(joint.limits):
        report.keep(f"{where} limits")
    for name in ("damping", "stiffness"):
        if getattr(joint, name):
            tell = report.keep if single else report.drop
            tell(
                f"{where} {name}", "in its drive" if single else f"a {joint.kind} joint of UsdPhysics has no drive here"
            )
    for name, key in (("armature", "physxJoint:armature"), ("friction_loss", "physxJoint:jointFriction")):
        if getattr(joint, name):
            prim = stage.stage.GetPrimAtPath(stage.joint_path(joint.name))
            stage.number(prim, key, getattr(joint, name))
            if name == "friction_loss":
                prim.CreateAttribute(OWN + key, stage.sdf.ValueTypeNames.Double, True).Set(float(joint.friction_loss))
            report.keep(f"{where} {name}", f"as {key}, which UsdPhysics itself does not have")
    for name in ("effort_limit", "velocity_limit"):
        value = getattr(joint, name)
        if value is not None and 0.0 < value < FAR:
            report.drop(f"{where} {name}", "UsdPhysics limits efforts of drives, not of joints")
    if joint.breaking_force is not None or joint.breaking_torque is not None:
        report.keep(f"{where} strength")


def add_couplings(stage: Stage) -> None:
    """Say in attributes of our own which joints follow others."""
    types, joints = stage.sdf.ValueTypeNames, stage.description.joints
    for coupling in stage.description.couplings:
        where = coupling.where or f"coupling of {coupling.follower!r}"
        if any(joints[name].kind not in (*TYPES, *FREEDOMS) for name in (coupling.follower, coupling.leader)):
            stage.report.drop(where, "one of its joints is not in the file")
            continue
        paths = [stage.joint_path(name) for name in (coupling.follower, coupling.leader)]
        prim = stage.stage.GetPrimAtPath(paths[0])
        prim.CreateRelationship(f"{OWN}leader", True).SetTargets([paths[1]])
        law = np.polynomial.Polynomial(coupling.coefficients)(np.polynomial.Polynomial([-coupling.origin, 1.0])).coef
        prim.CreateAttribute(f"{OWN}coefficients", types.DoubleArray, True).Set(law.tolist())
        told = "UsdPhysics has no joints that follow others; attributes of our own say it, which no other reader knows"
        stage.report.approximate(where, told)


def tell_actuators(stage: Stage) -> None:
    """Tell what becomes of actuators."""
    joints = stage.description.joints
    for actuator in stage.description.actuators:
        where = actuator.where or f"actuator {actuator.name!r}"
        if actuator.kind == "motor":
            stage.report.drop(where, "an effort that programs write is no drive of UsdPhysics")
        elif all(joints[name].kind in ("revolute", "prismatic") for name in actuator.joints):
            stage.report.keep(where, "as drives of its joints")
        else:
            stage.report.drop(where, "one of its joints is none that UsdPhysics can drive")
