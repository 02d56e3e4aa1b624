"""Points at ellipsoids, cylinders and cones: nearest points found by search, focal discs, smooth rolling, an oracle."""

import numpy as np
import pytest
from scipy.optimize import minimize

PAIRS = ["sphere", "capsule", "box", "cylinder", "cone", "ellipsoid"]


def at(bench, solid, points):
    """Answers for balls without a radius at these points (count, 3)."""
    return bench.solve([(bench.Thing("sphere", position=x), solid) for x in points])


def nearest_by_search(radii, x):
    """Least distance from x to an ellipsoid: a grid of angles, then a polish from the best of them."""

    def place(u, v):
        return np.stack([radii[0] * np.cos(u) * np.cos(v), radii[1] * np.sin(u) * np.cos(v), radii[2] * np.sin(v)], -1)

    u, v = np.meshgrid(np.linspace(-np.pi, np.pi, 181), np.linspace(-np.pi / 2, np.pi / 2, 91))
    distances = np.linalg.norm(place(u, v) - x, axis=-1)
    best = np.argsort(distances, axis=None)[:2]
    polished = [
        minimize(
            lambda w: np.linalg.norm(place(*w) - x),
            (u.flat[k], v.flat[k]),
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-15},
        ).fun
        for k in best
    ]
    return min(polished)


@pytest.mark.parametrize("radii", [(1.0, 2.0, 3.0), (3.0, 1.0, 1.0), (1.0, 3.0, 3.0), (0.3, 0.1, 2.0)])
def test_no_point_of_an_ellipsoid_is_nearer(bench, radii):
    random = np.random.default_rng(1)
    points = random.normal(size=(12, 3)) * random.choice([0.3, 1.0, 4.0], (12, 1))
    points[0, 0] = points[1, 1] = points[2, 2] = 0.0
    found = at(bench, bench.Thing("ellipsoid", radii), points)
    for x, distance, q in zip(points, found.separation, found.point_b, strict=True):
        assert abs(distance) == pytest.approx(nearest_by_search(radii, x), abs=1e-13)
        assert (distance < 0.0) == (np.linalg.norm(x / radii) < 1.0)
        assert np.linalg.norm(q / radii) == pytest.approx(1.0, abs=1e-14)


def test_points_of_the_focal_ellipse_are_nearest_to_what_the_formula_says(bench):
    # For x_m = 0 inside the focal ellipse, q_i = e_i² x_i / (e_i² − e_m²) and q_m makes up the rest.
    radii = np.array([3.0, 2.0, 1.0])
    points = np.array(
        [[0.0, 0, 0], [1.0, 0, 0], [-1.0, 0.5, 0], [0, -1.4, 0], [2.6, 0.0, 0], [8 / 3, 0, 0], [2.7, 0, 0]]
    )
    found = at(bench, bench.Thing("ellipsoid", radii), points)
    for x, separation, q in zip(points, found.separation, found.point_b, strict=True):
        expected = np.array([radii[0] ** 2 * x[0] / 8.0, radii[1] ** 2 * x[1] / 3.0, 0.0])
        left = 1.0 - np.sum((expected / radii) ** 2)
        if left < 0.0:
            expected = np.array([3.0, 0.0, 0.0])
        else:
            expected[2] = np.sqrt(left)
        np.testing.assert_allclose(q, expected, atol=1e-7 if 0.0 <= left < 1e-12 else 1e-14)
        assert separation == pytest.approx(-np.linalg.norm(expected - x), abs=1e-14)


def test_the_distance_is_continuous_through_the_focal_disc(bench):
    radii = (3.0, 2.0, 1.0)
    heights = np.concatenate([-np.logspace(-300, -1, 60)[::-1], [0.0], np.logspace(-300, -1, 60)])
    for x in ((0.0, 0.0), (1.0, 0.5), (8 / 3, 0.0), (2.9, 0.0)):
        found = at(bench, bench.Thing("ellipsoid", radii), [(*x, z) for z in heights])
        assert np.all(np.abs(np.diff(found.separation)) <= np.diff(heights) + 1e-15)
        np.testing.assert_allclose(found.separation, found.separation[::-1], atol=1e-15)
        sides = np.sign(found.normal[:, 2])
        assert np.all(sides[heights > 1e-30] == 1.0)
        assert np.all(sides[heights < -1e-30] == -1.0)


def test_points_off_a_needle_come_back_to_where_they_were_lifted_from(bench):
    random = np.random.default_rng(2)
    for radii in ((1e-3, 1.0, 1e-3), (1e3, 1.0, 1e3), (1e-3, 2e-3, 1e-3), (1.0, 1e3, 30.0)):
        u = random.normal(size=(200, 3))
        u /= np.linalg.norm(u, axis=1)[:, None]
        surface = u * radii
        normals = u / radii
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        # Outward any height is right; inward less than the smallest radius of curvature e_min² / e_max.
        inward = 0.5 * min(radii) ** 2 / max(radii)
        heights = np.where(random.random(200) < 0.5, -inward, 10.0 ** random.uniform(-6, 1, 200) * max(radii))
        found = at(bench, bench.Thing("ellipsoid", radii), surface + heights[:, None] * normals)
        scale = max(radii) + np.abs(heights)
        assert np.all(np.abs(found.separation - heights) < 1e-14 * scale)
        # Rounding of x moves q along the surface by at most the rounding times the ratio of curvatures.
        assert np.all(np.linalg.norm(found.point_b - surface, axis=1) < 1e-14 * scale * (max(radii) / min(radii)) ** 2)


@pytest.mark.parametrize(("kind", "size"), [("cylinder", (1, 1, 1)), ("ellipsoid", (1, 1, 2)), ("cone", (1, 1, 1))])
def test_a_ball_rolling_around_sees_a_normal_that_turns_evenly(bench, kind, size):
    angles = np.linspace(0.0, 2.0 * np.pi, 2001)
    centres = np.stack([1.2 * np.cos(angles), 1.2 * np.sin(angles), 0.0 * angles + 0.1], axis=1)
    solid = bench.Thing(kind, size)
    found = bench.solve([(bench.Thing("sphere", round=0.3, position=x), solid) for x in centres])
    assert np.ptp(found.separation) < 1e-14
    turns = np.linalg.norm(np.diff(found.normal, axis=0), axis=1)
    assert np.ptp(turns) < 1e-13
    around = np.unwrap(np.arctan2(found.normal[:, 1], found.normal[:, 0]))
    np.testing.assert_allclose(around, angles, atol=1e-13)


def test_a_ball_rolling_over_the_length_of_an_ellipsoid_sees_a_smooth_normal(bench):
    radii = np.array([2.0, 1.0, 0.5])
    angles = np.linspace(0.0, 2.0 * np.pi, 4001)
    u = np.stack([np.cos(angles), 0.0 * angles, np.sin(angles)], axis=1)
    normals = u / radii
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    pairs = [
        (bench.Thing("sphere", round=0.1, position=x), bench.Thing("ellipsoid", radii))
        for x in u * radii + 0.1 * normals
    ]
    found = bench.solve(pairs)
    assert np.max(np.abs(found.separation)) < 1e-14
    np.testing.assert_allclose(found.normal, normals, atol=1e-13)


def coal_shape(coal, thing):
    a, b, c = thing.size
    return {
        "sphere": lambda: coal.Sphere(thing.round),
        "capsule": lambda: coal.Capsule(thing.round, 2.0 * c),
        "box": lambda: coal.Box(2.0 * a, 2.0 * b, 2.0 * c),
        "cylinder": lambda: coal.Cylinder(a, 2.0 * c),
        "cone": lambda: coal.Cone(a, 2.0 * c),
        "ellipsoid": lambda: coal.Ellipsoid(a, b, c),
    }[thing.kind]()


@pytest.mark.parametrize(
    "kinds", [*(("sphere", k) for k in PAIRS), ("capsule", "capsule"), ("capsule", "box")], ids="-".join
)
def test_the_coal_library_finds_the_same_distance(bench, kinds):
    coal = pytest.importorskip("coal")
    random = np.random.default_rng(3)
    pairs = []
    for _ in range(60):
        a, b = (bench.make(kind, random) for kind in kinds)
        for thing in (a, b):
            thing.round *= thing.kind in ("sphere", "capsule")
        pairs.append((a.at(random.normal(size=3) * random.choice([0.5, 1.0, 2.0])), b))
    found = bench.solve(pairs)
    for (a, b), separation in zip(pairs, found.separation, strict=True):
        shapes = [coal_shape(coal, thing) for thing in (a, b)]
        poses = [coal.Transform3s(thing.rotation, np.asarray(thing.position, float)) for thing in (a, b)]
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.gjk_tolerance, request.epa_tolerance = 1e-10, 1e-8
        request.gjk_max_iterations = request.epa_max_iterations = 2000
        expected = coal.distance(shapes[0], poses[0], shapes[1], poses[1], request, result)
        assert separation > expected - 1e-7
        # Out of a cylinder, coal's way for a ball whose centre is inside is not always the shortest.
        if b.kind != "cylinder" or separation > -a.round:
            assert separation < expected + 1e-7
