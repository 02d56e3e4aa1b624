"""Contacts at rest are not copied again: all is as if they had been detected afresh."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts

COLUMNS = ("body_a", "body_b", "feature", "normal", "point", "separation")


def heap(cubes=8):
    """A pile of cubes at rest and one that slides beside it to a stop, none near a zero, where bits are small."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    for k in range(cubes):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(3.1 + 0.1 * (k % 2), 2.7, 0.5 + k), name=f"cube {k}")
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(6.3, 2.7, 0.5), velocity=(2, 0, 0), name="slider")
    return scene


def taken(steps):
    sim = rb.Simulation(heap(), time_step=5e-3)
    sim.step(steps)
    return sim


def resting(sim):
    """How many contacts rest, and whether the graph of the patches is kept."""
    contacts = sim._step.contacts.finder.contacts
    count = int(contacts.needed.numpy()[0])
    return int(contacts.rests.numpy()[:count].sum()), int(sim._step.impulses.problem.graph.reused.numpy()[0])


def assert_as_afresh(sim):
    """Check that a simulation goes on as one does that knows nothing but its state."""
    fresh = rb.Simulation(heap(), time_step=5e-3)
    fresh.state = sim.state.copy()
    for _ in range(3):
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(sim.contacts, name), getattr(fresh.contacts, name))
        sim.step()
        fresh.step()
        assert sim.hash() == fresh.hash()


def test_what_lies_still_rests_and_what_slides_does_not():
    sim = taken(20)
    rest, _ = resting(sim)
    assert 0 < rest <= len(sim.contacts) - 4
    assert_as_afresh(sim)


def test_where_all_lie_still_the_graph_is_kept_and_most_contacts_rest():
    sim = taken(300)
    rest, kept = resting(sim)
    assert 2 * rest > len(sim.contacts)
    assert kept == 1
    assert_as_afresh(sim)


@pytest.mark.parametrize("lift", [0.0, 1e-6, 2.0])
def test_what_is_put_elsewhere_does_not_rest(lift):
    sim = taken(300)
    sim["cube 7"].position = sim["cube 7"].position + np.array([0.0, 0.0, lift])
    assert_as_afresh(sim)


def test_what_becomes_slippery_slips_though_nothing_has_moved():
    sim = taken(300)
    sim["floor"].material = rb.Material(friction=0.0)
    for k in range(8):
        sim[f"cube {k}"].material = rb.Material(friction=0.0)
    start = np.array(sim["cube 0"].position)
    sim["cube 0"].applied_force = (5.0, 0.0, 0.0)
    sim.step(10)
    assert sim["cube 0"].position[0] - start[0] == pytest.approx(0.5 * 5.0 * 0.05**2, rel=0.2)


def test_other_methods_start_with_patches_of_their_own():
    sim = taken(300)
    other = taken(300)
    sim.use(contacts=rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=30)))
    sim.step(5)
    other.step(5)
    np.testing.assert_allclose(sim.state.position, other.state.position, atol=1e-12)
