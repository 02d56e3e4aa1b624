"""What the presets buy: error over the time of a step, beside sub-steps and sweeps of equal number.

Steps of a sixtieth of a second, as in games. A wall and a tower stand, where the error is how far something goes; cubes
fall on a heap, where it is the deepest overlap; cubes brake on an inclined plane, where it is the distance from
the closed form; a chain swings, where it is the worst joint. The grid does sixteen sweeps a step, in one sub-step or in
up to sixteen of one sweep.

Times belong to the machine and are not judged. Judged is that ``accurate`` is better than ``balanced`` and meets its
tolerances, that what stands also stands with ``fast``, and that this does no more sweeps and corrections than it says.

Reference: Macklin et al., Small steps in physics simulation, 2019, which finds sub-steps better than iterations.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.maths.rotation import rotate
from rattleback.model import Material
from rattleback.scenes import chain, cubes_1000, incline, tower, wall
from rattleback.scenes.slopes import INCLINE_FRICTIONS, braking_distance
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.model import Scene

STEP = 1.0 / 60.0
PRESETS = ("accurate", "balanced", "fast")
# Sub-steps and sweeps in each.
GRID, SHORT_GRID = ((1, 16), (2, 8), (4, 4), (8, 2), (16, 1)), ((1, 16), (4, 4))
# What may move in a scene that stands, with the preset for games [m]; speed of the cubes that brake [m/s].
STANDS, SPEED = 0.01, 5.0
# Part of the steps that may be outside their tolerance with the accurate preset; in the heap bodies meet fast.
OUTSIDE, OUTSIDE_IN_HEAP = 0.02, 0.1
# Most sweeps at either end of a sub-step, and most corrections, of the preset for games.
SWEEPS, CORRECTIONS = 8, 4
# Errors below this are none [m].
ROUNDING = 1e-9
# Steps that are not timed: the first of a simulation record and load.
WARMING = 3


@dataclass(frozen=True)
class Trial:
    """A scene and what its error is.

    Attributes:
        build: The scene, long or short.
        seconds: How long it is simulated [s], and in the short version.
        what: Name of the error.
        error: The error after a step, from the simulation and the places at the start [m].
        begin: What is done to the simulation first.
        at_end: Whether only the last error counts, not the largest.
        touches: Whether bodies touch, and come to rest.
        stands: Whether nothing should move.
    """

    build: Callable[[bool], Scene]
    seconds: tuple[float, float]
    what: str
    error: Callable[[Simulation, np.ndarray], float]
    begin: Callable[[Simulation], None] = lambda sim: None
    at_end: bool = False
    touches: bool = True
    stands: bool = False


@dataclass
class Seen:
    """What was seen of a trial.

    Attributes:
        median: Median time of a step [ms].
        long: Time that one step in twenty exceeds [ms].
        error: The error [m].
        fastest: Speed of the fastest body in the end [m/s].
        outside: Part of the steps that left something outside its tolerance.
        sweeps: Most sweeps at either end of a sub-step.
        corrections: Most corrections of the joints in a sub-step.
    """

    median: float = 0.0
    long: float = 0.0
    error: float = 0.0
    fastest: float = 0.0
    outside: float = 0.0
    sweeps: int = 0
    corrections: int = 0


def farthest(sim: Simulation, start: np.ndarray) -> float:
    """How far the body that has gone farthest is from its place."""
    return float(np.linalg.norm(sim.state.position - start, axis=1).max())


def missed(sim: Simulation, start: np.ndarray) -> float:
    """How far the ways of braking cubes are from the closed form."""
    rows = [sim.model.index(sim.scene[f"cube_{k + 1}"]) for k in range(len(INCLINE_FRICTIONS))]
    ways = np.linalg.norm(sim.state.position[rows] - start[rows], axis=1)
    return float(np.abs(ways - braking_distance(SPEED)).max())


def let_slide(sim: Simulation) -> None:
    """Give the cubes of the inclined plane their speed and their frictions."""
    for k, friction in enumerate(INCLINE_FRICTIONS):
        cube = sim[f"cube_{k + 1}"]
        cube.material = Material(friction=friction)
        cube.velocity = rotate(cube.orientation, (SPEED, 0.0, 0.0))


TRIALS = {
    "wall": Trial(
        lambda short: wall(3 if short else 8, ball=False), (1.0, 0.2), "farthest from its place", farthest, stands=True
    ),
    "tower": Trial(
        lambda short: tower(5 if short else 20), (2.0, 0.2), "farthest from its place", farthest, stands=True
    ),
    "heap": Trial(
        lambda short: cubes_1000(2, 2, 1.6) if short else cubes_1000(5, 4, 1.6),
        (4.0, 1.0),
        "deepest overlap",
        lambda sim, _: sim.report.penetration,
    ),
    "incline": Trial(lambda _: incline(), (3.0, 3.0), "deviation from the closed form", missed, let_slide, at_end=True),
    "chain": Trial(
        lambda short: chain(6 if short else 30),
        (2.0, 0.2),
        "worst joint",
        lambda sim, _: sim.report.position_error,
        touches=False,
    ),
}


def run(options: Options) -> Result:
    """Simulate every scene with every preset, and with the grid."""
    found, panels = Findings(), []
    variants: dict[str, dict[str, Any]] = {name: {"preset": name} for name in PRESETS}
    for parts, sweeps in SHORT_GRID if options.quick else GRID:
        contacts = Impulse(solver=BlockGaussSeidel(sweeps=sweeps), sweeps_between=sweeps)
        variants[f"{parts} × {sweeps}"] = {"substeps": parts, "contacts": contacts, "warn": False}
    for name, trial in TRIALS.items():
        seen = {}
        for who, settings in variants.items():
            options.tell(f"{name}, {who}")
            seen[who] = follow(trial, options.quick, settings)
        tell(found, name, trial, seen)
        judge(found, name, trial, seen)
        panels.append(panel(name, trial, seen))
    return found.result(*panels)


def follow(trial: Trial, short: bool, settings: dict[str, Any]) -> Seen:
    """Simulate a trial and look at it after every step."""
    sim = Simulation(trial.build(short), time_step=STEP, **settings)
    trial.begin(sim)
    sim.capture()
    seen, taken, outside, start = Seen(), [], [], sim.state.position.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        for _ in range(round(trial.seconds[short] / STEP)):
            begun = time.perf_counter()
            sim.step()
            taken.append(1e3 * (time.perf_counter() - begun))
            report, error = sim.report, trial.error(sim, start)
            seen.error = error if trial.at_end else max(seen.error, error)
            seen.sweeps = max(seen.sweeps, report.contact_sweeps)
            seen.corrections = max(seen.corrections, report.iterations)
            outside.append(not report.converged)
    seen.median, seen.long = float(np.median(taken[WARMING:])), float(np.percentile(taken[WARMING:], 95.0))
    seen.fastest, seen.outside = float(np.linalg.norm(sim.state.velocity, axis=1).max()), float(np.mean(outside))
    return seen


def tell(found: Findings, name: str, trial: Trial, seen: dict[str, Seen]) -> None:
    """The rows of a trial that are not judged."""
    for who, one in seen.items():
        found.rows.append(Finding(f"{name}, {who}: a step", one.median, unit="ms"))
        found.rows.append(Finding(f"{name}, {who}: one step in twenty takes more than", one.long, unit="ms"))
        found.rows.append(Finding(f"{name}, {who}: {trial.what}", one.error, unit="m"))
        if trial.touches:
            found.rows.append(Finding(f"{name}, {who}: fastest in the end", one.fastest, unit="m/s"))
        if who in PRESETS:
            found.rows.append(Finding(f"{name}, {who}: part of the steps outside their tolerance", one.outside))


def judge(found: Findings, name: str, trial: Trial, seen: dict[str, Seen]) -> None:
    """The rows of a trial that decide."""
    accurate, balanced, fast = (seen[who] for who in PRESETS)
    allowed = OUTSIDE_IN_HEAP if name == "heap" else OUTSIDE
    found.rows.append(at_most(f"{name}: accurate, part of the steps outside", accurate.outside, allowed))
    worse = max(balanced.error, ROUNDING)
    found.rows.append(at_most(f"{name}: error of accurate, beside that of balanced", accurate.error, worse, "m"))
    if trial.stands:
        found.rows.append(at_most(f"{name}: fast, {trial.what}", fast.error, STANDS, "m"))
    if trial.touches:
        found.rows.append(at_most(f"{name}: fast, sweeps", fast.sweeps, SWEEPS))
    else:
        found.rows.append(at_most(f"{name}: fast, corrections", fast.corrections, CORRECTIONS))


def panel(name: str, trial: Trial, seen: dict[str, Seen]) -> Panel:
    """Error over the time of a step."""
    curves = [Curve(who, [seen[who].median], [seen[who].error], "measured", k) for k, who in enumerate(PRESETS)]
    grid = [one for who, one in seen.items() if who not in PRESETS]
    curves.append(
        Curve("16 sweeps, 1 to 16 sub-steps", [one.median for one in grid], [one.error for one in grid], colour=3)
    )
    return Panel(name.capitalize(), "time of a step [ms]", f"{trial.what} [m]", tuple(curves), ("log", "log"))


EXPERIMENT = Experiment(
    "presets",
    "What do the presets buy, and what do sub-steps and sweeps?",
    "a demand of this project; Macklin et al. 2019",
    run,
)
