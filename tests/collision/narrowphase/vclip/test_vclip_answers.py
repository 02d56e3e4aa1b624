"""V-Clip against closed forms, brute force over all features and all axes, a convex programme, and coal."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

MODES = ["free", "nearly parallel", "on a grid"]


def brute_distance(p, q, a, b):
    """Distance of two polyhedra that are apart with vertices p, q in the world: all ends, edges and faces."""

    def point_segments(x, s, t):
        u = t - s
        along = np.clip(((x[:, None] - s) * u).sum(-1) / (u * u).sum(-1), 0.0, 1.0)
        return np.linalg.norm(x[:, None] - s - along[..., None] * u, axis=-1).min()

    def point_faces(x, corners):
        r, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        n = np.cross(u, v)
        d = x[:, None] - r
        s = (np.cross(d, v) * n).sum(-1) / (n * n).sum(-1)
        t = (np.cross(u, d) * n).sum(-1) / (n * n).sum(-1)
        inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
        return np.where(inside, np.abs((d * n).sum(-1)) / np.linalg.norm(n, axis=-1), np.inf).min(initial=np.inf)

    (r, s), (t, w) = p[a.edges].swapaxes(0, 1), q[b.edges].swapaxes(0, 1)
    best = [point_faces(p, q[b.triangles]), point_faces(q, p[a.triangles])]
    best += [point_segments(p, t, w)] if len(t) else []
    best += [point_segments(q, r, s)] if len(r) else []
    if len(r) and len(t):
        u, v, d = (s - r)[:, None], (w - t)[None], t[None] - r[:, None]
        n = np.cross(u, v)
        square = (n * n).sum(-1)
        # The closest points of parallel edges are also met at an end.
        square[square < 1e-24 * (u * u).sum(-1) * (v * v).sum(-1)] = np.inf
        i = (np.cross(d, v) * n).sum(-1) / square
        j = (np.cross(d, u) * n).sum(-1) / square
        inside = (i >= 0.0) & (i <= 1.0) & (j >= 0.0) & (j <= 1.0)
        inside &= np.isfinite(square)
        best.append(np.where(inside, np.abs((d * n).sum(-1)) / np.sqrt(square), np.inf).min())
    return min(best)


def brute_separation(p, q, a, b, turn_a, turn_b):
    """The largest separation along all normals of faces and all products of edges, without looking at any arc."""
    u, v = (x[core.edges[:, 1]] - x[core.edges[:, 0]] for x, core in ((p, a), (q, b)))
    products = np.cross(u[:, None], v[None]).reshape(-1, 3)
    lengths = (np.linalg.norm(u, axis=1)[:, None] * np.linalg.norm(v, axis=1)).ravel()
    norm = np.linalg.norm(products, axis=1)
    products = products[norm > 1e-7 * lengths] / norm[norm > 1e-7 * lengths, None]
    axes = np.concatenate([-a.planes[:, :3] @ turn_a.T, b.planes[:, :3] @ turn_b.T, products, -products])
    return ((axes @ p.T).min(axis=1) - (axes @ q.T).max(axis=1)).max()


@pytest.mark.parametrize("mode", MODES)
def test_points_within_both_and_the_gap_along_the_normal_prove_the_answer(rig, mode):
    rig.check_many(1, 5000, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(2, 7))
def test_a_hundred_thousand_random_pairs_at_a_time_are_proven(rig, seed, mode):
    rig.check_many(seed, 100_000, mode)


@pytest.mark.parametrize("mode", MODES)
def test_distances_and_depths_agree_with_brute_force(rig, mode):
    cores, a, b, turns, places, size, answer = rig.check_many(11, 400, mode)
    for i in range(400):
        one, two = cores[a[i]], cores[b[i]]
        p, q = rig.world(one, turns[i], 0.0 * places[i]), rig.world(two, turns[400 + i], places[400 + i] - places[i])
        core = answer.separation[i] + one.shell + two.shell
        expected = brute_separation(p, q, one, two, turns[i], turns[400 + i])
        if expected > 1e-7 * size[i]:
            expected = brute_distance(p, q, one, two)
        assert core == pytest.approx(expected, abs=1e-7 * size[i])


def test_distances_agree_with_a_convex_programme(rig):
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    cores = rig.polyhedra[:7]
    a, b, turns, places, size = rig.sample(21, 60, cores)
    answer = rig.find(cores, a, b, turns, places)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.tol_gap_abs, settings.tol_gap_rel = False, 1e-13, 1e-13
    for i in np.flatnonzero(answer.separation > 1e-2):
        p, q = rig.world(cores[a[i]], turns[i], places[i]), rig.world(cores[b[i]], turns[60 + i], places[60 + i])
        # Weights w ≥ 0 of the vertices, each solid's adding up to one; |Pᵀ w|² least.
        both = np.concatenate([p, -q])
        n = len(both)
        sums = np.repeat(np.eye(2), [len(p), len(q)], axis=1)
        rows = sparse.csc_matrix(np.concatenate([sums, -np.eye(n)]))
        cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(n)]
        quadratic = sparse.csc_matrix(np.triu(2.0 * both @ both.T))
        bounds = np.concatenate([np.ones(2), np.zeros(n)])
        weights = clarabel.DefaultSolver(quadratic, np.zeros(n), rows, bounds, cones, settings).solve().x
        assert answer.separation[i] == pytest.approx(np.linalg.norm(both.T @ weights), abs=1e-6 * size[i])


def test_boxes_and_hulls_agree_with_coal(rig):
    coal = pytest.importorskip("coal")
    cores = [rig.polyhedra[k] for k in (0, 1, 5, 6)]
    shapes = [coal.Box(*(2.0 * np.array(core.size))) for core in cores[:2]]
    for core in cores[2:]:
        points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for vertex in core.vertices:
            points.append(vertex)
        for triangle in core.shape.triangles:
            triangles.append(coal.Triangle(*(int(k) for k in triangle)))
        shapes.append(coal.Convex(points, triangles))
    a, b, turns, places, size = rig.sample(31, 400, cores)
    answer = rig.find(cores, a, b, turns, places)
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    for i in range(400):
        poses = [coal.Transform3s(turns[k], places[k]) for k in (i, 400 + i)]
        result = coal.DistanceResult()
        coal.distance(shapes[a[i]], poses[0], shapes[b[i]], poses[1], request, result)
        assert answer.separation[i] == pytest.approx(result.min_distance, abs=1e-5 * size[i])


def test_boxes_side_by_side_are_as_far_apart_as_their_faces(rig):
    found = rig.meet(rig.box(0.5, 0.5, 0.5), rig.box(0.5, 0.3, 0.2), place_b=(2.0, 0.1, 0.0))
    assert found.separation == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(found.normal, (-1.0, 0.0, 0.0), atol=1e-15)
    assert found.point_a[0] == 0.5
    assert found.point_b[0] == 1.5


def test_boxes_corner_to_corner_are_as_far_apart_as_their_corners(rig):
    found = rig.meet(rig.box(0.5, 0.5, 0.5), rig.box(0.5, 0.5, 0.5), place_b=(2.0, 3.0, -4.0))
    assert found.separation == pytest.approx(np.sqrt(1.0 + 4.0 + 9.0), rel=1e-15)
    np.testing.assert_allclose(found.point_a, (0.5, 0.5, -0.5), atol=1e-15)
    np.testing.assert_allclose(found.point_b, (1.5, 2.5, -3.5), atol=1e-15)


def test_a_tilted_box_overlaps_by_what_its_corner_dips_in(rig):
    # A cube stands on a corner of its own, dipped 0.05 into the top of a slab.
    turn = Rotation.align_vectors([(0.0, 0.0, -1.0)], [np.ones(3) / np.sqrt(3.0)])[0]
    place = (0.0, 0.0, 0.05 - 0.25 - np.sqrt(0.75))
    found = rig.meet(rig.box(0.5, 0.5, 0.5), rig.box(2.0, 2.0, 0.25), turn_a=turn, place_b=place)
    assert found.separation == pytest.approx(-0.05, abs=1e-15)
    np.testing.assert_allclose(found.normal, (0.0, 0.0, 1.0), atol=1e-15)
    np.testing.assert_allclose(found.point_a, (0.0, 0.0, -np.sqrt(0.75)), atol=1e-15)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("gap", [0.1, 1e-12, 0.0, -1e-12, -0.1])
def test_crossed_edges_touch_overlap_and_part(rig, scale, gap):
    # Two bars lie crosswise on their edges: their ridges cross above each other.
    bar = rig.box(scale, 0.1 * scale, 0.1 * scale)
    edge_up = Rotation.from_euler("x", 45, degrees=True)
    height = scale * (0.2 * np.sqrt(2.0) + gap)
    found = rig.meet(bar, bar, Rotation.from_euler("z", 60, degrees=True) * edge_up, (0.0, 0.0, -height), edge_up)
    assert found.separation == pytest.approx(scale * gap, abs=1e-15 * scale)
    np.testing.assert_allclose(found.normal, (0.0, 0.0, 1.0), atol=1e-14)


def test_a_sphere_and_a_capsule_meet_a_box_as_their_cores_do(rig):
    cube = rig.box(1.0, 1.0, 1.0)
    # Beside a face, beside an edge, beside a corner, inside near the top.
    for place, core in [
        ((2.0, 0.3, 0.2), 1.0),
        ((2.0, 3.0, 0.2), np.sqrt(5.0)),
        ((2.0, 3.0, 4.0), np.sqrt(14.0)),
        ((0.1, 0.2, 0.9), -0.1),
    ]:
        assert rig.meet(rig.sphere(0.3), cube, place_a=place).separation == pytest.approx(core - 0.3, abs=1e-14)
        assert rig.meet(cube, rig.sphere(0.3), place_b=place).separation == pytest.approx(core - 0.3, abs=1e-14)
    lying = Rotation.from_euler("y", 90, degrees=True)
    found = rig.meet(rig.capsule(5.0, 0.2), cube, turn_a=lying, place_a=(0.0, 0.0, 1.5))
    # The quarter turn is rounded, and the tips of the capsule are five metres away.
    assert found.separation == pytest.approx(0.3, abs=1e-14)
    pierced = rig.meet(rig.capsule(5.0, 0.2), cube, turn_a=lying, place_a=(0.0, 0.1, 0.7))
    assert pierced.separation == pytest.approx(-0.5, abs=1e-14)
    np.testing.assert_allclose(pierced.normal, (0.0, 0.0, 1.0), atol=1e-15)
