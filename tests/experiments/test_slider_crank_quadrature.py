"""The quadrature behind the slider-crank, against SciPy and against the scene."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.experiments import slider_crank as quadrature
from rattleback.scenes import slider_crank


def free_motion(t, state):
    """Lagrange's equation of the one freedom, with differences for the derivatives of inertia and height."""
    angle, rate = state
    step = 1e-5
    inertia, height = quadrature.inertia_and_height(np.array([angle - step, angle, angle + step]))
    slope, rise = (inertia[2] - inertia[0]) / (2 * step), (height[2] - height[0]) / (2 * step)
    return [rate, -(0.5 * slope * rate**2 + 0.5 * 9.81 * rise) / inertia[1]]


def test_the_angle_by_quadrature_is_that_of_the_equation_of_motion():
    moments = [0.3, 1.0, 2.7, 5.0]
    solved = solve_ivp(free_motion, (0, 5), [0, 6], "DOP853", moments, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose([quadrature.angle_at(t) for t in moments], solved.y[0], rtol=0, atol=1e-6)


def test_the_inertia_and_the_height_are_those_of_the_scene_at_the_start():
    inertia, height = quadrature.inertia_and_height(np.zeros(1))
    sim = rb.Simulation(slider_crank())
    assert 0.5 * inertia[0] * 6.0**2 == pytest.approx(sim.energy().kinetic, rel=1e-12)
    assert height[0] == pytest.approx(sim["rod"].position[2], rel=1e-12)
    assert quadrature.slider(np.zeros(1))[0] == pytest.approx(0.2, abs=1e-15)


def test_the_inertia_is_that_of_a_rigid_rod_with_its_ends_moved_a_little():
    # Positions alone, at two angles close together, give the velocities without any formula for them.
    step, along = 1e-6, np.array([1.0, 0.0, 0.0])

    def frame(angle):
        tip = np.array([0, 0.1, 0.12]) + 0.08 * np.array([0, -np.sin(angle), np.cos(angle)])
        end = quadrature.slider(np.array([angle]))[0] * along
        unit = (end - tip) / 0.3
        across = np.cross(unit, along) / np.linalg.norm(np.cross(unit, along))
        return end, 0.5 * (tip + end), np.stack([unit, across, np.cross(unit, across)], axis=1)

    for angle in (0.4, 2.0, 5.5):
        (end0, mid0, turn0), (end1, mid1, turn1) = frame(angle - step), frame(angle + step)
        spin = rb.rotation.rotation_vector_from_quaternion(rb.rotation.quaternion_from_matrix(turn0.T @ turn1)) / (
            2 * step
        )
        slide, drift = (end1 - end0) / (2 * step), (mid1 - mid0) / (2 * step)
        expected = 1e-4 + 2 * slide @ slide + 0.5 * drift @ drift + spin @ (np.array([4e-4, 4e-3, 4e-3]) * spin)
        assert quadrature.inertia_and_height(np.array([angle]))[0][0] == pytest.approx(expected, rel=1e-6)
