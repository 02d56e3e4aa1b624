"""Pseudo-inverse: the shortest step that does away with the error, as far as the linear model goes.

    Δq = J⁺ e,   J⁺ = V Σ⁺ Uᵀ   ( = (JᵀJ)⁻¹Jᵀ where the columns, Jᵀ(JJᵀ)⁻¹ where the rows of J are independent )

e errors, J their Jacobian, J = U Σ Vᵀ; singular values below ``cut_off`` times the largest count as zero.

Cost: a singular value decomposition a step. Use it: far from singularities, where it converges in few steps. Not near
them: a singular value σ multiplies the error by 1/σ, and joints spike; take ``dls`` there.
Reference: lecture notes on forward and inverse kinematics, §4.2, whose formula is that for independent columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.steps import check_steps, descend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class PseudoInverse:
    """Steps by the pseudo-inverse.

    Args:
        beta: Factor of each step.
        iterations: Most steps.
        cut_off: Singular values below this part of the largest are left out.
    """

    beta: float = 1.0
    iterations: int = 100
    cut_off: float = 1e-9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "pinv")
        checks.not_negative(self.cut_off, "The cut_off of pinv")

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """J⁺ e."""
        return np.asarray((np.linalg.pinv(jacobian, rcond=self.cut_off) @ error[..., None])[..., 0])

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        return descend(problem, self)
