"""Bodies of many shapes that fall into a bowl of triangles, slide to its middle and pile up there.

    inside    z = d (r/R)²,  r ≤ R          outside    the same, lower by the wall

R radius of the rim, d depth. Both sides are rings of triangles around the axis, joined at the rim: a closed mesh, solid
behind its triangles.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.maths import rotation
from rattleback.model import Material, Scene
from rattleback.scenes.swarm import MAKERS
from rattleback.shapes import ConvexHull, Mesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

SURFACE = Material(friction=0.5)
# Radius of the rim, depth and wall of the bowl [m]; rings of either side, and sectors: 1,000 triangles in all.
RADIUS, DEPTH, WALL, RINGS, SECTORS = 3.0, 2.0, 0.2, 10, 25
# Half the sizes of a body [m], and the points that a hull is made from.
SMALLEST, LARGEST, HULL_POINTS = 0.06, 0.13, 12
# Bodies along either side of a layer, distance of neighbours, height of the lowest layer [m], and how far a body may be
# off its place along each axis [m].
ACROSS, SPACING, LOWEST, JITTER = 8, 0.45, 1.7, 0.05


def bowl(count: int = 500, seed: int = 0) -> Scene:
    """Bodies of seven shapes that fall into a bowl made of a thousand triangles.

    Args:
        count: Number of bodies; every seventh is a convex hull, the others are primitive shapes by turns.
        seed: Seed of the random numbers; the same seed gives the same scene.
    """
    count = checks.count(count, "The count of bowl")
    seed = checks.count(seed, "The seed of bowl", least=0)
    draw = np.random.default_rng(seed)
    scene, middle, turns = Scene(name="bowl"), 0.5 * (ACROSS - 1), rotation.random(count, seed)
    scene.add_static(bowl_mesh(), name="bowl", material=SURFACE)
    for i in range(count):
        layer, place = divmod(i, ACROSS * ACROSS)
        cell = np.array([place % ACROSS - middle, place // ACROSS - middle, layer])
        scene.add_body(
            _shape(i, draw),
            density=1000.0,
            name=f"body_{i + 1}",
            material=SURFACE,
            position=SPACING * cell + [0.0, 0.0, LOWEST] + draw.uniform(-JITTER, JITTER, 3),
            orientation=turns[i],
        )
    return scene


def bowl_mesh() -> Mesh:
    """The bowl as a closed mesh, its lowest point inside at the origin."""
    inside, triangles = _side()
    outside = inside - [0.0, 0.0, WALL]
    count = len(inside)
    rim = [count - SECTORS + k for k in range(SECTORS)]
    joined = [(k, k + count, after + count) for k, after in zip(rim, rim[1:] + rim[:1], strict=True)]
    joined += [(k, after + count, after) for k, after in zip(rim, rim[1:] + rim[:1], strict=True)]
    return Mesh(np.concatenate([inside, outside]), np.concatenate([triangles, triangles[:, ::-1] + count, joined]))


def _side() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points and triangles of the inside, which face the axis; the points of the rim are the last ones."""
    angle = 2.0 * math.pi * np.arange(SECTORS) / SECTORS
    points, triangles = [np.zeros((1, 3))], []
    for ring in range(1, RINGS + 1):
        part = ring / RINGS
        points.append(
            np.column_stack([*(RADIUS * part * f(angle) for f in (np.cos, np.sin)), [DEPTH * part**2] * SECTORS])
        )
    for k in range(SECTORS):
        after = (k + 1) % SECTORS
        triangles.append((0, 1 + k, 1 + after))
        for first in range(1, 1 + (RINGS - 1) * SECTORS, SECTORS):
            a, b, c, d = first + k, first + after, first + SECTORS + after, first + SECTORS + k
            triangles += [(a, d, c), (a, c, b)]
    return np.concatenate(points), np.array(triangles)


def _shape(number: int, draw: np.random.Generator) -> Any:
    """One of the primitive shapes by turns, or a convex hull."""
    sizes = draw.uniform(SMALLEST, LARGEST, 3)
    kind = number % (len(MAKERS) + 1)
    if kind < len(MAKERS):
        return MAKERS[kind](*sizes.tolist())
    points = draw.normal(size=(HULL_POINTS, 3))
    return ConvexHull(sizes * points / np.linalg.norm(points, axis=1)[:, None])
