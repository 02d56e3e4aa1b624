"""A car that drives over rough ground: four cylinders on hinges, turned by servos, on a height field.

    z(x, y) = Σ s λ / 2π · sin(2π (x cos α + y sin α) / λ + φ)

λ wave lengths, from the longest to the shortest in even steps of their logarithm, α, φ directions and phases at random,
s the slope of each wave at its steepest, the same for all: long waves are hills, short ones are bumps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.forces import Servo
from rattleback.joints import Revolute
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Cylinder, HeightField

if TYPE_CHECKING:
    from numpy.typing import NDArray

SURFACE = Material(friction=0.8)
# Distance of neighbouring heights; shortest and longest wave [m], and how many there are.
CELL, SHORTEST, LONGEST, WAVES = 0.1, 1.5, 30.0, 12
# Chassis: extents [m] and mass [kg]. Wheels: radius and width [m], mass [kg], and where they are on the chassis [m].
CHASSIS, CHASSIS_MASS = (1.9, 0.7, 0.3), 300.0
RADIUS, WIDTH, WHEEL_MASS = 0.35, 0.2, 15.0
AXLE, TRACK, LOW = 0.7, 0.5, -0.15
# Of the servos: torque by speed [N m s], and the largest torque [N m].
GAIN, TORQUE = 30.0, 300.0
# How far the wheels are above the highest ground under the car at the start [m].
CLEARANCE = 0.02


def car_on_height_field(heights: int = 1000, speed: float = 3.0, slope: float = 0.06, seed: int = 0) -> Scene:
    """A car with four driven wheels that drives over a rough height field of a million heights.

    Args:
        heights: Number of heights along either side of the ground, 10 cm apart.
        speed: Speed the wheels are turned for [m/s].
        slope: Slope of each of the twelve waves of the ground where it is steepest.
        seed: Seed of the random numbers; the same seed gives the same ground.
    """
    heights = checks.count(heights, "The heights of car_on_height_field", least=40)
    speed = checks.number(speed, "The speed of car_on_height_field")
    slope = checks.not_negative(slope, "The slope of car_on_height_field")
    seed = checks.count(seed, "The seed of car_on_height_field", least=0)
    ground = rough_ground(heights, slope, seed)
    scene = Scene(name="car_on_height_field")
    scene.add_static(ground, name="ground", material=SURFACE)
    near = (np.abs(ground.vertices[:, 0]) < AXLE + RADIUS + CELL) & (
        np.abs(ground.vertices[:, 1]) < TRACK + WIDTH + CELL
    )
    _add_car(scene, float(ground.vertices[near, 2].max()) + CLEARANCE + RADIUS - LOW)
    for name in WHEELS:
        motor = Servo(f"{name}_hinge", target=speed / RADIUS, control="velocity", gain=GAIN, limit=TORQUE)
        scene.add_force(motor, name=f"{name}_motor")
    return scene


WHEELS = {
    f"{end}_{side}": (sign * AXLE, across * TRACK, LOW)
    for end, sign in (("front", 1.0), ("rear", -1.0))
    for side, across in (("left", 1.0), ("right", -1.0))
}


def rough_ground(heights: int, slope: float, seed: int) -> HeightField:
    """Ground of twelve waves in all directions.

    Args:
        heights: Number of heights along either side.
        slope: Slope of each wave where it is steepest.
        seed: Seed of the random numbers.
    """
    draw = np.random.default_rng(seed)
    length = np.geomspace(LONGEST, SHORTEST, WAVES)
    direction, phase = draw.uniform(0.0, 2.0 * math.pi, (2, WAVES))

    def surface(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        z = np.zeros_like(x)
        for wave, way, start in zip(2.0 * math.pi / length, direction, phase, strict=True):
            z += slope / wave * np.sin(wave * (math.cos(way) * x + math.sin(way) * y) + start)
        return z

    return HeightField.from_function(surface, CELL * (heights - 1), heights - 1)


def _add_car(scene: Scene, height: float) -> None:
    """The car at the origin, its chassis this high, along x."""
    scene.add_body(
        Box(*CHASSIS), mass=CHASSIS_MASS, name="chassis", group="car", position=(0, 0, height), material=SURFACE
    )
    across = quaternion_from_axis_angle((1.0, 0.0, 0.0), -0.5 * math.pi)
    for name, place in WHEELS.items():
        at = np.add(place, (0.0, 0.0, height))
        scene.add_body(
            Cylinder(RADIUS, WIDTH),
            mass=WHEEL_MASS,
            name=name,
            group="car",
            position=at,
            orientation=across,
            material=SURFACE,
        )
        scene.add_joint(Revolute("chassis", name, at=at, axis=(0.0, 1.0, 0.0)), name=f"{name}_hinge")
