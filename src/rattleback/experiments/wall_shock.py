"""The wall of 252 bricks with and without shock propagation: what it saves, and what it costs in accuracy.

Without it sweeps go on until contacts are within their tolerances; with it they end after ten, and one pass from the
ground up stops the rest. The price is seen before the ball hits the wall, when nothing should move at all: how far
bricks creep.

Sweeps begin with the loads of the step before, so that a wall at rest needs few of them; time is to be saved while
bricks fly.

Reference: Bender, dissertation, §5.5.1.2: 998 s without and 91 s with shock propagation for 5 s; h = 0.005 s,
tolerances of 0.001 m/s and 1e-5 m.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from rattleback.core.errors import NotConvergedWarning
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
)
from rattleback.experiments.snapshot import snapshot
from rattleback.experiments.wall import BEFORE, LAYERS, STEP, out_of_place, wait
from rattleback.scenes import wall
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse, ShockPropagation

SECONDS, DEPTH, SPEED, AFTER = 5.0, 1e-5, 1e-3, 10
METHODS = {
    "without": Impulse(solver=BlockGaussSeidel(sweeps=1000), sweeps_between=200),
    "with": ShockPropagation(inner=Impulse(sweeps_between=AFTER), after=AFTER),
}
# Time for all [s].
PUBLISHED = {"without": 998.0, "with": 91.0}


def run(options: Options) -> Result:
    """Let the ball swing into both walls."""
    found, watched, pictures = Findings(), {}, []
    for who in METHODS:
        options.tell(f"wall {who} shock propagation")
        sim, watched[who] = hit(found, who, options.quick)
        if not options.quick:
            found.rows.append(at_least(f"{who}: bricks out of place after the hit", out_of_place(sim), 10.0))
            picture = snapshot(sim, {"ball": (0.85, 0.40, 0.25)})
            pictures.append(replace(picture, title=f"{who} shock propagation, {picture.title}"))
    saved = watched["without"][:, 5].sum() / watched["with"][:, 5].sum()
    ratio = None if options.quick else PUBLISHED["without"] / PUBLISHED["with"]
    found.rows.append(Finding("time without over time with", float(saved), ratio))
    return found.result(*panels(watched), pictures=pictures)


def hit(found: Findings, who: str, quick: bool) -> tuple[Simulation, np.ndarray]:
    """Let the ball swing into a wall; the simulation at the end, and what was seen, see ``wall.wait``."""
    layers, before, seconds = (4, 0.1, 0.1) if quick else (LAYERS, BEFORE, SECONDS)
    sim = Simulation(
        wall(layers),
        time_step=STEP,
        contacts=METHODS[who],
        penetration_tolerance=DEPTH,
        contact_velocity_tolerance=SPEED,
    )
    with warnings.catch_warnings():
        # How far contacts are off is what is asked.
        warnings.simplefilter("ignore", NotConvergedWarning)
        seen = wait(sim, before)
        found.rows.append(at_most(f"{who}: bricks out of place before the hit", out_of_place(sim), 0.0))
        if seconds > before:
            seen = np.concatenate([seen, wait(sim, seconds)])
    tabulate(found, who, seen, None if quick else PUBLISHED[who])
    return sim, seen


def before_hit(seen: np.ndarray) -> np.ndarray:
    """The part of what was seen that is before the hit."""
    return seen[seen[:, 0] < BEFORE + 0.5 * STEP]


def tabulate(found: Findings, who: str, whole: np.ndarray, published: float | None) -> None:
    """The rows of one wall."""
    still = before_hit(whole)
    found.rows += [
        Finding(f"{who}: time for all", float(whole[:, 5].sum()), published, "s"),
        Finding(f"{who}: time before the hit", float(still[:, 5].sum()), unit="s"),
        Finding(f"{who}: sweeps a step, mean", float(whole[:, 4].mean())),
        Finding(f"{who}: most sweeps", float(whole[:, 4].max())),
        Finding(f"{who}: farthest brick from its place before the hit", float(still[:, 1].max()), unit="m"),
        Finding(f"{who}: fastest brick before the hit", float(still[:, 2].max()), unit="m/s"),
        Finding(f"{who}: deepest overlap before the hit", float(still[:, 3].max()), unit="m"),
    ]


def panels(watched: dict[str, np.ndarray]) -> tuple[Panel, Panel]:
    """How far bricks creep before the hit, and how long the simulation took to get anywhere."""
    creeping, taking = [], []
    for number, (who, seen) in enumerate(watched.items()):
        still = before_hit(seen)
        name = f"{who} shock propagation"
        creeping.append(Curve(name, still[:, 0].tolist(), still[:, 1].tolist(), "line", number))
        taking.append(Curve(name, seen[:, 0].tolist(), np.cumsum(seen[:, 5]).tolist(), "line", number))
    return (
        Panel("Before the hit", "time [s]", "farthest brick from its place [m]", tuple(creeping), ("linear", "log")),
        Panel("Time taken", "simulated time [s]", "time since the start [s]", tuple(taking)),
    )


EXPERIMENT = Experiment(
    "wall_shock",
    "What does shock propagation save when a ball swings into a wall, and what does it cost?",
    "Bender, dissertation, §5.5.1.2",
    run,
)
