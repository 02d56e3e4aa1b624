"""The linear system near a state, for control: how small deviations grow and what the forces on the rates do to them.

    d/dt (δ, ε) = A (δ, ε) + B u,   A = [ −[ω]×   1      ]     B = [ 0     ]
                                        [ ∂v̇/∂q  ∂v̇/∂v ]         [ ∂v̇/∂τ ]

Symbols: δ deviation of the coordinates as a step in the rates, ε of the rates, u of the forces; [ω]× stands at the
spins, whose deviations are given in axes that turn with them at ω.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.maths.rotation import cross_matrix
from rattleback.reduced.moves import SPIN

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.dynamics.articulation import Articulation

    Floats = NDArray[np.float64]


def linear_system(
    robot: Articulation, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Any
) -> tuple[Floats, Floats]:
    """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv) of a configuration or several."""
    by_q, by_v, by_tau = (np.asarray(found) for found in robot.forward_derivatives(q, v, tau, wrenches))
    n, lead = robot.nv, by_q.shape[:-2]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n], A[..., n:, n:], B[..., n:, :] = by_q, by_v, by_tau
    rates = np.broadcast_to(np.asarray(v, dtype=np.float64), (*lead, n))
    for move, label, _, first in robot.moves:
        if move.kind != SPIN:
            continue
        if move.first:
            raise InputError(
                f"Joint {label!r} keeps a distance; no two coordinates of a rod serve in all directions, so that it "
                "cannot be linearised. Use two Ball joints and a light body."
            )
        own = slice(first, first + 3)
        A[..., own, own] = -cross_matrix(rates[..., own])
    return A, B
