"""The iterative joint method: it goes to the answer of the direct one, and says what it cannot take."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError, NotConvergedWarning
from rattleback.maths.block_sparse import find_pattern
from rattleback.problem.delassus import shared_bodies
from rattleback.solvers.joints import Iterative


@pytest.mark.parametrize("seed", range(4))
def test_many_sweeps_solve_a_random_tree(dense: Any, mechanism: Any, seed: int) -> None:
    case = dense(mechanism(seed, 4), Iterative(sweeps=20000))
    wanted = np.random.default_rng(seed).standard_normal(len(case.A))
    left = case.A @ case.impulses(wanted) - wanted
    assert np.abs(left).max() <= 1e-8 * np.abs(wanted).max()


def test_one_joint_is_solved_in_one_sweep(dense: Any) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.2, 0.3), position=(0.4, 0.1, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", at=(0, 0, 0), axis=(1, 2, 3)))
    case = dense(scene, Iterative(sweeps=1))
    wanted = np.array([1.0, -2.0, 0.5, 0.3, -0.7])
    np.testing.assert_allclose(case.impulses(wanted), np.linalg.solve(case.A, wanted), rtol=1e-11)


@pytest.mark.parametrize("sweeps", [1, 2, 5])
def test_a_sweep_is_block_gauss_seidel(dense: Any, mechanism: Any, sweeps: int) -> None:
    """Joint by joint in the order of elimination, on the dense matrix."""
    case = dense(mechanism(7, 6, names=("ball", "revolute", "universal")), Iterative(sweeps=sweeps))
    wanted = np.random.default_rng(3).standard_normal(len(case.A))
    first, count = (getattr(case.problem.joints, name).numpy() for name in ("first", "count"))
    order = find_pattern(len(case.problem.names), shared_bodies(case.problem)).order
    expected = np.zeros(len(case.A))
    for _ in range(sweeps):
        for j in order:
            own = slice(first[j], first[j] + count[j])
            expected[own] += np.linalg.solve(case.A[own, own], wanted[own] - case.A[own] @ expected)
    np.testing.assert_allclose(case.impulses(wanted), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("sweeps", "message"), [(0, "at least 1"), (1.5, "a whole number"), ("many", "a whole number")]
)
def test_the_sweeps_are_a_whole_number_above_zero(sweeps: object, message: str) -> None:
    with pytest.raises(InputError, match=f"The sweeps of Iterative is .*; it must be {message}."):
        Iterative(sweeps=sweeps)


def test_a_wrong_name_lists_the_menu() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), name="box")
    with pytest.raises(KeyError, match="There is no joint method 'directly'. Did you mean 'direct'?"):
        rb.Simulation(scene, joints="directly")


def test_too_few_corrections_are_reported_with_the_joint_and_what_would_help() -> None:
    scene = rb.Scene()
    for k in range(8):
        scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"link_{k}")
        held = f"link_{k - 1}" if k else "world"
        scene.add_joint(rb.Ball(held, f"link_{k}", at=(k, 0, 0)), name=f"pin_{k}")
    sim = rb.Simulation(scene, joints=Iterative(sweeps=1), max_iterations=2)
    with pytest.warns(NotConvergedWarning, match="Joint 'pin_.' is off by"):
        sim.step()
    assert not sim.report.converged
    assert sim.report.worst_joint.startswith("pin_")
    assert f"Joint {sim.report.worst_joint!r} is off by" in sim.report.reason
    assert "more max_iterations, a larger budget or a shorter time_step help" in sim.report.reason
    assert sim.report.position_error > sim.report.position_tolerance
