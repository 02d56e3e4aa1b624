"""Semi-smooth Newton on the equations of Alart and Curnier, with Levenberg–Marquardt steps where Newton's fail.

    F(x) = x − P(x − û(x)) = 0,      (A + B W) Δx = −F,      or   (JᵀJ + λ) Δx = −JᵀF

x scaled impulses, W scaled matrix, A and B derivatives of the map (``lcp.forms.maps``), J = A + B W, λ damping.

Algorithm:
    1. F, J at x
    2. Newton step with J + ε, ε larger if need be: W has redundant rows; the first length α = 1 … 0.003 with less ‖F‖
    3. if none: Levenberg–Marquardt steps, λ larger until ‖F‖ falls, smaller again after
    4. until the residual is within the tolerance, or no step reduces ‖F‖

Cost: one dense factorisation O(rows³) a step; 5 to 30 steps from a good start. ``most_rows`` is the limit.

When to use it: up to a few hundred contacts, down to rounding: convergence is quadratic once contacts keep their
sides, W may be redundant and need not be symmetric. It may end at a point where ‖F‖ has a minimum that is not zero; the
reason then says so, and another start helps.

Reference: Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991); Acary, Brémond and Huber, INRIA RR-9118, §5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.linalg as la

from rattleback.lcp.forms.factor import factorise
from rattleback.lcp.forms.maps import Slope, slope
from rattleback.lcp.forms.scaled import Scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.lcp.laws import Law
    from rattleback.lcp.problem import Problem
    from rattleback.lcp.watch import Watch

# Added to the diagonal of Newton's matrix, largest entry one, in this order until a step succeeds. Small ones keep the
# convergence quadratic, large ones keep steps short where W is redundant; without those above 1e-7 newton stalls on
# half of the problems with more than 50 contacts.
SHIFTS = (1e-9, 1e-12, 1e-6, 1e-4, 1e-2)
# Damping of Levenberg–Marquardt: first, factor up, largest.
DAMPING, FACTOR, MOST_DAMPING = 1e-10, 30.0, 1e2
LENGTHS = (1.0, 0.6, 0.3, 0.1, 0.03, 0.01, 0.003)
# A step must take off at least this part of ‖F‖ for each unit of its length.
ENOUGH = 1e-4


@dataclass(frozen=True)
class Newton:
    """Semi-smooth Newton.

    Attributes:
        iterations: Largest number of steps.
    """

    iterations: int = 200

    laws: ClassVar[tuple[str, ...]] = ("frictionless", "pyramid", "cone", "coulomb")
    storage: ClassVar[tuple[str, ...]] = ("dense", "sparse")
    most_rows: ClassVar[float] = 1800

    def solve(self, problem: Problem, law: Law, watch: Watch) -> None:
        """Step until the watch says stop or ‖F‖ falls no more."""
        scaled = Scaled(problem, law)
        W = scaled.dense()
        x = scaled.enter(law.project(problem, watch.start))
        damping = DAMPING
        while not look(scaled, x, watch):
            here = slope(scaled, x, scaled.velocity(x))
            found = newton_step(scaled, W, x, here)
            if found is None:
                found, damping = marquardt_step(scaled, W, x, here, damping)
            if found is None:
                size = float(np.linalg.norm(here.F))
                watch.stop(f"stalled: no step reduces ‖F‖ = {size:.3g}, residual {watch.best_error:.3g} m/s")
                return
            x = found


def look(scaled: Scaled, x: NDArray[np.float64], watch: Watch) -> bool:
    """Look at impulses and at their projection, which may be better; count one iteration."""
    r = scaled.leave(x)
    return watch.see(r) or watch.see(scaled.law.project(scaled.problem, r), done=0)


def norm_at(scaled: Scaled, x: NDArray[np.float64]) -> float:
    """‖F‖ at x."""
    return float(np.linalg.norm(slope(scaled, x, scaled.velocity(x)).F))


def newton_step(
    scaled: Scaled, W: NDArray[np.float64], x: NDArray[np.float64], here: Slope
) -> NDArray[np.float64] | None:
    """The next x by Newton's direction; None where no length of it reduces ‖F‖ enough."""
    J = here.jacobian(W)
    for step in _directions(J, here.F):
        found = _along(scaled, x, here, step, LENGTHS)
        if found is not None:
            return found
    return None


def _directions(J: NDArray[np.float64], F: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Newton's directions with growing shifts of the diagonal."""
    size = float(np.abs(J).max())
    for shift in SHIFTS:
        shifted = J.copy()
        shifted[np.diag_indices_from(J)] += shift * size
        try:
            step = factorise(shifted)(-F)
        except la.LinAlgError:
            continue
        if np.isfinite(step).all():
            yield step


def marquardt_step(
    scaled: Scaled, W: NDArray[np.float64], x: NDArray[np.float64], here: Slope, damping: float
) -> tuple[NDArray[np.float64] | None, float]:
    """The next x by damped steps, and the damping for the next time; None where none reduces ‖F‖."""
    J = here.jacobian(W)
    JJ, JF = J.T @ J, J.T @ here.F
    mean = float(np.trace(JJ)) / len(JF)
    while damping <= MOST_DAMPING:
        damped = JJ.copy()
        damped[np.diag_indices_from(JJ)] += damping * mean
        try:
            step = -la.cho_solve(la.cho_factor(damped, check_finite=False), JF, check_finite=False)
        except la.LinAlgError:
            damping *= FACTOR
            continue
        found = _along(scaled, x, here, step, LENGTHS[:3])
        if found is not None:
            return found, max(damping / FACTOR, 1e-14)
        damping *= FACTOR
    return None, DAMPING


def _along(
    scaled: Scaled,
    x: NDArray[np.float64],
    here: Slope,
    step: NDArray[np.float64],
    lengths: tuple[float, ...],
) -> NDArray[np.float64] | None:
    """The first point along a direction at which ‖F‖ is enough smaller."""
    size = float(np.linalg.norm(here.F))
    for alpha in lengths:
        there = x + alpha * step
        if norm_at(scaled, there) < (1.0 - ENOUGH * alpha) * size:
            return there
    return None
