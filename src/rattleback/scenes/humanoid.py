"""A humanoid robot of 27 hinges in contact with the ground.

It stands along z, looks along x and has its left side along y; all angles are zero where it stands straight. Each hinge
joins two bodies, as drives do in such robots: a shoulder is three hinges with two small links between them.

| part | hinges, from the trunk outwards |
|---|---|
| waist | yaw, pitch |
| neck | pitch |
| leg | hip yaw, roll and pitch, knee, ankle pitch and roll |
| arm | shoulder pitch, roll and yaw, elbow, wrist yaw and pitch |

About y, a leg or an arm that swings forward turns by a negative angle, and a trunk that bows by a positive one. Servos
hold the angles at zero, unless the humanoid is limp. Small links have mass, but nothing that collides. Neighbours along
a limb do not collide; all other parts do, with each other and with the ground.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.forces.servo import Servo
from rattleback.joints import Revolute
from rattleback.maths.rotation import conjugate, quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Capsule, Plane, Sphere

RUBBER = Material(friction=0.4)
AXES = {"yaw": (0.0, 0.0, 1.0), "pitch": (0.0, 1.0, 0.0), "roll": (1.0, 0.0, 0.0)}
# A link without a shape turns as a ball of this radius does [m].
SMALL = 0.05


class Part(NamedTuple):
    """A part: what carries it, the axis of its hinge and where that is [m], mass [kg], shape and its middle [m].

    Servo: gain [N m] and damping [N m s]. Limits of the angle [rad]. Without a shape the middle is at the hinge.
    """

    parent: str
    axis: str
    at: tuple[float, float, float]
    mass: float
    shape: Any
    middle: tuple[float, float, float]
    servo: tuple[float, float]
    limits: tuple[float, float]


LEG, ANKLE_SERVO, SOLE, ARM, HAND = (500.0, 10.0), (450.0, 5.0), (200.0, 3.0), (80.0, 2.0), (10.0, 0.3)
HIP, SHOULDER, ANKLE, WRIST = (0.0, 0.1, 0.9), (0.0, 0.24, 1.38), (0.0, 0.1, 0.1), (0.0, 0.24, 0.81)
TRUNK = {
    "waist": Part("pelvis", "yaw", (0, 0, 1.03), 2.0, None, (0, 0, 1.03), LEG, (-1.2, 1.2)),
    "chest": Part("waist", "pitch", (0, 0, 1.05), 13.0, Box(0.2, 0.3, 0.36), (0, 0, 1.27), LEG, (-0.5, 1.2)),
    "head": Part("chest", "pitch", (0, 0, 1.5), 3.5, Sphere(0.11), (0, 0, 1.62), HAND, (-0.7, 0.7)),
}
# Those of the left side; the right side is their mirror image.
LIMBS = {
    "hip_yaw": Part("pelvis", "yaw", HIP, 1.0, None, HIP, LEG, (-0.8, 0.8)),
    "hip_roll": Part("hip_yaw", "roll", HIP, 1.0, None, HIP, LEG, (-0.5, 0.8)),
    "thigh": Part("hip_roll", "pitch", HIP, 5.0, Capsule(0.07, 0.36), (0, 0.1, 0.7), LEG, (-2.0, 0.6)),
    "shin": Part("thigh", "pitch", (0, 0.1, 0.5), 3.5, Capsule(0.055, 0.34), (0, 0.1, 0.32), LEG, (-0.05, 2.4)),
    "ankle": Part("shin", "pitch", ANKLE, 0.8, None, ANKLE, ANKLE_SERVO, (-0.7, 0.8)),
    "foot": Part("ankle", "roll", ANKLE, 2.0, Box(0.26, 0.1, 0.06), (0.04, 0.1, 0.03), SOLE, (-0.4, 0.4)),
    "shoulder_pitch": Part("chest", "pitch", SHOULDER, 0.8, None, SHOULDER, ARM, (-3.0, 1.0)),
    "shoulder_roll": Part("shoulder_pitch", "roll", SHOULDER, 0.8, None, SHOULDER, ARM, (-0.2, 2.5)),
    "upper_arm": Part("shoulder_roll", "yaw", SHOULDER, 2.2, Capsule(0.05, 0.3), (0, 0.24, 1.24), ARM, (-1.5, 1.5)),
    "forearm": Part(
        "upper_arm", "pitch", (0, 0.24, 1.08), 1.4, Capsule(0.04, 0.26), (0, 0.24, 0.95), ARM, (-2.4, 0.05)
    ),
    "wrist": Part("forearm", "yaw", WRIST, 0.3, None, WRIST, HAND, (-1.5, 1.5)),
    "hand": Part("wrist", "pitch", WRIST, 0.5, Sphere(0.05), (0, 0.24, 0.74), HAND, (-1.0, 1.0)),
}
PELVIS = Part("", "", (0, 0, 0), 7.0, Box(0.18, 0.2, 0.14), (0, 0, 0.97), (0.0, 0.0), (0.0, 0.0))
# Neighbours with small links between them.
LEGS_APART = [("pelvis", "{}thigh"), ("{}shin", "{}foot")]
APART = [("pelvis", "chest"), *LEGS_APART, ("chest", "{}upper_arm"), ("{}forearm", "{}hand")]


def humanoid(height: float = 0.0, lean: float = 0.0, limp: bool = False, limits: bool = True) -> Scene:
    """A humanoid robot of 28 bodies, 27 hinges and 64 kg, which stands by its servos or falls.

    Args:
        height: How far its lowest point is above the ground at the start [m].
        lean: Angle by which it leans forward at the start [rad].
        limp: Whether it is without servos and damping, and collapses.
        limits: Whether its joints turn only as far as those of a human.
    """
    height, lean = checks.not_negative(height, "The height of humanoid"), checks.number(lean, "The lean of humanoid")
    limp, limits = checks.flag(limp, "The limp of humanoid"), checks.flag(limits, "The limits of humanoid")
    turn, scene = quaternion_from_axis_angle(AXES["pitch"], lean), Scene(name="humanoid")
    scene.add_static(Plane(), name="ground", material=RUBBER)
    parts = _parts()
    down = rotate(conjugate(turn), (0.0, 0.0, -1.0))
    deepest = max((part.shape.support(down) + part.middle) @ down for part in (PELVIS, *parts.values()) if part.shape)
    rise = np.array((0.0, 0.0, height + float(deepest)))
    for name, part in {"pelvis": PELVIS, **parts}.items():
        place = rise + rotate(turn, part.middle)
        inertia: Any = {} if part.shape else {"inertia": (0.4 * part.mass * SMALL**2,) * 3}
        options: Any = {"name": name, "material": RUBBER, "orientation": turn, **inertia}
        scene.add_body(part.shape, mass=part.mass, position=place, **options)
    for name, part in parts.items():
        at, axis = rise + rotate(turn, part.at), rotate(turn, AXES[part.axis])
        held: Any = {"damping": 0.0 if limp else part.servo[1], "limits": part.limits if limits else None}
        joint = scene.add_joint(Revolute(part.parent, name, at=at, axis=axis, **held), name=f"{name}_hinge")
        if not limp:
            scene.add_force(Servo(joint, gain=part.servo[0]), name=f"{name}_servo")
    for (a, b), side in itertools.product(APART, ("left_", "right_")):
        scene.exclude(a.format(side), b.format(side))
    return scene


def _parts() -> dict[str, Part]:
    """The parts that a hinge carries by name, those that carry others first."""
    limbs = {f"{side}_{name}": _part_on(part, side) for side in ("left", "right") for name, part in LIMBS.items()}
    return {**TRUNK, **limbs}


def _part_on(part: Part, side: str) -> Part:
    """A part of the left side on either side; on the right, angles about x and z are those of the mirror image."""
    sign = 1.0 if side == "left" else -1.0
    parent = part.parent if part.parent in ("pelvis", *TRUNK) else f"{side}_{part.parent}"
    limits = part.limits if side == "left" or part.axis == "pitch" else (-part.limits[1], -part.limits[0])
    (x, y, z), middle = part.at, part.middle
    placed: Any = {"at": (x, sign * y, z), "middle": (middle[0], sign * middle[1], middle[2])}
    return part._replace(parent=parent, limits=limits, **placed)
