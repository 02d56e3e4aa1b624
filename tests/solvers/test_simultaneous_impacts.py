"""Simultaneous impacts of balls in a row: what has no gap is struck at once, what has one after it has closed."""

import itertools

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def row(gap, restitution=1.0):
    """Two balls at rest some gap apart, and a third one that comes with 2 m/s; restitution is that of a pair."""
    scene, elastic = rb.Scene(gravity=(0, 0, 0)), rb.Material(friction=0.0, restitution=restitution**0.5)
    for name, place in (("near", 0.0), ("far", 0.1 + gap)):
        scene.add_body(rb.Sphere(0.05), mass=1.0, position=(place, 0, 0), material=elastic, name=name)
    coming = {"position": (-0.5, 0, 0), "velocity": (2, 0, 0)}
    scene.add_body(rb.Sphere(0.05), mass=1.0, material=elastic, name="coming", **coming)
    return scene


@pytest.mark.parametrize(("gap", "step"), list(itertools.product([1e-4, 1e-3, 1e-2], [0.01, 0.001])))
def test_a_gap_lets_the_blow_travel_from_ball_to_ball(gap, step):
    """Two bodies of one mass exchange their velocities, one pair after the other."""
    sim = rb.Simulation(row(gap), time_step=step, contacts=rb.contacts.Impulse(impact="simultaneous"))
    sim.run(1.0)
    speeds = [sim[name].velocity[0] for name in ("coming", "near", "far")]
    np.testing.assert_allclose(speeds, (0, 0, 2), atol=1e-9)
    assert sim.report.converged


def test_without_a_gap_two_balls_share_the_blow():
    """The two that touch leave together: 2 = v + 2 w and w − v = 2, of momentum and restitution."""
    sim = rb.Simulation(row(0.0), time_step=0.001, contacts=rb.contacts.Impulse(impact="simultaneous"))
    sim.run(1.0)
    speeds = [sim[name].velocity[0] for name in ("coming", "near", "far")]
    np.testing.assert_allclose(speeds, (-2 / 3, 4 / 3, 4 / 3), atol=1e-6)


def test_half_the_restitution_leaves_half_the_speed_at_every_gap():
    """v' = (1 ± e) v / 2 of the two, twice; what follows the first ball strikes it no more within the time."""
    sim = rb.Simulation(row(1e-3, 0.5), time_step=0.001, contacts=rb.contacts.Impulse(impact="simultaneous"))
    sim.run(0.21)
    assert sim["far"].velocity[0] == pytest.approx(2.0 * 0.75**2, rel=1e-6)
    assert sim.momentum().linear[0] == pytest.approx(2.0, rel=1e-12)
