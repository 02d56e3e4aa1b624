"""Joints of a scene as joints of a description: frames on both bodies whose z axes are the axis.

| joint | in the description |
|---|---|
| those with coordinates, and those that close loops | the same kind, by its name in the menu |
| ``Universal``, ``DoubleRotation`` | the frame of B turned so that its x axis is the second axis |
| ``Screw`` | the frame of A moved along the axis to where the angle is zero |
| ``Gear``, ``Rack`` | a coupling of the joints that bear them, see ``gears`` |
| ``VelocityJoint`` that yields about the axis of another | damping of that joint |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import Joint
from rattleback.io.robots.source.placing import about_x, from_quaternion, inverse, shift
from rattleback.io.robots.survey.tree import CROSSED
from rattleback.joints import MENU, Gear, Rack, VelocityJoint
from rattleback.joints.soft import is_soft
from rattleback.joints.stop import stops_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.survey.surveyed import Surveyed

    Floats = NDArray[np.float64]

# Freedoms with limits in the order of the coordinates, by kind.
LIMITED = {
    "revolute": ("turn_z",),
    "prismatic": ("slide_z",),
    "screw": ("turn_z",),
    "cylindrical": ("slide_z", "turn_z"),
    "universal": ("turn_a", "turn_b"),
}
ALIGNED = ("revolute", "cylindrical", "screw", "planar", "common_direction")
COUPLING = (Gear, Rack)
CLOSE = 1e-9


def add_joints(surveyed: Surveyed) -> None:
    """Add all joints that hold bodies; gears, racks and velocity joints are left to others."""
    names = file_names(surveyed)
    kinds = {made: name for name, made in MENU.items()}
    for name, joint in surveyed.scene.joints.items():
        if name in surveyed.skipped or isinstance(joint, (*COUPLING, VelocityJoint)):
            continue
        kind = kinds.get(type(joint))
        if kind is None:
            surveyed.report.drop(f"joint {name!r}", f"{type(joint).__name__} is not on the menu of joints")
            continue
        label = names.get(name, name)
        surveyed.joints[name] = label
        surveyed.description.joints[label] = _joint(surveyed, label, kind, joint)
        if is_soft(joint):
            surveyed.report.drop(
                f"joint {label!r} stiffness", "rows of joints are never soft in these formats; they hold"
            )
        if kind == "ball" and stops_of(joint):
            surveyed.report.drop(f"joint {label!r} limits", "these formats have no cone and no twist of a ball joint")
        if any(stop.restitution for stop in stops_of(joint)):
            surveyed.report.drop(f"joint {label!r} restitution", "limits of these formats have no coefficient of it")


def file_names(surveyed: Surveyed) -> dict[str, str]:
    """Names in the file that the scene was made from, by names of joints in the scene, where both are still one."""
    robot = surveyed.robot
    found = {made: told for told, made in robot.joint_names.items()} if robot else {}
    kept = {name: told for name, told in found.items() if name in surveyed.scene.joints}
    others = set(surveyed.scene.joints) - set(kept)
    return {name: told for name, told in kept.items() if told not in others}


def _joint(surveyed: Surveyed, label: str, kind: str, joint: Any) -> Joint:
    first, second = (frame_on(surveyed, joint, side) for side in (0, 1))
    if kind in ("universal", "double_rotation"):
        second = second @ CROSSED
    if kind == "screw":
        first = first @ shift(0.0, 0.0, next(row.offset for row in joint.rows() if row.kind == "screw"))
    if kind in ALIGNED:
        axes = [(surveyed.frames[end] @ frame)[:3, 2] for end, frame in ((joint.a, first), (joint.b, second))]
        second = second @ about_x(np.pi) if axes[0] @ axes[1] < 0.0 else second
    found = Joint(label, kind, surveyed.link(joint.a), surveyed.link(joint.b), first, second, f"joint {label!r}")
    found.limits = _limits(kind, joint)
    # Elsewhere damping is that of soft rows.
    found.damping = float(joint.damping) if kind in ("revolute", "prismatic") else 0.0
    found.armature = float(getattr(joint, "armature", 0.0))
    found.friction_loss = float(getattr(joint, "friction", 0.0))
    found.breaking_force, found.breaking_torque = joint.breaking_force, joint.breaking_torque
    found.pitch = float(getattr(joint, "pitch", 0.0) or 0.0)
    found.length = float(getattr(joint, "length", 0.0) or 0.0)
    return found


def frame_on(surveyed: Surveyed, joint: Any, side: int) -> Floats:
    """Frame of a joint on one of its bodies, in the body's frame (4, 4)."""
    frame = from_quaternion(joint.points()[side], joint.frames()[side])
    if joint.in_bodies:
        return frame
    return np.asarray(inverse(surveyed.frames[(joint.a, joint.b)[side]]) @ frame)


def _limits(kind: str, joint: Any) -> tuple[tuple[float | None, float | None] | None, ...]:
    given = {stop.freedom: (_finite(stop.lower), _finite(stop.upper)) for stop in stops_of(joint)}
    pairs = tuple(given.get(freedom) for freedom in LIMITED.get(kind, ()))
    return pairs if any(pairs) else ()


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def add_dampers(surveyed: Surveyed) -> None:
    """Give the damping of velocity joints to the joints about or along whose axes they yield."""
    for name, joint in surveyed.scene.joints.items():
        if not isinstance(joint, VelocityJoint) or name in surveyed.skipped:
            continue
        braked = _braked(surveyed, joint)
        if braked is None:
            why = "the formats have no joints of velocities alone, but as damping about the axis of another joint"
            surveyed.report.drop(f"joint {name!r}", why)
            continue
        damping = joint.angular_damping if braked.kind == "revolute" else joint.linear_damping
        braked.damping += float(damping or 0.0)
        surveyed.report.keep(f"joint {name!r}", f"as damping of the joint {braked.name!r}")


def _braked(surveyed: Surveyed, damper: VelocityJoint) -> Joint | None:
    """The hinge or slide whose axis a velocity joint brakes."""
    rates = {"revolute": (damper.angular, damper.linear, damper.angular_damping)}
    rates["prismatic"] = damper.linear, damper.angular, damper.linear_damping
    ends = surveyed.link(damper.a), surveyed.link(damper.b)
    first, second = (frame_on(surveyed, damper, side) for side in (0, 1))
    for joint in surveyed.description.joints.values():
        if joint.kind not in rates or (joint.parent, joint.child) != ends:
            continue
        own, other, damping = rates[joint.kind]
        if damping is None or own != (None, None, 0.0) or other != (None, None, None):
            continue
        same = np.allclose(first[:3, 2], joint.frame_parent[:3, 2], rtol=0.0, atol=CLOSE)
        anchor = np.allclose(second[:3, 3], joint.frame_child[:3, 3], rtol=0.0, atol=CLOSE)
        if same and (anchor or joint.kind == "revolute"):
            return joint
    return None
