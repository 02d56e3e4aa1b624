"""Binary trees of bars: a mobile whose joints lie on the top faces, or a tree that hangs from the bottom faces.

    L = 0.1 m · 1.5^(deepest − level),   2^depth − 1 bars of 0.04 m × 0.04 m × L,   600 kg/m³

A bar is pinned by the middle of its top face; its two children are pinned to the ends of its top face (mobile) or of
its bottom face (hanging). Bars lie along x and y by turns. In a hanging tree the small bars at the bottom swing so fast
that ω h > 2 at the step of the dissertation.

Reference: Bender, dissertation, §3.3.3, figures 3.29 to 3.32, tables 3.2 to 3.5 and 3.7.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.forces import Wrench
from rattleback.joints import Ball
from rattleback.maths.rotation import multiply, quaternion_from_axis_angle, rotate
from rattleback.model import Scene
from rattleback.shapes import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

TREE_STEP = 1.0 / 30.0
TWIST = 10.0
THICKNESS = 0.04


def tree(depth: int = 5, hanging: bool = False) -> Scene:
    """A binary tree of bars with ball joints; 10 N m about the vertical turn its top bar for the first 1/30 s.

    Args:
        depth: Number of levels; there are 2^depth − 1 bars, 31 for five levels and 255 for eight.
        hanging: Whether children hang from the bottom face of their parent instead of lying on its top.
    """
    depth = checks.count(depth, "The depth of tree")
    if depth > 16:
        raise InputError(f"The depth of tree is {depth}, which makes 2^17 − 1 bars or more; it must be at most 16.")
    hanging = checks.flag(hanging, "The hanging of tree")
    scene = Scene(name="tree")
    _add_bar(scene, "world", np.zeros(3), (0, depth - 1, hanging))
    scene.add_force(Wrench(["bar_1"], torque=(0.0, 0.0, TWIST), until=TREE_STEP), name="twist")
    return scene


def _add_bar(scene: Scene, parent: str, at: NDArray[np.float64], where: tuple[int, int, bool]) -> None:
    """Add a bar pinned at a point, and its children; ``where`` is its level, the deepest level, and if it hangs."""
    level, deepest, hanging = where
    length = 0.1 * 1.5 ** (deepest - level)
    flat = quaternion_from_axis_angle((0, 1, 0), 0.5 * math.pi)
    turn = multiply(quaternion_from_axis_angle((0, 0, 1), 0.5 * math.pi * (level % 2)), flat)
    number = len(scene) + 1
    bar = scene.add_body(
        Box(THICKNESS, THICKNESS, length),
        density=600.0,
        name=f"bar_{number}",
        position=at - [0.0, 0.0, 0.5 * THICKNESS],
        orientation=turn,
        collision=None,
    )
    scene.add_joint(Ball(parent, bar, at=at), name=f"joint_{number}")
    if level < deepest:
        drop = np.array([0.0, 0.0, THICKNESS if hanging else 0.0])
        for side in (-0.5, 0.5):
            end = at + rotate(turn, (0.0, 0.0, side * length)) - drop
            _add_bar(scene, bar.name, end, (level + 1, deepest, hanging))
