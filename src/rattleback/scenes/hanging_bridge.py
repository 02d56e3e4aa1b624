"""A bridge of planks on two rows of ball joints, fixed at both ends, and walkers that cross it.

    z(x) = −s (1 − (2 x/L − 1)²)

z height of the joints, L = 0.34 m times the number of planks, s sag, L/17. Planks of equal weight at equal distances
hang with their joints on such a parabola, so that the bridge starts at rest. Two joints at every gap forbid six motions
where a hinge, which is all they leave, forbids five; and the bridge is a loop through the world. So some of their
conditions are implied by others, and what holds the planks is not determined by the joints alone.

A walker is a capsule that stands upright and glides on soles without friction; what pulls it along is a velocity joint
to the world. So it loads the bridge by its weight, and not along it, as one does at a steady pace.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.joints import Ball, VelocityJoint
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Capsule

WOOD, SOLE = Material(friction=0.5), Material(friction=0.4)
# A plank: along the bridge, across it, thickness [m]; its mass [kg]; from a joint to the next, level [m].
PLANK, PLANK_MASS, PITCH = (0.30, 1.20, 0.05), 8.0, 0.34
# How far the joints are from the middle, across [m]; the sag as a part of the length.
ROPE, SAG = 0.55, 1.0 / 17.0
# A walker: radius, height [m], mass [kg], pace [m/s]; from one to the next along the bank [m].
RADIUS, HEIGHT, WALKER_MASS, PACE, BEHIND = 0.2, 1.7, 80.0, 1.0, 0.8
# What a walker is pulled along with for every m/s that it lacks [N s/m].
PULL = 2000.0
# Room between a bank and the bridge, a bank's width and depth [m].
CLEARANCE, BANK = 0.02, (2.0, 3.0)


def hanging_bridge(planks: int = 30, walkers: int = 0) -> Scene:
    """A bridge of planks that hangs between two banks by ball joints, two at every gap, and walkers that cross it.

    Args:
        planks: Number of planks, of 8 kg, 0.34 m from one to the next; at least 2.
        walkers: Number of walkers, of 80 kg each, that walk from one bank to the other in single file, 1 m each second.
    """
    planks = checks.count(planks, "The planks of hanging_bridge", least=2)
    walkers = checks.count(walkers, "The walkers of hanging_bridge", least=0)
    scene, length = Scene(name="hanging_bridge"), PITCH * planks
    x = PITCH * np.arange(planks + 1)
    joints = np.stack([x, np.zeros(planks + 1), -SAG * length * (1.0 - (2.0 * x / length - 1.0) ** 2)], axis=1)
    long = BEHIND * walkers + 1.0
    for name, end, side in (("left_bank", 0.0, -1.0), ("right_bank", length, 1.0)):
        place = (end + side * (CLEARANCE + 0.5 * long), 0.0, 0.5 * (PLANK[2] - BANK[1]))
        scene.add_static(Box(long, *BANK), name=name, material=WOOD, position=place)
    for k, (a, b) in enumerate(itertools.pairwise(joints)):
        turn = quaternion_from_axis_angle((0, 1, 0), -math.atan2(b[2] - a[2], b[0] - a[0]))
        options: Any = {"position": 0.5 * (a + b), "orientation": turn, "material": WOOD, "group": "bridge"}
        scene.add_body(Box(*PLANK), mass=PLANK_MASS, name=f"plank_{k + 1}", **options)
    _add_joints(scene, joints)
    for k in range(walkers):
        _add_walker(scene, f"walker_{k + 1}", -CLEARANCE - BEHIND * (k + 0.5))
    return scene


def _add_joints(scene: Scene, places: np.ndarray) -> None:
    """Two ball joints at every gap, to the banks at both ends."""
    planks = len(places) - 1
    for k, place in enumerate(places):
        a = "left_bank" if k == 0 else f"plank_{k}"
        b = "right_bank" if k == planks else f"plank_{k + 1}"
        for side, y in (("left", ROPE), ("right", -ROPE)):
            scene.add_joint(Ball(a, b, at=place + np.array([0.0, y, 0.0])), name=f"{side}_{k + 1}")


def _add_walker(scene: Scene, name: str, x: float) -> None:
    """A walker on the left bank, and what pulls it along."""
    place = (x, 0.0, 0.5 * (PLANK[2] + HEIGHT))
    options: Any = {"velocity": (PACE, 0.0, 0.0), "material": SOLE, "group": "walkers"}
    scene.add_body(Capsule(RADIUS, HEIGHT), mass=WALKER_MASS, name=name, position=place, **options)
    rates: Any = {"linear": (PACE, 0.0, None), "angular": (0.0, 0.0, 0.0), "linear_damping": PULL}
    scene.add_joint(VelocityJoint(scene.world, name, at=place, **rates), name=f"pace_of_{name}")
    scene.pair(SOLE, WOOD, friction=0.0)
