"""Distances of placements: closed forms, another library, symmetry, many pairs at once, surfaces and compounds."""

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb

METHODS = ["closed_forms", "gjk", "vclip"]
SHAPES = {
    "sphere": rb.Sphere(0.4),
    "box": rb.Box(1.0, 0.6, 0.8),
    "capsule": rb.Capsule(0.2, 1.2),
    "cylinder": rb.Cylinder(0.4, 0.9),
    "cone": rb.Cone(0.5, 1.0),
    "hull": rb.ConvexHull(np.random.default_rng(1).normal(size=(14, 3)) * 0.4),
}


def random_poses(count, seed, spread):
    rng = np.random.default_rng(seed)
    return rng.uniform(-spread, spread, (count, 3)), rb.rotation.random(count, seed=seed + 1000)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_above_a_box_is_as_far_as_the_sizes_say(method):
    found = rb.collision.distance(rb.Placed(rb.Sphere(0.5), position=(0.1, 0.2, 2)), rb.Box(1, 1, 1), method)
    assert isinstance(found.distance, float)
    assert found.distance == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(found.normal, (0, 0, 1), atol=1e-9)
    np.testing.assert_allclose(found.point_a, (0.1, 0.2, 1.5), atol=1e-9)
    np.testing.assert_allclose(found.point_b, (0.1, 0.2, 0.5), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_overlapping_boxes_have_the_depth_of_their_shortest_way_out(method):
    other = rb.Placed(rb.Box(1, 1, 1), position=(0.05, 0.1, 0.8))
    found = rb.collision.distance(rb.Box(1, 1, 1), other, method)
    assert found.distance == pytest.approx(-0.2, abs=1e-9)
    np.testing.assert_allclose(found.normal, (0, 0, -1), atol=1e-6)
    assert found.overlap
    assert rb.collision.penetration(rb.Box(1, 1, 1), other, method) == pytest.approx(0.2, abs=1e-9)
    assert rb.collision.overlap(rb.Box(1, 1, 1), other, method) is True


@given(st.floats(0.1, 3.0), st.floats(0.1, 3.0), st.tuples(*[st.floats(-5, 5)] * 3))
def test_two_balls_are_apart_by_the_distance_of_their_centers_less_their_radii(r, s, p):
    found = rb.collision.distance(rb.Placed(rb.Sphere(r), position=p), rb.Sphere(s))
    assert found.distance == pytest.approx(np.linalg.norm(p) - r - s, abs=1e-12)


def coal_shape(coal, shape):
    if isinstance(shape, rb.Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, rb.Box):
        return coal.Box(shape.x, shape.y, shape.z)
    if isinstance(shape, rb.Capsule):
        return coal.Capsule(shape.radius, shape.length - 2 * shape.radius)
    if isinstance(shape, rb.Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, rb.Cone):
        return coal.Cone(shape.radius, shape.height)
    points = coal.StdVec_Vec3s()
    points.extend(list(shape.vertices))
    triangles = coal.StdVec_Triangle()
    triangles.extend([coal.Triangle(*map(int, t)) for t in shape.triangles])
    return coal.Convex(points, triangles)


def coal_distances(shapes, poses):
    coal = pytest.importorskip("coal")
    one, two = (coal_shape(coal, shape) for shape in shapes)
    found = []
    for p, q, r, s in zip(*poses, strict=True):
        places = [coal.Transform3s(rb.rotation.matrix_from_quaternion(turn), at) for at, turn in ((p, q), (r, s))]
        result = coal.DistanceResult()
        request = coal.DistanceRequest()
        request.enable_signed_distance = True
        coal.distance(one, places[0], two, places[1], request, result)
        found.append(result.min_distance)
    return np.array(found)


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
def test_distances_agree_with_coal(first, second):
    (p, q), (r, s) = random_poses(20, seed=1, spread=1.0), random_poses(20, seed=2, spread=1.0)
    expected = coal_distances((SHAPES[first], SHAPES[second]), (p, q, r, s))
    poses = rb.collision.Poses
    found = rb.collision.distance(poses(SHAPES[first], p, q), poses(SHAPES[second], r, s)).distance
    apart = expected > 1e-6
    np.testing.assert_allclose(found[apart], expected[apart], atol=2e-6)
    np.testing.assert_array_equal(found[expected < -1e-6] < 0.0, True)


@pytest.mark.parametrize("method", METHODS)
def test_exchanging_the_two_exchanges_the_points_and_turns_the_normal(method):
    for first in SHAPES.values():
        for second in SHAPES.values():
            (p, q), (r, s) = random_poses(8, seed=3, spread=1.0), random_poses(8, seed=4, spread=1.0)
            a, b = rb.collision.Poses(first, p, q), rb.collision.Poses(second, r, s)
            one, two = rb.collision.distance(a, b, method), rb.collision.distance(b, a, method)
            np.testing.assert_allclose(one.distance, two.distance, atol=1e-9)
            gap = np.einsum("ij,ij->i", one.normal, one.point_a - one.point_b)
            np.testing.assert_allclose(gap, one.distance, atol=1e-9)
            apart = one.distance > 1e-3
            np.testing.assert_allclose(one.normal[apart], -two.normal[apart], atol=1e-5)


def test_many_pairs_give_what_single_ones_give_bit_for_bit():
    (p, q), (r, s) = random_poses(12, seed=5, spread=0.8), random_poses(12, seed=6, spread=0.8)
    for name in ("box", "cone"):
        many = rb.collision.distance(rb.collision.Poses(SHAPES[name], p, q), rb.collision.Poses(SHAPES["box"], r, s))
        for k in range(len(p)):
            a, b = rb.Placed(SHAPES[name], p[k], q[k]), rb.Placed(SHAPES["box"], r[k], s[k])
            one = rb.collision.distance(a, b)
            assert one.distance == many.distance[k]
            np.testing.assert_array_equal(one.point_a, many.point_a[k])


def test_one_against_many_and_many_against_one_are_spread():
    p, q = random_poses(9, seed=7, spread=2.0)
    boxes = rb.collision.Poses(rb.Box(1, 1, 1), p, q)
    one = rb.collision.distance(rb.Sphere(0.1), boxes)
    two = rb.collision.distance(boxes, [rb.Sphere(0.1)])
    assert one.distance.shape == (9,)
    assert one.normal.shape == (9, 3)
    np.testing.assert_array_equal(one.distance, two.distance)
    turned = rb.collision.distance(rb.collision.Poses(rb.Box(2, 1, 1), (0, 0, 0), q), rb.Plane(offset=-5))
    assert turned.distance.shape == (9,)


def test_pairs_looked_at_in_portions_are_the_same(monkeypatch):
    from rattleback.collision.queries import pairwise

    dumbbell = rb.Compound([rb.Placed(rb.Sphere(0.3), (x, 0, 0)) for x in (-0.5, 0.0, 0.5)])
    p, q = random_poses(50, seed=8, spread=1.5)
    whole = rb.collision.distance(rb.collision.Poses(dumbbell, p, q), dumbbell)
    monkeypatch.setattr(pairwise, "PORTION", 40)
    parts = rb.collision.distance(rb.collision.Poses(dumbbell, p, q), dumbbell)
    np.testing.assert_array_equal(whole.distance, parts.distance)
    np.testing.assert_array_equal(whole.point_b, parts.point_b)


def test_a_compound_is_as_near_as_its_nearest_part():
    pair = rb.Compound([rb.Placed(rb.Sphere(0.5), position=(-2, 0, 0)), rb.Placed(rb.Box(1, 1, 1), position=(2, 0, 0))])
    balls = rb.collision.Poses(rb.Sphere(0.25), [(-2, 0, 3), (2, 0, 3), (5, 0, 0)])
    np.testing.assert_allclose(rb.collision.distance(pair, balls).distance, [2.25, 2.25, 2.25])


def test_a_body_is_taken_where_it_stands_with_its_margin():
    scene = rb.Scene()
    cone = scene.add_body(rb.Cone(0.5, 2.0), origin=(0, 0, 3), margin=0.1)
    ground = scene.add_static(rb.Plane(), position=(0, 0, 1))
    # The base of the cone is 1 below its origin, and the margin 0.1 below that.
    assert rb.collision.distance(cone, ground).distance == pytest.approx(3 - 1 - 0.1 - 1)


def test_balls_are_as_far_from_a_mesh_as_another_library_says():
    ball = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
    points, faces = np.asarray(ball.vertices) * (1.0, 0.7, 1.3), np.asarray(ball.faces)
    p, _ = random_poses(60, seed=9, spread=2.0)
    corners = points[faces]
    expected = []
    for center in p:
        on = trimesh.triangles.closest_point(corners, np.broadcast_to(center, (len(corners), 3)))
        expected.append(np.linalg.norm(on - center, axis=1).min() - 0.2)
    found = rb.collision.distance(rb.collision.Poses(rb.Sphere(0.2), p), rb.Mesh(points, faces))
    np.testing.assert_allclose(found.distance, expected, atol=1e-9)


def test_boxes_are_as_far_from_a_mesh_as_coal_says():
    coal = pytest.importorskip("coal")
    ring = trimesh.creation.torus(1.0, 0.3, major_sections=24, minor_sections=12)
    mesh = rb.Mesh(np.asarray(ring.vertices), np.asarray(ring.faces))
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh.triangles), len(mesh.vertices))
    model.addVertices(np.array(mesh.vertices))
    model.addTriangles(np.array(mesh.triangles, dtype=np.int64))
    model.endModel()
    p, q = random_poses(40, seed=11, spread=2.0)
    found = rb.collision.distance(rb.collision.Poses(rb.Box(0.4, 0.3, 0.6), p, q), mesh)
    for k in range(len(p)):
        place = coal.Transform3s(rb.rotation.matrix_from_quaternion(q[k]), p[k])
        result = coal.DistanceResult()
        coal.distance(coal.Box(0.4, 0.3, 0.6), place, model, coal.Transform3s(), coal.DistanceRequest(), result)
        if result.min_distance > 1e-6:
            assert found.distance[k] == pytest.approx(result.min_distance, abs=1e-6)
        else:
            assert found.distance[k] <= 1e-6
    assert 0 < (found.distance < 0).sum() < len(p)


def test_overlap_says_what_the_sign_of_the_distance_says():
    ring = trimesh.creation.torus(1.0, 0.3, major_sections=12, minor_sections=8)
    others = [*SHAPES.values(), rb.Mesh(np.asarray(ring.vertices), np.asarray(ring.faces)), rb.Plane(offset=-0.3)]
    p, q = random_poses(60, seed=13, spread=1.2)
    for other in others:
        poses = rb.collision.Poses(rb.Box(0.5, 0.4, 0.6), p, q)
        met = rb.collision.overlap(poses, other)
        np.testing.assert_array_equal(met, rb.collision.distance(poses, other).distance <= 0.0)
        assert 0 < met.sum() < len(p)


def test_closest_points_are_those_of_the_distance():
    a, b = rb.collision.closest_points(rb.Placed(rb.Sphere(1.0), position=(0, 3, 0)), rb.Sphere(1.0))
    np.testing.assert_allclose(a, (0, 2, 0), atol=1e-12)
    np.testing.assert_allclose(b, (0, 1, 0), atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_distances_scale_with_sizes(scale):
    p, q = random_poses(50, seed=15, spread=1.0)
    one = rb.collision.distance(rb.collision.Poses(rb.Box(1, 0.5, 0.2), p, q), rb.Cylinder(0.4, 1.0))
    sized = rb.collision.Poses(rb.Box(scale, 0.5 * scale, 0.2 * scale), scale * p, q)
    two = rb.collision.distance(sized, rb.Cylinder(0.4 * scale, 1.0 * scale))
    np.testing.assert_allclose(two.distance, scale * one.distance, atol=1e-7 * scale)


@pytest.mark.cuda
def test_distances_on_cuda_are_those_on_the_cpu():
    (p, q), (r, s) = random_poses(500, seed=16, spread=1.0), random_poses(500, seed=17, spread=1.0)
    ring = trimesh.creation.torus(1.0, 0.3, major_sections=12, minor_sections=8)
    mesh = rb.Mesh(np.asarray(ring.vertices), np.asarray(ring.faces))
    for shape in [*SHAPES.values(), mesh]:
        a, b = rb.collision.Poses(rb.Box(0.4, 0.5, 0.9), p, q), rb.collision.Poses(shape, r, s)
        cpu, cuda = rb.collision.distance(a, b), rb.collision.distance(a, b, device="cuda")
        np.testing.assert_allclose(cuda.distance, cpu.distance, atol=1e-9)
