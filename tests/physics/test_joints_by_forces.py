"""Joints held by forces: what they carry, velocity joints, joints that break, motors, loops, and how errors drift."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.experiments.drift import drift_of, rod, slope
from rattleback.scenes import bricard, four_bar, loops, six_bar
from rattleback.solvers.joints import FORCES, Baraff, Multipliers

pytestmark = pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
every_method = pytest.mark.parametrize("method", FORCES)
GRAVITY = 9.81


def pendulum(**options: Any) -> rb.Scene:
    """A bar of 1 m on a hinge, lying at the start."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=2.0, position=(0.5, 0, 0), name="bar")
    scene.add_joint(rb.Revolute("world", "bar", axis=(0, -1, 0), **options), name="hinge")
    return scene


@every_method
def test_the_reaction_of_a_swinging_bar_is_that_of_the_closed_form(method: str) -> None:
    """Energy gives θ̇² = 2 m g l sin θ / I about the hinge; the hinge holds weight and turning."""
    sim = rb.Simulation(pendulum(), joints=method, integrator="rk4", time_step=1e-3)
    sim.run(0.3)
    m, lever = 2.0, 0.5
    inertia = m * (1.0 + 0.01) / 12.0 + m * lever**2
    fallen = np.arcsin(-sim["bar"].position[2] / lever)
    rate = np.sqrt(2.0 * m * GRAVITY * lever * np.sin(fallen) / inertia)
    change = m * GRAVITY * lever * np.cos(fallen) / inertia
    along, across = (np.array([np.cos(fallen), 0, -np.sin(fallen)]), np.array([-np.sin(fallen), 0, -np.cos(fallen)]))
    acceleration = lever * (change * across - rate**2 * along)
    expected = m * (acceleration + np.array([0, 0, GRAVITY]))
    np.testing.assert_allclose(sim["bar"].angular_velocity, (0, rate, 0), atol=1e-5)
    np.testing.assert_allclose(sim["hinge"].reaction_force, expected, rtol=1e-4, atol=1e-4)


@every_method
def test_a_velocity_joint_leads_and_its_errors_decay(method: str) -> None:
    """C_v(t) = C_v(0) exp(−γ t) with γ = 20/s for all methods, where the rate jumps on the way."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 1, 1), name="cart")
    scene.add_joint(rb.VelocityJoint("world", "cart", linear=(0.5, None, None)), name="lead")
    sim = rb.Simulation(scene, joints=method, integrator="rk4", time_step=1e-3)
    sim.step()
    assert sim["cart"].velocity[0] == pytest.approx(0.5, abs=1e-6)
    sim["lead"].linear = (1.5, None, None)
    sim.run(0.1)
    assert 1.5 - sim["cart"].velocity[0] == pytest.approx(np.exp(-20.0 * 0.1), abs=1e-5)


@every_method
def test_a_joint_breaks_where_its_closed_form_load_says(method: str) -> None:
    """Half the weight at rest; at the lowest point far more."""
    m, lever = 2.0, 0.5
    inertia = m * 1.01 / 12.0 + m * lever**2
    most = m * GRAVITY * (1.0 + 2.0 * m * lever**2 / inertia)
    for limit, whole in ((1.02 * most, True), (0.9 * most, False)):
        sim = rb.Simulation(pendulum(breaking_force=limit), joints=method, integrator="rk4", time_step=1e-3)
        sim.run(1.0)
        assert sim["hinge"].broken != whole
        if not whole:
            before = np.array(sim["bar"].velocity)
            sim.run(0.1)
            np.testing.assert_allclose(sim["bar"].velocity - before, (0, 0, -0.1 * GRAVITY), atol=1e-9)


@every_method
def test_servos_and_dampers_do_what_they_do_with_impulses(method: str) -> None:
    ends = []
    for joints in (method, "direct"):
        scene = pendulum()
        scene.add_force(rb.Servo("hinge", target=0.4, gain=80.0, rate_time=0.2), name="motor")
        scene.add_force(rb.Drag(angular=0.05), name="air")
        sim = rb.Simulation(scene, joints=joints, time_step=1e-3)
        sim.run(0.5)
        ends.append((sim["hinge"].angle, sim["hinge"].velocity))
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-3)


@pytest.mark.parametrize("method", [Multipliers, Baraff])
@pytest.mark.parametrize(
    ("build", "redundant"),
    [(four_bar, 6), (six_bar, 1), (bricard, 1), (loops, 9)],
    ids=["four_bar", "six_bar", "bricard", "loops"],
)
def test_closed_loops_move_as_with_impulses(method: Any, build: Any, redundant: int) -> None:
    tight = {"position_tolerance": 1e-9, "velocity_tolerance": 1e-9, "orientation_tolerance": 1e-9}
    impulses = rb.Simulation(build(), time_step=2.5e-4, max_iterations=100, **tight)
    impulses.run(0.3)
    for stabilisation in ("projection", "baumgarte"):
        given = method(stabilisation=stabilisation)
        sim = rb.Simulation(build(), time_step=2e-3, joints=given, integrator="rk4")
        sim.run(0.3)
        assert sim.report.redundant_rows == redundant
        np.testing.assert_allclose(sim.state.position, impulses.state.position, atol=1e-5)


@pytest.mark.parametrize("method", [Multipliers, Baraff])
def test_the_levels_drift_as_squares_and_lines(method: Any) -> None:
    """The error of the velocity adds up twice, that of the position once."""
    for level, expected in (("acceleration", 2.0), ("velocity", 1.0)):
        given = method(level=level, stabilisation="none")
        assert slope(*drift_of(rod(), 1000, joints=given, time_step=2e-3)) == pytest.approx(expected, abs=0.02)
    for stabilisation in ("projection", "impulses"):
        _times, errors = drift_of(rod(), 1000, joints=method(stabilisation=stabilisation), time_step=2e-3)
        assert errors.max() <= 1e-9


def test_baumgarte_lets_an_error_decay_as_its_equation_says() -> None:
    """C̈ + 2α Ċ + β² C = 0 with α = β: C = C₀ (1 + α t) exp(−α t)."""
    scene, alpha = rb.Scene(gravity=(0, 0, 0)), 8.0
    scene.add_body(mass=1.0, inertia=(1, 1, 1), name="point")
    scene.add_joint(rb.Ball("world", "point"), name="joint")
    sim = rb.Simulation(scene, joints=Baraff(alpha=alpha, beta=alpha), integrator="rk4", time_step=1e-3)
    sim["point"].position = (0.1, 0, 0)
    for _ in range(5):
        sim.run(0.1)
        expected = 0.1 * (1.0 + alpha * sim.time) * np.exp(-alpha * sim.time)
        assert sim["point"].position[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("level", ["acceleration", "velocity"])
def test_projection_moves_bodies_by_their_masses(level: str) -> None:
    """Two points that are pulled apart meet in their centre of mass, which does not move."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for mass, name in ((1.0, "light"), (3.0, "heavy")):
        scene.add_body(mass=mass, inertia=(1, 1, 1), name=name)
    scene.add_joint(rb.Ball("light", "heavy"))
    sim = rb.Simulation(scene, joints=Baraff(level=level, stabilisation="projection"))
    sim["light"].position = (0.4, 0, 0)
    sim.step()
    for name in ("light", "heavy"):
        np.testing.assert_allclose(sim[name].position, (0.1, 0, 0), atol=1e-6)


@every_method
def test_a_force_in_python_is_called_at_every_stage(method: str) -> None:
    """It splits the captured step, and nothing else changes."""
    ends = []
    for force in (rb.PythonForce(lambda _time, bodies: -0.4 * bodies.velocity), rb.Drag(linear=0.4)):
        scene = pendulum()
        scene.add_force(force, name="air")
        sim = rb.Simulation(scene, joints=method, integrator="rk4")
        sim.run(0.3)
        ends.append(np.array(sim["bar"].position))
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


@every_method
def test_a_running_simulation_is_rebuilt_and_stepped_in_parts(method: str) -> None:
    """Two sub-steps have the bits of two steps, and another body may join."""
    whole, parts = (
        rb.Simulation(pendulum(), joints=method, time_step=h, substeps=n) for h, n in ((5e-3, 1), (1e-2, 2))
    )
    whole.step(20)
    parts.step(10)
    for name in ("position", "orientation", "velocity", "angular_velocity"):
        np.testing.assert_array_equal(getattr(parts.state, name), getattr(whole.state, name))
    scene = parts.scene.copy()
    scene.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), name="free")
    parts.rebuild(scene)
    parts.run(0.1)
    assert parts["free"].velocity[2] == pytest.approx(-0.1 * GRAVITY, abs=1e-12)
    assert parts.report.position_error < 1e-3
