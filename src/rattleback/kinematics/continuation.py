"""Numerical continuation: solutions of the legs of one machine, led to those of another.

    H(z, t) = (zᵀ Q₁(t) z, …, zᵀ Q₆(t) z, zᵀ S z) = 0,   a, b, s = (1 − t) · start + t · end,   t from 0 to 1

z point of projective 7-space, Q_i quadric of leg i, S Study's quadric, a, b, s anchors and squared lengths of the legs.

    every path has a time t and a step h of its own, all are computed side by side
    predict    dz/dt = −H_z⁻¹ H_t by a Runge–Kutta step of fourth order, with zᴴ ż = 0
    correct    three Newton steps at t + h
    accept     if the first correction is below 1e-4 and the last below 1e-8; three times in a row: h doubles
    else       h halves; a path whose step falls below 1e-9 is lost: its end is singular or at infinity

Started from a machine that is generic and complex, with all its solutions, the paths reach every isolated solution of
the end, and cross nowhere on the way, with probability one.

Cost: some 100 to 200 rounds of seven 8 × 8 factorisations a path: 0.3 s for 40 paths.

Reference: Sommese and Wampler, The Numerical Solution of Systems of Polynomials (2005), chapters 2 and 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.kinematics import study

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

FIRST_STEP, LEAST_STEP = 0.02, 1e-9
# Near infinity systems have conditions of 1e6 and more, so that rounding lets no correction fall below 1e-9.
CLOSE, CONVERGED = 1e-4, 1e-8
CORRECTIONS, PATIENCE = 3, 3
MOST_ROUNDS = 3000


class Legs(NamedTuple):
    """Six legs, real or complex: anchors on the base (6, 3), on the platform (6, 3), squares of lengths (6,)."""

    base: Any
    platform: Any
    squares: Any


class Ends(NamedTuple):
    """Where paths ended: points of length one (n, 8), and whether each arrived (n,)."""

    points: Any
    arrived: Flags


def follow(start: Legs, end: Legs, points: Any) -> Ends:
    """Lead solutions of one machine to those of another.

    Args:
        start: The machine whose solutions are known.
        end: The machine whose solutions are looked for.
        points: Solutions of the start (n, 8).
    """
    way = _Way(start, end)
    z = _unit(np.array(points, dtype=np.complex128))
    t, h, streak = np.zeros(len(z)), np.full(len(z), FIRST_STEP), np.zeros(len(z), dtype=int)
    for _ in range(MOST_ROUNDS):
        live = np.flatnonzero((t < 1.0) & (h > LEAST_STEP))
        if not len(live):
            break
        step = np.minimum(h[live], 1.0 - t[live])
        after, good = way.step(t[live], step, z[live])
        done, failed = live[good], live[~good]
        z[done], streak[done], streak[failed] = after[good], streak[done] + 1, 0
        # The last step ends at one exactly, whatever its sum is.
        t[done] = np.where(step[good] == 1.0 - t[done], 1.0, t[done] + step[good])
        h[failed] = 0.5 * step[~good]
        faster = done[streak[done] >= PATIENCE]
        h[faster], streak[faster] = 2.0 * h[faster], 0
    return Ends(z, t >= 1.0)


class _Way:
    """The straight way from one machine to another."""

    def __init__(self, start: Legs, end: Legs) -> None:
        self.start = [np.asarray(part, dtype=np.complex128) for part in start]
        self.rates = [np.asarray(part) - first for part, first in zip(end, self.start, strict=True)]

    def step(self, t: Any, h: Any, z: Any) -> tuple[Any, Flags]:
        """Points after a step of their paths, and whether the step is good."""
        half, wide = t + 0.5 * h, h[:, None]
        k1 = self._slope(t, z)
        k2 = self._slope(half, z + 0.5 * wide * k1)
        k3 = self._slope(half, z + 0.5 * wide * k2)
        k4 = self._slope(t + h, z + wide * k3)
        guess = z + wide / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        sizes = []
        for _ in range(CORRECTIONS):
            matrix, value, _ = self._system(t + h, guess)
            change = solve_stack(matrix, -value)
            guess = _unit(guess + change)
            sizes.append(np.linalg.norm(change, axis=1))
        return guess, (sizes[0] < CLOSE) & (sizes[-1] < CONVERGED)

    def _slope(self, t: Any, z: Any) -> Any:
        matrix, _, rate = self._system(t, z)
        return solve_stack(matrix, -rate)

    def _system(self, t: Any, z: Any) -> tuple[Any, Any, Any]:
        """Derivative by the point (n, 8, 8), its last row zᴴ; value (n, 8) and derivative by time (n, 8)."""
        count = len(t)
        parts = [p + t.reshape(-1, *[1] * p.ndim) * r for p, r in zip(self.start, self.rates, strict=True)]
        legs = study.quadrics(study.coefficients(*parts))
        turning = study.quadrics(study.slopes(parts[0], parts[1], self.rates))
        rows = np.concatenate([np.einsum("nijk,nk->nij", legs, z), (z @ study.STUDY)[:, None]], axis=1)
        value, rate = np.zeros((2, count, 8), dtype=np.complex128)
        value[:, :7] = np.einsum("nij,nj->ni", rows, z)
        rate[:, :6] = np.einsum("nijk,nj,nk->ni", turning, z, z)
        return np.concatenate([2.0 * rows, z.conj()[:, None]], axis=1), value, rate


def _unit(z: Any) -> Any:
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def solve_stack(matrix: Any, right: Any) -> Any:
    """Solutions of a stack of systems; where one is singular to the last bit, the shortest least-squares ones."""
    try:
        return np.linalg.solve(matrix, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return (np.linalg.pinv(matrix) @ right[..., None])[..., 0]
