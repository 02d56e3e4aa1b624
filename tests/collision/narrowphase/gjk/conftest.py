"""Convex solids put side by side by hand, random pairs of them, and proofs of their distances."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.gjk.gjk import Bounds, find_by_gjk
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.precision import numpy_real

SPHERE, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL, _, MESH = range(9)
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
    wp.launch(find_by_gjk, n, [items, colliders, places, hulls, table, bounds, found, n], device=device)
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


@pytest.fixture(scope="session")
def rig():
    return SimpleNamespace(
        Solid=Solid,
        ball=ball,
        measure=measure,
        random_pair=random_pair,
        random_pairs=random_pairs,
        least_along=least_along,
        scale_of=scale_of,
        check=check,
        assert_apart_is_right=assert_apart_is_right,
        kind_pairs=KIND_PAIRS,
        far=FAR,
    )
