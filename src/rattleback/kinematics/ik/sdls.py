"""Selectively damped least squares: each singular direction is damped by what its step would do to the tool.

    Δq = clip(Σ_i φ_i, γ),   φ_i = clip((u_i · e)/σ_i v_i, γ_i),   γ_i = γ min(1, N_i / M_i)
    N_i = |u_i|,   M_i = (1/σ_i) Σ_c |v_ci| |J_c|

e errors, J = Σ σ_i u_i v_iᵀ their Jacobian, J_c its columns; clip cuts a vector so that its largest entry is γ [rad].
M_i bounds how far the tool goes for a unit of error in direction i; where that is much more than the unit, the
direction is close to singular and its step is cut.

Cost: a singular value decomposition a step. Use it: for targets out of reach and near singularities, with nothing to
tune. Not for the last digits of speed.
Reference: Buss and Kim, "Selectively damped least squares for inverse kinematics", Journal of Graphics Tools 10(3),
2005, equations 11 to 15, with a single end effector for all rows.
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
class SelectivelyDamped:
    """Steps of selectively damped least squares.

    Args:
        beta: Factor of each step.
        iterations: Most steps.
        largest: γ, the largest change of a joint in a step [rad or m].
    """

    beta: float = 1.0
    iterations: int = 200
    largest: float = np.pi / 4.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_steps(self, "sdls")
        checks.positive(self.largest, "The largest of sdls")

    def step(self, jacobian: Floats, error: Floats) -> Floats:
        """The sum of the damped parts."""
        u, sigma, v = np.linalg.svd(jacobian, full_matrices=False)
        there = sigma > 1e-10 * np.maximum(sigma[..., :1], 1e-300)
        inverse = np.where(there, 1.0 / np.where(there, sigma, 1.0), 0.0)
        lengths = np.linalg.norm(jacobian, axis=-2)
        motion = inverse * (np.abs(v) * lengths[..., None, :]).sum(axis=-1)
        bound = self.largest / np.maximum(motion, 1.0)
        parts = (inverse * np.einsum("...ki,...k->...i", u, error))[..., None] * v
        return _cut(_cut(parts, bound).sum(axis=-2), np.full(error.shape[:-1], self.largest))

    def run(self, problem: Problem) -> Answer:
        """Answers to all problems."""
        return descend(problem, self)


def _cut(vectors: Floats, bound: Floats) -> Floats:
    """Vectors shortened until their largest entry is within a bound."""
    largest = np.abs(vectors).max(axis=-1, initial=1e-300)
    return np.asarray(vectors * np.minimum(1.0, bound / largest)[..., None])
