"""Every pair of shapes with every narrow phase: an answer that proves itself.

With h the support function of a solid, shell included, every unit vector n bounds the separation from below,

    separation = max over n of  b(n)        b(n) = −h_A(−n) − h_B(n)

and where the solids are apart any point of A and any of B bound it from above. So the normal that comes with an answer
must give b(n) = separation, the points must lie in the solids as far apart, and where the solids overlap no other
direction may give more. Pushing A out by the depth along n then makes it just touch.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import narrowphase
from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.hull_table import HullTable
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.stages import Program

CONVEX = ("sphere", "capsule", "box", "cylinder", "cone", "ellipsoid", "hull")
KINDS = {name: int(getattr(solid, name.upper())) for name in (*CONVEX, "plane", "mesh")}
PAIRS = [(a, b) for a in KINDS for b in KINDS if a in CONVEX or b in CONVEX]
SCALES = 10.0 ** np.arange(-3, 4)
VARIANTS = 12
# What an answer may be off, beside the size of the two solids, and a normal [rad].
TOLERANCE = 1e-6
NORMAL_TOLERANCE = 1e-5


@dataclass
class Pool:
    """Solids to choose from: ``VARIANTS`` of each kind at each of ``SCALES``; row by row as Colliders has them."""

    row: dict[str, np.ndarray]
    first: dict[str, int]
    corners: np.ndarray
    faces: list[np.ndarray | None]
    hulls: Any


def lengths_of(variant, rng):
    """Three half sizes: about alike for half of the variants, needles and plates up to 1 : 1000 for the others."""
    return 10.0 ** -rng.uniform(0.0, 0.5 if variant % 2 == 0 else 3.0, 3)


def make_pool():
    """All the solids."""
    rng, table = np.random.default_rng(0), HullTable()
    rows, first, corners, faces = [], {}, [], []
    for name, kind in KINDS.items():
        first[name] = len(rows)
        for variant in range(VARIANTS):
            half, points = lengths_of(variant, rng), rng.normal(size=(rng.integers(4, 20), 3))
            points = points[np.unique(ConvexHull(points).simplices)] * half / 2.0
            shell = rng.uniform(0.05, 0.3) * (variant % 3 == 0)
            for scale in SCALES:
                row = describe(name, half * scale, shell * scale, points * scale, table)
                faces.append(row.pop("planes"))
                corners.append(row.pop("corners"))
                rows.append({"kind": kind, **row})
    most = max(len(x) for x in corners)
    padded = np.array([np.concatenate([x, np.repeat(x[:1], most - len(x), axis=0)]) for x in corners])
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Pool(columns, first, padded, faces, table.tables("cpu"))


def describe(name, half, shell, points, table):
    """One row of Colliders, the corners of an angular solid, and the planes of its faces."""
    size = {
        "capsule": (0.0, 0.0, half[2]),
        "box": half,
        "cylinder": (half[0], half[0], half[2]),
        "cone": (half[0], half[0], half[2]),
        "ellipsoid": half,
    }.get(name, (0.0, 0.0, 0.0))
    row = {"size": np.array(size), "round": shell, "hull": -1, "first": 0, "count": 0}
    row |= {"corners": np.zeros((1, 3)), "planes": None}
    if name in ("sphere", "capsule"):
        row["round"] = shell + 0.3 * half[0]
    if name == "box":
        row["hull"] = table.box(tuple(half))
        row["first"], row["count"] = table.span(row["hull"])
    if name == "hull":
        shape = rb.ConvexHull(points)
        row["hull"] = table.hull(shape)
        row["first"], row["count"] = table.span(row["hull"])
        row["corners"], row["planes"] = shape.vertices, ConvexHull(points).equations
    if name == "mesh":
        row |= {"hull": 0, "first": table.loose(points[:3]), "count": 3, "corners": points[:3]}
    row["reach"] = np.linalg.norm([*size, *np.abs(row["corners"]).max(axis=0)]) + row["round"]
    return row


@pytest.fixture(scope="session")
def pool():
    """The solids to choose from."""
    return make_pool()


class Solids:
    """Many solids of the pool, each at a place."""

    def __init__(self, pool, index, place, turn):
        self.pool, self.index, self.place, self.turn = pool, index, np.array(place), np.array(turn)
        for name in ("kind", "size", "round", "reach"):
            setattr(self, name, pool.row[name][index])

    def moved(self, turn):
        return Solids(self.pool, self.index, self.place @ turn.T, turn @ self.turn)

    def height(self, n):
        """Support function of every solid along its unit vector (count, 3); of a half-space along its normal only."""
        d = np.einsum("kij,ki->kj", self.turn, n)
        x, y, z = d.T
        a, b, c = self.size.T
        across = np.hypot(x, y)
        core = np.select(
            [self.kind == KINDS[name] for name in ("capsule", "box", "cylinder", "cone", "ellipsoid")],
            [
                c * np.abs(z),
                a * np.abs(x) + b * np.abs(y) + c * np.abs(z),
                a * across + c * np.abs(z),
                np.maximum(c * z, a * across - c * z),
                np.sqrt((a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2),
            ],
            0.0,
        )
        angular = np.isin(self.kind, (KINDS["hull"], KINDS["mesh"]))
        core[angular] = np.einsum("kcj,kj->kc", self.pool.corners[self.index[angular]], d[angular]).max(axis=1)
        core[(self.kind == KINDS["plane"]) & (z < 1.0 - 1e-9)] = np.inf
        return core + self.round + (self.place * n).sum(axis=1)

    def outside(self, point):
        """How far points (count, 3) lie outside the cores, at most; a number of the order of the distance."""
        p = np.einsum("kij,ki->kj", self.turn, point - self.place)
        a, _, c = self.size.T
        across = np.hypot(p[:, 0], p[:, 1])
        along = np.stack([0 * c, 0 * c, np.clip(p[:, 2], -c, c)], axis=1)
        slant = np.hypot(a, 2 * c) + 1e-300
        with np.errstate(divide="ignore", invalid="ignore"):
            round_one = (np.linalg.norm(p / self.size, axis=1) - 1.0) * self.size.min(axis=1)
        result = np.select(
            [
                self.kind == KINDS[name]
                for name in ("sphere", "capsule", "box", "cylinder", "cone", "ellipsoid", "plane")
            ],
            [
                np.linalg.norm(p, axis=1),
                np.linalg.norm(p - along, axis=1),
                (np.abs(p) - self.size).max(axis=1),
                np.maximum(across - a, np.abs(p[:, 2]) - c),
                np.maximum(-c - p[:, 2], (2 * c * across - a * (c - p[:, 2])) / slant),
                round_one,
                p[:, 2],
            ],
            0.0,
        )
        for index in np.unique(self.index[self.kind == KINDS["hull"]]):
            rows = self.index == index
            planes = self.pool.faces[index]
            result[rows] = (p[rows] @ planes[:, :3].T + planes[:, 3]).max(axis=1)
        rows = self.kind == KINDS["mesh"]
        result[rows] = off_triangle(self.pool.corners[self.index[rows], :3], p[rows])
        return result


def off_triangle(corner, p):
    """Distance of points (count, 3) from the plane of triangles (count, 3, 3), or how far beside an edge they are."""
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    result = np.abs(((p - corner[:, 0]) * normal).sum(axis=1))
    for k in range(3):
        edge = corner[:, (k + 1) % 3] - corner[:, k]
        outward = np.cross(edge / np.linalg.norm(edge, axis=1)[:, None], normal)
        result = np.maximum(result, ((p - corner[:, k]) * outward).sum(axis=1))
    return result


def unit(x):
    """Vectors along the last axis, at length 1."""
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def scatter(pool, pairs, each, seed):
    """``each`` random meetings of every pair of kinds: near and far, deep, touching, parallel, coincident."""
    rng = np.random.default_rng(seed)
    count = len(pairs) * each
    scale = rng.integers(len(SCALES), size=count)
    solids = []
    for side in range(2):
        base = np.repeat([pool.first[pair[side]] for pair in pairs], each)
        own = np.clip(scale + side * rng.integers(-1, 2, count), 0, len(SCALES) - 1)
        index = base + rng.integers(VARIANTS, size=count) * len(SCALES) + own
        solids.append(Solids(pool, index, np.zeros((count, 3)), Rotation.random(count, random_state=rng).as_matrix()))
    a, b = solids
    tilt = Rotation.from_rotvec(rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-15, -2, (count, 1))).as_matrix()
    quarter = Rotation.from_euler("xyz", 90 * rng.integers(4, size=(count, 3)), degrees=True).as_matrix()
    kind = rng.random(count)
    b.turn[kind < 0.3] = (a.turn @ quarter)[kind < 0.3]
    b.turn[kind < 0.1] = (b.turn @ tilt)[kind < 0.1]
    n = unit(rng.normal(size=(count, 3)))
    axis = rng.random(count) < 0.5
    n[axis] = np.einsum("kij,kj->ki", a.turn, np.eye(3)[rng.integers(3, size=count)])[axis]
    a.place = n * ((a.reach + b.reach) * rng.choice([0.0, 1e-9, 0.1, 0.3, 1.0, 3.0], count))[:, None]
    # Some are moved along n until they touch, or nearly.
    touching = (rng.random(count) < 0.4) & ~np.isin(a.kind, KINDS["plane"]) & ~np.isin(b.kind, KINDS["plane"])
    gap = (a.reach + b.reach) * rng.choice([0.0, 1e-12, 1e-7, -1e-7, 1e-3, -1e-3, -1e-2], count)
    with np.errstate(invalid="ignore"):
        along = gap - lower_bound(a, b, n)
    a.place[touching] += (n * along[:, None])[touching]
    shift = rng.normal(size=(count, 3)) * (a.reach + b.reach)[:, None]
    return Solids(pool, a.index, a.place + shift, a.turn), Solids(pool, b.index, b.place + shift, b.turn)


def lower_bound(a, b, n):
    """What unit vectors (count, 3) prove of the separation."""
    return -a.height(-n) - b.height(n)


def solve(pool, method, a, b, gap=1e30):
    """What a narrow phase says of solid k of a and solid k of b; the points in the world."""
    count = len(a.index)
    colliders = arrays.allocate(Colliders, {"colliders": 2 * count}, "cpu")
    for name, column in pool.row.items():
        array = getattr(colliders, name)
        array.assign(column[np.concatenate([a.index, b.index])].astype(array.numpy().dtype))
    places = arrays.allocate(Places, {"colliders": 2 * count}, "cpu")
    places.position.assign(np.concatenate([a.place, b.place]))
    places.rotation.assign(np.concatenate([a.turn, b.turn]))
    counts = {"items": count, "pairs_and_one": 1, "one": 1}
    items, found = (arrays.allocate(group, counts, "cpu") for group in (Items, Found))
    items.a.assign(np.arange(count, dtype=np.int32))
    items.b.assign(np.arange(count, 2 * count, dtype=np.int32))
    meshes = (a.kind == KINDS["mesh"]) | (b.kind == KINDS["mesh"])
    items.part.assign(np.where(meshes, 0, -1).astype(np.int32))
    items.needed.fill_(count)
    for name in ("separation", "normal", "point_a", "point_b"):
        getattr(found, name).fill_(np.nan)
    device = wp.get_device("cpu")
    kinds = tuple(sorted({int(kind) for kind in np.unique(np.concatenate([a.kind, b.kind]))}))
    geometry = SimpleNamespace(colliders=colliders, hulls=pool.hulls, kinds=kinds, device=device)
    program = Program(device, wp.zeros(1, dtype=wp.int32, device=device))
    with program.stage("narrow"):
        narrowphase.MENU[method]().record(program, geometry, items, places, gap, found)
    program.compile()
    program.run(1)
    said = SimpleNamespace(**arrays.read(found))
    said.point_a, said.point_b = said.point_a + a.place, said.point_b + a.place
    return said


def directions(found, rng):
    """Unit vectors to try: anywhere, and near the normal."""
    for spread in (np.inf, np.inf, np.inf, 0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4):
        step = rng.normal(size=found.normal.shape)
        yield unit(step if np.isinf(spread) else found.normal + spread * step)


def faults(a, b, found, rng):
    """By name, how far every answer is off, beside the size of its solids (count,)."""
    size = a.reach + b.reach
    n = np.where(np.isfinite(found.normal), found.normal, 0.0)
    core = found.separation + a.round + b.round
    between = found.point_a - found.point_b
    with np.errstate(invalid="ignore"):
        bound = lower_bound(a, b, n)
    numbers = [found.separation, *found.normal.T, *found.point_a.T, *found.point_b.T]
    said = {
        "finite": np.where(np.isfinite(numbers).all(axis=0), 0.0, np.inf),
        "length of the normal": np.abs(np.linalg.norm(n, axis=1) - 1.0),
        "points along the normal": np.abs((between * n).sum(axis=1) - found.separation) / size,
        "normal": np.abs(bound - found.separation) / size,
        # Apart, the cores' points are as near to each other as the separation says.
        "points": np.where(core > 0.0, np.linalg.norm(np.cross(between, n), axis=1), 0.0) / size,
        "on A": a.outside(found.point_a + a.round[:, None] * n) / size,
        "on B": b.outside(found.point_b - b.round[:, None] * n) / size,
    }
    planes = (a.kind == KINDS["plane"]) | (b.kind == KINDS["plane"])
    better = np.zeros(len(size))
    for d in directions(found, rng):
        with np.errstate(invalid="ignore"):
            better = np.maximum(better, np.where(planes, 0.0, (lower_bound(a, b, d) - found.separation) / size))
    return {**said, "better direction": better}


def polished(a, b, n, k):
    """The best lower bound near a unit vector of pair k."""
    one, other = (Solids(x.pool, x.index[[k]], x.place[[k]], x.turn[[k]]) for x in (a, b))
    size, side = float((one.reach + other.reach)[0]), np.linalg.svd(n[None])[2][1:]

    def loss(w):
        return -float(lower_bound(one, other, unit((n + 1e-4 * (w @ side))[None]))[0]) / size

    return -size * minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15}).fun


def best_bounds(a, b, rng):
    """The largest lower bound of every pair (count,), by a search at all distances from its best."""
    count, tries = len(a.index), 200
    many = [Solids(x.pool, *(np.repeat(part, tries, axis=0) for part in (x.index, x.place, x.turn))) for x in (a, b)]
    best, way = np.tile([0.0, 0.0, 1.0], (count, 1, 1)), np.zeros((count, 1, 3))
    for _ in range(150):
        step = unit(rng.normal(size=(count, tries, 3)))
        step[:, ::2] = 0.1 * step[:, ::2] + way
        near = unit(best + 10.0 ** rng.uniform(-9, 1, (count, tries, 1)) * step)
        near[:, :1] = best
        said = lower_bound(*many, near.reshape(-1, 3)).reshape(count, tries)
        better = np.take_along_axis(near, said.argmax(axis=1)[:, None, None], axis=1)
        moved = np.linalg.norm(better - best, axis=2, keepdims=True)
        best, way = better, np.where(moved > 0.0, (better - best) / np.maximum(moved, 1e-300), way)
    return said.max(axis=1)


def faulty(a, b, found, rng):
    """(what, A, B, row, how much, separation beside the size) of every answer that is off."""
    names = {kind: name for name, kind in KINDS.items()}
    size, told = a.reach + b.reach, []
    for what, off in faults(a, b, found, rng).items():
        for k in np.flatnonzero(~(off <= TOLERANCE)):
            amount = float(off[k])
            if what == "normal" and amount <= NORMAL_TOLERANCE:
                # Where cores all but touch, a direction has few digits; then the separation is proved by one beside it.
                amount = abs(polished(a, b, found.normal[k], k) - found.separation[k]) / size[k]
            if not amount <= TOLERANCE:
                kinds = names[a.kind[k]], names[b.kind[k]]
                told.append((what, *kinds, int(k), amount, float(found.separation[k] / size[k])))
    return told


@pytest.mark.parametrize("method", narrowphase.MENU)
def test_every_answer_proves_itself(pool, method):
    a, b = scatter(pool, PAIRS, 60, seed=1)
    assert faulty(a, b, solve(pool, method, a, b), np.random.default_rng(2)) == []


@pytest.mark.parametrize("method", narrowphase.MENU)
def test_exchanging_the_solids_turns_the_normal_round(pool, method):
    a, b = scatter(pool, PAIRS, 30, seed=3)
    there, back = solve(pool, method, a, b), solve(pool, method, b, a)
    size = a.reach + b.reach
    assert (np.abs(there.separation - back.separation) / size).max() < TOLERANCE
    assert (np.abs(lower_bound(a, b, -back.normal) - there.separation) / size).max() < NORMAL_TOLERANCE


@pytest.mark.parametrize("method", narrowphase.MENU)
def test_a_rigid_motion_of_both_changes_nothing(pool, method):
    a, b = scatter(pool, PAIRS, 30, seed=4)
    turn = Rotation.random(random_state=5).as_matrix()
    here, there = solve(pool, method, a, b), solve(pool, method, a.moved(turn), b.moved(turn))
    size = a.reach + b.reach
    assert (np.abs(here.separation - there.separation) / size).max() < TOLERANCE
    off = np.abs(lower_bound(a.moved(turn), b.moved(turn), here.normal @ turn.T) - here.separation)
    assert (off / size).max() < NORMAL_TOLERANCE


def test_all_narrow_phases_agree(pool):
    a, b = scatter(pool, PAIRS, 60, seed=6)
    size = a.reach + b.reach
    answers = {method: solve(pool, method, a, b).separation for method in narrowphase.MENU}
    assert max((np.abs(x - answers[narrowphase.DEFAULT]) / size).max() for x in answers.values()) < TOLERANCE


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if "plane" not in pair and pair[0] <= pair[1]], ids="-".join)
def test_a_minimisation_finds_nothing_better(pool, pair):
    a, b = scatter(pool, [pair], 4, seed=7)
    found = solve(pool, narrowphase.DEFAULT, a, b)
    best = best_bounds(a, b, np.random.default_rng(8))
    assert (best <= found.separation + TOLERANCE * (a.reach + b.reach)).all()


@pytest.mark.slow
def test_a_million_random_meetings(pool):
    done, wrong = 0, []
    for turn in range(9):
        a, b = scatter(pool, PAIRS, 540, seed=1000 + turn)
        size, answers = a.reach + b.reach, {}
        for method in narrowphase.MENU:
            found = solve(pool, method, a, b)
            wrong += [(method, turn, *told) for told in faulty(a, b, found, np.random.default_rng(turn))]
            answers[method] = found.separation
            apart = np.abs(found.separation - answers[narrowphase.DEFAULT]) / size
            wrong += [(method, turn, "agreement", int(k)) for k in np.flatnonzero(~(apart <= TOLERANCE))]
            done += len(size)
    assert done >= 1_000_000
    assert wrong == [], f"{len(wrong)} of {done} answers are off"
