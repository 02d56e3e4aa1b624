"""Derivatives by differences at several distances, extrapolated to none, with an estimate of what is left.

    both sides   D_k,0 = (f(p + h_k) − f(p − h_k)) / 2 h_k        D_k,j = D_k,j−1 + (D_k,j−1 − D_k−1,j−1) / (4^j − 1)
    one side     D_k,0 = (f(p + h_k) − f(p)) / h_k                likewise with 2^j − 1

Symbols: f a quantity, p a parameter, h_k = h / 2^k distances, j how often was extrapolated.

Algorithm: of all D_k,j the one whose neighbours D_k,j−1 and D_k−1,j−1 are nearest is taken, for every quantity and
every parameter alone; how far the farther of them is off is the estimate, and at least what rounding does, ε |f| / h_k.

Cost: 2 LEVELS evaluations a parameter, which are worlds of one simulation. When to use: where steps are smooth; a blow
or a stop that some distances meet and others do not shows as a large estimate.

Reference: Ridders, Accurate computation of F'(x) and F'(x)F''(x), Advances in Engineering Software 4, 1982.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Distances, and the largest beside the size of what is changed.
LEVELS, PART = 5, 0.02


def offsets(distance: float) -> Floats:
    """Where a quantity is evaluated, beside the parameter: LEVELS above it, then LEVELS below."""
    steps = distance / 2.0 ** np.arange(LEVELS)
    return np.concatenate([steps, -steps])


def derivative(middle: Floats, around: Floats, distance: float, one_sided: bool) -> tuple[Floats, Floats]:
    """The derivative of quantities by one parameter, and the estimate of its error.

    Args:
        middle: The quantities at the parameter, any shape.
        around: Those at the ``offsets`` (2 LEVELS, ...).
        distance: The largest distance.
        one_sided: Whether only those above are of use.
    """
    steps = distance / 2.0 ** np.arange(LEVELS)
    spread = steps.reshape(-1, *[1] * middle.ndim)
    above, below = around[:LEVELS], around[LEVELS:]
    base = 2.0 if one_sided else 4.0
    row = (above - middle) / spread if one_sided else (above - below) / (2.0 * spread)
    rounding = np.finfo(np.float64).eps * np.abs(around).max(axis=0)
    best, error = row[0], np.full(middle.shape, np.inf)
    for j in range(1, LEVELS):
        further = row[1:] + (row[1:] - row[:-1]) / (base**j - 1.0)
        off = np.maximum(np.abs(further - row[1:]), np.abs(further - row[:-1]))
        off = np.maximum(off, rounding / steps[j:].reshape(-1, *[1] * middle.ndim))
        for found, apart in zip(further, off, strict=True):
            better = apart < error
            best, error = np.where(better, found, best), np.where(better, apart, error)
        row = further
    return best, error
