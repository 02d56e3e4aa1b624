"""Bodies add up what contacts give them, manifold by manifold or colour by colour."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def heap() -> rb.Scene:
    scene, rough = rb.Scene(), rb.Material(friction=0.4, restitution=0.4)
    scene.add_static(rb.Plane(), material=rough)
    for k in range(12):
        at = (0.15 * (k % 3), 0.15 * (k % 2), 0.15 + 0.25 * k)
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0 + k, position=at, material=rough, name=f"cube_{k}")
    return scene


@pytest.mark.parametrize("contacts", ["impulse", "time_stepping"])
def test_colour_by_colour_bodies_get_all_that_changes_their_momentum(give_colours, contacts):
    give_colours()
    sim = rb.Simulation(heap(), time_step=5e-3, contacts=contacts, warn=False)
    names = [f"cube_{k}" for k in range(12)]
    mass, fall = np.array([sim[name].mass for name in names])[:, None], 5e-3 * np.array([0, 0, -9.81])
    for _ in range(120):
        before = np.array([sim[name].velocity for name in names])
        sim.step()
        force = np.array([sim[name].contact_force for name in names])
        gained = np.array([sim[name].velocity for name in names]) - before - fall
        np.testing.assert_allclose(5e-3 * force / mass, gained, atol=1e-10)
    assert np.abs(sim["cube_0"].contact_force).max() > 1.0


def test_buffers_that_grow_within_a_step_change_no_bit_of_what_contacts_did():
    def run(room: int) -> rb.Simulation:
        sim = rb.Simulation(heap(), time_step=5e-3, contacts="impulse", warn=False)
        if room:
            finder = sim._step.contacts.finder
            finder.reserve(room)
            sim.use(max_iterations=49)
        sim.step(150)
        return sim

    grown, roomy = run(0), run(4096)
    assert grown.hash() == roomy.hash()
