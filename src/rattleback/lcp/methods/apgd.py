"""Accelerated projected gradient descent, matrix-free, with the shift of De Saxcé renewed in every iteration.

    x⁺ = P(y − û(y) / L),      y⁺ = x⁺ + β (x⁺ − x),      β = θ (1 − θ) / (θ² + θ⁺)

x impulses scaled by contact (``lcp.forms.scaled``), û = u + s velocities, u = W y + q, s the shift of the law, L
Lipschitz constant, θ sequence of Nesterov. Under ``cone`` and ``frictionless`` this minimises ½ xᵀW x + qᵀx over them.

Algorithm:
    1. step with L; L doubles while (x⁺ − y)ᵀW(x⁺ − y) > L ‖x⁺ − y‖², and falls slowly else
    2. restart (θ = 1, y = x⁺) where û(y) · (x⁺ − x) > 0
    3. the velocities of y follow from those of x⁺ and x: one product with W an iteration
    4. on a stall: again from the best impulses, with the shift held between restarts

Cost: one product with W and about 20 vector operations an iteration; 100 to 5000 iterations to 1e-8 m/s.

When to use it: large problems, also redundant ones and operators; the best first choice. High mass ratios that a
diagonal cannot take out cost thousands of iterations: let ``newton`` finish (``auto``).

Reference: Mazhar, Heyn, Negrut and Tasora, ACM Trans. Graph. 34 (2015), algorithm 1; O'Donoghue and Candès, Found.
Comput. Math. 15 (2015), for the restart; Acary, Brémond, Huber, INRIA RR-9118, for the shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rattleback.lcp.forms.scaled import Scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# How L grows when it is too small, and falls else.
GROW, FALL = 1.5, 0.995


@dataclass(frozen=True)
class APGD:
    """Accelerated projected gradient descent.

    Attributes:
        iterations: Largest number of iterations.
        look: Iterations between two looks at the residual.
        patience: Looks without progress after which it stalls.
    """

    iterations: int = 50_000
    look: int = 5
    patience: int = 1000

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse", "operator")
    most_rows: ClassVar[float] = float("inf")

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Iterate until the watch says stop; on a stall once more with the other rule for the shift."""
        scaled = Scaled(problem, law)
        watch.patience = self.patience
        descend(scaled, watch, self.look, hold=False)
        if law.shifted and watch.reason.startswith(("stalled", "diverges")):
            first = watch.reason
            watch.go_on()
            descend(scaled, watch, self.look, hold=True)
            if not watch.converged:
                watch.stop(f"{watch.reason}; before, with the shift renewed in every iteration: {first}")


def descend(scaled: Scaled, watch: Watch, look: int, hold: bool) -> None:
    """Descend from the best impulses until the watch says stop.

    Args:
        scaled: The scaled problem.
        watch: The watch.
        look: Iterations between two looks.
        hold: Whether the shift is renewed at restarts only.
    """
    x = scaled.project(scaled.enter(watch.best))
    ux = scaled.velocity(x)
    y, uy = x, ux
    L, theta, done = scaled.largest_eigenvalue(), 1.0, 0
    s = scaled.shift(uy) - uy
    while done % look or not watch.see(scaled.leave(x), ux / scaled.scale, done=min(done, look)):
        done += 1
        if not hold:
            s = scaled.shift(uy) - uy
        old, u_old = x, ux
        x, ux, L = _step(scaled, y, uy, s, L)
        if (uy + s) @ (x - old) > 0.0:
            theta, y, uy = 1.0, x, ux
            s = scaled.shift(ux) - ux
        else:
            following = 0.5 * (theta * np.sqrt(theta * theta + 4.0) - theta * theta)
            beta = theta * (1.0 - theta) / (theta * theta + following)
            theta, y, uy = following, x + beta * (x - old), ux + beta * (ux - u_old)


def _step(
    scaled: Scaled, y: NDArray[np.float64], uy: NDArray[np.float64], s: NDArray[np.float64], L: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The next impulses, their velocities and L; L is enlarged until it bounds the curvature along the step."""
    while True:
        x = scaled.project(y - (uy + s) / L)
        ux = scaled.velocity(x)
        step = x - y
        length = float(step @ step)
        if not length > 0.0 or float(step @ (ux - uy)) <= L * length * (1.0 + 1e-9) or not np.isfinite(length):
            return x, ux, L * FALL
        L *= GROW
