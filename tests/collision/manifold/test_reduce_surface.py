"""Manifolds on tessellated surfaces: as many points for a pair as on a plane, and the same area."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import rattleback as rb
from rattleback.maths.rotation import quaternion_from_axis_angle


def contacts_on(ground, shape, points=4, **options):
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(ground, name="ground")
    scene.add_body(shape, name="thing", **options)
    return rb.Simulation(scene, contacts="detect", contact_distance=1e-3, contact_points=points).contacts


def area(contacts):
    return ConvexHull(contacts.point[:, :2]).volume


@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4, 1.2])
@pytest.mark.parametrize("cells", [1, 3, 10])
def test_a_box_on_a_tessellated_floor_has_its_four_corners(yaw, cells):
    floor = rb.HeightField(np.zeros((cells + 1, cells + 1)), 6.0 / cells)
    turn = quaternion_from_axis_angle((0, 0, 1), yaw)
    found = contacts_on(floor, rb.Box(1.3, 0.9, 0.5), position=(0.21, -0.13, 0.249), orientation=turn)
    c, s = np.cos(yaw), np.sin(yaw)
    corners = np.array([(x, y) for x in (-0.65, 0.65) for y in (-0.45, 0.45)]) @ np.array([(c, s), (-s, c)])
    expected = corners + np.array((0.21, -0.13))
    assert len(found) == 4
    for corner in expected:
        assert np.min(np.linalg.norm(found.point[:, :2] - corner, axis=1)) < 1e-9
    np.testing.assert_allclose(found.separation, -0.001, atol=1e-12)
    np.testing.assert_allclose(found.normal, np.tile((0, 0, -1), (4, 1)), atol=1e-12)


@pytest.mark.parametrize("points", [1, 2, 3, 4, 8, 16])
def test_a_pair_has_no_more_points_for_a_normal_than_asked_for(points):
    floor = rb.HeightField(np.zeros((9, 9)), 0.4)
    found = contacts_on(floor, rb.Box(1.3, 0.9, 0.5), points, position=(0.1, 0.07, 0.249))
    assert 1 <= len(found) <= points
    assert len(np.unique(np.round(found.point, 9), axis=0)) == len(found)
    if points >= 4:
        assert area(found) == pytest.approx(1.3 * 0.9, rel=1e-9)


def test_the_deepest_point_of_a_tilted_box_is_kept():
    floor = rb.HeightField(np.zeros((9, 9)), 0.4)
    turn = quaternion_from_axis_angle((0.6, -0.8, 0.0), 0.01)
    found = contacts_on(floor, rb.Box(1.3, 0.9, 0.5), position=(0.1, 0.07, 0.25), orientation=turn)
    plane = contacts_on(rb.Plane(), rb.Box(1.3, 0.9, 0.5), position=(0.1, 0.07, 0.25), orientation=turn)
    assert found.separation.min() == pytest.approx(plane.separation.min(), abs=1e-12)


def test_two_slopes_of_a_valley_keep_their_own_normals():
    x = np.linspace(-2, 2, 5)
    valley = rb.HeightField(np.abs(x)[:, None] * np.ones((1, 5)), 1.0)
    found = contacts_on(valley, rb.Sphere(0.5), position=(0, 0, 0.5 * np.sqrt(2.0)))
    normals = np.unique(np.round(found.normal, 9), axis=0)
    root = np.sqrt(0.5)
    np.testing.assert_allclose(normals, [(-root, 0, -root), (root, 0, -root)], atol=1e-9)
    np.testing.assert_allclose(found.separation, 0.0, atol=1e-9)
