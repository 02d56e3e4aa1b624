"""Depths by EPA against exact Minkowski differences, dense sampling, closed forms and degenerate places."""

import itertools

import numpy as np
import pytest
import warp as wp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.gjk.gjk import Bounds, find_by_gjk
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.precision import numpy_real

SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL, _, MESH = range(9)
POLYHEDRA = (SPHERE, CAPSULE, BOX, HULL)
VERTICES = 16


class Pairs:
    """Many pairs of solids; every array is (pairs, 2, …)."""

    def __init__(self, count):
        self.count = count
        self.kind = np.zeros((count, 2), int)
        self.size = np.zeros((count, 2, 3))
        self.round = np.zeros((count, 2))
        self.position = np.zeros((count, 2, 3))
        self.rotation = np.tile(np.eye(3), (count, 2, 1, 1))
        self.vertices = np.zeros((count, 2, VERTICES, 3))
        self.corners = np.zeros((count, 2), int)

    def at(self, chosen):
        """Some of the pairs."""
        out = Pairs(0)
        for name, values in vars(self).items():
            if name != "count":
                setattr(out, name, values[chosen].copy())
        out.count = len(out.kind)
        return out

    def swapped(self):
        out = self.at(np.arange(self.count))
        for name, values in vars(out).items():
            if name != "count":
                setattr(out, name, values[:, ::-1].copy())
        return out

    def extent(self):
        ends = np.linalg.norm(self.vertices, axis=-1).max(-1)
        return (self.size.max(-1) + self.round + ends).max(1)


def two(a, b, position=(0, 0, 0), turn=None):
    """One pair of (kind, size, shell) with A at a place and B at the origin."""
    pair = Pairs(1)
    for side, (kind, size, shell) in enumerate((a, b)):
        pair.kind[0, side], pair.size[0, side], pair.round[0, side] = kind, size, shell
    pair.position[0, 0] = position
    if turn is not None:
        pair.rotation[0, 0] = turn.as_matrix()
    return pair


def random_pairs(rng, count, kinds=range(7), deep=1.0, lowest=0.1, highest=1.0):
    pairs = Pairs(count)
    kind = pairs.kind = rng.choice(list(kinds), size=(count, 2))
    size = np.exp(rng.uniform(np.log(lowest), np.log(highest), size=(count, 2, 3)))
    size[..., 1] = np.where((kind == CYLINDER) | (kind == CONE), size[..., 0], size[..., 1])
    bare = (kind != SPHERE) & (kind != CAPSULE)
    margin = np.where(rng.random((count, 2)) < 0.3, 0.05 * size.min(-1), 0.0)
    pairs.round = np.where(bare, margin, size.max(-1) * rng.uniform(0.2, 1, size=(count, 2)))
    pairs.corners = np.where(kind == HULL, rng.choice([3, 4, 8, VERTICES], size=(count, 2)), 0)
    vertices = rng.normal(size=(count, 2, VERTICES, 3))
    vertices *= size[:, :, None] / np.linalg.norm(vertices, axis=-1, keepdims=True)
    # Spare vertices repeat the first, which changes nothing.
    spare = np.arange(VERTICES) >= pairs.corners[..., None]
    vertices = np.where(spare[..., None], vertices[:, :, :1], vertices)
    pairs.vertices = np.where((kind == HULL)[..., None, None], vertices, 0)
    size[kind == CAPSULE, :2] = 0
    size[(kind == SPHERE) | (kind == HULL)] = 0
    pairs.size = size
    turns = Rotation.random(2 * count, random_state=rng)
    pairs.rotation = turns.as_matrix().reshape(count, 2, 3, 3)
    way = rng.normal(size=(count, 3))
    pairs.position[:, 1] = way * (deep * pairs.extent() * rng.random(count) / np.linalg.norm(way, axis=1))[:, None]
    return pairs


def farthest(pairs, side, d):
    """h(d) = max d · x over the cores of one side, for directions d (pairs, directions, 3)."""
    local = np.einsum("nji,nkj->nki", pairs.rotation[:, side], d)
    s, kind = pairs.size[:, side, None], pairs.kind[:, side]
    across = np.hypot(local[..., 0], local[..., 1])
    along = abs(local[..., 2])
    high = np.zeros(d.shape[:2])
    for k, values in (
        (CAPSULE, s[..., 2] * along),
        (BOX, (abs(local) * s).sum(-1)),
        (CYLINDER, s[..., 0] * across + s[..., 2] * along),
        (CONE, np.maximum(s[..., 0] * across - s[..., 2] * local[..., 2], s[..., 2] * local[..., 2])),
        (ELLIPSOID, np.linalg.norm(local * s, axis=-1)),
        (HULL, np.einsum("nki,nvi->nkv", local, pairs.vertices[:, side]).max(-1)),
    ):
        high = np.where((kind == k)[:, None], values, high)
    return high + np.einsum("nki,ni->nk", d, pairs.position[:, side])


def least_along(pairs, n):
    """min n · (a − b) over both solids, shells included, for unit n (pairs, directions, 3)."""
    return -farthest(pairs, 0, -n) - farthest(pairs, 1, n) - pairs.round.sum(1)[:, None]


def by_sampling(pairs, rng, directions=600, tops=6, rounds=30):
    """The largest of ``least_along`` over many directions, the best of them polished by shrinking random steps."""
    n = rng.normal(size=(directions, 3))
    n = np.broadcast_to(n / np.linalg.norm(n, axis=1)[:, None], (pairs.count, directions, 3))
    high = least_along(pairs, n)
    best = np.argsort(-high, axis=1)[:, :tops]
    high = np.take_along_axis(high, best, 1)
    n = np.take_along_axis(n, best[..., None], 1)
    step = np.full((pairs.count, tops), 0.15)
    for _ in range(rounds):
        tried = n[:, :, None] + step[..., None, None] * rng.normal(size=(pairs.count, tops, 10, 3))
        tried /= np.linalg.norm(tried, axis=-1, keepdims=True)
        now = least_along(pairs, tried.reshape(pairs.count, -1, 3)).reshape(pairs.count, tops, 10)
        k = now.argmax(-1)[..., None]
        better = np.take_along_axis(now, k, 2)[..., 0] > high
        n = np.where(better[..., None], np.take_along_axis(tried, k[..., None], 2)[:, :, 0], n)
        high = np.maximum(high, now.max(-1))
        step *= np.where(better, 1.1, 0.65)
    return high.max(1)


def measure(pairs, device="cpu"):
    """Separation, normal, points of A and of B, in world coordinates."""
    n = pairs.count
    triangle = (pairs.kind == HULL) & (pairs.corners == 3)
    colliders = arrays.allocate(Colliders, {"colliders": 2 * n}, device)
    places = arrays.allocate(Places, {"colliders": 2 * n}, device)
    items = arrays.allocate(Items, {"items": n, "pairs_and_one": n + 1, "one": 1}, device)
    found = arrays.allocate(Found, {"items": n}, device)
    counts = dict.fromkeys((entry.axis for entry in arrays.fields(Hulls).values()), 1)
    hulls = arrays.allocate(Hulls, counts | {"hulls": 2 * n, "hull_vertices": 2 * n * VERTICES}, device)
    rows = np.arange(2 * n, dtype=np.int32)
    solid_hull = ((pairs.kind == HULL) & ~triangle).ravel()
    for array, values in (
        (colliders.kind, np.where(triangle, MESH, pairs.kind)),
        (colliders.first, rows * VERTICES),
        (colliders.count, pairs.corners),
        (colliders.hull, np.where(solid_hull, rows, -1)),
        (items.a, rows[::2]),
        (items.b, rows[1::2]),
    ):
        array.assign(values.ravel().astype(np.int32))
    for array, values, shape in (
        (colliders.size, pairs.size, (-1, 3)),
        (colliders.round, pairs.round, (-1,)),
        (places.position, pairs.position, (-1, 3)),
        (places.rotation, pairs.rotation, (-1, 3, 3)),
        (hulls.vertex, pairs.vertices, (-1, 3)),
        (hulls.center, pairs.vertices.mean(2), (-1, 3)),
    ):
        array.assign(values.reshape(shape).astype(numpy_real))
    items.needed.fill_(n)
    bounds = Bounds()
    bounds.far, bounds.most = 1e30, 128
    handles = wp.array(np.ones(81, np.int32), dtype=wp.int32, device=device)
    wp.launch(find_by_gjk, n, [items, colliders, places, hulls, handles, bounds, found, n], device=device)
    out = arrays.read(found)
    origin = pairs.position[:, 0]
    return out["separation"], out["normal"], out["point_a"] + origin, out["point_b"] + origin


def check(pairs, answers, tolerance=1e-7):
    """Finite, a unit normal, points that say the same, and no less room along the normal than the depth."""
    separation, normal, point_a, point_b = answers
    for values in answers:
        assert np.isfinite(values).all()
    size = pairs.extent()
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    along = np.einsum("ni,ni->n", normal, point_a - point_b)
    assert (abs(along - separation) <= 1e-12 * size).all()
    assert (abs(least_along(pairs, normal[:, None])[:, 0] - separation) <= tolerance * size).all()


def assert_no_shorter_way_out(pairs, rng, tolerance=1e-6):
    answers = measure(pairs)
    check(pairs, answers)
    missed = (by_sampling(pairs, rng) - answers[0]) / pairs.extent()
    assert missed.max() <= tolerance, pairs.kind[missed.argmax()]


def core_corners(pairs, k, side):
    """The corners of an angular core, in world coordinates."""
    kind, size = pairs.kind[k, side], pairs.size[k, side]
    block = np.array(list(itertools.product((-1, 1), repeat=3))) * size
    corners = pairs.vertices[k, side] if kind == HULL else block
    return corners @ pairs.rotation[k, side].T + pairs.position[k, side]


def test_depths_of_polyhedra_are_those_of_their_minkowski_difference():
    pairs = random_pairs(np.random.default_rng(0), 400, kinds=(BOX, HULL))
    answers = measure(pairs)
    check(pairs, answers, 1e-12)
    deep = 0
    for k in range(pairs.count):
        difference = core_corners(pairs, k, 0)[:, None] - core_corners(pairs, k, 1)
        planes = ConvexHull(difference.reshape(-1, 3)).equations
        depth = -planes[:, 3].max()
        if depth > 0:
            deep += 1
            assert answers[0][k] == pytest.approx(-depth - pairs.round[k].sum(), abs=1e-11)
    assert deep > 100


def test_depths_of_points_and_segments_in_polyhedra_are_exact():
    pairs = random_pairs(np.random.default_rng(1), 300, kinds=POLYHEDRA)
    answers = measure(pairs)
    check(pairs, answers, 1e-12)
    assert (by_sampling(pairs, np.random.default_rng(2)) - answers[0] <= 1e-11).all()


@pytest.mark.parametrize(
    ("deep", "lowest", "highest"),
    [(1.0, 0.1, 1.0), (0.2, 0.1, 1.0), (0.01, 0.3, 1.0), (0.5, 1e-3, 1.0), (1.0, 1e-4, 1e-3), (1.0, 1e2, 1e3)],
    ids=["overlapping", "deep", "nearly concentric", "needles", "small", "large"],
)
def test_no_direction_leads_out_of_round_and_angular_solids_sooner(deep, lowest, highest):
    rng = np.random.default_rng(3)
    pairs = random_pairs(rng, 250, deep=deep, lowest=lowest, highest=highest)
    assert_no_shorter_way_out(pairs, rng)


def test_no_direction_leads_out_of_concentric_aligned_solids_sooner():
    rng = np.random.default_rng(4)
    pairs = random_pairs(rng, 300, deep=0.0)
    pairs.rotation[:] = np.eye(3)
    assert_no_shorter_way_out(pairs, rng)


BALL, POINTLIKE = (SPHERE, (0, 0, 0), 0.25), (SPHERE, (0, 0, 0), 0.0)
CUBE = (BOX, (0.5, 0.5, 0.5), 0.0)


def test_a_ball_whose_centre_is_in_a_box_leaves_through_the_nearest_face():
    separation, normal, point_a, point_b = measure(two(BALL, CUBE, (0.4, 0.1, -0.2)))
    assert separation[0] == pytest.approx(-0.35, abs=1e-14)
    np.testing.assert_allclose(normal[0], (1, 0, 0), atol=1e-14)
    np.testing.assert_allclose(point_a[0], (0.15, 0.1, -0.2), atol=1e-14)
    np.testing.assert_allclose(point_b[0], (0.5, 0.1, -0.2), atol=1e-14)


@pytest.mark.parametrize("place", [(0, 0, 0), (0.5, 0, 0), (0.5, 0.5, 0), (0.5, 0.5, 0.5), (0, 0, -0.5)])
def test_a_ball_at_the_centre_of_a_box_or_on_its_surface_has_a_depth_and_a_normal(place):
    answers = measure(two(BALL, CUBE, place))
    check(two(BALL, CUBE, place), answers, 1e-12)
    assert answers[0][0] == pytest.approx(max(abs(np.array(place))) - 0.5 - 0.25, abs=1e-14)


@pytest.mark.parametrize("way", [0.0, 1e-12, 0.1, 0.9999, 1.0])
def test_a_box_pushed_into_its_copy_has_the_depth_of_the_overlap(way):
    separation, normal, _, _ = measure(two(CUBE, CUBE, (0, 0, way)))
    assert separation[0] == pytest.approx(way - 1.0, abs=1e-12)
    if way > 0.01:
        np.testing.assert_allclose(normal[0], (0, 0, 1), atol=1e-12)


def test_a_corner_pressed_into_a_face_is_as_deep_as_it_reaches():
    turn = Rotation.align_vectors([[0, 0, -1]], [[1, 1, 1]])[0]
    position = (0.1, 0.05, 0.5 + 0.5 * np.sqrt(3) - 0.01)
    separation, normal, point_a, _ = measure(two(CUBE, (BOX, (1, 1, 0.5), 0.0), position, turn))
    assert separation[0] == pytest.approx(-0.01, abs=1e-14)
    np.testing.assert_allclose(normal[0], (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(point_a[0], (0.1, 0.05, 0.49), atol=1e-12)


CASES = {
    "points at one place": (BALL, BALL, (0, 0, 0), None),
    "point on a segment": (BALL, (CAPSULE, (0, 0, 1), 0.1), (0, 0, 0.3), None),
    "point on the end of a segment": (BALL, (CAPSULE, (0, 0, 1), 0.1), (0, 0, 1), None),
    "segments that cross": ((CAPSULE, (0, 0, 1), 0.2), (CAPSULE, (0, 0, 1), 0.1), (0, 0, 0.2), [0.0, 1.0, 0.0]),
    "segments along each other": ((CAPSULE, (0, 0, 1), 0.2), (CAPSULE, (0, 0, 1), 0.1), (0, 0, 0.5), None),
    "a segment and itself": ((CAPSULE, (0, 0, 1), 0.2), (CAPSULE, (0, 0, 1), 0.2), (0, 0, 0), None),
}


@pytest.mark.parametrize("case", CASES)
def test_cores_without_volume_that_meet_are_as_deep_as_their_shells(case):
    a, b, place, turn = CASES[case]
    pair = two(a, b, place, None if turn is None else Rotation.from_rotvec(turn))
    answers = measure(pair)
    check(pair, answers, 1e-12)
    assert answers[0][0] == pytest.approx(-a[2] - b[2], abs=1e-14)


def triangles(first, second, shell=0.0):
    pair = Pairs(1)
    pair.kind[:] = HULL
    pair.corners[:] = 3
    for side, corners in enumerate((first, second)):
        pair.vertices[0, side] = np.resize(corners, (VERTICES, 3))
    pair.round[:] = shell
    return pair


FLAT = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_coplanar_triangles_that_overlap_are_as_deep_as_their_shells_across_their_plane():
    pair = triangles(FLAT, [[0.2, 0.2, 0], [1, 1, 0], [0.2, 1, 0]], shell=0.01)
    answers = measure(pair)
    check(pair, answers, 1e-12)
    assert answers[0][0] == pytest.approx(-0.02, abs=1e-14)
    np.testing.assert_allclose(abs(answers[1][0]), (0, 0, 1), atol=1e-12)


def test_a_triangle_that_pierces_another_leaves_it_the_shortest_way():
    pair = triangles(FLAT, [[0.3, 0.3, -0.05], [0.3, 0.3, 1], [0.4, 0.2, 1]])
    answers = measure(pair)
    check(pair, answers, 1e-12)
    assert answers[0][0] == pytest.approx(-0.05, abs=1e-12)


@pytest.mark.parametrize("kind", [CYLINDER, ELLIPSOID, BOX])
def test_a_solid_in_its_own_copy_leaves_it_along_its_shortest_axis(kind):
    shape = (kind, (0.4, 0.4, 0.3), 0.0)
    separation, normal, _, _ = measure(two(shape, shape))
    assert separation[0] == pytest.approx(-0.6, abs=1e-9)
    np.testing.assert_allclose(abs(normal[0]), (0, 0, 1), atol=1e-4)


seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_the_order_of_two_overlapping_solids_does_not_change_their_depth(seed):
    pairs = random_pairs(np.random.default_rng(seed), 20, deep=0.7)
    there, back = measure(pairs)[0], measure(pairs.swapped())[0]
    assert (abs(there - back) <= 1e-6 * pairs.extent()).all()


@given(seeds)
def test_a_motion_of_both_overlapping_solids_does_not_change_their_depth(seed):
    rng = np.random.default_rng(seed)
    pairs = random_pairs(rng, 20, deep=0.7)
    turn, away = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    moved = pairs.at(np.arange(pairs.count))
    moved.rotation = turn @ pairs.rotation
    moved.position = pairs.position @ turn.T + away
    assert (abs(measure(pairs)[0] - measure(moved)[0]) <= 1e-6 * pairs.extent()).all()


@given(seeds, st.floats(-8, -1))
def test_moving_a_solid_out_along_the_normal_sets_it_free(seed, exponent):
    pairs = random_pairs(np.random.default_rng(seed), 20, deep=0.7)
    size = pairs.extent()
    separation, normal, _, _ = measure(pairs)
    free = 10.0**exponent * size
    pairs.position[:, 0] += normal * (free - separation)[:, None]
    now = measure(pairs)[0]
    assert (now >= free - 1e-7 * size).all()
    assert (now <= free + 1e-7 * size).all()


@pytest.mark.cuda
def test_cuda_and_cpu_agree_on_depths():
    pairs = random_pairs(np.random.default_rng(5), 500, deep=0.5)
    here, there = measure(pairs)[0], measure(pairs, device="cuda")[0]
    assert (abs(here - there) <= 1e-6 * pairs.extent()).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_random_overlaps_have_no_shorter_way_out(seed):
    rng = np.random.default_rng(1000 + seed)
    lowest, deep = (0.1, 1e-3)[seed % 2], (1.0, 0.3, 0.01)[seed % 3]
    pairs = random_pairs(rng, 2000, deep=deep, lowest=lowest)
    if seed % 4 == 0:
        pairs.rotation[:] = np.eye(3)
    for part in np.array_split(np.arange(pairs.count), 8):
        assert_no_shorter_way_out(pairs.at(part), rng)
