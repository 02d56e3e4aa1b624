"""A thousand cubes fall on a heap: what finding contacts costs as collisions grow in number, and how the heap rests.

A collision is a pair of bodies with at least one contact point. All phases count. After steps of a simulation every
narrow phase finds the contacts anew, a thousandth of a metre apart at most. Times are medians of a few steps in a row.
Linear means

    log(t_full / t_empty) / log(n_full / n_empty) ≤ 1.1      and      t_full ≤ 1.1 (t₀ + c n_full)

n collisions, t time, as medians of the third of the states with the fewest and with the most collisions; t₀ + c n line
through the states with at most half of the most collisions. What a thousand cubes cost without a collision counts in
t₀; the exponent stays below one for that. R² is of the line through all states.

Reference: Bender, dissertation, §4.6, figures 4.7 to 4.9; means of 0.047 ms with V-Clip and 0.049 ms with SOLID, which
is based on GJK, for a collision, less than 25 ms for 500, and V-Clip the faster one from 270 on.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.collision.detection import Detection
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Picture,
    Result,
    at_most,
    near,
)
from rattleback.experiments.settled import settle
from rattleback.experiments.snapshot import snapshot
from rattleback.experiments.stage_times import StageTimes, medians
from rattleback.scenes import cubes_1000
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import Impulse

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = {"vclip": "V-Clip", "gjk": "GJK", "closed_forms": "closed forms"}
# Mean time of a collision [µs] and bound of the time of 500 [ms].
PUBLISHED = {"vclip": 47.0, "gjk": 49.0}
PUBLISHED_FOR_500 = 25.0
# Collisions from which V-Clip is the faster one.
PUBLISHED_CROSSING = 270.0
EXPONENT, LINEAR = 1.1, 1.1
# Contact points other engines end with, from the same start: 4200 to 5100.
CONTACTS, SPREAD = 4500.0, 500.0
STEP = 0.005
# Steps in a row that are timed.
WINDOW = 6
# Pictures of the fall, at its first and last state and between.
PICTURES = 4


@dataclass(frozen=True)
class Sighting:
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


def fall(sim: Simulation, starts: list[int], tell: Callable[[str], None]) -> tuple[list[Sighting], list[Picture]]:
    """Let cubes fall; from each of the given numbers of steps on, find the contacts of a few steps in a row."""
    geometry, motion = compile_colliders(sim.model), sim.state.motion
    times = {method: StageTimes(geometry, motion, Detection(narrowphase=method)) for method in METHODS}
    sightings, pictures = [], []
    for number, start in enumerate(starts):
        tell(f"cubes fall: {start * STEP:.2f} s")
        if start > sim.state.steps:
            sim.step(start - sim.state.steps)
        if number % (len(starts) // (PICTURES - 1)) == 0:
            pictures.append(snapshot(sim))
        sightings.append(sight(sim, times))
    return sightings, pictures


def sight(sim: Simulation, times: dict[str, StageTimes]) -> Sighting:
    """Find the contacts of a few steps in a row."""
    found: dict[str, list[dict[str, float]]] = {method: [] for method in METHODS}
    motion = sim.state.motion
    for stages in times.values():
        stages.find(motion)
    for _ in range(WINDOW):
        sim.step()
        for method, stages in times.items():
            found[method].append(stages.find(motion))
    counts = {method: stages.counts() for method, stages in times.items()}
    return Sighting(sim.time, counts, {method: medians(found[method]) for method in METHODS})


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


def above_line(collisions: list[int], times: list[float]) -> float:
    """Time of the fullest third over the line through the states with at most half of the most collisions."""
    n, t, third = np.array(collisions), np.array(times), max(len(times) // 3, 1)
    few, full = n <= 0.5 * n.max(), np.argsort(n)[-third:]
    start, slope, _ = line(list(n[few]), list(t[few]))
    return float(np.median(t[full]) / (start + slope * np.median(n[full])))


def judge(found: Findings, method: str, sightings: list[Sighting]) -> tuple[float, float]:
    """The rows of one narrow phase; time without a collision and time of one more [ms]."""
    who = METHODS[method]
    touching = [sighting for sighting in sightings if sighting.collisions(method) > 0]
    n, t = [m.collisions(method) for m in touching], [m.milliseconds(method) for m in touching]
    start, slope, square = line(n, t)
    found.rows.append(at_most(f"{who}: exponent of time over collisions", exponent(n, t), EXPONENT))
    found.rows.append(at_most(f"{who}: full heap over the line of the emptier half", above_line(n, t), LINEAR))
    found.rows.append(Finding(f"{who}: R² of time over collisions", square))
    full = np.argsort(n)[-max(len(n) // 3, 1) :]
    each = float(np.median([1e3 * t[k] / n[k] for k in full]))
    found.rows.append(Finding(f"{who}: a collision of the full heap", each, PUBLISHED.get(method), "µs"))
    published = PUBLISHED_FOR_500 if method in PUBLISHED else None
    found.rows.append(Finding(f"{who}: 500 collisions, on the line", start + 500.0 * slope, published, "ms"))
    return start, slope


def count_heap(found: Findings, last: Sighting, quick: bool) -> None:
    """The rows of what is found in the heap at the end."""
    many = last.counts["closed_forms"]["contacts"]
    what = "heap: contact points"
    found.rows.append(Finding(what, many) if quick else near(what, many, CONTACTS, SPREAD))
    found.rows.append(Finding("heap: collisions", last.collisions("closed_forms")))
    off = max(abs(counts["collisions"] - last.collisions("vclip")) for counts in last.counts.values())
    found.rows.append(at_most("heap: collisions that narrow phases do not agree on", off, 0.0))


def run(options: Options) -> Result:
    """Let the cubes fall and measure."""
    across, every, end = (3, 24, 400) if options.quick else (10, WINDOW, 1400)
    found, sim = Findings(), Simulation(cubes_1000(across, across), time_step=STEP, contacts=Impulse())
    with warnings.catch_warnings():
        # Cubes that overlap at the start are outside their tolerance until they have been moved apart.
        warnings.simplefilter("ignore", NotConvergedWarning)
        sightings, pictures = fall(sim, [*range(0, 240, every), *range(314, end, 72)], options.tell)
        options.tell("cubes at rest")
        found.rows += settle(sim).rows()
    count_heap(found, sightings[-1], options.quick)
    lines = {method: judge(found, method, sightings) for method in METHODS}
    compare(found, sightings[-1], lines)
    return found.result(*panels(sightings, lines), pictures=pictures)


def compare(found: Findings, last: Sighting, lines: dict[str, tuple[float, float]]) -> None:
    """The rows of V-Clip against GJK, and of the stages of the closed forms."""
    ratio = last.milliseconds("vclip") / last.milliseconds("gjk")
    published = PUBLISHED["vclip"] / PUBLISHED["gjk"]
    found.rows.append(Finding("V-Clip over GJK at the most collisions", ratio, published))
    found.rows.append(Finding("collisions from which V-Clip is faster", crossing(lines), PUBLISHED_CROSSING))
    for stage, seconds in last.seconds["closed_forms"].items():
        found.rows.append(Finding(f"closed forms, full heap: {stage}", 1e6 * seconds, unit="µs"))


def crossing(lines: dict[str, tuple[float, float]]) -> float | None:
    """Collisions at which the line of GJK rises above that of V-Clip; None where it does not."""
    start, slope = (lines["gjk"][k] - lines["vclip"][k] for k in (0, 1))
    return -start / slope if slope > 0.0 else None


def panels(sightings: list[Sighting], lines: dict[str, tuple[float, float]]) -> tuple[Panel, ...]:
    """Time over simulated time, over collisions and over contact points."""
    made = []
    for title, label, look in (
        ("Time during the fall", "simulated time [s]", "line"),
        ("Time over collisions", "collisions", "dots"),
        ("Time over contact points", "contact points", "dots"),
    ):
        curves = []
        for number, (method, who) in enumerate(METHODS.items()):
            across: dict[str, list[float]] = {
                "simulated time [s]": [sighting.time for sighting in sightings],
                "collisions": [sighting.collisions(method) for sighting in sightings],
                "contact points": [sighting.counts[method]["contacts"] for sighting in sightings],
            }
            curves.append(Curve(who, across[label], [m.milliseconds(method) for m in sightings], look, number))
        if title.endswith("collisions"):
            curves += fitted(sightings, lines)
        made.append(Panel(title, label, "time to find all contacts [ms]", tuple(curves)))
    return tuple(made)


def fitted(sightings: list[Sighting], lines: dict[str, tuple[float, float]]) -> list[Curve]:
    """The lines nearest to the points of each narrow phase."""
    curves = []
    for number, (method, (start, slope)) in enumerate(lines.items()):
        ends = [0.0, max(sighting.collisions(method) for sighting in sightings)]
        curves.append(Curve(f"{METHODS[method]}, line", ends, [start + slope * n for n in ends], "line", number))
    return curves


EXPERIMENT = Experiment(
    "cubes_1000",
    "Does the time to find contacts grow linearly with the number of collisions when a thousand cubes fall on a heap?",
    "Bender, dissertation, figures 4.7 to 4.9",
    run,
)
