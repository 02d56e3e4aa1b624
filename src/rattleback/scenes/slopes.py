"""Cubes and balls that slide and roll on a plane, whose motion is known in closed form.

    sliding:  a = g (sin α − μ cos α),   way from speed v to rest:  v² / (2 g (μ cos α − sin α))
    rolling:  a = 5/7 g sin α  for a ball where μ ≥ 2/7 tan α, which otherwise slides as above
    a ball that starts to slide at speed v on level ground rolls after  2 v / (7 μ g),  at 5/7 v

g gravity, α angle of the plane, μ friction of the pair, a acceleration down the plane. Frictions of two bodies add up:
the plane has none, and all of it is the body's.

Reference: Bender, dissertation, §5.5.2, figure 5.11 and table 5.2 (incline).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths.rotation import quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

GRAVITY = 9.81
INCLINE_ANGLE = math.radians(15.0)
# Friction of each of the ten cubes against the plane once they are to brake, and when that is [s].
INCLINE_FRICTIONS = (0.535, 0.57, 0.605, 0.64, 0.675, 0.71, 0.745, 0.78, 0.815, 0.85)
BRAKING_STARTS = 5.0
# Distance of neighbouring cubes, and radius of the balls [m].
LANE, RADIUS = 3.0, 0.5
SMOOTH = Material(friction=0.0)


def incline(cubes: int = 10, angle: float = INCLINE_ANGLE) -> Scene:
    """Ten cubes of 1 m and 1 kg side by side on an inclined plane, at rest and without friction.

    After 5 s each is to be given its friction of ``INCLINE_FRICTIONS``; ``braking_distance`` says how far it goes on.

    Args:
        cubes: Number of cubes.
        angle: Angle of the plane to the horizontal [rad], at least 0 and less than π/2; it descends along x.
    """
    cubes = checks.count(cubes, "The cubes of incline")
    scene, turn = _inclined("incline", angle)
    for k in range(cubes):
        scene.add_body(
            Box(1.0, 1.0, 1.0),
            mass=1.0,
            name=f"cube_{k + 1}",
            material=SMOOTH,
            position=rotate(turn, (0.0, LANE * k, 0.5)),
            orientation=turn,
        )
    return scene


def rolling(angle: float = math.radians(20.0), friction: float = 0.5) -> Scene:
    """A ball let go on an inclined plane; it rolls if friction suffices, and slides otherwise.

    Args:
        angle: Angle of the plane to the horizontal [rad], at least 0 and less than π/2; it descends along x.
        friction: Friction of ball and plane together.
    """
    surface = Material(friction=checks.not_negative(friction, "The friction of rolling"))
    scene, turn = _inclined("rolling", angle)
    place = rotate(turn, (0.0, 0.0, RADIUS))
    scene.add_body(Sphere(RADIUS), mass=1.0, name="ball", material=surface, position=place, orientation=turn)
    return scene


def sliding_ball(speed: float = 7.0, friction: float = 0.2) -> Scene:
    """A ball that slides on level ground without turning, until friction makes it roll.

    Args:
        speed: Speed at the start, along x [m/s].
        friction: Friction of ball and ground together.
    """
    speed = checks.number(speed, "The speed of sliding_ball")
    surface = Material(friction=checks.not_negative(friction, "The friction of sliding_ball"))
    scene, _ = _inclined("sliding_ball", 0.0)
    place = (0.0, 0.0, RADIUS)
    scene.add_body(Sphere(RADIUS), mass=1.0, name="ball", material=surface, position=place, velocity=(speed, 0, 0))
    return scene


def braking_distance(
    speed: ArrayLike, friction: ArrayLike = INCLINE_FRICTIONS, angle: float = INCLINE_ANGLE
) -> NDArray[np.float64]:
    """How far a body slides down an inclined plane before it rests [m]; infinite where it never does.

    Args:
        speed: Speed down the plane when it starts to brake [m/s].
        friction: Friction of body and plane together.
        angle: Angle of the plane to the horizontal [rad].
    """
    slowing = GRAVITY * (np.asarray(friction, dtype=np.float64) * math.cos(angle) - math.sin(angle))
    way: NDArray[np.float64] = np.square(speed) / (2.0 * np.where(slowing > 0.0, slowing, math.inf))
    return np.where(slowing > 0.0, way, math.inf)


def rolling_acceleration(angle: float, friction: float) -> float:
    """Acceleration down an inclined plane of a ball let go on it [m/s²]."""
    if friction >= 2.0 / 7.0 * math.tan(angle):
        return 5.0 / 7.0 * GRAVITY * math.sin(angle)
    return GRAVITY * (math.sin(angle) - friction * math.cos(angle))


def rolls_after(speed: float, friction: float) -> tuple[float, float]:
    """When a ball that slides on level ground begins to roll [s], and its speed from then on [m/s]."""
    return 2.0 * abs(speed) / (7.0 * friction * GRAVITY), 5.0 / 7.0 * speed


def _inclined(name: str, angle: float) -> tuple[Scene, NDArray[np.float64]]:
    """A scene with a plane through the origin that descends along x, and the quaternion that inclines it."""
    angle = checks.not_negative(angle, f"The angle of {name}")
    if angle >= 0.5 * math.pi:
        raise InputError(f"The angle of {name} is {angle!r}; it must be less than π/2, where the plane is a wall.")
    scene, turn = Scene(name=name), quaternion_from_axis_angle((0, 1, 0), angle)
    x, y, z = rotate(turn, (0.0, 0.0, 1.0)).tolist()
    scene.add_static(Plane((x, y, z)), name="ground", material=SMOOTH)
    return scene, turn
