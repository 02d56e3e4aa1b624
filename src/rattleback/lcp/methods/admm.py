"""Proximal alternating direction method of multipliers with the shift of De Saxcé.

    (W + (ρ + η) 1) x⁺ = y + ρ z + η x − q − s(y),      z⁺ = P(x⁺ − y / ρ),      y⁺ = y − ρ (x⁺ − z⁺)

x, z scaled impulses (free, admissible), y their velocity with the shift s, ρ penalty, η proximal weight. At a fixed
point x = z and y = û.

Algorithm:
    1. factorise W + (ρ + η) 1 once
    2. s from y, then x, z, y as above: one solution with the factor
    3. every 20 iterations: residual of z; where primal and dual changes are apart by more than a factor of 5, ρ is
       multiplied by the root of their ratio, and W is factorised again
    4. until the residual is within the tolerance

Cost: one factorisation for each ρ (dense O(rows³), sparse with fill-in), O(rows²) or the entries of the factor an
iteration.

When to use it: where ``apgd`` stalls: high mass ratios, long chains of contacts such as arches, badly scaled problems,
W that is not symmetric. With a sparse W it reaches thousands of contacts; with a dense one the factor is the limit.

Reference: Carpentier, Le Lidec and Montaut, From Compliant to Rigid Contact Simulation, RSS 2024, algorithm 1; Tasora,
Mangoni, Benatti and Garziera, Int. J. Numer. Meth. Engng. 122 (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from rattleback.lcp.forms.factor import factorise
from rattleback.lcp.forms.scaled import Scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# Smallest curvature in units of the largest eigenvalue, for the first penalty; proximal weight; bounds of ρ.
FLAT, PROXIMAL, LEAST, MOST = 1e-8, 1e-9, 1e-9, 1e3
# Sparse factors pay above this size.
DENSE_ROWS = 400


@dataclass(frozen=True)
class ADMM:
    """Proximal ADMM.

    Attributes:
        iterations: Largest number of iterations.
        every: Iterations between two looks at the residual and the penalty.
        balance: Ratio of primal and dual changes beyond which ρ is changed.
        patience: Looks without progress after which it stalls.
    """

    iterations: int = 20_000
    every: int = 20
    balance: float = 5.0
    patience: int = 150

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = 100_000

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Iterate until the watch says stop."""
        watch.patience = self.patience
        state = _Iteration(Scaled(problem, law), watch.start)
        while not watch.see(state.scaled.leave(state.z * state.size), done=self.every if watch.history else 0):
            for _ in range(self.every):
                state.iterate()
            state.balance(self.balance)


class _Iteration:
    """The variables of the iteration, in units of ‖q‖.

    Args:
        scaled: The scaled problem.
        start: Impulses to start from [N s].
    """

    def __init__(self, scaled: Scaled, start: NDArray[np.float64]) -> None:
        self.scaled = scaled
        self.size = float(np.linalg.norm(scaled.q)) or 1.0
        self.q = scaled.q / self.size
        self.largest = scaled.largest_eigenvalue()
        self.rho = self.largest * np.sqrt(FLAT) * FLAT**-0.2
        self.eta = PROXIMAL * self.largest
        self.z = self.x = scaled.enter(start) / self.size
        self.y = scaled.shift(scaled.apply(self.z) + self.q)
        self.primal = self.dual = 0.0
        self.solve = self._factorise()

    def _factorise(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """The solution with W + (ρ + η) 1."""
        problem, shift = self.scaled.problem, self.rho + self.eta
        if problem.storage == "sparse" and problem.size > DENSE_ROWS:
            S = sp.dia_array((self.scaled.scale[None, :], [0]), shape=(problem.size, problem.size))
            shifted = sp.csc_array(S @ problem.sparse @ S + shift * sp.eye_array(problem.size))
            return sla.splu(shifted).solve
        return factorise(self.scaled.dense() + shift * np.eye(problem.size))

    def iterate(self) -> None:
        """One iteration."""
        s = self.scaled.shift(self.y) - self.y
        x = self.solve(self.y + self.rho * self.z + self.eta * self.x - self.q - s)
        z = self.project(x - self.y / self.rho)
        self.y = self.y - self.rho * (x - z)
        largest = max(float(np.linalg.norm(x)), float(np.linalg.norm(z)), 1e-300)
        self.primal = float(np.linalg.norm(x - z)) / largest
        self.dual = self.rho * float(np.linalg.norm(z - self.z)) / max(float(np.linalg.norm(self.y)), 1e-300)
        self.x, self.z = x, z

    def project(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The admissible impulses, in units of ‖q‖."""
        return self.scaled.project(z * self.size) / self.size

    def balance(self, allowed: float) -> None:
        """Change the penalty where primal and dual changes are apart."""
        ratio = float(np.sqrt(self.primal / max(self.dual, 1e-300)))
        if 1.0 / allowed <= ratio <= allowed:
            return
        rho = min(max(self.rho * min(max(ratio, 0.1), 10.0), LEAST * self.largest), MOST * self.largest)
        if rho != self.rho:
            self.rho = rho
            self.solve = self._factorise()
