"""Scenes in closed form as contact problems: three bodies, stacks, a wall, an arch, needles, random redundant ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.lcp.examples import Bodies, Example, Points, boxes, rectangle, sliding_block, touching, write_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.lcp.problem import Problem


def three_bodies(times: int = 1, mu: float = 0.0) -> Example:
    """Three balls of which each touches the two others, pressed together; document 000 counts each contact twice.

    Args:
        times: How often each contact is counted; the second time from the other side.
        mu: Friction coefficient.
    """
    angle = np.array([0.1, 0.1 + 2.0 * np.pi / 3.0, 0.1 + 4.0 * np.pi / 3.0])
    place = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(3)]) / np.sqrt(3.0)
    mass = np.array([1.0, 2.0, 3.0])
    velocity = -place * np.array([[1.0], [0.5], [2.0]]) + [0.2, 0.0, 0.1]
    bodies = Bodies(place, mass, np.full((3, 3), 0.1) * mass[:, None], velocity)
    a, b = np.array([0, 0, 1]), np.array([1, 2, 2])
    if times == 2:
        a, b = np.concatenate([a, b]), np.concatenate([b, a])
    middle = 0.5 * (place[a] + place[b])
    normal = (place[a] - place[b]) / np.linalg.norm(place[a] - place[b], axis=1)[:, None]
    return write_problem(bodies, Points(a, b, middle, normal, mu, np.zeros(len(a))), f"three bodies, counted {times} x")


def stack(count: int = 10, ratio: float = 1.0, mu: float = 0.5) -> Example:
    """Cubes on each other, four contact points each; the mass grows towards the top.

    Args:
        count: Number of cubes.
        ratio: Mass of the highest in units of the lowest.
        mu: Friction coefficient.
    """
    masses = ratio ** (np.arange(count) / max(count - 1, 1))
    bodies = boxes((1.0, 1.0, 1.0), [(0.0, 0.0, 0.5 + k) for k in range(count)], masses)
    corners = [rectangle((-0.5, -0.5), (0.5, 0.5), float(k)) for k in range(count)]
    points = touching([(k, k - 1) for k in range(count)], corners, mu)
    bodies.velocity[:, 0] = 0.02 * np.arange(count)
    return write_problem(bodies, points, f"stack of {count}, mass ratio {ratio:g}")


def wall(columns: int = 5, rows: int = 4, mu: float = 0.6) -> Example:
    """Bricks in running bond: each rests with four points on each of the two below, and is pushed at the top.

    Args:
        columns: Bricks in a row.
        rows: Rows.
        mu: Friction coefficient.
    """
    places = [(i + 0.5 * (k % 2), 0.0, 0.25 + 0.5 * k) for k in range(rows) for i in range(columns)]
    bodies = boxes((1.0, 0.5, 0.5), places, 2.0)
    pairs, corners = [], []
    for upper, (x, _, z) in enumerate(places):
        for lower in [-1] if z < 0.5 else np.flatnonzero(np.abs(bodies.position[:, 2] - z + 0.5) < 1e-9):
            left = x - 0.5 if lower < 0 else max(x, places[lower][0]) - 0.5
            right = x + 0.5 if lower < 0 else min(x, places[lower][0]) + 0.5
            if right - left > 1e-9:
                pairs.append((upper, int(lower)))
                corners.append(rectangle((left, -0.25), (right, 0.25), z - 0.25))
    bodies.velocity[-columns:, 1] = 0.3
    return write_problem(bodies, touching(pairs, corners, mu), f"wall of {columns} x {rows}")


def arch(stones: int = 15, thickness: float = 0.2, mu: float = 0.7) -> Example:
    """Half a circle of wedge-shaped stones, four contact points in each joint, both feet on the ground.

    Args:
        stones: Number of stones.
        thickness: Thickness of the ring over its mean radius, which is 1 m; the limit of a semicircle is 0.107.
        mu: Friction coefficient.
    """
    joints = np.pi * np.arange(stones + 1) / stones
    middle = 0.5 * (joints[1:] + joints[:-1])
    place = np.column_stack([np.cos(middle), np.zeros(stones), np.sin(middle)])
    size = np.array([thickness, 0.3, np.pi / stones])
    bodies = boxes(size, place, 1000.0 * float(np.prod(size)))
    ring = np.column_stack([np.cos(joints), np.zeros(stones + 1), np.sin(joints)])
    corners = [
        (1.0 + side * 0.5 * thickness) * ring[:, None, :] + [0.0, depth, 0.0]
        for side in (-1, 1)
        for depth in (-0.15, 0.15)
    ]
    points = np.concatenate(corners, axis=1)
    along = np.column_stack([-np.sin(joints), np.zeros(stones + 1), np.cos(joints)])
    a = np.repeat(np.minimum(np.arange(stones + 1), stones - 1), 4)
    b = np.repeat(np.arange(-1, stones), 4)
    b[-4:] = -1
    normal = np.repeat(along, 4, axis=0)
    normal[-4:] *= -1.0
    every = Points(a, b, points.reshape(-1, 3), normal, mu, np.zeros(len(a)))
    return write_problem(bodies, every, f"arch of {stones}, thickness {thickness:g}")


def needles(count: int = 30, contacts: int = 90, mu: float = 0.3, seed: int = 0) -> Example:
    """A heap of thin rods, whose inertias differ by a thousand, that touch where chance has it.

    Args:
        count: Number of rods.
        contacts: Number of contact points.
        mu: Friction coefficient.
        seed: Number that decides where.
    """
    rng = np.random.default_rng(seed)
    place = rng.uniform(-0.5, 0.5, (count, 3)) + np.array([0.0, 0.0, 1.0])
    bodies = boxes((1.0, 0.03, 0.03), place, 0.01)
    bodies.velocity[:] = rng.normal(scale=0.3, size=(count, 3))
    a = rng.integers(0, count, contacts)
    b = (a + rng.integers(1, count, contacts)) % count
    b[: contacts // 4] = -1
    normal = rng.normal(size=(contacts, 3)) + np.array([0.0, 0.0, 1.0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    along = np.column_stack([rng.uniform(-0.5, 0.5, contacts), rng.normal(scale=0.01, size=(contacts, 2))])
    points = Points(a, b, place[a] + along, normal, mu, np.zeros(contacts))
    return write_problem(bodies, points, f"{count} needles")


def redundant(bodies: int = 8, contacts: int = 60, mu: float = 0.5, seed: int = 0) -> Example:
    """Few bodies with many contact points: W has far fewer than ``3 contacts`` independent rows.

    Args:
        bodies: Number of bodies.
        contacts: Number of contact points.
        mu: Friction coefficient.
        seed: Number that decides where.
    """
    rng = np.random.default_rng(seed)
    place = rng.normal(size=(bodies, 3))
    made = boxes((1.0, 1.0, 1.0), place, 10.0 ** rng.uniform(-1.0, 1.0, bodies))
    made.velocity[:] = rng.normal(size=(bodies, 3))
    a = rng.integers(0, bodies, contacts)
    b = rng.integers(-1, bodies, contacts)
    b[b == a] = -1
    normal = rng.normal(size=(contacts, 3))
    normal[:, 2] = np.abs(normal[:, 2])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    points = Points(a, b, place[a] + 0.5 * rng.normal(size=(contacts, 3)), normal, mu, np.zeros(contacts))
    return write_problem(made, points, f"{bodies} bodies with {contacts} contacts")


SCENES: dict[str, Callable[[], Problem]] = {
    "sliding block": sliding_block,
    "three bodies": lambda: three_bodies(1, 0.3).problem,
    "three bodies twice": lambda: three_bodies(2, 0.3).problem,
    "stack": lambda: stack(10).problem,
    "stack, mass ratio 1e4": lambda: stack(10, 1e4).problem,
    "wall": lambda: wall().problem,
    "arch": lambda: arch().problem,
    "thin arch": lambda: arch(15, 0.11).problem,
    "needles": lambda: needles().problem,
    "redundant": lambda: redundant().problem,
}
