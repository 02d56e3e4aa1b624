"""Damped least squares: a step that trades what is left of the error against its own length.

    Δq = Jᵀ (J Jᵀ + λ² I)⁻¹ e     minimises |e − J Δq|² + λ² |Δq|²

e errors, J their Jacobian, λ damping [m]: a singular value σ counts σ/(σ² + λ²) instead of 1/σ, at most 1/(2λ).

Cost: one system of as many rows as the targets have. Use it: for steady motion near singularities. Not where the last
digits matter: with fixed λ it converges only as fast as λ²/(σ² + λ²); ``lm`` lets λ vanish with the error.
References: Wampler 1986; Nakamura and Hanafusa 1986; lecture notes on forward and inverse kinematics, §4.2 (DLS).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.kinematics.ik.priority import damped_inverse
from rattleback.kinematics.ik.steps import check_steps, descend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.kinematics.ik.problem import Problem
    from rattleback.kinematics.ik.result import Answer

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class DampedLeastSquares:
    """Steps of damped least squares.

    Args:
        beta: Factor of each step.
        iterations: Most steps.
        damping: λ [m].
    """

    beta: float = 1.0
    iterations: int = 200
    damping: float = 0.05

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "dls")
        checks.positive(self.damping, "The damping of dls")

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """Jᵀ (J Jᵀ + λ²I)⁻¹ e."""
        return np.asarray((damped_inverse(jacobian, self.damping) @ error[..., None])[..., 0])

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        return descend(problem, self)
