"""A semicircular arch of stones without mortar, which stands or falls by its thickness alone.

    stands where  t/R ≥ 0.1075 …,   R mean radius, t thickness

The arch falls where no line of thrust fits between its inner and its outer circle; it then opens at the springings, at
the crown and about 54° from it. The number is that of infinitely many stones; of fewer, which can part only where they
touch, it is a little less: 0.10735 of 20, 0.1070 of 10.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Material, Scene
from rattleback.shapes import ConvexHull, Plane

# Two stones have the friction 1 and do not slide: thrust never leaves a joint at more than 45°.
STONE = Material(friction=0.5)
# Mean radius and depth of the arch [m]; density of stone [kg/m³].
RADIUS, DEPTH, DENSITY = 5.0, 1.0, 2400.0


def arch(ratio: float = 0.11, stones: int = 20) -> Scene:
    """A semicircular arch of wedges on the ground; it falls where it is too thin.

    Args:
        ratio: Thickness of the arch beside its mean radius, which is 5 m; less than 2.
        stones: Number of stones, all alike; at least 3.
    """
    ratio = checks.positive(ratio, "The ratio of arch")
    if ratio >= 2.0:
        raise InputError(f"The ratio of arch is {ratio!r}; it must be less than 2, where no room is left inside.")
    stones = checks.count(stones, "The stones of arch", least=3)
    scene, share = Scene(name="arch"), math.pi / stones
    wedge = _wedge(RADIUS * (1.0 - 0.5 * ratio), RADIUS * (1.0 + 0.5 * ratio), 0.5 * share)
    scene.add_static(Plane(), name="ground", material=STONE)
    for k in range(stones):
        turn = quaternion_from_axis_angle((0, 1, 0), -share * (k + 0.5))
        scene.add_body(
            wedge, density=DENSITY, name=f"stone_{k + 1}", material=STONE, origin=(0, 0, 0), orientation=turn
        )
    return scene


def _wedge(inner: float, outer: float, half_angle: float) -> ConvexHull:
    """A stone whose joints point to the origin, its middle along x; its corners lie on the two circles."""
    across, up = math.cos(half_angle), math.sin(half_angle)
    sides = np.array([-0.5 * DEPTH, 0.5 * DEPTH])
    return ConvexHull([(r * across, y, side * r * up) for r in (inner, outer) for y in sides for side in (-1.0, 1.0)])
