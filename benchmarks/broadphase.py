"""Broad phases: time of a step at rest, in a tumbling crowd, for few colliders; pairs bounding volumes reject.

The lists of all methods are compared bit by bit before any time counts, and the smallest with a plain search in NumPy.
"""

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp
from machine import main, markdown
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from rattleback.collision.broadphase import AllPairs, BoxTree, Cached, Grid, Sweep, needed
from rattleback.collision.broadphase.bounds import BoxBounds, DopBounds, OrientedBounds, SphereBounds
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry import solid
from rattleback.collision.geometry.colliders import Colliders, Exclusions, Hulls, Places
from rattleback.core import arrays, device
from rattleback.core.precision import numpy_real
from rattleback.core.stages import Program

METHODS = {"sweep": Sweep(), "cached": Cached(), "grid": Grid(), "tree": BoxTree(), "all_pairs": AllPairs()}
SLABS = {f"{sides} slabs": DopBounds(sides) for sides in (14, 26)}
VOLUMES = {"ball": SphereBounds(), "oriented box": OrientedBounds(), **SLABS}
EDGES = (10, 22, 31)
FEW = (8, 16, 32, 64, 128, 256)
STEPS = 30
# Colliders beyond which every pair is not tested: it would take seconds.
MOST_FOR_ALL_PAIRS = 11_000
# What is aimed at: time per body of the sweep from 1,000 to 30,000 bodies; a step of the default with 1,000.
MOST_GROWTH, MOST_SECONDS = 1.3, 3e-4
WIDER = 5e-4


class Crowd:
    """Solids at their places, without a scene around them: cubes unless told otherwise."""

    def __init__(self, position: Any, turn: Any, where: str) -> None:
        self.position, self.rotation, self.count = position, turn.as_matrix(), len(position)
        self.device = device.find(where)
        self.colliders = arrays.allocate(Colliders, {"colliders": self.count}, self.device)
        self.set(body=np.arange(self.count), movable=1, category=1, mask=1, kind=int(solid.BOX))
        self.set(reach=np.sqrt(0.75), size=np.full((self.count, 3), 0.5))
        self.half = 0.5 * np.abs(self.rotation).sum(axis=2) + WIDER
        self.places = arrays.allocate(Places, {"colliders": self.count}, self.device)
        exclusions = arrays.allocate(Exclusions, {"exclusions": 0}, self.device)
        self.geometry = SimpleNamespace(
            colliders=self.colliders, exclusions=exclusions, hulls=Hulls(), each=self.count, count=self.count
        )
        self.geometry.device = self.device
        self.places.position.assign(self.position.astype(numpy_real))
        self.places.rotation.assign(self.rotation.astype(numpy_real))
        self.place()

    def set(self, **values: Any) -> None:
        """Fill columns of the colliders."""
        for name, value in values.items():
            array = getattr(self.colliders, name)
            kind = np.int32 if array.dtype is wp.int32 else numpy_real
            shape = array.numpy().shape
            array.assign(np.broadcast_to(np.asarray(value, dtype=kind), shape).copy())

    def place(self) -> None:
        """Put the boxes on the device; broad phases look at nothing else."""
        self.places.lower.assign((self.position - self.half).astype(numpy_real))
        self.places.upper.assign((self.position + self.half).astype(numpy_real))

    def pairs(self, room: int) -> Pairs:
        """An empty list."""
        return arrays.allocate(Pairs, {"pairs": room, "colliders_and_one": self.count + 1, "one": 1}, self.device)


def recorded(record: Any, where: Any) -> Program:
    """A program of one stage."""
    program = Program(where, wp.zeros(1, dtype=wp.int32, device=where))
    with program.stage("all"):
        record(program)
    program.compile()
    return program


def bound_and_recorded(method: Any, crowd: Crowd, pairs: Pairs) -> Program:
    """A method on a crowd, run once, with room for all it needs."""
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.count)
    program = recorded(bound.record, crowd.device)
    program.run(1)
    if any(need > room for need, room in needed(bound).values()):
        bound.grow()
        program = recorded(bound.record, crowd.device)
        program.run(1)
    return program


def lattice(edge: int, gap: float, tilt: float, where: str, shuffled: bool = True) -> Crowd:
    """Unit cubes on a lattice, a little off their places, tilted by so much [rad], numbered at random or by layers."""
    rng = np.random.default_rng(edge)
    points = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * gap
    points = (rng.permutation(points) if shuffled else points) + rng.uniform(-1e-3, 1e-3, points.shape)
    return Crowd(points, Rotation.from_rotvec(rng.normal(0.0, tilt, points.shape)), where)


def seconds_per_step(program: Program, crowd: Crowd, speed: float) -> float:
    """Mean time of a step, CPU time there, while every body moves on by about so much [m] from step to step."""
    clock = time.process_time if crowd.device.is_cpu else time.perf_counter
    rng, found = np.random.default_rng(1), []
    velocity = rng.normal(0.0, speed, crowd.position.shape)
    for _ in range(STEPS):
        crowd.position = crowd.position + velocity
        crowd.place()
        wp.synchronize_device(crowd.device)
        begun = clock()
        program.run(1)
        wp.synchronize_device(crowd.device)
        found.append(clock() - begun)
    return float(np.mean(found))


def plain_search(crowd: Crowd) -> np.ndarray:
    """All overlapping boxes by comparing every pair in NumPy."""
    lower, upper = crowd.places.lower.numpy(), crowd.places.upper.numpy()
    found = [
        (a, a + 1 + b)
        for a in range(crowd.count - 1)
        for b in np.flatnonzero((lower[a] <= upper[a + 1 :]).all(axis=1) & (lower[a + 1 :] <= upper[a]).all(axis=1))
    ]
    return np.array(found)


def measured(make: Any, speed: float) -> list[dict[str, float]]:
    """Seconds per step of every method for every size, after its list was compared."""
    rows = []
    for edge in EDGES:
        crowd, row, listed = make(edge), {}, None
        for name, method in METHODS.items():
            if name == "all_pairs" and crowd.count > MOST_FOR_ALL_PAIRS:
                continue
            crowd = make(edge)
            pairs = crowd.pairs(20 * crowd.count)
            program = bound_and_recorded(method, crowd, pairs)
            row[name] = seconds_per_step(program, crowd, speed)
            found = np.column_stack([pairs.a.numpy(), pairs.b.numpy()])[: int(pairs.needed.numpy()[0])]
            if listed is None:
                listed = plain_search(crowd) if edge == EDGES[0] else found
            if not np.array_equal(found, listed):
                raise SystemExit(f"{name} lists other pairs than the rest; no time counts.")
        rows.append(row | {"count": crowd.count, "pairs": len(listed)})
    return rows


def sizes_table(rows: list[dict[str, float]]) -> str:
    """Milliseconds a step and nanoseconds a body."""
    head = ["bodies", "pairs", *(f"`{name}`" for name in METHODS)]
    body = []
    for row in rows:
        times = [
            f"{1e3 * row[name]:.3g} ms, {1e9 * row[name] / row['count']:.0f} ns a body" if name in row else "–"
            for name in METHODS
        ]
        body.append([f"{row['count']:,}", f"{row['pairs']:,}", *times])
    return markdown(head, body)


def few_table(where: str) -> str:
    """All pairs against the others where colliders are few."""
    names = ("all_pairs", "sweep", "grid", "tree")
    body = []
    for count in FEW:
        row = []
        for name in names:
            crowd = lattice(7, 1.15, 0.3, where)
            crowd = Crowd(crowd.position[:count], Rotation.from_matrix(crowd.rotation[:count]), where)
            program = bound_and_recorded(METHODS[name], crowd, crowd.pairs(30 * count))
            row.append(f"{1e6 * seconds_per_step(program, crowd, 1e-3):.1f} µs")
        body.append([str(count), *row])
    return markdown(["colliders", *(f"`{name}`" for name in names)], body)


def with_shapes(kind: str, where: str) -> Crowd:
    """A dense crowd of boxes, needles or hulls of 20 points in random orientation."""
    rng = np.random.default_rng(7)
    crowd = lattice(8, {"boxes": 1.1, "needles": 0.35, "hulls": 0.9}[kind], 3.0, where)
    half = np.array([0.5, 0.01, 0.01] if kind == "needles" else [0.5, 0.5, 0.5])
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T * half
    if kind == "hulls":
        points = rng.normal(size=(20, 3))
        points *= 0.6 / np.linalg.norm(points, axis=1)[:, None]
        corners = points[ConvexHull(points).vertices]
        crowd.set(kind=int(solid.HULL), first=0, count=len(corners))
    crowd.set(size=np.tile(half, (crowd.count, 1)), reach=np.linalg.norm(corners, axis=1).max())
    vec3 = arrays.fields(Hulls)["vertex"].dtype
    crowd.geometry.hulls.vertex = wp.array(corners.astype(numpy_real), dtype=vec3, device=crowd.device)
    world = np.einsum("nij,kj->nki", crowd.rotation, corners)
    crowd.half = np.abs(world).max(axis=1) + WIDER
    crowd.place()
    return crowd


def volumes_table(where: str) -> str:
    """Pairs of overlapping boxes along the axes that each volume rejects."""
    body = []
    for kind in ("boxes", "needles", "hulls"):
        crowd = with_shapes(kind, where)
        pairs = crowd.pairs(100 * crowd.count)
        bound_and_recorded(AllPairs(), crowd, pairs)
        many = int(pairs.needed.numpy()[0])
        row = []
        for volume in (BoxBounds(), *VOLUMES.values()):
            keep = wp.zeros(len(pairs.a), dtype=wp.int32, device=crowd.device)
            inputs = (crowd.geometry, crowd.places, pairs, keep, WIDER)
            recorded(lambda program, v=volume, i=inputs: v.record(program, *i), crowd.device).run(1)
            row.append(f"{100.0 * (1.0 - keep.numpy().sum() / many):.0f} %")
        body.append([kind, f"{many:,}", *row])
    return markdown(["pile", "pairs", "box along the axes", *VOLUMES], body)


def measure(where: str) -> str:
    """All tables."""
    rest = measured(lambda edge: lattice(edge, 1.0, 1e-3, where, shuffled=False), 1e-5)
    mixed = measured(lambda edge: lattice(edge, 1.0, 1e-3, where), 1e-5)
    tumbling = measured(lambda edge: lattice(edge, 1.3, 0.5, where), 0.02)
    per_body = [row["sweep"] / row["count"] for row in rest]
    growth, default = max(per_body) / per_body[0], rest[0]["sweep" if device.find(where).is_cpu else "grid"]
    verdict = (
        f"Time per body of the sweep grows by {growth:.2f} from {rest[0]['count']:,} to {rest[-1]['count']:,} bodies "
        f"(aim: {MOST_GROWTH}); the default takes {1e3 * default:.3f} ms for {rest[0]['count']:,} "
        f"(aim: {1e3 * MOST_SECONDS:.1f} ms)."
    )
    parts = [
        "A pile of touching unit cubes, numbered layer by layer, motions of 1e-5 m a step:",
        sizes_table(rest),
        verdict,
        "The same numbered at random, so that neighbours lie far apart in memory:",
        sizes_table(mixed),
        "Tumbling cubes 1.3 m apart, numbered at random, motions of 2 cm a step:",
        sizes_table(tumbling),
        "Few colliders, motions of 1 mm a step:",
        few_table(where),
        "Pairs of overlapping boxes along the axes that a second volume rejects:",
        volumes_table(where),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main("broadphase", measure)
