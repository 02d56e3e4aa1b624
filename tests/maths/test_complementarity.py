"""Impulses of rows with two bounds: the conditions of the problem, which are sufficient, checked in NumPy."""

import numpy as np
import pytest
import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.complementarity import HELD, OPEN, PUSHING, OneSidedRows, solve_one_sided

TOLERANCE = 1e-9


@kernel
def solve(rows: OneSidedRows, n: int, tolerance: real) -> None:
    """Solve every problem of so many rows."""
    g = wp.tid()
    solve_one_sided(rows, g * n * n, g * n, n, tolerance)


def solved(A, x, low, high, start, held=None):
    """Impulses of rows that do x with the impulses ``start``, A x bounded by ``low`` and ``high``."""
    n = len(x)
    rows = arrays.allocate(OneSidedRows, {"rows": n, "entries": n * n}, wp.get_device("cpu"))
    below = np.where(start == 0.0, low - x > x - high, start > 0.0)
    sign = np.where(below, 1.0, -1.0)
    gap = np.where(below, x - low, high - x)
    does = np.where((start != 0.0) | (gap < 0.0), int(PUSHING), int(OPEN))
    if held is not None:
        does[held] = int(HELD)
    columns = {"sign": sign, "gap": gap, "width": high - low, "start": sign * start, "entry": A.ravel()}
    for name, column in columns.items():
        getattr(rows, name).assign(column)
    rows.does.assign(does.astype(np.int32))
    rows.known.fill_(1)
    wp.launch(solve, 1, inputs=[rows, n, TOLERANCE], device="cpu")
    return rows.sign.numpy() * rows.y.numpy()


def problem(seed, n, rank):
    """A random problem of a mechanism: A of a certain rank, rates, and bounds around zero."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(n, rank))
    A = J @ np.diag(rng.uniform(0.05, 5.0, rank)) @ J.T
    free = A @ rng.normal(size=n)
    low, high = -rng.uniform(0.0, 1.0, n), rng.uniform(0.0, 1.0, n)
    return A, free, low, high, rng


def check(A, x, low, high, impulse, start):
    """Rows are within their bounds, those that push at the lower one and those that pull at the upper one."""
    after = x + A @ (impulse - start)
    slack = 1e-7 * np.abs(A).max()
    assert (after > low - slack).all()
    assert (after < high + slack).all()
    np.testing.assert_allclose(after[impulse > 0.0], low[impulse > 0.0], atol=slack)
    np.testing.assert_allclose(after[impulse < 0.0], high[impulse < 0.0], atol=slack)


@pytest.mark.parametrize("n", [1, 2, 6, 20, 40])
@pytest.mark.parametrize("seed", range(8))
def test_rows_push_at_one_bound_and_pull_at_the_other(n, seed):
    A, free, low, high, _ = problem(seed, n, n)
    impulse = solved(A, free, low, high, np.zeros(n))
    check(A, free, low, high, impulse, np.zeros(n))


@pytest.mark.parametrize("seed", range(8))
def test_it_does_not_matter_with_which_impulses_it_starts(seed):
    A, free, low, high, rng = problem(seed, 8, 8)
    start = rng.normal(size=8) * (rng.random(8) < 0.6)
    impulse = solved(A, free + A @ start, low, high, start)
    np.testing.assert_allclose(impulse, solved(A, free, low, high, np.zeros(8)), atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_others_imply_share_what_they_have(seed):
    A, free, low, high, _ = problem(seed, 9, 4)
    low, high = np.minimum(low, free - 2.0 * np.abs(free)), np.full(9, 1e30)
    low[0] = free[0] + 0.5
    low[1:] = np.minimum(low[1:], -50.0)
    impulse = solved(A, free, low, high, np.zeros(9))
    check(A, free, low, high, impulse, np.zeros(9))


def test_a_row_that_is_held_pulls_as_well():
    A, free, low, high, _ = problem(3, 5, 5)
    low[2] = high[2] = free[2] - 1.0
    impulse = solved(A, free, low, high, np.zeros(5), held=[2])
    after = free + A @ impulse
    assert after[2] == pytest.approx(free[2] - 1.0, abs=1e-9)
