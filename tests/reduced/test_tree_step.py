"""Trees in their own coordinates: motion, energy, momentum, stiffness, loads that depend on the motion, reactions."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.scenes import chain as scenes_chain
from rattleback.scenes.trees import tree

PERIOD = 2.36784194757624  # of a point mass at 1 m that starts level


def pendulum(**settings: Any) -> rb.Simulation:
    scene = rb.Scene()
    bob = scene.add_body(mass=1.0, inertia=1e-12 * np.eye(3), position=(1, 0, 0), name="bob")
    scene.add_joint(rb.Revolute(scene.world, bob, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return rb.Simulation(scene, joints="reduced", contacts="none", **settings)


def chain(count: int, **settings: Any) -> rb.Simulation:
    """Rods on hinges about x and y by turns, which start bent and turning."""
    scene, parent, at = rb.Scene(), "world", np.zeros(3)
    for k in range(count):
        along = np.array((np.sin(0.3 * k), 0.2, -1.0))
        body = scene.add_body(rb.Box(0.1, 0.1, 0.8), mass=1.0, position=at + 0.5 * along, name=f"rod_{k}")
        scene.add_joint(rb.Revolute(parent, body, at=at, axis=((0, 1, 0), (1, 0, 0))[k % 2]), name=f"hinge_{k}")
        parent, at = body.name, at + along
    settings = {"joints": "reduced", "contacts": "none", **settings}
    sim = rb.Simulation(scene, **settings)
    sim["rod_0"].angular_velocity = (0, 2.0, 0)
    return sim


def test_a_pendulum_has_its_period() -> None:
    """From rest level it is level again, at rest, after a period."""
    steps = 2000
    sim = pendulum(time_step=PERIOD / steps)
    sim.step(steps)
    assert sim["bob"].position == pytest.approx((1, 0, 0), abs=1e-4)
    assert np.abs(sim["bob"].velocity).max() <= 2e-5
    sim.time_step = PERIOD / (2 * steps)
    sim.step(2 * steps)
    assert sim["hinge"].angle == pytest.approx(0.0, abs=1e-4)


def test_the_error_of_a_period_falls_with_the_square_of_the_step() -> None:
    found = []
    for steps in (400, 800):
        sim = pendulum(time_step=PERIOD / steps, velocity_tolerance=1e-11)
        sim.step(steps)
        found.append(np.abs(sim["bob"].velocity).max())
    assert np.log2(found[0] / found[1]) == pytest.approx(2.0, abs=0.1)


def test_joint_errors_are_rounding_and_the_report_says_so() -> None:
    sim = chain(6, time_step=0.01)
    sim.step(300)
    report = sim.report
    assert report.converged
    assert report.position_error == report.orientation_error == report.velocity_error == 0.0
    tips = np.array([sim[f"rod_{k}"].position for k in range(6)])
    joint = rb.Simulation(sim.scene, contacts="none", position_tolerance=1e-12)
    joint.state = sim.state.copy()
    joint.step(1)
    assert np.abs(np.linalg.norm(np.diff(tips, axis=0), axis=1)).min() > 0.5
    assert joint.report.position_error <= 1e-12


def test_energy_of_a_chain_is_kept_far_better_than_by_the_method_of_rows() -> None:
    off = {}
    for method in ("reduced", "direct"):
        sim = chain(5, time_step=0.005, joints=method)
        sim.step()
        start = sim.energy().total
        sim.step(400)
        off[method] = abs(sim.energy().total - start)
    assert off["reduced"] <= 0.4 * off["direct"]


@pytest.mark.parametrize(
    ("depth", "hanging", "part"), [(5, False, 0.05), (8, False, 0.01), (8, True, 0.05), (6, True, 0.5)]
)
def test_trees_are_stable_at_a_thirtieth_of_a_second(depth: int, hanging: bool, part: float) -> None:
    """Bars whose loads make them stiff beside the step; the twist at the top has turned them for one step."""
    sim = rb.Simulation(tree(depth, hanging), time_step=1.0 / 30.0, joints="reduced", contacts="none")
    sim.step()
    start = sim.energy()
    sim.step(150)
    assert sim.report.converged, sim.report.reason
    assert sim.report.iterations > 4
    assert abs(sim.energy().total - start.total) <= part * start.kinetic


def test_a_step_that_does_not_settle_says_so() -> None:
    sim = chain(3, time_step=0.5, joints=rb.solvers.joints.Reduced(max_rounds=2), warn=False)
    sim["rod_2"].angular_velocity = (200, 1000, 300)
    sim.step()
    assert "The trees of joints up to body 'rod_2' did not settle" in sim.report.reason


@pytest.mark.parametrize("stiffness", [10.0, 1000.0])
def test_springs_see_the_middle_of_the_step(stiffness: float) -> None:
    """A bead on a rail with a spring: cos ωt, with an error that falls with the square of the step."""
    omega, found = np.sqrt(stiffness), []
    for h in (0.02 / omega, 0.01 / omega):
        scene = rb.Scene(gravity=(0, 0, 0))
        bead = scene.add_body(mass=1.0, inertia=np.eye(3), position=(1, 0, 0), name="bead")
        scene.add_joint(rb.Prismatic(scene.world, bead, at=(0, 0, 0), axis=(1, 0, 0)))
        ends = {"at": (0, 0, 0), "at_b": (1, 0, 0)}
        scene.add_force(rb.Spring(scene.world, bead, **ends, stiffness=stiffness, length=0.0))
        sim = rb.Simulation(scene, joints="reduced", contacts="none", time_step=h, velocity_tolerance=1e-10)
        start = sim.energy().total
        sim.step(round(2.0 / omega / h))
        assert sim.energy().total == pytest.approx(start, rel=1e-6)
        found.append(abs(sim["bead"].position[0] - np.cos(omega * sim.time)))
    assert np.log2(found[0] / found[1]) == pytest.approx(2.0, abs=0.2)


def test_written_velocities_become_the_nearest_that_fit() -> None:
    """Those of the method of rows, which finds them in another way."""
    found = []
    for method in ("reduced", "direct"):
        sim = chain(4, time_step=1e-6, joints=method, velocity_tolerance=1e-10)
        sim.state.velocity = np.random.default_rng(4).standard_normal((4, 3))
        sim.step()
        found.append(np.array(sim.state.velocity))
    np.testing.assert_allclose(*found, atol=1e-4)


def test_a_hinge_carries_the_weight_of_what_hangs_from_it() -> None:
    scene = rb.Scene()
    bob = scene.add_body(mass=2.0, inertia=np.eye(3), position=(0, 0, -1), name="bob")
    scene.add_joint(rb.Revolute(scene.world, bob, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    sim = rb.Simulation(scene, joints="reduced", contacts="none")
    assert sim["hinge"].reaction_force == pytest.approx((0, 0, 0))
    sim.step(3)
    assert sim["hinge"].reaction_force == pytest.approx((0, 0, 2.0 * 9.81))
    assert sim["hinge"].reaction_torque == pytest.approx((0, 0, 0), abs=1e-12)


def test_a_broken_joint_of_a_tree_lets_go_and_a_mended_one_holds_again() -> None:
    sim = chain(3, time_step=0.01)
    sim.step(5)
    sim["hinge_1"].broken = True
    before = np.array(sim["rod_1"].velocity)
    sim.step()
    assert sim["rod_1"].velocity == pytest.approx(before - np.array((0, 0, 0.0981)), abs=0.2)
    sim.step(20)
    assert np.linalg.norm(sim["rod_1"].position - sim["rod_0"].position) > 1.05
    other = chain(3, time_step=0.01, joints="direct")
    other.state = sim.state.copy()
    other.step()
    sim.step()
    np.testing.assert_allclose(sim.state.position, other.state.position, atol=1e-3)


def test_the_method_refuses_to_be_one_among_others() -> None:
    sim = chain(2)
    with pytest.raises(InputError, match="takes no members="):
        sim.use(joints=rb.joints_by_chain({"rod_0": "reduced"}))
    with pytest.raises(InputError, match='choose it for all joints, joints="reduced"'):
        rb.solvers.joints.Reduced().prepare(sim._step.preview.problem)
    with pytest.raises(InputError, match="max_rounds"):
        rb.solvers.joints.Reduced(max_rounds=1)


@pytest.mark.parametrize("damping", [1.0, 10.0, 1e3, 1e4])
def test_a_damped_hinge_is_of_second_order_however_strong_the_damper(damping: float) -> None:
    """J q̈ = 2 m g cos q − c q̇ − k q with J = 4.1 kg m², against SciPy; with 1e4 N m s, h c is 24 times 2 J."""

    def law(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], (2.0 * 9.81 * np.cos(y[0]) - damping * y[1] - 3.0 * y[0]) / 4.1]

    truth = solve_ivp(law, (0, 0.8), [0, 0], method="Radau", rtol=1e-11, atol=1e-13).y[0, -1]
    off = []
    for steps in (40, 80):
        scene = rb.Scene()
        scene.add_body(mass=1.0, inertia=(0.04, 0.1, 0.1), position=(2, 0, 0), name="rod")
        scene.add_joint(rb.Revolute(scene.world, "rod", at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
        scene.add_force(rb.TorsionSpring("hinge", stiffness=3.0, damping=damping))
        sim = rb.Simulation(scene, time_step=0.8 / steps, joints="reduced", strict=True, velocity_tolerance=1e-9)
        sim.step(steps)
        off.append(abs(sim["hinge"].angle - truth))
    assert off[1] <= 0.3 * off[0]
    assert off[0] <= 2e-4


def test_a_long_chain_of_ball_joints_settles_as_fast_as_a_short_one() -> None:
    """Fifty slender rods that start with velocities of their own; rounding must not grow from link to link."""
    sim = rb.Simulation(scenes_chain(50), time_step=1e-3, joints="reduced", contacts="none")
    sim.step()
    before = sim.energy()
    sim.step(20)
    assert sim.report.iterations <= 8
    assert sim.energy().total == pytest.approx(before.total, abs=5e-3 * before.kinetic)
