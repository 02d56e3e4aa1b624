"""Symmetric positive semidefinite systems of small blocks, solved on the host in the order of a known pattern.

    H x = b,   H = L D Lᵀ,   H_ij blocks,   D_j the block left of node j when those before it are eliminated

    factor: for each node j in order, for all i, k below it: H_ik −= H_ij D_j⁻¹ H_kj ᵀ
    solve: b_i −= H_ij D_j⁻¹ b_j down the order, then x_j = D_j⁻¹ (b_j − Σ H_ijᵀ x_i) back up
Cost: linear in the number of nodes on a tree. For work done once; inside a step use the kernels of ``block_sparse``.

Reference: George and Liu, Computer Solution of Large Sparse Positive Definite Systems, chapter 5. The ranks of the D_j
add up to the rank of H, for H is semidefinite (Albert, Conditions for positive and nonnegative definiteness, 1969).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rattleback.maths.block_sparse import Pattern

    Floats = NDArray[np.float64]
    Blocks = Mapping[tuple[int, int], Floats]

# Eigenvalues of a D_j below this part of the largest entry on its diagonal of H are rounding.
NEGLIGIBLE = 1e-10


def solve(pattern: Pattern, blocks: Blocks, right: Floats) -> Floats:
    """Solve a positive definite system.

    Args:
        pattern: Order of elimination, from ``find_pattern``.
        blocks: H_ij for i = j and for every edge (i, j), one of its two halves is enough.
        right: The right-hand side b, shape (nodes, size of a block).

    Returns:
        The solution x, of the same shape.
    """
    work, inverses = _factor(pattern, blocks, lambda block: np.asarray(np.linalg.inv(block), dtype=np.float64))
    x = right.copy()
    for j, below in _columns(pattern):
        own = inverses[j] @ x[j]
        for i in below:
            x[i] -= work[i, j] @ own
    for j, below in reversed(_columns(pattern)):
        for i in below:
            x[j] -= work[i, j].T @ x[i]
        x[j] = inverses[j] @ x[j]
    return x


def rank(pattern: Pattern, blocks: Blocks) -> int:
    """Rank of a positive semidefinite matrix, given as for :func:`solve`."""
    found = 0

    def invert(block: Floats, scale: float) -> Floats:
        nonlocal found
        values, vectors = np.linalg.eigh(block)
        kept = values > NEGLIGIBLE * scale
        found += int(kept.sum())
        part: Floats = vectors[:, kept]
        return (part / values[kept]) @ part.T

    scales = {j: float(blocks[j, j].diagonal().max()) for j in pattern.order}
    remaining = iter(pattern.order)
    _factor(pattern, blocks, lambda block: invert(block, scales[next(remaining)]))
    return found


def _columns(pattern: Pattern) -> list[tuple[int, list[int]]]:
    """Each node with those below it, in order."""
    below = ([pattern.blocks[k][0] for k in column] for column in pattern.columns)
    return list(zip(pattern.order, below, strict=True))


def _factor(
    pattern: Pattern, blocks: Blocks, invert: Callable[[Floats], Floats]
) -> tuple[dict[tuple[int, int], Floats], dict[int, Floats]]:
    """What is left of the blocks below the diagonal, and the inverses of those on it."""
    work = {(i, j): np.array(blocks[i, j]) if (i, j) in blocks else _mirrored(blocks, i, j) for i, j in pattern.blocks}
    inverses: dict[int, Floats] = {}
    for j, below in _columns(pattern):
        inverses[j] = invert(work[j, j])
        for place, i in enumerate(below):
            scaled = work[i, j] @ inverses[j]
            for k in below[: place + 1]:
                work[i, k] -= scaled @ work[k, j].T
    return work, inverses


def _mirrored(blocks: Blocks, i: int, j: int) -> Floats:
    """A block given by its other half, or one that is zero in H and fills up."""
    other = blocks.get((j, i))
    return np.zeros((len(blocks[i, i]), len(blocks[j, j]))) if other is None else other.T.copy()
