"""The laws of contact by name: what impulses a contact may have, and which velocities belong to them.

    r = P(r − ρ û)        for any ρ > 0,   û = u + s

| law | P on (r_n, r_t) | shift s of the normal velocity |
|---|---|---|
| ``frictionless`` | r_n ≥ 0, r_t = 0 | 0 |
| ``pyramid`` | r_n ≥ 0, then every tangent within ±μ r_n | 0 |
| ``cone`` | onto K = {‖r_t‖ ≤ μ r_n} | 0 |
| ``coulomb`` | onto K | μ ‖u_t‖ |

r impulse, u velocity of a contact, n normal, t tangents. ``cone`` is the optimality condition of the convex problem
min ½ rᵀW r + qᵀr over K. It is not Coulomb's law: a sliding contact separates with u_n = μ ‖u_t‖. The shift of De Saxcé
in ``coulomb`` takes that away: r_n u_n = 0, and friction opposes sliding with its full bound. ``pyramid`` bounds each
tangent by the normal impulse of the solution itself; in the plane (two rows a contact) it is Coulomb's law.

Cost: a few vector operations for each use.

Reference: document 000, section on friction (6a–6d, 7a–7f); De Saxcé and Feng, Math. Comput. Modelling 28 (1998) 225.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.lcp.problem import Problem


@dataclass(frozen=True)
class Law:
    """A law of contact.

    Attributes:
        name: Its name on the menu.
        onto: Takes points z, shape (contacts, d), and μ, shape (contacts,), to admissible impulses.
        shifted: Whether the normal velocity is shifted by μ ‖u_t‖.
        convex: Whether the law is the optimality condition of a convex problem when W is symmetric, W ⪰ 0.
    """

    name: str
    onto: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
    shifted: bool = False
    convex: bool = False

    def project(self, problem: Problem, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The admissible impulses P(z), shape (rows,)."""
        m = problem.plain_rows
        out = np.empty_like(z)
        np.clip(z[:m], problem.lower, problem.upper, out=out[:m])
        if problem.contacts:
            out[m:] = self.onto(z[m:].reshape(problem.contacts, -1), problem.mu).ravel()
        return out

    def shift(self, problem: Problem, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The velocities û = u + s [m/s], shape (rows,); u itself where the law has no shift."""
        if not self.shifted or not problem.contacts:
            return u
        m, d = problem.plain_rows, problem.dimension
        shifted = u.copy()
        tangents = u[m:].reshape(problem.contacts, -1)[:, 1:]
        shifted[m::d] += problem.mu * length(tangents)
        return shifted


def length(tangents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lengths of the tangential parts, shape (contacts,)."""
    return np.abs(tangents[:, 0]) if tangents.shape[1] == 1 else np.hypot(tangents[:, 0], tangents[:, 1])


def onto_normal(z: NDArray[np.float64], mu: NDArray[np.float64]) -> NDArray[np.float64]:
    """Impulses along the normal only."""
    out = np.zeros_like(z)
    np.maximum(z[:, 0], 0.0, out=out[:, 0])
    return out


def onto_pyramid(z: NDArray[np.float64], mu: NDArray[np.float64]) -> NDArray[np.float64]:
    """The normal impulse first, then every tangent within ± μ times it."""
    out = np.empty_like(z)
    np.maximum(z[:, 0], 0.0, out=out[:, 0])
    bound = (mu * out[:, 0])[:, None]
    np.clip(z[:, 1:], -bound, bound, out=out[:, 1:])
    return out


def onto_cone(z: NDArray[np.float64], mu: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point of the cone ‖r_t‖ ≤ μ r_n."""
    n, t = z[:, 0], length(z[:, 1:])
    # Without friction a pull is within ‖r_t‖ ≤ μ r_n, too: the polar cone comes first.
    polar = mu * t <= -n
    inside = ~polar & (t <= mu * n)
    normal = (n + mu * t) / (1.0 + mu * mu)
    normal = np.where(inside, n, np.where(polar, 0.0, normal))
    factor = np.where(inside, 1.0, mu * normal / np.where(t > 0.0, t, 1.0))
    return np.column_stack([normal, factor[:, None] * z[:, 1:]])


LAWS: dict[str, Law] = {
    law.name: law
    for law in (
        Law("frictionless", onto_normal, convex=True),
        Law("pyramid", onto_pyramid),
        Law("cone", onto_cone, convex=True),
        Law("coulomb", onto_cone, shifted=True),
    )
}


def law_of(name: str) -> Law:
    """The law of a name."""
    if name not in LAWS:
        hint = did_you_mean(name, list(LAWS))
        raise UnknownName(f"There is no law {name!r}.{hint} The menu: {listing(list(LAWS))}.")
    return LAWS[name]
