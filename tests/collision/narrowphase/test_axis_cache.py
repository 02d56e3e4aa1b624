"""The separating-axis cache saves work and changes no bit of the contacts."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.narrowphase import axis_cache
from rattleback.maths.rotation import random as random_rotations


def crowd(seed=0, count=60):
    rng = np.random.default_rng(seed)
    scene = rb.Scene(gravity=(0, 0, 0))
    hull = rb.ConvexHull(rng.normal(size=(20, 3)) * 0.3)
    shapes = (rb.Cylinder(0.3, 0.8), rb.Cone(0.4, 0.7), rb.Ellipsoid(0.2, 0.3, 0.5), hull, rb.Box(0.5, 0.4, 0.6))
    for k, turn in enumerate(random_rotations(count, seed=seed)):
        options = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        scene.add_body(shapes[k % 5], position=rng.uniform(-1.2, 1.2, 3), orientation=turn, **options)
    return scene


def found(method, steps=20):
    sim = rb.Simulation(crowd(), contacts="detect", narrowphase=method, time_step=2e-3)
    history = []
    for _ in range(steps):
        sim.step()
        contacts = sim.contacts
        history.append((contacts.bodies, contacts.point, contacts.normal, contacts.separation, contacts.previous))
    return sim, history


@pytest.mark.parametrize("method", ["closed_forms", "gjk", "vclip"])
def test_no_bit_of_the_contacts_depends_on_what_is_remembered(method, monkeypatch):
    sim, with_memory = found(method)
    settled = sim._step.contacts.finder.found.settled.numpy()
    items = int(sim._step.contacts.finder.items.needed.numpy()[0])
    assert 0.2 * items < settled[:items].sum() < items
    monkeypatch.setattr(axis_cache.AxisCache, "record_start", lambda *inputs: None)
    _, without = found(method)
    for one, other in zip(with_memory, without, strict=True):
        assert one[0] == other[0]
        for mine, theirs in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_boxes_have_nothing_to_remember_unless_their_formula_is_not_used():
    scene = rb.Scene(gravity=(0, 0, 0))
    for z in range(3):
        scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 1.0 * z))
    assert not rb.Simulation(scene, contacts="detect")._step.contacts.finder.axis_cache.active
    assert rb.Simulation(scene, contacts="detect", narrowphase="gjk")._step.contacts.finder.axis_cache.active


@pytest.mark.parametrize("method", ["closed_forms", "gjk", "vclip"])
@pytest.mark.parametrize("volume", ["sphere", "oriented", "dop"])
def test_a_bounding_volume_spares_work_and_changes_no_contact(method, volume):
    settings = {"contacts": "detect", "narrowphase": method}
    plain = rb.Simulation(crowd(3), **settings).contacts
    sim = rb.Simulation(crowd(3), bounding_volume=volume, **settings)
    contacts = sim.contacts
    assert contacts.bodies == plain.bodies
    np.testing.assert_array_equal(contacts.point, plain.point)
    np.testing.assert_array_equal(contacts.separation, plain.separation)
    finder = sim._step.contacts.finder
    assert finder.found.settled.numpy()[: int(finder.items.needed.numpy()[0])].any()
