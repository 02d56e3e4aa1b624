"""Cubes in layers above the ground, a little off their places and tilted, that fall on a heap.

Reference: Bender, dissertation, §4.6, figure 4.6.
"""

from __future__ import annotations

import numpy as np

from rattleback.core import checks
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Plane

# Height of the lowest layer [m]; cubes of 1 m and 1 kg.
LOWEST = 0.8
SURFACE = Material(friction=0.5)


def cubes_1000(
    across: int = 10, high: int = 10, spacing: float = 1.2, jitter: float = 0.1, tilt: float = 0.2, seed: int = 0
) -> Scene:
    """A thousand cubes in ten layers that fall on the ground.

    Args:
        across: Cubes along either side of a layer.
        high: Number of layers.
        spacing: Distance of neighbours [m].
        jitter: How far a cube may be off its place along each axis [m].
        tilt: Largest angle by which a cube is turned, about an axis in any direction [rad].
        seed: Seed of the random numbers; the same seed gives the same scene.
    """
    across = checks.count(across, "The across of cubes_1000")
    high = checks.count(high, "The high of cubes_1000")
    spacing = checks.positive(spacing, "The spacing of cubes_1000")
    jitter = checks.not_negative(jitter, "The jitter of cubes_1000")
    tilt = checks.not_negative(tilt, "The tilt of cubes_1000")
    draw = np.random.default_rng(checks.count(seed, "The seed of cubes_1000", least=0))
    scene, middle = Scene(name="cubes_1000"), 0.5 * (across - 1)
    scene.add_static(Plane(), name="ground", material=SURFACE)
    for i in range(across * across * high):
        layer, place = divmod(i, across * across)
        axis, angle = draw.normal(size=3), draw.uniform(0.0, tilt)
        off = draw.uniform(-jitter, jitter, 3)
        scene.add_body(
            Box(1.0, 1.0, 1.0),
            mass=1.0,
            name=f"cube_{i + 1}",
            material=SURFACE,
            position=spacing * np.array([place % across - middle, place // across - middle, layer])
            + [0, 0, LOWEST]
            + off,
            orientation=quaternion_from_axis_angle(axis, angle),
        )
    return scene
