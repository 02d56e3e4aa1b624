"""Which rows of a contact problem are free and which are at a bound, and the impulses that belong to that choice.

    u_F = 0 on the free rows F,   r = lower or upper on the rows at a bound,   r_t = ±μ r_n on sliding tangents

A sliding tangent is tied to its normal: r = S x + b with one column of S for every free row, in which the column of a
normal carries ±μ in the rows of its sliding tangents. Then (W S)_F x = −(W b + q)_F, so that limits ±μ r_n follow the
normal impulse without an iteration. Rows are scaled by 1 / √W_ii; redundant rows get the solution of least norm.

Cost: O(F³).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem

# States of a row.
LOWER, FREE, UPPER = -1, 0, 1
# Part of the largest singular value below which a direction of impulses is redundant.
REDUNDANT = 1e-13


class Rows:
    """The rows of a problem for pivoting: their bounds, and the normal whose impulse bounds a tangent.

    Args:
        problem: The problem, dense or sparse.
        law: ``frictionless`` or ``pyramid``, or ``coulomb`` in the plane.
    """

    def __init__(self, problem: Problem, law: Law) -> None:
        n, m, d = problem.size, problem.plain_rows, problem.dimension
        self.size = n
        self.W, self.q = problem.dense, problem.q
        self.lower = np.zeros(n)
        self.upper = np.full(n, np.inf)
        self.lower[:m], self.upper[:m] = problem.lower, problem.upper
        self.normal = np.full(n, -1)  # of tangents under friction
        self.mu = np.zeros(n)
        tangents = np.arange(n - m) % d > 0
        rows = m + np.flatnonzero(tangents)
        if law.name == "frictionless":
            self.upper[rows] = 0.0
        else:
            self.normal[rows] = m + d * ((rows - m) // d)
            self.mu[rows] = np.repeat(problem.mu, d - 1)
        diagonal = np.abs(np.diag(self.W))
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))

    @property
    def is_tangent(self) -> NDArray[np.bool_]:
        """Which rows are tangents bounded by a normal impulse."""
        return self.normal >= 0

    def limits(self, r: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds of all rows [N s] when the normal impulses are those of r."""
        bound = self.mu * np.maximum(r[self.normal], 0.0)
        tied = self.is_tangent
        return np.where(tied, -bound, self.lower), np.where(tied, bound, self.upper)

    def columns(self, state: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Columns of S for the chosen rows: unit vectors, with the sliding tangents of a normal."""
        S = np.zeros((self.size, len(chosen)))
        S[chosen, np.arange(len(chosen))] = 1.0
        place = np.full(self.size, -1)
        place[chosen] = np.arange(len(chosen))
        sliding = np.flatnonzero(self.is_tangent & (state != FREE) & (place == -1))
        tied = sliding[place[self.normal[sliding]] >= 0]
        S[tied, place[self.normal[tied]]] = state[tied] * self.mu[tied]
        return S

    def impulses(self, state: NDArray[np.int64]) -> NDArray[np.float64]:
        """The impulses of a choice of states [N s], shape (rows,)."""
        fixed = np.where(state == LOWER, self.lower, np.where(state == UPPER, self.upper, 0.0))
        fixed[self.is_tangent] = 0.0
        free = np.flatnonzero(state == FREE)
        if not len(free):
            return fixed
        S = self.columns(state, free)
        right = -(self.W[free] @ fixed + self.q[free])
        return fixed + S @ self.solve(self.W[free] @ S, right, free)

    def solve(self, A: NDArray[np.float64], b: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """X with A x = b on some rows, of least norm where A is singular."""
        s = self.scale[rows]
        scaled = s[:, None] * A * s[None, :]
        return s * la.lstsq(scaled, s * b, cond=REDUNDANT, lapack_driver="gelsy", check_finite=False)[0]
