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
from rattleback.collision.closest import Found
from rattleback.collision.colliders import Places
from rattleback.collision.compile import compile_colliders
from rattleback.collision.items import Items
from rattleback.collision.narrowphase.closed_forms import ClosedForms
from rattleback.collision.narrowphase.surface_normals import record_surface_normals
from rattleback.collision.pairs import Pairs
from rattleback.collision.place import place
from rattleback.collision.split import record_split
from rattleback.collision.surface import SurfaceTable, merged, normals, twins
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
    items.part.fill_(-7)
    program = Program(wp.get_device("cpu"), wp.zeros(1, dtype=wp.int32))
    with program.stage("collision"):
        inputs = (geometry.colliders, geometry.hulls, state.motion, real(0.5 * GAP), places)
        program.launch(place, geometry.count, *inputs)
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
        turned = Rotation.random(random_state=random) if tilt is None else Rotation.from_rotvec(
            [*random.uniform(-tilt, tilt, 2), random.uniform(-3.0, 3.0)]
        )
        q = turned.as_quat()
        solids.append((shape, [*random.uniform(-0.8, 0.8, 2), height + lowest(shape, q)], q))
    return solids


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("mesh_first", [False, True])
def test_a_tessellated_floor_is_a_plane(kind, mesh_first):
    random = np.random.default_rng(5)
    heights = np.concatenate([random.uniform(-0.03, 0.9 * GAP, 30), np.zeros(4)])
    solids = resting(kind, random, 34, heights)
    answers = look(*on_ground(floor(random=random), solids, mesh_first))
    sign = -1.0 if mesh_first else 1.0
    for k, height in enumerate(heights):
        best = answers.deepest(k)
        assert answers.separation[best] == pytest.approx(height, abs=1e-12)
        for row in answers.rows(k):
            assert np.array_equal(sign * answers.normal[row], [0.0, 0.0, 1.0])
            assert answers.separation[row] >= height - 1e-12
