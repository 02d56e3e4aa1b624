"""Throws: bodies that leave the origin at different angles, spinning, through air or through nothing."""

from __future__ import annotations

import math

import numpy as np

from rattleback.core import checks
from rattleback.forces import Drag
from rattleback.model import Scene
from rattleback.shapes import Box, Sphere


def thrown(count: int = 8, speed: float = 12.0, spin: float = 10.0, drag: float = 0.01) -> Scene:
    """Balls and boxes thrown from the origin at a fan of angles, with spin, under gravity and quadratic drag.

    Args:
        count: Number of bodies of 1 kg; balls and boxes by turns, between 15 and 75 degrees above the horizon.
        speed: Speed they leave with [m/s].
        spin: Angular velocity about the y axis, backward [rad/s]; for boxes that is the axis of the largest moment.
        drag: Coefficient of the drag, per velocity squared [N s²/m²]; zero for none.
    """
    count = checks.count(count, "The count of thrown")
    speed = checks.positive(speed, "The speed of thrown")
    spin = checks.number(spin, "The spin of thrown")
    scene = Scene(name="thrown")
    for index, angle in enumerate(np.linspace(math.radians(15.0), math.radians(75.0), count)):
        ball = index % 2 == 0
        scene.add_body(
            Sphere(0.15) if ball else Box(0.4, 0.1, 0.2),
            mass=1.0,
            name=f"{'ball' if ball else 'box'}_{index + 1}",
            velocity=(speed * math.cos(angle), 0.0, speed * math.sin(angle)),
            angular_velocity=(0.0, -spin, 0.0),
            collision=None,
        )
    if checks.not_negative(drag, "The drag of thrown") > 0.0:
        scene.add_force(Drag(quadratic=drag), name="air")
    return scene
