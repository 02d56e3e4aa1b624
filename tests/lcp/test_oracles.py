"""Answers compared with libraries that know nothing of contacts: SciPy's nnls, Clarabel, SciPy's root finder."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.optimize as opt

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.lcp import MENU, Problem
from rattleback.lcp.example_scenes import redundant


def positive(rows, seed):
    J = np.random.default_rng(seed).normal(size=(rows, rows + 2))
    return J @ J.T / rows


def nnls(W, q):
    """The minimum of ½ zᵀW z + qᵀz over z ≥ 0 as a problem of least squares."""
    L = la.cholesky(W, lower=True)
    return opt.nnls(L.T, -la.solve_triangular(L, q, lower=True))[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", [name for name in MENU if name not in ("jacobi",)])
def test_plain_problems_agree_with_nnls(method, seed):
    problem = Problem(W=positive(12, seed), q=np.random.default_rng(seed + 100).normal(size=12))
    result = rb.lcp.solve(problem, method, tolerance=1e-12)
    np.testing.assert_allclose(result.impulse, nnls(problem.W, problem.q), atol=1e-10)


@pytest.mark.parametrize("law", ["frictionless", "cone"])
def test_the_quadratic_program_agrees_with_clarabel(law):
    pytest.importorskip("clarabel")
    problem = Problem(W=positive(18, 3), q=np.random.default_rng(4).normal(size=18), mu=[0.1, 0.3, 0.5, 0.7, 0.9, 0.0])
    by_clarabel = rb.lcp.solve(problem, rb.lcp.QP(backend="clarabel"), law, 1e-7)
    assert by_clarabel.converged, by_clarabel.reason
    # For W ⪰ λ > 0 impulses are within a small multiple of residual / λ of the minimum.
    allowed = 10.0 * by_clarabel.residual / np.linalg.eigvalsh(problem.W)[0]
    for method in ("qp", "apgd", "newton"):
        result = rb.lcp.solve(problem, method, law, 1e-10)
        np.testing.assert_allclose(result.impulse, by_clarabel.impulse, rtol=0, atol=allowed)


def test_the_quadratic_program_without_friction_is_the_complementarity_problem():
    problem = Problem(W=positive(30, 9), q=np.random.default_rng(10).normal(size=30), mu=0.7)
    by_qp, by_lemke = (rb.lcp.solve(problem, method, "frictionless", 1e-12) for method in ("qp", "lemke"))
    np.testing.assert_allclose(by_qp.impulse, by_lemke.impulse, atol=1e-10)
    np.testing.assert_allclose(by_lemke.impulse[::3], nnls(problem.W[::3, ::3], problem.q[::3]), atol=1e-10)
    pytest.importorskip("clarabel")
    by_clarabel = rb.lcp.solve(problem, rb.lcp.QP(backend="clarabel"), "frictionless", 1e-12)
    np.testing.assert_allclose(by_clarabel.impulse, by_lemke.impulse, atol=1e-10)


@pytest.mark.parametrize("method", ["apgd", "newton", "qp", "admm", "nsgs"])
def test_the_convex_law_minimises_its_objective(method):
    """No admissible point near the answer has a lower value; the objective is written down here."""
    problem = redundant(3, 10).problem
    W, q = problem.W.toarray(), problem.q
    r = rb.lcp.solve(problem, method, "cone", 1e-10, iterations=100_000).impulse
    value = 0.5 * r @ W @ r + q @ r
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(50):
            other = (r + scale * rng.normal(size=len(r))).reshape(-1, 3)
            other[:, 0] = np.maximum(other[:, 0], np.hypot(other[:, 1], other[:, 2]) / problem.mu)
            other = other.ravel()
            assert 0.5 * other @ W @ other + q @ other >= value - 1e-9


@pytest.mark.parametrize("method", ["pgs", "nsgs", "newton", "apgd", "admm", "qp", "bb"])
def test_free_rows_are_what_their_elimination_says(method):
    """A joint in the system gives the impulses of the contacts of the system without its row (Schur complement)."""
    W, q = positive(14, 5), np.random.default_rng(6).normal(size=14)
    whole = Problem(W=W, q=q, mu=[0.3, 0.4, 0.5, 0.6], free=2)
    response = np.linalg.solve(W[:2, :2], W[:2, 2:])
    reduced = Problem(W=W[2:, 2:] - W[2:, :2] @ response, q=q[2:] - response.T @ q[:2], mu=[0.3, 0.4, 0.5, 0.6])
    law = "coulomb" if method != "qp" else "cone"
    first, second = (rb.lcp.solve(problem, method, law, 1e-10, iterations=100_000) for problem in (whole, reduced))
    assert first.converged
    np.testing.assert_allclose(first.impulse[2:], second.impulse, atol=1e-8)
    np.testing.assert_allclose(first.velocity[:2], 0.0, atol=2e-10)


@pytest.mark.parametrize("law", ["cone", "coulomb"])
@pytest.mark.parametrize("seed", range(6))
def test_one_contact_alone_is_solved_exactly(seed, law):
    rng = np.random.default_rng(seed)
    W = positive(3, seed) + 0.05 * rng.normal(size=(3, 3))
    problem = Problem(W=W, q=rng.normal(size=3) - [1.0, 0.0, 0.0], mu=[rng.uniform(0.1, 1.5)])
    result = rb.lcp.solve(problem, "nsgs", law, 1e-13)
    assert result.residual < 1e-13
    assert result.iterations <= 10


def test_clarabel_refuses_what_is_not_symmetric():
    pytest.importorskip("clarabel")
    problem = Problem(W=[[1.0, 0.1], [0.0, 1.0]], q=[-1.0, -1.0])
    with pytest.raises(InputError, match="W of problem is not symmetric.*QP\\(backend='own'\\)"):
        rb.lcp.solve(problem, rb.lcp.QP(backend="clarabel"))


def test_a_backend_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "clarabel", None)
    with pytest.raises(InputError, match="The package clarabel is not installed"):
        rb.lcp.solve(Problem(W=[[1.0]], q=[-1.0]), rb.lcp.QP(backend="clarabel"))
    with pytest.raises(InputError, match="may be 'own' or 'clarabel'"):
        rb.lcp.QP(backend="osqp")
