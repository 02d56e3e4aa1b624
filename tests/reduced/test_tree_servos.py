"""Servos that trees solve with the step: order, stability at any gain, limits, integral, targets that move, rates."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb

PULL, INERTIA = 2.0 * 9.81, 4.1  # of a kilogram at 2 m, [N m] where it is level and [kg m²]


def rod(servo: dict[str, Any], h: float, back: bool = False, **joint: Any) -> rb.Simulation:
    """A rod on a hinge about y, level at first; gravity drives its angle up."""
    scene = rb.Scene()
    scene.add_body(mass=1.0, inertia=(0.04, 0.1, 0.1), position=(2, 0, 0), name="rod")
    ends = ("rod", scene.world) if back else (scene.world, "rod")
    scene.add_joint(rb.Revolute(*ends, at=(0, 0, 0), axis=(0, 1, 0), **joint), name="hinge")
    scene.add_force(rb.Servo("hinge", **servo), name="servo")
    return rb.Simulation(scene, time_step=h, joints="reduced", velocity_tolerance=1e-10)


@pytest.mark.parametrize(
    ("gain", "rate_time", "limit", "armature"),
    [(50.0, 0.2, math.inf, 0.0), (200.0, 0.0, math.inf, 0.0), (200.0, 0.1, 30.0, 0.0), (100.0, 0.1, math.inf, 3.0)],
)
def test_a_servo_moves_a_rod_as_by_scipy_with_order_two(
    gain: float, rate_time: float, limit: float, armature: float
) -> None:
    def law(_t: float, y: np.ndarray) -> list[float]:
        effort = np.clip(gain * (0.5 - y[0] - rate_time * y[1]), -limit, limit)
        return [y[1], (PULL * np.cos(y[0]) + effort) / (INERTIA + armature)]

    truth = solve_ivp(law, (0, 0.8), [0, 0], rtol=1e-10, atol=1e-12, max_step=2e-3).y[0, -1]
    off = []
    for steps in (80, 160):
        servo = {"target": 0.5, "gain": gain, "rate_time": rate_time, "limit": limit}
        sim = rod(servo, 0.8 / steps, armature=armature)
        sim.step(steps)
        assert sim.report.converged, sim.report.reason
        off.append(abs(sim["hinge"].angle - truth))
    assert off[1] <= 0.3 * off[0]
    assert off[1] <= 1e-3


@pytest.mark.parametrize("gain", [1e5, 1e9])
@pytest.mark.parametrize("rate_time", [0.0, 0.01])
@pytest.mark.parametrize("back", [False, True])
def test_a_servo_of_any_gain_comes_to_rest_where_it_carries_the_weight(
    gain: float, rate_time: float, back: bool
) -> None:
    """At K (target − θ) = −m g r cos θ, at a sixtieth of a second."""
    sim = rod({"target": 0.5, "gain": gain, "rate_time": rate_time}, 1.0 / 60.0, back=back)
    sim.run(3.0)
    assert sim.report.converged, sim.report.reason
    angle = sim["hinge"].angle
    weight = (-1.0 if back else 1.0) * PULL * np.cos(angle)
    assert gain * (0.5 - angle) == pytest.approx(-weight, rel=1e-4)
    assert sim.servo("servo").effort == pytest.approx(-weight, rel=1e-5)
    assert abs(sim["hinge"].velocity) <= 1e-6


def test_the_limit_of_an_effort_is_exact() -> None:
    """Out of reach, the rod moves under its weight and the limit alone; the servo says what it does."""
    sim = rod({"target": -3.0, "gain": 1e7, "rate_time": 0.1, "limit": 10.0}, 1e-3)
    sim.step(200)

    def law(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], (PULL * np.cos(y[0]) - 10.0) / INERTIA]

    truth = solve_ivp(law, (0, 0.2), [0, 0], rtol=1e-10, atol=1e-12).y[0, -1]
    assert sim.servo("servo").effort == -10.0
    assert sim["hinge"].angle == pytest.approx(truth, abs=1e-8)


def test_the_integral_part_removes_what_weight_leaves() -> None:
    sim = rod({"target": 0.5, "gain": 100.0, "rate_time": 0.5, "reset_time": 0.5}, 0.01)
    sim.run(15.0)
    assert sim["hinge"].angle == pytest.approx(0.5, abs=1e-5)


def test_a_target_that_moves_is_followed_without_a_lag() -> None:
    """The rate part sees the rate of the target, so that a ramp is met but for the weight and the acceleration."""
    ramp = rb.Schedule((0.0, 2.0), (0.0, 2.0))
    sim = rod({"target": ramp, "gain": 1e6, "rate_time": 0.2}, 0.01)
    sim.run(1.5)
    assert sim["hinge"].angle == pytest.approx(1.5, abs=1e-4)
    assert sim["hinge"].velocity == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("gain", "rate_time"), [(1e6, 0.0), (1e6, 0.1), (20.0, 0.0)])
def test_a_servo_of_a_rate_settles_where_it_balances_the_weight(gain: float, rate_time: float) -> None:
    """A wheel under a constant torque: ω = target + τ/K."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=2.0 * np.eye(3), name="wheel")
    scene.add_joint(rb.Revolute(scene.world, "wheel", at=(0, 0, 0), axis=(0, 0, 1)), name="hinge")
    servo = rb.Servo("hinge", target=1.0, gain=gain, rate_time=rate_time, control="velocity")
    scene.add_force(servo, name="servo")
    sim = rb.Simulation(scene, time_step=0.01, joints="reduced")
    sim["wheel"].applied_torque = (0, 0, 4.0)
    sim.run(4.0)
    assert sim["hinge"].velocity == pytest.approx(1.0 + 4.0 / gain, rel=1e-6)


def test_servos_of_a_chain_hold_it_level_at_any_gain() -> None:
    """Five rods that bend by (weight beyond)/gain at each hinge, as in statics."""
    scene, parent = rb.Scene(gravity=(0, 0, -10.0)), "world"
    for k in range(5):
        body = scene.add_body(mass=1.0, inertia=(0.01, 0.1, 0.1), position=(k + 0.5, 0, 0), name=f"rod_{k}")
        scene.add_joint(rb.Revolute(parent, body, at=(k, 0, 0), axis=(0, 1, 0), armature=0.1), name=f"hinge_{k}")
        scene.add_force(rb.Servo(f"hinge_{k}", gain=1e7, rate_time=0.01))
        parent = body.name
    sim = rb.Simulation(scene, time_step=1.0 / 60.0, joints="reduced")
    sim.run(2.0)
    assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(sim.joints.position, [5.0 * (5 - k) ** 2 / 1e7 for k in range(5)], rtol=1e-3)


def test_a_servo_beside_friction_stays_where_friction_holds() -> None:
    """The servo asks for 5 N m more than the weight takes: less than friction."""
    sim = rod({"target": 0.0, "gain": 1.0}, 0.01, friction=25.0)
    sim.run(1.0)
    assert abs(sim["hinge"].angle) <= 1e-12
    sim = rod({"target": -1.0, "gain": 100.0, "rate_time": 0.1}, 0.01, friction=25.0)
    sim.run(5.0)
    assert sim["hinge"].angle < -0.4
    assert abs(sim["hinge"].velocity) <= 1e-12


def test_a_second_servo_of_a_freedom_acts_as_with_other_methods() -> None:
    sim = rod({"target": 0.0, "gain": 100.0, "rate_time": 0.2}, 1e-3)
    sim.scene.add_force(rb.Servo("hinge", target=1.0, gain=100.0, rate_time=0.2), name="other")
    sim = rb.Simulation(sim.scene, time_step=1e-3, joints="reduced")
    sim.run(5.0)
    angle = sim["hinge"].angle
    assert 200.0 * (0.5 - angle) == pytest.approx(-PULL * np.cos(angle), rel=1e-4)


def test_a_servo_goes_on_with_another_method_and_back() -> None:
    sim = rod({"target": 0.3, "gain": 200.0, "rate_time": 0.3, "reset_time": 1.0}, 1e-3)
    stays = rod({"target": 0.3, "gain": 200.0, "rate_time": 0.3, "reset_time": 1.0}, 1e-3)
    for method in ("direct", "reduced", "direct"):
        sim.run(0.3)
        stays.run(0.3)
        sim.use(joints=method)
    assert sim["hinge"].angle == pytest.approx(stays["hinge"].angle, abs=2e-4)


def test_worlds_and_calls_have_the_same_bits() -> None:
    alone = rod({"target": 0.3, "gain": 1e4, "reset_time": 1.0, "limit": 60.0}, 0.01)
    batch = rb.Simulation(alone.scene, time_step=0.01, joints="reduced", worlds=2, velocity_tolerance=1e-10)
    alone.step(60)
    for _ in range(60):
        batch.step()
    np.testing.assert_array_equal(batch.joints.position, np.tile(alone.joints.position, (2, 1)))
