"""Closed forms against answers worked out by hand: places where the figure can be drawn."""

import numpy as np
import pytest

X, Y, Z = np.eye(3)
ROOT = 0.5**0.5


def ball(bench, position, radius=0.5):
    return bench.Thing("sphere", round=radius, position=position)


def capsule(bench, position=(0.0, 0.0, 0.0), along=Z, half=1.0, radius=0.25):
    rotation = {"x": np.array([Y, Z, X]).T, "y": np.array([Z, X, Y]).T, "z": np.eye(3)}["xyz"[int(np.argmax(along))]]
    return bench.Thing("capsule", (0.0, 0.0, half), radius, position=position, rotation=rotation)


def check(bench, a, b, separation, normal=None, point_b=None):
    found = bench.solve([(a, b)])
    assert found.separation[0] == pytest.approx(separation, abs=1e-14)
    if normal is not None:
        np.testing.assert_allclose(found.normal[0], normal, atol=1e-14)
    if point_b is not None:
        np.testing.assert_allclose(found.point_b[0], point_b, atol=1e-14)
    return found


def test_two_balls_apart_touching_and_overlapping(bench):
    for distance in (3.0, 1.0, 0.25):
        check(bench, ball(bench, (distance, 0, 0)), ball(bench, (0, 0, 0)), distance - 1.0, X, 0.5 * X)


def test_balls_with_one_centre_have_some_unit_normal(bench):
    found = check(bench, ball(bench, (1, 2, 3)), ball(bench, (1, 2, 3)), -1.0)
    assert np.linalg.norm(found.normal[0]) == pytest.approx(1.0, abs=1e-15)


def test_a_ball_beyond_face_edge_and_corner_of_a_box(bench):
    box = bench.Thing("box", (1.0, 2.0, 3.0))
    check(bench, ball(bench, (2.0, 0.3, 0.4)), box, 0.5, X, (1.0, 0.3, 0.4))
    check(bench, ball(bench, (2.0, 3.0, 0.4)), box, 2**0.5 - 0.5, (ROOT, ROOT, 0.0), (1.0, 2.0, 0.4))
    check(bench, ball(bench, (-2.0, -3.0, -4.0)), box, 3**0.5 - 0.5, -np.ones(3) / 3**0.5, (-1.0, -2.0, -3.0))


def test_a_ball_in_a_box_leaves_through_the_nearest_face(bench):
    box = bench.Thing("box", (1.0, 2.0, 3.0))
    check(bench, ball(bench, (0.1, -1.5, 0.0)), box, -0.5 - 0.5, -Y, (0.1, -2.0, 0.0))


def test_a_ball_at_a_cylinder_sees_side_cap_and_rim(bench):
    cylinder = bench.Thing("cylinder", (1.0, 1.0, 2.0))
    check(bench, ball(bench, (3.0, 0.0, 1.0)), cylinder, 1.5, X, (1.0, 0.0, 1.0))
    check(bench, ball(bench, (0.2, 0.0, -3.0)), cylinder, 0.5, -Z, (0.2, 0.0, -2.0))
    check(bench, ball(bench, (4.0, 0.0, 6.0)), cylinder, 4.5, (0.6, 0.0, 0.8), (1.0, 0.0, 2.0))
    check(bench, ball(bench, (0.0, 0.0, 1.5)), cylinder, -1.0, Z, (0.0, 0.0, 2.0))
    check(bench, ball(bench, (0.0, -0.75, 0.0)), cylinder, -0.75, -Y, (0.0, -1.0, 0.0))


def test_a_ball_at_a_cone_sees_apex_side_rim_and_base(bench):
    # Radius 3 and height 4: the side is 5 long, its normal (0.8, 0.6).
    cone = bench.Thing("cone", (3.0, 3.0, 2.0))
    check(bench, ball(bench, (0.0, 0.0, 3.0)), cone, 0.5, Z, (0.0, 0.0, 2.0))
    middle, slope = np.array([1.5, 0.0, 0.0]), np.array([0.8, 0.0, 0.6])
    check(bench, ball(bench, middle + slope), cone, 0.5, slope, middle)
    check(bench, ball(bench, middle - 0.1 * slope), cone, -0.6, slope, middle)
    check(bench, ball(bench, (0.0, 4.0, -3.0)), cone, 2**0.5 - 0.5, (0.0, ROOT, -ROOT), (0.0, 3.0, -2.0))
    check(bench, ball(bench, (0.0, 1.0, -3.0)), cone, 0.5, -Z, (0.0, 1.0, -2.0))
    check(bench, ball(bench, (0.5, 0.0, -1.75)), cone, -0.75, -Z, (0.5, 0.0, -2.0))


def test_a_ball_in_the_wide_cone_below_the_rim_is_nearest_to_the_rim(bench):
    cone = bench.Thing("cone", (3.0, 3.0, 0.01))
    check(bench, ball(bench, (3.001, 0.0, -4.0)), cone, np.hypot(0.001, 3.99) - 0.5)


def test_a_ball_at_a_triangle_is_seen_from_either_side(bench):
    triangle = bench.Thing("mesh", vertices=np.array([[0.0, 0, 0], [2.0, 0, 0], [0.0, 2, 0]]))
    check(bench, ball(bench, (0.5, 0.5, 0.25)), triangle, -0.25, Z, (0.5, 0.5, 0.0))
    check(bench, ball(bench, (0.5, 0.5, -0.25)), triangle, -0.25, -Z, (0.5, 0.5, 0.0))
    check(bench, ball(bench, (0.5, 0.5, 0.0)), triangle, -0.5, Z, (0.5, 0.5, 0.0))
    check(bench, ball(bench, (2.0, 2.0, 0.0)), triangle, 2**0.5 - 0.5, (ROOT, ROOT, 0.0), (1.0, 1.0, 0.0))
    check(bench, ball(bench, (-3.0, -4.0, 0.0)), triangle, 4.5, (-0.6, -0.8, 0.0), (0.0, 0.0, 0.0))


def test_a_triangle_without_area_is_a_segment(bench):
    for last in ([1.0, 0, 0], [2.0, 0, 0], [0.0, 0, 0]):
        triangle = bench.Thing("mesh", vertices=np.array([[0.0, 0, 0], [2.0, 0, 0], last]))
        check(bench, ball(bench, (1.0, 0.0, 2.0)), triangle, 1.5, Z, (1.0, 0.0, 0.0))
        found = check(bench, ball(bench, (1.0, 0.0, 0.0)), triangle, -0.5)
        assert found.normal[0] @ X == pytest.approx(0.0, abs=1e-15)


def test_a_ball_beyond_every_feature_of_a_hull(bench):
    hull = bench.Thing(
        "hull", vertices=np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    )
    diagonal = np.ones(3) / 3**0.5
    check(bench, ball(bench, np.ones(3)), hull, 2.0 / 3**0.5 - 0.5, diagonal, np.ones(3) / 3)
    check(bench, ball(bench, (1.0, 1.0, 0.0)), hull, ROOT - 0.5, (ROOT, ROOT, 0.0), (0.5, 0.5, 0.0))
    check(bench, ball(bench, (0.0, 0.0, -3.0)), hull, 1.5, -Z, -Z)
    check(bench, ball(bench, 0.1 * diagonal), hull, 0.1 - 1.0 / 3**0.5 - 0.5, diagonal, np.ones(3) / 3)


def test_capsules_that_cross_keep_their_distance_along_the_common_perpendicular(bench):
    check(bench, capsule(bench, (0, 0, 2.0), X), capsule(bench, along=Y), 1.5, Z, (0.0, 0.0, 0.25))
    check(bench, capsule(bench, (0, 0, 0.1), X), capsule(bench, along=Y), -0.4, Z)
    found = check(bench, capsule(bench, along=X), capsule(bench, along=Y), -0.5)
    np.testing.assert_allclose(np.abs(found.normal[0]), Z, atol=1e-15)


def test_capsules_end_to_end_and_side_by_side(bench):
    check(bench, capsule(bench, (0, 0, 3.0)), capsule(bench), 0.5, Z, (0.0, 0.0, 1.25))
    check(bench, capsule(bench, (0, 2.0, 1.0)), capsule(bench), 1.5, Y, (0.0, 0.25, 0.5))
    check(bench, capsule(bench, (3.0, 0.0, 0.0), X), capsule(bench), 1.5, X, (0.25, 0.0, 0.0))
    check(bench, capsule(bench, (0, 0, 0.5)), capsule(bench), -0.5)


def test_a_capsule_of_no_length_is_a_ball(bench):
    point = capsule(bench, (0.0, 2.0, 0.0), half=0.0)
    check(bench, point, capsule(bench), 1.5, Y)
    check(bench, point, bench.Thing("box", (1.0, 1.0, 1.0)), 0.75, Y)
    check(bench, point, point, -0.5)


def test_a_capsule_beyond_face_edge_and_corner_of_a_box(bench):
    box = bench.Thing("box", (1.0, 1.0, 1.0))
    check(bench, capsule(bench, (0.0, 0.0, 3.0)), box, 0.75, Z)
    check(bench, capsule(bench, (0.3, 0.0, 2.0), X), box, 0.75, Z)
    diagonal = bench.Thing("capsule", (0, 0, 3.0), 0.25, position=(2.0, 2.0, 0.0))
    diagonal.rotation = np.array([[ROOT, 0, ROOT], [ROOT, 0, -ROOT], [0, 1, 0]])
    check(bench, diagonal, box, 2**0.5 - 0.25, (ROOT, ROOT, 0.0))
    check(bench, capsule(bench, (2.0, 2.0, 3.0)), box, 3**0.5 - 0.25, np.ones(3) / 3**0.5, np.ones(3))


def test_a_capsule_through_a_box_leaves_by_the_shortest_way(bench):
    box = bench.Thing("box", (1.0, 2.0, 3.0))
    check(bench, capsule(bench, (0.2, 0.0, 0.0), half=10.0), box, -0.8 - 0.25, X)
    check(bench, capsule(bench, (0.0, 1.9, 0.0), X, half=0.1), box, -0.1 - 0.25, Y)
    # Across the corner of the square |x|, |y| ≤ 1, at 0.1 below its edge.
    square = bench.Thing("box", (1.0, 1.0, 5.0))
    centre = (1.0 - 0.1 * ROOT) * np.array([1.0, 1.0, 0.0])
    across = bench.Thing("capsule", (0, 0, 4.0), 0.25, position=centre)
    across.rotation = np.array([[ROOT, 0, ROOT], [ROOT, 0, -ROOT], [0, 1, 0]])
    check(bench, across, square, -0.1 - 0.25, (ROOT, ROOT, 0.0), (1.0, 1.0, 0.0))


@pytest.mark.parametrize("kind", ["box", "cylinder", "cone", "ellipsoid"])
def test_a_plane_is_left_along_its_normal_on_either_side_of_it(bench, kind):
    plane = bench.Thing("plane", position=(0.0, 0.0, 1.0), rotation=np.array([Y, Z, X]).T, round=0.125)
    solid = bench.Thing(kind, (0.5, 0.5, 2.0))
    for x in (2.0, 0.5, -3.0):
        found = check(bench, solid.at((x, 0.0, 0.0)), plane, x - 0.5 - 0.125, X)
        other = bench.solve([(plane, solid.at((x, 0.0, 0.0)))])
        assert other.separation[0] == pytest.approx(found.separation[0], abs=1e-15)
        np.testing.assert_allclose(other.normal[0], -X, atol=1e-15)
        np.testing.assert_allclose(other.point_a[0], found.point_b[0], atol=1e-15)


def test_a_plane_far_down_still_knows_the_way_up(bench):
    found = bench.solve([(ball(bench, (0, 0, 0)), bench.Thing("plane", position=(1e3, -1e3, 5.0)))])
    assert found.separation[0] == pytest.approx(-5.5, abs=1e-14)
