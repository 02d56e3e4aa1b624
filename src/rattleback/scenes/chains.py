"""Chains of ball joints: the dissertation's chain, a rope, and a chain with a heavy load at its end.

    bar i between the nodes i and i + 1:   v = (u_i + u_{i+1}) / 2,   ω = (u_i − u_{i+1}) / l × z,   u_0 = 0
    the motion nearest to given velocities w_i:   Σ ½ m |v_i − w_i|² + ½ J |ω_i|²  →  smallest

u_i velocity of node i, l, m and J length, mass and transverse moment of a bar. The start velocities of a hanging chain
follow from a tridiagonal system for the nodes, so that it begins with joints that already move together.

Reference: Bender, dissertation, §3.3.3, figures 3.27 and 3.28 (chain).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.joints import Ball
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Scene
from rattleback.shapes import Box, Capsule, Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHAIN_BAR = (0.1, 0.1, 1.0)
ROPE_LINK = 0.1


def chain(count: int = 10, speed: float = 2.0) -> Scene:
    """Bars that hang from a fixed point by ball joints, each pushed in a horizontal direction of its own.

    The velocities are those nearest to the pushes, measured by the kinetic energy, with which no joint comes apart.

    Args:
        count: Number of bars of 1 m and 1 kg.
        speed: Speed each centre of mass is pushed with [m/s].
    """
    count = checks.count(count, "The count of chain")
    speed = checks.not_negative(speed, "The speed of chain")
    angles = np.random.default_rng(count).uniform(0.0, 2.0 * math.pi, count)
    nodes = _node_velocities(speed * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    scene, above = Scene(name="chain"), "world"
    for i in range(count):
        along, turn = 0.5 * (nodes[i] + nodes[i + 1]), nodes[i] - nodes[i + 1]
        bar = scene.add_body(
            Box(*CHAIN_BAR),
            mass=1.0,
            name=f"bar_{i + 1}",
            position=(0.0, 0.0, -i - 0.5),
            velocity=(*along, 0.0),
            angular_velocity=(-turn[1], turn[0], 0.0),
            collision=None,
        )
        scene.add_joint(Ball(above, bar, at=(0.0, 0.0, -float(i))), name=f"joint_{i + 1}")
        above = bar.name
    return scene


def _node_velocities(pushes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Horizontal velocities of the joints and the free end [m/s], shape (count + 1, 2), from those of the bars."""
    count, moment = len(pushes), (CHAIN_BAR[0] ** 2 + CHAIN_BAR[2] ** 2) / 12.0
    same, next_to = 0.25 + moment, 0.25 - moment
    matrix = np.diag([2.0 * same] * (count - 1) + [same]) + np.diag([next_to] * (count - 1), 1)
    matrix += np.diag([next_to] * (count - 1), -1)
    right = 0.5 * pushes
    right[:-1] += 0.5 * pushes[1:]
    return np.concatenate([np.zeros((1, 2)), np.linalg.solve(matrix, right)])


def rope(count: int = 100, angle: float = 0.5) -> Scene:
    """A rope of short links with ball joints that swings down from a straight line, at rest.

    Args:
        count: Number of links of 0.1 m and 0.02 kg.
        angle: Angle of the rope to the vertical at the start [rad].
    """
    count = checks.count(count, "The count of rope")
    scene = Scene(name="rope")
    _hang_links(scene, count, checks.number(angle, "The angle of rope"), mass=0.02)
    return scene


def mass_ladder(ratio: float = 1000.0, count: int = 20, angle: float = 0.5) -> Scene:
    """A light chain that carries a load many times as heavy as one of its links, swinging.

    Args:
        ratio: Mass of the load over the mass of a link.
        count: Number of links of 0.1 m and 1 kg.
        angle: Angle of the chain to the vertical at the start [rad].
    """
    ratio = checks.positive(ratio, "The ratio of mass_ladder")
    count = checks.count(count, "The count of mass_ladder")
    angle = checks.number(angle, "The angle of mass_ladder")
    scene = Scene(name="mass_ladder")
    last, end = _hang_links(scene, count, angle, mass=1.0)
    radius = 0.2
    away = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    load = scene.add_body(Sphere(radius), mass=ratio, name="load", position=end + radius * away, collision=None)
    scene.add_joint(Ball(last, load, at=end), name="hook")
    return scene


def _hang_links(scene: Scene, count: int, angle: float, mass: float) -> tuple[str, NDArray[np.float64]]:
    """Links in a straight line from the origin; the name of the last one and where it ends."""
    away = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    tilt = quaternion_from_axis_angle((0, 1, 0), -angle)
    above = "world"
    for i in range(count):
        link = scene.add_body(
            Capsule(0.1 * ROPE_LINK, ROPE_LINK),
            mass=mass,
            name=f"link_{i + 1}",
            position=(i + 0.5) * ROPE_LINK * away,
            orientation=tilt,
            collision=None,
        )
        scene.add_joint(Ball(above, link, at=i * ROPE_LINK * away), name=f"joint_{i + 1}")
        above = link.name
    return above, count * ROPE_LINK * away
