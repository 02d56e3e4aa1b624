"""Triangle meshes and height fields as colliders: their tables, their triangles as items, answers for the surface."""

import numpy as np
import pytest
import trimesh
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.geometry.surface_table import SurfaceTable, merged, normals, twins
from rattleback.collision.geometry.world_poses import place as place_all
from rattleback.collision.narrowphase.closed_forms.closed_forms import ClosedForms
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.midphase import record_split
from rattleback.collision.narrowphase.surface.normals import record_surface_normals
from rattleback.core import arrays
from rattleback.core.precision import real
from rattleback.core.stages import Program
from rattleback.model.compile import compile_scene

GAP = 0.05


class Answers:
    """What was found for pairs of bodies: items and answers, points in the world."""

    def __init__(self, items, found, places):
        self.needed, self.first = int(items.needed.numpy()[0]), items.first.numpy()
        self.a, self.b, self.part, self.pair = (getattr(items, name).numpy() for name in ("a", "b", "part", "pair"))
        origin = places.position.numpy()[self.a]
        self.separation, self.normal = found.separation.numpy(), found.normal.numpy()
        self.point_a, self.point_b = found.point_a.numpy() + origin, found.point_b.numpy() + origin

    def rows(self, k):
        """The items of pair k that touch or nearly so."""
        rows = np.arange(self.first[k], self.first[k + 1])
        return rows[self.separation[rows] <= GAP]

    def deepest(self, k):
        """Row of the nearest item of pair k, or None."""
        rows = self.rows(k)
        return rows[np.argmin(self.separation[rows])] if len(rows) else None


def look(scene, pairs, room=None, worlds=None):
    """The answers for pairs of colliders, with surfaces made whole."""
    model, state = compile_scene(scene, worlds, wp.get_device("cpu"))
    geometry = compile_colliders(model)
    room = 400 * len(pairs) if room is None else room
    counts = {"colliders": geometry.count, "pairs": len(pairs), "items": room, "one": 1}
    counts |= {"pairs_and_one": len(pairs) + 1, "colliders_and_one": geometry.count + 1}
    places, listed, items, found = (arrays.allocate(kind, counts, "cpu") for kind in (Places, Pairs, Items, Found))
    listed.a.assign(np.array(pairs, dtype=np.int32)[:, 0])
    listed.b.assign(np.array(pairs, dtype=np.int32)[:, 1])
    listed.needed.fill_(len(pairs))
    program = Program(wp.get_device("cpu"), wp.zeros(1, dtype=wp.int32))
    with program.stage("collision"):
        inputs = (geometry.colliders, geometry.hulls, state.motion, real(0.5 * GAP), places)
        program.launch(place_all, geometry.count, *inputs)
        record_split(program, geometry, places, listed, items, 0.5 * GAP)
        ClosedForms().record(program, geometry, items, places, GAP, found)
        record_surface_normals(program, geometry, items, places, GAP, found)
    program.compile()
    program.run(1)
    return Answers(items, found, places)


def floor(cells=8, size=4.0, random=None):
    """A flat square at z = 0 of many triangles, its inner vertices moved about in the plane."""
    field = rb.HeightField(np.zeros((cells + 1, cells + 1)), size / cells)
    vertices = field.vertices.copy()
    if random is not None:
        inner = (np.abs(vertices[:, :2]) < 0.5 * size - 1e-9).all(axis=1)
        vertices[inner, :2] += random.uniform(-0.2, 0.2, (inner.sum(), 2)) * size / cells
    return rb.Mesh(vertices, field.triangles)


def hull_points(random):
    points = random.normal(size=(12, 3))
    return points[Qhull(points).vertices] * 0.25


SOLIDS = {
    "sphere": lambda random: rb.Sphere(random.uniform(0.1, 0.4)),
    "capsule": lambda random: rb.Capsule(random.uniform(0.05, 0.2), random.uniform(0.5, 1.2)),
    "box": lambda random: rb.Box(*random.uniform(0.1, 0.8, 3)),
    "cylinder": lambda random: rb.Cylinder(random.uniform(0.1, 0.4), random.uniform(0.1, 0.8)),
    "cone": lambda random: rb.Cone(random.uniform(0.1, 0.4), random.uniform(0.2, 0.8)),
    "ellipsoid": lambda random: rb.Ellipsoid(*random.uniform(0.1, 0.4, 3)),
    "hull": lambda random: rb.ConvexHull(hull_points(random)),
}


def lowest(shape, orientation):
    """How far a shape reaches below its origin when turned."""
    down = Rotation.from_quat(orientation).inv().apply([0.0, 0.0, -1.0])
    return float(shape.support(down) @ down)


def on_ground(ground, solids, mesh_first=False):
    """A scene of solids (shape, position, orientation) and a mesh, and the pairs of each with it."""
    scene = rb.Scene()
    if mesh_first:
        scene.add_static(ground)
    for shape, position, orientation in solids:
        # Positions are of the centre of mass; the shape's origin is wanted.
        center = np.array(shape.mass_properties(1.0).center_of_mass)
        at = np.asarray(position) + Rotation.from_quat(orientation).apply(center)
        scene.add_body(shape, mass=1.0, position=at, orientation=orientation)
    if not mesh_first:
        scene.add_static(ground)
    count = len(solids)
    return scene, [(0, k + 1) if mesh_first else (k, count) for k in range(count)]


def resting(kind, random, count, heights, tilt=None):
    """Solids of one kind whose lowest points are at these heights, anywhere over the middle of the floor."""
    solids = []
    for height in heights[:count]:
        shape = SOLIDS[kind](random)
        turned = (
            Rotation.random(random_state=random)
            if tilt is None
            else Rotation.from_rotvec([*random.uniform(-tilt, tilt, 2), random.uniform(-3.0, 3.0)])
        )
        q = turned.as_quat()
        solids.append((shape, [*random.uniform(-0.8, 0.8, 2), height + lowest(shape, q)], q))
    return solids


FLOOR = floor(16, random=np.random.default_rng(8))
CUBE = trimesh.creation.box((1.0, 1.0, 1.0))


@pytest.mark.parametrize("cells", [8, 40])
@pytest.mark.parametrize("kind", SOLIDS)
def test_a_tessellated_floor_is_a_plane(kind, cells):
    random = np.random.default_rng(5)
    heights = np.concatenate([random.uniform(-0.03, 0.9 * GAP, 16), np.zeros(4)])
    solids = resting(kind, random, 20, heights) + resting(kind, random, 20, heights, tilt=1e-3)
    scene, pairs = on_ground(floor(cells, random=random), solids)
    scene.add_static(rb.Plane())
    answers = look(scene, pairs + [(k, len(solids) + 1) for k in range(len(solids))], room=60000)
    for k in range(len(solids)):
        best, plane = answers.deepest(k), answers.first[len(solids) + k]
        assert answers.separation[best] == pytest.approx(answers.separation[plane], abs=1e-12)
        rows = answers.rows(k)
        assert np.array_equal(answers.normal[rows], np.tile([0.0, 0.0, 1.0], (len(rows), 1)))
        assert np.allclose(answers.point_a[rows, 2] - answers.point_b[rows, 2], answers.separation[rows], atol=1e-12)
        near = np.linalg.norm(answers.point_a[rows] - answers.point_a[plane], axis=1).min()
        # The deepest point of a solid that lies nearly flat may be another one, as deep but for the tilt.
        assert near < 1e-9 or heights[k % 20] == 0.0 or k >= 20


def test_the_order_of_the_two_colliders_only_turns_the_normal():
    random = np.random.default_rng(6)
    solids = resting("box", random, 10, random.uniform(-0.03, 0.04, 10))
    ground = floor(random=random)
    one, other = look(*on_ground(ground, solids)), look(*on_ground(ground, solids, mesh_first=True))
    rows = np.flatnonzero(one.separation[: one.needed] <= GAP)
    assert np.allclose(one.separation[rows], other.separation[rows], atol=1e-12)
    assert np.allclose(one.normal[rows], -other.normal[rows], atol=1e-12)
    assert np.allclose(one.point_a[rows, 2], other.point_b[rows, 2], atol=1e-12)


def test_every_triangle_under_a_box_that_lies_flat_is_kept():
    random = np.random.default_rng(7)
    ground = floor(20, random=random)
    centers = ground.vertices[ground.triangles].mean(axis=1)[:, :2]
    for tilt in (0.0, 1e-6, 1e-4):
        turned = Rotation.from_rotvec([tilt, -0.3 * tilt, 0.7])
        answers = look(*on_ground(ground, [(rb.Box(1.0, 0.6, 0.2), [0.1, 0.2, 0.0999], turned.as_quat())]))
        local = turned.inv().apply(np.column_stack([centers - [0.1, 0.2], np.full(len(centers), -0.0999)]))
        under = np.flatnonzero((np.abs(local[:, :2]) < [0.49, 0.29]).all(axis=1))
        assert set(under) <= set(answers.part[answers.rows(0)])


@given(x=st.floats(-0.8, 0.8), y=st.floats(-0.8, 0.8), depth=st.floats(-0.04, 0.02), turned=st.floats(-0.2, 0.2))
@settings(max_examples=40, deadline=None)
def test_nothing_catches_on_the_edges_of_a_floor(x, y, depth, turned):
    q = Rotation.from_rotvec([turned, 0.5 * turned, 1.0]).as_quat()
    shapes = (rb.Box(0.5, 0.4, 0.3), rb.Sphere(0.2), rb.Capsule(0.1, 0.7), rb.Cylinder(0.2, 0.3))
    answers = look(*on_ground(FLOOR, [(shape, [x, y, lowest(shape, q) - depth], q) for shape in shapes]))
    for k in range(len(shapes)):
        assert answers.separation[answers.deepest(k)] == pytest.approx(-depth, abs=1e-12)
        assert (answers.normal[answers.rows(k)] == [0.0, 0.0, 1.0]).all()


def terrain(cells=24):
    return rb.HeightField.from_function(lambda x, y: 0.3 * np.sin(2.0 * x) * np.cos(1.5 * y) + 0.1 * x, 4.0, cells)


def test_a_ball_is_as_far_from_a_terrain_as_its_nearest_triangle():
    random = np.random.default_rng(9)
    ground = terrain()
    corners = ground.vertices[ground.triangles]
    balls, expected = [], []
    for _ in range(60):
        foot = random.dirichlet(np.ones(3)) @ corners[random.integers(len(corners))]
        radius = random.uniform(0.05, 0.3)
        center = foot + np.array([0.0, 0.0, radius + random.uniform(-0.02, 0.03)])
        nearest = trimesh.triangles.closest_point(corners, np.tile(center, (len(corners), 1)))
        gaps = np.linalg.norm(nearest - center, axis=1)
        balls.append((rb.Sphere(radius), center, [0.0, 0.0, 0.0, 1.0]))
        expected.append((gaps.min() - radius, nearest[gaps.argmin()]))
    answers = look(*on_ground(ground, balls))
    for k, (separation, point) in enumerate(expected):
        best = answers.deepest(k)
        if separation > GAP:
            assert best is None
            continue
        assert answers.separation[best] == pytest.approx(separation, abs=1e-12)
        assert np.allclose(answers.point_b[best], point, atol=1e-9)
        ways = (balls[k][1] - point) / (separation + balls[k][0].radius)
        assert np.allclose(answers.normal[best], ways, atol=1e-9)


def test_a_ball_on_an_edge_or_a_corner_touches_once():
    ground = rb.HeightField(np.zeros((5, 5)), 1.0)
    places = [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (0.25, 0.25), (1.0, 1e-9), (0.3, 0.6)]
    balls = [(rb.Sphere(0.3), [x, y, 0.29], [0.0, 0.0, 0.0, 1.0]) for x, y in places]
    answers = look(*on_ground(ground, balls))
    assert [len(answers.rows(k)) for k in range(len(places))] == [1] * len(places)
    ridge = rb.Mesh(np.array(CUBE.vertices), CUBE.faces)
    answers = look(
        *on_ground(
            ridge, [(rb.Sphere(0.3), [0.65, 0.1, 0.7], [0, 0, 0, 1]), (rb.Sphere(0.3), [0.66] * 3, [0, 0, 0, 1])]
        )
    )
    assert [len(answers.rows(k)) for k in range(2)] == [1, 1]
    assert np.allclose(answers.normal[answers.rows(0)], [[0.6, 0.0, 0.8]])
    assert np.allclose(answers.normal[answers.rows(1)], [[3.0**-0.5] * 3])


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("times", [0, 2])
def test_a_closed_mesh_of_a_cube_is_a_box(kind, times):
    random = np.random.default_rng(10)
    cube = CUBE
    for _ in range(times):
        cube = cube.subdivide()
    solids, count = [], 40
    for _ in range(count):
        shape, q = SOLIDS[kind](random), Rotation.random(random_state=random).as_quat()
        way = random.normal(size=3)
        way /= np.abs(way).max()
        turned = Rotation.from_quat(q)
        # Along one axis, the solid begins this far from the face; elsewhere it may reach past the edges.
        axis = np.abs(way).argmax()
        inward = np.zeros(3)
        inward[axis] = -np.sign(way[axis])
        local = turned.inv().apply(inward)
        way *= random.uniform(0.0, 0.5)
        way[axis] = -inward[axis] * (0.5 + shape.support(local) @ local + random.uniform(-0.01, 0.03))
        solids.append((shape, way, q))
    scene, pairs = on_ground(rb.Mesh(np.array(cube.vertices), np.array(cube.faces)), solids)
    scene.add_static(rb.Box(1.0, 1.0, 1.0))
    answers = look(scene, pairs + [(k, count + 1) for k in range(count)], room=100000)
    for k in range(count):
        box, best = answers.first[count + k], answers.deepest(k)
        depth = answers.separation[box]
        if depth > GAP:
            assert best is None
        else:
            assert answers.separation[best] == pytest.approx(depth, abs=1e-8)
            assert np.allclose(answers.normal[best], answers.normal[box], atol=1e-5)


def test_what_overhangs_a_table_is_not_pushed_off_its_side():
    cube = CUBE.subdivide().subdivide().subdivide().subdivide()
    table = rb.Mesh(np.array(cube.vertices), np.array(cube.faces))
    solids = [
        (rb.Box(1.0, 0.4, 0.2), [0.5 + x, 0.0, 0.6 - depth], [0, 0, 0, 1])
        for x in (0.1, 0.3)
        for depth in (0.001, 0.05, 0.08)
    ]
    answers = look(*on_ground(table, solids))
    for k, (_, position, _) in enumerate(solids):
        rows = answers.rows(k)
        touching = rows[answers.separation[rows] < 0.0]
        assert len(touching)
        assert (answers.normal[touching] == [0.0, 0.0, 1.0]).all()
        assert np.allclose(answers.separation[touching], position[2] - 0.6, atol=1e-12)


def test_what_has_sunk_past_its_middle_is_moved_out_of_the_ground_again():
    ground = rb.HeightField(np.zeros((9, 9)), 0.5)
    q = [0.0, 0.0, 0.0, 1.0]
    solids = [(rb.Box(1.0, 0.6, 0.02), [0.1, 0.2, -0.004], q), (rb.Sphere(0.2), [0.3, 0.1, -0.05], q)]
    solids += [(rb.Box(0.2, 0.2, 0.2), [0.3, 0.1, -0.2], q), (rb.Sphere(0.2), [0.3, 0.1, -0.21], q)]
    answers = look(*on_ground(ground, solids))
    for k, depth in enumerate([0.014, 0.25]):
        rows = answers.rows(k)
        assert np.allclose(answers.separation[rows], -depth, atol=1e-12)
        assert (answers.normal[rows] == [0.0, 0.0, 1.0]).all()
        assert len(rows)
    assert answers.deepest(2) is None
    assert answers.deepest(3) is None


def test_an_open_mesh_has_two_sides():
    q = [0.0, 0.0, 0.0, 1.0]
    solids = [(shape, [0.2, 0.1, z], q) for shape in (rb.Sphere(0.2), rb.Box(0.4, 0.4, 0.4)) for z in (0.19, -0.19)]
    answers = look(*on_ground(FLOOR, solids))
    for k, (_, position, _) in enumerate(solids):
        rows = answers.rows(k)
        assert np.allclose(answers.separation[rows].min(), -0.01, atol=1e-12)
        assert (answers.normal[rows] == [0.0, 0.0, np.sign(position[2])]).all()


def test_two_worlds_have_the_same_answers():
    random = np.random.default_rng(12)
    scene, pairs = on_ground(terrain(), resting("box", random, 5, random.uniform(-0.2, 0.2, 5)))
    answers = look(scene, pairs + [(6 + a, 6 + b) for a, b in pairs], worlds=2)
    each = answers.first[5]
    assert answers.needed == 2 * each > 0
    assert np.array_equal(answers.part[:each], answers.part[each : 2 * each])
    for name in ("separation", "normal", "point_a", "point_b"):
        values = getattr(answers, name)
        assert np.array_equal(values[:each], values[each : 2 * each])


def test_tables_tell_neighbours_normals_and_whether_a_surface_is_solid():
    table = SurfaceTable()
    apart = CUBE.triangles.reshape(-1, 3)
    shapes = [
        rb.Mesh(np.array(CUBE.vertices), np.array(CUBE.faces)),
        rb.Mesh(apart, np.arange(36).reshape(-1, 3)),
        rb.Mesh(np.array(CUBE.vertices), np.array(CUBE.faces)[:, ::-1]),
        rb.Mesh(np.array(CUBE.vertices), np.array(CUBE.faces)[1:]),
        terrain(3),
    ]
    first = 0
    for row, shape in enumerate(shapes):
        assert table.add(shape, first) == row
        first += 3 * len(shape.triangles)
    surfaces = table.tables("cpu")
    assert surfaces.solid.numpy().tolist() == [1, 1, 0, 0, 1]
    assert surfaces.triangles.numpy().tolist() == [12, 12, 12, 11, 18]
    assert surfaces.first.numpy().tolist() == [0, 12, 24, 36, 47]
    assert surfaces.leaves.numpy().tolist() == [16, 16, 16, 16, 32]
    twin = surfaces.twin.numpy()
    assert np.array_equal(twin[:12], twin[12:24])
    assert np.allclose(surfaces.normal.numpy()[:12], CUBE.face_normals)
    touching = {tuple(sorted(pair)) for pair in CUBE.face_adjacency.tolist()}
    assert {tuple(sorted((t, twin[t, k] // 3))) for t in range(12) for k in range(3)} == touching
    assert (twin[36:47] < 0).sum() == 3


def test_a_triangle_without_area_has_no_normal_and_touches_nothing():
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], float)
    assert np.array_equal(normals(points[None, :3]), np.zeros((1, 3)))
    assert np.array_equal(normals(1e-200 * points[None, [0, 1, 3]]), [[0.0, 0.0, 1.0]])
    line = rb.Mesh(points, np.array([[0, 1, 2], [0, 1, 3]]))
    answers = look(*on_ground(line, [(rb.Sphere(0.3), [1.5, 0.0, 0.2], [0, 0, 0, 1])]))
    assert 0 not in answers.part[answers.rows(0)]


def test_edges_of_three_triangles_or_of_two_that_face_apart_have_no_neighbour():
    fan = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    assert (twins(fan) < 0).all()
    assert (twins(np.array([[0, 1, 2], [0, 1, 3]])) < 0).all()
    assert twins(np.array([[0, 1, 2], [1, 0, 3]]))[:, 0].tolist() == [3, 0]
    doubled = merged([[0, 0, 0], [1, 0, 0], [0, 0, 0], [-0.0, 1, 0]], [[0, 1, 3], [2, 1, 3]])
    assert np.array_equal(doubled[0], doubled[1])
