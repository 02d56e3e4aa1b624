"""Solids that overlap closed meshes of many triangles: as deep as in the convex solids these meshes stand for."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import narrowphase

WORLDS, GAP = 60, 0.02


def divided_cube(cells=8):
    """A cube of edge 1 whose faces are squares of two triangles each, cut along either diagonal by turns."""
    x, y = (np.ravel(k) for k in np.meshgrid(*(np.arange(cells + 1),) * 2, indexing="ij"))
    plane = np.column_stack([x, y, np.full(len(x), cells)]) / cells - 0.5
    i, j = (np.ravel(k) for k in np.meshgrid(*(np.arange(cells),) * 2, indexing="ij"))
    a, b = i * (cells + 1) + j, (i + 1) * (cells + 1) + j
    even = ((i + j) % 2 == 0)[:, None]
    one = np.where(even, np.column_stack([a, b, b + 1]), np.column_stack([a, b, a + 1]))
    other = np.where(even, np.column_stack([a, b + 1, a + 1]), np.column_stack([b, b + 1, a + 1]))
    square = np.concatenate([one, other])
    vertices, triangles = [], []
    for axis in range(3):
        for side in (1.0, -1.0):
            triangles.append(
                (square if side > 0.0 else square[:, ::-1]) + 2 * len(plane) * axis + len(plane) * (side < 0)
            )
            vertices.append(np.roll(plane * [1.0, 1.0, side], axis, axis=1))
    return rb.Mesh(np.concatenate(vertices), np.concatenate(triangles))


def hull():
    points = np.random.default_rng(2).normal(size=(14, 3)) * 0.2
    return rb.ConvexHull(points[Qhull(points).vertices])


SOLIDS = {
    "sphere": rb.Sphere(0.25),
    "capsule": rb.Capsule(0.12, 0.7),
    "box": rb.Box(0.5, 0.4, 0.3),
    "cylinder": rb.Cylinder(0.2, 0.5),
    "cone": rb.Cone(0.25, 0.5),
    "ellipsoid": rb.Ellipsoid(0.15, 0.25, 0.35),
    "hull": hull(),
}
BALL = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
CUBE = divided_cube()
GROUNDS = {
    "cube": (CUBE, rb.Box(1.0, 1.0, 1.0)),
    "ball": (rb.Mesh(np.array(BALL.vertices), np.array(BALL.faces)), rb.ConvexHull(np.array(BALL.vertices))),
}


def meet(ground, poses, method, ground_first=False):
    """The contacts of every solid with a ground, by kind: world, separation, normal out of the ground."""
    scene = rb.Scene()
    if ground_first:
        scene.add_static(ground, name="ground")
    for kind, shape in SOLIDS.items():
        scene.add_body(shape, mass=1.0, name=kind)
    if not ground_first:
        scene.add_static(ground, name="ground")
    scene.exclude_if(lambda a, b: "ground" not in (a.name, b.name))
    settings = {"contact_distance": GAP, "contact_points": 8, "narrowphase": method}
    worlds = len(next(iter(poses.values()))[0])
    simulation = rb.Simulation(scene, contacts="detect", worlds=worlds, **settings)
    for kind, (place, turn) in poses.items():
        body = simulation.model.index(kind)
        center = np.array(SOLIDS[kind].mass_properties(1.0).center_of_mass)
        simulation.state.position[:, body] = place + turn.apply(center)
        simulation.state.orientation[:, body] = turn.as_quat()
    found, answers = simulation.contacts, {}
    world, separation, normal, bodies = found.world, found.separation, found.normal, np.array(found.bodies)
    for kind in poses:
        rows = (bodies == kind).any(axis=1)
        sign = np.where(bodies[rows, 0] == kind, 1.0, -1.0)[:, None]
        answers[kind] = (world[rows], separation[rows], sign * normal[rows])
    return answers


def deepest(answers, worlds=WORLDS):
    """For every world the least separation and its normal, GAP where there is no contact."""
    world, separation, normal = answers
    least, its = np.full(worlds, GAP), np.zeros((worlds, 3))
    for row in np.argsort(-separation, kind="stable"):
        least[world[row]], its[world[row]] = separation[row], normal[row]
    return least, its


def reach(shape, turn, way):
    """How far a shape, turned, reaches along each way."""
    local = turn.inv().apply(way)
    return np.array([shape.support(d) @ d for d in local])


def pushed_in(kind, ground, deep, seed, middle=0.5):
    """Places of a solid outside a face of the cube, or the ball, and up to this part of its size inside."""
    random, shape = np.random.default_rng(seed), SOLIDS[kind]
    turn = Rotation.random(WORLDS, random_state=random)
    way = random.normal(size=(WORLDS, 3))
    if ground == "cube":
        way = np.sign(way) * (np.abs(way) == np.abs(way).max(axis=1)[:, None])
    way /= np.linalg.norm(way, axis=1)[:, None]
    aside = random.uniform(-middle, middle, (WORLDS, 3)) * (way == 0.0)
    depth = random.uniform(0.0, deep, WORLDS) * 2.0 * shape.bounding_radius()
    return way * (0.5 + reach(shape, turn, -way) - depth)[:, None] + aside, turn


@pytest.mark.parametrize("method", narrowphase.MENU)
@pytest.mark.parametrize("ground", GROUNDS)
def test_a_closed_mesh_is_as_deep_as_the_convex_solid_it_stands_for(ground, method):
    poses = {kind: pushed_in(kind, ground, 0.05, 3) for kind in SOLIDS}
    meshed, solid = (meet(shape, poses, method) for shape in GROUNDS[ground])
    for kind in SOLIDS:
        (s, n), (t, m) = deepest(meshed[kind]), deepest(solid[kind])
        np.testing.assert_allclose(s, t, atol=1e-6, err_msg=kind)
        touching = t < -1e-6
        assert touching.sum() > 10
        assert (np.einsum("ij,ij->i", n, m)[touching] > 1.0 - 1e-6).mean() > 0.98, kind
        # No contact pushes the solid on into the mesh.
        world, separation, normal = meshed[kind]
        rows = (separation < 0.0) & touching[world]
        assert (np.einsum("ij,ij->i", normal, m[world])[rows] > 0.0).all(), kind


def test_overlaps_deeper_than_triangles_are_long_are_left_by_the_shortest_way():
    fine = divided_cube(24)
    poses = {kind: pushed_in(kind, "cube", 0.1, 4) for kind in ("box", "capsule", "cylinder", "ellipsoid", "hull")}
    meshed, solid = (meet(shape, poses, "gjk") for shape in (fine, rb.Box(1.0, 1.0, 1.0)))
    for kind in poses:
        s, t = deepest(meshed[kind])[0], deepest(solid[kind])[0]
        # Never less deep; a deep overlap has several ways out, and the shortest may be missed, but not by much.
        assert (s <= t + 1e-6).all(), kind
        assert (s >= 1.05 * t - 1e-6)[t < 0.0].all(), kind
        assert (np.abs(s - t) <= 1e-6).mean() > 0.97, kind


@pytest.mark.parametrize("method", narrowphase.MENU)
def test_what_slides_over_a_divided_face_meets_the_normal_of_the_face_only(method):
    random = np.random.default_rng(5)
    poses, depths = {}, {}
    for kind, shape in SOLIDS.items():
        turn = Rotation.from_quat(np.tile(Rotation.random(random_state=random).as_quat(), (WORLDS, 1)))
        depths[kind] = 0.05 * random.uniform(0.1, 1.0) * shape.bounding_radius()
        up = reach(shape, turn, np.tile([0.0, 0.0, -1.0], (WORLDS, 1)))
        aside = np.outer(np.linspace(-0.1, 0.1, WORLDS), [np.cos(0.7), np.sin(0.7)]) + 0.013
        poses[kind] = (np.column_stack([aside, 0.5 + up - depths[kind]]), turn)
    for kind, answers in meet(CUBE, poses, method).items():
        np.testing.assert_allclose(deepest(answers)[0], -depths[kind], atol=1e-9, err_msg=kind)
        np.testing.assert_allclose(answers[2], np.tile([0.0, 0.0, 1.0], (len(answers[2]), 1)), atol=1e-9)


@pytest.mark.parametrize("method", narrowphase.MENU)
@pytest.mark.parametrize("ground", GROUNDS)
def test_the_order_of_mesh_and_solid_changes_nothing_however_deep(ground, method):
    # Overlaps so deep meet very many triangles; half of the places are enough.
    poses = {kind: tuple(part[: WORLDS // 2] for part in pushed_in(kind, ground, 0.6, 6)) for kind in SOLIDS}
    one, other = (meet(GROUNDS[ground][0], poses, method, first) for first in (False, True))
    for kind in SOLIDS:
        (s, _), (t, _) = (deepest(answers[kind], WORLDS // 2) for answers in (one, other))
        np.testing.assert_allclose(s, t, atol=2e-6, err_msg=kind)
        assert (s < 0.0).mean() > 0.5


@pytest.mark.parametrize("method", narrowphase.MENU)
def test_a_ball_deep_in_a_block_is_not_lost_to_the_face_on_the_far_side(method):
    cube = trimesh.creation.box((1.0, 1.0, 1.0))
    block = rb.Mesh(np.array(cube.vertices), np.array(cube.faces))
    place = np.tile([0.05, -0.1, 0.43], (2, 1))
    for first in (False, True):
        answers = meet(block, {"sphere": (place, Rotation.identity(2))}, method, first)
        least, normal = deepest(answers["sphere"], 2)
        np.testing.assert_allclose(least, -0.32, atol=1e-12)
        np.testing.assert_allclose(normal, [[0.0, 0.0, 1.0]] * 2, atol=1e-12)
