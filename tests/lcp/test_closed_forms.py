"""Problems whose answer is known in closed form, by every method that takes the law."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.lcp import MENU
from rattleback.lcp.example_scenes import arch, stack, three_bodies
from rattleback.lcp.examples import GRAVITY, STEP, sliding_block

PUSH = GRAVITY * STEP


def solvers(law):
    return [name for name, kind in MENU.items() if law in kind.laws]


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.5, 1.7])
@pytest.mark.parametrize("method", solvers("coulomb"))
def test_a_sliding_block_keeps_its_weight_under_coulomb(method, mu):
    result = rb.lcp.solve(sliding_block(mu), method, "coulomb", 1e-13)
    np.testing.assert_allclose(result.impulse, [PUSH, -mu * PUSH, 0.0], atol=1e-12)
    np.testing.assert_allclose(result.velocity, [0.0, 1.0 - mu * PUSH, 0.0], atol=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.5, 1.7])
@pytest.mark.parametrize("method", solvers("cone"))
def test_a_sliding_block_lifts_off_under_the_convex_law(method, mu):
    result = rb.lcp.solve(sliding_block(mu), method, "cone", 1e-13)
    normal = (PUSH + mu) / (1.0 + mu * mu)
    np.testing.assert_allclose(result.impulse, [normal, -mu * normal, 0.0], atol=1e-12)
    np.testing.assert_allclose(result.velocity, [normal - PUSH, 1.0 - mu * normal, 0.0], atol=1e-12)
    assert result.velocity[0] == pytest.approx(mu * result.velocity[1], abs=1e-12)


def test_the_two_laws_differ_by_what_the_documents_print():
    """With μ = 0.5, 1 m/s and g h = 0.0981 m/s."""
    cone, coulomb = (rb.lcp.solve(sliding_block(), law=law, tolerance=1e-13) for law in ("cone", "coulomb"))
    np.testing.assert_allclose([cone.impulse[0], *cone.velocity[:2]], [0.47848, 0.38038, 0.76076], atol=1e-12)
    np.testing.assert_allclose([coulomb.impulse[0], *coulomb.velocity[:2]], [0.0981, 0.0, 0.95095], atol=1e-12)


@pytest.mark.parametrize("method", solvers("coulomb"))
def test_a_sticking_contact_stops_whatever_its_block_is(method):
    W = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.2], [0.0, 0.1, 1.0]])
    problem = rb.lcp.Problem(W=W, q=[-1.0, 0.1, 0.05], mu=[0.9])
    result = rb.lcp.solve(problem, method, "coulomb", 1e-12)
    np.testing.assert_allclose(result.impulse, -np.linalg.solve(W, problem.q), atol=1e-11)


@pytest.mark.parametrize("method", solvers("frictionless"))
def test_contacts_counted_twice_give_the_velocities_of_contacts_counted_once(method):
    once, twice = three_bodies(1), three_bodies(2)
    results = [rb.lcp.solve(example.problem, method, "frictionless", 1e-13) for example in (once, twice)]
    assert np.linalg.matrix_rank(twice.problem.dense[::3, ::3]) == 3
    if method == "jacobi":
        assert "diverges: the spectral radius" in results[1].reason
        return
    np.testing.assert_allclose(
        twice.body_velocity(results[1].impulse), once.body_velocity(results[0].impulse), atol=1e-12
    )
    sums = results[1].impulse[:9:3] + results[1].impulse[9::3]
    np.testing.assert_allclose(sums, results[0].impulse[::3], atol=1e-11)


def test_a_stack_at_rest_carries_its_weight():
    example = stack(6, mu=0.5)
    q = example.jacobian @ np.tile([0.0, 0.0, -PUSH, 0.0, 0.0, 0.0], 6)
    problem = rb.lcp.Problem(W=example.problem.W, q=q, mu=0.5)
    result = rb.lcp.solve(problem, tolerance=1e-13)
    np.testing.assert_allclose(example.jacobian @ np.zeros(36), result.velocity, atol=1e-12)
    carried = result.impulse[::3].reshape(6, 4).sum(axis=1)
    np.testing.assert_allclose(carried, PUSH * np.arange(6, 0, -1), rtol=1e-9)


def test_an_arch_stands_above_heymans_thickness_and_falls_below():
    """A semicircular arch needs 0.1075 of its radius (Heyman); stones with flat joints a little less."""
    speeds = []
    for thickness in (0.14, 0.09):
        example = arch(31, thickness, mu=2.0)
        result = rb.lcp.solve(example.problem, tolerance=1e-11)
        assert result.converged, result.reason
        speeds.append(np.abs(example.body_velocity(result.impulse)).max())
    assert speeds[0] < 1e-9
    assert speeds[1] > 1e-3
