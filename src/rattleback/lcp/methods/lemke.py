"""Lemke's complementary pivoting with the lexicographic rule: exact in finitely many pivots, or a ray.

    0 ≤ w = M z + p + d z₀  ⟂  z ≥ 0,      from z₀ large to z₀ = 0

M, p the problem in standard form (``lcp.forms.standard_form``), d the covering vector, z₀ the artificial variable.

Algorithm:
    1. z₀ enters; the row with the least p leaves
    2. the complement of the variable that left enters
    3. the row of the lexicographically least ratio of (basic values, rows of B⁻¹) to the entering column leaves
    4. until z₀ leaves (solution), or no entry of the column is positive (secondary ray)
    5. basic variables anew from M itself, which takes off the rounding of the pivots

Cost: O(n²) a pivot, about n pivots on contact problems, 2ⁿ in the worst case. ``most_rows`` is the limit.

When to use it: exact answers to small problems, W symmetric or not, plain or under ``pyramid``. The lexicographic rule
excludes cycling. A secondary ray proves that there is no solution if M is copositive-plus; for other M it proves
nothing, and the reason says that a ray was met.

Reference: Cottle, Pang and Stone, The Linear Complementarity Problem, algorithm 4.4.5 and §4.9.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.linalg as la

from rattleback.lcp.forms.standard_form import write_standard_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# An entry of a column below this part of its largest one is rounding; ratios nearer than TIED are the same.
ROUNDING, TIED = 1e-8, 1e-12


@dataclass(frozen=True)
class Lemke:
    """Lemke's method.

    Attributes:
        iterations: Largest number of pivots.
    """

    iterations: int = 20_000

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = 900

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Pivot until there is a solution or a ray."""
        form = write_standard_form(problem, law)
        tableau = Tableau(form.M, form.p)
        if watch.see(form.impulse(np.zeros(len(form.p))), done=0):
            return
        while not tableau.reason and watch.iterations < watch.budget and watch.elapsed < watch.seconds:
            tableau.pivot()
            watch.iterations += 1
        watch.see(form.impulse(tableau.solution()), done=0)
        watch.reason = ""
        reason = tableau.reason or f"budget: {watch.iterations} pivots used up before z₀ left"
        watch.stop(f"{reason}, residual {watch.best_error:.3g} m/s")


class Tableau:
    """The tableau [B⁻¹ | −B⁻¹M | −B⁻¹d | B⁻¹p] of Lemke's method, rows scaled by the size of their entries.

    Args:
        M: Matrix, shape (n, n).
        p: Vector, shape (n,).
    """

    def __init__(self, M: NDArray[np.float64], p: NDArray[np.float64]) -> None:
        n = self.n = len(p)
        self.scale = scales(M)
        M = self.M = self.scale[:, None] * M * self.scale
        p = self.p = self.scale * p
        size = np.abs(M).max(axis=1)
        self.cover = np.where(size > 0.0, size, 1.0)
        self.table = np.hstack([np.eye(n), -M, -self.cover[:, None], p[:, None]])
        self.basic = np.arange(n)
        self.entering = 2 * n
        self.reason = "" if (p < 0.0).any() else "solved: z = 0"

    def pivot(self) -> None:
        """One variable enters, one leaves."""
        column = self.table[:, self.entering].copy()
        row = int(np.argmin(self.p / self.cover)) if self.entering == 2 * self.n else self._leaving(column)
        if row < 0:
            self.reason = "secondary ray: no ratio bounds the entering variable, so Lemke's method has no next vertex"
            return
        left = self.basic[row]
        self.table[row] /= column[row]
        others = np.flatnonzero(column)
        others = others[others != row]
        self.table[others] -= np.outer(column[others], self.table[row])
        self.basic[row] = self.entering
        if left == 2 * self.n:
            self.reason = "solved: the artificial variable has left"
        self.entering = left + self.n if left < self.n else left - self.n

    def _leaving(self, column: NDArray[np.float64]) -> int:
        """Row of the lexicographically least ratio; −1 where the column has no positive entry."""
        rows = np.flatnonzero(column > ROUNDING * max(np.abs(column).max(), 1e-300))
        if not len(rows):
            return -1
        for k in (2 * self.n + 1, *range(self.n)):
            ratios = self.table[rows, k] / column[rows]
            rows = rows[ratios <= ratios.min() + TIED * max(1.0, float(np.abs(ratios).min()))]
            artificial = rows[self.basic[rows] == 2 * self.n]
            if len(artificial):
                return int(artificial[0])
            if len(rows) == 1:
                break
        return int(rows[0])

    def solution(self) -> NDArray[np.float64]:
        """The variables z of the basis, solved anew from M where z₀ is out and that makes them better."""
        z = np.zeros(self.n)
        inside = (self.basic >= self.n) & (self.basic < 2 * self.n)
        z[self.basic[inside] - self.n] = np.maximum(self.table[inside, -1], 0.0)
        if not self.reason.startswith("solved"):
            return self.scale * z
        active = np.sort(self.basic[inside] - self.n)
        anew = np.zeros(self.n)
        anew[active] = la.lstsq(self.M[np.ix_(active, active)], -self.p[active], lapack_driver="gelsy")[0]
        anew = np.maximum(anew, 0.0)
        return self.scale * min((anew, z), key=lambda x: float(np.abs(np.minimum(x, self.M @ x + self.p)).max()))


def scales(M: NDArray[np.float64]) -> NDArray[np.float64]:
    """Units of the variables in which the diagonal of M is one, and where it is zero the largest entry of the row."""
    diagonal = np.diag(M)
    own = diagonal > 0.0
    scale = np.where(own, 1.0 / np.sqrt(np.where(own, diagonal, 1.0)), 0.0)
    largest = np.maximum((np.abs(M) * scale).max(axis=1), (np.abs(M.T) * scale).max(axis=1))
    rest = ~own
    scale[rest] = np.where(largest[rest] > 0.0, 1.0 / np.where(largest[rest] > 0.0, largest[rest], 1.0), 1.0)
    return scale
