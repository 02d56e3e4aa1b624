"""A bridge of planks on hinges that break, and a weight that falls on it.

    T = W / (2 tan α cos β)

T force of a hinge at rest, W weight of the planks, α slope of the bridge at its ends, β slope at the hinge. The planks
are chords of an arc of a circle, almost the curve in which they hang at rest. A blow loads all hinges of such a chain
at once, those in the middle a little more; there they are worn, too, so that the bridge parts there. Joined bodies pass
through each other, also when their joint is broken, unless the scene allows them to collide, as it does here.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from rattleback.core import checks
from rattleback.joints import Revolute
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Plane, Sphere

WOOD = Material(friction=0.5, restitution=0.1)
# A plank: along the bridge, across it, thickness [m]; its mass [kg]. Gap between two planks [m].
PLANK, PLANK_MASS, GAP = (0.40, 1.20, 0.06), 6.0, 0.02
# Slope of the bridge at its ends [rad].
SLOPE = math.radians(25.0)
# The rocks it hangs between: along, across, height, and how far the outermost hinges are in front of them [m].
ROCK, CLEARANCE = (1.5, 2.0, 3.5), 0.04
# Radius of the weight [m].
WEIGHT = 0.3
# How much stronger each hinge is than the next one towards the middle.
WORN = 1.25


def breaking_bridge(planks: int = 15, strength: float = 2.5e4, mass: float = 60.0, height: float = 2.0) -> Scene:
    """A bridge of planks between two rocks, and a weight that falls on its middle and breaks it, or does not.

    Args:
        planks: Number of planks, of 6 kg and 0.4 m each; at least 3.
        strength: Force at which the weakest hinge breaks, in the middle [N]; each further one holds 1.25 times as much.
        mass: Mass of the weight [kg].
        height: How far it is above the bridge at the start [m].
    """
    planks = checks.count(planks, "The planks of breaking_bridge", least=3)
    strength = checks.positive(strength, "The strength of breaking_bridge")
    mass = checks.positive(mass, "The mass of breaking_bridge")
    height = checks.positive(height, "The height of breaking_bridge")
    scene = Scene(name="breaking_bridge")
    hinges = _hinges(planks)
    scene.add_static(Plane(), name="ground", material=WOOD)
    for name, end in (("left_rock", -1.0), ("right_rock", 1.0)):
        middle = end * (hinges[-1, 0] + CLEARANCE + 0.5 * ROCK[0])
        scene.add_static(Box(*ROCK), name=name, material=WOOD, position=(middle, 0.0, 0.5 * ROCK[2]))
    _add_planks(scene, hinges)
    for k, place in enumerate(hinges):
        a = "left_rock" if k == 0 else f"plank_{k}"
        b = "right_rock" if k == planks else f"plank_{k + 1}"
        limit = strength * WORN ** (abs(k - 0.5 * planks) - 0.5 * (planks % 2))
        scene.add_joint(Revolute(a, b, at=place, axis=(0, 1, 0), breaking_force=limit), name=f"hinge_{k + 1}")
        scene.allow(a, b)
    top = hinges[:, 2].min() + 0.5 * PLANK[2] + WEIGHT + height
    scene.add_body(Sphere(WEIGHT), mass=mass, name="weight", material=WOOD, position=(0.0, 0.0, top))
    return scene


def _hinges(planks: int) -> np.ndarray:
    """Places of the hinges on an arc whose ends lie at the upper edges of the rocks (planks + 1, 3) [m]."""
    step = 2.0 * SLOPE / planks
    radius = 0.5 * (PLANK[0] + GAP) / math.sin(0.5 * step)
    angle = np.linspace(-SLOPE, SLOPE, planks + 1)
    sag = radius * (np.cos(angle) - math.cos(SLOPE))
    return np.stack([radius * np.sin(angle), np.zeros(planks + 1), ROCK[2] - 0.5 * PLANK[2] - sag], axis=1)


def _add_planks(scene: Scene, hinges: np.ndarray) -> None:
    """A plank from each hinge to the next."""
    for k, (a, b) in enumerate(itertools.pairwise(hinges)):
        turn = quaternion_from_axis_angle((0, 1, 0), -math.atan2(b[2] - a[2], b[0] - a[0]))
        place, name = 0.5 * (a + b), f"plank_{k + 1}"
        scene.add_body(
            Box(*PLANK), mass=PLANK_MASS, name=name, material=WOOD, position=place, orientation=turn, group="bridge"
        )
