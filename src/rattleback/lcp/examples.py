"""Contact problems written down from bodies and contact points: what the tests and the experiment solve.

    W = J M⁻¹ Jᵀ,   q = J (v + h M⁻¹ f) + Φ / h on normals

J rows (n, t, s) of every contact point, M masses and inertias, v velocities, f gravity, h time step, Φ gaps. The scenes
are boxes at rest on each other in closed form: no collision detection is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rattleback.core.errors import UnknownName, listing
from rattleback.lcp.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

GRAVITY, STEP = 9.81, 0.01


@dataclass(frozen=True)
class Example:
    """A contact problem with the bodies it was written down from.

    Attributes:
        problem: The problem.
        jacobian: J, sparse, shape (rows, 6 bodies): linear and angular velocity of each body.
        inverse_mass: Diagonal of M⁻¹ [1/kg, 1/(kg m²)], shape (6 bodies,).
        free_velocity: Velocities without contacts [m/s, rad/s], shape (6 bodies,).
    """

    problem: Problem
    jacobian: Any
    inverse_mass: NDArray[np.float64]
    free_velocity: NDArray[np.float64]

    def body_velocity(self, impulse: NDArray[np.float64]) -> NDArray[np.float64]:
        """Velocities of the bodies after the impulses, shape (6 bodies,)."""
        return self.free_velocity + self.inverse_mass * (self.jacobian.T @ impulse)


@dataclass(frozen=True)
class Bodies:
    """Bodies whose axes are those of the world.

    Attributes:
        position: Centres [m], shape (bodies, 3).
        mass: Masses [kg], shape (bodies,).
        inertia: Principal inertias [kg m²], shape (bodies, 3).
        velocity: Linear velocities [m/s], shape (bodies, 3).
    """

    position: NDArray[np.float64]
    mass: NDArray[np.float64]
    inertia: NDArray[np.float64]
    velocity: NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """Contact points: body a, body b (−1 for the ground), place, normal towards a, friction.

    Attributes:
        a: First bodies, shape (points,).
        b: Second bodies, shape (points,).
        place: Where they touch [m], shape (points, 3).
        normal: Unit normals from b to a, shape (points, 3).
        mu: Friction coefficient of all.
        gap: Distances [m], shape (points,).
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    place: NDArray[np.float64]
    normal: NDArray[np.float64]
    mu: float
    gap: NDArray[np.float64]


def boxes(sizes: ArrayLike, positions: ArrayLike, masses: ArrayLike) -> Bodies:
    """Boxes at rest.

    Args:
        sizes: Full extents [m], shape (bodies, 3) or (3,).
        positions: Centres [m], shape (bodies, 3).
        masses: Masses [kg], shape (bodies,) or one.
    """
    places = np.array(positions, dtype=np.float64).reshape(-1, 3)
    size = np.broadcast_to(np.asarray(sizes, dtype=np.float64), places.shape)
    mass = np.broadcast_to(np.asarray(masses, dtype=np.float64), len(places)).copy()
    squares = size**2
    inertia = mass[:, None] / 12.0 * (squares.sum(axis=1)[:, None] - squares)
    return Bodies(places, mass, inertia, np.zeros_like(places))


def frames(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Axes n, t, s of every normal, shape (points, 3, 3)."""
    least = np.eye(3)[np.argmin(np.abs(normal), axis=1)]
    t = np.cross(normal, least)
    t /= np.linalg.norm(t, axis=1)[:, None]
    return np.stack([normal, t, np.cross(normal, t)], axis=1)


def write_problem(bodies: Bodies, points: Points, name: str) -> Example:
    """The contact problem of one time step of length ``STEP`` under gravity.

    Args:
        bodies: The bodies.
        points: The contact points.
        name: Name of the problem.
    """
    n, axes = len(points.a), frames(points.normal)
    entries, rows, columns = [], [], []
    for body, sign in ((points.a, 1.0), (points.b, -1.0)):
        real = np.flatnonzero(body >= 0)
        arm = points.place[real] - bodies.position[body[real]]
        turning = np.cross(arm[:, None, :], axes[real])
        entries.append(sign * np.concatenate([axes[real], turning], axis=2).ravel())
        rows.append(np.repeat(3 * real[:, None] + np.arange(3), 6, axis=1).ravel())
        columns.append(np.tile((6 * body[real][:, None] + np.arange(6))[:, None, :], (1, 3, 1)).ravel())
    where = (np.concatenate(rows), np.concatenate(columns))
    J = sp.csr_array((np.concatenate(entries), where), shape=(3 * n, 6 * len(bodies.mass)))
    inverse = np.concatenate([np.repeat(bodies.mass[:, None], 3, axis=1), bodies.inertia], axis=1).ravel() ** -1.0
    free = np.concatenate([bodies.velocity - [0.0, 0.0, GRAVITY * STEP], np.zeros_like(bodies.velocity)], axis=1)
    q = J @ free.ravel()
    q[::3] += points.gap / STEP
    M = sp.dia_array((inverse[None, :], [0]), shape=(len(inverse), len(inverse)))
    W = sp.bsr_array(sp.csr_array(J @ M @ J.T), blocksize=(3, 3))
    problem = Problem(W=W, q=q, mu=np.full(n, points.mu), dimension=3, name=name)
    return Example(problem, J, inverse, free.ravel())


def touching(pairs: list[tuple[int, int]], corners: list[NDArray[np.float64]], mu: float) -> Points:
    """Contact points of horizontal faces: for each pair (upper, lower) its corners, normals upwards."""
    a = np.concatenate([np.full(len(c), pair[0]) for pair, c in zip(pairs, corners, strict=True)])
    b = np.concatenate([np.full(len(c), pair[1]) for pair, c in zip(pairs, corners, strict=True)])
    place = np.concatenate(corners)
    normal = np.tile([0.0, 0.0, 1.0], (len(place), 1))
    return Points(a, b, place, normal, mu, np.zeros(len(place)))


def rectangle(low: tuple[float, float], high: tuple[float, float], z: float) -> NDArray[np.float64]:
    """The four corners of a horizontal rectangle."""
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1])])


def sliding_block(mu: float = 0.5, speed: float = 1.0) -> Problem:
    """A point mass of 1 kg that slides on a plane: one contact, W = 1.

    Args:
        mu: Friction coefficient.
        speed: Speed along the first tangent [m/s].
    """
    return Problem(W=np.eye(3), q=[-GRAVITY * STEP, speed, 0.0], mu=[mu], name="sliding block")


def by_name(name: str) -> Problem:
    """A problem of ``SCENES``.

    Args:
        name: Its name.
    """
    from rattleback.lcp.example_scenes import SCENES

    if name not in SCENES:
        raise UnknownName(f"There is no example problem {name!r}. The menu: {listing(list(SCENES), 20)}.")
    maker: Callable[[], Problem] = SCENES[name]
    return maker()
