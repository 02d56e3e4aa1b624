"""Distances by GJK against closed forms, certificates, a convex programme and another library."""

import itertools

import numpy as np
import pytest
import warp as wp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from rattleback.collision.closest import Found
from rattleback.collision.colliders import Colliders, Hulls, Places
from rattleback.collision.items import Items
from rattleback.collision.narrowphase.gjk import GJK, KINDS, Bounds, find_by_gjk, handled
from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real

SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL, PLANE, MESH = range(9)
KIND_PAIRS = list(itertools.combinations_with_replacement(range(7), 2))
VERTICES = 12
FAR = 1e30


class Solid:
    """One convex solid at its place."""

    def __init__(self, kind, size=(0, 0, 0), shell=0.0, vertices=None, position=(0, 0, 0), turn=None):
        self.kind, self.size, self.round = kind, np.array(size, float), float(shell)
        self.vertices = np.zeros((0, 3)) if vertices is None else np.array(vertices, float)
        self.position = np.array(position, float)
        self.rotation = (turn or Rotation.identity()).as_matrix()

    def at(self, position, turn=None):
        out = Solid(self.kind, self.size, self.round, self.vertices, position, turn)
        return out if turn is not None else out._turned(self.rotation)

    def _turned(self, rotation):
        self.rotation = rotation
        return self

    def extent(self):
        return self.size.max() + self.round + max([0.0, *np.linalg.norm(self.vertices, axis=1)])

    def low(self, n):
        """Least n · x over the solid; n (directions, 3)."""
        n = np.atleast_2d(n)
        d, s = n @ self.rotation, self.size
        across = np.hypot(d[:, 0], d[:, 1])
        least = {
            SPHERE: lambda: 0 * across,
            CAPSULE: lambda: -s[2] * abs(d[:, 2]),
            BOX: lambda: -abs(d) @ s,
            CYLINDER: lambda: -s[0] * across - s[2] * abs(d[:, 2]),
            CONE: lambda: np.minimum(-s[0] * across - s[2] * d[:, 2], s[2] * d[:, 2]),
            ELLIPSOID: lambda: -np.linalg.norm(d * s, axis=1),
            HULL: lambda: (d @ self.vertices.T).min(axis=1),
        }[self.kind]()
        return n @ self.position + least - self.round

    def excess(self, point):
        """How far outside a point lies, or less than that; zero or less on or in the solid."""
        x, s = self.rotation.T @ (point - self.position), self.size
        rho = np.hypot(x[0], x[1])
        if self.kind == HULL and len(self.vertices) == 3:
            return max((x - self.vertices[0]) @ n for n in triangle_sides(self.vertices)) - self.round
        if self.kind == HULL:
            planes = ConvexHull(self.vertices).equations
            return max(planes[:, :3] @ x + planes[:, 3]) - self.round
        slope = np.hypot(2 * s[2], s[0])
        return {
            SPHERE: lambda: np.linalg.norm(x),
            CAPSULE: lambda: np.linalg.norm(x - [0, 0, np.clip(x[2], -s[2], s[2])]),
            BOX: lambda: np.linalg.norm(np.maximum(abs(x) - s, 0)),
            CYLINDER: lambda: np.linalg.norm(np.maximum([rho - s[0], abs(x[2]) - s[2]], 0)),
            CONE: lambda: max(-s[2] - x[2], (2 * s[2] * (rho - s[0]) + s[0] * (x[2] + s[2])) / slope),
            ELLIPSOID: lambda: (np.linalg.norm(x / s) - 1) * s.min(),
        }[self.kind]() - self.round


def triangle_sides(v):
    """Normals of the plane of a triangle, up and down."""
    n = np.cross(v[1] - v[0], v[2] - v[0])
    n /= np.linalg.norm(n)
    return n, -n


def least_along(pair, n):
    """min n · (a − b) over both solids: a lower bound of the distance for every unit n, the separation for the best."""
    a, b = pair
    return a.low(n) + b.low(-np.atleast_2d(n))


def measure(pairs, device="cpu", gap=FAR, rounds=128, handles=None):
    """Answers for many pairs, in world coordinates: separations, normals, points of A, points of B."""
    n = len(pairs)
    solids = [solid for pair in pairs for solid in pair]
    starts = np.cumsum([0, *(len(s.vertices) for s in solids)])
    triangle = [s.kind == HULL and len(s.vertices) == 3 for s in solids]
    colliders = arrays.allocate(Colliders, {"colliders": 2 * n}, device)
    places = arrays.allocate(Places, {"colliders": 2 * n}, device)
    items = arrays.allocate(Items, {"items": n, "pairs_and_one": n + 1, "one": 1}, device)
    found = arrays.allocate(Found, {"items": n}, device)
    counts = dict.fromkeys((entry.axis for entry in arrays.fields(Hulls).values()), 1)
    hulls = arrays.allocate(Hulls, counts | {"hulls": 2 * n, "hull_vertices": int(starts[-1]) + 1}, device)

    def put(array, values, kind=numpy_real):
        array.assign(np.array(values, dtype=kind))

    put(colliders.kind, [MESH if flat else s.kind for s, flat in zip(solids, triangle, strict=True)], np.int32)
    put(colliders.size, [s.size for s in solids])
    put(colliders.round, [s.round for s in solids])
    put(colliders.first, starts[:-1], np.int32)
    put(colliders.count, [len(s.vertices) for s in solids], np.int32)
    put(colliders.hull, [i if s.kind == HULL and not triangle[i] else -1 for i, s in enumerate(solids)], np.int32)
    put(hulls.vertex, np.vstack([*(s.vertices for s in solids), np.zeros((1, 3))]))
    put(hulls.center, [s.vertices.mean(axis=0) if s.kind == HULL else np.zeros(3) for s in solids])
    put(places.position, [s.position for s in solids])
    put(places.rotation, [s.rotation for s in solids])
    put(items.a, np.arange(0, 2 * n, 2), np.int32)
    put(items.b, np.arange(1, 2 * n, 2), np.int32)
    items.needed.fill_(n)
    found.separation.fill_(FAR)
    bounds = Bounds()
    bounds.far, bounds.most = gap, rounds
    table = wp.array(np.ones(81, np.int32) if handles is None else handles, dtype=wp.int32, device=device)
    wp.launch(find_by_gjk, n, [items, colliders, places, hulls, table, bounds, found], device=device)
    out = arrays.read(found)
    origin = np.array([pair[0].position for pair in pairs])
    return out["separation"], out["normal"], out["point_a"] + origin, out["point_b"] + origin


def random_solid(rng, kind, lowest=0.1, highest=1.0, shell=None, turn=True):
    size = np.exp(rng.uniform(np.log(lowest), np.log(highest), 3))
    if kind in (CYLINDER, CONE):
        size[1] = size[0]
    own = size.max() * rng.uniform(0.2, 1) if kind in (SPHERE, CAPSULE) else 0.05 * size.min() * (rng.random() < 0.3)
    vertices = None
    if kind == HULL:
        vertices = rng.normal(size=(rng.choice([3, 4, VERTICES]), 3))
        vertices *= size / np.linalg.norm(vertices, axis=1)[:, None]
    size = {SPHERE: np.zeros(3), CAPSULE: size * [0, 0, 1], HULL: np.zeros(3)}.get(kind, size)
    place = Rotation.random(random_state=rng) if turn else None
    return Solid(kind, size, own if shell is None else shell, vertices, turn=place)


def random_pair(rng, kinds, spread=(0.0, 1.0), **sizes):
    a, b = (random_solid(rng, kind, **sizes) for kind in kinds)
    d = rng.normal(size=3)
    d *= (a.extent() + b.extent()) * rng.uniform(*spread) / np.linalg.norm(d)
    return a, b.at(d)


def random_pairs(seed, each, spread=(0.0, 1.0), **sizes):
    """Pairs of all kinds, in both orders."""
    rng = np.random.default_rng(seed)
    both = [*KIND_PAIRS, *((b, a) for a, b in KIND_PAIRS if a != b)]
    return [random_pair(rng, kinds, spread, **sizes) for kinds in both for _ in range(each)]


def scale_of(pair):
    a, b = pair
    return max(a.extent(), b.extent())


def check(pairs, answers, tolerance=1e-8):
    """What must hold of every answer: finite, of one piece, on both surfaces, and the normal says the same."""
    separation, normal, point_a, point_b = answers
    for values in answers:
        assert np.isfinite(values).all()
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    for k, pair in enumerate(pairs):
        size = scale_of(pair)
        assert abs(normal[k] @ (point_a[k] - point_b[k]) - separation[k]) <= 1e-12 * size
        assert pair[0].excess(point_a[k]) <= tolerance * size
        assert pair[1].excess(point_b[k]) <= tolerance * size
        assert abs(least_along(pair, normal[k])[0] - separation[k]) <= tolerance * size


def assert_apart_is_right(pairs, answers):
    """Apart, a point of each as far apart as the slab between them: nothing can be nearer."""
    check(pairs, answers)
    separation, _, point_a, point_b = answers
    for k, pair in enumerate(pairs):
        core = separation[k] + pair[0].round + pair[1].round
        if core > 1e-9 * scale_of(pair) and separation[k] > 0:
            gap = np.linalg.norm(point_a[k] - point_b[k])
            assert gap - separation[k] <= 1e-12 * scale_of(pair)


def ball(radius, position):
    return Solid(SPHERE, shell=radius, position=position)


def test_two_balls_are_as_far_apart_as_their_centres_less_their_radii():
    rng = np.random.default_rng(0)
    pairs = [
        (ball(r, x), ball(s, y))
        for r, s, x, y in ((*rng.uniform(0.1, 1, 2), *rng.normal(size=(2, 3))) for _ in range(20))
    ]
    separation, normal, _, _ = measure(pairs)
    for k, (a, b) in enumerate(pairs):
        way = a.position - b.position
        assert separation[k] == pytest.approx(np.linalg.norm(way) - a.round - b.round, abs=1e-14)
        np.testing.assert_allclose(normal[k], way / np.linalg.norm(way), atol=1e-14)


@pytest.mark.parametrize(
    ("place", "nearest"),
    [((2, 0.1, 0.2), (0.5, 0.1, 0.2)), ((2, 1, 0.2), (0.5, 0.4, 0.2)), ((2, 1, -1), (0.5, 0.4, -0.3))],
    ids=["face", "edge", "corner"],
)
def test_a_ball_is_nearest_to_a_face_an_edge_or_a_corner_of_a_box(place, nearest):
    box = Solid(BOX, (0.5, 0.4, 0.3))
    separation, normal, point_a, point_b = measure([(ball(0.25, place), box)])
    way = np.subtract(place, nearest)
    assert separation[0] == pytest.approx(np.linalg.norm(way) - 0.25, abs=1e-14)
    np.testing.assert_allclose(normal[0], way / np.linalg.norm(way), atol=1e-14)
    np.testing.assert_allclose(point_b[0], nearest, atol=1e-14)
    np.testing.assert_allclose(point_a[0], place - 0.25 * normal[0], atol=1e-14)


@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4])
def test_parallel_faces_of_two_boxes_are_as_far_apart_as_their_planes(yaw):
    a = Solid(BOX, (0.5, 0.4, 0.3), position=(0.1, 0.2, 1.0), turn=Rotation.from_rotvec([0, 0, yaw]))
    separation, normal, point_a, point_b = measure([(a, Solid(BOX, (1, 1, 0.2)))])
    assert separation[0] == pytest.approx(0.5, abs=1e-14)
    np.testing.assert_allclose(normal[0], (0, 0, 1), atol=1e-14)
    np.testing.assert_allclose((point_a[0][2], point_b[0][2]), (0.7, 0.2), atol=1e-14)


def test_crossing_capsules_are_as_far_apart_as_their_axes_less_their_radii():
    turn = Rotation.from_rotvec([0, np.pi / 2, 0])
    a = Solid(CAPSULE, (0, 0, 1), 0.1, position=(0, 0.7, 0.3), turn=turn)
    separation, normal, _, _ = measure([(a, Solid(CAPSULE, (0, 0, 1), 0.2))])
    assert separation[0] == pytest.approx(0.4, abs=1e-14)
    np.testing.assert_allclose(normal[0], (0, 1, 0), atol=1e-14)


def test_random_pairs_of_all_kinds_come_with_proofs_of_their_distances():
    pairs = random_pairs(1, 12, spread=(0.3, 1.3))
    assert_apart_is_right(pairs, measure(pairs))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_distances_are_right_at_every_size(scale):
    pairs = random_pairs(2, 3, spread=(0.3, 1.3), lowest=0.1 * scale, highest=scale)
    assert_apart_is_right(pairs, measure(pairs))


def test_distances_of_needles_and_of_unequal_solids_are_right():
    pairs = random_pairs(3, 5, spread=(0.1, 1.2), lowest=1e-3, highest=1.0)
    assert_apart_is_right(pairs, measure(pairs))


def test_distances_far_from_the_origin_of_the_world_keep_their_digits():
    pairs = random_pairs(4, 2, spread=(0.5, 1.3))
    away = np.array([1000.0, -2000.0, 500.0])
    near = measure(pairs)
    far = measure([(a.at(a.position + away), b.at(b.position + away)) for a, b in pairs])
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
def test_distances_agree_with_a_convex_programme(kinds):
    rng = np.random.default_rng(5)
    for _ in range(3):
        a, b = random_pair(rng, kinds, spread=(1.2, 1.6))
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
        assert measure([(a, b)])[0][0] == pytest.approx(np.sqrt(best.fun), abs=1e-6)


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


def test_distances_of_all_kinds_agree_with_another_library():
    """Coal stops at 1e-6; where it differs by more than that, the slab or the points prove who is right."""
    coal = pytest.importorskip("coal")
    rng = np.random.default_rng(6)
    pairs = []
    for kinds in KIND_PAIRS:
        for _ in range(4):
            pair = random_pair(rng, kinds, spread=(0.6, 1.3))
            for solid in pair:
                solid.round *= solid.kind in (SPHERE, CAPSULE)
            if all(len(solid.vertices) != 3 for solid in pair):
                pairs.append(pair)
    answers = measure(pairs)
    check(pairs, answers)
    request = coal.DistanceRequest()
    for k, (a, b) in enumerate(pairs):
        places = [coal.Transform3s(solid.rotation, solid.position) for solid in (a, b)]
        result = coal.DistanceResult()
        theirs = coal.distance(coal_shape(coal, a), places[0], coal_shape(coal, b), places[1], request, result)
        if answers[0][k] > 0:
            proven = np.linalg.norm(answers[2][k] - answers[3][k]) - least_along((a, b), answers[1][k])[0] <= 1e-8
            assert abs(theirs - answers[0][k]) <= 2e-6 or proven
        else:
            assert theirs <= 2e-6


seeds = st.integers(0, 2**32 - 1)
kinds_of_two = st.tuples(st.integers(0, 6), st.integers(0, 6))


@given(seeds, kinds_of_two)
def test_the_order_of_the_two_solids_does_not_matter(seed, kinds):
    pair = random_pair(np.random.default_rng(seed), kinds, spread=(0.2, 1.3))
    separation, normal, _, _ = measure([pair, pair[::-1]])
    size = scale_of(pair)
    assert separation[0] == pytest.approx(separation[1], abs=1e-9 * size)
    if separation[0] > 1e-3 * size:
        np.testing.assert_allclose(normal[0], -normal[1], atol=1e-5)


@given(seeds, kinds_of_two)
def test_a_motion_of_both_solids_moves_the_answer_along(seed, kinds):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, kinds, spread=(0.2, 1.3))
    turn, away = Rotation.random(random_state=rng), rng.normal(size=3)
    moved = [solid.at(turn.apply(solid.position) + away)._turned(turn.as_matrix() @ solid.rotation) for solid in pair]
    separation, normal, _, _ = measure([pair, moved])
    size = scale_of(pair)
    assert separation[1] == pytest.approx(separation[0], abs=1e-9 * size)
    if separation[0] > 1e-3 * size:
        np.testing.assert_allclose(normal[1], turn.apply(normal[0]), atol=1e-5)


@given(seeds, kinds_of_two)
def test_moving_a_solid_along_the_normal_changes_the_distance_by_as_much(seed, kinds):
    pair = random_pair(np.random.default_rng(seed), kinds, spread=(0.5, 1.3))
    separation, normal, _, _ = measure([pair])
    size = scale_of(pair)
    away = (pair[0].at(pair[0].position + 0.3 * size * normal[0]), pair[1])
    assert measure([away])[0][0] == pytest.approx(separation[0] + 0.3 * size, abs=1e-9 * size)


@given(seeds, kinds_of_two, st.floats(-13, -3))
def test_the_answer_varies_continuously_through_touching(seed, kinds, exponent):
    """From clearly apart, A is moved back until the cores are a hair apart, or overlap by a hair.

    The normal is as exact as the root of the rounding, so the way back misses by less than 1e-6 of the size.
    """
    pair = random_pair(np.random.default_rng(seed), kinds, spread=(1.2, 1.3))
    a, b = pair
    size = scale_of(pair)
    a.round = b.round = 0.0
    separation, normal, _, _ = measure([pair])
    assume(separation[0] > 0.01 * size)
    hair = 10.0**exponent * size
    for way in (hair, 0.0, -hair):
        moved = (a.at(a.position + (way - separation[0]) * normal[0]), b)
        now, turned, _, _ = measure([moved])
        # Points, segments and triangles pass through each other.
        most = hair if all(solid.kind in (SPHERE, CAPSULE, HULL) for solid in moved) else max(way, 0.0)
        assert way - 1e-6 * size <= now[0] <= most + 1e-6 * size
        assert abs(least_along(moved, turned[0])[0] - now[0]) <= 1e-6 * size
        if way > 1e-5 * size:
            np.testing.assert_allclose(turned[0], normal[0], atol=0.1)


def test_pairs_beyond_the_contact_distance_come_out_beyond_it():
    pairs = random_pairs(7, 3, spread=(0.5, 2.0))
    exact, short = measure(pairs)[0], measure(pairs, gap=0.05)[0]
    beyond = exact > 0.05
    assert ((short > 0.05) == beyond).all()
    assert (short[beyond] <= exact[beyond] + 1e-12).all()
    np.testing.assert_array_equal(short[~beyond], exact[~beyond])


def test_a_few_rounds_give_the_best_answer_so_far():
    pairs = random_pairs(8, 1, spread=(1.0, 1.5))
    exact, short = measure(pairs)[0], measure(pairs, rounds=3)[0]
    assert np.isfinite(short).all()
    assert (short >= exact - 1e-9).all()


def test_only_the_pairs_of_kinds_asked_for_are_looked_at():
    pairs = [(Solid(BOX, (1, 1, 1)), ball(0.1, (3, 0, 0))), (ball(0.1, (3, 0, 0)), ball(0.1, (0, 0, 0)))]
    separation = measure(pairs, handles=handled((SPHERE, BOX), frozenset({(SPHERE, SPHERE)})))[0]
    assert separation[0] == pytest.approx(1.9)
    assert separation[1] == FAR


def test_planes_and_pairs_of_meshes_are_left_to_others():
    table = handled((BOX, PLANE, MESH)).reshape(KINDS, KINDS)
    assert table[BOX, MESH] == table[MESH, BOX] == table[BOX, BOX] == 1
    assert table.sum() == 3


def test_a_number_of_rounds_below_one_is_refused():
    with pytest.raises(InputError, match="max_iterations of GJK is 0; it must be at least 1."):
        GJK(max_iterations=0)


class Recorded:
    """A program that only notes what is recorded."""

    def __init__(self):
        self.launched = []

    def launch(self, kernel, dim, *inputs):
        self.launched.append((kernel, dim))


def test_the_method_records_one_launch_of_its_own_and_none_where_there_is_nothing_for_it():
    class Geometry:
        kinds = (BOX, SPHERE)
        device = "cpu"
        colliders = hulls = None

    items = arrays.allocate(Items, {"items": 7, "pairs_and_one": 1, "one": 1}, "cpu")
    program = Recorded()
    planes = frozenset({(PLANE, BOX)})
    GJK(leave_out=planes).record(program, Geometry, items, None, 0.01, None)
    assert program.launched == [(find_by_gjk, 7)]
    Geometry.kinds = (PLANE,)
    GJK(leave_out=planes).record(program, Geometry, items, None, 0.01, None)
    assert len(program.launched) == 1


@pytest.mark.cuda
def test_cuda_and_cpu_agree():
    pairs = random_pairs(9, 5)
    here, there = measure(pairs), measure(pairs, device="cuda")
    np.testing.assert_allclose(there[0], here[0], atol=1e-9)


@pytest.mark.slow
def test_many_random_pairs_come_with_proofs_of_their_distances():
    for seed in range(10):
        pairs = random_pairs(100 + seed, 60, spread=(0.3, 1.3), lowest=10.0 ** -(seed % 4), highest=1.0)
        assert_apart_is_right(pairs, measure(pairs))
