"""Many bodies at once: every primitive shape, thrown at random, always the same for the same seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.maths import rotation
from rattleback.model import Scene
from rattleback.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Sphere

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Each makes a shape from three lengths between 0.05 m and 0.15 m.
MAKERS: tuple[Callable[[float, float, float], Any], ...] = (
    lambda a, b, c: Sphere(a),
    lambda a, b, c: Box(2 * a, 2 * b, 2 * c),
    lambda a, b, c: Capsule(a, 2 * a + b),
    lambda a, b, c: Cylinder(a, 2 * b),
    lambda a, b, c: Cone(a, 3 * b),
    lambda a, b, c: Ellipsoid(a, b, c),
)


def swarm(count: int = 1000, seed: int = 0, speed: float = 5.0, spin: float = 10.0) -> Scene:
    """Many bodies of every primitive shape that fly and spin in all directions under gravity.

    Args:
        count: Number of bodies; one in ten of a cubic metre, in a cube that grows with it.
        seed: Seed of the random numbers; the same seed gives the same scene.
        speed: Spread of each component of the velocity [m/s].
        spin: Spread of each component of the angular velocity [rad/s].
    """
    count = checks.count(count, "The count of swarm")
    seed = checks.count(seed, "The seed of swarm", least=0)
    speed = checks.not_negative(speed, "The speed of swarm")
    spin = checks.not_negative(spin, "The spin of swarm")
    draw = np.random.default_rng(seed)
    sizes = draw.uniform(0.05, 0.15, (count, 3))
    position = _cube(draw, count)
    velocity, angular_velocity = speed * draw.normal(size=(count, 3)), spin * draw.normal(size=(count, 3))
    orientation = rotation.random(count, seed)
    scene = Scene(name="swarm")
    for i in range(count):
        scene.add_body(
            MAKERS[i % len(MAKERS)](*sizes[i].tolist()),
            position=position[i],
            orientation=orientation[i],
            velocity=velocity[i],
            angular_velocity=angular_velocity[i],
            collision=None,
        )
    return scene


def _cube(draw: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Points in a cube above the origin with ten to the cubic metre [m], shape (count, 3)."""
    edge = (count / 10.0) ** (1.0 / 3.0)
    return draw.uniform(-0.5 * edge, 0.5 * edge, (count, 3)) + np.array([0.0, 0.0, edge])
