"""Pendulums with a motion known to many digits: a point mass on a rod, a heavy top; and one of two bodies without any.

    θ̈ = −(g/l) sin θ,   period  T = 4 √(l/g) K(sin²(θ₀/2)),   K complete elliptic integral of the first kind

θ angle to the vertical, θ₀ where it starts at rest, l length of the rod, g gravity. The rod is a distance joint that
holds the ball at its centre and so never turns it: the ball moves exactly as a point of its mass. The double pendulum
has a hinge above and a ball joint below, and no two of its moments are alike.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.joints import Ball, Distance, Revolute
from rattleback.model import Scene
from rattleback.shapes import Sphere

# The heavy top: 15 kg, 1 m from its tip, moments about the centre of mass; its axis is y of its own frame.
TOP_MASS = 15.0
TOP_MOMENTS = (0.234375, 0.46875, 0.234375)
TOP_PRECESSION = -4.61538
# The double pendulum: moments of its bodies, and from the ball joint to the centre of mass of the lower one.
UPPER_MOMENTS, LOWER_MOMENTS = (0.0342, 0.104, 0.0967), (0.03, 0.07, 0.065)
LOWER_CENTRE, LOWER_SPIN = np.array([0.4, 0.0, -0.05]), np.array([0.5, 1.5, 1.0])


def pendulum(length: float = 1.0, angle: float = 0.5 * math.pi) -> Scene:
    """A ball of 1 kg on a rod without mass, let go at an angle; it moves as a point mass does.

    Args:
        length: Length of the rod, to the centre of the ball [m].
        angle: Angle to the vertical it starts from, at rest [rad]; more than zero, less than π.
    """
    length = checks.positive(length, "The length of pendulum")
    angle = checks.positive(angle, "The angle of pendulum")
    if angle >= math.pi:
        raise InputError(f"The angle of pendulum is {angle!r}; it must be less than π, where it would stand still.")
    scene = Scene(name="pendulum")
    place = (length * math.sin(angle), 0.0, -length * math.cos(angle))
    ball = scene.add_body(Sphere(0.1 * length), mass=1.0, name="ball", position=place, collision=None)
    scene.add_joint(Distance(scene.world, ball, at=(0.0, 0.0, 0.0), at_b=place), name="rod")
    return scene


def heavy_top(spin: float = 150.0) -> Scene:
    """A heavy top on a ball joint that starts with a horizontal axis and precesses.

    Args:
        spin: Angular velocity about its axis [rad/s].
    """
    spin = checks.number(spin, "The spin of heavy_top")
    scene = Scene(name="heavy_top")
    top = scene.add_body(
        mass=TOP_MASS,
        inertia=TOP_MOMENTS,
        name="top",
        position=(0.0, 1.0, 0.0),
        velocity=(-TOP_PRECESSION, 0.0, 0.0),
        angular_velocity=(0.0, spin, TOP_PRECESSION),
        collision=None,
    )
    scene.add_joint(Ball(scene.world, top, at=(0.0, 0.0, 0.0)), name="tip")
    return scene


def double_pendulum(damping: float = 0.0) -> Scene:
    """A body on a hinge and another on a ball joint below it, swung from the horizontal.

    Args:
        damping: Damping of the hinge [N m s].
    """
    damping = checks.not_negative(damping, "The damping of double_pendulum")
    scene, turning, knee = Scene(name="double_pendulum"), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    upper = scene.add_body(
        mass=1.0,
        inertia=UPPER_MOMENTS,
        position=0.5 * knee,
        velocity=np.cross(turning, 0.5 * knee),
        angular_velocity=turning,
        name="upper",
    )
    lower = scene.add_body(
        mass=0.8,
        inertia=LOWER_MOMENTS,
        position=knee + LOWER_CENTRE,
        velocity=np.cross(turning, knee) + np.cross(LOWER_SPIN, LOWER_CENTRE),
        angular_velocity=LOWER_SPIN,
        name="lower",
    )
    hinge = Revolute(scene.world, upper, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0), damping=damping)
    scene.add_joint(hinge, name="hinge")
    scene.add_joint(Ball(upper, lower, at=knee), name="ball")
    return scene
