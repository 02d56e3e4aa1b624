"""Velocity joints: bodies led at given rates, what they leave free, and what they take from the body they push off."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import rattleback as rb

METHODS = ["direct", "iterative"]
GRAVITY = 9.81


def scene_of(*bodies: dict[str, Any], gravity: bool = False) -> rb.Scene:
    scene = rb.Scene(gravity=(0, 0, -GRAVITY if gravity else 0.0))
    for options in bodies:
        scene.add_body(rb.Box(0.4, 0.3, 0.2), **options)
    return scene


def run(scene: rb.Scene, duration: float, joints: str = "direct", **settings: Any) -> rb.Simulation:
    """A strict simulation: every step meets its tolerances."""
    sim = rb.Simulation(scene, **{"time_step": 0.01, "joints": joints, "strict": True, **settings})
    sim.run(duration)
    return sim


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_body_led_along_one_axis_falls_and_drifts_along_the_others_as_if_free(method: str, axis: int) -> None:
    """It starts with other velocities: what does not fit is taken away at once, the rest is a throw."""
    linear: list[Any] = [None, None, None]
    linear[axis] = 0.5
    start, velocity = np.array([0.0, 0.0, 1.0]), np.array([0.7, 0.3, -0.2])
    scene = scene_of({"mass": 2.0, "position": start, "velocity": velocity, "name": "box"}, gravity=True)
    scene.add_joint(rb.VelocityJoint("world", "box", at=start, linear=linear), name="lead")
    sim = run(scene, 1.0, method)
    falls = np.array([0.0, 0.0, -GRAVITY])
    falls[axis], velocity[axis] = 0.0, 0.5
    np.testing.assert_allclose(sim["box"].velocity, velocity + falls, rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["box"].position, start + velocity + 0.5 * falls, rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["box"].angular_velocity, 0.0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_body_led_at_its_centre_tumbles_as_if_free(method: str) -> None:
    """Euler's equations, integrated by SciPy in the axes of the body."""
    spin = np.array([3.0, 0.5, 2.0])
    scene = scene_of({"mass": 2.0, "angular_velocity": spin, "name": "box"})
    scene.add_joint(rb.VelocityJoint("world", "box", linear=(0.5, -0.2, 0.1)))
    sim = run(scene, 1.0, method, time_step=0.001)
    moments = 2.0 / 12.0 * np.array([0.3**2 + 0.2**2, 0.4**2 + 0.2**2, 0.4**2 + 0.3**2])

    def change(_: float, y: np.ndarray) -> np.ndarray:
        turn, rate = Rotation.from_quat(y[:4]), y[4:]
        quarter = (turn * Rotation.from_quat([*rate, 0.0])).as_quat() if rate.any() else np.zeros(4)
        scale = 0.5 * np.linalg.norm(rate)
        sign = np.sign(quarter @ _product(y[:4], rate)) or 1.0
        return np.concatenate([sign * scale * quarter, np.cross(moments * rate, rate) / moments])

    found = solve_ivp(change, (0.0, 1.0), [0, 0, 0, 1, *spin], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    turn = Rotation.from_quat(found[:4])
    np.testing.assert_allclose(sim["box"].angular_velocity, turn.apply(found[4:]), rtol=0, atol=1e-5)
    assert (turn.inv() * Rotation.from_quat(sim["box"].orientation.copy())).magnitude() <= 1e-5
    np.testing.assert_allclose(sim["box"].position, (0.5, -0.2, 0.1), rtol=0, atol=1e-9)


def _product(q: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """q times the pure quaternion of a rate."""
    return np.array([*(q[3] * rate + np.cross(q[:3], rate)), -q[:3] @ rate])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (1, 2, -2)])
def test_a_body_turned_about_an_axis_at_a_rate_turns_by_rate_times_time(method: str, axis: Any) -> None:
    scene = scene_of({"mass": 2.0, "velocity": (0.1, 0.2, 0.3), "name": "box"})
    scene.add_joint(rb.VelocityJoint("world", "box", axis=axis, angular=(0, 0, 1.5)))
    sim = run(scene, 1.0, method)
    expected = Rotation.from_rotvec(1.5 * np.array(axis) / np.linalg.norm(axis))
    found = Rotation.from_quat(sim["box"].orientation.copy())
    # About an axis that is not a principal one the turn of a step is of second order: 0.3 h² in a second.
    assert (expected.inv() * found).magnitude() <= 3e-5
    np.testing.assert_allclose(sim["box"].position, (0.1, 0.2, 0.3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_sphere_held_back_about_one_axis_keeps_its_spin_about_the_others(method: str) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.2), mass=1.0, angular_velocity=(1.0, 2.0, 3.0), name="ball")
    scene.add_joint(rb.VelocityJoint("world", "ball", angular=(None, None, 0.0)))
    sim = run(scene, 1.0, method)
    np.testing.assert_allclose(sim["ball"].angular_velocity, (1.0, 2.0, 0.0), rtol=0, atol=1e-9)


FORCE, TORQUE = np.array([4.0, -3.0, 7.0]), np.array([0.0, 0.0, -0.25])


def pushed(method: str) -> rb.Simulation:
    """A box led along x and about z while a force and a torque push it."""
    scene = scene_of({"mass": 2.0, "velocity": (0.5, 0, 0), "angular_velocity": (0, 0, 1.0), "name": "box"})
    scene.add_joint(rb.VelocityJoint("world", "box", linear=(0.5, 0, 0), angular=(0, 0, 1.0)), name="lead")
    scene.add_force(rb.Wrench("box", force=FORCE, torque=TORQUE))
    return run(scene, 1.0, method)


@pytest.mark.parametrize("method", METHODS)
def test_a_led_body_keeps_its_velocities_against_forces_and_the_joint_says_what_that_takes(method: str) -> None:
    sim = pushed(method)
    np.testing.assert_allclose(sim["box"].velocity, (0.5, 0, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["box"].angular_velocity, (0, 0, 1.0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["lead"].reaction_force, -FORCE, rtol=0, atol=1e-3)
    np.testing.assert_allclose(sim["lead"].reaction_torque, -TORQUE, rtol=0, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_led_body_is_where_its_rates_take_it_whatever_pushes_it(method: str) -> None:
    sim = pushed(method)
    np.testing.assert_allclose(sim["box"].position, (0.5, 0, 0), rtol=0, atol=1e-5)
    turned = Rotation.from_quat(sim["box"].orientation.copy()).as_rotvec()
    np.testing.assert_allclose(turned, (0, 0, 1.0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_free_pair_shares_a_rate_by_its_masses(method: str) -> None:
    """B moves away from A at 0.5 m/s along the line of centres: v_A = −m_B u / m, v_B = m_A u / m."""
    scene = scene_of({"mass": 2.0, "name": "a"}, {"mass": 3.0, "position": (1, 0, 0), "name": "b"})
    scene.add_joint(rb.VelocityJoint("a", "b", at=(0, 0, 0), linear=(0.5, None, None)))
    sim = run(scene, 1.0, method)
    np.testing.assert_allclose(sim.state.velocity, [(-0.3, 0, 0), (0.2, 0, 0)], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sim.state.position, [(-0.3, 0, 0), (1.2, 0, 0)], rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rates",
    [
        {"linear": (0.5, None, None)},
        {"linear": (0.1, 0.2, -0.3)},
        {"angular": (None, 2.0, None)},
        {"linear": (None, 0.4, None), "angular": (0.0, 0.0, 1.0)},
    ],
    ids=str,
)
def test_a_free_pair_keeps_its_momentum(rates: dict[str, Any], method: str) -> None:
    """Linear and angular, about the origin: the joint gives one body at a point what it takes from the other there."""
    scene = scene_of(
        {"mass": 2.0, "velocity": (0.1, -0.2, 0.3), "angular_velocity": (0.3, 0.2, 0.1), "name": "a"},
        {"mass": 3.0, "position": (1, 0.2, 0.1), "velocity": (0, 0.4, 0), "name": "b"},
    )
    scene.add_joint(rb.VelocityJoint("a", "b", at=(0.4, 0.1, 0), axis=(1, 1, 2), **rates))
    sim = rb.Simulation(scene, time_step=0.01, joints=method, strict=True)
    before = sim.momentum()
    sim.run(1.0)
    np.testing.assert_allclose(sim.momentum().linear, before.linear, rtol=0, atol=1e-13)
    np.testing.assert_allclose(sim.momentum().angular, before.angular, rtol=0, atol=1e-12)


def spiral(h: float, method: str) -> np.ndarray:
    """Path of a box that is led outwards on a disc that is itself turned at 1 rad/s."""
    scene = scene_of({"mass": 1.0, "name": "disc"}, {"mass": 1.0, "position": (1, 0, 0), "name": "box"})
    scene.add_joint(rb.Revolute("world", "disc", axis=(0, 0, 1)))
    scene.add_joint(rb.VelocityJoint("world", "disc", angular=(None, None, 1.0)))
    scene.add_joint(rb.VelocityJoint("disc", "box", at=(1, 0, 0), linear=(0.2, 0, 0), angular=(0, 0, 0)))
    tight = {"position_tolerance": 1e-9, "orientation_tolerance": 1e-9, "velocity_tolerance": 1e-9}
    sim = run(scene, 2.0, method, time_step=h, max_iterations=5000, **tight)
    assert sim["box"].angular_velocity[2] == pytest.approx(1.0, abs=1e-8)
    return sim["box"].position.copy()


@pytest.mark.parametrize("method", METHODS)
def test_a_body_led_on_one_that_turns_goes_along_a_spiral(method: str) -> None:
    """x = (1 + 0.2 t) (cos t, sin t); nothing brings it back to that line, so the error is that of the steps."""
    exact = 1.4 * np.array([np.cos(2.0), np.sin(2.0), 0.0])
    errors = [np.linalg.norm(spiral(h, method) - exact) for h in (0.02, 0.01, 0.005)]
    assert errors[-1] <= 0.02
    ratios = np.divide(errors[:-1], errors[1:])
    assert ((ratios > 1.7) & (ratios < 4.5)).all(), errors


def trailing(count: int, method: str, h: float) -> rb.Simulation:
    """A chain that hangs from a handle, which is led along x at 0.8 m/s and upwards at 0.3 m/s."""
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=0.5, name="handle")
    scene.add_joint(rb.VelocityJoint("world", "handle", linear=(0.8, 0.0, 0.3), angular=(0, 0, 0)), name="hand")
    above = "handle"
    for k in range(count):
        link = scene.add_body(rb.Box(0.1, 0.1, 0.5), mass=0.3, position=(0, 0, -0.5 * k - 0.25), name=f"link_{k}")
        scene.add_joint(rb.Ball(above, link, at=(0, 0, -0.5 * k)), name=f"joint_{k}")
        above = link.name
    return rb.Simulation(scene, time_step=h, joints=method, strict=True, max_iterations=500)


@pytest.mark.parametrize("method", METHODS)
def test_a_chain_follows_the_handle_it_hangs_from(method: str) -> None:
    sim = trailing(6, method, 0.01)
    for _ in range(300):
        sim.step()
        assert sim.report.position_error <= 1e-6
    np.testing.assert_allclose(sim["handle"].velocity, (0.8, 0.0, 0.3), rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["handle"].position[:2], (2.4, 0.0), rtol=0, atol=0.01)
    turns, middles = Rotation.from_quat(sim.state.orientation.copy()), sim.state.position.copy()
    tops, ends = (turns.apply([0, 0, side])[1:] + middles[1:] for side in (0.25, -0.25))
    np.testing.assert_allclose(tops, [sim["handle"].position, *ends[:-1]], rtol=0, atol=2e-6)
    assert 2.4 - 3.0 <= ends[-1][0] <= 2.4 + 3.0
    assert np.abs(middles[:, 1]).max() <= 1e-9


def test_a_handle_that_carries_a_chain_is_where_its_rates_take_it() -> None:
    sim = trailing(6, "direct", 0.01)
    sim.run(3.0)
    np.testing.assert_allclose(sim["handle"].position, (2.4, 0.0, 0.9), rtol=0, atol=1e-5)


def test_the_work_of_the_hand_is_the_energy_the_chain_gains() -> None:
    """ΔE = ∫ F · dx, with the force and the way of every step."""
    sim = trailing(3, "direct", 0.001)
    sim.step()
    start, work, at = sim.energy().total, 0.0, sim["handle"].position.copy()
    for _ in range(1000):
        sim.step()
        before, at = at, sim["handle"].position.copy()
        work += float(sim["hand"].reaction_force @ (at - before))
    assert sim.energy().total - start == pytest.approx(work, rel=1e-3)


def test_a_led_body_that_starts_at_rest_is_taken_along_at_once() -> None:
    """A blow at an anchor off the centre: J = m u / (1 + m r² / I), and the spin r J / I it leaves."""
    scene = scene_of({"mass": 2.0, "name": "box"})
    scene.add_joint(rb.VelocityJoint("world", "box", at=(0, 0.1, 0), linear=(0.5, None, None)))
    sim = run(scene, 1e-6, time_step=1e-6)
    moment = 2.0 / 12.0 * (0.4**2 + 0.3**2)
    blow = 0.5 / (1.0 / 2.0 + 0.1**2 / moment)
    np.testing.assert_allclose(sim["box"].velocity, (blow / 2.0, 0, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(sim["box"].angular_velocity, (0, 0, -0.1 * blow / moment), rtol=0, atol=1e-5)


def test_rates_that_contradict_a_joint_are_reported_by_name() -> None:
    scene = scene_of({"mass": 1.0, "name": "box"})
    scene.add_joint(rb.Ball("world", "box"), name="pivot")
    scene.add_joint(rb.VelocityJoint("world", "box", linear=(0.5, None, None)), name="lead")
    sim = rb.Simulation(scene)
    with pytest.warns(rb.NotConvergedWarning, match="Joint '(pivot|lead)' is off by"):
        sim.step()
    assert not sim.report.converged
