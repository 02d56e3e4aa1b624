"""Round solids that roll over triangles: separations do not jump, and normals turn no more than the triangles do."""

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import narrowphase

SOLIDS = {
    "sphere": rb.Sphere(0.2),
    "capsule": rb.Capsule(0.12, 0.6),
    "cylinder": rb.Cylinder(0.2, 0.3),
    "ellipsoid": rb.Ellipsoid(0.15, 0.2, 0.25),
}
STEPS, STEP, GAP = 64, 0.006, 0.05


def wave(x, y):
    return 0.1 * np.sin(np.pi * x) * np.cos(np.pi * y)


def normal_of_wave(points):
    x, y = np.pi * points[:, 0], np.pi * points[:, 1]
    slope = 0.1 * np.pi * np.column_stack([np.cos(x) * np.cos(y), -np.sin(x) * np.sin(y)])
    n = np.column_stack([-slope, np.ones(len(points))])
    return n / np.linalg.norm(n, axis=1)[:, None]


def irregular_floor(cells=64, size=4.0):
    """A flat sheet of many triangles of all forms."""
    random = np.random.default_rng(4)
    field = rb.HeightField(np.zeros((cells + 1, cells + 1)), size / cells)
    vertices = np.array(field.vertices)
    inner = (np.abs(vertices[:, :2]) < 0.5 * size - 1e-9).all(axis=1)
    vertices[inner, :2] += random.uniform(-0.25, 0.25, (inner.sum(), 2)) * size / cells
    return rb.Mesh(vertices, field.triangles)


FLOORS = {
    "height field": rb.HeightField(np.zeros((65, 65)), 1.0 / 16.0),
    "mesh": irregular_floor(),
}
WAVES = rb.HeightField.from_function(wave, 4.0, 64)


def largest_facet(field):
    """The largest angle between two triangles that share a corner [rad]."""
    mesh = trimesh.Trimesh(field.vertices, field.triangles, process=False)
    normals = [mesh.face_normals[faces[faces >= 0]] for faces in mesh.vertex_faces]
    return float(np.arccos(min((n @ n.T).min() for n in normals)))


# The most by which the waves turn from a contact, some way below a triangle, to the place where they have its normal.
BEND = 0.1 * np.pi**2 * (2.0**0.5 / 16.0 + 0.03)


class Course:
    """A solid on its way: where it is and how it is turned at every step, and the most any point of it moves."""

    def __init__(self, shape, seed, height, rolls=False):
        random = np.random.default_rng(seed)
        time = STEP * np.arange(STEPS)
        heading = random.uniform(0.0, 2.0 * np.pi)
        ahead = np.array([np.cos(heading), np.sin(heading), 0.0])
        spin = np.cross([0.0, 0.0, 1.0], ahead) / 0.2 if rolls else 3.0 * random.normal(size=3)
        # A solid that rolls lies on its side, across its way.
        start = Rotation.from_euler("xz", [0.5 * np.pi, heading]) if rolls else Rotation.random(random_state=random)
        self.turn = Rotation.from_rotvec(np.outer(time, spin)) * start
        at = random.uniform(-0.4, 0.4, 2) + np.outer(time, ahead[:2])
        down = self.turn.inv().apply([0.0, 0.0, -1.0])
        low = np.array([shape.support(way) @ way for way in down])
        self.depth = random.uniform(-0.01, 0.02) + 0.005 * np.sin(9.0 * time)
        self.place = np.column_stack([at, height(*at.T) + low - self.depth])
        angles = (self.turn[1:] * self.turn[:-1].inv()).magnitude()
        self.moved = np.linalg.norm(np.diff(self.place, axis=0), axis=1) + shape.bounding_radius() * angles


def meet(ground, courses, method):
    """The contacts of each solid on its course, each step in a world of its own, normals out of the ground."""
    scene = rb.Scene()
    for kind, shape in SOLIDS.items():
        scene.add_body(shape, mass=1.0, name=kind)
    scene.add_static(ground, name="ground")
    scene.exclude_if(lambda a, b: "ground" not in (a.name, b.name))
    settings = {"contact_distance": GAP, "contact_points": 4, "narrowphase": method}
    simulation = rb.Simulation(scene, contacts="detect", worlds=STEPS, **settings)
    for k, course in enumerate(courses.values()):
        simulation.state.position[:, k] = course.place
        simulation.state.orientation[:, k] = course.turn.as_quat()
    found = simulation.contacts
    assert {other for _, other in found.bodies} == {"ground"}
    names = np.array([name for name, _ in found.bodies])
    return {kind: Rows(found, names == kind) for kind in courses}


class Rows:
    """The contacts of one solid, and the rows of the deepest of every step."""

    def __init__(self, found, rows):
        self.separation, self.normal, self.point = found.separation[rows], found.normal[rows], found.point[rows]
        order = np.lexsort((self.separation, found.world[rows]))
        worlds, first = np.unique(found.world[rows][order], return_index=True)
        assert np.array_equal(worlds, np.arange(STEPS))
        self.deepest = order[first]


@pytest.mark.parametrize("rolls", [False, True], ids=["tumbling", "rolling"])
@pytest.mark.parametrize("method", narrowphase.MENU)
@pytest.mark.parametrize("ground", FLOORS)
def test_solids_move_over_a_flat_floor_of_triangles_as_over_a_plane(ground, method, rolls):
    courses = {kind: Course(shape, 1, lambda x, y: 0.0 * x, rolls) for kind, shape in SOLIDS.items()}
    for kind, found in meet(FLOORS[ground], courses, method).items():
        np.testing.assert_allclose(found.separation[found.deepest], -courses[kind].depth, atol=1e-9, err_msg=kind)
        np.testing.assert_allclose(found.normal, np.tile([0.0, 0.0, 1.0], (len(found.normal), 1)), atol=1e-9)


@pytest.mark.parametrize("rolls", [False, True], ids=["tumbling", "rolling"])
@pytest.mark.parametrize("method", narrowphase.MENU)
def test_solids_move_over_waves_without_jumps(method, rolls):
    courses = {kind: Course(shape, 1, wave, rolls) for kind, shape in SOLIDS.items()}
    facet = largest_facet(WAVES)
    for kind, found in meet(WAVES, courses, method).items():
        n, place = found.normal[found.deepest], found.point[found.deepest]
        assert (np.abs(np.diff(found.separation[found.deepest])) <= courses[kind].moved).all(), kind
        assert (np.einsum("ij,ij->i", found.normal, normal_of_wave(found.point)) >= np.cos(BEND)).all(), kind
        # From one triangle to the next, or across a corner, the normal turns by the angle between them at most.
        near = np.linalg.norm(np.diff(place, axis=0), axis=1) <= 0.25 / 16.0
        assert near.mean() > 0.5
        assert (np.einsum("ij,ij->i", n[1:], n[:-1])[near] >= np.cos(facet) - 1e-9).all(), kind
