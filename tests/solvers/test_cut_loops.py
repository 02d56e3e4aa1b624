"""Loops that are cut: which joints are, what a dense solver says, published digits, and the motion of whole loops."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import bricard, chain, four_bar, loops, six_bar, tree
from rattleback.solvers.joints import Direct
from rattleback.solvers.joints.connections import find_closing

CUT = Direct(loops="cut")
FOUR_BAR_AT_TEN = {2: (0.3284581115, 0.0, 0.9445185382), 5: (0.2357891358, 0.0, 0.9718042413)}
MECHANISMS = {
    "four_bar": (lambda: four_bar(5), 0.001),
    "loops": (loops, 0.004),
    "bricard": (bricard, 0.001),
    "six_bar": (six_bar, 0.001),
    "coarse_loops": (loops, 0.01),
    "coarse_bricard": (bricard, 0.01),
    "coarse_six_bar": (six_bar, 0.01),
}


def closing(scene: rb.Scene) -> set[str]:
    problem = rb.Simulation(scene, joints=CUT)._step.preview.problem
    return {problem.names[j] for j in find_closing(problem)}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("names", [("ball", "distance", "point_on_plane"), ("fixed", "revolute", "universal", "ball")])
def test_random_loops_are_solved_as_the_dense_matrix_says(dense: Any, mechanism: Any, seed: int, names: Any) -> None:
    """Where rows are redundant the impulses are one solution of many; what they do to the rows is what counts."""
    case = dense(mechanism(seed, 8, loops=3, names=names), CUT)
    push = np.random.default_rng(seed).standard_normal(case.J.shape[1])
    wanted = case.J @ case.inverse_mass @ push
    left = case.A @ case.impulses(wanted) - wanted
    assert np.abs(left).max() <= 1e-7 * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(4))
def test_as_many_joints_are_cut_as_there_are_loops_and_the_rest_makes_no_fill(mechanism: Any, seed: int) -> None:
    scene = mechanism(seed, 12, loops=4)
    solver = rb.Simulation(scene, joints=CUT)._step.preview.solver
    still = {"world", *(body.name for body in scene.bodies if body.static)}
    nodes = {name for joint in scene.joints.values() for name in (joint.a, joint.b)} - still
    # A connected graph with the still node has as many edges in a tree as moving nodes; without it one less.
    held = any(still & {joint.a, joint.b} for joint in scene.joints.values())
    assert len(solver.closing) == len(scene.joints) - len(nodes) + (not held)
    assert solver.fill == 0


@pytest.mark.parametrize(("make", "count"), [(lambda: four_bar(5), 5), (loops, 3), (bricard, 1), (six_bar, 1)])
def test_a_mechanism_is_cut_once_for_every_loop(make: Any, count: int) -> None:
    assert len(closing(make())) == count


def test_a_loop_is_cut_at_its_far_end_or_where_it_has_the_fewest_rows() -> None:
    assert closing(bricard()) <= {"joint_3", "joint_4"}
    scene = four_bar(1)
    scene.joints["A1"] = rb.Ball("world", "crank_1", at=(1, 0, 0))
    assert closing(scene) == {"A1"}


@pytest.mark.parametrize("make", [lambda: chain(12), lambda: tree(4)])
def test_without_loops_cutting_changes_no_bit(make: Any) -> None:
    sims = [rb.Simulation(make(), joints=method, time_step=0.005) for method in (Direct(), CUT)]
    for sim in sims:
        sim.step(50)
    assert sims[0].hash() == sims[1].hash()


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_stay_within_tolerance_in_few_corrections(name: str) -> None:
    make, step = MECHANISMS[name]
    sim, whole = (rb.Simulation(make(), joints=method, time_step=step) for method in (CUT, Direct()))
    whole.step(1000)
    for _ in range(50):
        sim.step(20)
        assert sim.report.converged, sim.report.reason
        assert sim.report.iterations <= 8
        assert sim.report.redundant_rows == 0
    assert sim.energy().total == pytest.approx(whole.energy().total, abs=1e-5)


@pytest.mark.parametrize("name", ["four_bar", "loops", "bricard", "six_bar"])
def test_cut_loops_move_as_whole_ones_do(name: str) -> None:
    tolerances = {f"{kind}_tolerance": 1e-9 for kind in ("position", "orientation", "velocity")}
    make, step = MECHANISMS[name]
    whole, cut = (rb.Simulation(make(), joints=method, time_step=step, **tolerances) for method in (Direct(), CUT))
    for sim in (whole, cut):
        sim.step(100)
        assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(cut.state.position, whole.state.position, rtol=0, atol=1e-7)


@pytest.mark.parametrize("count", [2, 5])
def test_cut_four_bars_pass_their_singular_position_to_the_published_place(count: int) -> None:
    sim = rb.Simulation(four_bar(count), joints=CUT, time_step=0.002)
    sim.run(10.0)
    assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(2.0 * sim["crank_0"].position, FOUR_BAR_AT_TEN[count], rtol=0, atol=20.0 * 0.002**2)


def test_few_rounds_are_made_up_for_by_more_corrections() -> None:
    few, many = (rb.Simulation(loops(), joints=Direct(loops="cut", rounds=n), time_step=0.004) for n in (3, 100))
    for sim in (few, many):
        sim.step(100)
        assert sim.report.converged, sim.report.reason
    assert few.report.iterations > many.report.iterations


def test_a_chain_beside_a_loop_is_solved_too() -> None:
    scene = bricard()
    scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(5.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", at=(5, 0, 0), axis=(0, 0, 1)), name="hinge")
    sim = rb.Simulation(scene, joints=CUT, time_step=0.002)
    sim.step(100)
    assert sim.report.converged, sim.report.reason
    # A rod that falls from the horizontal: θ̈ = 1.5 g cos θ / l, nearly, and its moment is that of a box.
    moment = (1.0 + 0.1**2) / 12.0 + 0.25
    assert sim["hinge"].velocity == pytest.approx(-np.sqrt(9.81 * np.sin(-sim["hinge"].angle) / moment), rel=1e-4)


def test_wrong_parameters_are_sentences() -> None:
    with pytest.raises(rb.InputError, match=r"^The loops of Direct is 'cutt'; it may be 'drop_redundant', 'cut'\. Did"):
        Direct(loops="cutt")
    with pytest.raises(rb.InputError, match=r"^The rounds of Direct is 0; it must be at least 1\.$"):
        Direct(loops="cut", rounds=0)


def test_the_report_names_the_joints_with_redundant_rows() -> None:
    sim = rb.Simulation(bricard(), time_step=0.001)
    sim.step()
    assert sim.report.redundant_rows == 1
    assert len(sim.report.redundant_joints) == 1
    assert set(sim.report.redundant_joints) <= set(sim.scene.joints)
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), position=(0.5, 0.2, 0), name="box")
    scene.add_body(rb.Box(1, 1, 1), position=(5, 0, 0), name="other")
    for name in ("one", "two"):
        scene.add_joint(rb.Ball("world", "box", at=(0, 0, 0)), name=name)
    scene.add_joint(rb.Ball("world", "other", at=(4, 0, 0)), name="three")
    sim = rb.Simulation(scene)
    sim.step()
    assert sim.report.redundant_rows == 3
    assert sim.report.redundant_joints in (("one",), ("two",))
