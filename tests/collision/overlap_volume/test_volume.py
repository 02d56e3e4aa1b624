"""The overlap solid against closed forms, Qhull's half-space intersection, trimesh and plain quadrature."""

import itertools
import math

import numpy as np
import pytest
import trimesh
import warp as wp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.geometry.world_poses import place
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.overlap_volume import measure
from rattleback.collision.overlap_volume.measure import APART, NO_ROOM, OVERLAPPING, UNKNOWN, Volumes, record_volumes
from rattleback.collision.overlap_volume.volume import overlap_solid
from rattleback.core import arrays
from rattleback.core.device import find
from rattleback.core.precision import real
from rattleback.core.stages import Program
from rattleback.model.compile import compile_scene

UP = (0.0, 0.0, 1.0)


def turned(seed: int) -> tuple[float, ...]:
    return tuple(Rotation.random(random_state=seed).as_quat())


def random_hull(rng: np.random.Generator, size: float) -> rb.ConvexHull:
    return rb.ConvexHull(size * rng.normal(size=(rng.integers(5, 25), 3)) * rng.uniform(0.3, 1.0, 3))


def corners(placed: rb.Placed) -> np.ndarray:
    shape = placed.shape
    if isinstance(shape, rb.Box):
        local = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * (shape.x, shape.y, shape.z)
    else:
        local = np.array(shape.vertices)
    return Rotation.from_quat(placed.orientation).apply(local) + placed.position


def common_corners(a: rb.Placed, b: rb.Placed) -> np.ndarray | None:
    """Corners of the overlap by Qhull's duality about the point deepest inside; None where there is none."""
    half = np.vstack([ConvexHull(corners(entry)).equations for entry in (a, b)])
    deepest = linprog([0, 0, 0, -1], A_ub=np.c_[half[:, :3], np.ones(len(half))], b_ub=-half[:, 3], bounds=(None, None))
    if not deepest.success or deepest.x[3] <= 0.0:
        return None
    return HalfspaceIntersection(half, deepest.x[:3]).intersections


def expected(points: np.ndarray, normal: np.ndarray) -> dict[str, np.ndarray]:
    """Integrals by trimesh over the hull of the corners, and over the polygon they cover along the normal."""
    middle = points.mean(axis=0)
    hull = ConvexHull(points - middle)
    p, q, r = np.moveaxis(hull.points[hull.simplices], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(q - p, r - p), hull.equations[:, :3]) < 0.0
    mesh = trimesh.Trimesh(
        hull.points, np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices), process=False
    )
    inertia = mesh.moment_inertia
    across = np.linalg.svd(normal[None])[2][1:]
    shadow = ConvexHull((points - middle) @ across.T)
    x, y = shadow.points[shadow.vertices].T
    xn, yn = np.roll(x, -1), np.roll(y, -1)
    w = x * yn - xn * y
    area = w.sum() / 2.0
    center = np.array([((x + xn) * w).sum(), ((y + yn) * w).sum()]) / (6.0 * area)
    xy = (w * (x * yn + 2 * x * y + 2 * xn * yn + xn * y)).sum() / 24.0
    xx, yy = (w * (x * x + x * xn + xn * xn)).sum() / 12.0, (w * (y * y + y * yn + yn * yn)).sum() / 12.0
    about = np.array([[xx, xy], [xy, yy]]) - area * np.outer(center, center)
    height = normal @ mesh.center_mass
    return {
        "volume": mesh.volume,
        "area": mesh.area,
        "centroid": mesh.center_mass + middle,
        "second_moments": 0.5 * np.trace(inertia) * np.eye(3) - inertia,
        "region_area": area,
        "region_centroid": center @ across + height * normal + middle,
        "region_moments": across.T @ about @ across,
    }


def assert_same(found, wanted, size, tolerance=1e-9):
    powers = {"volume": 3, "area": 2, "centroid": 1, "second_moments": 5, "region_area": 2, "region_centroid": 1}
    for name, value in wanted.items():
        scale = size ** powers.get(name, 4)
        difference = np.abs(np.asarray(getattr(found, name)) - value).max() / scale
        assert difference <= tolerance, f"{name} is off by {difference:.2e}"


def overlap_size(points: np.ndarray) -> float:
    return float(np.ptp(points, axis=0).max())


def check_pair(a: rb.Placed, b: rb.Placed, normal: np.ndarray, tolerance: float = 1e-9) -> bool:
    points = common_corners(a, b)
    if points is None:
        return False
    size = overlap_size(points)
    wanted = expected(points, normal)
    # Well shaped: not a sliver, and not a crumb of the bodies.
    if wanted["volume"] < 1e-3 * size**3 or size < 1e-2 * overlap_size(corners(a)):
        return False
    assert_same(overlap_solid(a, b, normal=normal), wanted, size, tolerance)
    return True


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.integers(-3, 3))
def test_turned_boxes_overlap_as_the_half_spaces_do(seed, power):
    rng, scale = np.random.default_rng(seed), 10.0**power
    a = rb.Placed(rb.Box(*scale * rng.uniform(0.2, 2.0, 3)), tuple(scale * rng.normal(size=3)), turned(seed))
    offset = np.array(a.position) + scale * rng.uniform(-0.8, 0.8, 3)
    b = rb.Placed(rb.Box(*scale * rng.uniform(0.2, 2.0, 3)), tuple(offset), turned(seed + 1))
    normal = Rotation.random(random_state=seed + 2).apply(UP)
    assume(check_pair(a, b, normal))


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_hulls_overlap_as_the_half_spaces_do(seed):
    rng = np.random.default_rng(seed)
    a = rb.Placed(random_hull(rng, 1.0), tuple(rng.normal(size=3)), turned(seed))
    offset = np.array(a.position) + rng.uniform(-1.0, 1.0, 3)
    b = rb.Placed(random_hull(rng, rng.uniform(0.3, 1.0)), tuple(offset), turned(seed + 1))
    assume(check_pair(a, b, Rotation.random(random_state=seed + 2).apply(UP)))


def test_a_box_in_a_thousand_times_larger_one_keeps_its_digits():
    a = rb.Placed(rb.Box(1000.0, 900.0, 800.0), (0.0, 0.0, 0.0), turned(5))
    corner = Rotation.from_quat(turned(5)).apply((500.0, 450.0, 400.0))
    b = rb.Placed(rb.Box(1.0, 0.8, 0.7), tuple(corner), turned(6))
    points = common_corners(a, b)
    assert_same(overlap_solid(a, b, normal=UP), expected(points, np.array(UP)), overlap_size(points))


@pytest.mark.parametrize("seed", range(6))
def test_the_answer_does_not_depend_on_the_order_or_the_frame(seed):
    rng = np.random.default_rng(seed)
    a = rb.Placed(random_hull(rng, 1.0), (0.1, 0.2, 0.0), turned(seed))
    b = rb.Placed(rb.Box(0.9, 1.1, 0.7), (0.4, -0.1, 0.3), turned(seed + 9))
    turn, shift = Rotation.random(random_state=seed + 20), rng.uniform(-2.0, 2.0, 3)
    moved = [
        rb.Placed(
            entry.shape,
            tuple(turn.apply(entry.position) + shift),
            tuple((turn * Rotation.from_quat(entry.orientation)).as_quat()),
        )
        for entry in (a, b)
    ]
    one, other, third = overlap_solid(a, b), overlap_solid(b, a), overlap_solid(*moved)
    assert one.volume > 0.01
    np.testing.assert_allclose(other.normal, -one.normal, atol=1e-6)
    for name in ("volume", "area"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-9)
        assert getattr(third, name) == pytest.approx(getattr(one, name), rel=1e-9)
    assert other.area_a == pytest.approx(one.area_b, rel=1e-9)
    np.testing.assert_allclose(other.centroid, one.centroid, atol=1e-9)
    np.testing.assert_allclose(third.centroid, turn.apply(one.centroid) + shift, atol=1e-9)
    matrix = turn.as_matrix()
    np.testing.assert_allclose(third.second_moments, matrix @ one.second_moments @ matrix.T, atol=1e-9)


# All pairs of a step


class Bench:
    """Bodies at their places, and the items between them, measured in one go."""

    def __init__(self, pairs, device, separation=-1.0):
        scene = rb.Scene()
        for entry in itertools.chain.from_iterable(pairs):
            if isinstance(entry, rb.Plane):
                scene.add_static(entry)
            else:
                scene.add_static(entry.shape, position=entry.position, orientation=entry.orientation)
        self.device, n = find(device), len(pairs)
        model, state = compile_scene(scene, None, self.device)
        self.geometry = compile_colliders(model)
        counts = {"colliders": 2 * n, "items": n + 1, "pairs_and_one": n + 2, "one": 1}
        kinds = (Places, Items, Found, Volumes)
        self.places, self.items, self.found, self.volumes = (arrays.allocate(k, counts, self.device) for k in kinds)
        self.items.a.assign(np.array([*range(0, 2 * n, 2), 0], dtype=np.int32))
        self.items.b.assign(np.array([*range(1, 2 * n, 2), 1], dtype=np.int32))
        self.items.needed.fill_(n)
        self.found.separation.fill_(separation)
        self.found.normal.assign(np.tile(UP, (n + 1, 1)))
        inputs = [self.geometry.colliders, self.geometry.hulls, state.motion, real(0.0), self.places]
        wp.launch(place, dim=2 * n, inputs=inputs, device=self.device)

    def run(self):
        program = Program(self.device, wp.zeros(1, dtype=wp.int32, device=self.device))
        with program.stage("volumes"):
            record_volumes(program, self.geometry, self.items, self.places, self.found, self.volumes)
        program.compile()
        program.run(1)
        return arrays.read(self.volumes)


def many_pairs(count):
    rng = np.random.default_rng(11)
    pairs = []
    for seed in range(count):
        a = rb.Placed(rb.Box(*rng.uniform(0.2, 2.0, 3)), tuple(rng.normal(size=3)), turned(seed))
        b = rb.Placed(random_hull(rng, 0.5), tuple(np.array(a.position) + rng.uniform(-1, 1, 3)), turned(seed + 1000))
        pairs.append((a, b) if seed % 2 else (b, a))
    return pairs


def test_all_items_of_a_step_are_measured_in_one_launch(device):
    pairs = many_pairs(60)
    answer = Bench(pairs, device).run()
    overlapping = 0
    for i, (a, b) in enumerate(pairs):
        points = common_corners(a, b)
        assert answer["status"][i] == (APART if points is None else OVERLAPPING)
        if points is not None:
            wanted = expected(points, np.array(UP))
            assert answer["volume"][i] == pytest.approx(wanted["volume"], rel=1e-9, abs=1e-12)
            np.testing.assert_allclose(answer["centroid"][i] + a.position, wanted["centroid"], atol=1e-6)
            assert answer["region_area"][i] == pytest.approx(wanted["region_area"], rel=1e-8)
            overlapping += 1
    assert overlapping > 20
    assert answer["volume"][len(pairs)] == 0.0


def test_the_same_items_give_the_same_bits(device):
    bench = Bench(many_pairs(20), device)
    first, second = bench.run(), bench.run()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_a_status_says_where_there_is_no_answer():
    here = rb.Placed(rb.Box(1, 1, 1))
    pairs = [
        (here, rb.Placed(rb.Box(1, 1, 1), (0.5, 0, 0))),
        (here, rb.Placed(rb.Capsule(0.2, 1.0))),
        (rb.Placed(rb.Sphere(1.0)), here),
        (rb.Plane(), rb.Placed(rb.Sphere(1.0), (0, 0, 0.5))),
        (here, rb.Plane()),
    ]
    answer = Bench(pairs, "cpu").run()
    assert answer["status"][:5].tolist() == [OVERLAPPING, UNKNOWN, UNKNOWN, OVERLAPPING, OVERLAPPING]
    assert answer["volume"][:5] == pytest.approx([0.5, 0.0, 0.0, math.pi * 0.25 * 2.5 / 3.0, 0.5])


def test_pairs_that_the_narrow_phase_finds_apart_are_not_looked_at():
    answer = Bench([(rb.Placed(rb.Box(1, 1, 1)), rb.Placed(rb.Box(1, 1, 1), (0.5, 0, 0)))], "cpu", 0.0).run()
    assert answer["status"][0] == APART
    assert answer["volume"][0] == 0.0


def test_a_bench_that_is_too_small_says_so(monkeypatch):
    roomy = measure.workbench

    def narrow(*given):
        bench = roomy(*given)
        bench.room = 26
        return bench

    monkeypatch.setattr(measure, "workbench", narrow)
    pair = (rb.Placed(rb.Box(1, 1, 1)), rb.Placed(rb.Box(1, 1, 1), (0.3, 0.2, 0.1), turned(1)))
    assert Bench([pair], "cpu").run()["status"][0] == NO_ROOM
    with pytest.raises(rb.RattlebackError, match="too many edges; use a lower fineness"):
        overlap_solid(*pair)


# What cannot be asked


def test_two_planes_are_refused():
    with pytest.raises(rb.InputError, match="two planes, whose overlap has no end"):
        overlap_solid(rb.Plane(), rb.Plane(offset=1.0))


@pytest.mark.parametrize("wrong", [3.0, None, rb.Compound([rb.Placed(rb.Sphere(1.0))]), rb.Box])
def test_what_is_not_a_convex_shape_is_refused(wrong):
    with pytest.raises(rb.InputError, match="argument b of overlap_solid is .* must be a convex shape"):
        overlap_solid(rb.Box(1, 1, 1), wrong)


def test_a_normal_without_length_and_a_coarse_polyhedron_are_refused():
    with pytest.raises(rb.InputError, match="The normal of overlap_solid is the zero vector"):
        overlap_solid(rb.Box(1, 1, 1), rb.Box(1, 1, 1), normal=(0, 0, 0))
    with pytest.raises(rb.InputError, match="The fineness of overlap_solid is 4; it must be at least 8"):
        overlap_solid(rb.Box(1, 1, 1), rb.Sphere(1.0), fineness=4)
