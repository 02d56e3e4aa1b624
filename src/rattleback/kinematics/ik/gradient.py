"""Gradient descent: downhill on the squared error, as far as it goes on falling.

    q ← clip(q + s Jᵀe),   −½ ∇|e|² = Jᵀe,   |e(q_new)|² ≤ |e(q)|² − c Jᵀe · (q_new − q)

e errors, J their Jacobian, s length of the step: twice the last one, halved until the last line, Armijo's condition,
holds with c = 0.2. The error falls in every step, whatever the start.

Cost: a few evaluations of the error a step, no system to solve. Use it: as the method that always goes down. Not for
speed: in a narrow valley it goes from side to side.
Reference: lecture notes on forward and inverse kinematics, §4.2, gradient descent; Armijo 1966.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.result import Answer
from rattleback.kinematics.ik.steps import check_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem

    Floats = NDArray[np.float64]

ARMIJO = 0.2
SHORTEST = 1e-14


@sealed
@dataclass(frozen=True)
class Gradient:
    """Gradient descent with a line search.

    Args:
        beta: Length of the first step tried, in units of Jᵀe.
        iterations: Most steps.
    """

    beta: float = 1.0
    iterations: int = 5000

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "gradient")

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """Jᵀ e, downhill."""
        return np.asarray(np.einsum("...kc,...k->...c", jacobian, error))

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        q, view = problem.start.copy(), problem.look(problem.start)
        length, busy = np.full(len(q), self.beta), ~problem.is_reached(view.miss)
        history, taken = [view.square.copy()], np.zeros(len(q), dtype=np.int64)
        while busy.any() and len(history) <= self.iterations:
            downhill = self.step(view.jacobian, view.error)
            trial = np.clip(q + length[:, None] * downhill, problem.lower, problem.upper)
            after = problem.look(np.where(busy[:, None], trial, q))
            promised = ARMIJO * (downhill * (trial - q)).sum(axis=1)
            good = busy & (after.square <= view.square - promised) & (promised > 0.0)
            q[good], taken = trial[good], taken + busy
            length = np.where(good, 2.0 * length, 0.5 * length)
            view = problem.look(q)
            history.append(np.where(busy, view.square, np.nan))
            busy &= (length > SHORTEST) & ~problem.is_reached(view.miss)
        return Answer(q, taken, np.ones(len(q), dtype=np.int64), history=np.stack(history, axis=1))
