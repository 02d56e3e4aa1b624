"""Systems of small blocks, against dense linear algebra."""

import numpy as np
import pytest

from rattleback.maths import block_elimination
from rattleback.maths.block_sparse import find_pattern

GRAPHS = {
    "one": (1, set()),
    "chain": (6, {(k, k + 1) for k in range(5)}),
    "star": (7, {(0, k) for k in range(1, 7)}),
    "ring": (6, {(k, (k + 1) % 6) for k in range(6)}),
    "complete": (5, {(i, j) for i in range(5) for j in range(i)}),
    "two parts": (5, {(0, 1), (3, 4)}),
}


def system(name, rows=3, seed=0):
    """Blocks of JᵀJ for random J with some rows for every edge, and J itself."""
    count, edges = GRAPHS[name]
    random, parts = np.random.default_rng(seed), []
    blocks = {(k, k): np.zeros((6, 6)) for k in range(count)}
    for i, j in sorted(edges):
        first, second = random.standard_normal((2, rows, 6))
        full = np.zeros((rows, 6 * count))
        full[:, 6 * i : 6 * i + 6], full[:, 6 * j : 6 * j + 6] = first, second
        parts.append(full)
        blocks[i, i] = blocks[i, i] + first.T @ first
        blocks[j, j] = blocks[j, j] + second.T @ second
        blocks[i, j] = first.T @ second
    return find_pattern(count, edges), blocks, np.vstack([np.zeros((1, 6 * count)), *parts])


@pytest.mark.parametrize("name", GRAPHS)
def test_the_solution_is_that_of_the_dense_system(name):
    pattern, blocks, jacobian = system(name)
    for k in pattern.order:
        blocks[k, k] = blocks[k, k] + 0.1 * np.eye(6)
    dense = jacobian.T @ jacobian + 0.1 * np.eye(jacobian.shape[1])
    right = np.random.default_rng(1).standard_normal((len(pattern.order), 6))
    kept = {key: block.copy() for key, block in blocks.items()}
    found = block_elimination.solve(pattern, blocks, right)
    np.testing.assert_allclose(found.ravel(), np.linalg.solve(dense, right.ravel()), rtol=1e-10, atol=1e-10)
    assert all(np.array_equal(blocks[key], kept[key]) for key in kept)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("rows", [1, 3, 5, 9])
def test_the_rank_is_that_of_the_dense_matrix(name, rows):
    pattern, blocks, jacobian = system(name, rows)
    assert block_elimination.rank(pattern, blocks) == np.linalg.matrix_rank(jacobian)


def test_a_system_of_nothing_has_rank_zero():
    assert block_elimination.rank(find_pattern(0, set()), {}) == 0
