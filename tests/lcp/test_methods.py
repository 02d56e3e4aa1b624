"""What single methods say: divergence, rays, cycles, stalls, budgets; and what their parameters do."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.lcp import Problem
from rattleback.lcp.example_scenes import SCENES, needles, redundant, stack
from rattleback.lcp.examples import by_name, sliding_block
from rattleback.lcp.forms.maps import slope
from rattleback.lcp.forms.scaled import Scaled
from rattleback.lcp.laws import LAWS

COUPLED = np.full((3, 3), 0.9) + 0.1 * np.eye(3)


@pytest.mark.parametrize("free", [0, 3])
def test_jacobi_reports_divergence_though_the_matrix_is_positive_definite(free):
    """Unit diagonal, off-diagonals 0.9: eigenvalues 0.1 and 2.8, spectral radius of 1 − W 1.8."""
    problem = Problem(W=COUPLED, q=-np.ones(3), free=free)
    result = rb.lcp.solve(problem, "jacobi")
    assert not result.converged
    assert "diverges: the spectral radius of 1 − ω D⁻¹ W is 1.8," in result.reason
    assert np.isfinite(result.impulse).all()
    damped = rb.lcp.solve(problem, rb.lcp.Jacobi(factor=0.5))
    assert damped.converged
    np.testing.assert_allclose(damped.impulse, 1.0 / 2.8, atol=1e-7)
    assert rb.lcp.solve(problem, "pgs").converged


def test_a_secondary_ray_is_said():
    """0 ≤ w = −z − 1 has no solution."""
    result = rb.lcp.solve(Problem(W=[[-1.0]], q=[-1.0]), "lemke")
    assert not result.converged
    assert result.reason.startswith("secondary ray")


def test_dantzig_says_that_a_row_has_no_end():
    result = rb.lcp.solve(Problem(W=np.zeros((2, 2)), q=[1.0, -1.0]), "dantzig")
    assert result.reason.startswith("ray: row 1 can be driven without end")


def test_murty_says_that_it_cycles_and_that_its_equations_have_no_solution():
    """Example 4.4.7 of Cottle, Pang and Stone is no P-matrix."""
    cyclic = Problem(W=[[0.0, -1.0, 2.0], [2.0, 0.0, -2.0], [-1.0, 1.0, 0.0]], q=[-3.0, 6.0, -1.0])
    assert rb.lcp.solve(cyclic, "murty").reason.startswith("cycled: the same sides came back")
    assert rb.lcp.solve(cyclic, "lemke").converged
    singular = Problem(W=[[1.0, 1.0], [1.0, 1.0]], q=[-1.0, -2.0], free=2)
    assert rb.lcp.solve(singular, "murty").reason.startswith("singular: the free rows cannot all be met")


def test_murtys_problem_takes_dantzig_exponentially_many_pivots():
    """Murty's matrix of size n with q_i = 2ⁱ − 2ⁿ⁺¹: 2ⁿ − 1 pivots, one for each vertex of a cube."""
    for n in (3, 5, 6):
        W = np.eye(n) + np.triu(np.full((n, n), 2.0), 1)
        q = 2.0 ** np.arange(1, n + 1) - 2.0 ** (n + 1)
        result = rb.lcp.solve(Problem(W=W, q=q), "dantzig", tolerance=1e-12)
        assert result.converged
        assert result.iterations == 2**n - 1


def test_lemke_solves_degenerate_problems_without_cycling():
    rng = np.random.default_rng(0)
    for _ in range(20):
        J = rng.integers(-1, 2, (12, 4)).astype(float)
        z = rng.integers(0, 2, 12).astype(float)
        problem = Problem(W=J @ J.T, q=-J @ (J.T @ z))
        result = rb.lcp.solve(problem, "lemke", tolerance=1e-11, iterations=500)
        assert result.converged, result.reason


@pytest.mark.parametrize("method", ["lemke", "dantzig", "murty", "newton"])
def test_friction_bounds_of_exact_methods_follow_the_normal_impulse(method):
    """Tangents push the contact down, so μ r_n is known only at the solution."""
    W = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.0], [0.0, 0.0, 1.0]])
    problem = Problem(W=W, q=[-1.0, 2.0, 0.1], mu=[0.5])
    result = rb.lcp.solve(problem, method, "pyramid", 1e-12)
    # Slides along the first tangent: r_n − 0.3 r_n = 1.
    normal = 1.0 / 0.7
    np.testing.assert_allclose(result.impulse, [normal, -0.5 * normal, -0.1], atol=1e-12)


def test_over_relaxation_is_faster_on_a_chain_and_its_factor_is_checked():
    n = 40
    W = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    problem = Problem(W=W, q=-np.ones(n))
    sweeps = [rb.lcp.solve(problem, rb.lcp.SOR(factor=w), tolerance=1e-6).iterations for w in (1.0, 1.6)]
    assert sweeps[1] < 0.5 * sweeps[0]
    np.testing.assert_allclose(
        rb.lcp.solve(problem, rb.lcp.SOR(factor=1.0)).impulse, np.linalg.solve(W, np.ones(n)), atol=1e-4
    )
    for factor in (0.0, 2.0):
        with pytest.raises(InputError, match="must lie between 0 and 2"):
            rb.lcp.SOR(factor=factor)


def test_the_budgets_of_iterations_and_seconds_are_kept():
    problem = stack(10, 1e4).problem
    result = rb.lcp.solve(problem, "pgs", tolerance=1e-12, iterations=35)
    assert result.iterations == 35
    assert result.reason.startswith("budget: 35 iterations used up")
    result = rb.lcp.solve(problem, "pgs", tolerance=1e-12, iterations=10**9, seconds=0.05)
    assert result.reason.startswith("budget: 0.05 s used up")
    assert result.seconds < 1.0


def test_a_start_that_is_the_answer_costs_nothing():
    problem = SCENES["wall"]()
    answer = rb.lcp.solve(problem, tolerance=1e-10).impulse
    for method in ("apgd", "newton", "pgs", "nsgs", "admm", "bb", "auto"):
        again = rb.lcp.solve(problem, method, tolerance=1e-8, start=answer)
        assert again.iterations <= 1
        assert again.converged


def test_the_best_impulses_are_kept_when_a_method_goes_astray():
    problem = Problem(W=COUPLED, q=-np.ones(3), free=3)
    result = rb.lcp.solve(problem, "jacobi", start=np.full(3, 0.36))
    assert result.residual == pytest.approx(abs(2.8 * 0.36 - 1.0))


def test_auto_names_its_methods_and_keeps_their_reasons():
    hard = rb.lcp.solve(stack(10, 1e4).problem, tolerance=1e-11)
    assert hard.converged
    assert hard.method.startswith("auto: apgd, newton")
    without_end = rb.lcp.solve(Problem(W=[[-1.0]], q=[-1.0]))
    assert "lemke secondary ray" in without_end.reason
    assert "newton stalled" in without_end.reason


@pytest.mark.parametrize("seed", range(12))
def test_auto_solves_redundant_problems_of_all_kinds(seed):
    """Two of these stall apgd and newton; the answer of the convex law is the start that solves them."""
    rng = np.random.default_rng(seed)
    counts = int(rng.integers(2, 12)), int(rng.integers(10, 80))
    mu = float(rng.uniform(0.1, 1.2))
    for problem in (redundant(*counts, mu, seed).problem, needles(20, 60, mu, seed).problem):
        result = rb.lcp.solve(problem, tolerance=1e-10)
        assert result.converged, result.reason


def test_wrong_names_list_the_menu():
    with pytest.raises(rb.UnknownName, match="There is no contact method 'lemk'. Did you mean 'lemke'"):
        rb.lcp.solve(sliding_block(), "lemk")
    with pytest.raises(rb.UnknownName, match="There is no law 'colomb'. Did you mean 'coulomb'"):
        rb.lcp.solve(sliding_block(), law="colomb")
    with pytest.raises(rb.UnknownName, match="There is no example problem 'wal'. The menu: 'sliding block'"):
        by_name("wal")
    assert by_name("arch").contacts == 64
    with pytest.raises(InputError, match="tolerance is 0; it must be greater than zero"):
        rb.lcp.solve(sliding_block(), tolerance=0)


def test_a_method_of_ones_own_is_taken():
    class Guess:
        laws, storage, most_rows, iterations = ("coulomb",), ("dense",), 10, 1

        def solve(self, problem, law, watch):
            watch.see(np.array([0.0981, -0.04905, 0.0]))

    result = rb.lcp.solve(sliding_block(), Guess())
    assert result.converged
    assert result.method == "Guess"


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_the_derivatives_of_the_maps_are_those_of_their_differences(law, dimension):
    rng = np.random.default_rng(3)
    rows = 2 + 4 * dimension
    W = rng.normal(size=(rows, rows))
    given = {"lower": [-1.0, 0.0], "upper": [1.0, np.inf], "dimension": dimension}
    problem = Problem(W=W @ W.T, q=rng.normal(size=rows), mu=[0.2, 0.5, 1.0, 0.0], **given)
    scaled = Scaled(problem, LAWS[law])
    S, step = scaled.dense(), 1e-7
    for _ in range(5):
        x = rng.normal(size=rows)
        J = slope(scaled, x, scaled.velocity(x)).jacobian(S)
        for k in range(rows):
            e = step * np.eye(rows)[k]
            ahead, behind = (slope(scaled, x + d, scaled.velocity(x + d)).F for d in (e, -e))
            np.testing.assert_allclose((ahead - behind) / (2 * step), J[:, k], atol=2e-6)
