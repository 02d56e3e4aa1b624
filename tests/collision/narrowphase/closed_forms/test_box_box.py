"""Two boxes: separation, normal and nearest points, against certificates, Minkowski differences and another library.

Apart, a unit normal proves a lower bound of the distance and two points an upper one. Overlapping, the depth is the
distance of the origin from the boundary of the Minkowski difference A − B, here the convex hull of its 64 corners.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.solid import BOX
from rattleback.collision.narrowphase.closed_forms.box_box import find_boxes
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


class Boxes:
    """Many boxes: half edges (n, 3), places (n, 3), rotations (n, 3, 3) and shells (n,)."""

    def __init__(self, half, place, turn, shell=0.0):
        self.half, self.place, self.turn = (np.asarray(x, dtype=float) for x in (half, place, turn))
        self.shell = np.broadcast_to(np.asarray(shell, dtype=float), len(self.half)).copy()

    def __getitem__(self, k):
        return Boxes(self.half[k], self.place[k], self.turn[k], self.shell[k])

    def moved(self, turn, shift):
        return Boxes(self.half, self.place @ turn.T + shift, turn @ self.turn, self.shell)

    def height(self, n):
        """Support function along unit vectors (n, 3), shell included."""
        local = np.einsum("kij,ki->kj", self.turn, n)
        return (np.abs(local) * self.half).sum(axis=1) + np.einsum("ki,ki->k", self.place, n) + self.shell

    def outside(self, x):
        """How far points (n, 3) lie outside the boxes without their shells; negative inside."""
        local = np.einsum("kij,ki->kj", self.turn, x - self.place)
        return (np.abs(local) - self.half).max(axis=1)

    def beyond(self, x):
        """Distance of points (n, 3) from the boxes without their shells; zero inside."""
        local = np.einsum("kij,ki->kj", self.turn, x - self.place)
        return np.linalg.norm(np.maximum(np.abs(local) - self.half, 0.0), axis=1)

    @property
    def size(self):
        return self.half.sum(axis=1) + self.shell

    @property
    def corners(self):
        return self.place[:, None] + np.einsum("kij,kcj->kci", self.turn, CORNERS * self.half[:, None])


def solve(a, b, gap=1e30, points=1):
    """What the kernel says of box k of a and box k of b; points in the world."""
    count = len(a.half)
    colliders = arrays.allocate(Colliders, {"colliders": 2 * count}, "cpu")
    places = arrays.allocate(Places, {"colliders": 2 * count}, "cpu")
    colliders.kind.fill_(int(BOX))
    colliders.size.assign(np.concatenate([a.half, b.half]))
    colliders.round.assign(np.concatenate([a.shell, b.shell]))
    places.position.assign(np.concatenate([a.place, b.place]))
    places.rotation.assign(np.concatenate([a.turn, b.turn]))
    counts = {"items": count, "pairs_and_one": 1, "one": 1}
    items, found = (arrays.allocate(kind, counts, "cpu") for kind in (Items, Found))
    items.a.assign(np.arange(count, dtype=np.int32))
    items.b.assign(np.arange(count, 2 * count, dtype=np.int32))
    items.needed.fill_(count)
    for name in ("separation", "normal", "point_a", "point_b"):
        getattr(found, name).fill_(np.nan)
    wp.launch(find_boxes, count, inputs=[items, colliders, places, gap, points, found, count], device="cpu")
    said = SimpleNamespace(**arrays.read(found))
    said.point_a, said.point_b = said.point_a + a.place, said.point_b + a.place
    return said


def random_boxes(rng, count, size):
    """Boxes of about this size (n,), some of them needles and plates up to 1 : 1000."""
    half = size[:, None] * 10.0 ** -np.where(
        rng.random((count, 1)) < 0.5, rng.uniform(0, 0.5, (count, 3)), rng.uniform(0, 3, (count, 3))
    )
    return Boxes(half, np.zeros((count, 3)), Rotation.random(count, random_state=rng).as_matrix())


def scatter(seed, count=3000):
    """Pairs of boxes of all sizes: any way round, parallel, nearly so, coincident, touching, far and deep."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-3, 3, count)
    a, b = random_boxes(rng, count, size), random_boxes(rng, count, size * 10.0 ** rng.uniform(-1, 1, count))
    parallel = rng.random(count) < 0.3
    b.turn[parallel] = a.turn[parallel]
    nearly = rng.random(count) < 0.2
    tilt = Rotation.from_rotvec(rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-15, -2, (count, 1))).as_matrix()
    b.turn[nearly] = (a.turn @ tilt)[nearly]
    quarter = rng.random(count) < 0.2
    b.turn[quarter] = b.turn[quarter] @ Rotation.from_euler("zx", [90, 90], degrees=True).as_matrix()
    reach = a.size + b.size
    n = rng.normal(size=(count, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    b.place = a.place + n * (reach * rng.choice([0.0, 1e-9, 0.1, 0.3, 1.0, 3.0], count))[:, None]
    touching = rng.random(count) < 0.3
    face = np.einsum("kij,kj->ki", a.turn, np.eye(3)[rng.integers(3, size=count)])
    along = np.einsum("kij,kj->ki", a.turn, rng.uniform(-1, 1, (count, 3)) * a.half)
    along -= face * (along * face).sum(axis=1)[:, None]
    away = a.height(face) + b.height(-face) + (b.place * face).sum(axis=1)
    b.place[touching] = (along + face * away[:, None])[touching]
    shelled = rng.random(count) < 0.2
    a.shell[shelled], b.shell[shelled] = (0.1 * a.size)[shelled], (0.05 * b.size)[shelled]
    shift = rng.normal(size=(count, 3)) * reach[:, None]
    a.place, b.place = a.place + shift, b.place + shift
    return a, b


def lower_bound(a, b, n):
    """What a unit normal from B to A proves of the separation."""
    return -a.height(-n) - b.height(n)


@pytest.mark.parametrize("seed", range(4))
def test_normal_and_points_prove_the_separation(seed):
    a, b = scatter(seed)
    size, found = a.size + b.size, solve(a, b)
    assert all(np.isfinite(value).all() for value in vars(found).values())
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, rtol=1e-14)
    # Of points that nearly coincide, only some digits of the direction are known.
    core = found.separation + a.shell + b.shell
    known = 1e-15 / np.clip(core / size, 1e-9, 1e-3)
    off = np.abs((lower_bound(a, b, found.normal) - found.separation) / size)
    assert (off < np.where(core > 0.0, known, 1e-12)).all()
    between = ((found.point_a - found.point_b) * found.normal).sum(axis=1)
    assert np.abs((between - found.separation) / size).max() < 1e-12
    # Apart, the points are as near to each other as the separation says.
    apart = found.separation > 0.0
    distance = np.linalg.norm(found.point_a - found.point_b, axis=1)
    assert np.abs((distance - found.separation) / size)[apart].max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_points_lie_on_the_surfaces(seed):
    a, b = scatter(seed)
    found, size = solve(a, b), a.size + b.size
    # Where a face was taken for two edges that are nearer by 1e-7 of the size, points are off by as much.
    for boxes, point, sign in ((a, found.point_a, 1.0), (b, found.point_b, -1.0)):
        core = point + sign * boxes.shell[:, None] * found.normal
        assert np.abs(boxes.outside(core) / size).max() < 3e-7
        # A supporting plane with this normal touches the box there.
        lowest = boxes.height(-sign * found.normal) - boxes.shell
        assert np.abs((-sign * (core * found.normal).sum(axis=1) - lowest) / size).max() < 3e-7


def depth_by_hull(a, b):
    """Distance of the origin from the boundary of A − B; negative where it lies outside."""
    corners = (a.corners[0][:, None] - b.corners[0][None, :]).reshape(-1, 3)
    scale = np.abs(corners).max()
    try:
        hull = ConvexHull(corners / scale)
    except QhullError:
        return np.nan
    return scale * (-hull.equations[:, 3]).min()


@pytest.mark.parametrize("seed", range(3))
def test_depth_is_the_distance_to_the_boundary_of_the_minkowski_difference(seed):
    a, b = scatter(100 + seed, 800)
    a.shell[:], b.shell[:] = 0.0, 0.0
    found, size = solve(a, b), a.size + b.size
    deep = np.flatnonzero(found.separation < -1e-9 * size)
    expected = np.array([depth_by_hull(a[[k]], b[[k]]) for k in deep])
    known = np.isfinite(expected)
    assert known.mean() > 0.95
    # The axis of two edges must beat the faces by 1e-7 of the size, hence not less.
    assert np.abs((-found.separation[deep] - expected) / size[deep])[known].max() < 3e-7
    assert np.median(np.abs((-found.separation[deep] - expected) / size[deep])[known]) < 1e-14


def test_nearly_parallel_boxes_that_overlap_are_not_said_to_be_apart():
    rng = np.random.default_rng(5)
    count = 4000
    half = rng.uniform(0.5, 2.0, (count, 3))
    a = Boxes(half, np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)))
    tilt = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-9, -5, (count, 1))
    place = rng.uniform(0.5, 1.9, (count, 3)) * half
    b = Boxes(half, place, Rotation.from_rotvec(tilt).as_matrix())
    found = solve(a, b)
    expected = (place - 2.0 * half).max(axis=1)
    assert (expected < 0.0).all()
    # A tilt by an angle changes the extents by that part of the size.
    assert np.abs(found.separation - expected).max() < 1e-4
    assert np.abs(lower_bound(a, b, found.normal) - found.separation).max() < 1e-12


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_exchanging_the_boxes_turns_the_normal_round(seed):
    a, b = scatter(seed, 300)
    there, back, size = solve(a, b), solve(b, a), a.size + b.size
    assert np.abs((there.separation - back.separation) / size).max() < 3e-7
    assert np.abs((lower_bound(a, b, -back.normal) - there.separation) / size).max() < 3e-7


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 2**31))
def test_a_rigid_motion_of_both_changes_nothing(seed, motion):
    rng = np.random.default_rng(motion)
    a, b = scatter(seed, 300)
    turn, shift = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    scale = np.median(a.size)
    there, here, size = solve(a.moved(turn, shift * scale), b.moved(turn, shift * scale)), solve(a, b), a.size + b.size
    # Far from the origin places are known to rounding only.
    blur = 1e-14 * (np.abs(a.place).max(axis=1) + scale * np.abs(shift).max())
    assert ((np.abs(there.separation - here.separation) - blur) / size).max() < 3e-7
    proved = lower_bound(a.moved(turn, 0), b.moved(turn, 0), here.normal @ turn.T)
    assert ((np.abs(proved - here.separation) - blur) / size).max() < 3e-7


def test_beyond_the_gap_only_a_bound_is_given():
    a, b = scatter(9)
    gap = 0.1 * np.median(a.size)
    full, some = solve(a, b), solve(a, b, gap)
    far = some.separation > gap
    assert (full.separation[far] > gap).all()
    assert (some.separation[far] <= full.separation[far] * (1 + 1e-12)).all()
    assert np.array_equal(full.separation[~far], some.separation[~far])
    assert (full.separation[~far] <= gap).all()


def test_without_points_overlapping_boxes_have_the_same_separation_and_normal():
    a, b = scatter(10)
    full, some = solve(a, b), solve(a, b, points=0)
    assert np.array_equal(full.separation, some.separation)
    assert np.array_equal(full.normal, some.normal)


def test_coincident_boxes_leave_through_the_nearest_face():
    a = Boxes([[1.0, 2.0, 3.0]], [[5.0, 5.0, 5.0]], [np.eye(3)])
    found = solve(a, a)
    assert found.separation[0] == -2.0
    np.testing.assert_array_equal(np.abs(found.normal[0]), [1.0, 0.0, 0.0])


def test_corners_and_edges_apart_by_hand():
    cube = Boxes([[0.5] * 3], [[0.0] * 3], [np.eye(3)])
    for shift, distance in (((2, 0, 0), 1.0), ((2, 2, 0), 2**0.5), ((2, 2, 2), 3**0.5), ((1.5, 0.2, 2), 1.25**0.5)):
        found = solve(cube.moved(np.eye(3), np.array(shift, float)), cube)
        assert found.separation[0] == pytest.approx(distance, rel=1e-15)
    # Two edges that cross: turned by 45 degrees about x and about y.
    over = Boxes([[0.5] * 3], [[0.0, 0.0, 2.0]], [Rotation.from_euler("x", 45, degrees=True).as_matrix()])
    under = Boxes([[0.5] * 3], [[0.1, 0.2, 0.0]], [Rotation.from_euler("y", 45, degrees=True).as_matrix()])
    found = solve(over, under)
    assert found.separation[0] == pytest.approx(2.0 - 2**0.5, rel=1e-14)
    np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(found.point_b[0], [0.1, 0.0, 0.5**0.5], atol=1e-15)
    np.testing.assert_allclose(found.point_a[0], [0.1, 0.0, 2.0 - 0.5**0.5], atol=1e-15)


def test_another_library_finds_the_same_distances():
    coal = pytest.importorskip("coal")
    a, b = scatter(20, 600)
    a.shell[:], b.shell[:] = 0.0, 0.0
    found, size = solve(a, b), a.size + b.size
    request = coal.DistanceRequest()
    for k in np.flatnonzero(found.separation > 1e-3 * size):
        scale = size[k]
        shapes = [coal.Box(*(2.0 * boxes.half[k] / scale)) for boxes in (a, b)]
        places = [coal.Transform3s(boxes.turn[k], (boxes.place[k] - a.place[k]) / scale) for boxes in (a, b)]
        said = scale * coal.distance(shapes[0], places[0], shapes[1], places[1], request, coal.DistanceResult())
        assert found.separation[k] == pytest.approx(said, abs=1e-6 * scale)
