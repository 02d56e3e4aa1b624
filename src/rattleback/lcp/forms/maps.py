"""The conditions of a problem as equations F(x, u) = 0, with their generalised derivatives by contact.

    F = x − P(x − û),      dF = A dx + B du

| law | F of a contact |
|---|---|
| ``frictionless`` | x_n − max(0, x_n − u_n), x_t |
| ``pyramid`` | the same normal part; x_t − clip(x_t − u_t, ± μ max(0, x_n − u_n)) |
| ``coulomb`` | the same normal part; x_t − x_t − u_t brought onto the disc of radius μ max(0, x_n − u_n) |
| ``cone`` | x − onto the cone, of x − u |

x impulses, u velocities, scaled (``lcp.forms.scaled``). A and B are one number for each plain row and one d × d block
for each contact. Where a map has a kink, one of its two derivatives is taken.

Reference: Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991), §3; Fukushima, Luo and Tseng, SIAM J.
Optim. 12 (2002), §3, for the derivative of the projection onto a cone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.lcp.laws import length, onto_cone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.forms.scaled import Scaled

Blocks = tuple["NDArray[np.float64]", "NDArray[np.float64]", "NDArray[np.float64]"]


@dataclass(frozen=True)
class Slope:
    """F and its derivatives at one point.

    Attributes:
        F: Values, shape (rows,).
        plain: Derivatives of the plain rows: by x, shape (plain rows,). By u they are one minus that.
        A: Derivatives by x, shape (contacts, d, d).
        B: Derivatives by u, shape (contacts, d, d).
    """

    F: NDArray[np.float64]
    plain: NDArray[np.float64]
    A: NDArray[np.float64]
    B: NDArray[np.float64]

    def jacobian(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """A + B W, shape (rows, rows)."""
        m, (n, d, _) = len(self.plain), self.A.shape
        J = np.empty_like(W)
        J[:m] = (1.0 - self.plain)[:, None] * W[:m]
        J[range(m), range(m)] += self.plain
        if n:
            J[m:] = np.matmul(self.B, W[m:].reshape(n, d, -1)).reshape(n * d, -1)
            rows = (m + d * np.arange(n)[:, None, None] + np.arange(d)[:, None]) + np.zeros((1, 1, d), dtype=int)
            J[rows, np.swapaxes(rows, 1, 2)] += self.A
        return J


def slope(scaled: Scaled, x: NDArray[np.float64], u: NDArray[np.float64]) -> Slope:
    """F and its derivatives at x with the velocities u."""
    problem = scaled.problem
    m, n, d = problem.plain_rows, problem.contacts, problem.dimension
    F = np.empty_like(x)
    z = x[:m] - u[:m]
    F[:m] = x[:m] - np.clip(z, scaled.lower, scaled.upper)
    plain = np.where((z <= scaled.lower) | (z >= scaled.upper), 1.0, 0.0)
    if not n:
        return Slope(F, plain, np.zeros((0, d, d)), np.zeros((0, d, d)))
    F[m:], D, bent = _contacts(scaled.law.name, (x - u)[m:].reshape(n, d), x[m:].reshape(n, d), problem.mu)
    return Slope(F, plain, np.eye(d) - D - bent, D + bent)


def _contacts(
    law: str, z: NDArray[np.float64], x: NDArray[np.float64], mu: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """F of contacts, dP/dz within the set at hand, and dP/dz through its moving bound."""
    if law == "cone":
        return (x - onto_cone(z, mu)).ravel(), _cone_slope(z, mu), np.zeros((*z.shape, z.shape[1]))
    pushes = z[:, 0] > 0.0
    radius = mu * np.where(pushes, z[:, 0], 0.0)
    P = np.zeros_like(z)
    D = np.zeros((*z.shape, z.shape[1]))
    P[:, 0], D[:, 0, 0] = np.where(pushes, z[:, 0], 0.0), pushes
    bent = np.zeros_like(D)
    y = z[:, 1:]
    by_radius = np.zeros_like(y)
    if law == "pyramid":
        P[:, 1:] = np.clip(y, -radius[:, None], radius[:, None])
        sticks = np.abs(y) <= radius[:, None]
        D[:, range(1, z.shape[1]), range(1, z.shape[1])] = sticks
        by_radius = np.where(sticks, 0.0, np.sign(y))
    elif law == "coulomb":
        P[:, 1:], D[:, 1:, 1:], by_radius = _disc(y, radius)
    bent[:, 1:, 0] = (mu * pushes)[:, None] * by_radius
    return (x - P).ravel(), D, bent


def _disc(
    y: NDArray[np.float64], radius: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Projection onto discs, its derivatives by the point and by the radius."""
    size = length(y)
    sticks = size <= radius
    unit = y / np.where(size > 0.0, size, 1.0)[:, None]
    ratio = np.where(sticks, 1.0, radius / np.where(size > 0.0, size, 1.0))
    across = np.eye(y.shape[1]) - unit[:, :, None] * unit[:, None, :]
    D = np.where(sticks[:, None, None], np.eye(y.shape[1]), ratio[:, None, None] * across)
    return ratio[:, None] * y, D, np.where(sticks[:, None], 0.0, unit)


def _cone_slope(z: NDArray[np.float64], mu: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivative of the projection onto the cones, shape (contacts, d, d)."""
    n, t = z[:, 0], length(z[:, 1:])
    d = z.shape[1]
    unit = z[:, 1:] / np.where(t > 0.0, t, 1.0)[:, None]
    normal = (n + mu * t) / (1.0 + mu * mu)
    D = np.empty((len(z), d, d))
    part = 1.0 / (1.0 + mu * mu)
    D[:, 0, 0] = part
    D[:, 0, 1:] = D[:, 1:, 0] = (part * mu)[:, None] * unit
    along = unit[:, :, None] * unit[:, None, :]
    ratio = mu * normal / np.where(t > 0.0, t, 1.0)
    D[:, 1:, 1:] = (part * mu * mu)[:, None, None] * along + ratio[:, None, None] * (np.eye(d - 1) - along)
    D[t <= mu * n] = np.eye(d)
    D[mu * t <= -n] = 0.0
    return D
