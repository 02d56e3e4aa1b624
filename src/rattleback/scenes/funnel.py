"""Cubes that fall through a funnel and pile up on the ground below it.

Four slabs 1 m thick, inclined by 45°, leave an opening of 4 m by 4 m, 8 m above the ground; their upper faces end
6 m higher, 16 m apart. Every body has friction 0.05 and restitution 0.8 as its share.

Reference: Bender, dissertation, §5.5.1.1, figure 5.7 and table 5.1.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.core import checks
from rattleback.maths.rotation import multiply, quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Plane

SURFACE = Material(friction=0.05, restitution=0.8)
# Height of the lower rim, half its width, the rise of the slabs, and how thick and broad they are [m].
RIM, HALF_OPENING, RISE, THICKNESS, BREADTH = 8.0, 2.0, 6.0, 1.0, 18.0
# Distance of neighbouring cubes, height of the lowest layer [m], how far a cube may be off its place along each axis
# [m], and the largest angle by which it is turned [rad].
SPACING, LOWEST, JITTER, TILT = 1.2, RIM + 7.0, 0.05, 0.1


def funnel(across: int = 10, layers: int = 10, seed: int = 0) -> Scene:
    """A thousand cubes of 1 m and 1 kg that fall through a funnel onto the ground.

    Args:
        across: Cubes along either side of a layer, at most 12, as wide as the funnel is on top.
        layers: Number of layers.
        seed: Seed of the random numbers; the same seed gives the same scene.
    """
    across = checks.count(across, "The across of funnel", most=12)
    layers = checks.count(layers, "The layers of funnel")
    draw = np.random.default_rng(checks.count(seed, "The seed of funnel", least=0))
    scene, middle = Scene(name="funnel"), 0.5 * (across - 1)
    scene.add_static(Plane(), name="ground", material=SURFACE)
    for side in range(4):
        _add_slab(scene, side)
    for i in range(across * across * layers):
        layer, place = divmod(i, across * across)
        axis, angle = draw.normal(size=3), draw.uniform(0.0, TILT)
        off = draw.uniform(-JITTER, JITTER, 3)
        scene.add_body(
            Box(1.0, 1.0, 1.0),
            mass=1.0,
            name=f"cube_{i + 1}",
            material=SURFACE,
            position=SPACING * np.array([place % across - middle, place // across - middle, layer])
            + [0, 0, LOWEST]
            + off,
            orientation=quaternion_from_axis_angle(axis, angle),
        )
    return scene


def _add_slab(scene: Scene, side: int) -> None:
    """One of the four slabs; its upper face climbs outward from the rim at 45°."""
    about = quaternion_from_axis_angle((0, 0, 1), 0.5 * math.pi * side)
    face = np.array([HALF_OPENING + 0.5 * RISE, 0.0, RIM + 0.5 * RISE])
    middle = face + 0.5 * THICKNESS * np.array([1.0, 0.0, -1.0]) / math.sqrt(2.0)
    scene.add_static(
        Box(RISE * math.sqrt(2.0), BREADTH, THICKNESS),
        name=f"slab_{side + 1}",
        material=SURFACE,
        position=rotate(about, middle),
        orientation=multiply(about, quaternion_from_axis_angle((0, 1, 0), -0.25 * math.pi)),
    )
