"""Every joint with every method that holds joints by forces: the same motion as with impulses, bits, copies, files."""

import functools
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from contracts.test_joint_contract import KEEPING_POSITIONS, PARTS, bits, pair, simulation
from rattleback.joints import MENU
from rattleback.solvers.joints import FORCES, Baraff, Implicit, Multipliers

pytestmark = pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")

# What each method is with its parameters, and whether its errors end within the tolerances.
METHODS: dict[str, Any] = {
    **{name: kind() for name, kind in FORCES.items()},
    "multipliers, projected": Multipliers(stabilisation="projection"),
    "baraff, projected": Baraff(stabilisation="projection"),
    "baraff, impulses": Baraff(stabilisation="impulses"),
    "baraff, not stabilised": Baraff(stabilisation="none"),
}
VELOCITY_LEVEL: dict[str, Any] = {
    "multipliers": Multipliers(level="velocity"),
    "baraff": Baraff(level="velocity", stabilisation="none"),
    "projected": Baraff(level="velocity", stabilisation="projection"),
}
ORDERS = {"rk4": 4, "lie_midpoint": 2, "taylor2": 2}
ORDERS |= dict.fromkeys(("semi_implicit_euler", "explicit_euler", "implicit_euler"), 1)
# Rows of every kind.
SOME = ["universal", "screw", "gear", "rack", "distance_to_line", "fixed"]
some_joints = pytest.mark.parametrize("name", SOME)
every_joint = pytest.mark.parametrize("name", KEEPING_POSITIONS)
every_method = pytest.mark.parametrize("method", METHODS)


@functools.cache
def start_of(name: str) -> rb.Simulation:
    """A state whose velocities agree with the joints."""
    return simulation(pair(name, True))


def run(name: str, h: float, duration: float, **settings: Any) -> np.ndarray:
    """Where the held pair is after a while, from velocities that agree."""
    sim = rb.Simulation(pair(name, True), time_step=h, warn=False, **settings)
    begun = start_of(name).state
    sim.state.velocity, sim.state.angular_velocity = begun.velocity, begun.angular_velocity
    sim.step(round(duration / h))
    return np.concatenate([sim.state.position, sim.state.velocity, sim.state.angular_velocity], axis=None)


@functools.cache
def reference(name: str) -> np.ndarray:
    """By impulses with short steps, extrapolated to none: the error is of second order."""
    tight = dict.fromkeys(("position_tolerance", "orientation_tolerance", "velocity_tolerance"), 1e-12)
    coarse, fine = (run(name, 0.2 / n, 0.2, joints="direct", max_iterations=100, **tight) for n in (320, 640))
    return (4.0 * fine - coarse) / 3.0


@every_joint
@every_method
def test_the_motion_is_that_by_impulses(name: str, method: str) -> None:
    """Of fourth order with the integrator of fourth order, so that short steps leave what rounding and α leave."""
    off = np.abs(run(name, 0.2 / 80, 0.2, joints=METHODS[method], integrator="rk4") - reference(name)).max()
    assert off <= 2e-6


@every_joint
def test_implicit_steps_by_the_midpoint_tend_to_the_same_at_second_order(name: str) -> None:
    off = [np.abs(run(name, 0.2 / n, 0.2, joints=Implicit(rule="midpoint")) - reference(name)).max() for n in (80, 160)]
    assert off[1] <= 2e-3
    assert np.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.3)


@some_joints
@pytest.mark.parametrize("method", VELOCITY_LEVEL)
def test_held_by_velocities_the_motion_tends_to_the_same(name: str, method: str) -> None:
    coarse, fine = (
        np.abs(run(name, 0.2 / n, 0.2, joints=VELOCITY_LEVEL[method]) - reference(name)).max() for n in (80, 320)
    )
    assert fine <= 0.05
    assert fine <= 0.4 * coarse


@pytest.mark.parametrize("method", FORCES)
@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        ("implicit_euler", 1),
        ("rk4", 4),
        ("lie_midpoint", 2),
        ("taylor2", 2),
        ("semi_implicit_euler", 1),
        ("explicit_euler", 1),
    ],
)
def test_the_order_is_that_of_the_integrator(method: str, integrator: str, order: int) -> None:
    fine = run("revolute", 0.2 / 640, 0.2, joints="multipliers", integrator="rk4")
    errors = [
        np.abs(run("revolute", 0.2 / n, 0.2, joints=FORCES[method](), integrator=integrator) - fine).max()
        for n in (20, 40)
    ]
    if method == "penalty" and order > 2:
        # What α leaves is more than what the integrator does.
        assert errors[1] < errors[0] < 1e-5
    else:
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_an_adaptive_integrator_meets_its_tolerance() -> None:
    fine = run("universal", 0.2 / 640, 0.2, joints="baraff", integrator="rk4")
    adaptive = run("universal", 0.05, 0.2, joints="baraff", integrator=rb.integrators.RK45(error=1e-10))
    assert np.abs(adaptive - fine).max() <= 1e-8


@some_joints
@every_method
def test_a_free_pair_keeps_its_momentum(name: str, method: str, device: str) -> None:
    """Linear momentum to rounding, as Jᵀ λ is equal and opposite; angular momentum to the integrator's error."""
    given = {"joints": METHODS[method], "integrator": "rk4", "time_step": 0.002, "device": device}
    sim = rb.Simulation(pair(name, held=False, gravity=False), **given)
    linear, angular = sim.momentum().linear, sim.momentum().angular
    sim.step(50)
    now = sim.momentum()
    assert np.abs(now.linear - linear).max() <= 1e-11 * np.abs(linear).max()
    assert np.abs(now.angular - angular).max() <= 1e-5 * np.abs(angular).max()


@pytest.mark.parametrize("name", ["universal", "gear"])
@every_method
def test_runs_repeat_bit_for_bit_in_pieces_from_a_copy_and_from_a_file(name: str, method: str, tmp_path) -> None:
    sims = [simulation(pair(name, True), joints=METHODS[method]) for _ in range(2)]
    sims[0].step(20)
    for _ in range(5):
        sims[1].step()
    middle = sims[1].state.copy()
    sims[1].save(tmp_path / "middle.npz")
    sims[1].step(15)
    assert sims[1].hash() == sims[0].hash()
    sims[0].state = middle
    sims[0].step(15)
    loaded = rb.load(tmp_path / "middle.npz")
    assert loaded.methods.joints == METHODS[method]
    loaded.step(15)
    assert loaded.hash() == sims[0].hash() == sims[1].hash()


@some_joints
@every_method
def test_worlds_side_by_side_have_the_bits_they_have_alone(name: str, method: str, device: str) -> None:
    faster = np.array([1.0, 4.0, 0.0])
    batch = simulation(pair(name, True), joints=METHODS[method], device=device, worlds=3)
    start = bits(batch)
    for part in PARTS[2:]:
        setattr(batch.state, part, start[part] * faster[:, None, None])
    batch.step(10)
    for world in range(3):
        alone = rb.Simulation(pair(name, True), joints=METHODS[method], device=device)
        for part in PARTS[2:]:
            setattr(alone.state, part, start[part][world] * faster[world])
        alone.step(10)
        for part, value in bits(alone).items():
            np.testing.assert_array_equal(value, getattr(batch.state, part)[world], part)


@some_joints
@pytest.mark.parametrize("method", ["multipliers, projected", "baraff, projected", "baraff, impulses"])
def test_what_is_stabilised_ends_every_step_within_tolerance(name: str, method: str) -> None:
    sim = simulation(pair(name, True), joints=METHODS[method], time_step=0.005)
    for _ in range(50):
        sim.step()
        assert sim.report.converged, sim.report.reason


@pytest.mark.parametrize(
    "order", [("direct", "baraff"), ("penalty", "direct"), ("multipliers", "baraff")], ids="-".join
)
def test_methods_may_be_swapped_on_a_running_scene(order: tuple[str, str]) -> None:
    sim, other = (simulation(pair("universal", True), joints=method) for method in order)
    sim.step(10)
    other.state = sim.state.copy()
    # A swap makes velocities agree that forces have left off, as it does with velocities that are written.
    other.state.note_written()
    sim.use(joints=order[1])
    for each in (sim, other):
        each.step(10)
    assert sim.hash() == other.hash()


def test_every_joint_of_the_menu_is_in_the_contract() -> None:
    assert {*KEEPING_POSITIONS, "velocity_joint"} == set(MENU)
