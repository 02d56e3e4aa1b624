"""Quadratic program: the damped step that keeps limits and velocity bounds, not cut to them afterwards.

    minimise |e − J Δq|² + λ² |Δq|²   with   max(q_min − q, −s) ≤ Δq ≤ min(q_max − q, s)

e errors, J their Jacobian, λ damping [m], s largest step of a coordinate, its velocity bound times the time of a step.
A coordinate that meets its bound leaves its part of the work to the others within the same step.

Cost: an active-set solution of the bounded least squares a step (Stark and Parker's BVLS, from SciPy). Use it: for
following with velocity bounds. Not for batches.
References: Kanoun, Lamiraux and Wieber 2011; Stark and Parker, "Bounded-variable least-squares", 1995.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import lsq_linear

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.steps import STILL, check_steps, one_by_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class QuadraticProgram:
    """Steps by bounded least squares.

    Args:
        beta: Factor of each step.
        iterations: Most steps.
        damping: λ [m].
        largest: s, the largest change of a coordinate in a step [rad or m].
    """

    beta: float = 1.0
    iterations: int = 200
    damping: float = 1e-3
    largest: float = 0.5

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "qp")
        if self.beta > 1.0:
            raise InputError(f"The beta of qp is {self.beta!r}; above 1 a step would leave its bounds.")
        checks.positive(self.damping, "The damping of qp")
        checks.positive(self.largest, "The largest of qp")

    def _bounded(self, jacobian: Floats, error: Floats, low: Floats, high: Floats) -> Floats:
        size = jacobian.shape[1]
        matrix = np.vstack([jacobian, self.damping * np.eye(size)])
        wanted = np.concatenate([error, np.zeros(size)])
        step, tight = np.zeros(size), high - low < 1e-14
        if not tight.all():  # a coordinate between equal limits has no say
            found = lsq_linear(matrix[:, ~tight], wanted, (low[~tight], high[~tight]), method="bvls")
            step[~tight] = found.x
        return step

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems, one after the other."""
        return one_by_one(problem, self.iterations, self._follow)

    def _follow(self, problem: Problem, q: Floats) -> tuple[Floats, list[float]]:
        view = problem.look(q[None])
        squares, moved = [float(view.square[0])], True
        while moved and len(squares) <= self.iterations and not problem.is_reached(view.miss)[0]:
            low, high = np.maximum(problem.lower - q, -self.largest), np.minimum(problem.upper - q, self.largest)
            step = self.beta * self._bounded(
                view.jacobian[0], view.error[0], np.minimum(low, 0.0), np.maximum(high, 0.0)
            )
            moved = bool(np.abs(step).max() > STILL)
            q = np.clip(q + step, problem.lower, problem.upper)
            view = problem.look(q[None])
            squares.append(float(view.square[0]))
        return q, squares
