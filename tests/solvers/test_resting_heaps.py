"""Heaps come to rest: what hardly moves is swept until it is still, and not only to within the tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]

STEPS, WATCHED = 2000, 100


def heap(seed):
    """Eight layers of sixteen cubes, each a little off its place, some of them overlapping, fall on the ground."""
    rng, scene = np.random.default_rng(seed), rb.Scene()
    rough = rb.Material(friction=0.5)
    scene.combine(friction="mean")
    scene.add_static(rb.Plane(), material=rough, name="ground")
    for number in range(128):
        place = 1.2 * np.array([number % 4, number // 4 % 4, number // 16]) + [0.0, 0.0, 0.8]
        axis = rng.normal(size=3)
        turn = Rotation.from_rotvec(rng.uniform(0.0, 0.2) * axis / np.linalg.norm(axis))
        scene.add_body(
            rb.Box(1.0, 1.0, 1.0),
            mass=1.0,
            position=place + rng.uniform(-0.1, 0.1, 3),
            orientation=turn.as_quat(),
            material=rough,
            name=f"cube {number}",
        )
    return scene


@pytest.mark.parametrize("seed", [3, 9, 12])
def test_columns_that_lean_on_each_other_come_to_rest_and_do_not_creep_at_the_tolerance(seed):
    sim = rb.Simulation(
        heap(seed), time_step=0.005, contacts=rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=20))
    )
    sim.step(STEPS - WATCHED)
    fastest = 0.0
    for _ in range(WATCHED):
        sim.step()
        fastest = max(fastest, np.abs(sim.state.velocity).max())
    assert fastest < 0.5 * sim.report.contact_velocity_tolerance
