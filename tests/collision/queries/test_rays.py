"""Rays against every shape: membership found by sampling and bisection, triangles by brute force, closed forms."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull as Hull

import rattleback as rb

POINTS = np.random.default_rng(3).normal(size=(24, 3)) * (0.6, 0.9, 0.4) + (0.1, -0.2, 0.05)
EQUATIONS = Hull(POINTS).equations


def in_box(p, half, grow=0.0):
    return (np.abs(p) <= np.asarray(half) + grow).all(axis=-1)


def in_round_box(p, half, radius, grow=0.0):
    return np.linalg.norm(np.maximum(np.abs(p) - half, 0.0), axis=-1) <= radius + grow


def in_capsule(p, radius, half, grow=0.0):
    z = np.clip(p[..., 2], -half, half)
    return np.linalg.norm(p - np.stack([0 * z, 0 * z, z], axis=-1), axis=-1) <= radius + grow


def in_cylinder(p, radius, half, grow=0.0):
    return (np.hypot(p[..., 0], p[..., 1]) <= radius + grow) & (np.abs(p[..., 2]) <= half + grow)


def in_cone(p, radius, half, grow=0.0):
    side = np.hypot(p[..., 0], p[..., 1]) - radius * (half - p[..., 2]) / (2 * half)
    return (side <= grow) & (p[..., 2] >= -half - grow) & (p[..., 2] <= half + grow)


def in_ellipsoid(p, radii, grow=0.0):
    return np.linalg.norm(p / np.asarray(radii), axis=-1) <= 1.0 + grow / min(radii)


def in_hull(p, grow=0.0):
    return (p @ EQUATIONS[:, :3].T + EQUATIONS[:, 3] <= grow).all(axis=-1)


SOLIDS = {
    "sphere": (rb.Sphere(0.7), lambda p, g=0.0: np.linalg.norm(p, axis=-1) <= 0.7 + g),
    "box": (rb.Box(1.0, 0.6, 1.4), lambda p, g=0.0: in_box(p, (0.5, 0.3, 0.7), g)),
    "capsule": (rb.Capsule(0.3, 1.6), lambda p, g=0.0: in_capsule(p, 0.3, 0.5, g)),
    "cylinder": (rb.Cylinder(0.5, 1.2), lambda p, g=0.0: in_cylinder(p, 0.5, 0.6, g)),
    "flat cylinder": (rb.Cylinder(0.9, 0.01), lambda p, g=0.0: in_cylinder(p, 0.9, 0.005, g)),
    "cone": (rb.Cone(0.6, 1.4), lambda p, g=0.0: in_cone(p, 0.6, 0.7, g)),
    "blunt cone": (rb.Cone(0.9, 0.3), lambda p, g=0.0: in_cone(p, 0.9, 0.15, g)),
    "ellipsoid": (rb.Ellipsoid(0.9, 0.3, 0.5), lambda p, g=0.0: in_ellipsoid(p, (0.9, 0.3, 0.5), g)),
    "hull": (rb.ConvexHull(POINTS), in_hull),
}


def random_rays(count, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    origins = rng.normal(size=(count, 3))
    origins *= scale * rng.uniform(1.5, 4.0, (count, 1)) / np.linalg.norm(origins, axis=1, keepdims=True)
    targets = scale * rng.uniform(-0.7, 0.7, (count, 3))
    ways = targets - origins
    return origins, ways / np.linalg.norm(ways, axis=1, keepdims=True)


def sampled(inside, origins, ways, reach=6.0, steps=3000):
    """Distance to the first sample inside, bisected down to rounding; infinite where no sample is inside."""
    t = np.linspace(0.0, reach, steps)
    found = np.full(len(origins), np.inf)
    for k, (o, d) in enumerate(zip(origins, ways, strict=True)):
        into = inside(o + t[:, None] * d)
        if not into.any():
            continue
        high = int(np.argmax(into))
        low, up = (t[high - 1] if high else 0.0), t[high]
        for _ in range(60):
            middle = 0.5 * (low + up)
            low, up = (low, middle) if inside(o + middle * d) else (middle, up)
        found[k] = up
    return found


@pytest.mark.parametrize("name", SOLIDS)
def test_a_ray_enters_a_solid_where_sampling_says(name):
    shape, inside = SOLIDS[name]
    origins, ways = random_rays(300, seed=1)
    hits = rb.collision.ray_cast(shape, origins, ways)
    expected = sampled(inside, origins, ways)
    seen = np.isfinite(expected)
    assert hits.hit[seen].all()
    np.testing.assert_allclose(hits.distance[seen], expected[seen], rtol=0, atol=1e-11)
    grazing = hits.hit & ~seen
    assert grazing.mean() < 0.02
    assert inside(hits.point[grazing], 1e-9).all()
    assert 0.2 < hits.hit.mean() < 1.0


@pytest.mark.parametrize("name", SOLIDS)
def test_the_normal_of_a_hit_points_out_of_the_solid_and_against_the_ray(name):
    shape, inside = SOLIDS[name]
    origins, ways = random_rays(300, seed=2)
    hits = rb.collision.ray_cast(shape, origins, ways)
    entering = hits.hit & (hits.distance > 0.0)
    point, normal = hits.point[entering], hits.normal[entering]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-12)
    assert (np.einsum("ij,ij->i", normal, ways[entering]) < 0.0).all()
    assert not inside(point + 1e-6 * normal).any()
    assert inside(point - 1e-6 * normal).mean() > 0.98  # all but those next to an edge


@pytest.mark.parametrize("margin", [0.05, 0.4])
def test_a_margin_rounds_a_box_for_rays(margin):
    scene = rb.Scene()
    body = scene.add_body(rb.Box(1.0, 0.6, 0.4), margin=margin)
    origins, ways = random_rays(300, seed=5)
    hits = rb.collision.ray_cast(body, origins, ways)
    expected = sampled(lambda p, g=0.0: in_round_box(p, (0.5, 0.3, 0.2), margin, g), origins, ways)
    seen = np.isfinite(expected)
    np.testing.assert_allclose(hits.distance[seen], expected[seen], rtol=0, atol=1e-11)
    assert in_round_box(hits.point[hits.hit & ~seen], (0.5, 0.3, 0.2), margin, 1e-9).all()


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_hits_scale_with_sizes(scale):
    origins, ways = random_rays(200, seed=4)
    for one, large in [
        (rb.Cone(0.6, 1.4), rb.Cone(0.6 * scale, 1.4 * scale)),
        (rb.Capsule(0.3, 1.6), rb.Capsule(0.3 * scale, 1.6 * scale)),
        (rb.ConvexHull(POINTS), rb.ConvexHull(scale * POINTS)),
    ]:
        small = rb.collision.ray_cast(one, origins, ways)
        big = rb.collision.ray_cast(large, scale * origins, ways)
        np.testing.assert_array_equal(small.hit, big.hit)
        np.testing.assert_allclose(big.distance[big.hit], scale * small.distance[small.hit], rtol=1e-12)


def test_a_ray_from_afar_finds_a_small_ball():
    hit = rb.collision.ray_cast(rb.Sphere(1e-3), (1e6, 0, 0), (-1, 0, 0))
    assert hit.distance == pytest.approx(1e6 - 1e-3, abs=1e-9)


def test_a_ray_that_leaves_a_capsule_behind_misses_it():
    # The line meets the upper ball behind the origin, and the tube only beyond its end.
    assert not rb.collision.ray_cast(rb.Capsule(0.13, 0.45), (0.13, 0, 0.13), (0.56, 0, -0.83)).hit


def test_rays_along_the_side_of_a_cone_meet_it_only_where_it_is():
    radius, half = 0.4, 0.6
    side = np.array([radius, 0.0, -2.0 * half]) / np.hypot(radius, 2.0 * half)
    rng = np.random.default_rng(16)
    origins = rng.choice([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], (200, 3)) * rng.choice([radius, half, 1.0], (200, 1))
    ways = np.where(rng.random((200, 1)) < 0.5, side, side * (-1, 1, 1)) * rng.choice([-1, 1], (200, 1))
    hits = rb.collision.ray_cast(rb.Cone(radius, 2.0 * half), origins, ways)
    outer = sampled(lambda p: in_cone(p, radius, half, 1e-7), origins, ways, reach=12.0)
    inner = sampled(lambda p: in_cone(p, radius, half, -1e-7), origins, ways, reach=12.0)
    assert (hits.distance <= inner + 1e-6).all()
    at = np.nan_to_num(hits.point, nan=9.0)
    assert ((hits.distance >= outer - 1e-6) | (hits.hit & in_cone(at, radius, half, 1e-7))).all()
    assert hits.hit.any()
    assert not hits.hit.all()


def brute_force(vertices, triangles, origin, way):
    """The nearest of all triangles by solving three linear equations for each."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    system = np.stack([b - a, c - a, np.broadcast_to(-way, a.shape)], axis=-1)
    u, v, t = np.linalg.solve(system, (origin - a)[..., None])[..., 0].T
    good = (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0)
    return (np.inf, -1) if not good.any() else min((t[k], k) for k in np.flatnonzero(good))


def test_the_first_triangle_of_a_mesh_is_found():
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.8)
    bumpy = np.asarray(ball.vertices) * (1.0 + 0.2 * np.sin(9.0 * ball.vertices[:, :1]))
    mesh = rb.Mesh(bumpy, ball.faces)
    place = rb.Placed(mesh, position=(0.2, -0.1, 0.3), orientation=rb.rotation.random(1, seed=8)[0])
    origins, ways = random_rays(150, seed=6)
    origins[:30] *= 0.05  # from inside, too
    hits = rb.collision.ray_cast(place, origins, ways)
    placed = bumpy @ place.rotation.T + place.position
    for k in range(len(origins)):
        t, triangle = brute_force(placed, np.asarray(mesh.triangles), origins[k], ways[k])
        assert hits.distance[k] == pytest.approx(t, abs=1e-11)
        assert hits.triangle[k] == triangle
    assert hits.hit[:30].all()
    assert not hits.hit.all()


def test_no_ray_slips_through_the_seams_of_a_mesh():
    x = np.linspace(-1.0, 1.0, 9)
    field = rb.HeightField(np.zeros((9, 9)), spacing=0.25)
    corners = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    inner = corners[(np.abs(corners) < 0.99).all(axis=1)]
    shifts = np.array([(0.0, 0.0), (0.125, 0.0), (0.0, 0.125), (0.125, 0.125)])
    under = (inner[:, None] + shifts).reshape(-1, 2)
    origins = np.column_stack([under, np.full(len(under), 3.0)])
    targets = origins * (1.0, 1.0, 0.0)
    for way in [(0, 0, -1), (0.1, 0, -1), (0.3, -0.7, -1), (1e-9, 1e-9, -1)]:
        hits = rb.collision.ray_cast(field, targets - 3.0 * np.array(way), way)
        assert hits.hit.all()
        np.testing.assert_allclose(hits.point, targets, atol=1e-14)


def test_a_mesh_is_hit_from_both_sides_with_a_normal_that_faces_the_ray():
    mesh = rb.Mesh([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)])
    hits = rb.collision.ray_cast(mesh, [(0, 0, 1), (0, 0, -1)], [(0, 0, -2), (0, 0, 5)])
    np.testing.assert_allclose(hits.normal, [(0, 0, 1), (0, 0, -1)], atol=1e-15)
    np.testing.assert_allclose(hits.distance, [1.0, 1.0])


def test_the_nearest_of_many_placements_is_hit():
    rng = np.random.default_rng(9)
    centers, radii = rng.uniform(-5, 5, (200, 3)), rng.uniform(0.1, 0.6, 200)
    balls = [rb.Placed(rb.Sphere(r), position=c) for r, c in zip(radii, centers, strict=True)]
    origins, ways = random_rays(300, seed=10, scale=3.0)
    hits = rb.collision.ray_cast(balls, origins, ways)
    along = np.einsum("rbi,ri->rb", centers - origins[:, None], ways)
    square = radii**2 - np.linalg.norm(origins[:, None] + along[..., None] * ways[:, None] - centers, axis=2) ** 2
    enter = np.where(square >= 0, along - np.sqrt(np.maximum(square, 0)), np.inf)
    leave = np.where(square >= 0, along + np.sqrt(np.maximum(square, 0)), -np.inf)
    expected = np.where(leave < 0, np.inf, np.maximum(enter, 0.0))
    np.testing.assert_allclose(hits.distance, expected.min(axis=1), atol=1e-12)
    outside = hits.hit & (hits.distance > 0)
    np.testing.assert_array_equal(hits.index[outside], expected.argmin(axis=1)[outside])


def test_planes_and_solids_are_hit_together():
    things = [rb.Plane(offset=-1.0), rb.Placed(rb.Box(1, 1, 1), position=(3, 0, 0)), rb.Plane((1, 0, 0), -50.0)]
    hits = rb.collision.ray_cast(
        things, [(0, 0, 2), (3, 0, 2), (0, 0, 2), (0, 0, 2)], [(0, 0, -1), (0, 0, -1), (-1, 0, 0), (0, 0, 1)]
    )
    assert hits.index.tolist() == [0, 1, 2, -1]
    np.testing.assert_allclose(hits.distance, [3.0, 1.5, 50.0, np.inf])
    np.testing.assert_allclose(hits.normal[:3], [(0, 0, 1), (0, 0, 1), (1, 0, 0)], atol=1e-15)
    assert np.isnan(hits.point[3]).all()
    assert np.isnan(hits.normal[3]).all()


def test_a_ray_that_starts_inside_hits_at_once_against_its_direction():
    for shape, _ in SOLIDS.values():
        hit = rb.collision.ray_cast(shape, (0.01, 0.02, 0.001), (0, 2, 0))
        assert hit.hit is True
        assert hit.distance == 0.0
        np.testing.assert_allclose(hit.normal, (0, -1, 0))
        np.testing.assert_allclose(hit.point, (0.01, 0.02, 0.001))


def test_rays_end_at_their_maximal_distance():
    box = rb.Box(1, 1, 1)
    assert not rb.collision.ray_cast(box, (0, 0, 5), (0, 0, -1), max_distance=4.4).hit
    assert rb.collision.ray_cast(box, (0, 0, 5), (0, 0, -1), max_distance=4.6).hit
    many = rb.collision.ray_cast(box, (0, 0, 5), (0, 0, -1), max_distance=[4.4, 4.6, np.inf])
    assert many.hit.tolist() == [False, True, True]


def test_many_rays_give_what_single_ones_give_bit_for_bit():
    things = [rb.Placed(SOLIDS[name][0], position=(2.0 * k, 0, 0)) for k, name in enumerate(SOLIDS)]
    origins, ways = random_rays(40, seed=11, scale=4.0)
    many = rb.collision.ray_cast(things, origins, ways)
    for k in range(len(origins)):
        one = rb.collision.ray_cast(things, origins[k], ways[k])
        assert (one.hit, one.distance, one.index) == (many.hit[k], many.distance[k], many.index[k])


def test_the_part_of_a_compound_is_told():
    pair = rb.Compound([rb.Placed(rb.Sphere(0.5), position=(-2, 0, 0)), rb.Placed(rb.Sphere(0.5), position=(2, 0, 0))])
    hits = rb.collision.ray_cast(
        [rb.Placed(rb.Sphere(0.1), position=(0, 0, -9)), pair], [(-2, 0, 5), (2, 0, 5)], (0, 0, -1)
    )
    assert hits.index.tolist() == [1, 1]
    assert hits.part.tolist() == [0, 1]


def test_poses_of_one_shape_are_hit_as_placed_ones_are():
    positions, turns = np.random.default_rng(12).uniform(-3, 3, (30, 3)), rb.rotation.random(30, seed=13)
    cones = [rb.Placed(rb.Cone(0.4, 0.9), p, q) for p, q in zip(positions, turns, strict=True)]
    origins, ways = random_rays(100, seed=14, scale=2.0)
    a = rb.collision.ray_cast(cones, origins, ways)
    b = rb.collision.ray_cast(rb.collision.Poses(rb.Cone(0.4, 0.9), positions, turns), origins, ways)
    np.testing.assert_array_equal(a.distance, b.distance)
    np.testing.assert_array_equal(a.index, b.index)


@pytest.mark.cuda
def test_rays_on_cuda_hit_what_they_hit_on_the_cpu():
    mesh = rb.Mesh(
        *(np.asarray(x) for x in (trimesh.creation.icosphere(2).vertices, trimesh.creation.icosphere(2).faces))
    )
    things = [rb.Placed(shape, position=(2.0 * k, 0, 0)) for k, (shape, _) in enumerate(SOLIDS.values())]
    origins, ways = random_rays(500, seed=15, scale=4.0)
    cpu = rb.collision.ray_cast([*things, mesh, rb.Plane(offset=-3)], origins, ways)
    cuda = rb.collision.ray_cast([*things, mesh, rb.Plane(offset=-3)], origins, ways, device="cuda")
    np.testing.assert_allclose(cuda.distance, cpu.distance, rtol=1e-12)
    np.testing.assert_array_equal(cuda.index, cpu.index)
