"""Every joint with every joint method: momentum, tolerances, order, the same limit, the same bits."""

import functools
from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.joints import MENU
from rattleback.problem.joint_rows import evaluate_rows
from rattleback.problem.stiffness import weigh
from rattleback.solvers.joints import IMPULSES as METHODS

PARTS = ("position", "orientation", "velocity", "angular_velocity")
CROSSED = ("double_rotation", "universal")
# A velocity joint keeps no position; its contract is its own.
KEEPING_POSITIONS = [name for name in MENU if name != "velocity_joint"]
every_joint = pytest.mark.parametrize("name", KEEPING_POSITIONS)
every_method = pytest.mark.parametrize("method", METHODS)
held_or_free = pytest.mark.parametrize("held", [True, False], ids=["held", "free"])


def joint(name: str, rng: np.random.Generator) -> Any:
    """The joint between the two boxes, at a point between them."""
    axis = rng.standard_normal(3)
    given: dict[str, Any] = {"at": (0.45, 0.1, 0.05), "axis": axis}
    if "distance" in name:
        given["at_b"] = (0.7, 0.25, -0.2)
    if name in CROSSED:
        given["axis_b"] = np.cross(axis, rng.standard_normal(3))
    if name == "screw":
        given["pitch"] = 0.4
    if name in ("gear", "rack"):
        across = np.cross(axis, rng.standard_normal(3))
        across /= np.linalg.norm(across)
        given |= {"at_b": given["at"] + 0.5 * across, "ratio": 1.5} if name == "gear" else {}
        given |= {"axis_b": across, "radius": 0.2} if name == "rack" else {}
    return MENU[name]("first", "second", **given)


def add_bearings(scene: rb.Scene, made: Any) -> None:
    """What holds two wheels, or a rack and its pinion, beside each other; a gear or a rack only couples them."""
    if not isinstance(made, (rb.Gear, rb.Rack)):
        return
    scene.add_joint(rb.Planar("first", "second", at=made.at, axis=made.axis), name="plane")
    if isinstance(made, rb.Gear):
        scene.add_joint(rb.Distance("first", "second", at=made.at, at_b=made.at_b), name="arm")
    else:
        normal = np.cross(made.axis, made.axis_b)
        scene.add_joint(rb.DistanceToPlane("second", "first", at=made.at_b, axis=normal, at_b=made.at), name="guide")


def pair(name: str, held: bool, gravity: bool = True) -> rb.Scene:
    """Two boxes with random velocities and a joint between them; one of them on a ball joint, or both free.

    With gravity there is a push on the second box too.
    """
    rng = np.random.default_rng(sorted(MENU).index(name))
    scene = rb.Scene() if gravity else rb.Scene(gravity=(0, 0, 0))
    for k, label in enumerate(("first", "second")):
        scene.add_body(
            rb.Box(0.8, 0.3, 0.2),
            mass=(2.0, 1.0)[k],
            position=(0.9 * k, 0.1 * k, 0),
            orientation=Rotation.from_rotvec(rng.uniform(-0.5, 0.5, 3)).as_quat(),
            velocity=rng.uniform(-1, 1, 3),
            angular_velocity=rng.uniform(-2, 2, 3),
            name=label,
        )
    add_bearings(scene, scene.add_joint(joint(name, rng), name="between"))
    if held:
        scene.add_joint(rb.Ball("world", "first", at=(-0.4, 0, 0.1)), name="pin")
    if gravity:
        scene.add_force(rb.Wrench("second", force=rng.uniform(-5, 5, 3), torque=rng.uniform(-0.2, 0.2, 3)))
    return scene


def simulation(scene: rb.Scene, **settings: Any) -> rb.Simulation:
    """A simulation whose velocities agree with the joints: v − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ J v, made with NumPy."""
    sim, state = (made := rb.Simulation(scene, **settings)), made.state
    preview = rb.Simulation(scene, **{**settings, "joints": "direct"})._step.preview
    problem = preview.problem
    inertias, everywhere, count = preview.inertias, preview.everywhere, sim.model.count
    wp.launch(weigh, count, inputs=[sim.model.bodies, state.motion, inertias, everywhere], device=sim.device)
    inputs = [problem.joints, problem.definitions, state.motion, state.joints, inertias, problem.rows]
    wp.launch(evaluate_rows, problem.joint_count, inputs=[*inputs, preview.levers, everywhere], device=sim.device)
    jacobian, response = (np.zeros((problem.row_count, count, 6)) for _ in range(2))
    owner = np.repeat(np.arange(problem.joint_count), problem.joints.count.numpy())
    for side, sign in (("a", -1.0), ("b", 1.0)):
        body, lightness = (
            getattr(problem.joints, f"{name}_{side}").numpy()[owner] for name in ("body", "inverse_mass")
        )
        rows, linear = np.flatnonzero(body >= 0), sign * problem.rows.linear.numpy()
        for array, move, turn in ((jacobian, linear, "angular"), (response, lightness[:, None] * linear, "spin")):
            both = np.concatenate([move, getattr(problem.rows, f"{turn}_{side}").numpy()], axis=1)
            array[rows, body[rows]] += both[rows]
    jacobian, response = jacobian.reshape(len(owner), -1), response.reshape(len(owner), -1)
    v = np.concatenate([state.velocity, state.angular_velocity], axis=-1).ravel()
    v = (v - response.T @ np.linalg.solve(jacobian @ response.T, jacobian @ v)).reshape(*state.shape, 6)
    state.velocity, state.angular_velocity = v[..., :3], v[..., 3:]
    return sim


def bits(sim: rb.Simulation) -> dict[str, np.ndarray]:
    return {name: np.array(getattr(sim.state, name)) for name in PARTS}


def run(name: str, method: Any, h: float, duration: float, tolerance: float) -> np.ndarray:
    """Where the held pair is after a while."""
    settings = {f"{kind}_tolerance": tolerance for kind in ("position", "orientation", "velocity")}
    sim = simulation(pair(name, True), time_step=h, joints=method, max_iterations=2000, **settings)
    sim.step(round(duration / h))
    assert sim.report.converged, sim.report.reason
    return np.concatenate([sim.state.position, sim.state.velocity, sim.state.angular_velocity], axis=None)


@every_joint
@every_method
def test_a_free_pair_keeps_its_momentum(name: str, method: str, device: str) -> None:
    """The first step also closes what the random velocities tear open; that keeps momentum too."""
    sim = rb.Simulation(pair(name, held=False, gravity=False), joints=method, device=device)
    linear, angular = sim.momentum().linear, sim.momentum().angular
    for _ in range(50):
        sim.step()
        now = sim.momentum()
        assert np.abs(now.linear - linear).max() <= 1e-12 * np.abs(linear).max()
        assert np.abs(now.angular - angular).max() <= 1e-12 * np.abs(angular).max()
    assert sim.report.converged, sim.report.reason


@every_joint
@every_method
@held_or_free
def test_every_step_ends_within_tolerance(name: str, method: str, held: bool, device: str) -> None:
    """One second. A box slides metres along its line, which then sweeps 0.3 m in 0.01 s past a radius of 0.4 m."""
    steps = 400 if name == "distance_to_line" else 100
    sim = simulation(pair(name, held), joints=method, time_step=1.0 / steps, device=device)
    for _ in range(steps):
        sim.step()
        report = sim.report
        assert report.converged, report.reason
        assert report.position_error <= report.position_tolerance == 1e-6
        assert report.orientation_error <= report.orientation_tolerance == 1e-6
        assert report.velocity_error <= report.velocity_tolerance == 1e-6
        assert report.redundant_rows == 0


@every_joint
@every_method
def test_velocities_that_tear_at_a_joint_are_taken_back_in_the_first_step(name: str, method: str, device: str) -> None:
    sim = rb.Simulation(pair(name, held=True), joints=method, time_step=0.005, device=device)
    sim.step()
    assert sim.report.converged, sim.report.reason


@every_joint
@every_method
def test_bodies_written_apart_come_together_again(name: str, method: str, device: str) -> None:
    """The user moves a box by centimetres between two steps; some steps later all is as it was."""
    sim = rb.Simulation(pair(name, held=True), joints=method, max_iterations=200, time_step=0.005, device=device)
    sim["second"].position = sim["second"].position + np.array([0.03, -0.02, 0.03])
    for _ in range(20):
        sim.step()
        assert sim.report.converged, sim.report.reason


@every_joint
@every_method
def test_a_joint_holds_on_to_a_static_body_that_is_driven(name: str, method: str, device: str) -> None:
    scene, rng = rb.Scene(), np.random.default_rng(3)
    scene.add_static(rb.Box(0.5, 0.5, 0.5), velocity=(0.5, 0.2, 0), angular_velocity=(0, 0.3, 1.0), name="first")
    scene.add_body(rb.Box(0.8, 0.3, 0.2), mass=1.0, position=(0.9, 0.1, 0), name="second")
    add_bearings(scene, scene.add_joint(joint(name, rng)))
    sim = rb.Simulation(scene, joints=method, time_step=0.005, device=device)
    for _ in range(100):
        sim.step()
        assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(sim["first"].velocity, (0.5, 0.2, 0), atol=1e-15)
    np.testing.assert_allclose(sim["first"].position, (0.25, 0.1, 0), atol=1e-12)


@functools.cache
def reference(name: str) -> np.ndarray:
    """The same with short steps, for all methods."""
    return run(name, "direct", 0.4 / 1280, 0.4, 1e-11)


@every_joint
@every_method
def test_halving_the_step_quarters_the_error(name: str, method: str) -> None:
    """Against steps of another method, so that both find the same motion."""
    fine, coarse, half = reference(name), *(run(name, method, 0.4 / n, 0.4, 1e-11) for n in (80, 160))
    order = np.log2(np.abs(coarse - fine).max() / np.abs(half - fine).max())
    assert order == pytest.approx(2.0, abs=0.35)


@every_joint
def test_both_methods_find_the_same_motion(name: str) -> None:
    tolerance = 1e-8
    first, second = (run(name, method, 0.01, 0.3, tolerance) for method in ("direct", "iterative"))
    assert np.abs(first - second).max() <= 100 * tolerance


@every_joint
@every_method
def test_runs_repeat_bit_for_bit_whole_in_pieces_and_from_a_copy(name: str, method: str, device: str) -> None:
    sims = [simulation(pair(name, True), joints=method, device=device, time_step=0.005) for _ in range(2)]
    sims[0].step(64)
    middle = None
    for k in range(64):
        if k == 20:
            middle = sims[1].state.copy()
        sims[1].step()
    end = sims[0].hash()
    assert sims[1].hash() == end
    sims[0].step(5)
    sims[0].state = middle
    sims[0].step(44)
    assert sims[0].hash() == end


@every_joint
@every_method
def test_worlds_side_by_side_have_the_bits_they_have_alone(name: str, method: str, device: str) -> None:
    """Worlds that need different numbers of corrections must not feel each other."""
    faster = np.array([1.0, 4.0, 0.0])
    batch = simulation(pair(name, True), joints=method, device=device, worlds=3)
    start = bits(batch)
    for part in PARTS[2:]:
        setattr(batch.state, part, start[part] * faster[:, None, None])
    batch.step(20)
    assert batch.report.converged, batch.report.reason
    for world in range(3):
        alone = rb.Simulation(pair(name, True), joints=method, device=device)
        for part in PARTS[2:]:
            setattr(alone.state, part, start[part][world] * faster[world])
        alone.step(20)
        for part, value in bits(alone).items():
            np.testing.assert_array_equal(value, getattr(batch.state, part)[world], part)


@every_joint
@pytest.mark.parametrize(
    "order",
    [("direct", "iterative"), ("iterative", "direct"), ("direct", "reduced"), ("reduced", "direct")],
    ids="-".join,
)
def test_methods_may_be_swapped_on_a_running_scene(name: str, order: tuple[str, str], device: str) -> None:
    """After the swap it goes on as a simulation that had the second method from there."""
    sim, other = (simulation(pair(name, True), joints=method, device=device) for method in order)
    sim.step(20)
    other.state = sim.state.copy()
    sim.use(joints=order[1])
    for each in (sim, other):
        each.step(20)
        assert each.report.converged, each.report.reason
    assert sim.hash() == other.hash()


@every_method
def test_an_object_with_parameters_fills_the_slot_too(method: str) -> None:
    sims = [simulation(pair("ball", True), joints=given) for given in (method, METHODS[method]())]
    for sim in sims:
        sim.step(10)
    assert sims[0].hash() == sims[1].hash()
