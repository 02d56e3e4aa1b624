"""One point of a planar system strikes with friction: the impact followed along its normal impulse, in closed form.

    du/dp = A (τ, 1),   τ = −μ sign(u_t) while it slips,   τ = −A_tn/A_tt while it sticks, if that is within ±μ

u = (u_t, u_n) velocity of the point across and along the normal, p normal impulse so far, A = J M⁻¹ Jᵀ inverse mass at
the point, τ friction over normal impulse. Where slip ends and sticking takes more friction than there is, slip turns
around. u is a broken line over p with at most one kink, and the work ∫ u_n dp a parabola on each side of it.

The impact is over when (Routh, with Poisson's restitution) p is 1 + e times that of compression, or (Stronge) e² of the
work of compression has come back. The laws of Newton and Poisson as they are commonly taken do not follow the impact:
u_n ends at −e times what it was, or p at 1 + e times what stops the point, and friction is what sticking takes or all
there is against the slip that is left, at the end of the impact, or of compression and of expansion.

Reference: Routh, Dynamics of a system of rigid bodies, 1905, §§ 179-198; Stronge, Impact mechanics, 2000, § 3 and § 8.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LAWS = ("newton", "poisson", "stronge", "routh")
Array = NDArray[np.float64]


class Piece(NamedTuple):
    """A part of an impact: normal impulse at its start and end, velocity at its start (2,), its change with p (2,)."""

    start: float
    end: float
    velocity: Array
    rate: Array

    def at(self, p: float) -> Array:
        """The velocity of the point (2,) where the normal impulse is p."""
        return np.asarray(self.velocity + (p - self.start) * self.rate)

    def work(self, p: float) -> float:
        """The work of the normal impulse from the start of the part up to p."""
        way = p - self.start
        return float(self.velocity[1] * way + 0.5 * self.rate[1] * way**2)


def strike(law: str, matrix: Array, velocity: Array, friction: float, restitution: float) -> Array:
    """Velocity of the point after the impact, (2,).

    Args:
        law: A name of LAWS.
        matrix: A (2, 2) [1/kg], first across, then along the normal.
        velocity: Velocity of the point before (2,) [m/s]; the second is below zero.
        friction: μ.
        restitution: e.
    """
    if law == "newton":
        return _prescribed(matrix, velocity, friction, restitution)
    if law == "poisson":
        return _in_two(matrix, velocity, friction, restitution)
    parts = pieces(matrix, velocity, friction)
    compressed = _stops(parts)
    end = (1.0 + restitution) * compressed
    if law == "stronge":
        end = _gives_back(parts, compressed, restitution**2)
    return _part_of(parts, end).at(end)


def pieces(matrix: Array, velocity: Array, friction: float) -> list[Piece]:
    """The parts of an impact: slip, then sticking or slip the other way, or either of them alone."""
    first, sign = [], math.copysign(1.0, velocity[0])
    u = np.asarray(velocity, dtype=np.float64)
    p = 0.0
    if u[0] != 0.0:
        rate = matrix @ np.array([-friction * sign, 1.0])
        p = -u[0] / rate[0] if rate[0] * sign < 0.0 else math.inf
        first.append(Piece(0.0, p, u, rate))
        if p == math.inf:
            return first
        u = np.array([0.0, u[1] + p * rate[1]])
    hold = -matrix[0, 1] / matrix[0, 0]
    return [*first, Piece(p, math.inf, u, matrix @ np.array([np.clip(hold, -friction, friction), 1.0]))]


def _part_of(parts: list[Piece], p: float) -> Piece:
    """The part of the impact where the normal impulse is p."""
    return next(part for part in parts if p <= part.end)


def _stops(parts: list[Piece]) -> float:
    """Normal impulse at which the normal velocity is zero."""
    for part in parts:
        p = part.start - part.velocity[1] / part.rate[1]
        if part.rate[1] > 0.0 and p <= part.end:
            return float(p)
    return math.inf


def _gives_back(parts: list[Piece], compressed: float, share: float) -> float:
    """Normal impulse at which a share of the work of compression has come back."""
    done = sum(part.work(min(part.end, compressed)) for part in parts if part.start < compressed)
    left = -share * done
    for part in parts:
        start = max(part.start, compressed)
        speed, rate = part.at(start)[1], part.rate[1]
        p = start + (math.sqrt(max(speed**2 + 2.0 * rate * left, 0.0)) - speed) / rate
        if start < part.end and p <= part.end:
            return float(p)
        if start < part.end:
            left -= part.work(part.end) - part.work(start)
    return math.inf


def _prescribed(matrix: Array, velocity: Array, friction: float, restitution: float) -> Array:
    """Velocity after the impact by Newton's law."""
    wanted = np.array([0.0, -restitution * velocity[1]])
    p = np.linalg.solve(matrix, wanted - velocity)
    if p[1] >= 0.0 and abs(p[0]) <= friction * p[1]:
        return wanted
    for sign in (1.0, -1.0):
        push = np.array([-sign * friction, 1.0])
        along = -(1.0 + restitution) * velocity[1] / (matrix @ push)[1]
        after = np.asarray(velocity + along * (matrix @ push))
        if along >= 0.0 and sign * after[0] >= 0.0:
            return after
    return np.full(2, math.nan)


def _in_two(matrix: Array, velocity: Array, friction: float, restitution: float) -> Array:
    """Velocity after compression and expansion by Poisson's law, with the friction of the end of either."""
    stopped = _prescribed(matrix, velocity, friction, 0.0)
    along = restitution * np.linalg.solve(matrix, stopped - velocity)[1]
    held = -(stopped[0] + matrix[0, 1] * along) / matrix[0, 0]
    across = np.clip(held, -friction * along, friction * along)
    return np.asarray(stopped + matrix @ np.array([across, along]))
