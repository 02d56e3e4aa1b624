"""Random heaps: solids of every kind that overlap at the start, drawn from a number.

Sizes from 1e-2 to 1e2 m, masses from 1e-3 to 1e4 kg, moving and spinning, with and without ground, gravity, joints,
belts, rolling friction and sleep, under every method, law and order of contacts, with steps from 1e-4 to 1/30 s.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import rattleback as rb
from fuzz.random_parts import Rng, draw_ground, draw_material, draw_solid, log_uniform, turned

JOINTS = (rb.Ball, rb.Revolute, rb.Prismatic, rb.Cylindrical, rb.Fixed)


@dataclass(frozen=True)
class Draw:
    """A random heap and how it is simulated."""

    scene: rb.Scene
    settings: dict
    law: str
    ground: bool
    keeps_energy: bool
    round: bool


def draw_bodies(rng: Rng, scene: rb.Scene, plain: bool, bouncy: bool, balls: bool) -> float:
    """A heap of solids of about one size, or of all sizes; returns its size [m]."""
    size = log_uniform(rng, 1e-2, 1e2)
    mixed, speed = rng.random() < 0.3, log_uniform(rng, 1e-2, 1e1)
    count = int(rng.integers(2, 10))
    for _ in range(count):
        own = log_uniform(rng, 1e-2, 1e2) if mixed else size * rng.uniform(0.5, 1.0)
        scene.add_body(
            draw_solid(rng, own, balls),
            mass=log_uniform(rng, 1e-3, 1e4),
            origin=0.4 * size * count ** (1 / 3) * rng.uniform(-1, 1, 3) + (0, 0, 0.3 * size),
            orientation=turned(rng),
            velocity=speed * rng.normal(size=3),
            angular_velocity=speed / own * rng.normal(size=3),
            material=draw_material(rng, own, plain, bouncy),
            continuous=bool(rng.random() < 0.1),
        )
    return size


def draw_joints(rng: Rng, scene: rb.Scene) -> None:
    """Joints between bodies that follow each other in the list."""
    for a, b in zip(scene.bodies, scene.bodies[1:], strict=False):
        if rng.random() < 0.5:
            kind = JOINTS[rng.integers(len(JOINTS))]
            scene.add_joint(kind(a, b, at=(a.position + b.position) / 2, axis=rng.normal(size=3)))


def draw(seed: int) -> Draw:
    """The random scene of this number."""
    rng = np.random.default_rng(seed)
    free, plain, bouncy, balls = (bool(rng.random() < part) for part in (0.4, 0.5, 0.7, 0.2))
    scene = rb.Scene(gravity=(0, 0, 0) if free else (0, 0, -9.81))
    size = draw_bodies(rng, scene, plain, bouncy, balls)
    if rng.random() < 0.3:
        draw_joints(rng, scene)
    grounded = rng.random() < (0.2 if free else 0.9)
    if grounded:
        tilt = (0.3 * math.sin(rng.uniform(0, 6)), 0.0, 0.0, 1.0)
        scene.add_static(
            draw_ground(rng, size),
            orientation=np.array(tilt) / np.linalg.norm(tilt),
            material=draw_material(rng, size, plain, bouncy),
        )
    law = str(rng.choice(["newton", "poisson", "stronge"]))
    belts = any(any(body.material.surface_velocity) for body in scene.bodies)
    keeps = not scene.joints and not belts and (law == "stronge" or not bouncy)
    return Draw(scene, draw_settings(rng, law), law if bouncy else "plastic", grounded, keeps, balls)


def draw_settings(rng: Rng, law: str) -> dict[str, Any]:
    """How a scene is simulated."""
    method = rb.contacts.Impulse(
        solver=rb.contacts.BlockGaussSeidel(sweeps=int(rng.choice([5, 10, 50]))),
        restitution=law,
        impact=str(rng.choice(["sequential", "simultaneous"])),
    )
    if rng.random() < 0.3:
        method = rb.contacts.ShockPropagation(inner=method, after=5)
    settings = {
        "time_step": log_uniform(rng, 1e-4, 1 / 30),
        "sleep": bool(rng.random() < 0.3),
        "worlds": 3 if rng.random() < 0.1 else None,
        "joints": str(rng.choice(["direct", "iterative"])),
        "contact_time": "interpolate" if rng.random() < 0.1 else "off",
    }
    if isinstance(method, rb.contacts.Impulse) and rng.random() < 0.4:
        method = rb.contacts.TimeStepping(method.solver, restitution=method.restitution, impact=method.impact)
    return {"contacts": method, **settings}
