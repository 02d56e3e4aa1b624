"""Solids for V-Clip put side by side by hand, random pairs of them, and a proof of what is said of them."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from scipy.spatial import ConvexHull as QuickHull
from scipy.spatial.transform import Rotation

from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.hull_table import BOX_CORNERS, HullTable
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.vclip.vclip import VClip
from rattleback.core import arrays
from rattleback.core.stages import Program
from rattleback.shapes import ConvexHull


class Core:
    """A sphere, capsule, box or hull for these tests: the vertices of its core, its shell, its row."""

    def __init__(self, kind, vertices, shell=0.0, size=(0.0, 0.0, 0.0), shape=None):
        self.kind, self.vertices, self.shell, self.size, self.shape = kind, np.array(vertices), shell, size, shape
        self.reach = np.linalg.norm(self.vertices, axis=1).max() + shell
        if len(self.vertices) > 2:
            hull = QuickHull(self.vertices)
            self.planes, self.triangles = hull.equations, hull.simplices
            pairs = {tuple(sorted(t[[i, i - 1]])) for t in hull.simplices for i in range(3)}
            self.edges = np.array(sorted(pairs))
        else:
            self.planes, self.triangles = np.zeros((0, 4)), np.zeros((0, 3), dtype=int)
            self.edges = np.zeros((0, 2), dtype=int) if len(self.vertices) == 1 else np.array([[0, 1]])


def box(x, y, z, shell=0.0):
    return Core(solid.BOX, BOX_CORNERS * (x, y, z), shell, (x, y, z))


def hull(points, shell=0.0):
    shape = ConvexHull(points)
    return Core(solid.HULL, shape.vertices, shell, shape=shape)


def ball_hull(seed, count, stretch=(1.0, 1.0, 1.0)):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return hull(points / np.linalg.norm(points, axis=1)[:, None] * stretch)


def sphere(radius):
    return Core(solid.SPHERE, np.zeros((1, 3)), radius)


def capsule(half, radius):
    ends = [(0.0, 0.0, -half), (0.0, 0.0, half)] if half else np.zeros((1, 3))
    return Core(solid.CAPSULE, ends, radius, (0.0, 0.0, half))


POLYHEDRA = [
    box(1.0, 1.0, 1.0),
    box(1.0, 0.5, 0.2),
    box(1.0, 1e-3, 1e-3),
    box(1.0, 1.0, 1e-3),
    ball_hull(0, 4),
    ball_hull(1, 8),
    ball_hull(2, 32),
    ball_hull(3, 20, (1.0, 1e-3, 1e-3)),
    ball_hull(4, 20, (1.0, 1.0, 1e-3)),
    ball_hull(5, 10, (1e-3, 1e-3, 1e-3)),
    ball_hull(6, 12, (1e3, 1e3, 1e3)),
    hull([(np.cos(t), np.sin(t), z) for t in np.arange(8) * np.pi / 4 for z in (-0.5, 0.5)], 0.05),
]
ROUND = [sphere(0.3), sphere(0.0), capsule(0.5, 0.2), capsule(1.0, 1e-3), capsule(0.0, 0.2)]


def scene(cores, a, b, turns, places):
    """The arrays for pairs of cores a and b; rotations and positions of all A, then of all B."""
    table, n = HullTable(), len(a)
    rows = []
    for core in cores:
        row = -1
        if core.kind == solid.BOX:
            row = table.box(tuple(core.size))
        elif core.kind == solid.HULL:
            row = table.hull(core.shape)
        first, count = table.span(row) if row >= 0 else (0, 0)
        rows.append((core.kind, core.size, core.shell, core.reach, row, first, count))
    colliders = arrays.allocate(Colliders, {"colliders": 2 * n}, "cpu")
    index = np.concatenate([a, b]).astype(int)
    names = ("kind", "size", "round", "reach", "hull", "first", "count")
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        array = getattr(colliders, name)
        array.assign(np.array(column)[index].astype(array.numpy().dtype))
    where = arrays.allocate(Places, {"colliders": 2 * n}, "cpu")
    where.position.assign(places)
    where.rotation.assign(turns)
    items = arrays.allocate(Items, {"items": n, "pairs_and_one": n + 1, "one": 1}, "cpu")
    items.a.assign(np.arange(n, dtype=np.int32))
    items.b.assign(np.arange(n, 2 * n, dtype=np.int32))
    items.part.fill_(-1)
    items.needed.fill_(n)
    geometry = SimpleNamespace(colliders=colliders, hulls=table.tables("cpu"), device=wp.get_device("cpu"), kinds=())
    return geometry, where, items


def find(cores, a, b, turns, places, gap=1e300, **options):
    """The answers of V-Clip for many pairs, as NumPy arrays; points relative to the place of A."""
    geometry, where, items = scene(cores, a, b, turns, places)
    found = arrays.allocate(Found, {"items": len(a)}, "cpu")
    program = Program(geometry.device, wp.zeros(1, dtype=wp.int32, device="cpu"))
    with program.stage("narrow"):
        VClip().record(program, geometry, items, where, gap, found, **options)
    program.compile()
    program.run(1)
    return SimpleNamespace(**arrays.read(found))


def meet(a, b, turn_b=None, place_b=(0.0, 0.0, 0.0), turn_a=None, place_a=(0.0, 0.0, 0.0)):
    """The answer for one pair."""
    turns = [np.eye(3) if turn is None else turn.as_matrix() for turn in (turn_a, turn_b)]
    many = find([a, b], [0], [1], np.array(turns), np.array([place_a, place_b], dtype=float))
    return SimpleNamespace(**{name: value[0] for name, value in vars(many).items()})


def world(core, turn, place):
    return core.vertices @ turn.T + place


def sample(seed, count, cores, mode="free"):
    """Random pairs, one of each a polyhedron: cores, rotations, positions, and the size of the larger one."""
    rng = np.random.default_rng(seed)
    polyhedra = [k for k, core in enumerate(cores) if core.kind in (solid.BOX, solid.HULL)]
    a, b = rng.integers(0, len(cores), count), rng.choice(polyhedra, count)
    a, b = np.where(rng.random(count) < 0.5, (a, b), (b, a))
    turn_a, turn_b = (Rotation.random(count, rng).as_matrix() for _ in range(2))
    if mode == "nearly parallel":
        small = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-16, -2, (count, 1))
        turn_b = turn_a @ Rotation.from_rotvec(small).as_matrix()
    reach = np.array([core.reach for core in cores])
    way = rng.normal(size=(count, 3))
    way *= (reach[a] + reach[b])[:, None] * rng.uniform(0.0, 1.5, (count, 1)) / np.linalg.norm(way, axis=1)[:, None]
    way[::3] *= (np.minimum(reach[a], reach[b]) / np.maximum(reach[a], reach[b]))[::3, None]
    if mode == "on a grid":
        cubes = Rotation.create_group("O").as_matrix()
        turn_a = turn_a @ cubes[rng.integers(0, 24, count)]
        turn_b = turn_a @ cubes[rng.integers(0, 24, count)]
        way = np.einsum("nij,nj->ni", turn_a, rng.integers(-4, 5, (count, 3)) * 0.5)
    place = rng.normal(size=(count, 3))
    size = np.maximum(2.0 * np.maximum(reach[a], reach[b]), np.linalg.norm(way, axis=1))
    return a, b, np.concatenate([turn_a, turn_b]), np.concatenate([place, place + way]), size


def faults(cores, a, b, turns, places, answer):
    """How far from true every answer is: the solids' extent along the normal, the points within them, the three joined.

    Points in both solids whose distance equals the gap along the normal prove that no points are nearer.
    """
    n, count = answer.normal, len(a)
    ends, outside = np.zeros((2, count)), np.zeros((2, count))
    for side, (index, points, sign) in enumerate(((a, answer.point_a, 1.0), (b, answer.point_b, -1.0))):
        own = slice(side * count, (side + 1) * count)
        shift = places[own] - places[:count]
        for k in np.unique(index):
            core, rows = cores[k], np.flatnonzero(index == k)
            turn = turns[own][rows]
            spread = np.einsum("nij,vj,ni->nv", turn, core.vertices, n[rows]) + (shift[rows] * n[rows]).sum(1)[:, None]
            ends[side, rows] = sign * (sign * spread).min(axis=1) - sign * core.shell
            local = np.einsum("nji,nj->ni", turn, points[rows] + sign * core.shell * n[rows] - shift[rows])
            if len(core.planes):
                outside[side, rows] = (local @ core.planes[:, :3].T + core.planes[:, 3]).max(axis=1)
            else:
                half = core.size[2]
                local[:, 2] -= np.clip(local[:, 2], -half, half)
                outside[side, rows] = np.linalg.norm(local, axis=1)
    apart = answer.point_a - answer.point_b - answer.separation[:, None] * n
    return np.array([np.abs(ends[0] - ends[1] - answer.separation), *outside, np.linalg.norm(apart, axis=1)])


def check_many(seed, count, mode):
    cores = POLYHEDRA + ROUND if mode != "on a grid" else POLYHEDRA[:2]
    a, b, turns, places, size = sample(seed, count, cores, mode)
    answer = find(cores, a, b, turns, places)
    assert all(np.isfinite(value).all() for value in vars(answer).values())
    np.testing.assert_allclose(np.linalg.norm(answer.normal, axis=1), 1.0, atol=1e-13)
    wrong = faults(cores, a, b, turns, places, answer) / size
    # Half the digits go where a tiny body nearly touches a large one: what is left of them is the direction between.
    assert wrong[0].max() < 1e-8
    assert wrong[1:].max() < 1e-10
    return cores, a, b, turns, places, size, answer


@pytest.fixture(scope="session")
def rig():
    """Everything above, for the tests."""
    solids = {"polyhedra": POLYHEDRA, "round": ROUND, "box": box, "sphere": sphere, "capsule": capsule}
    return SimpleNamespace(
        **solids, scene=scene, find=find, meet=meet, world=world, sample=sample, check_many=check_many
    )
