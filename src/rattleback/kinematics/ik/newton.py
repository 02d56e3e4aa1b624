"""Newton–Raphson: solve the linear model exactly, step by step, until the error is gone.

    J Δq = e,   q ← q + β Δq

e errors, J their Jacobian; solved as it stands where J is square, and as JᵀJ Δq = Jᵀe or Δq = Jᵀ(JJᵀ)⁻¹e where it has
more rows or more columns. Rows that no joint moves are left out. Close to a solution with regular J the error is
squared in every step (β = 1).

Cost: one system a step. Use it: from a good start, for the last digits. Not near singularities, where J Δq = e has no
solution of any use: it stops there and says so. The lecture notes take 0 < β < 1 to keep the first steps in bounds.
Reference: lecture notes on forward and inverse kinematics, §4.2, Newton–Raphson.
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

# J with a smallest singular value below this part of its largest has no inverse that rounding leaves meaningful.
SINGULAR = 1e-12
# Rows no joint moves, as those out of a planar arm's plane, and columns that move nothing are left out.
NOTHING = 1e-14


@sealed
@dataclass(frozen=True)
class Newton:
    """Newton–Raphson steps.

    Args:
        beta: Factor of each step.
        iterations: Most steps.
    """

    beta: float = 1.0
    iterations: int = 100

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "newton")

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """The solution of J Δq = e; none where J is singular or all but."""
        step = np.zeros((len(jacobian), jacobian.shape[-1]))
        for found, matrix, wanted in zip(step, jacobian, error, strict=True):
            least = NOTHING * np.abs(matrix).max(initial=0.0)
            rows, columns = np.abs(matrix).max(axis=1) > least, np.abs(matrix).max(axis=0) > least
            if rows.any():
                found[columns] = _solved(matrix[np.ix_(rows, columns)], wanted[rows])
        return step

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        return descend(problem, self)


def _solved(matrix: Floats, wanted: Floats) -> Floats:
    """The shortest solution, or that of least squares where there is none; zero where the matrix is singular."""
    values = np.linalg.svd(matrix, compute_uv=False)
    if values[-1] <= SINGULAR * values[0]:
        return np.zeros(matrix.shape[1])
    return np.asarray(np.linalg.lstsq(matrix, wanted, rcond=None)[0])
