"""Factorise a dense matrix and solve with it; a matrix that is exactly singular is an error, not a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la
from scipy.linalg import lapack

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def factorise(A: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The function b ↦ A⁻¹ b, by LU with row exchanges.

    Raises:
        LinAlgError: A is singular, or has an entry that is not finite.
    """
    lu, pivots, info = lapack.dgetrf(A)
    if info != 0 or not np.isfinite(lu).all():
        raise la.LinAlgError(f"pivot {info} of the matrix is zero or not finite")

    def solve(b: NDArray[np.float64]) -> NDArray[np.float64]:
        return lapack.dgetrs(lu, pivots, b)[0]

    return solve
