"""Arithmetic of second-order cones for interior-point methods: products, scalings of Nesterov and Todd, step lengths.

    K = {s: s₀ ≥ ‖s₁‖},   s ∘ z = (sᵀz, s₀ z₁ + z₀ s₁),   W z = W⁻¹ s = λ

Arrays have shape (cones, d); d = 1 are plain inequalities s ≥ 0.

Reference: Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), §4 and §5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def reflect(s: NDArray[np.float64]) -> NDArray[np.float64]:
    """J s: the tail with the other sign."""
    out = -s
    out[:, 0] = s[:, 0]
    return out


def determinant(s: NDArray[np.float64]) -> NDArray[np.float64]:
    """SᵀJ s = s₀² − ‖s₁‖², shape (cones,), in a form that keeps its digits near the boundary."""
    tail = np.sqrt((s[:, 1:] ** 2).sum(axis=1))
    return (s[:, 0] - tail) * (s[:, 0] + tail)


def product(s: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    """S ∘ z."""
    out = s[:, :1] * z + z[:, :1] * s
    out[:, 0] = (s * z).sum(axis=1)
    return out


def divide(s: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """X with s ∘ x = b."""
    det = determinant(s)
    inner = (s[:, 1:] * b[:, 1:]).sum(axis=1)
    out = np.empty_like(b)
    out[:, 0] = (s[:, 0] * b[:, 0] - inner) / det
    out[:, 1:] = (b[:, 1:] - out[:, :1] * s[:, 1:]) / s[:, :1]
    return out


def longest(s: NDArray[np.float64], d: NDArray[np.float64]) -> float:
    """Largest α ≤ 1 for which s + α d is in the cones."""
    root = np.sqrt(np.maximum(determinant(s), 1e-300))
    unit = s / root[:, None]
    # In units of s the step leaves the cone when its smaller eigenvalue reaches −1.
    first = (d[:, 0] * unit[:, 0] - (d[:, 1:] * unit[:, 1:]).sum(axis=1)) / root
    factor = (first + d[:, 0] / root) / (unit[:, 0] + 1.0)
    tail = d[:, 1:] / root[:, None] - factor[:, None] * unit[:, 1:]
    smallest = first - np.sqrt((tail**2).sum(axis=1))
    worst = float(smallest.min(initial=0.0))
    return 1.0 if worst >= -1.0 else -1.0 / worst


@dataclass(frozen=True)
class Scaling:
    """The scaling of Nesterov and Todd of points s and z inside the cones: W z = W⁻¹ s.

    Attributes:
        beta: Its size, shape (cones,).
        w: Its direction w̄, with w̄ᵀJ w̄ = 1, shape (cones, d).
    """

    beta: NDArray[np.float64]
    w: NDArray[np.float64]

    @classmethod
    def between(cls, s: NDArray[np.float64], z: NDArray[np.float64]) -> Scaling:
        """The scaling of two points."""
        det_s, det_z = np.sqrt(determinant(s)), np.sqrt(determinant(z))
        s, z = s / det_s[:, None], z / det_z[:, None]
        gamma = np.sqrt(0.5 * (1.0 + (s * z).sum(axis=1)))
        return cls(np.sqrt(det_s / det_z), (s + reflect(z)) / (2.0 * gamma[:, None]))

    def _apply(self, w: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(2 v vᵀ − J) x with v the square root of w."""
        v = w.copy()
        v[:, 0] += 1.0
        v /= np.sqrt(2.0 * v[:, :1])
        return 2.0 * v * (v * x).sum(axis=1)[:, None] - reflect(x)

    def times(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """W x."""
        return self.beta[:, None] * self._apply(self.w, x)

    def inverse_times(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """W⁻¹ x."""
        return self._apply(reflect(self.w), x) / self.beta[:, None]

    def inverse_squared(self) -> NDArray[np.float64]:
        """W⁻², shape (cones, d, d)."""
        w = reflect(self.w)
        d = w.shape[1]
        J = -np.eye(d)
        J[0, 0] = 1.0
        return (2.0 * w[:, :, None] * w[:, None, :] - J) / (self.beta**2)[:, None, None]
