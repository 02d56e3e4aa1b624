"""Closed loops of revolute joints: four-bars side by side, linked loops, and spatial six-bars that ought not to move.

    freedoms = 6 · bodies − 5 · joints + redundant rows

| scene | bodies | joints | redundant | freedoms |
|---|---|---|---|---|
| ``four_bar`` of n loops | 2 n + 1 | 3 n + 1 | 3 n | 1 (n + 1 where all bars lie in a line) |
| ``loops`` | 9 | 12 | 9 | 3 |
| ``bricard``, ``six_bar`` | 5 | 6 | 1 | 1 |

A six-bar whose neighbouring axes are perpendicular moves when a₁² + a₃² + a₅² = a₂² + a₄² + a₆², aᵢ the lengths of its
links; links that follow the edges of a box have this property, as opposite ones are equally long.

Reference: Bender, dissertation, figure 3.25 (six_bar), figure 3.31 and table 3.6 (loops).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.joints import Revolute
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Scene
from rattleback.shapes import Box

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.model.body import Body, BodyOptions

OUT_OF_PLANE = (0.0, 1.0, 0.0)
THICKNESS = 0.1
# A thin rod has no moment about its own axis; nothing in a plane turns about it, so any small one will do.
ROD_MOMENTS = (1e-3, 1.0 / 12.0, 1.0 / 12.0)
# Corners of a box, in the order its six links follow its edges, and the axes of the joints there.
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
AXES = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0)] * 2, dtype=float)


def four_bar(count: int = 2, speed: float = 1.0) -> Scene:
    """Four-bars side by side that share their cranks; one freedom is left, and more where all bars lie in a line.

    Args:
        count: Number of loops; there is one more crank than couplers, all thin rods of 1 m and 1 kg.
        speed: Speed of the couplers at the start, when the cranks stand upright [m/s].
    """
    count = checks.count(count, "The count of four_bar")
    speed = checks.number(speed, "The speed of four_bar")
    scene = Scene(name="four_bar")
    for k in range(count + 1):
        options: BodyOptions = {
            "velocity": (0.5 * speed, 0, 0),
            "angular_velocity": (0, speed, 0),
            "inertia": ROD_MOMENTS,
        }
        crank = _add_bar(scene, f"crank_{k}", (k, 0.0), (k, 1.0), options)
        scene.add_joint(Revolute(scene.world, crank, at=(k, 0, 0), axis=OUT_OF_PLANE), name=f"A{k}")
    for k in range(count):
        options = {"velocity": (speed, 0, 0), "inertia": ROD_MOMENTS}
        coupler = _add_bar(scene, f"coupler_{k}", (k, 1.0), (k + 1, 1.0), options)
        scene.add_joint(Revolute(f"crank_{k}", coupler, at=(k, 0, 1), axis=OUT_OF_PLANE), name=f"B{k}_right")
        scene.add_joint(Revolute(f"crank_{k + 1}", coupler, at=(k + 1, 0, 1), axis=OUT_OF_PLANE), name=f"B{k + 1}_left")
    return scene


def loops(count: int = 3, long: float = 1.4) -> Scene:
    """Loops of four bars that hang from each other; one bar of each is longer, so that they never lie in a line.

    The world is the first bar of the first loop; the last bar of each loop is the first of the next.

    Args:
        count: Number of loops.
        long: Length of the longer bar of each [m], more than 1 and at most 2; the others have 1 m.
    """
    count = checks.count(count, "The count of loops")
    long = checks.number(long, "The long of loops")
    if not 1.0 < long <= 2.0:
        raise InputError(f"The long of loops is {long!r}; it must be more than 1, as the others have, and at most 2.")
    scene, above = Scene(name="loops"), "world"
    a, b = np.array([0.0, 0.0]), np.array([1.0, 0.0])
    for k in range(1, count + 1):
        d, c = _below(a, b, long)
        side = _add_bar(scene, f"side_{k}", a, d)
        far = _add_bar(scene, f"long_{k}", b, c)
        low = _add_bar(scene, f"low_{k}", d, c)
        ends = ((above, side, a), (above, far, b), (side, low, d), (far, low, c))
        for number, (one, other, (x, z)) in enumerate(ends, 1):
            scene.add_joint(Revolute(one, other, at=(x, 0, z), axis=OUT_OF_PLANE), name=f"joint_{k}_{number}")
        above, a, b = low.name, d, c
    return scene


def bricard() -> Scene:
    """Bricard's mechanism: five rods and the world on six revolute joints; it moves though no freedom is left by count.

    Gravity points along −y.
    """
    scene = Scene(gravity=(0.0, -9.81, 0.0), name="bricard")
    _close_box(scene, CORNERS)
    return scene


def six_bar(width: float = 1.0, depth: float = 0.8, height: float = 0.6) -> Scene:
    """Six bars, one of them static, along the edges of a box, on six revolute joints; one freedom is left.

    Args:
        width: Edge of the box along x [m].
        depth: Edge along y [m].
        height: Edge along z [m].
    """
    edges = {"width": width, "depth": depth, "height": height}
    sizes = np.array([checks.positive(value, f"The {name} of six_bar") for name, value in edges.items()])
    scene, corners = Scene(name="six_bar"), CORNERS * sizes
    base = scene.add_static(
        _edge(corners[5], corners[0]), name="base", position=0.5 * (corners[5] + corners[0]), collision=None
    )
    _close_box(scene, corners, base.name)
    return scene


def _close_box(scene: Scene, corners: NDArray[np.float64], base: str = "world") -> None:
    """Five bars along the edges of a box; the sixth edge, from the last corner to the first, is ``base``."""
    before = base
    for k in range(5):
        start, end = corners[k], corners[k + 1]
        bar = scene.add_body(
            _edge(start, end), mass=1.0, name=f"bar_{k + 1}", position=0.5 * (start + end), collision=None
        )
        scene.add_joint(Revolute(before, bar, at=start, axis=AXES[k]), name=f"joint_{k + 1}")
        before = bar.name
    scene.add_joint(Revolute(before, base, at=corners[5], axis=AXES[5]), name="joint_6")


def _edge(start: NDArray[np.float64], end: NDArray[np.float64]) -> Box:
    """A bar 0.1 m thick along an axis of the world."""
    return Box(*np.maximum(np.abs(end - start), THICKNESS).tolist())


def _add_bar(scene: Scene, name: str, start: ArrayLike, end: ArrayLike, options: BodyOptions | None = None) -> Body:
    """A bar of 1 kg for each metre between two points (x, z) of the plane y = 0."""
    way, middle = np.subtract(end, start), 0.5 * np.add(start, end)
    length = float(np.hypot(*way))
    placed: BodyOptions = {
        "mass": length,
        "name": name,
        "position": (middle[0], 0.0, middle[1]),
        "collision": None,
        "orientation": quaternion_from_axis_angle(OUT_OF_PLANE, -math.atan2(way[1], way[0])),
    }
    return scene.add_body(Box(length, 0.5 * THICKNESS, 0.5 * THICKNESS), **(placed | (options or {})))


def _below(a: NDArray[np.float64], b: NDArray[np.float64], long: float) -> tuple[NDArray[np.float64], ...]:
    """Where a loop under the bar from a to b has its lower corners: 1 m from a, ``long`` from b, 1 m apart."""
    along = b - a
    across = np.array([along[1], -along[0]])
    d = a + across
    way = b - d
    reach = float(np.hypot(*way))
    foot = (1.0 + reach**2 - long**2) / (2.0 * reach)
    rise = math.sqrt(1.0 - foot**2)
    forward = way / reach
    return d, d + foot * forward + rise * np.array([forward[1], -forward[0]])
