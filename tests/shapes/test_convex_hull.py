"""Convex hulls against trimesh, closed forms, and the definition: flat convex faces with every point on one side."""

import copy
import math
import pickle
from itertools import product

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from rattleback.core.errors import InputError
from rattleback.shapes import Box, ConvexHull
from rattleback.shapes import hull_face as hull_face_module

CUBE = np.array(list(product([-0.5, 0.5], repeat=3)))
size = st.floats(1e-3, 1e3)
turn = st.tuples(*[st.floats(-3, 3)] * 3).map(Rotation.from_rotvec)
direction = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: max(map(abs, d)) > 1e-3)


@st.composite
def cloud(draw):
    """Points of very different kinds: scattered, on a ball, on a lattice, on a turned lattice, long, far away."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = rng.standard_normal((draw(st.integers(6, 80)), 3))
    kind = draw(st.sampled_from(["scattered", "ball", "lattice", "turned", "needle"]))
    if kind == "ball":
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind in ("lattice", "turned"):
        points = np.vstack([np.round(1.5 * points), np.eye(3), -np.eye(3)])
    elif kind == "needle":
        points *= [1.0, 1e-3, 1e-3]
    if kind in ("turned", "needle"):
        points = draw(turn).apply(points)
    return draw(size) * (points + draw(st.sampled_from([0.0, 10.0])) * rng.standard_normal(3))


def edges(hull):
    return [edge for face in hull.faces for edge in zip(face, face[1:] + face[:1], strict=True)]


def plane(hull, face):
    """A corner of a face, its unit normal by Newell's formula, and the corners."""
    corners = hull.vertices[list(face)]
    normal = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
    return corners[0], normal / np.linalg.norm(normal), corners


@settings(deadline=None)
@given(cloud())
def test_faces_close_around_the_solid(points):
    hull = ConvexHull(points)
    found = edges(hull)
    assert len(set(found)) == len(found)
    assert {(b, a) for a, b in found} == set(found)
    assert len(hull.vertices) - len(found) // 2 + len(hull.faces) == 2
    assert {vertex for face in hull.faces for vertex in face} == set(range(len(hull.vertices)))


@settings(deadline=None)
@given(cloud())
def test_faces_are_flat_and_every_point_lies_behind_them(points):
    hull = ConvexHull(points)
    slack = 5e-9 * np.ptp(points, axis=0).max()
    for face in hull.faces:
        corner, normal, corners = plane(hull, face)
        assert abs((corners - corner) @ normal).max() <= slack
        assert ((points - corner) @ normal).max() <= slack


@settings(deadline=None)
@given(cloud())
def test_faces_are_convex_and_anticlockwise(points):
    hull = ConvexHull(points)
    slack = 5e-9 * np.ptp(points, axis=0).max()
    for face in hull.faces:
        _, normal, corners = plane(hull, face)
        along = np.roll(corners, -1, axis=0) - corners
        for start, edge in zip(corners, along, strict=True):
            inward = np.cross(normal, edge / np.linalg.norm(edge))
            assert ((corners - start) @ inward).min() >= -slack


@settings(deadline=None)
@given(cloud())
def test_no_two_faces_lie_in_one_plane(points):
    hull = ConvexHull(points)
    normals = {
        edge: plane(hull, face)[1] for face in hull.faces for edge in zip(face, face[1:] + face[:1], strict=True)
    }
    assert all((normals[edge] != normals[edge[::-1]]).any() for edge in normals)
    if len(hull.vertices) > 4:
        # What lies across an edge is out of the plane of the face, measured at its farthest corner.
        far = 1e-10 * np.ptp(points, axis=0).max()
        owner = {edge: face for face in hull.faces for edge in zip(face, face[1:] + face[:1], strict=True)}
        for a, b in owner:
            corner, normal, _ = plane(hull, owner[a, b])
            assert ((hull.vertices[list(owner[b, a])] - corner) @ normal).min() < -far


@settings(deadline=None)
@given(cloud(), st.floats(1e-3, 1e4))
def test_mass_properties_are_those_of_the_hull_trimesh_finds(points, density):
    offset = points.mean(axis=0)
    near = trimesh.convex.convex_hull(points - offset)
    hull = ConvexHull(points)
    got = hull.mass_properties(density)
    inertia = density * near.moment_inertia
    assert_allclose(hull.volume(), near.volume, rtol=1e-7)
    assert_allclose(got.mass, density * near.volume, rtol=1e-7)
    assert_allclose(got.center_of_mass, offset + near.center_mass, atol=1e-7 * near.extents.max())
    assert_allclose(got.inertia, inertia, atol=1e-7 * np.linalg.norm(inertia, 2))


@settings(deadline=None)
@given(cloud(), direction)
def test_support_bounds_and_radius_are_those_of_the_points(points, d):
    hull, slack = ConvexHull(points), 5e-9 * np.ptp(points, axis=0).max()
    assert_allclose(hull.support(d) @ d, (points @ d).max(), rtol=0, atol=2 * slack)
    assert (hull.support(d) == hull.vertices).all(axis=1).any()
    assert_allclose(hull.bounds(), (points.min(axis=0), points.max(axis=0)), rtol=0, atol=slack)
    assert_allclose(hull.bounding_radius(), np.sqrt((points**2).sum(axis=1)).max(), rtol=0, atol=slack)


@given(st.tuples(*[st.floats(-3, 0)] * 3), size, turn, st.sampled_from([0.0, 1.0, 1e3]), st.randoms())
def test_the_corners_of_a_box_in_any_pose_give_six_quadrilaterals(powers, scale, rotation, away, random):
    edge = scale * 10.0 ** np.array(powers)
    points = rotation.apply(CUBE[random.sample(range(8), 8)] * edge) + away * scale
    hull = ConvexHull(points)
    assert [len(face) for face in hull.faces] == [4] * 6
    assert len(hull.vertices) == 8
    # The coordinates carry eps times their own size; the shortest edge sees that.
    assert_allclose(hull.volume(), np.prod(edge), rtol=1e-12 + 1e-14 * (1 + away) * scale / edge.min())


@given(st.integers(3, 7), turn)
def test_points_inside_a_box_on_its_faces_and_on_its_edges_are_left_out(count, rotation):
    lattice = np.array(list(product(np.linspace(-0.5, 0.5, count), repeat=3))) * [1.0, 2.0, 3.0]
    hull = ConvexHull(rotation.apply(lattice))
    expected = [point for point in lattice if (abs(point) == [0.5, 1.0, 1.5]).all()]
    assert_allclose(hull.vertices, rotation.apply(expected), rtol=0, atol=1e-15)
    assert [len(face) for face in hull.faces] == [4] * 6


@pytest.mark.parametrize("noise", [1e-14, 1e-12, 1e-10])
def test_faces_bent_by_rounding_stay_whole(noise):
    rng = np.random.default_rng(3)
    lattice = np.array(list(product(np.linspace(-0.5, 0.5, 5), repeat=3)))
    for rotation in Rotation.random(20, random_state=1):
        hull = ConvexHull(rotation.apply(lattice) + noise * rng.uniform(-1, 1, lattice.shape))
        assert [len(face) for face in hull.faces] == [4] * 6


@pytest.mark.parametrize("bend", [1e-7, 1e-5, 1e-3])
def test_faces_that_are_truly_bent_stay_apart(bend):
    roof = np.vstack([CUBE, [[0.0, -0.5, 0.5 + bend], [0.0, 0.5, 0.5 + bend]]])
    assert sorted(len(face) for face in ConvexHull(roof).faces) == [4, 4, 4, 4, 4, 5, 5]


@pytest.mark.parametrize("sides", [3, 4, 7, 100, 500])
def test_a_prism_has_its_two_ends_and_its_sides(sides):
    angle = 2 * math.pi * np.arange(sides) / sides
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.vstack([np.column_stack([ring, np.full(sides, z)]) for z in (-1.0, 1.0)])
    hull = ConvexHull(Rotation.from_rotvec([0.3, -1.2, 0.7]).apply(points))
    assert sorted(len(face) for face in hull.faces) == sorted([4] * sides + [sides] * 2)
    assert_allclose(hull.volume(), sides * math.sin(2 * math.pi / sides), rtol=1e-13)


def test_a_thousand_points_on_a_ball_are_all_corners():
    points = np.random.default_rng(0).standard_normal((1000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points)
    assert np.array_equal(hull.vertices, points + 0.0)
    assert len(hull.faces) == 1996


def test_the_platonic_solids_have_their_volumes_and_moments():
    tetrahedron = ConvexHull([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    octahedron = ConvexHull(np.vstack([np.eye(3), -np.eye(3)]))
    cube = ConvexHull(2.0 * CUBE)
    assert [(len(solid.vertices), len(solid.faces)) for solid in (tetrahedron, octahedron, cube)] == [
        (4, 4),
        (6, 8),
        (8, 6),
    ]
    # Edges √8, √2, 2: V = a³/(6√2), a³√2/3, a³ and J = m a²/20, m a²/10, m a²/6.
    for solid, volume, moment in ((tetrahedron, 8 / 3, 8 / 20), (octahedron, 4 / 3, 2 / 10), (cube, 8.0, 4 / 6)):
        got = solid.mass_properties(2.0)
        assert_allclose(got.mass, 2.0 * volume, rtol=1e-14)
        assert_allclose(got.inertia, got.mass * moment * np.eye(3), atol=1e-14 * got.mass)
        assert_allclose(got.center_of_mass, 0.0, atol=1e-15)


@given(size, size, size)
def test_the_hull_of_the_corners_of_a_box_weighs_what_the_box_weighs(x, y, z):
    got, box = ConvexHull(CUBE * [x, y, z]).mass_properties(3.0), Box(x, y, z).mass_properties(3.0)
    assert_allclose(got.mass, box.mass, rtol=1e-12)
    assert_allclose(got.inertia, box.inertia, atol=1e-12 * np.trace(box.inertia))


@settings(deadline=None)
@given(cloud())
def test_the_hull_of_the_corners_is_the_same_hull(points):
    hull = ConvexHull(points)
    again = ConvexHull(hull.vertices)
    assert again == hull
    assert again.faces == hull.faces


@given(st.randoms(), st.floats(0.0, 1e-13))
def test_corners_keep_the_order_given_and_repeated_points_change_nothing(random, nudge):
    order = random.sample(range(8), 8)
    points = CUBE[order]
    repeated = np.vstack([points, points[random.sample(range(8), 5)] + nudge, [[0, 0, 0]]])
    assert np.array_equal(ConvexHull(points).vertices, points)
    assert ConvexHull(repeated) == ConvexHull(points)


@settings(deadline=None)
@given(cloud())
def test_triangles_cut_every_face_and_face_outward(points):
    hull = ConvexHull(points)
    assert len(hull.triangles) == sum(len(face) - 2 for face in hull.faces)
    mesh = trimesh.Trimesh(hull.vertices, hull.triangles, process=False)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0.0


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e-55, 1e55, 1e200, 1e307])
def test_hulls_of_any_size_are_found(scale):
    hull = ConvexHull(CUBE * scale)
    assert [len(face) for face in hull.faces] == [4] * 6


def test_where_triangles_join_to_no_convex_face_they_stay_apart(monkeypatch):
    monkeypatch.setattr(hull_face_module, "_is_convex", lambda *_: False)
    hull = ConvexHull(CUBE)
    assert [len(face) for face in hull.faces] == [3] * 12
    assert_allclose(hull.volume(), 1.0, rtol=1e-14)


def test_a_dented_loop_is_not_convex():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0.4, 0.6, 0], [0, 1, 0]], dtype=float)
    assert not hull_face_module._is_convex(square, (0, 1, 2, 3, 4), 1e-9)
    assert hull_face_module._is_convex(square, (0, 1, 2, 4), 1e-9)


def test_a_face_with_a_hole_gives_no_loops():
    """A cut-off pyramid whose sides count as one face: two loops around it."""
    points = np.array([[x, y, 0.0] for x, y in [(-2, -2), (2, -2), (2, 2), (-2, 2)]] + [[0.0, 0.0, 1.0]])
    triangles, neighbours = hull_face_module._triangles(np.vstack([points, points[:4] * 0.5 + [0, 0, 0.8]]))
    top = [i for i, corners in enumerate(triangles) if 4 in corners]
    bottom = [i for i, corners in enumerate(triangles) if max(corners) < 4]
    home = [0] * len(triangles)
    for group, members in ((1, top), (2, bottom)):
        for index in members:
            home[index] = group
    assert hull_face_module._loops(triangles, neighbours, home) == []


def test_hulls_are_equal_by_content():
    hull, twin = ConvexHull(CUBE), ConvexHull((CUBE * -1.0)[::-1] + -0.0)
    assert hull == twin
    assert hash(hull) == hash(twin)
    assert hull != ConvexHull(2.0 * CUBE)
    assert hull != "hull"
    assert repr(hull) == "ConvexHull(8 vertices, 6 faces)"


@pytest.mark.parametrize("again", [lambda h: h, copy.copy, copy.deepcopy, lambda h: pickle.loads(pickle.dumps(h))])
def test_arrays_of_a_hull_and_of_its_copies_are_read_only(again):
    points = CUBE.copy()
    hull = again(ConvexHull(points))
    for array in (hull.vertices, hull.points, hull.triangles):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    points[0] = 5.0
    assert hull == ConvexHull(CUBE)
    assert hull.faces == ConvexHull(CUBE).faces


PLANE = np.random.default_rng(0).standard_normal((20, 2)) @ [[0.3, 0.4, 0.7], [-0.1, 0.9, 0.2]] + [1.1, 2.3, 0.1]
FLAT = "points of ConvexHull lie in one plane; it needs at least 4 that do not."


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (CUBE[:3], "ConvexHull has 3 points; it needs at least 4 that do not lie in one plane."),
        (np.zeros((0, 3)), "ConvexHull has 0 points; it needs at least 4 that do not lie in one plane."),
        (PLANE, f"The 20 {FLAT}"),
        (np.outer(np.arange(5), [1, 2, 3]), f"The 5 {FLAT}"),
        (np.ones((6, 3)), f"The 6 {FLAT}"),
        (CUBE * [1, 1, 1e-9], f"The 8 {FLAT}"),
        (CUBE + 1e14, f"The 8 {FLAT}"),
        ([[0, 0], [1, 1]], "The array of points of ConvexHull has shape (2, 2); it must be nx3 numbers."),
        ([[0, 0, np.inf]], "The array of points of ConvexHull is [[0, 0, inf]]; every entry must be finite."),
        ("cube", "The array of points of ConvexHull is 'cube'; it must be nx3 numbers."),
        (np.sign(CUBE) * 1e308, "The points of ConvexHull lie too far apart to compute with; scale them down."),
    ],
)
def test_points_that_span_no_solid_are_refused(points, message):
    with pytest.raises(InputError) as caught:
        ConvexHull(points)
    assert str(caught.value) == message


def test_what_qhull_refuses_is_refused_in_a_sentence():
    with pytest.raises(InputError, match=r"^The convex hull of 4 points cannot be found: QH"):
        hull_face_module._triangles(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]]))


def test_density_of_a_hull_must_be_positive():
    with pytest.raises(InputError, match=r"^The density of ConvexHull is 0; it must be greater than zero\.$"):
        ConvexHull(CUBE).mass_properties(0)


def test_the_zero_direction_has_no_support_point():
    with pytest.raises(InputError, match=r"^The direction of a support point of ConvexHull is the zero vector;"):
        ConvexHull(CUBE).support((0, 0, 0))
