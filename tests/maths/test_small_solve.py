"""Small linear systems inside a kernel, against NumPy."""

import numpy as np
import pytest
import warp as wp

from rattleback.core.precision import mat33, real
from rattleback.maths.small_solve import largest_eigenvalue, mat66, solve6, symmetric_axes, symmetric_inverse, vec6


@wp.kernel(enable_backward=False)
def solve_all(a: wp.array(dtype=mat66), b: wp.array(dtype=vec6), x: wp.array(dtype=vec6)) -> None:
    i = wp.tid()
    x[i] = solve6(a[i], b[i])


def solved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    x = wp.zeros(len(a), dtype=vec6, device="cpu")
    inputs = [wp.array(a, dtype=mat66, device="cpu"), wp.array(b, dtype=vec6, device="cpu"), x]
    wp.launch(solve_all, len(a), inputs=inputs, device="cpu")
    return np.array(x.numpy())


def test_random_systems_have_numpys_solution() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((500, 6, 6)), rng.standard_normal((500, 6))
    x = solved(a, b)
    expected = np.linalg.solve(a, b[..., None])[..., 0]
    error = np.abs(x - expected).max(axis=1) / np.abs(expected).max(axis=1)
    assert (error <= 1e-14 * np.linalg.cond(a)).all()


def test_zeros_on_the_diagonal_are_no_obstacle() -> None:
    rng = np.random.default_rng(2)
    a = np.array([np.eye(6)[rng.permutation(6)] for _ in range(100)])
    b = rng.standard_normal((100, 6))
    np.testing.assert_array_equal(solved(a, b), np.einsum("kji,kj->ki", a, b))


def test_a_tiny_leading_entry_costs_no_digits() -> None:
    a = np.eye(6) + np.ones((6, 6))
    a[0, 0] = 1e-18
    b = np.arange(1.0, 7.0)
    np.testing.assert_allclose(solved(a[None], b[None])[0], np.linalg.solve(a, b), rtol=1e-14)


@pytest.mark.parametrize("rank", range(6))
def test_a_singular_system_is_not_given_a_finite_answer(rank: int) -> None:
    a = np.zeros((6, 6))
    a[:rank, :rank] = np.eye(rank)
    assert not np.isfinite(solved(a[None], np.ones((1, 6)))).all()


@wp.kernel(enable_backward=False)
def invert_all(a: wp.array(dtype=mat33), x: wp.array(dtype=mat33), d: wp.array(dtype=real)) -> None:
    i = wp.tid()
    inverse, determinant = symmetric_inverse(a[i])
    x[i] = inverse
    d[i] = determinant


def test_random_symmetric_matrices_have_numpys_inverse() -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((500, 3, 3))
    a += a.transpose(0, 2, 1)
    x = wp.zeros(len(a), dtype=mat33, device="cpu")
    d = wp.zeros(len(a), dtype=real, device="cpu")
    wp.launch(invert_all, len(a), inputs=[wp.array(a, dtype=mat33, device="cpu"), x, d], device="cpu")
    expected = np.linalg.inv(a)
    error = np.abs(x.numpy() - expected).max(axis=(1, 2)) / np.abs(expected).max(axis=(1, 2))
    assert (error <= 1e-14 * np.linalg.cond(a) ** 2).all()
    np.testing.assert_array_equal(x.numpy(), x.numpy().transpose(0, 2, 1))
    np.testing.assert_allclose(d.numpy(), np.linalg.det(a), rtol=1e-12, atol=1e-13)


@wp.kernel(enable_backward=False)
def find_axes(m: wp.array(dtype=mat33), axes: wp.array(dtype=mat33), largest: wp.array(dtype=real)) -> None:
    i = wp.tid()
    axes[i] = symmetric_axes(m[i])
    largest[i] = largest_eigenvalue(m[i])


def axes_of(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    axes = wp.zeros(len(m), dtype=mat33, device="cpu")
    largest = wp.zeros(len(m), dtype=real, device="cpu")
    inputs = [wp.array(m, dtype=mat33, device="cpu"), axes, largest]
    wp.launch(find_axes, len(m), inputs=inputs, device="cpu")
    return np.array(axes.numpy()), np.array(largest.numpy())


def test_axes_of_symmetric_matrices_make_them_diagonal_whatever_their_scale() -> None:
    rng = np.random.default_rng(3)
    m = rng.standard_normal((300, 3, 3)) * 10.0 ** rng.uniform(-6, 6, (300, 1, 1))
    m = m + m.transpose(0, 2, 1)
    # Some have equal eigenvalues, some are of rank one, some are diagonal.
    m[:50] = np.einsum("ki,kj->kij", m[:50, 0], m[:50, 0])
    m[50:60] = 2.0 * np.eye(3)
    m[60:70] = np.array([np.diag(d) for d in rng.standard_normal((10, 3))])
    axes, largest = axes_of(m)
    size = np.linalg.norm(m, axis=(1, 2))[:, None, None]
    np.testing.assert_allclose(axes.transpose(0, 2, 1) @ axes, np.tile(np.eye(3), (300, 1, 1)), atol=1e-14)
    diagonal = axes.transpose(0, 2, 1) @ m @ axes / size
    assert np.abs(diagonal * (1.0 - np.eye(3))).max() < 1e-14
    values = np.linalg.eigvalsh(m)
    np.testing.assert_allclose(np.sort(np.einsum("kii->ki", diagonal)), values / size[:, 0], atol=1e-14)
    np.testing.assert_allclose(largest / size[:, 0, 0], values[:, 2] / size[:, 0, 0], atol=1e-8)
