"""Distances by GJK against closed forms, certificates, a convex programme and another library."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from rattleback.collision.narrowphase.gjk.gjk import handled

SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL = range(7)


def test_two_balls_are_as_far_apart_as_their_centres_less_their_radii(rig):
    rng = np.random.default_rng(0)
    pairs = [
        (rig.ball(r, x), rig.ball(s, y))
        for r, s, x, y in ((*rng.uniform(0.1, 1, 2), *rng.normal(size=(2, 3))) for _ in range(20))
    ]
    separation, normal, _, _ = rig.measure(pairs)
    for k, (a, b) in enumerate(pairs):
        way = a.position - b.position
        assert separation[k] == pytest.approx(np.linalg.norm(way) - a.round - b.round, abs=1e-14)
        np.testing.assert_allclose(normal[k], way / np.linalg.norm(way), atol=1e-14)


@pytest.mark.parametrize(
    ("place", "nearest"),
    [((2, 0.1, 0.2), (0.5, 0.1, 0.2)), ((2, 1, 0.2), (0.5, 0.4, 0.2)), ((2, 1, -1), (0.5, 0.4, -0.3))],
    ids=["face", "edge", "corner"],
)
def test_a_ball_is_nearest_to_a_face_an_edge_or_a_corner_of_a_box(rig, place, nearest):
    box = rig.Solid(BOX, (0.5, 0.4, 0.3))
    separation, normal, point_a, point_b = rig.measure([(rig.ball(0.25, place), box)])
    way = np.subtract(place, nearest)
    assert separation[0] == pytest.approx(np.linalg.norm(way) - 0.25, abs=1e-14)
    np.testing.assert_allclose(normal[0], way / np.linalg.norm(way), atol=1e-14)
    np.testing.assert_allclose(point_b[0], nearest, atol=1e-14)
    np.testing.assert_allclose(point_a[0], place - 0.25 * normal[0], atol=1e-14)


@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4])
def test_parallel_faces_of_two_boxes_are_as_far_apart_as_their_planes(rig, yaw):
    a = rig.Solid(BOX, (0.5, 0.4, 0.3), position=(0.1, 0.2, 1.0), turn=Rotation.from_rotvec([0, 0, yaw]))
    separation, normal, point_a, point_b = rig.measure([(a, rig.Solid(BOX, (1, 1, 0.2)))])
    assert separation[0] == pytest.approx(0.5, abs=1e-14)
    np.testing.assert_allclose(normal[0], (0, 0, 1), atol=1e-14)
    np.testing.assert_allclose((point_a[0][2], point_b[0][2]), (0.7, 0.2), atol=1e-14)


def test_crossing_capsules_are_as_far_apart_as_their_axes_less_their_radii(rig):
    turn = Rotation.from_rotvec([0, np.pi / 2, 0])
    a = rig.Solid(CAPSULE, (0, 0, 1), 0.1, position=(0, 0.7, 0.3), turn=turn)
    separation, normal, _, _ = rig.measure([(a, rig.Solid(CAPSULE, (0, 0, 1), 0.2))])
    assert separation[0] == pytest.approx(0.4, abs=1e-14)
    np.testing.assert_allclose(normal[0], (0, 1, 0), atol=1e-14)


def test_random_pairs_of_all_kinds_come_with_proofs_of_their_distances(rig):
    pairs = rig.random_pairs(1, 12, spread=(0.3, 1.3))
    rig.assert_apart_is_right(pairs, rig.measure(pairs))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_distances_are_right_at_every_size(rig, scale):
    pairs = rig.random_pairs(2, 3, spread=(0.3, 1.3), lowest=0.1 * scale, highest=scale)
    rig.assert_apart_is_right(pairs, rig.measure(pairs))


def test_distances_of_needles_and_of_unequal_solids_are_right(rig):
    pairs = rig.random_pairs(3, 5, spread=(0.1, 1.2), lowest=1e-3, highest=1.0)
    rig.assert_apart_is_right(pairs, rig.measure(pairs))


def test_distances_far_from_the_origin_of_the_world_keep_their_digits(rig):
    pairs = rig.random_pairs(4, 2, spread=(0.5, 1.3))
    away = np.array([1000.0, -2000.0, 500.0])
    near = rig.measure(pairs)
    far = rig.measure([(a.at(a.position + away), b.at(b.position + away)) for a, b in pairs])
    np.testing.assert_allclose(far[0], near[0], atol=1e-11)


def inside(solid, x):
    """Smooth functions of a point in the solid's own frame that are not negative inside its core."""
    s, rho = solid.size, x[0] ** 2 + x[1] ** 2
    if solid.kind == BOX:
        return [*(s - x), *(s + x)]
    if solid.kind == ELLIPSOID:
        return [1 - (x / s) @ (x / s)]
    if solid.kind == CYLINDER:
        return [s[0] ** 2 - rho, s[2] - x[2], s[2] + x[2]]
    return [(s[0] * (s[2] - x[2]) / (2 * s[2])) ** 2 - rho, s[2] - x[2], s[2] + x[2]]


@pytest.mark.parametrize("kinds", [(BOX, CYLINDER), (BOX, CONE), (BOX, ELLIPSOID), (CYLINDER, CYLINDER)])
def test_distances_agree_with_a_convex_programme(rig, kinds):
    rng = np.random.default_rng(5)
    for _ in range(3):
        a, b = rig.random_pair(rng, kinds, spread=(1.2, 1.6))
        a.round = b.round = 0.0

        def place(x, a=a, b=b):
            return a.position + a.rotation @ x[:3], b.position + b.rotation @ x[3:]

        best = minimize(
            lambda x, place=place: np.sum(np.subtract(*place(x)) ** 2),
            np.zeros(6),
            constraints={"type": "ineq", "fun": lambda x, a=a, b=b: [*inside(a, x[:3]), *inside(b, x[3:])]},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        assert rig.measure([(a, b)])[0][0] == pytest.approx(np.sqrt(best.fun), abs=1e-6)


def coal_shape(coal, solid):
    s = solid.size
    if solid.kind == HULL:
        points = coal.StdVec_Vec3s()
        for vertex in solid.vertices:
            points.append(vertex)
        return coal.Convex.convexHull(points, False, None)
    return {
        SPHERE: lambda: coal.Sphere(solid.round),
        CAPSULE: lambda: coal.Capsule(solid.round, 2 * s[2]),
        BOX: lambda: coal.Box(*(2 * s)),
        CYLINDER: lambda: coal.Cylinder(s[0], 2 * s[2]),
        CONE: lambda: coal.Cone(s[0], 2 * s[2]),
        ELLIPSOID: lambda: coal.Ellipsoid(*s),
    }[solid.kind]()


def test_distances_of_all_kinds_agree_with_another_library(rig):
    """Coal stops at 1e-6; where it differs by more than that, the slab or the points prove who is right."""
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(6)
    pairs = []
    for kinds in rig.kind_pairs:
        for _ in range(4):
            pair = rig.random_pair(rng, kinds, spread=(0.6, 1.3))
            for solid in pair:
                solid.round *= solid.kind in (SPHERE, CAPSULE)
            if all(len(solid.vertices) != 3 for solid in pair):
                pairs.append(pair)
    answers = rig.measure(pairs)
    rig.check(pairs, answers)
    request = coal.DistanceRequest()
    for k, (a, b) in enumerate(pairs):
        places = [coal.Transform3s(solid.rotation, solid.position) for solid in (a, b)]
        result = coal.DistanceResult()
        theirs = coal.distance(coal_shape(coal, a), places[0], coal_shape(coal, b), places[1], request, result)
        if answers[0][k] > 0:
            proven = np.linalg.norm(answers[2][k] - answers[3][k]) - rig.least_along((a, b), answers[1][k])[0] <= 1e-8
            assert abs(theirs - answers[0][k]) <= 2e-6 or proven
        else:
            assert theirs <= 2e-6


seeds = st.integers(0, 2**32 - 1)
kinds_of_two = st.tuples(st.integers(0, 6), st.integers(0, 6))


@given(seeds, kinds_of_two)
def test_the_order_of_the_two_solids_does_not_matter(rig, seed, kinds):
    pair = rig.random_pair(np.random.default_rng(seed), kinds, spread=(0.2, 1.3))
    separation, normal, _, _ = rig.measure([pair, pair[::-1]])
    size = rig.scale_of(pair)
    assert separation[0] == pytest.approx(separation[1], abs=1e-9 * size)
    if separation[0] > 1e-3 * size:
        np.testing.assert_allclose(normal[0], -normal[1], atol=1e-5)


@given(seeds, kinds_of_two)
def test_a_motion_of_both_solids_moves_the_answer_along(rig, seed, kinds):
    rng = np.random.default_rng(seed)
    pair = rig.random_pair(rng, kinds, spread=(0.2, 1.3))
    turn, away = Rotation.random(random_state=rng), rng.normal(size=3)
    moved = [solid.at(turn.apply(solid.position) + away)._turned(turn.as_matrix() @ solid.rotation) for solid in pair]
    separation, normal, _, _ = rig.measure([pair, moved])
    size = rig.scale_of(pair)
    assert separation[1] == pytest.approx(separation[0], abs=1e-9 * size)
    if separation[0] > 1e-3 * size:
        np.testing.assert_allclose(normal[1], turn.apply(normal[0]), atol=1e-5)


@given(seeds, kinds_of_two)
def test_moving_a_solid_along_the_normal_changes_the_distance_by_as_much(rig, seed, kinds):
    pair = rig.random_pair(np.random.default_rng(seed), kinds, spread=(0.5, 1.3))
    separation, normal, _, _ = rig.measure([pair])
    size = rig.scale_of(pair)
    away = (pair[0].at(pair[0].position + 0.3 * size * normal[0]), pair[1])
    assert rig.measure([away])[0][0] == pytest.approx(separation[0] + 0.3 * size, abs=1e-9 * size)


@given(seeds, kinds_of_two, st.floats(-13, -3))
def test_the_answer_varies_continuously_through_touching(rig, seed, kinds, exponent):
    """From clearly apart, A is moved back until the cores are a hair apart, or overlap by a hair.

    The normal is as exact as the root of the rounding, so the way back misses by less than 1e-6 of the size.
    """
    pair = rig.random_pair(np.random.default_rng(seed), kinds, spread=(1.2, 1.3))
    a, b = pair
    size = rig.scale_of(pair)
    a.round = b.round = 0.0
    separation, normal, _, _ = rig.measure([pair])
    assume(separation[0] > 0.01 * size)
    hair = 10.0**exponent * size
    for way in (hair, 0.0, -hair):
        moved = (a.at(a.position + (way - separation[0]) * normal[0]), b)
        now, turned, _, _ = rig.measure([moved])
        # Points, segments and triangles pass through each other.
        most = hair if all(solid.kind in (SPHERE, CAPSULE, HULL) for solid in moved) else max(way, 0.0)
        assert way - 1e-6 * size <= now[0] <= most + 1e-6 * size
        assert abs(rig.least_along(moved, turned[0])[0] - now[0]) <= 1e-6 * size
        if way > 1e-5 * size:
            np.testing.assert_allclose(turned[0], normal[0], atol=0.1)


def test_pairs_beyond_the_contact_distance_come_out_beyond_it(rig):
    pairs = rig.random_pairs(7, 3, spread=(0.5, 2.0))
    exact, short = rig.measure(pairs)[0], rig.measure(pairs, gap=0.05)[0]
    beyond = exact > 0.05
    assert ((short > 0.05) == beyond).all()
    assert (short[beyond] <= exact[beyond] + 1e-12).all()
    np.testing.assert_array_equal(short[~beyond], exact[~beyond])


def test_a_few_rounds_give_the_best_answer_so_far(rig):
    pairs = rig.random_pairs(8, 1, spread=(1.0, 1.5))
    exact, short = rig.measure(pairs)[0], rig.measure(pairs, rounds=3)[0]
    assert np.isfinite(short).all()
    assert (short >= exact - 1e-9).all()


def test_only_the_pairs_of_kinds_asked_for_are_looked_at(rig):
    pairs = [
        (rig.Solid(BOX, (1, 1, 1)), rig.ball(0.1, (3, 0, 0))),
        (rig.ball(0.1, (3, 0, 0)), rig.ball(0.1, (0, 0, 0))),
    ]
    separation = rig.measure(pairs, handles=handled((SPHERE, BOX), frozenset({(SPHERE, SPHERE)})))[0]
    assert separation[0] == pytest.approx(1.9)
    assert separation[1] == rig.far


@pytest.mark.cuda
def test_cuda_and_cpu_agree(rig):
    pairs = rig.random_pairs(9, 5)
    here, there = rig.measure(pairs), rig.measure(pairs, device="cuda")
    np.testing.assert_allclose(there[0], here[0], atol=1e-9)


@pytest.mark.slow
def test_many_random_pairs_come_with_proofs_of_their_distances(rig):
    for seed in range(10):
        pairs = rig.random_pairs(100 + seed, 60, spread=(0.3, 1.3), lowest=10.0 ** -(seed % 4), highest=1.0)
        rig.assert_apart_is_right(pairs, rig.measure(pairs))
