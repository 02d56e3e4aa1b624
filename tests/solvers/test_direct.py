"""The direct joint method: the answer of a dense solver, no fill on trees, and the rank found where rows repeat."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

PLANAR = {"axis": (0, 1, 0)}
BRICARD_POINTS = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
BRICARD_AXES = "yzxyzx"


def loop(points: Any, axes: Any, gravity: Any = (0, 0, -9.81)) -> rb.Scene:
    """Rods from point to point, a revolute joint at each; the first and the last point belong to the world."""
    scene, points = rb.Scene(gravity), np.array(points, dtype=float)
    held = scene.world.name
    for k in range(len(points) - 1):
        way = points[k + 1] - points[k]
        turn = Rotation.align_vectors([way], [[1, 0, 0]])[0] if np.linalg.norm(way) else Rotation.identity()
        scene.add_body(
            rb.Box(1, 0.1, 0.1),
            mass=1.0,
            position=0.5 * (points[k] + points[k + 1]),
            orientation=turn.as_quat(),
            name=f"rod_{k}",
        )
        scene.add_joint(rb.Revolute(held, f"rod_{k}", at=points[k], axis=axes[k]))
        held = f"rod_{k}"
    scene.add_joint(rb.Revolute(held, "world", at=points[-1], axis=axes[-1]))
    return scene


def four_bar() -> rb.Scene:
    points = [(0, 0, 0), (0.3, 0, 1.1), (1.4, 0, 1.3), (1.2, 0, -0.1)]
    return loop(points, [(0, 1, 0)] * 4)


def planar_six_bar() -> rb.Scene:
    points = [(0, 0, 0), (-0.4, 0, 1), (0.2, 0, 2), (1.3, 0, 2.2), (2.1, 0, 1.1), (1.8, 0, -0.1)]
    return loop(points, [(0, 1, 0)] * 6)


def bricard() -> rb.Scene:
    axes = [np.eye(3)["xyz".index(letter)] for letter in BRICARD_AXES]
    return loop(BRICARD_POINTS, axes, (0, -9.81, 0))


def skew_six_bar() -> rb.Scene:
    rng = np.random.default_rng(12)
    return loop(rng.uniform(-1, 1, (6, 3)), rng.standard_normal((6, 3)))


def parallelogram_row(count: int) -> rb.Scene:
    """Upright rods under one long bar: every rod after the second repeats what the others say."""
    scene = rb.Scene()
    bar = scene.add_body(rb.Box(count, 0.1, 0.1), mass=1.0, position=(0.5 * (count - 1), 0, 1), name="bar")
    for k in range(count):
        rod = scene.add_body(rb.Box(0.1, 0.1, 1), mass=1.0, position=(k, 0, 0.5), name=f"rod_{k}")
        scene.add_joint(rb.Revolute("world", rod, at=(k, 0, 0), **PLANAR))
        scene.add_joint(rb.Revolute(rod, bar, at=(k, 0, 1), **PLANAR))
    return scene


def twice_held() -> rb.Scene:
    """The same ball joint three times over: six of nine rows are said before."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), position=(0.5, 0.2, 0), name="box")
    for _ in range(3):
        scene.add_joint(rb.Ball("world", "box", at=(0, 0, 0)))
    return scene


SINGULAR = {
    "four_bar": (four_bar, 3),
    "planar_six_bar": (planar_six_bar, 3),
    "bricard": (bricard, 1),
    "skew_six_bar": (skew_six_bar, 0),
    "parallelogram_of_three": (lambda: parallelogram_row(3), 6 + 1),
    "twice_held": (twice_held, 6),
}


def relative_residual(case: Any, impulses: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(case.A @ impulses - wanted).max() / np.abs(wanted).max())


def reachable(case: Any, seed: int = 9) -> np.ndarray:
    """A change of the rows' velocities that some velocities of the moving bodies make."""
    push = np.random.default_rng(seed).standard_normal(case.J.shape[1])
    return case.J @ case.inverse_mass @ push


@pytest.mark.parametrize("seed", range(12))
def test_a_random_tree_is_solved_as_a_dense_solver_does(dense: Any, mechanism: Any, seed: int) -> None:
    case = dense(mechanism(seed, 12))
    assert case.rank == case.problem.row_count
    wanted = np.random.default_rng(seed).standard_normal(len(case.A))
    impulses = case.impulses(wanted)
    assert relative_residual(case, impulses, wanted) <= 1e-10
    expected = np.linalg.solve(case.A, wanted)
    assert np.abs(impulses - expected).max() <= 1e-14 * np.linalg.cond(case.A) * np.abs(expected).max()
    assert case.solver.redundant_rows().sum(axis=1).tolist() == [0]


@pytest.mark.parametrize("seed", range(12))
def test_a_random_tree_makes_no_fill(dense: Any, mechanism: Any, seed: int) -> None:
    assert dense(mechanism(seed, 25)).solver.fill == 0


def test_chains_make_no_fill(dense: Any) -> None:
    scene = rb.Scene()
    for k in range(60):
        scene.add_body(rb.Box(1, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"link_{k}")
        scene.add_joint(rb.Ball(f"link_{k - 1}" if k else "world", f"link_{k}", at=(k, 0, 0)))
    case = dense(scene)
    assert case.solver.fill == 0
    wanted = np.random.default_rng(1).standard_normal(180)
    assert relative_residual(case, case.impulses(wanted), wanted) <= 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_a_random_forest_is_solved_part_by_part(dense: Any, mechanism: Any, seed: int) -> None:
    case = dense(mechanism(seed, 14, roots=5))
    wanted = np.random.default_rng(seed).standard_normal(len(case.A))
    assert relative_residual(case, case.impulses(wanted), wanted) <= 1e-10
    assert case.solver.fill == 0


@pytest.mark.parametrize("seed", range(12))
def test_random_loops_are_solved(dense: Any, mechanism: Any, seed: int) -> None:
    """Joints that leave enough freedom to close loops at random without contradiction."""
    case = dense(mechanism(seed, 10, loops=4, names=("ball", "distance", "point_on_plane", "double_rotation")))
    wanted = reachable(case)
    assert relative_residual(case, case.impulses(wanted), wanted) <= 1e-10
    assert case.solver.redundant_rows().sum(axis=1).tolist() == [len(case.A) - case.rank]


@pytest.mark.parametrize("seed", range(12))
def test_loops_with_more_rows_than_freedoms_are_solved(dense: Any, mechanism: Any, seed: int) -> None:
    case = dense(mechanism(seed, 6, loops=6, names=("fixed", "revolute", "prismatic", "universal", "ball")))
    assert case.rank < len(case.A)
    wanted = reachable(case)
    assert relative_residual(case, case.impulses(wanted), wanted) <= 1e-10
    assert case.solver.redundant_rows().sum(axis=1).tolist() == [len(case.A) - case.rank]


@pytest.mark.parametrize("name", SINGULAR)
def test_the_redundant_rows_of_a_mechanism_are_those_its_rank_lacks(dense: Any, name: str) -> None:
    build, redundant = SINGULAR[name]
    case = dense(build())
    assert len(case.A) - case.rank == redundant
    wanted = reachable(case)
    assert relative_residual(case, case.impulses(wanted), wanted) <= 1e-10
    assert case.solver.redundant_rows().sum(axis=1).tolist() == [redundant]


@pytest.mark.parametrize("name", SINGULAR)
def test_the_report_says_how_many_rows_are_redundant(name: str) -> None:
    build, redundant = SINGULAR[name]
    sim = rb.Simulation(build(), joints="direct")
    sim.step(10)
    assert sim.report.converged, sim.report.reason
    assert sim.report.redundant_rows == redundant


@pytest.mark.parametrize("name", ["four_bar", "planar_six_bar", "bricard"])
def test_the_redundancy_stays_what_it_is_while_the_mechanism_moves(name: str) -> None:
    build, redundant = SINGULAR[name]
    sim = rb.Simulation(build(), joints="direct", time_step=0.005)
    for _ in range(100):
        sim.step()
        assert sim.report.converged, sim.report.reason
        assert sim.report.redundant_rows == redundant
    assert np.abs(sim.state.velocity).max() > 0.1


def test_the_bricard_mechanism_swings_through_and_keeps_its_energy() -> None:
    """After 1.25 s it hangs straight down, where another row than at the start is the one the others imply."""
    sim = rb.Simulation(bricard(), time_step=0.005, position_tolerance=1e-9, orientation_tolerance=1e-9)
    start = sim.energy().total
    for _ in range(60):
        sim.step(10)
        assert sim.report.converged, sim.report.reason
        assert sim.report.redundant_rows == 1
        assert sim.report.iterations <= 8
        assert sim.energy().total == pytest.approx(start, abs=1e-2)


@pytest.mark.parametrize("name", SINGULAR)
def test_the_iterative_method_counts_no_redundant_rows_and_holds_all_the_same(name: str) -> None:
    sim = rb.Simulation(SINGULAR[name][0](), joints=rb.solvers.joints.Iterative(sweeps=50), max_iterations=500)
    sim.step(10)
    assert sim.report.converged, sim.report.reason
    assert sim.report.redundant_rows == 0


def test_worlds_are_solved_each_for_itself(dense: Any) -> None:
    sim = rb.Simulation(bricard(), worlds=3)
    sim.step(5)
    redundant = sim._step.preview.solver.redundant_rows()
    assert redundant.shape == (3, 6)
    assert redundant.sum(axis=1).tolist() == [1, 1, 1]
    assert (redundant == redundant[0]).all()


def pinned_twice(apart: float) -> rb.Scene:
    """A box on two ball joints: one row of six follows from the others, and the nearer they are, the more nearly do."""
    scene = rb.Scene()
    scene.add_body(rb.Box(0.3, 0.2, 0.4), mass=2.0, position=(0.3, 0.1, -0.2), name="box")
    for at in ((0, 0, 0), (0.6 * apart, 0.0, 0.8 * apart)):
        scene.add_joint(rb.Ball("world", "box", at=at))
    return scene


@pytest.mark.parametrize("apart", [1.0, 0.1, 1e-2, 1e-3])
def test_two_pins_near_each_other_hold_as_two(dense: Any, apart: float) -> None:
    """The smallest pivot is about the square of the distance, so that much of the digits may go."""
    case = dense(pinned_twice(apart))
    wanted = reachable(case)
    impulses = case.impulses(wanted)
    assert case.solver.redundant_rows().tolist() == [[0, 1]] or case.solver.redundant_rows().tolist() == [[1, 0]]
    assert relative_residual(case, impulses, wanted) <= 1e-14 / apart**2


@pytest.mark.parametrize("apart", [1e-6, 1e-8, 0.0])
def test_two_pins_at_one_place_hold_as_one(dense: Any, apart: float) -> None:
    case = dense(pinned_twice(apart))
    wanted = reachable(case)
    impulses = case.impulses(wanted)
    assert sorted(case.solver.redundant_rows()[0].tolist()) == [0, 3]
    assert relative_residual(case, impulses, wanted) <= 1e-10 + 10.0 * apart
    assert np.abs(impulses).max() <= 10.0 * np.abs(wanted).max()
