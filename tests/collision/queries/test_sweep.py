"""Shapes on the move: closed forms, no contact before the first, contact at it, nothing passed over."""

import numpy as np
import pytest
import trimesh

import rattleback as rb

SHAPES = {
    "sphere": rb.Sphere(0.4),
    "box": rb.Box(1.0, 0.6, 0.8),
    "capsule": rb.Capsule(0.2, 1.2),
    "cylinder": rb.Cylinder(0.4, 0.9),
    "cone": rb.Cone(0.5, 1.0),
    "ellipsoid": rb.Ellipsoid(0.6, 0.3, 0.4),
    "hull": rb.ConvexHull(np.random.default_rng(1).normal(size=(14, 3)) * 0.4),
}


def moved(shape, start, turn, way, fraction):
    """A shape at fractions of its ways, row by row."""
    return rb.collision.Poses(shape, start + fraction[:, None] * way, turn)


def test_a_ball_falls_onto_a_box_as_far_as_the_sizes_say():
    touch = rb.collision.shape_cast(
        rb.Placed(rb.Sphere(0.5), position=(0.2, 0, 5)), (0, 0, -10), [rb.Plane(offset=-8.0), rb.Box(1, 1, 1)]
    )
    assert touch.hit is True
    assert touch.fraction == pytest.approx(0.4, abs=1e-14)
    assert touch.distance == pytest.approx(4.0, abs=1e-13)
    np.testing.assert_allclose(touch.point, (0.2, 0, 0.5), atol=1e-12)
    np.testing.assert_allclose(touch.normal, (0, 0, 1), atol=1e-12)
    assert (touch.index, touch.part) == (1, 0)


def test_a_ball_slides_into_a_ball_where_the_quadratic_says():
    # |(t, 1.2)| = 1.5 at t = ±0.9, seen from the other centre.
    touch = rb.collision.shape_cast(rb.Placed(rb.Sphere(1.0), position=(-4, 1.2, 0)), (8, 0, 0), rb.Sphere(0.5))
    assert touch.distance == pytest.approx(4 - 0.9, abs=1e-12)
    np.testing.assert_allclose(touch.normal, (-0.6, 0.8, 0), atol=1e-12)


@pytest.mark.parametrize("first", SHAPES)
@pytest.mark.parametrize("second", SHAPES)
def test_the_way_is_free_up_to_the_contact_and_no_further(first, second):
    rng = np.random.default_rng(5)
    starts = rng.normal(size=(6, 3))
    starts *= 3.0 / np.linalg.norm(starts, axis=1, keepdims=True)
    turns, ways = rb.rotation.random(6, seed=6), rng.uniform(-0.3, 0.3, (6, 3)) - 1.8 * starts
    one, two = SHAPES[first], rb.Placed(SHAPES[second], orientation=rb.rotation.random(1, seed=7)[0])
    touch = rb.collision.shape_cast(rb.collision.Poses(one, starts, turns), ways, two)
    motions = [np.repeat(part, 60, axis=0) for part in (starts, turns, ways)]
    fractions = np.linspace(0.0, 0.9999 * touch.fraction, 60, axis=1).ravel()
    assert (rb.collision.distance(moved(one, *motions, fractions), two).distance > 0.0).all()
    hit = touch.hit
    assert hit.any()
    at = rb.collision.distance(moved(one, starts[hit], turns[hit], ways[hit], touch.fraction[hit]), two).distance
    assert np.abs(at).max() < 1e-9
    assert (np.einsum("ij,ij->i", touch.normal[hit], ways[hit]) < 0.0).all()


def test_a_fast_ball_does_not_pass_a_thin_plate():
    plate = rb.Placed(rb.Box(1.0, 1.0, 0.001), position=(0, 0, -500))
    touch = rb.collision.shape_cast(rb.Sphere(0.005), (0, 0, -1000), plate)
    assert touch.distance == pytest.approx(500 - 0.0005 - 0.005, abs=1e-10)


def test_what_overlaps_at_the_start_touches_at_once():
    touch = rb.collision.shape_cast(rb.Sphere(0.5), (5, 0, 0), rb.Placed(rb.Box(1, 1, 1), position=(0, 0, 0.9)))
    assert touch.hit
    assert touch.fraction == 0.0
    np.testing.assert_allclose(touch.normal, (0, 0, -1), atol=1e-12)


def test_what_is_left_behind_or_passed_by_is_not_touched():
    for way in [(0, 0, 5), (5, 0, 0), (0, 0, 0), (0, 0, -1.999)]:
        touch = rb.collision.shape_cast(rb.Sphere(0.5), way, rb.Plane(offset=-2.5))
        assert not touch.hit
        assert touch.fraction == 1.0
        assert touch.distance == pytest.approx(np.linalg.norm(way))
        assert touch.index == -1
        assert np.isnan(touch.point).all()


def test_a_ball_meets_a_mesh_where_a_ray_meets_the_mesh_moved_outward():
    # Of a cube of triangles, the faces moved outward by the radius.
    cube = trimesh.creation.box((2.0, 2.0, 2.0)).subdivide().subdivide()
    mesh = rb.Mesh(np.asarray(cube.vertices), np.asarray(cube.faces))
    rng = np.random.default_rng(8)
    starts = np.column_stack([rng.uniform(-0.9, 0.9, (30, 2)), rng.uniform(2.0, 4.0, 30)])
    touch = rb.collision.shape_cast(rb.collision.Poses(rb.Sphere(0.25), starts), (0, 0, -10), mesh)
    np.testing.assert_allclose(touch.distance, starts[:, 2] - 1.25, atol=1e-12)
    # From inside, against the wall.
    inside = rb.collision.shape_cast(rb.Sphere(0.25), (0, 0, 10), mesh)
    assert inside.distance == pytest.approx(0.75, abs=1e-12)


def test_a_compound_touches_with_the_part_that_comes_first():
    table = rb.Compound([rb.Placed(rb.Box(2, 2, 0.1)), rb.Placed(rb.Box(0.1, 0.1, 1.0), position=(0.9, 0.9, -0.5))])
    steps = rb.Compound([rb.Placed(rb.Box(9, 9, 1)), rb.Placed(rb.Box(0.2, 0.2, 0.5), position=(0.9, 0.9, 0.75))])
    touch = rb.collision.shape_cast(rb.Placed(table, position=(0, 0, 5)), (0, 0, -9), [rb.Sphere(0.1), steps])
    # Its leg ends 1.0 below it, the step is 1.0 high.
    assert touch.distance == pytest.approx(5 - 1.0 - 1.0, abs=1e-12)
    assert (touch.index, touch.part) == (1, 1)


def test_many_motions_of_one_shape_are_single_ones():
    ways = np.random.default_rng(9).normal(size=(20, 3)) * 5.0
    obstacles = [rb.Placed(rb.Box(1, 1, 1), position=p) for p in np.random.default_rng(10).uniform(-4, 4, (30, 3))]
    many = rb.collision.shape_cast(rb.Capsule(0.2, 1.0), ways, obstacles)
    for k in range(20):
        one = rb.collision.shape_cast(rb.Capsule(0.2, 1.0), ways[k], obstacles)
        assert (one.hit, one.distance, one.index) == (many.hit[k], many.distance[k], many.index[k])
    assert 0 < many.hit.sum() < 20


@pytest.mark.cuda
def test_shape_casts_on_cuda_are_those_on_the_cpu():
    ways = np.random.default_rng(9).normal(size=(50, 3)) * 5.0
    obstacles = [
        rb.Placed(s, position=p) for s, p in zip(SHAPES.values(), np.eye(3).repeat(3, axis=0) * 3, strict=False)
    ]
    for shape in SHAPES.values():
        cpu = rb.collision.shape_cast(shape, ways, obstacles)
        cuda = rb.collision.shape_cast(shape, ways, obstacles, device="cuda")
        np.testing.assert_allclose(cuda.distance, cpu.distance, atol=1e-9)
