"""Friction of joints in reduced coordinates: rest, the angle to a stop, breaking away, chains, agreement with SciPy."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.solvers.joints import IMPULSES, MENU

INERTIA, FRICTION = 2.0, 3.0


def wheel(kind: Any = rb.Revolute, **settings: Any) -> rb.Simulation:
    """A wheel of 2 kg m², or a bead of 2 kg."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=INERTIA, inertia=INERTIA * np.eye(3), name="wheel")
    scene.add_joint(kind(scene.world, "wheel", at=(0, 0, 0), axis=(0, 0, 1), friction=FRICTION), name="joint")
    return rb.Simulation(scene, **{"joints": "reduced", "time_step": 0.01, **settings})


def chain(frictions: tuple[float, ...], **settings: Any) -> rb.Simulation:
    """Rods of 1 m and 1 kg in a plane, level."""
    scene, parent = rb.Scene(gravity=(0, 0, -10.0)), "world"
    for k, friction in enumerate(frictions):
        rod = scene.add_body(mass=1.0, inertia=(0.01, 0.1, 0.1), position=(k + 0.5, 0, 0), name=f"rod_{k}")
        hinge = rb.Revolute(parent, rod, at=(k, 0, 0), axis=(0, 1, 0), friction=friction)
        scene.add_joint(hinge, name=f"hinge_{k}")
        parent = rod.name
    return rb.Simulation(scene, **{"joints": "reduced", "time_step": 0.01, **settings})


@pytest.mark.parametrize("kind", [rb.Revolute, rb.Prismatic])
@pytest.mark.parametrize("speed", [6.0, -6.0, 5.97])
def test_a_wheel_stops_after_j_omega_squared_over_two_f(kind: Any, speed: float) -> None:
    sim = wheel(kind)
    sim["wheel"].angular_velocity = sim["wheel"].velocity = (0, 0, speed)
    if kind is rb.Revolute:
        sim["wheel"].velocity = (0, 0, 0)
    else:
        sim["wheel"].angular_velocity = (0, 0, 0)
    sim.run(5.0)
    gone = sim.joints.position[0]
    assert gone == pytest.approx(np.sign(speed) * INERTIA * speed**2 / (2.0 * FRICTION), abs=1e-4)
    assert abs(sim.joints.velocity[0]) <= 1e-15
    sim.run(1.0)
    assert sim.joints.position[0] == pytest.approx(gone, abs=1e-12)


def test_a_pendulum_within_its_friction_stays_level_to_rounding() -> None:
    sim = chain((5.0 + 1e-6,))
    sim.step(1000)
    assert abs(sim["hinge_0"].angle) <= 1e-12
    assert np.abs(sim.state.velocity).max() <= 1e-13


def test_a_pendulum_beyond_its_friction_falls() -> None:
    """α = (m g r − f) / J at first, J = 0.1 + 0.25."""
    sim = chain((4.0,), time_step=1e-4)
    sim.step(10)
    assert sim["hinge_0"].velocity == pytest.approx((5.0 - 4.0) / 0.35 * 1e-3, rel=1e-5)


def test_a_chain_of_which_each_hinge_holds_stays_and_one_that_does_not_moves_alone() -> None:
    """Hinge k carries (3 − k)²/2 rods' weights at a metre: 45, 20 and 5 N m."""
    sim = chain((45.1, 20.1, 5.1))
    sim.step(200)
    assert np.abs(sim.joints.position).max() <= 1e-11
    sim = chain((60.0, 30.0, 0.5))
    sim.step(20)
    assert sim.report.converged
    assert np.abs(sim.joints.position[:2]).max() <= 1e-11
    assert sim["hinge_2"].angle > 0.1


def test_a_torque_breaks_it_away_and_the_reaction_has_the_friction() -> None:
    sim = wheel()
    sim.joints.torque = [2.9]
    sim.step(50)
    assert sim.joints.velocity[0] == 0.0
    assert sim["joint"].reaction_torque[2] == pytest.approx(-2.9, rel=1e-9)
    sim.joints.torque = [4.0]
    sim.step(50)
    assert sim.joints.velocity[0] == pytest.approx(0.5 * (4.0 - FRICTION) / INERTIA, rel=1e-9)


def test_a_sliding_double_pendulum_moves_as_by_scipy_with_order_two() -> None:
    """Both hinges slide the same way throughout, so that friction is a constant torque against them."""
    frictions, errors = (0.3, 0.1), []
    scene = chain(frictions).scene
    scene.gravity = (0, 0, 0)
    for steps in (40, 80):
        sim = rb.Simulation(scene, joints="reduced", time_step=0.3 / steps, velocity_tolerance=1e-10)
        robot = rb.dynamics.Articulation(sim.scene)
        robot.move_to(sim, [0.0, 0.0], [1.0, 2.0])
        sim.step(steps)

        def law(_t: float, y: np.ndarray, robot: Any = robot) -> np.ndarray:
            return np.concatenate([y[2:], robot.forward(y[:2], y[2:], -np.sign(y[2:]) * frictions)])

        truth = solve_ivp(law, (0, 0.3), [0.0, 0.0, 1.0, 2.0], rtol=1e-10, atol=1e-12).y[:, -1]
        assert (truth[2:] > 0.1).all()
        errors.append(np.abs(sim.joints.position - truth[:2]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_chains_that_stop_and_go_settle_and_lose_energy() -> None:
    """At the end all hinges rest, each with no more than its friction against the weights."""
    frictions = (3.0, 2.0, 1.0, 0.5)
    sim = chain(frictions, time_step=0.005)
    sim.step()
    before = sim.energy().total
    for _ in range(240):
        sim.step(25)
        assert sim.report.converged, sim.report.reason
        now = sim.energy().total
        assert now <= before + 1e-3
        before = now
    assert np.abs(sim.joints.velocity).max() <= 1e-12
    robot = rb.dynamics.Articulation(sim.scene)
    assert (np.abs(robot.gravity_torque(sim.joints.position)) <= np.array(frictions) + 1e-6).all()


def test_friction_beside_damping_comes_to_rest() -> None:
    scene = chain((1.0, 0.5)).scene
    for k in range(2):
        scene.change_joint(f"hinge_{k}", damping=2.0, armature=0.1)
    sim = rb.Simulation(scene, joints="reduced", time_step=0.005)
    sim.run(10.0)
    assert sim.report.converged
    rest = sim.joints.position.copy()
    sim.run(1.0)
    np.testing.assert_allclose(sim.joints.position, rest, atol=1e-12)
    assert (np.abs(rb.dynamics.Articulation(scene).gravity_torque(rest)) <= [1.0 + 1e-6, 0.5 + 1e-6]).all()


def test_friction_goes_into_scene_files_and_back(tmp_path: Any) -> None:
    wheel().scene.save(tmp_path / "wheel.json")
    assert rb.Scene.load(tmp_path / "wheel.json").joints["joint"].friction == FRICTION


def test_what_cannot_hold_friction_is_refused() -> None:
    with pytest.raises(InputError, match="The friction of Revolute is -1.0; it must be zero or more"):
        rb.Revolute("a", "b", friction=-1.0)
    for method in (name for name in MENU if name not in IMPULSES):
        with pytest.raises(InputError, match=f"'joint' has friction; joints='{method}' cannot hold that"):
            wheel(joints=method)
    with pytest.raises(InputError, match="with the friction of joint 'joint' cannot be linearised"):
        wheel().linearize()
