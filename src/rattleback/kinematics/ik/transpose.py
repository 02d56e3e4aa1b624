"""Jacobian transpose: pull at the tool by the error and let the joints give way.

    Δq = α Jᵀ e,   α = (e · JJᵀe) / |JJᵀe|²

e errors, J their Jacobian; α makes the error smallest along the step, as far as the linear model goes.

Cost: two products a step, no system to solve. Use it: where a step must be cheap, or never break: at a singularity Jᵀe
is as small as ever. Not where it must be quick: it converges slowly, and joints far from the tip move most.
References: Wolovich and Elliott 1984; Buss, "Introduction to inverse kinematics", 2004, §4 (α); lecture notes on
forward and inverse kinematics, §4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.steps import check_steps, descend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class Transpose:
    """Steps by the transpose of the Jacobian.

    Args:
        beta: Factor of each step.
        iterations: Most steps.
    """

    beta: float = 1.0
    iterations: int = 5000

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "transpose")

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """α Jᵀ e."""
        pull = np.einsum("...kc,...k->...c", jacobian, error)
        gives = np.einsum("...kc,...c->...k", jacobian, pull)
        square = (gives * gives).sum(axis=-1)
        factor = np.where(square > 0.0, (error * gives).sum(axis=-1) / np.where(square > 0.0, square, 1.0), 0.0)
        return np.asarray(factor[..., None] * pull)

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        return descend(problem, self)
