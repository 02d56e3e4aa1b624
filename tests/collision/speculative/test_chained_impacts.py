"""Chained impacts: a column that falls as one and lands has contacts up to its top in time."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
STEP, COUNT, SIDE = 1e-3, 8, 1.0


def landing(shape, gap, speed, **settings):
    """Bodies above each other, so far apart, that all fall alike, the lowest one 5 mm above the ground [m, m/s]."""
    scene, material = rb.Scene(), rb.Material(restitution=0.9, friction=0.0)
    scene.add_static(rb.Plane(), material=material)
    for k in range(COUNT):
        place = {"position": (0, 0, 0.5 * SIDE + 0.005 + k * (SIDE + gap)), "velocity": (0, 0, -speed)}
        scene.add_body(shape, mass=1.0, material=material, name=f"body {k}", **place)
    return rb.Simulation(scene, time_step=STEP, contact_distance=1e-3, warn=False, **settings)


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("shape", [rb.Box(SIDE, SIDE, SIDE), rb.Sphere(0.5 * SIDE)], ids=["cubes", "balls"])
@pytest.mark.parametrize("method", ["impulse", "time_stepping"])
@pytest.mark.parametrize(("gap", "speed"), [(0.002, 4.0), (0.002, 16.0), (0.004, 8.0)])
def test_a_column_that_lands_does_not_run_into_itself(gap, speed, method, shape, every):
    """The blow goes up the whole column at once: each is thrown up by twice its speed, 8 to 32 mm in a step."""
    sim = landing(shape, gap, speed, contacts=method, contact_every=every)
    for _ in range(30):
        sim.step()
        height = sim.state.position[1:, 2]
        assert np.diff(height).min() > SIDE - 1e-3
        assert height[0] > 0.5 * SIDE - 1e-3
    assert (sim.state.velocity[1:, 2] > -speed).all()


def test_a_copied_state_of_a_column_that_lands_goes_on_bit_for_bit():
    sim = landing(rb.Box(SIDE, SIDE, SIDE), 0.003, 9.0, contacts="time_stepping", contact_every=3)
    other = landing(rb.Box(SIDE, SIDE, SIDE), 0.003, 9.0, contacts="time_stepping", contact_every=3)
    for _ in range(12):
        sim.step()
        other.state.assign(sim.state.copy())
        sim.step(2)
        other.step(2)
        assert sim.hash() == other.hash()
