"""What every contact method on the menu keeps: steps that go on bit for bit from a copy and from a file."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.solvers.contacts import MENU

RESOLVING = [name for name, kind in MENU.items() if kind.resolves]


def tower():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(4):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.5 + k), name=f"cube_{k}")
    return scene


@pytest.mark.parametrize("method", MENU)
def test_a_simulation_goes_on_bit_for_bit_from_a_copy_and_from_a_file(method, tmp_path):
    sim = rb.Simulation(tower(), contacts=method, time_step=0.005)
    sim.step(20)
    copied = rb.Simulation(tower(), contacts=method, time_step=0.005)
    copied.state = sim.state.copy()
    sim.save(tmp_path / "tower.npz")
    loaded = rb.load(tmp_path / "tower.npz")
    assert loaded.methods.contacts == sim.methods.contacts
    for other in (sim, copied, loaded):
        other.step(20)
    assert copied.hash() == loaded.hash() == sim.hash()


@pytest.mark.parametrize("method", RESOLVING)
def test_a_tower_stands_where_contacts_are_resolved(method):
    sim = rb.Simulation(tower(), contacts=method, time_step=0.005)
    sim.run(1.0)
    np.testing.assert_allclose(sim.state.position[1:, 2], 0.5 + np.arange(4), atol=2e-3)
    assert np.abs(sim.state.velocity).max() < 1e-3
