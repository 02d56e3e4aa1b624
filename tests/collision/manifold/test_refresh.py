"""Manifold refresh: pairs that slip far between detections have the contacts of their present poses."""

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.manifold.refresh import merge_close_points
from rattleback.core.kernel import kernel
from rattleback.core.precision import vec4

pytestmark = pytest.mark.contacts

SIDE = 0.4
STEP = 2e-3
DISTANCE = 1e-3
speed = st.floats(-3.0, 3.0)
triple = st.tuples(speed, speed, speed)


def finding(scene, every, **settings):
    given = {"contacts": "detect", "contact_distance": DISTANCE, "time_step": STEP, "integrator": "lie_midpoint"}
    return rb.Simulation(scene, contact_every=every, **{**given, **settings})


def cubes(*places, gravity=(0, 0, 0)):
    scene = rb.Scene(gravity=gravity)
    for k, (place, more) in enumerate(places):
        scene.add_body(rb.Box(SIDE, SIDE, SIDE), mass=1.0, position=place, name=f"cube {k}", **more)
    return scene


def found_here(sim, scene, **settings):
    """The contacts of a state, found where its bodies are."""
    fresh = finding(scene, 1, **settings)
    fresh.state = sim.state.copy()
    return fresh.contacts


@settings(deadline=None, max_examples=25)
@given(slide=st.tuples(st.floats(2.0, 6.0), st.floats(-2.0, 2.0)), turning=triple, steps=st.integers(1, 4))
def test_what_slides_far_has_the_contacts_of_where_it_is(slide, turning, steps):
    upper = {"velocity": (*slide, 0.0), "angular_velocity": 0.02 * np.array(turning)}
    scene = cubes(((0, 0, 0), {}), ((0.03, 0.02, SIDE + 0.3 * DISTANCE), upper))
    sim = finding(scene, 5)
    assert len(sim.contacts) == 4
    sim.step(steps)
    ours, fresh = sim.contacts, found_here(sim, scene)
    rows = [fresh.feature.tolist().index(name) for name in ours.feature]
    assert len(set(rows)) == min(4, len(fresh))
    np.testing.assert_allclose(ours.separation, fresh.separation[rows], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(ours.point, fresh.point[rows], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(ours.normal, fresh.normal[rows], rtol=0.0, atol=1e-12)


def test_what_has_passed_an_edge_does_not_overlap_what_is_behind_it(device):
    """A cube that leaves the top of another at 20 m/s, and then falls beside it, is apart from it."""
    upper = {"velocity": (20.0, 0, -2.0)}
    scene = cubes(((0, 0, 0), {}), ((SIDE - 0.02, 0, SIDE + 0.5 * DISTANCE), upper))
    sim = finding(scene, 5, device=device)
    assert len(sim.contacts) == 4
    sim.step(3)
    gap = sim["cube 1"].position[0] - SIDE
    assert gap > 0.09
    assert sim["cube 1"].position[2] < SIDE - 0.01
    assert sim.contacts.separation.min() == pytest.approx(gap, rel=1e-9)


def test_of_more_points_than_there_were_the_nearest_are_taken():
    """What stood on an edge and has come to lie on a face, all but flat, keeps as many contacts as it had."""
    tilt, turned = 0.05, 0.1
    leaning = Rotation.from_euler("zy", (turned, tilt)).as_quat()
    height = 0.5 * SIDE * (1.0 + np.cos(tilt) + np.sin(tilt)) + 0.5 * DISTANCE
    spin = (0.99 * tilt / STEP) * np.array((np.sin(turned), -np.cos(turned), 0))
    upper = {"orientation": leaning, "angular_velocity": spin, "velocity": (0, 0, -4.5)}
    scene = cubes(((0, 0, 0), {}), ((0, 0, height), upper))
    sim = finding(scene, 5, contact_distance=4e-3)
    rows = len(sim.contacts)
    sim.step()
    ours, fresh = sim.contacts, found_here(sim, scene, contact_distance=4e-3)
    assert rows == len(ours) < len(fresh)
    np.testing.assert_allclose(np.sort(ours.separation), np.sort(fresh.separation)[:rows], rtol=0.0, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(
    angle=st.floats(0.01, 0.05),
    pitch=st.floats(0.4, 1.4),
    down=st.floats(0.0, 0.05),
    steps=st.integers(1, 3),
    side=st.sampled_from([-1.0, 1.0]),
)
def test_nearly_parallel_edges_have_the_normal_of_where_they_are(angle, pitch, down, steps, side):
    """An edge above another that it crosses at a small angle: their normal turns many times as fast as they do."""
    lower = {"orientation": Rotation.from_euler("x", np.pi / 4).as_quat()}
    upper = {
        "orientation": Rotation.from_euler("xz", (np.pi / 4, side * angle)).as_quat(),
        "angular_velocity": (0, pitch, 0),
        "velocity": (0, 0, -down),
    }
    scene = cubes(((0, 0, 0), lower), ((0, 0, np.sqrt(2.0) * SIDE + 0.5 * DISTANCE), upper))
    sim = finding(scene, 5)
    begun = sim.contacts.normal[0].copy()
    sim.step(steps)
    ours, fresh = sim.contacts, found_here(sim, scene)
    turned = np.linalg.norm(fresh.normal[0] - begun)
    assert turned > 0.9 * min(STEP * steps * pitch / angle, 0.5)
    # What has turned by less than the ends of the cubes may be off by is carried.
    assert np.linalg.norm(ours.normal[0] - fresh.normal[0]) < 2.0 * DISTANCE / (0.5 * SIDE)


def corners_left(corners, most):
    """What stays of corners (x, y, depth) where at most so many are wanted and twins are left out."""
    given = np.column_stack([corners, np.arange(len(corners))])
    corner, left = wp.array(given, dtype=vec4, device="cpu"), wp.zeros(1, dtype=wp.int32, device="cpu")
    wp.launch(leave_out, 1, [corner, len(given), most, left], device="cpu")
    return corner.numpy()[: left.numpy()[0]]


@kernel
def leave_out(corner: wp.array[vec4], count: int, most: int, left: wp.array[wp.int32]) -> None:
    left[0] = merge_close_points(corner, count, most)


coordinate = st.integers(-20, 20)


@settings(deadline=None, max_examples=60)
@given(
    corners=st.lists(st.tuples(coordinate, coordinate, st.integers(0, 1000)), min_size=2, max_size=8, unique=True),
    most=st.integers(1, 8),
)
def test_of_corners_in_one_place_only_the_deepest_stay(corners, most):
    corners = 0.05 * np.array(corners, dtype=float)
    left = corners_left(corners, most)
    assert min(most, len(corners)) <= len(left) <= len(corners)
    rows = left[:, 3].astype(int)
    assert len(set(rows)) == len(rows)
    np.testing.assert_allclose(left[:, :3], corners[rows], rtol=1e-6)
    assert left[:, 2].min() == pytest.approx(corners[:, 2].min(), rel=1e-6)
    apart = np.linalg.norm(corners[:, None, :2] - corners[None, :, :2], axis=2)
    if len(left) > most:
        ours = apart[np.ix_(rows, rows)] + np.diag(np.full(len(rows), np.inf))
        assert ours.min() >= 0.1 * apart.max() * (1.0 - 1e-6)


@pytest.mark.parametrize("spin", [100.0, 150.0, 200.0])
def test_of_more_points_than_there_were_four_span_the_area(spin):
    """A cube that spins above another, a little tilted: the four nearest of its eight corners are all on one side."""
    tilted = {"angular_velocity": (0, 0, spin), "orientation": Rotation.from_euler("x", 5e-4).as_quat()}
    scene = cubes(((0, 0, 0), {}), ((0, 0, SIDE + 6e-4), tilted))
    sim = finding(scene, 5, contacts="time_stepping")
    sim.step()
    fresh = finding(scene, 1, contact_points=8, contact_distance=1e-2)
    fresh.state = sim.state.copy()
    ours, whole = (ConvexHull(some.point[:, :2]) for some in (sim.contacts, fresh.contacts))
    assert len(sim.contacts) == 4
    assert len(fresh.contacts) == 8
    assert ours.volume > 0.8 * whole.volume


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
def test_a_cube_that_tumbles_over_an_edge_at_speed_does_not_sink_into_it():
    """Struck cubes that fly over the corners of others: contacts of every third step overlap as little as all do."""
    deepest = {}
    for every in (1, 3):
        rng, scene = np.random.default_rng(5), rb.Scene()
        scene.add_static(rb.Plane(), name="ground")
        for k in range(30):
            place = (0.6 * (k % 6), 0.6 * (k // 6), 0.25)
            scene.add_static(rb.Box(0.3, 0.3, 0.5), position=place, name=f"post {k}")
        for k in range(20):
            more = {"velocity": (*rng.normal(0.0, 6.0, 2), -6.0), "angular_velocity": rng.normal(0.0, 15.0, 3)}
            place = (0.7 * (k % 5) + 0.1, 0.7 * (k // 5), 0.9)
            scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=place, name=f"cube {k}", **more)
        sim = rb.Simulation(scene, contacts="time_stepping", contact_every=every, time_step=1e-3)
        sim.step(600)
        deepest[every] = sim.report.penetration
    assert deepest[3] < deepest[1] + 5e-4
