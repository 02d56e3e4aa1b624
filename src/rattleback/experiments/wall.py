"""A wall of 252 bricks: it stands until a ball on an arm swings into it.

Twenty-four layers of bricks lie on each other and side by side without mortar; more than 2000 points touch. Before the
hit nothing should move at all: what bricks still do is the error of the contact method. The ball has 10 kg and hangs
7 m below its hinge; it starts level and touches the wall when it hangs.

After the hit bricks fly, and a few sweeps a step do.

Reference: Bender, dissertation, §5.5.1.2, figure 5.10; h = 0.005 s.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

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
    at_least,
    at_most,
)
from rattleback.experiments.snapshot import snapshot
from rattleback.scenes import wall
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

if TYPE_CHECKING:
    from collections.abc import Callable

STEP, LAYERS, BEFORE = 0.005, 24, 1.0
# How far bricks may go in the second before the hit [m], and how fast they may be [m/s].
MOVED, FASTEST = 1e-4, 1e-4
# When pictures are taken [s]; the ball touches the wall at 1.57 s.
MOMENTS = (1.3, 1.6, 1.8, 2.2, 3.0)
# A tenth of the height of a brick is far from its place [m].
FAR = 0.03


def run(options: Options) -> Result:
    """Wait for the ball, and watch what it does."""
    found = Findings()
    layers, moments = (4, ()) if options.quick else (LAYERS, MOMENTS)
    sim = Simulation(
        wall(layers),
        time_step=STEP,
        contacts=Impulse(),
        penetration_tolerance=1e-7,
        contact_velocity_tolerance=1e-7,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        options.tell("wall before the hit")
        watched = wait(sim, 0.1 if options.quick else BEFORE)
        judge(found, watched, sim)
        pictures = hit(sim, moments, options.tell)
    if pictures:
        found.rows.append(at_least("bricks out of place after the hit", out_of_place(sim), 10.0))
    return found.result(*panels(watched), pictures=pictures)


def bricks_of(sim: Simulation) -> list[int]:
    """Rows of the bricks."""
    names = [body.name for body in sim.scene.bodies]
    return [sim.model.index(sim.scene[name]) for name in names if name.startswith("brick")]


def wait(sim: Simulation, seconds: float) -> np.ndarray:
    """What was seen after every step (steps, 6).

    Time [s], way of the farthest brick [m], speed of the fastest [m/s], deepest overlap [m], number of sweeps, and how
    long the step took [s].
    """
    sim.capture()
    rows, watched = bricks_of(sim), []
    start = sim.state.position[rows]
    while sim.time < seconds - 0.5 * STEP:
        begun = time.perf_counter()
        sim.step()
        taken, report = time.perf_counter() - begun, sim.report
        moved = np.linalg.norm(sim.state.position[rows] - start, axis=1).max()
        speed = np.linalg.norm(sim.state.velocity[rows], axis=1).max()
        watched.append((sim.time, moved, speed, report.penetration, report.contact_sweeps, taken))
    return np.array(watched)


def judge(found: Findings, watched: np.ndarray, sim: Simulation) -> None:
    """The rows of the time before the hit."""
    found.rows.append(at_most("farthest brick from its place", float(watched[:, 1].max()), MOVED, "m"))
    found.rows.append(at_most("fastest brick", float(watched[:, 2].max()), FASTEST, "m/s"))
    found.rows.append(Finding("contact points", len(sim.contacts), 2000))
    found.rows.append(Finding("deepest overlap", float(watched[:, 3].max()), unit="m"))


def hit(sim: Simulation, moments: tuple[float, ...], tell: Callable[[str], None]) -> list[Picture]:
    """Let the ball swing into the wall and take pictures."""
    pictures = []
    sim.use(
        contacts=Impulse(solver=BlockGaussSeidel(sweeps=8)), penetration_tolerance=1e-4, contact_velocity_tolerance=1e-3
    )
    for moment in moments:
        tell(f"wall at {moment:g} s")
        sim.step(max(round((moment - sim.time) / STEP), 1))
        pictures.append(snapshot(sim, {"ball": (0.85, 0.40, 0.25)}))
    return pictures


def out_of_place(sim: Simulation) -> int:
    """Number of bricks that are far from where they were put."""
    rows = bricks_of(sim)
    places = np.array([sim.scene[body.name].position for body in sim.scene.bodies if body.name.startswith("brick")])
    return int((np.linalg.norm(sim.state.position[rows] - places, axis=1) > FAR).sum())


def panels(watched: np.ndarray) -> tuple[Panel, Panel]:
    """What bricks do before the hit."""
    time = watched[:, 0].tolist()
    moved = (Curve("farthest brick", time, watched[:, 1].tolist(), "line"), _bound(time, MOVED))
    speed = (Curve("fastest brick", time, watched[:, 2].tolist(), "line"), _bound(time, FASTEST))
    return (
        Panel("Before the hit: place", "time [s]", "distance from its place [m]", moved, ("linear", "log")),
        Panel("Before the hit: speed", "time [s]", "speed [m/s]", speed, ("linear", "log")),
    )


def _bound(time: list[float], bound: float) -> Curve:
    return Curve("allowed", [time[0], time[-1]], [bound, bound], "bound")


EXPERIMENT = Experiment(
    "wall",
    "Does a wall of bricks stand still until a ball hits it?",
    "Bender, dissertation, figure 5.10",
    run,
)
