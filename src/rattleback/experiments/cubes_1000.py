"""A thousand cubes fall on a heap: what finding contacts costs as collisions grow in number.

A collision is a pair of bodies with at least one contact point. All phases count. The fall is that of a stand-in for a
contact solver, see module heap; contacts are found anew where it came by, from the places of the step before to those
of the step, as a simulation does it. Linear means

    log(t_full / t_empty) / log(n_full / n_empty) ≤ 1.1      and      R² ≥ 0.9 of the line t = t₀ + c n,

n collisions, t time, both as medians of the third of the states with the fewest and with the most collisions. The
exponent stays below one where the cost of a thousand cubes without a collision, t₀, counts.

Reference: Bender, dissertation, §4.6, figures 4.7 to 4.9; means of 0.047 ms with V-Clip and 0.049 ms with SOLID, which
is based on GJK, for a collision, and less than 25 ms for 500.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.collision.compile import compile_colliders
from rattleback.collision.detection import Detection
from rattleback.collision.finder import Finder
from rattleback.collision.narrowphase.region import record_regions
from rattleback.collision.place import place
from rattleback.collision.split import record_split
from rattleback.core import arrays
from rattleback.core.stages import Program
from rattleback.experiments.heap import Heap
from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Result,
    at_least,
    at_most,
    near,
)
from rattleback.scenes import cubes_1000

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.collision.compile import Geometry
    from rattleback.model.state import Motion

METHODS = {"vclip": "V-Clip", "gjk": "GJK", "closed_forms": "closed forms"}
# Mean time of a collision [µs] and bound of the time of 500 [ms].
PUBLISHED = {"vclip": 47.0, "gjk": 49.0}
PUBLISHED_FOR_500 = 25.0
EXPONENT, LINEAR = 1.1, 0.9
# Contact points other engines end with, from the same start: 4200 to 5100. Overlaps of a heap that is one [m].
CONTACTS, SPREAD, DEEPEST = 4500.0, 500.0, 0.005
REPEATS = 5


class Watch:
    """A finder whose stages are timed one by one: CPU time there, by the clock elsewhere.

    Attributes:
        finder: The finder.

    Args:
        geometry: The colliders.
        motion: Motion of as many bodies; a copy is taken.
        how: How contacts are found.
    """

    def __init__(self, geometry: Geometry, motion: Motion, how: Detection) -> None:
        self.finder = Finder(geometry, len(motion.position), arrays.clone(motion), how)
        self._clock = time.process_time if geometry.device.is_cpu else time.perf_counter
        self._programs: dict[str, Program] = {}
        self._version = 0

    def find(self, motion: Motion) -> dict[str, float]:
        """Find the contacts where bodies are now; time of every stage [s]. Buffers grow as they must."""
        arrays.copy_into(self.finder.motion, motion)
        while True:
            self._record()
            seconds = {name: self._seconds(program) for name, program in self._programs.items()}
            if all(int(needed.numpy()[0]) <= room for needed, room in self.finder.buffers().values()):
                return seconds
            self.finder.grow()

    def median(self, before: Motion, now: Motion, repeats: int = REPEATS) -> dict[str, float]:
        """Median time of every stage [s] for bodies that come from where they were before."""
        found: list[dict[str, float]] = []
        self.find(now)
        for _ in range(repeats):
            self.find(before)
            found.append(self.find(now))
        return {name: float(np.median([seconds[name] for seconds in found])) for name in found[0]}

    def counts(self) -> dict[str, int]:
        """Number of pairs of boxes, of collisions and of contact points found last."""
        contacts = self.finder.contacts
        many = int(contacts.needed.numpy()[0])
        bodies = np.stack([contacts.body_a.numpy()[:many], contacts.body_b.numpy()[:many]])
        pairs = int(self.finder.pairs.needed.numpy()[0])
        return {"pairs": pairs, "collisions": np.unique(bodies, axis=1).shape[1], "contacts": many}

    def _seconds(self, program: Program) -> float:
        wp.synchronize_device(program.device)
        begun = self._clock()
        program.run(1)
        wp.synchronize_device(program.device)
        return self._clock() - begun

    def _record(self) -> None:
        """Record every stage as a program of its own, unless that is done."""
        finder, geometry = self.finder, self.finder.geometry
        if self._version == finder.version:
            return
        items, places, found = finder.items, finder.places, finder.found
        into, boxes = finder.gathering.into, (finder.motion, 0.5 * finder.distance, places)
        stages: dict[str, Callable[[Any], None]] = {
            "place": lambda p: p.launch(place, geometry.count, geometry.colliders, geometry.hulls, *boxes),
            "broad": finder.broad.record,
            "split": lambda p: record_split(p, geometry, places, finder.pairs, items),
            "narrow": lambda p: finder.how.narrowphase.record(p, geometry, items, places, finder.distance, found),
            "regions": lambda p: record_regions(p, geometry, items, places, found, into),
            "gather": finder.gathering.record,
        }
        for name, record in stages.items():
            program = self._programs[name] = Program(
                geometry.device, wp.zeros(1, dtype=wp.int32, device=geometry.device)
            )
            with program.stage(name):
                record(program)
            program.compile()
        self._version = finder.version


@dataclass(frozen=True)
class Moment:
    """What was measured at one state of the fall.

    Attributes:
        time: Simulated time [s].
        counts: Pairs, collisions and contact points, by method.
        seconds: Time of every stage [s], by method.
    """

    time: float
    counts: dict[str, dict[str, int]]
    seconds: dict[str, dict[str, float]]

    def milliseconds(self, method: str) -> float:
        """Time of all stages [ms]."""
        return 1e3 * sum(self.seconds[method].values())

    def collisions(self, method: str) -> int:
        """Number of collisions."""
        return self.counts[method]["collisions"]


def fall(heap: Heap, steps: list[int], tell: Callable[[str], None]) -> list[Moment]:
    """Let a heap fall and measure after the given numbers of steps."""
    geometry = compile_colliders(heap.model)
    watches = {method: Watch(geometry, heap.motion, Detection(narrowphase=method)) for method in METHODS}
    moments, done = [], 0
    for step in steps:
        tell(f"cubes fall: {step * heap.step:.2f} s")
        heap.run(step - 1 - done)
        before, done = arrays.clone(heap.motion), step
        heap.run(1)
        seconds = {method: watch.median(before, heap.motion) for method, watch in watches.items()}
        moments.append(Moment(step * heap.step, {method: watches[method].counts() for method in METHODS}, seconds))
    return moments


def exponent(collisions: list[int], times: list[float]) -> float:
    """Exponent of a power law through the medians of the emptiest and the fullest third."""
    order = np.argsort(collisions, kind="stable")
    n, t, third = np.array(collisions)[order], np.array(times)[order], max(len(order) // 3, 1)
    growth = np.median(n[-third:]) / np.median(n[:third])
    return float(np.log(np.median(t[-third:]) / np.median(t[:third])) / np.log(growth)) if growth > 1.0 else math.nan


def line(collisions: list[int], times: list[float]) -> tuple[float, float, float]:
    """Time without a collision, time of one more, and R² of the line nearest to the points."""
    slope, start = np.polyfit(collisions, times, 1)
    left = np.sum((start + slope * np.array(collisions) - times) ** 2)
    return float(start), float(slope), float(1.0 - left / np.sum((np.array(times) - np.mean(times)) ** 2))


def judge(found: Findings, method: str, moments: list[Moment]) -> None:
    """The rows of one narrow phase."""
    who = METHODS[method]
    touching = [moment for moment in moments if moment.collisions(method) > 0]
    n, t = [m.collisions(method) for m in touching], [m.milliseconds(method) for m in touching]
    start, slope, square = line(n, t)
    found.rows.append(at_most(f"{who}: exponent of time over collisions", exponent(n, t), EXPONENT))
    found.rows.append(at_least(f"{who}: R² of time over collisions", square, LINEAR))
    full = np.argsort(n)[-max(len(n) // 3, 1) :]
    each = float(np.median([1e3 * t[k] / n[k] for k in full]))
    found.rows.append(Finding(f"{who}: a collision of the full heap", each, PUBLISHED.get(method), "µs"))
    published = PUBLISHED_FOR_500 if method in PUBLISHED else None
    found.rows.append(Finding(f"{who}: 500 collisions, on the line", start + 500.0 * slope, published, "ms"))


def check_heap(found: Findings, heap: Heap, last: Moment, quick: bool) -> None:
    """The rows of the heap at the end."""
    contacts = heap.finder.contacts
    many = last.counts["closed_forms"]["contacts"]
    deepest = -float(contacts.separation.numpy()[: int(contacts.needed.numpy()[0])].min())
    found.rows.append(at_most("heap: deepest overlap", deepest, DEEPEST, "m"))
    speed = np.linalg.norm(heap.motion.velocity.numpy()[1:], axis=1)
    found.rows.append(Finding("heap: mean speed", float(speed.mean()), unit="m/s"))
    what = "heap: contact points"
    found.rows.append(Finding(what, many) if quick else near(what, many, CONTACTS, SPREAD))
    found.rows.append(Finding("heap: collisions", last.collisions("closed_forms")))
    off = max(abs(counts["collisions"] - last.collisions("vclip")) for counts in last.counts.values())
    found.rows.append(at_most("heap: collisions that narrow phases do not agree on", off, 0.0))


def run(options: Options) -> Result:
    """Let the cubes fall and measure."""
    across, most = (3, 400) if options.quick else (10, 1400)
    steps = [*range(4, 240, 16 if options.quick else 4), *range(240, most + 1, 40)]
    found, heap = Findings(), Heap(cubes_1000(across, across))
    moments = fall(heap, steps, options.tell)
    last = moments[-1]
    check_heap(found, heap, last, options.quick)
    for method in METHODS:
        judge(found, method, moments)
    ratio = last.milliseconds("vclip") / last.milliseconds("gjk")
    published = PUBLISHED["vclip"] / PUBLISHED["gjk"]
    found.rows.append(Finding("V-Clip over GJK at the most collisions", ratio, published))
    for stage, seconds in last.seconds["closed_forms"].items():
        found.rows.append(Finding(f"closed forms, full heap: {stage}", 1e6 * seconds, unit="µs"))
    return found.result(*panels(moments))


def panels(moments: list[Moment]) -> tuple[Panel, ...]:
    """Time over simulated time, over collisions and over contact points."""
    across: dict[str, tuple[str, Callable[[Moment, str], float]]] = {
        "Time during the fall": ("simulated time [s]", lambda m, method: m.time),
        "Time over collisions": ("collisions", lambda m, method: m.collisions(method)),
        "Time over contact points": ("contact points", lambda m, method: m.counts[method]["contacts"]),
    }
    made = []
    for title, (label, value) in across.items():
        curves = []
        for number, (method, who) in enumerate(METHODS.items()):
            x, y = [value(m, method) for m in moments], [m.milliseconds(method) for m in moments]
            curves.append(Curve(who, x, y, "line" if label.startswith("sim") else "dots", number))
        made.append(Panel(title, label, "time to find all contacts [ms]", tuple(curves)))
    return tuple(made)


EXPERIMENT = Experiment(
    "cubes_1000",
    "Does the time to find contacts grow linearly with the number of collisions when a thousand cubes fall on a heap?",
    "figures 4.7 to 4.9",
    run,
)
