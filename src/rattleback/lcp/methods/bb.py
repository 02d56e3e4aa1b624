"""Projected gradient with the step of Barzilai and Borwein, guarded by the residual.

    x⁺ = P(x − α û(x)),      α = sᵀs / sᵀy and sᵀy / yᵀy by turns,   s = x⁺ − x,   y = û⁺ − û

x impulses scaled by contact (``lcp.forms.scaled``), û shifted velocities of the law, α step.

Algorithm:
    1. step with α; u⁺ of the new impulses
    2. α from s and y, long and short by turns, within [1e-4, 1e4] / L
    3. guard: where ‖x − P(x − û)‖ has grown beyond ``allowed`` times the largest of the last 50, go back to the best
       impulses and begin with α = 1 / L
    4. until the residual is within the tolerance

Cost: one product with W and about 15 vector operations an iteration; matrix-free.

When to use it: large problems to middling tolerance: it needs no estimate of L and often fewer iterations than ``apgd``
at first, but is less steady on redundant problems with much sliding.

Reference: Barzilai and Borwein, IMA J. Numer. Anal. 8 (1988); Birgin, Martínez and Raydan, SIAM J. Optim. 10 (2000);
Heyn, Anitescu, Tasora and Negrut, Int. J. Numer. Meth. Engng. 95 (2013), for contact.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rattleback.lcp.forms.scaled import Scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# How many of the last values of the map the guard looks at. Steps of Barzilai and Borwein make it rise and fall by a
# factor of ten and more; a guard of 3 over ten of them keeps the method from converging on half of the stacks.
MEMORY = 50
# Bounds of the step in units of 1 / L.
SHORTEST, LONGEST = 1e-4, 1e4


@dataclass(frozen=True)
class BB:
    """Barzilai–Borwein.

    Attributes:
        iterations: Largest number of iterations.
        look: Iterations between two looks at the residual.
        patience: Looks without progress after which it stalls.
        allowed: Factor by which the map may grow over the last 50.
    """

    iterations: int = 50_000
    look: int = 5
    patience: int = 600
    allowed: float = 30.0

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse", "operator")
    most_rows: ClassVar[float] = float("inf")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Iterate until the watch says stop."""
        scaled = Scaled(problem, law)
        watch.patience = self.patience
        L = scaled.largest_eigenvalue()
        x = scaled.project(scaled.enter(watch.start))
        v = scaled.shift(scaled.velocity(x))
        best, alpha, recent, done = (np.inf, x, v), 1.0 / L, deque([np.inf], maxlen=MEMORY), 0
        while done % self.look or not watch.see(scaled.leave(x), done=min(done, self.look)):
            size = float(np.linalg.norm(x - scaled.project(x - v)))
            if size < best[0]:
                best = (size, x, v)
            if not size <= self.allowed * max(recent):
                recent.clear()
                size, x, v = best
                alpha = 1.0 / L
            recent.append(size)
            done += 1
            old, v_old = x, v
            x = scaled.project(x - alpha * v)
            v = scaled.shift(scaled.velocity(x))
            alpha = step_length(x - old, v - v_old, done % 2 == 0, L)


def step_length(s: NDArray[np.float64], y: NDArray[np.float64], long: bool, L: float) -> float:
    """The next step, within bounds; 1 / L where the curvature is not positive."""
    curvature = float(s @ y)
    if not curvature > 0.0:
        return 1.0 / L
    alpha = float(s @ s) / curvature if long else curvature / float(y @ y)
    return min(max(alpha, SHORTEST / L), LONGEST / L)
