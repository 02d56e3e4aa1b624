"""Finding contacts: a settled heap of a thousand cubes stage by stage, larger heaps, other engines, CUDA.

    python benchmarks/collision.py [--heap FILE.npz] [--device cuda] [--write]

The heap is that of the scene ``cubes_1000`` after 7 s; with ``--heap`` it is kept in a file and read from it the next
time. Before any time counts, the depth of every pair of cubes is compared with a test of all 15 separating axes in
NumPy, and on CUDA the contacts with those of the CPU. MuJoCo and Rapier are timed beside ours where they can be
imported.
"""

import os
import warnings
from pathlib import Path
from typing import Any

import collision_peers
import numpy as np
import warp as wp
from broadphase import VOLUMES, Crowd
from machine import markdown, median_seconds, options, publish
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from rattleback.collision.broadphase.bounds import BoxBounds
from rattleback.collision.detection import Detection
from rattleback.collision.geometry.compile import Geometry, compile_colliders
from rattleback.collision.geometry.hull_table import HullTable
from rattleback.collision.geometry.surface_table import SurfaceTable
from rattleback.core import arrays, device
from rattleback.core.errors import NotConvergedWarning
from rattleback.core.precision import numpy_real
from rattleback.core.stages import Program
from rattleback.experiments.stage_times import KERNELS, StageTimes, medians
from rattleback.model.compile import compile_scene
from rattleback.model.state import Motion
from rattleback.scenes import cubes_1000
from rattleback.simulation import Simulation

METHODS = ("closed_forms", "gjk", "vclip")
SIZES = (1_000, 8_000, 27_000)
ON_CUDA = 100_000
# How long cubes fall [s], and their time step.
SETTLED, STEP = 7.0, 0.005
REPEATS = 15
# How far bodies move from one detection to the next [m].
MOVES = 1e-5
# Largest difference of a depth from that of the separating axes [m], near ties the closed forms take a face that is a
# little deeper; part of the contacts that may differ on CUDA.
EXACT, ALIKE = (1e-6, 1e-4) if numpy_real is np.float64 else (1e-4, 1e-2)


class Scenery:
    """Unit cubes at their places, the ground among them as body 0 where there is one, and where they were before."""

    def __init__(self, geometry: Geometry, position: Any, orientation: Any, ground: bool) -> None:
        self.geometry, self.ground = geometry, ground
        self.now = arrays.allocate(Motion, {"bodies": len(position)}, geometry.device)
        self.now.position.assign(position.astype(numpy_real))
        self.now.orientation.assign(orientation.astype(numpy_real))
        self.before = arrays.clone(self.now)
        off = np.random.default_rng(0).normal(0.0, MOVES, position.shape)
        off[0] *= not ground
        self.before.position.assign((position + off).astype(numpy_real))

    @property
    def count(self) -> int:
        """Number of cubes."""
        return len(self.now.position) - self.ground

    def times(self, method: str | None = None) -> tuple[StageTimes, dict[str, float]]:
        """Stages of a narrow phase, run, and the median time of each [s]."""
        stages = StageTimes(self.geometry, self.now, Detection(narrowphase=method or METHODS[0]))
        found = []
        for _ in range(REPEATS):
            stages.find(self.before)
            found.append(stages.find(self.now))
        return stages, medians(found)


def heap_of_1000(path: Path | None) -> Scenery:
    """The settled heap, made or read."""
    scene = cubes_1000()
    model, _ = compile_scene(scene, None, device.find("cpu"))
    if path is not None and path.exists():
        kept = np.load(path)
        return Scenery(compile_colliders(model), kept["position"], kept["orientation"], True)
    sim = Simulation(scene, time_step=STEP)
    with warnings.catch_warnings():
        # Cubes that overlap at the start are outside their tolerance for a while.
        warnings.simplefilter("ignore", NotConvergedWarning)
        sim.run(SETTLED)
    position, orientation = sim.state.position, sim.state.orientation
    if path is not None:
        np.savez(path, position=position, orientation=orientation)
    return Scenery(compile_colliders(model), position, orientation, True)


def packed(count: int, where: str) -> Scenery:
    """Touching cubes on a lattice, a little off their places and tilted."""
    rng, edge = np.random.default_rng(count), int(np.ceil(round(count ** (1 / 3), 6)))
    points = np.stack(np.unravel_index(np.arange(count), (edge, edge, edge)), axis=1).astype(float)
    points += rng.uniform(-1e-3, 1e-3, points.shape)
    turn = Rotation.from_rotvec(rng.normal(0.0, 1e-3, points.shape))
    crowd, table = Crowd(points, turn, where), HullTable()
    row = table.box((0.5, 0.5, 0.5))
    first, corners = table.span(row)
    crowd.set(orientation=[0.0, 0.0, 0.0, 1.0], hull=row, first=first, count=corners)
    hulls, surfaces = table.tables(crowd.device), SurfaceTable().tables(crowd.device)
    kinds, names = (int(crowd.colliders.kind.numpy()[0]),), tuple(f"cube_{i}" for i in range(count))
    exclusions = crowd.geometry.exclusions
    geometry = Geometry(crowd.colliders, hulls, surfaces, exclusions, count, kinds, names, crowd.device)
    return Scenery(geometry, points, turn.as_quat(), False)


def axes_gap(position: Any, turn: Any, a: Any, b: Any) -> np.ndarray:
    """Largest gap of pairs of unit cubes along the 15 axes that may separate them; minus their depth if none does."""
    middle, sides = position[a] - position[b], (turn[a], turn[b])
    axes = [side[:, :, k] for side in sides for k in range(3)]
    axes += [np.cross(sides[0][:, :, i], sides[1][:, :, j]) for i in range(3) for j in range(3)]
    worst = np.full(len(a), -np.inf)
    for axis in axes:
        length = np.linalg.norm(axis, axis=1)
        unit = axis / np.maximum(length, 1e-300)[:, None]
        reach = sum(0.5 * np.abs(np.einsum("nik,ni->nk", side, unit)).sum(axis=1) for side in sides)
        gap = np.abs(np.einsum("ni,ni->n", middle, unit)) - reach
        worst = np.where(length > 1e-6, np.maximum(worst, gap), worst)
    return worst


def check(scenery: Scenery, stages: StageTimes) -> None:
    """Compare what was found with the separating axes of all cubes near each other, and with the ground."""
    finder, first = stages.finder, int(scenery.ground)
    nearest = nearest_of(stages)
    if len(nearest) != stages.counts()["collisions"]:
        raise SystemExit("Pairs that touch have no contact points; no time counts.")
    position, turn = scenery.now.position.numpy(), Rotation.from_quat(scenery.now.orientation.numpy()).as_matrix()
    near = cKDTree(position[first:]).query_pairs(np.sqrt(3.0) + finder.distance, output_type="ndarray") + first
    gaps = axes_gap(position, turn, near[:, 0], near[:, 1])
    # Apart, cubes may be farther from each other than along any of the axes.
    wanted = {(int(i), int(j)): g for (i, j), g in zip(near, gaps, strict=True) if g < -EXACT}
    close = {(int(i), int(j)) for (i, j), g in zip(near, gaps, strict=True) if g <= finder.distance + EXACT}
    if scenery.ground:
        low = position[1:, 2] - 0.5 * np.abs(turn[1:, 2]).sum(axis=1)
        wanted |= {(0, int(i) + 1): g for i, g in enumerate(low) if g < -EXACT}
        close |= {(0, int(i) + 1) for i in np.flatnonzero(low <= finder.distance + EXACT)}
    off = max((abs(nearest.get(pair, np.inf) - depth) for pair, depth in wanted.items()), default=0.0)
    if off > EXACT or not set(nearest) <= close:
        raise SystemExit(f"A depth is off by {off:g} m, or cubes touch that do not; no time counts.")


def heap_table(scenery: Scenery) -> str:
    """Stages of all narrow phases on the settled heap."""
    body = []
    for method in METHODS:
        stages, seconds = scenery.times(method)
        check(scenery, stages)
        counts = stages.counts()
        made = [f"{1e6 * seconds[name]:.0f}" for name in KERNELS]
        body.append(
            [f"`{method}`", *(f"{counts[key]:,}" for key in counts), *made, f"{1e6 * sum(seconds.values()):.0f}"]
        )
    return markdown(["narrow phase", *counts, *(f"{name} µs" for name in KERNELS), "all µs"], body)


def sizes_table(where: str, sizes: tuple[int, ...]) -> str:
    """Time of a detection for heaps of touching cubes."""
    body = []
    for count in sizes:
        scenery = packed(count, where)
        stages, seconds = scenery.times()
        check(scenery, stages)
        total, counts = sum(seconds.values()), stages.counts()
        parts = [f"{1e3 * seconds[name]:.3g}" for name in KERNELS]
        row = [f"{count:,}", *(f"{counts[key]:,}" for key in counts), *parts]
        body.append(
            [*row, f"{1e3 * total:.3g}", f"{1e6 * total / count:.2f}", f"{1e6 * total / counts['collisions']:.2f}"]
        )
    parts = [f"{name} ms" for name in KERNELS]
    return markdown(["cubes", *counts, *parts, "all ms", "µs a cube", "µs a collision"], body)


def volumes_table(scenery: Scenery) -> str:
    """Pairs of the settled heap that each bounding volume rejects."""
    stages, _ = scenery.times()
    finder, counts, row = stages.finder, stages.counts(), []
    for volume in (BoxBounds(), *VOLUMES.values()):
        keep = wp.zeros(len(finder.pairs.a), dtype=wp.int32, device=scenery.geometry.device)
        program = Program(scenery.geometry.device, wp.zeros(1, dtype=wp.int32, device=scenery.geometry.device))
        with program.stage("all"):
            volume.record(program, scenery.geometry, finder.places, finder.pairs, keep, 0.5 * finder.distance)
        program.compile()
        program.run(1)
        row.append(f"{counts['pairs'] - int(keep.numpy().sum()):,}")
    said = [f"{counts['pairs']:,}", f"{counts['collisions']:,}"]
    return markdown(["pairs", "of which touch", "box along the axes", *VOLUMES], [[*said, *row]])


def nearest_of(stages: StageTimes) -> dict[tuple[int, int], float]:
    """Separation of every pair of bodies in contact, as the narrow phase found it [m]."""
    finder = stages.finder
    many, body = int(finder.items.needed.numpy()[0]), finder.geometry.colliders.body.numpy()
    a, b, s = (array.numpy()[:many] for array in (finder.items.a, finder.items.b, finder.found.separation))
    touch = s <= finder.distance
    return dict(zip(zip(body[a[touch]].tolist(), body[b[touch]].tolist(), strict=True), s[touch].tolist(), strict=True))


def peers_table(scenery: Scenery) -> str:
    """Our detection beside other engines, by turns."""
    ours, _ = scenery.times()
    engines = collision_peers.present(scenery.now.position.numpy()[1:], scenery.now.orientation.numpy()[1:])
    if not engines:
        return "Neither MuJoCo nor Rapier can be imported here; nothing to compare with."
    found: dict[str, list[float]] = {"rattleback": [], **{engine.name: [] for engine in engines}}
    for engine in engines:
        engine.round()
    for _ in range(REPEATS):
        ours.find(scenery.before)
        found["rattleback"].append(sum(ours.find(scenery.now).values()))
        for engine in engines:
            found[engine.name].append(collision_peers.seconds(engine))
    for engine in engines:
        check_peer(engine, nearest_of(ours))
    counts = ours.counts()
    said = {"rattleback": f"{counts['collisions']:,} collisions, {counts['contacts']:,} contacts"}
    said |= {engine.name: engine.said() for engine in engines}
    rows = [[name, f"{1e3 * np.median(took):.3g} ({1e3 * min(took):.3g})", said[name]] for name, took in found.items()]
    return markdown(["engine", "ms, median (least)", "what it found"], rows)


def check_peer(engine: Any, nearest: dict[tuple[int, int], float]) -> None:
    """Cubes that overlap for MuJoCo must for us, and the other way round, but for a few that hardly do."""
    if not hasattr(engine, "depths"):
        return
    theirs = {pair for pair, depth in engine.depths().items() if depth > 1e-6}
    ours = {pair for pair, separation in nearest.items() if separation < -1e-6}
    if len(theirs ^ ours) > 1e-2 * len(ours):
        raise SystemExit(f"{engine.name} and we disagree on {len(theirs ^ ours)} of {len(ours)} overlaps.")


def on_cuda(where: str) -> str:
    """Many touching cubes on CUDA, their contacts compared with the CPU's."""
    body = []
    for count in (*SIZES, ON_CUDA):
        scenery, there = packed(count, where), packed(count, "cpu")
        stages, seconds = scenery.times()
        wanted, _ = there.times()
        check(there, wanted)
        ours, theirs = (kind.counts()["contacts"] for kind in (stages, wanted))
        if abs(ours - theirs) > ALIKE * theirs:
            raise SystemExit(f"{ours} contacts on CUDA, {theirs} on the CPU; no time counts.")
        whole = 1e3 * median_seconds(stages.finder.find, REPEATS)
        parts = [f"{1e3 * seconds[name]:.3g}" for name in KERNELS]
        body.append([f"{count:,}", f"{ours:,}", f"{theirs:,}", *parts, f"{whole:.3g}"])
    parts = [f"{name} ms" for name in KERNELS]
    return markdown(["cubes", "contacts", "on the CPU", *parts, "all in one go, ms"], body)


def measure(where: str, path: Path | None) -> str:
    """All tables."""
    if device.find(where).is_cuda:
        return f"Touching cubes:\n\n{on_cuda(where)}"
    heap = heap_of_1000(path)
    parts = [
        f"Load of the machine when this began: {os.getloadavg()[0]:.1f}. Medians of {REPEATS}, CPU time of one thread.",
        "A settled heap of 1,000 cubes on the ground, motions of 1e-5 m:",
        heap_table(heap),
        "Touching cubes on a lattice, up to 1 mm off their places:",
        sizes_table(where, SIZES),
        "Pairs of boxes along the axes that a second volume would reject, in the settled heap:",
        volumes_table(heap),
        "The same heap in other engines, by turns with ours:",
        peers_table(heap),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    parser = options("collision")
    parser.add_argument("--heap", type=Path, help="file that keeps the settled heap, .npz")
    arguments = parser.parse_args()
    publish("collision", arguments, measure(arguments.device, arguments.heap))
