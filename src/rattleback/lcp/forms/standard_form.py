"""Write a contact problem without cones as one linear complementarity problem with variables z ≥ 0.

    0 ≤ w = M z + p  ⟂  z ≥ 0,      r = R z + t

    M = Rᵀ W R + E,   p = Rᵀ (W t + q) + e,   free rows eliminated by their own block

A row with one bound is a variable of its own, r = bound ± z. A row with two bounds takes a second variable, the
velocity at its upper bound. A tangent under ``pyramid`` takes three (Stewart and Trinkle): its two directions β⁺, β⁻
and the sliding speed σ,

    0 ≤ β± ⟂ ±u_t + σ ≥ 0,      0 ≤ σ ⟂ μ r_n − β⁺ − β⁻ ≥ 0,      r_t = β⁺ − β⁻.

E holds the ones and μ of these rows, e their bounds. M is copositive if W is positive semidefinite, so Lemke's method
ends with a solution where there is one.

Cost: dense, O(rows³) with free rows, O(rows²) else.

Reference: Stewart and Trinkle, Int. J. Numer. Meth. Engng. 39 (1996), eq. 13; Cottle, Pang and Stone, §1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem

# Singular values of the block of free rows below this part of the largest are redundant conditions.
REDUNDANT = 1e-12


@dataclass(frozen=True)
class StandardForm:
    """A linear complementarity problem and its way back.

    Attributes:
        M: Its matrix, shape (n, n).
        p: Its vector, shape (n,).
        back: Takes z to impulses: r = back z + constant, shape (rows, n).
        constant: The impulses at z = 0, shape (rows,).
    """

    M: NDArray[np.float64]
    p: NDArray[np.float64]
    back: NDArray[np.float64]
    constant: NDArray[np.float64]

    def impulse(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The impulses that belong to z [N s], shape (rows,)."""
        return self.back @ z + self.constant


class _Variables:
    """The variables as they are gathered: columns of R, entries of E and e."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.columns: list[tuple[int, float]] = []
        self.free: list[int] = []
        self.extra: list[tuple[int, int, float]] = []
        self.bounds: list[tuple[int, float]] = []
        self.constant = np.zeros(rows)

    def add(self, row: int = -1, sign: float = 0.0) -> int:
        """A variable, with its row of the problem or without one; its number."""
        self.columns.append((row, sign))
        return len(self.columns) - 1

    def add_row(self, i: int, lower: float, upper: float) -> None:
        """A row with its bounds."""
        if np.isinf(lower) and np.isinf(upper):
            self.free.append(self.add(i, 1.0))
        elif np.isinf(lower):
            self.constant[i] = upper
            self.add(i, -1.0)
        else:
            self.constant[i] = lower
            z = self.add(i, 1.0)
            if np.isfinite(upper):
                v = self.add()
                self.extra += [(z, v, 1.0), (v, z, -1.0)]
                self.bounds.append((v, upper - lower))

    def add_tangent(self, i: int, normal: int, mu: float) -> None:
        """A tangent bounded by μ times a normal impulse."""
        ahead, behind, speed = self.add(i, 1.0), self.add(i, -1.0), self.add()
        self.extra += [(ahead, speed, 1.0), (behind, speed, 1.0), (speed, ahead, -1.0), (speed, behind, -1.0)]
        self.extra.append((speed, normal, mu))


def write_standard_form(problem: Problem, law: Law) -> StandardForm:
    """The linear complementarity problem of a contact problem under ``frictionless`` or ``pyramid``."""
    variables = _Variables(problem.size)
    for i in range(problem.plain_rows):
        variables.add_row(i, problem.lower[i], problem.upper[i])
    for c in range(problem.contacts):
        first = problem.plain_rows + problem.dimension * c
        normal = variables.add(first, 1.0)
        # Without friction the tangents have no variable: their impulse is zero.
        if law.name != "frictionless":
            for i in range(first + 1, first + problem.dimension):
                variables.add_tangent(i, normal, float(problem.mu[c]))
    return _assemble(problem, variables)


def _assemble(problem: Problem, variables: _Variables) -> StandardForm:
    """M, p and the way back, with free rows eliminated."""
    n = len(variables.columns)
    R = np.zeros((problem.size, n))
    for k, (row, sign) in enumerate(variables.columns):
        if row >= 0:
            R[row, k] = sign
    M = R.T @ (problem.dense @ R)
    for a, b, value in variables.extra:
        M[a, b] += value
    p = R.T @ problem.velocity(variables.constant)
    for a, value in variables.bounds:
        p[a] += value
    free = np.array(variables.free, dtype=int)
    kept = np.setdiff1d(np.arange(n), free)
    if not len(free):
        return StandardForm(M, p, R, variables.constant)
    inverse = la.pinv(M[np.ix_(free, free)], rtol=REDUNDANT)
    by_kept, by_itself = -inverse @ M[np.ix_(free, kept)], -inverse @ p[free]
    return StandardForm(
        M[np.ix_(kept, kept)] + M[np.ix_(kept, free)] @ by_kept,
        p[kept] + M[np.ix_(kept, free)] @ by_itself,
        R[:, kept] + R[:, free] @ by_kept,
        variables.constant + R[:, free] @ by_itself,
    )
