"""The mass matrix factored along the branches of the forest, without fill-in.

    M = Lᵀ D L,   L_ij ≠ 0 only where rate j is on the way from the root to rate i

Algorithm: from the last rate to the first, its row is divided by D and subtracted, as an outer product, from the rows
on its way to the root. L and D take the place of M below and on the diagonal.

Cost: O(n d²), a solve O(n d) for each right-hand side, d the depth of the forest.

Reference: Featherstone, Rigid Body Dynamics Algorithms, section 6.5.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.reduced.forest import Forest


@wp.func
def factor_matrix(forest: Forest, first: int, M: wp.array[real]) -> None:
    """L and D of the matrix whose first entry is given, in its place."""
    n = forest.owner.shape[0]
    for e in range(n):
        k = n - 1 - e
        i = int(forest.above[k])
        while i >= 0:
            part = M[first + k * n + i] / M[first + k * n + k]
            j = int(i)
            while j >= 0:
                M[first + i * n + j] = M[first + i * n + j] - part * M[first + k * n + j]
                j = forest.above[j]
            M[first + k * n + i] = part
            i = forest.above[i]


@wp.func
def solve_rows(forest: Forest, first: int, M: wp.array[real], sign: real, X: wp.array[real]) -> None:
    """X ← sign M⁻¹ X for a matrix of right-hand sides (rates, rates), M as :func:`factor_matrix` leaves it."""
    n = forest.owner.shape[0]
    for e in range(n):
        k = n - 1 - e
        j = int(forest.above[k])
        while j >= 0:
            part = M[first + k * n + j]
            for c in range(n):
                X[first + j * n + c] = X[first + j * n + c] - part * X[first + k * n + c]
            j = forest.above[j]
    for k in range(n):
        scale = sign / M[first + k * n + k]
        for c in range(n):
            X[first + k * n + c] = X[first + k * n + c] * scale
        j = int(forest.above[k])
        while j >= 0:
            part = M[first + k * n + j]
            for c in range(n):
                X[first + k * n + c] = X[first + k * n + c] - part * X[first + j * n + c]
            j = forest.above[j]
