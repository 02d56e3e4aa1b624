"""What every contact method keeps on every problem and law that it claims, and what it says about the others."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.lcp import LAWS, MENU, Problem
from rattleback.lcp.example_scenes import SCENES, three_bodies
from rattleback.lcp.examples import sliding_block

TOLERANCE = 1e-8


def dominant(rows, seed=0, spread=0.3):
    """A matrix that is not symmetric, with a dominant diagonal: every method converges on it."""
    rng = np.random.default_rng(seed)
    W = rng.uniform(-1.0, 1.0, (rows, rows)) * spread / rows
    return W + np.diag(rng.uniform(0.8, 1.2, rows))


def velocities(rows, seed=1):
    return np.random.default_rng(seed).normal(size=rows)


PROBLEMS = {
    "one row": Problem(W=[[2.0]], q=[-3.0]),
    "plain rows": Problem(W=dominant(7), q=velocities(7)),
    "nothing to do": Problem(W=dominant(4), q=np.ones(4)),
    "bounds": Problem(
        W=dominant(5), q=3 * velocities(5), lower=[-1, 0, -np.inf, 0.5, -0.2], upper=[1, 0.3, 0.1, np.inf, -0.1]
    ),
    "free rows": Problem(W=dominant(5), q=velocities(5), free=2),
    "block": sliding_block(),
    "no friction": Problem(W=dominant(6), q=-np.abs(velocities(6)), mu=[0.0, 0.0]),
    "contacts": Problem(W=dominant(15, 2), q=velocities(15, 3), mu=[0.1, 0.4, 0.7, 1.0, 2.0]),
    "plane": Problem(W=dominant(10, 4), q=velocities(10, 5), mu=np.full(5, 0.5), dimension=2),
    "joints and contacts": Problem(
        W=dominant(12, 6), q=velocities(12, 7), mu=[0.3, 0.8], free=3, upper=[np.inf] * 5 + [0.2], compliance=0.1
    ),
    "sparse": Problem(W=sp.bsr_array(dominant(12, 8) * np.kron(np.eye(2), np.ones((6, 6)))), q=velocities(12), mu=0.6),
}


def takes(method, law, problem):
    if not problem.contacts:
        return True
    return law in method.laws or (problem.dimension == 2 and {law, *method.laws} >= {"coulomb", "pyramid"})


CASES = [
    (name, law, method)
    for (name, problem), law, method in itertools.product(PROBLEMS.items(), LAWS, MENU)
    if takes(MENU[method], law, problem) and (problem.contacts or law == "coulomb")
]


def naive_residual(problem, r, law):
    """The residual, row by row, written down from its definition."""
    W = problem.W.toarray() if sp.issparse(problem.W) else problem.W
    W = W + np.diag(problem.compliance)
    u = [float(sum(W[i, j] * r[j] for j in range(len(r))) + problem.q[i]) for i in range(len(r))]
    worst, m, d = 0.0, problem.plain_rows, problem.dimension
    for i in range(m):
        rho = 1.0 / W[i, i]
        worst = max(worst, abs(r[i] - min(max(r[i] - rho * u[i], problem.lower[i]), problem.upper[i])) / rho)
    for c, mu in enumerate(problem.mu):
        i = m + d * c
        rho = d / sum(W[k, k] for k in range(i, i + d))
        x, v = [r[i + k] for k in range(d)], [u[i + k] for k in range(d)]
        if law == "coulomb":
            v[0] += mu * math.hypot(*v[1:])
        z = [a - rho * b for a, b in zip(x, v, strict=True)]
        worst = max(worst, math.dist(x, naive_projection(z, mu, law)) / rho)
    return worst


def naive_projection(z, mu, law):
    n, t = z[0], math.hypot(*z[1:])
    if law == "frictionless":
        return [max(n, 0.0)] + [0.0] * (len(z) - 1)
    if law == "pyramid":
        bound = mu * max(n, 0.0)
        return [max(n, 0.0)] + [min(max(y, -bound), bound) for y in z[1:]]
    if t <= mu * n:
        return z
    if mu * t <= -n:
        return [0.0] * len(z)
    n = (n + mu * t) / (1 + mu * mu)
    return [n] + [mu * n * y / t for y in z[1:]]


@pytest.mark.parametrize(("name", "law", "method"), CASES, ids=["-".join(case).replace(" ", "_") for case in CASES])
def test_every_method_solves_what_it_claims(name, law, method):
    problem = PROBLEMS[name]
    result = rb.lcp.solve(problem, method, law, TOLERANCE)
    assert result.converged, result.reason
    assert result.reason.startswith("converged: residual")
    assert naive_residual(problem, result.impulse, law) <= 1.01 * TOLERANCE
    assert result.residual == pytest.approx(naive_residual(problem, result.impulse, law), abs=1e-14)
    np.testing.assert_array_equal(result.velocity, problem.velocity(result.impulse))
    assert result.history.shape[1] == 3
    assert result.iterations >= 0


@pytest.mark.parametrize("method", MENU)
def test_a_method_gives_the_same_bits_twice(method):
    problem = PROBLEMS["contacts"]
    law = MENU[method].laws[-1]
    first, second = (rb.lcp.solve(problem, method, law, 1e-12).impulse for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("method", MENU)
def test_a_hard_problem_is_solved_or_the_reason_says_why_not(method):
    law = MENU[method].laws[-1]
    for name in ("stack, mass ratio 1e4", "redundant"):
        problem = SCENES[name]()
        result = rb.lcp.solve(problem, method, law, 1e-9, iterations=300)
        assert np.isfinite(result.impulse).all()
        assert result.residual == pytest.approx(rb.lcp.residual(problem, result.impulse, law), rel=1e-12)
        assert result.converged == (result.residual <= 1e-9)
        words = ("converged", "stalled", "diverges", "budget", "cycled", "singular", "secondary ray", "ray", "solved")
        assert any(word in result.reason for word in words), result.reason


@pytest.mark.parametrize("method", MENU)
def test_every_form_of_the_matrix_that_is_taken_gives_the_same_velocities(method):
    W, kind = dominant(9, 12), MENU[method]
    given = {"q": velocities(9), "mu": [0.3, 0.3, 0.3]}
    blocks = np.array([W[i : i + 3, i : i + 3] for i in (0, 3, 6)])
    forms = {
        "dense": Problem(W=W, **given),
        "sparse": Problem(W=sp.csr_array(W), **given),
        "operator": Problem(W=W.__matmul__, diagonal=blocks, **given),
    }
    found = [rb.lcp.solve(forms[name], method, kind.laws[-1], 1e-12) for name in kind.storage]
    for result in found:
        np.testing.assert_allclose(result.velocity, found[0].velocity, atol=1e-10)
    for name in set(forms) - set(kind.storage):
        with pytest.raises(InputError, match=f"{method} does not take W of problem as '?{name}.*would work: 'jacobi'"):
            rb.lcp.solve(forms[name], method, kind.laws[-1])


@pytest.mark.parametrize("method", MENU)
def test_a_law_that_is_not_claimed_is_refused_with_methods_that_work(method):
    for law in set(LAWS) - set(MENU[method].laws):
        with pytest.raises(InputError, match=f"{method} does not solve the law {law!r}.*would work: .*'newton'"):
            rb.lcp.solve(PROBLEMS["contacts"], method, law)


@pytest.mark.parametrize("method", [name for name, kind in MENU.items() if math.isfinite(kind.most_rows)])
def test_too_many_rows_are_refused_with_methods_that_work(method):
    rows = int(MENU[method].most_rows) + 1
    large = Problem(W=sp.eye_array(rows, format="csr"), q=np.ones(rows))
    with pytest.raises(InputError, match=f"{method} takes {rows - 1} rows at most.*would work: 'jacobi'"):
        rb.lcp.solve(large, method)


@pytest.mark.parametrize("method", MENU)
def test_a_redundant_contact_changes_no_velocity(method):
    """Three bodies whose contacts are counted once and twice; jacobi diverges when they are counted twice."""
    for law in MENU[method].laws:
        once, twice = (three_bodies(times, 0.3) for times in (1, 2))
        results = [rb.lcp.solve(example.problem, method, law, 1e-13) for example in (once, twice)]
        if method == "jacobi" and not results[1].converged:
            assert "diverges" in results[1].reason
            continue
        velocity = [example.body_velocity(r.impulse) for example, r in zip((once, twice), results, strict=True)]
        np.testing.assert_allclose(velocity[1], velocity[0], atol=1e-12, err_msg=results[1].reason)
