"""Persistent manifolds: bodies that hardly move keep contacts as exact as detected ones, and only these are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.manifold.persistent import LIMIT

pytestmark = pytest.mark.contacts

SIDE = 0.4
small = st.floats(-1.0, 1.0)


def cube_on_the_ground(**settings):
    """A simulation of a cube that stands on a plane; one step is done, so that its contacts are known."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(SIDE, SIDE, SIDE), mass=1.0, position=(0, 0, 0.5 * SIDE), name="cube")
    sim = rb.Simulation(scene, **settings)
    sim.step()
    return sim


def kept(sim):
    """How many pairs kept their answers when contacts were found last."""
    items = sim._step.contacts.finder.items
    return int(items.kept.numpy()[: int(items.needed.numpy()[0])].sum())


def limit(sim):
    """How far a collider may move from its reference pose [m]."""
    return LIMIT * sim._step.contacts.finder.distance


@settings(deadline=None, max_examples=30)
@given(way=st.tuples(small, small, small), turn=st.tuples(small, small, small), near=st.booleans())
def test_corners_are_as_far_from_the_ground_as_they_are(way, turn, near):
    sim = cube_on_the_ground()
    far = (0.3 if near else 30.0) * limit(sim)
    turned = Rotation.from_rotvec(far / SIDE * np.array(turn))
    sim["cube"].position = np.array([0, 0, 0.5 * SIDE]) + far * np.array(way) / np.sqrt(3.0)
    sim["cube"].orientation = turned.as_quat()
    signs = np.array([(x, y, -1) for x in (-1, 1) for y in (-1, 1)])
    corners = sim["cube"].position + turned.apply(0.5 * SIDE * signs)
    found = sim.contacts
    order = np.argmin(np.linalg.norm(found.point[:, None, :2] - corners[None, :, :2], axis=2), axis=1)
    assert sorted(order) == [0, 1, 2, 3]
    # Corners move on circles, of which kept manifolds follow the tangent.
    np.testing.assert_allclose(found.separation, corners[order, 2], rtol=0.0, atol=(far / SIDE) ** 2 * SIDE)


def test_a_pair_is_spared_only_while_both_stay():
    sim = cube_on_the_ground()
    sim.step()
    assert kept(sim) == 1
    sim["cube"].velocity = (2.0 * limit(sim) / sim.time_step, 0, 0)
    sim.step()
    assert kept(sim) == 0


def test_slow_bodies_are_spared_until_they_have_gone_too_far():
    sim = cube_on_the_ground(contacts="detect")
    sim.use(contacts="impulse")
    sim["cube"].velocity = (0.3 * limit(sim) / sim.time_step, 0, 0)
    spared = []
    for _ in range(16):
        sim.step()
        spared.append(kept(sim))
    assert 0 < sum(spared) < 16


def test_a_copy_has_the_manifolds_that_were_kept():
    sim = cube_on_the_ground()
    sim["cube"].velocity = (0.2 * limit(sim) / sim.time_step, 0, 0)
    sim.step(3)
    other = rb.Simulation(sim.scene)
    other.state = sim.state.copy()
    np.testing.assert_array_equal(other.contacts.separation, sim.contacts.separation)
    np.testing.assert_array_equal(other.contacts.point, sim.contacts.point)
    sim.step(20)
    other.step(20)
    assert other.hash() == sim.hash()


def test_where_contacts_are_only_found_every_place_is_the_one_of_now():
    sim = cube_on_the_ground(contacts="detect")
    sim["cube"].position = (0, 0, 0.5 * SIDE + 0.3 * limit(sim))
    np.testing.assert_allclose(sim.contacts.separation, 0.3 * limit(sim), rtol=1e-9)
    assert kept(sim) == 0
