"""Parts of random scenes: numbers, solids of every kind, ground of every kind, materials."""

import math
from typing import Any

import numpy as np

import rattleback as rb

Rng = np.random.Generator

CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
# A cube with its corners in that order, anticlockwise seen from outside.
CUBE = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
CUBE += [(1, 5, 7), (1, 7, 3)]


def log_uniform(rng: Rng, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def chance(rng: Rng, part: float) -> bool:
    return bool(rng.random() < part)


def direction(rng: Rng) -> np.ndarray:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def across(rng: Rng, axis: np.ndarray) -> np.ndarray:
    """A direction perpendicular to another."""
    vector = np.cross(axis, direction(rng))
    return vector / np.linalg.norm(vector)


def turned(rng: Rng) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def draw_solid(rng: Rng, size: float, balls: bool = False) -> Any:
    """A solid of any kind, or a ball, about as large as this [m]."""
    x, y, z = size * rng.uniform(0.2, 1.0, 3)
    if balls:
        return rb.Sphere(x / 2)
    kinds = {
        "sphere": lambda: rb.Sphere(x / 2),
        "box": lambda: rb.Box(x, y, z),
        "capsule": lambda: rb.Capsule(x / 4, x / 2 + y),
        "cylinder": lambda: rb.Cylinder(x / 2, y),
        "cone": lambda: rb.Cone(x / 2, y),
        "ellipsoid": lambda: rb.Ellipsoid(x / 2, y / 2, z / 2),
        "hull": lambda: rb.ConvexHull(size / 2 * rng.uniform(-1, 1, (12, 3))),
        "mesh": lambda: rb.Mesh(CORNERS * (x, y, z) / 2, CUBE, decompose=True),
        "compound": lambda: rb.Compound([rb.Placed(rb.Box(x, y, z)), rb.Placed(rb.Sphere(y / 2), (x / 2, 0, 0))]),
    }
    return kinds[rng.choice(list(kinds))]()


def draw_ground(rng: Rng, size: float) -> Any:
    """Something static of any kind whose surface goes through the origin, about ten times as large as this [m]."""
    kinds = {
        "plane": lambda: rb.Plane(),
        "field": lambda: rb.HeightField(0.5 * size * rng.uniform(-1, 0, (6, 6)), 3 * size),
        "mesh": lambda: rb.Mesh((CORNERS - (0, 0, 1)) * (10 * size, 10 * size, size), CUBE),
        "slab": lambda: rb.Box(20 * size, 20 * size, size),
    }
    return kinds[rng.choice(list(kinds))]()


def draw_terrain(rng: Rng, size: float) -> rb.Mesh:
    """An open triangle mesh with hills and edges, about ten times as large as this [m]; no hill is above the origin.

    Its triangles are of all sizes, some much smaller than a body, some much larger; every other one is split by its
    other diagonal.
    """
    count = int(rng.integers(3, 12))
    lines = np.sort(rng.uniform(-5 * size, 5 * size, (2, count)), axis=1)
    lines[:, 0], lines[:, -1] = -10 * size, 10 * size
    x, y = np.meshgrid(*lines, indexing="ij")
    heights = -size * log_uniform(rng, 0.01, 0.5) * rng.random((count, count))
    triangles = []
    for i in range(count - 1):
        for j in range(count - 1):
            a, b, c, d = i * count + j, (i + 1) * count + j, (i + 1) * count + j + 1, i * count + j + 1
            triangles += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return rb.Mesh(np.column_stack([x.ravel(), y.ravel(), heights.ravel()]), triangles)


def draw_material(rng: Rng, size: float, plain: bool, bouncy: bool) -> rb.Material:
    """Surface properties; plain ones neither roll with resistance nor move as belts do."""
    rolls, spins = (0.0 if plain else 0.05 * size * max(0.0, rng.uniform(-1, 1)) for _ in range(2))
    belt = rng.normal(size=3) if not plain and rng.random() < 0.1 else np.zeros(3)
    static = rng.uniform(0, 1)
    return rb.Material(
        static_friction=static,
        dynamic_friction=static * rng.choice([1.0, rng.uniform(0, 1)]),
        restitution=rng.choice([1.0, rng.uniform(0, 1)]) if bouncy else 0.0,
        rolling_friction=rolls,
        spinning_friction=spins,
        surface_velocity=belt,
    )
