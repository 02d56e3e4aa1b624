"""Manifold update: between detections contacts move exactly with their bodies, and the same in every copy."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb

pytestmark = pytest.mark.contacts

SIDE = 0.4
STEP = 2e-3
speed = st.floats(-2.0, 2.0)
triple = st.tuples(speed, speed, speed)


def finding(scene, every, **settings):
    """A simulation that only finds contacts, far enough to keep them while bodies move a little."""
    given = {"contacts": "detect", "contact_distance": 0.05, "time_step": STEP, "integrator": "lie_midpoint"}
    return rb.Simulation(scene, contact_every=every, **{**given, **settings})


def add_cube(scene, name, position, **more):
    scene.add_body(rb.Box(SIDE, SIDE, SIDE), mass=1.0, position=position, name=name, **more)


def put(sim, name, velocity, turning):
    sim[name].velocity, sim[name].angular_velocity = velocity, turning


@settings(deadline=None, max_examples=25)
@given(velocity=triple, turning=triple, first=st.booleans(), steps=st.integers(1, 4))
def test_corners_on_the_ground_are_where_they_are(velocity, turning, first, steps):
    scene = rb.Scene(gravity=(0, 0, 0))
    if first:
        scene.add_static(rb.Plane(), name="ground")
    add_cube(scene, "cube", (0.1, 0.2, 0.5 * SIDE))
    if not first:
        scene.add_static(rb.Plane(), name="ground")
    sim = finding(scene, 5)
    put(sim, "cube", velocity, turning)
    sim.step(steps)
    found = sim.contacts
    turned = Rotation.from_quat(sim["cube"].orientation)
    signs = np.array([(x, y, -1) for x in (-1, 1) for y in (-1, 1)])
    corners = sim["cube"].position + turned.apply(0.5 * SIDE * signs)
    order = np.argmin(np.linalg.norm(found.point[:, None, :2] - corners[None, :, :2], axis=2), axis=1)
    assert sorted(order) == [0, 1, 2, 3]
    up = np.array([0, 0, -1.0 if first else 1.0])
    np.testing.assert_array_equal(found.normal, np.broadcast_to(up, (4, 3)))
    np.testing.assert_allclose(found.separation, corners[order, 2], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.point[:, :2], corners[order, :2], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.point[:, 2], 0.5 * corners[order, 2], rtol=0.0, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(lower=st.tuples(triple, triple), upper=st.tuples(triple, triple), steps=st.integers(1, 3))
def test_cubes_on_each_other_are_off_by_their_slip_times_their_turn(lower, upper, steps):
    scene = rb.Scene(gravity=(0, 0, 0))
    add_cube(scene, "low", (0, 0, 0))
    add_cube(scene, "high", (0.07, 0.05, SIDE + 0.001))
    sim = finding(scene, 4, contact_distance=0.04)
    put(sim, "low", *lower)
    put(sim, "high", *upper)
    sim.step(steps)
    carried, time = sim.contacts, sim.time
    fresh = finding(scene, 1, contact_distance=0.04)
    fresh.state = sim.state.copy()
    fresh = fresh.contacts
    turn = time * np.linalg.norm(np.subtract(lower[1], upper[1]))
    # No point of the two faces that touch is farther from a centre than an edge is long.
    slip = time * (
        np.linalg.norm(np.subtract(lower[0], upper[0])) + SIDE * np.linalg.norm([lower[1], upper[1]], axis=1).sum()
    )
    off = 2.0 * slip * turn + 1e-12
    assert np.linalg.norm(carried.normal - fresh.normal[0], axis=1).max() <= turn + 1e-12
    seen = {name: row for row, name in enumerate(fresh.feature.tolist())}
    both = [(row, seen[name]) for row, name in enumerate(carried.feature.tolist()) if name in seen]
    assert len(both) >= 3
    for here, there in both:
        assert carried.separation[here] == pytest.approx(fresh.separation[there], rel=0.0, abs=off)
        # Crossings of edges go half of the way of either body.
        assert np.linalg.norm(carried.point[here] - fresh.point[there]) <= slip + off


@settings(deadline=None, max_examples=15)
@given(velocity=triple, turning=triple, steps=st.integers(1, 4), ball=st.booleans())
def test_what_turns_with_all_it_touches_keeps_its_gaps(velocity, turning, steps, ball):
    scene = rb.Scene(gravity=(0, 0, 0))
    shape = rb.Sphere(0.5 * SIDE) if ball else rb.Box(SIDE, SIDE, SIDE)
    scene.add_body(shape, mass=1.0, position=(0, 0, 0), name="low")
    add_cube(scene, "high", (0.05, 0, SIDE + 0.003))
    sim = finding(scene, 5)
    before = sim.contacts
    arm = np.array([0.05, 0, SIDE + 0.003])
    put(sim, "low", velocity, turning)
    put(sim, "high", np.add(velocity, np.cross(turning, arm)), turning)
    sim.step(steps)
    # Two bodies that go round each other are followed by chords: off by how far they turn, squared.
    turn = sim.time * np.linalg.norm(turning)
    np.testing.assert_allclose(sim.contacts.separation, before.separation, rtol=0.0, atol=SIDE * turn**2 + 1e-12)
    turned = Rotation.from_quat(sim["high"].orientation).apply(before.normal)
    np.testing.assert_allclose(sim.contacts.normal, turned, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("shape", [rb.Sphere(0.1), rb.Capsule(0.1, 0.4)], ids=["ball", "capsule"])
@pytest.mark.parametrize("first", [True, False])
def test_what_has_a_round_shell_rolls(shape, first):
    scene, lying = rb.Scene(gravity=(0, 0, 0)), Rotation.from_euler("x", 90, degrees=True).as_quat()
    if first:
        scene.add_static(rb.Plane(), name="ground")
    scene.add_body(shape, mass=1.0, position=(0, 0, 0.1), orientation=lying, name="roller")
    if not first:
        scene.add_static(rb.Plane(), name="ground")
    sim = finding(scene, 5)
    before = sim.contacts
    put(sim, "roller", (8.0, 0, 0.1), (0, 80.0, 0))
    sim.step(4)
    height = 0.1 * sim.time
    np.testing.assert_allclose(sim.contacts.separation, height, rtol=0.0, atol=1e-12)
    way = np.array([8.0 * sim.time, 0, 0.5 * height])
    np.testing.assert_allclose(sim.contacts.point, before.point + way, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(sim.contacts.normal, before.normal)


def test_contacts_appear_after_every_so_many_steps():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0.16), velocity=(0, 0, -5.0), name="ball")
    sim = finding(scene, 4)
    seen = []
    for _ in range(9):
        sim.step()
        seen.append(len(sim.contacts))
    # It is near enough from the second step on.
    assert seen == [0, 0, 0, 1, 1, 1, 1, 1, 1]
    sim.use(contact_every=1)
    assert len(sim.contacts) == 1


@pytest.mark.parametrize("substeps", [1, 2])
def test_reference_poses_follow_after_every_so_many_steps(substeps):
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="ground", material=rb.Material(friction=0.0))
    add_cube(scene, "cube", (0, 0, 0.5 * SIDE), velocity=(1.0, 0, 0))
    sim = rb.Simulation(scene, contact_every=3, substeps=substeps, time_step=1e-3)
    seen = []
    for _ in range(12):
        sim.step()
        anchors = sim.state.contacts.anchor.numpy()[:, 0]
        seen.append(bool(np.isclose(anchors, sim["cube"].position[0], rtol=0.0, atol=1e-9).any()))
    assert seen == [(substeps * (k + 1)) % 3 == 0 for k in range(12)]


def test_a_pose_that_is_written_has_its_contacts_at_once():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="ground")
    add_cube(scene, "cube", (0, 0, 0.5 * SIDE))
    for sim in (finding(scene, 5), rb.Simulation(scene, contact_every=5, contact_distance=0.05)):
        sim.step(2)
        assert len(sim.contacts) == 4
        sim["cube"].position = (0, 0, 3.0)
        assert len(sim.contacts) == 0
        sim.step()
        assert len(sim.contacts) == 0
        sim["cube"].position = (1.0, 2.0, 0.5 * SIDE + 0.02)
        np.testing.assert_allclose(sim.contacts.separation, 0.02, atol=1e-12)
        np.testing.assert_allclose(sim.contacts.point[:, :2].mean(axis=0), (1.0, 2.0), atol=1e-12)
        sim.step()
        np.testing.assert_allclose(sim.contacts.separation, 0.02, atol=1e-12)


@pytest.mark.parametrize(
    ("every", "says"),
    [
        (0, "contact_every is 0; it must be at least 1."),
        (101, "contact_every is 101; it must be at most 100."),
        (1.5, "contact_every is 1.5; it must be a whole number."),
        (True, "contact_every is True; it must be a whole number."),
    ],
)
def test_other_numbers_of_steps_are_refused(every, says):
    scene = rb.Scene()
    add_cube(scene, "cube", (0, 0, 0))
    with pytest.raises(rb.InputError, match=re.escape(says)):
        rb.Simulation(scene, contact_every=every)
    sim = rb.Simulation(scene)
    with pytest.raises(rb.InputError, match=re.escape(says)):
        sim.use(contact_every=every)


def test_with_a_contact_time_contacts_are_found_after_every_step():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 0.4), name="ball")
    often, seldom = (
        rb.Simulation(scene, contact_every=every, contact_time="interpolate", time_step=0.01) for every in (1, 4)
    )
    for _ in range(40):
        often.step()
        seldom.step()
        assert often.hash() == seldom.hash()
        np.testing.assert_array_equal(often.contacts.point, seldom.contacts.point)


def test_bodies_at_rest_have_no_speculative_margin():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for k in range(3):
        add_cube(scene, f"cube {k}", (0, 0, (k + 0.5) * SIDE))
    found = {}
    for every in (1, 3):
        sim = rb.Simulation(scene, contact_every=every, time_step=1e-3)
        sim.step(10)
        items = sim._step.contacts.finder.items
        assert not items.margin_class.numpy().any()
        found[every] = sim.contacts
    np.testing.assert_array_equal(found[1].feature, found[3].feature)
    np.testing.assert_allclose(found[1].point, found[3].point, atol=1e-9)


def test_each_device_carries_contacts_to_where_they_would_be_found(device):
    rng, scene = np.random.default_rng(3), rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="ground")
    for k in range(40):
        place = (1.5 * SIDE * (k % 8), 1.5 * SIDE * (k // 8), 0.5 * SIDE)
        add_cube(scene, f"cube_{k}", place, velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3))
    carried, found = finding(scene, 5, device=device), finding(scene, 1, device=device)
    for sim in (carried, found):
        sim.step(4)
    assert len(carried.contacts) == len(found.contacts) == 160
    np.testing.assert_allclose(carried.contacts.separation, found.contacts.separation, rtol=0, atol=1e-12)
    np.testing.assert_allclose(carried.contacts.point, found.contacts.point, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
@pytest.mark.parametrize("method", ["impulse", "time_stepping"])
@pytest.mark.parametrize("every", [1, 3])
def test_overlaps_are_moved_apart_where_contacts_are_found_next_and_as_fast_as_in_every_step(every, method):
    tolerance, sunk = 1e-4, 2e-3
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane())
    add_cube(scene, "cube", (0, 0, 0.5 * SIDE - sunk))
    given = {"contacts": method, "contact_every": every, "penetration_tolerance": tolerance, "time_step": 1e-3}
    sim = rb.Simulation(scene, **given)
    for step in range(1, 7):
        sim.step()
        # Two fifths of what is beyond half the tolerance go in a step.
        moved = step // every * every
        left = 0.5 * tolerance + (sunk - 0.5 * tolerance) * 0.6**moved
        assert 0.5 * SIDE - sim["cube"].position[2] == pytest.approx(left, rel=0.02)
    assert np.abs(sim["cube"].velocity).max() < 1e-12
