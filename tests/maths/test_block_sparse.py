"""Block-sparse elimination: orders without fill on trees, factors of blocks against NumPy, singular ones too."""

import numpy as np
import pytest
import warp as wp
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rattleback.core.precision import epsilon, mat33, real, vec3
from rattleback.maths.block_sparse import (
    SOUND,
    Pattern,
    factor_block,
    find_pattern,
    inverse33,
    solve_block,
)
from rattleback.maths.small_solve import vec6


@wp.kernel(enable_backward=False)
def factor_and_solve(
    values: wp.array[real],
    at: int,
    n: int,
    least: wp.array[real],
    order: wp.array[wp.int32],
    x: wp.array[real],
    first: int,
    dropped: wp.array[wp.int32],
) -> None:
    dropped[0] = factor_block(values, at, n, least, order, first)
    b = vec6()
    for k in range(n):
        b[k] = x[first + k]
    b = solve_block(values, at, n, order, first, b)
    for k in range(n):
        x[first + k] = b[k]


def solved(matrix: np.ndarray, right: np.ndarray, shift: int = 3) -> tuple[np.ndarray, int]:
    """The solution and the number of pivots left out; the edges of the arrays nobody may touch."""
    n = len(matrix)
    values, vector = np.full(n * n + 2 * shift, 7.5), np.full(n + 2 * shift, -2.5)
    values[shift : shift + n * n], vector[shift : shift + n] = matrix.ravel(), right
    least = np.zeros(n + 2 * shift)
    least[shift : shift + n] = 1e5 * epsilon * np.diag(matrix)
    flat, x, bound = (wp.array(a, dtype=real, device="cpu") for a in (values, vector, least))
    order = wp.full(n + 2 * shift, -1, dtype=wp.int32, device="cpu")
    dropped = wp.zeros(1, dtype=wp.int32, device="cpu")
    wp.launch(factor_and_solve, 1, inputs=[flat, shift, n, bound, order, x, shift, dropped], device="cpu")
    assert (np.delete(flat.numpy(), slice(shift, shift + n * n)) == 7.5).all()
    assert (np.delete(x.numpy(), slice(shift, shift + n)) == -2.5).all()
    assert (np.delete(order.numpy(), slice(shift, shift + n)) == -1).all()
    assert sorted(order.numpy()[shift : shift + n]) == list(range(n))
    return np.array(x.numpy()[shift : shift + n]), int(dropped.numpy()[0])


def of_rank(n: int, rank: int, seed: int) -> np.ndarray:
    g = np.random.default_rng(seed).standard_normal((n, rank))
    return g @ g.T


def line_graph(parents: list[int]) -> tuple[int, set[tuple[int, int]]]:
    """Joints of a tree of bodies, body k + 1 hanging from body parents[k]; joints that share a body are neighbours."""
    ends = [{parent, k + 1} - {0} for k, parent in enumerate(parents)]
    count = len(parents)
    return count, {(i, j) for i in range(count) for j in range(i + 1, count) if ends[i] & ends[j]}


def filled(count: int, edges: set[tuple[int, int]], order: list[int]) -> int:
    """Entries that elimination in this order makes, found on a dense pattern."""
    there = np.eye(count, dtype=bool)
    for i, j in edges:
        there[i, j] = there[j, i] = True
    before = there.sum()
    for k, node in enumerate(order):
        later = [other for other in order[k + 1 :] if there[other, node]]
        there[np.ix_(later, later)] = True
    return int(there.sum() - before) // 2


@pytest.mark.parametrize("n", range(1, 7))
def test_a_block_is_solved_as_numpy_solves_it(n: int) -> None:
    for seed in range(10):
        matrix, right = of_rank(n, n + 2, seed), np.random.default_rng(seed + 100).standard_normal(n)
        x, dropped = solved(matrix, right)
        assert dropped == 0
        np.testing.assert_allclose(x, np.linalg.solve(matrix, right), rtol=1e-13 * np.linalg.cond(matrix))


@pytest.mark.parametrize(("n", "rank"), [(n, r) for n in range(1, 7) for r in range(n)])
def test_a_singular_block_drops_as_many_pivots_as_its_rank_lacks(n: int, rank: int) -> None:
    """Equations that are empty from the start are left out, too, but not counted."""
    for seed in range(10):
        matrix = of_rank(n, rank, seed)
        wanted = matrix @ np.random.default_rng(seed + 200).standard_normal(n)
        x, dropped = solved(matrix, wanted)
        assert dropped == (n - np.linalg.matrix_rank(matrix, tol=1e-8) if rank else 0)
        assert (x == 0.0).sum() >= n - rank
        np.testing.assert_allclose(matrix @ x, wanted, rtol=0, atol=1e-10 * max(np.abs(wanted).max(initial=0.0), 1.0))


def test_a_row_that_repeats_another_gets_no_impulse() -> None:
    matrix = of_rank(3, 3, 5)
    twice = np.block([[matrix, matrix[:, :1]], [matrix[:1], matrix[:1, :1]]])
    right = np.array([1.0, -2.0, 3.0])
    x, dropped = solved(twice, np.append(right, right[0]))
    assert dropped == 1
    assert 0.0 in (x[0], x[3])
    expected = np.linalg.solve(matrix, right)
    np.testing.assert_allclose([x[0] + x[3], x[1], x[2]], expected, rtol=1e-14 * np.linalg.cond(matrix))


def test_the_row_left_out_is_the_one_that_leaves_the_others_farthest_apart() -> None:
    """Two rows that almost say the same and a third that follows from both: dropping the third would lose digits."""
    near = 1e-4
    rows = np.array([[1.0, 0.0], [1.0, near], [0.0, 1.0]])
    matrix, expected = rows @ rows.T, np.array([0.3, -0.7])
    wanted = matrix @ np.linalg.pinv(rows).T @ expected
    x, dropped = solved(matrix, wanted)
    assert dropped == 1
    assert np.abs(x).max() < 10.0
    np.testing.assert_allclose(rows.T @ x, expected, atol=1e-12)


def test_a_block_of_zeros_answers_zero() -> None:
    x, dropped = solved(np.zeros((4, 4)), np.ones(4))
    assert dropped == 0
    np.testing.assert_array_equal(x, 0.0)


def test_rows_of_very_different_size_are_not_taken_for_redundant() -> None:
    """Smallness is judged beside the row's own entry: an angle beside a length is no reason to drop it."""
    scale = np.diag([1e-9, 1.0, 1e9])
    matrix = scale @ of_rank(3, 3, 8) @ scale
    right = scale @ np.array([1.0, 2.0, 3.0])
    x, dropped = solved(matrix, right)
    assert dropped == 0
    np.testing.assert_allclose(scale @ x, np.linalg.solve(of_rank(3, 3, 8), [1.0, 2.0, 3.0]), rtol=1e-10)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40))
@example([0, 1, 2, 3, 1, 4, 4, 4])
def test_a_tree_of_joints_is_eliminated_without_fill(choices: list[int]) -> None:
    """Bodies hang from any earlier body or from the world; joints to the world alone share nothing."""
    count, edges = line_graph([choice % (k + 1) for k, choice in enumerate(choices)])
    pattern = find_pattern(count, edges)
    assert pattern.fill == 0
    assert filled(count, edges, pattern.order) == 0


@pytest.mark.parametrize("count", [1, 2, 3, 50, 500])
def test_a_chain_has_one_block_below_each_pivot_but_the_last(count: int) -> None:
    pattern = find_pattern(*line_graph(list(range(count))))
    assert pattern.fill == 0
    assert pattern.chains == [count]
    assert sorted(len(column) for column in pattern.columns) == [0] + [1] * (count - 1)


@pytest.mark.parametrize("count", [4, 5, 20, 100])
def test_a_ring_fills_in_one_block_a_joint_until_a_triangle_is_left(count: int) -> None:
    edges = {tuple(sorted((k, (k + 1) % count))) for k in range(count)}
    assert find_pattern(count, edges).fill == count - 3


def check_pattern(count: int, edges: set[tuple[int, int]], pattern: Pattern) -> None:
    assert sorted(pattern.order) == list(range(count))
    assert sum(pattern.chains) == count
    assert pattern.fill == filled(count, edges, pattern.order)
    place = {node: k for k, node in enumerate(pattern.order)}
    assert all(place[i] >= place[j] for i, j in pattern.blocks)
    assert len(set(pattern.blocks)) == len(pattern.blocks) == count + len(edges) + pattern.fill
    held = {frozenset(pair) for pair in pattern.blocks}
    assert all(frozenset(edge) in held for edge in edges)
    at = 0
    for node, column in zip(pattern.order, pattern.columns, strict=True):
        assert pattern.blocks[at] == (node, node)
        assert column == list(range(at + 1, at + 1 + len(column)))
        assert all(pattern.blocks[k][1] == node for k in column)
        below = [place[pattern.blocks[k][0]] for k in column]
        assert below == sorted(below)
        at += 1 + len(column)


@given(st.integers(1, 25), st.sets(st.tuples(st.integers(0, 24), st.integers(0, 24)), max_size=50))
def test_a_pattern_holds_every_block_elimination_touches(count: int, pairs: set[tuple[int, int]]) -> None:
    edges = {(min(p), max(p)) for p in pairs if p[0] != p[1] and max(p) < count}
    check_pattern(count, edges, find_pattern(count, edges))


def test_parts_that_share_nothing_are_chains_of_their_own() -> None:
    pattern = find_pattern(7, {(0, 3), (3, 5), (1, 2)})
    assert pattern.chains == [3, 2, 1, 1]
    assert [set(pattern.order[:3]), set(pattern.order[3:5])] == [{0, 3, 5}, {1, 2}]


def test_the_same_graph_gives_the_same_order() -> None:
    rng = np.random.default_rng(11)
    pairs = [tuple(sorted(pair)) for pair in rng.integers(0, 30, (60, 2)).tolist() if pair[0] != pair[1]]
    first = find_pattern(30, set(pairs))
    assert first == find_pattern(30, set(reversed(pairs)))


@wp.kernel(enable_backward=False)
def invert_three(matrix: wp.array[mat33], least: vec3, inverse: wp.array[mat33], sound: wp.array[wp.int32]) -> None:
    found, good = inverse33(matrix[0], least)
    inverse[0] = found
    sound[0] = wp.where(good, 1, 0)


def inverted_three(matrix: np.ndarray, least: np.ndarray) -> tuple[np.ndarray, bool]:
    given_, inverse = (wp.array(a[None], dtype=mat33, device="cpu") for a in (matrix, np.zeros((3, 3))))
    sound = wp.full(1, -1, dtype=wp.int32, device="cpu")
    wp.launch(invert_three, 1, inputs=[given_, vec3(*least), inverse, sound], device="cpu")
    return np.array(inverse.numpy()).reshape(3, 3), bool(sound.numpy()[0])


def turned(values: list[float], seed: int) -> np.ndarray:
    axes = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    matrix = axes @ np.diag(values) @ axes.T
    return 0.5 * (matrix + matrix.T)


@given(st.lists(st.floats(-8.0, 4.0), min_size=3, max_size=3), st.integers(0, 10**6))
@example([0.0, 0.0, 0.0], 0)
@example([4.0, 4.0, -8.0], 3)
def test_a_block_of_three_is_inverted_as_numpy_inverts_it_or_said_to_be_unsound(powers: list[float], seed: int) -> None:
    """The pivots are the squares of Cholesky's diagonal; those far above the least are known to many digits."""
    matrix = turned([10.0**power for power in powers], seed)
    least = 1e-10 * np.diag(matrix)
    found, sound = inverted_three(matrix, least)
    condition = np.linalg.cond(matrix)
    if not (np.linalg.eigvalsh(matrix)[0] > 0.0 and condition < 1e14):
        assert not sound
        return
    pivots = np.diag(np.linalg.cholesky(matrix)) ** 2
    beside = (pivots / (float(SOUND) * least)).min()
    rounding = 10.0 * epsilon * condition
    if abs(beside - 1.0) > max(rounding, 1e-12):
        assert sound == (beside > 1.0)
    if sound:
        expected = np.linalg.inv(matrix)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * condition * np.abs(expected).max())
        np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_a_singular_block_of_three_is_never_sound(rank: int, seed: int) -> None:
    matrix = of_rank(3, rank, seed)
    assert not inverted_three(matrix, 1e-10 * np.diag(matrix))[1]
