"""Throws, against the parabola and against SciPy's solver."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import thrown

GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.mark.parametrize("integrator", ["lie_midpoint", "rk4", "rk45"])
def test_without_drag_every_throw_is_a_parabola(integrator):
    scene = thrown(drag=0.0)
    sim = rb.Simulation(scene, time_step=0.01, integrator=integrator)
    recorder = rb.Recorder(sim, quantities=["position", "energy"])
    sim.run(2.0)
    t = recorder.time[:, None, None]
    start = np.array([body.velocity for body in scene.bodies])
    np.testing.assert_allclose(recorder["position"], t * start + 0.5 * t**2 * GRAVITY, rtol=0, atol=1e-12)
    np.testing.assert_allclose(recorder["energy.total"], recorder["energy.total"][0], rtol=1e-13)


def test_with_drag_every_throw_is_the_one_scipy_finds():
    scene = thrown(count=5, speed=20.0, drag=0.02)
    sim = rb.Simulation(scene, time_step=0.01, integrator=rb.integrators.RK45(error=1e-12))
    sim.run(2.0)
    for index, body in enumerate(scene.bodies):
        solution = solve_ivp(
            lambda t, y: [*y[3:], *(GRAVITY - 0.02 * np.linalg.norm(y[3:]) * y[3:])],
            (0.0, 2.0),
            [0, 0, 0, *body.velocity],
            rtol=1e-12,
            atol=1e-12,
        )
        np.testing.assert_allclose(sim.state.position[index], solution.y[:3, -1], rtol=0, atol=1e-9)
        np.testing.assert_allclose(sim.state.velocity[index], solution.y[3:, -1], rtol=0, atol=1e-9)


def test_energy_is_lost_to_drag_and_never_gained():
    sim = rb.Simulation(thrown(), time_step=0.01, integrator="rk4")
    recorder = rb.Recorder(sim)
    sim.run(2.0)
    assert (np.diff(recorder["energy.total"]) < 0.0).all()


def test_the_fan_goes_from_15_to_75_degrees_at_one_speed():
    velocity = np.array([body.velocity for body in thrown(count=4, speed=7.0).bodies])
    np.testing.assert_allclose(np.linalg.norm(velocity, axis=1), 7.0)
    angles = np.degrees(np.arctan2(velocity[:, 2], velocity[:, 0]))
    np.testing.assert_allclose(angles, [15.0, 35.0, 55.0, 75.0])


def test_a_spin_about_a_principal_axis_stays():
    scene = thrown(spin=8.0)
    assert (np.diag(scene["box_2"].inertia)[[0, 2]] < scene["box_2"].inertia[1, 1]).all()
    sim = rb.Simulation(scene, time_step=0.01, integrator=rb.integrators.RK45(error=1e-12))
    sim.run(1.0)
    np.testing.assert_allclose(sim.state.angular_velocity, [(0.0, -8.0, 0.0)] * 8, rtol=0, atol=1e-12)
    turned = Rotation.from_rotvec([0.0, -8.0, 0.0]).as_matrix()
    for q in sim.state.orientation:
        np.testing.assert_allclose(Rotation.from_quat(q).as_matrix(), turned, rtol=0, atol=1e-10)


def test_drag_is_a_force_of_the_scene_only_where_there_is_some():
    assert list(thrown().forces) == ["air"]
    assert not thrown(drag=0.0).forces
