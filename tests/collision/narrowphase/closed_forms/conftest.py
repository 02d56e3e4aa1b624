"""Solids put side by side by hand, the kernels under test, and what every convex solid can be asked independently.

For two convex solids, with h the support function of each and n any unit vector,

    separation = max_n ( −h_A(−n) − h_B(n) )

so that every n is a lower bound, and any two points of the solids are an upper one where they are apart.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.optimize import minimize
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.hull_table import HullTable
from rattleback.collision.narrowphase.closed_forms.closed_forms import ClosedForms
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.core import arrays
from rattleback.core.stages import Program

NAMES = {
    "sphere": 0,
    "capsule": 1,
    "box": 2,
    "cylinder": 3,
    "cone": 4,
    "ellipsoid": 5,
    "hull": 6,
    "plane": 7,
    "mesh": 8,
}


@dataclass
class Thing:
    """A solid at a place; ``size`` and ``round`` as in collision.geometry.solid, a hull or triangle by its vertices."""

    kind: str
    size: Any = (0.0, 0.0, 0.0)
    round: float = 0.0
    vertices: Any = ()
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = field(default_factory=lambda: np.eye(3))

    @property
    def scale(self):
        points = np.abs(self.vertices) if len(self.vertices) else np.zeros((1, 3))
        return np.linalg.norm(self.size) + self.round + np.linalg.norm(points, axis=1).max()

    def at(self, position, rotation=None):
        """The same thing elsewhere."""
        rotation = self.rotation if rotation is None else rotation
        return Thing(self.kind, self.size, self.round, self.vertices, np.asarray(position, float), rotation)

    def height(self, n):
        """Support function, shell included, along unit vectors (…, 3); of a half-space only along its normal."""
        n = np.asarray(n, float)
        d = n @ self.rotation
        x, y, z = np.moveaxis(d, -1, 0)
        a, b, c = self.size
        across = np.hypot(x, y)
        core = {
            "sphere": lambda: 0.0 * x,
            "capsule": lambda: c * np.abs(z),
            "box": lambda: a * np.abs(x) + b * np.abs(y) + c * np.abs(z),
            "cylinder": lambda: a * across + c * np.abs(z),
            "cone": lambda: np.maximum(c * z, a * across - c * z),
            "ellipsoid": lambda: np.sqrt((a * x) ** 2 + (b * y) ** 2 + (c * z) ** 2),
            "hull": lambda: (d @ np.transpose(self.vertices)).max(axis=-1),
            "mesh": lambda: (d @ np.transpose(self.vertices)).max(axis=-1),
            "plane": lambda: np.where(z > 1.0 - 1e-12, 0.0, np.inf),
        }[self.kind]()
        return core + self.round + n @ np.asarray(self.position)

    def outside(self, point):
        """How far a point violates what defines the core; none inside."""
        p = np.asarray(self.rotation).T @ (np.asarray(point) - self.position)
        a, _, c = self.size
        across = np.hypot(p[0], p[1])
        if self.kind in ("sphere", "capsule"):
            return np.linalg.norm(p - [0.0, 0.0, np.clip(p[2], -c, c)])
        if self.kind == "box":
            return np.max(np.abs(p) - self.size)
        if self.kind == "cylinder":
            return max(across - a, abs(p[2]) - c)
        if self.kind == "cone":
            return max(-c - p[2], 2.0 * c * across - a * (c - p[2])) / max(1.0, 2.0 * c)
        if self.kind == "ellipsoid":
            return (np.linalg.norm(p / self.size) - 1.0) * min(self.size)
        if self.kind == "plane":
            return p[2]
        if self.kind == "hull":
            return (ConvexHull(self.vertices).equations @ [*p, 1.0]).max()
        corner, edges = self.vertices[0], np.transpose(self.vertices[1:] - self.vertices[0])
        (u, v), *_ = np.linalg.lstsq(edges, p - corner, rcond=None)
        violation = np.max([-u, -v, u + v - 1.0]) * np.linalg.norm(edges, axis=0).min()
        return max(violation, np.linalg.norm(corner + edges @ [u, v] - p))


class Answers:
    """Separation, normal and points of every pair, the points in the world."""

    def __init__(self, found, origins):
        self.separation, self.normal = found["separation"], found["normal"]
        self.point_a, self.point_b = found["point_a"] + origins, found["point_b"] + origins


@dataclass
class Rig:
    """The parts of a geometry that closed forms read."""

    colliders: Any
    hulls: Any
    kinds: tuple
    device: Any


def describe(thing, table, rows):
    """One row of Colliders."""
    row = {"kind": NAMES[thing.kind], "size": thing.size, "round": thing.round, "hull": -1, "first": 0, "count": 0}
    if thing.kind == "hull":
        key = id(thing.vertices)
        if key not in rows:
            loops = faces(np.asarray(thing.vertices, float))
            rows[key] = table.hull(type("Hull", (), {"vertices": thing.vertices, "faces": loops})())
        first, count = table.span(rows[key])
        row |= {"hull": rows[key], "first": first, "count": count}
    if thing.kind == "mesh":
        row |= {"hull": 0, "first": table.loose(np.asarray(thing.vertices, float)), "count": 3}
    return row


def faces(vertices):
    """Loops of the faces of a hull, triangles of a plane joined, anticlockwise from outside."""
    hull = ConvexHull(vertices)
    size = np.ptp(vertices, axis=0).max()
    loops = []
    used = np.zeros(len(hull.equations), bool)
    for k, plane in enumerate(hull.equations):
        if used[k]:
            continue
        same = (hull.equations[:, :3] @ plane[:3] > 1.0 - 1e-9) & (
            np.abs(hull.equations[:, 3] - plane[3]) < 1e-9 * size
        )
        used |= same
        corners = np.unique(hull.simplices[same])
        middle = vertices[corners].mean(axis=0)
        first = vertices[corners[0]] - middle
        second = np.cross(plane[:3], first)
        around = vertices[corners] - middle
        loops.append(tuple(corners[np.argsort(np.arctan2(around @ second, around @ first))]))
    return loops


def solve(pairs, device="cpu"):
    """The answers of the kernels for pairs of things."""
    things = [thing for pair in pairs for thing in pair]
    table, rows = HullTable(), {}
    described = [describe(thing, table, rows) for thing in things]
    colliders = arrays.allocate(Colliders, {"colliders": len(things)}, device)
    for name in ("kind", "size", "round", "hull", "first", "count"):
        array = getattr(colliders, name)
        array.assign(np.array([row[name] for row in described]).astype(array.numpy().dtype))
    places = arrays.allocate(Places, {"colliders": len(things)}, device)
    positions = np.array([thing.position for thing in things], float)
    places.position.assign(positions)
    places.rotation.assign(np.array([thing.rotation for thing in things], float))
    counts = {"items": len(pairs), "pairs_and_one": len(pairs) + 1, "one": 1}
    items, found = arrays.allocate(Items, counts, device), arrays.allocate(Found, counts, device)
    items.a.assign(np.arange(len(pairs), dtype=np.int32) * 2)
    items.b.assign(np.arange(len(pairs), dtype=np.int32) * 2 + 1)
    items.needed.fill_(len(pairs))
    found.separation.fill_(np.nan)
    place = wp.get_device(device)
    program = Program(place, wp.zeros(1, dtype=wp.int32, device=device))
    rig = Rig(colliders, table.tables(device), tuple(sorted({row["kind"] for row in described})), place)
    with program.stage("narrow phase"):
        ClosedForms().record(program, rig, items, places, 1e300, found)
    program.compile()
    program.run(1)
    return Answers(arrays.read(found), positions[::2])


def turn(random):
    """A random rotation."""
    return Rotation.random(random_state=random).as_matrix()


def make(kind, random, size=1.0, needle=1.0):
    """A solid of about this size, some axis of it ``needle`` times as long as another, at the origin and turned."""
    lengths = size * random.uniform(0.3, 1.0, 3)
    lengths[random.integers(3)] /= needle
    a, _, c = lengths
    shell = size * random.uniform(0.1, 0.5) if kind in ("sphere", "capsule") else random.choice([0.0, 0.1 * size])
    if kind == "hull":
        points = random.normal(size=(random.integers(5, 16), 3))
        points = points[np.unique(ConvexHull(points).simplices)]
        return Thing(kind, round=shell, vertices=points * lengths, rotation=turn(random))
    if kind == "mesh":
        return Thing(kind, round=shell, vertices=random.normal(size=(3, 3)) * lengths, rotation=turn(random))
    dimensions = {
        "capsule": (0.0, 0.0, c),
        "box": lengths,
        "cylinder": (a, a, c),
        "cone": (a, a, c),
        "ellipsoid": lengths,
    }
    return Thing(kind, dimensions.get(kind, (0.0, 0.0, 0.0)), shell, rotation=turn(random))


def best_separation(a, b, starts):
    """Largest lower bound of the separation over the unit vectors ``starts`` (count, 3), the best ones polished."""
    bounds = -a.height(-starts) - b.height(starts)
    best = bounds.max()
    for n in starts[np.argsort(bounds)[-3:]]:
        frame = np.linalg.svd(n[None])[2]
        side = frame[1:]

        def loss(w, n=n, side=side):
            m = n + w @ side
            m /= np.linalg.norm(m)
            return a.height(-m) + b.height(m)

        best = max(
            best, -minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).fun
        )
    return best


@pytest.fixture(scope="session")
def directions():
    """Evenly spread unit vectors, shape (6000, 3)."""
    k = np.arange(6000) + 0.5
    z, turns = 1.0 - 2.0 * k / 6000, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    return np.stack([across * np.cos(turns), across * np.sin(turns), z], axis=1)


@pytest.fixture(scope="session")
def bench():
    """What the tests of closed forms share, under one name."""
    names = {"Thing": Thing, "solve": solve, "make": make, "turn": turn, "best_separation": best_separation}
    return type("Bench", (), {name: staticmethod(value) for name, value in names.items()})
