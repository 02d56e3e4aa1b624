"""Laws of joints that follow others, as gears and racks have them: about a place where the follower moves at all.

    q_f − p(x*) = d₁ f(y),   y = σ (q_l − x*),   f(y) = y + b₂ y² + b₃ y³ + b₄ y⁴

p the polynomial of the file, x* a place near the start where its slope is not small, d₁ > 0 that slope and σ its sign,
or the other way round where the sign is that of the follower. Linear couplings have x* at the start and no bend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial import polynomial

if TYPE_CHECKING:
    from rattleback.io.robots.description import Coupling

# Degree of the polynomials that gears and racks have.
MOST_DEGREE = 4
# Ways from the start to places that are tried [rad or m].
TRIED = (0.0, 0.5, -0.5, 1.0, -1.0)
# Where the slope at the start is this part of the largest one of those, the start is taken.
ENOUGH = 0.1


class Law(NamedTuple):
    """A coupling about a place.

    Attributes:
        slope: d₁ with its sign.
        powers: d₂, d₃, d₄.
        leader: Way of the leader at the start from the place, q_l − x*.
        follower: Way of the follower then, q_f − p(x*).
    """

    slope: float
    powers: tuple[float, float, float]
    leader: float = 0.0
    follower: float = 0.0

    @property
    def bent(self) -> bool:
        """Whether it is not linear."""
        return any(self.powers)

    def bend(self, sign: float) -> tuple[float, float, float] | None:
        """b₂, b₃, b₄ of what leads, counted with a sign; None for a linear law."""
        if not self.bent:
            return None
        b2, b3, b4 = (power * sign ** (k + 2) / (self.slope * sign) for k, power in enumerate(self.powers))
        return b2, b3, b4

    def scaled(self, radius: float) -> Law:
        """The same law of a pinion that a leader turns by its way over a radius."""
        d2, d3, d4 = (power * radius ** (k + 2) for k, power in enumerate(self.powers))
        return Law(self.slope * radius, (d2, d3, d4), self.leader / radius, self.follower)


def straight(slope: float) -> Law:
    """A linear law."""
    return Law(slope, (0.0, 0.0, 0.0))


def law_of(coupling: Coupling, start: tuple[float, float]) -> Law:
    """The law of a coupling whose leader and follower start at given coordinates.

    Args:
        coupling: The coupling.
        start: Coordinates of the leader and of the follower [rad or m].
    """
    if coupling.linear:
        return straight(coupling.coefficients[1])
    given = list(coupling.coefficients)
    slopes = {
        way: abs(polynomial.polyval(start[0] + way - coupling.origin, polynomial.polyder(given))) for way in TRIED
    }
    best = max(TRIED, key=lambda way: slopes[way])
    way = 0.0 if slopes[0.0] >= ENOUGH * slopes[best] else best
    place = start[0] + way - coupling.origin
    parts, factor = [], 1.0
    for k in range(MOST_DEGREE + 1):
        parts.append(float(polynomial.polyval(place, polynomial.polyder(given, k))) / factor)
        factor *= k + 1
    return Law(parts[1], (parts[2], parts[3], parts[4]), -way, start[1] - parts[0])


def is_possible(coupling: Coupling) -> bool:
    """Whether gears and racks have the degree of a coupling."""
    return not np.any(coupling.coefficients[MOST_DEGREE + 1 :])
