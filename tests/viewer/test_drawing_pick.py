"""Picking against rays whose meeting points are known in closed form, and against the half-spaces of hulls."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.recording.tessellation import tessellate
from rattleback.viewer.drawing.pick import distances

UPRIGHT = np.array([[0.0, 0.0, 0.0, 1.0]])
CUBE = tessellate(rb.Box(1.0, 1.0, 1.0))


def along(surface, place, turn, scale, origin, direction):
    pose = np.atleast_2d(place), np.atleast_2d(turn), np.atleast_2d(scale)
    return distances(surface, pose, (np.array(origin, dtype=float), np.array(direction, dtype=float)))


def test_a_box_is_met_at_its_face_in_lengths_of_the_direction():
    found = along(CUBE, (3.0, 0.0, 0.0), UPRIGHT, (2.0, 4.0, 6.0), (0.0, 1.9, -2.9), (0.5, 0.0, 0.0))
    assert found == pytest.approx([4.0])


@pytest.mark.parametrize(
    ("origin", "direction"), [((0, 2.01, 0), (1, 0, 0)), ((9, 0, 0), (1, 0, 0)), ((0, 0, 0), (0, 0, 1))]
)
def test_a_ray_beside_a_box_away_from_it_or_past_it_meets_nothing(origin, direction):
    assert along(CUBE, (3.0, 0.0, 0.0), UPRIGHT, (2.0, 4.0, 6.0), origin, direction) == [np.inf]


@given(st.integers(0, 10**6))
def test_an_ellipsoid_turned_and_stretched_is_met_where_its_equation_says(seed):
    random = np.random.default_rng(seed)
    place, turn, scale = random.normal(size=3), Rotation.random(random_state=seed), random.uniform(0.3, 2.0, 3)
    origin = place + 6.0 * turn.apply(random.normal(size=3) * scale)
    direction = place + turn.apply(random.uniform(-0.3, 0.3, 3) * scale) - origin
    start, way = turn.inv().apply(origin - place) / scale, turn.inv().apply(direction) / scale
    if start @ start < 1.5:
        return
    a, b, c = way @ way, start @ way, start @ start - 1.0
    expected = (-b - np.sqrt(b * b - a * c)) / a
    found = along(tessellate(rb.Sphere(1.0), 64), place, turn.as_quat(), scale, origin, direction)
    # The flat pieces lie inside the ball, by 0.3 % of its radius at most.
    assert expected - 1e-9 <= found[0] <= expected + 0.02 / np.sqrt(a)


def clipped(points, origin, direction):
    """Where a ray enters the convex hull of points: the last half-space that it enters, before it leaves any."""
    planes = ConvexHull(points).equations
    rate, height = planes[:, :3] @ direction, planes[:, :3] @ origin + planes[:, 3]
    enters = np.max(-height[rate < 0.0] / rate[rate < 0.0])
    leaves = np.min(-height[rate > 0.0] / rate[rate > 0.0])
    return enters if 0.0 <= enters <= leaves else np.inf


def test_many_instances_agree_with_the_half_spaces_of_their_hulls():
    random = np.random.default_rng(5)
    surface = tessellate(rb.Cone(0.5, 1.0), 12)
    places, turns = random.uniform(-3.0, 3.0, (40, 3)), Rotation.random(40, random_state=5)
    scales = random.uniform(0.5, 2.5, (40, 3))
    met = 0
    for _ in range(20):
        origin = 8.0 * (lambda v: v / np.linalg.norm(v))(random.normal(size=3))
        direction = random.uniform(-2.0, 2.0, 3) - origin
        found = distances(surface, (places, turns.as_quat(), scales), (origin, direction))
        for k in range(40):
            expected = clipped(turns[k].apply(surface.vertices * scales[k]) + places[k], origin, direction)
            assert found[k] == pytest.approx(expected)
            met += np.isfinite(expected)
    assert met > 10
