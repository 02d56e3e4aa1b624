"""The spatial slider-crank: closed, moving together, and with the freedoms it should have."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import slider_crank


def test_the_rod_reaches_from_the_crank_to_the_slider():
    scene = slider_crank()
    tip, end = np.array(scene.joints["pin"].at), np.array(scene.joints["cross"].at)
    np.testing.assert_allclose(tip, [0, 0.1, 0.2], atol=1e-15)
    np.testing.assert_allclose(end, [0.2, 0, 0], atol=1e-15)
    assert np.linalg.norm(end - tip) == pytest.approx(0.3)


def test_the_bodies_start_with_the_velocities_of_the_benchmark():
    scene = slider_crank()
    np.testing.assert_allclose(scene["slider"].velocity, [0.24, 0, 0], atol=1e-15)
    np.testing.assert_allclose(scene["rod"].velocity, [0.12, -0.24, 0], atol=1e-15)


def test_the_first_step_corrects_no_velocity():
    sim = rb.Simulation(slider_crank(), time_step=1e-6)
    before = [sim[name].angular_velocity.copy() for name in ("crank", "rod", "slider")]
    sim.step()
    for name, was in zip(("crank", "rod", "slider"), before, strict=True):
        np.testing.assert_allclose(sim[name].angular_velocity, was, rtol=0, atol=1e-3)


def test_it_has_one_freedom_and_no_redundant_condition():
    sim = rb.Simulation(slider_crank(), time_step=0.001)
    sim.step(100)
    assert sim.report.converged
    assert sim.report.redundant_rows == 0
    assert sum(len(joint.rows()) for joint in sim.scene.joints.values()) == 17
