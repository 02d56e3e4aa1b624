"""Three steps to a simulator with contacts: bodies that only move, that fall, and that meet without friction.

    free_motion        q(t + h) = q(t) + h v,  no forces
    free_fall          v(t + h) = v(t) + h M⁻¹ F,  gravity
    frictionless_box   the same with 0 ≤ Φ/h + Dᵀv ⟂ γ ≥ 0 at every contact

All bodies are cubes and balls, whose angular velocity stays as it is until they touch: positions and orientations of
the first two are known in closed form.
"""

from __future__ import annotations

import numpy as np

from rattleback.core import checks
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Plane, Sphere

# Neighbours start so far apart [m], and bodies have this size [m].
SPACING, SIZE = 1.5, 0.6
SMOOTH = Material(friction=0.0)


def _add_bodies(scene: Scene, count: int, seed: int, speed: float, height: float) -> None:
    """Cubes and balls by turns, in layers of nine, with velocities and spins in any direction."""
    draw = np.random.default_rng(checks.count(seed, f"The seed of {scene.name}", least=0))
    for k in range(checks.count(count, f"The count of {scene.name}")):
        layer, place = divmod(k, 9)
        ball = k % 2 == 1
        shape = Sphere(0.5 * SIZE) if ball else Box(SIZE, SIZE, SIZE)
        scene.add_body(
            shape,
            mass=1.0,
            name=f"{'ball' if ball else 'cube'}_{k + 1}",
            position=SPACING * np.array([place % 3 - 1, place // 3 - 1, layer]) + [0, 0, height],
            velocity=draw.uniform(-speed, speed, 3),
            angular_velocity=draw.uniform(-2.0, 2.0, 3),
            material=SMOOTH,
            collision=shape if scene.name == "frictionless_box" else None,
        )


def free_motion(count: int = 18, speed: float = 0.5, seed: int = 0) -> Scene:
    """Bodies that move and turn uniformly, without any force and without contacts.

    Args:
        count: Number of bodies.
        speed: Largest velocity along each axis [m/s].
        seed: Seed of the random numbers; the same seed gives the same scene.
    """
    scene = Scene(name="free_motion", gravity=(0, 0, 0))
    _add_bodies(scene, count, seed, checks.not_negative(speed, "The speed of free_motion"), 0.0)
    return scene


def free_fall(count: int = 18, speed: float = 2.0, seed: int = 0) -> Scene:
    """Bodies that fly on parabolas, without contacts.

    Args:
        count: Number of bodies.
        speed: Largest velocity along each axis at the start [m/s].
        seed: Seed of the random numbers; the same seed gives the same scene.
    """
    scene = Scene(name="free_fall")
    _add_bodies(scene, count, seed, checks.not_negative(speed, "The speed of free_fall"), 0.0)
    return scene


def frictionless_box(count: int = 27, speed: float = 0.5, seed: int = 0) -> Scene:
    """Bodies that fall into an open box and touch without friction: contact as a quadratic programme.

    Args:
        count: Number of bodies.
        speed: Largest velocity along each axis at the start [m/s].
        seed: Seed of the random numbers; the same seed gives the same scene.
    """
    scene = Scene(name="frictionless_box")
    scene.add_static(Plane(), name="ground", material=SMOOTH)
    side, wall = 3.0 * SPACING, 0.2
    for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1)):
        size, place = np.array([side, side, 2.0 * side]), np.array([0.0, 0.0, side])
        size[axis], size[1 - axis] = wall, side + 2.0 * wall
        place[axis] = sign * 0.5 * (side + wall)
        name = f"wall_{'xy'[axis]}{'+' if sign > 0 else '-'}"
        scene.add_static(Box(*size), name=name, position=place, material=SMOOTH)
    _add_bodies(scene, count, seed, checks.not_negative(speed, "The speed of frictionless_box"), 0.5 * SPACING)
    return scene
