"""The classical methods beside the impulse methods: time, accuracy, closed loops, and stability at long steps.

    trees of 31, 63, 127, 255 bars at h = 1/30 s:   time of a step                       table 3.7
    a tree of 31 that turns, h = 1/30 … 1/480 s:    distance from the exact motion, beside time
    closed loops, h = 1/500 s:                      rank found, errors, distance from the impulse method
    a hanging tree of 31 for 3 s:                   longest step at which its energy stays       table 3.8

Methods by forces are integrated by the Runge–Kutta method of fourth order, as in the dissertation, and so solve for
their multipliers four times a step; impulse methods by the default. Times are processor times of this machine, which
other work on it does not change; what is judged is how they grow. The exact motion is Baraff's with steps of 1/3840 s.

Reference: Bender, dissertation, §3.5, tables 3.7 and 3.8, figure 3.32.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import RattlebackError
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
from rattleback.scenes import four_bar, loops, six_bar, tree
from rattleback.scenes.trees import TREE_STEP
from rattleback.simulation import Simulation
from rattleback.solvers.joints import Baraff, Multipliers

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.model import Scene

SIZES = (31, 63, 127, 255)
# Settings of each method, and milliseconds a step by table 3.7, one for each size.
METHODS: dict[str, dict[str, Any]] = {
    "iterative, 1e-3": {
        "joints": "iterative",
        "position_tolerance": 1e-3,
        "velocity_tolerance": 1e-3,
        "max_iterations": 5000,
    },
    "direct, 1e-6": {"joints": "direct"},
    "multipliers": {"joints": "multipliers", "integrator": "rk4"},
    "baraff": {"joints": "baraff", "integrator": "rk4"},
    "baraff, projected": {"joints": Baraff(stabilisation="projection"), "integrator": "rk4"},
    "penalty": {"joints": "penalty", "integrator": "rk4"},
}
PUBLISHED = {
    "iterative, 1e-3": (2.73, 7.86, 20.35, 51.47),
    "direct, 1e-6": (4.53, 7.89, 19.66, 59.48),
    "multipliers": (212.12, 2190.0, 25200.0, 175450.0),
    "baraff": (7.72, 16.84, 35.29, 82.05),
}
# Steps that are timed, by method and depth of the tree; others take 100.
FEW = {("multipliers", 5): 50, ("multipliers", 6): 20, ("multipliers", 7): 4, ("multipliers", 8): 1}
CLOSED: dict[str, tuple[Callable[[], Scene], int]] = {
    "four_bar": (four_bar, 6),
    "six_bar": (six_bar, 1),
    "loops": (loops, 9),
}
SPIN = (0.5, 0.3, 2.0)
EXACT_STEP = 1.0 / 3840.0
STABLE = 0.1


def run(options: Options) -> Result:
    """Time, accuracy, loops, stability."""
    found = Findings()
    panels = [
        time_steps(found, options),
        compare_accuracy(found, options),
        find_longest_steps(found, options),
    ]
    close_loops(found, options)
    return found.result(*panels)


def time_steps(found: Findings, options: Options) -> Panel:
    """Time of a step by size and method."""
    depths = (5, 6) if options.quick else (5, 6, 7, 8)
    bars = [2**depth - 1 for depth in depths]
    times: dict[str, list[float]] = {}
    for name, settings in METHODS.items():
        options.tell(f"time of {name}")
        times[name] = [milliseconds(depth, FEW.get((name, depth), 100), settings) for depth in depths]
        printed = PUBLISHED.get(name, (None,) * 4)
        for count, spent, said in zip(bars, times[name], printed, strict=False):
            found.rows.append(Finding(f"{count} bars, {name}: a step", spent, said, "ms"))
    grown = {name: spent[-1] / spent[0] for name, spent in times.items()}
    size = bars[-1] / bars[0]
    printed_growth = {name: numbers[len(bars) - 1] / numbers[0] for name, numbers in PUBLISHED.items()}
    found.rows += [
        at_most("baraff: growth of time", grown["baraff"], 1.3 * size, published=printed_growth["baraff"]),
        at_least("multipliers: growth of time", grown["multipliers"], size**2, published=printed_growth["multipliers"]),
    ]
    curves = []
    for number, (name, measured) in enumerate(times.items()):
        curves.append(Curve(f"{name}, here", bars, measured, colour=number))
        if name in PUBLISHED:
            curves.append(Curve("", SIZES, PUBLISHED[name], "published", number))
    return Panel("Figure 3.32 (dotted: dissertation)", "bars", "time of a step [ms]", tuple(curves), ("log", "log"))


def milliseconds(depth: int, steps: int, settings: dict[str, Any]) -> float:
    """Time of a step of a tree [ms], after the first: the mean of the best of five stretches."""
    sim = Simulation(tree(depth), time_step=TREE_STEP, warn=False, **settings)
    sim.step()
    stretch, spent = max(1, steps // 5), []
    for _ in range(min(5, steps)):
        begun = time.process_time()
        sim.step(stretch)
        spent.append(1e3 * (time.process_time() - begun) / stretch)
    return min(spent)


def turning_tree(h: float, settings: dict[str, Any]) -> Simulation:
    """A tree of 31 bars that turns as a whole at the start, which agrees with its joints."""
    scene = tree(5)
    scene.remove_force("twist")
    sim = Simulation(scene, time_step=h, warn=False, **settings)
    sim.state.velocity = np.cross(SPIN, sim.state.position)
    sim.state.angular_velocity = np.broadcast_to(SPIN, sim.state.position.shape)
    return sim


def compare_accuracy(found: Findings, options: Options) -> Panel:
    """Distance from the exact motion after a second, beside the time that takes, by step and method."""
    duration, steps = (0.5, (30, 60)) if options.quick else (1.0, (30, 60, 120, 240, 480))
    exact = turning_tree(EXACT_STEP, METHODS["baraff, projected"])
    exact.run(duration)
    curves = []
    for number, (name, settings) in enumerate(METHODS.items()):
        options.tell(f"accuracy of {name}")
        spent, off = [], []
        for rate in steps[:2] if name == "multipliers" else steps:
            sim = turning_tree(1.0 / rate, settings)
            begun = time.process_time()
            sim.run(duration)
            spent.append(1e3 * (time.process_time() - begun) / duration)
            off.append(float(np.abs(sim.state.position - exact.state.position).max()))
            label = f"{name} at 1/{rate} s"
            found.rows.append(Finding(f"{label}: distance from the exact motion", off[-1], unit="m"))
            found.rows.append(Finding(f"{label}: worst joint", sim.report.position_error, unit="m"))
        curves.append(Curve(name, spent, off, colour=number))
    return Panel("Work and precision", "time for a second [ms]", "error [m]", tuple(curves), ("log", "log"))


def close_loops(found: Findings, options: Options) -> None:
    """Closed loops with redundant conditions, by both methods of multipliers."""
    steps, h = (100, 0.002) if options.quick else (500, 0.002)
    for scene, (build, redundant) in CLOSED.items():
        impulses = Simulation(build(), time_step=h, warn=False)
        impulses.step(steps)
        for method in (Multipliers(stabilisation="projection"), Baraff(stabilisation="projection")):
            name = f"{scene}, {type(method).__name__.lower()}"
            options.tell(name)
            sim = Simulation(build(), time_step=h, joints=method, integrator="rk4", warn=False)
            sim.step(steps)
            off = float(np.abs(sim.state.position - impulses.state.position).max())
            found.rows += [
                near(f"{name}: redundant conditions", sim.report.redundant_rows, redundant, 0.0),
                at_most(f"{name}: worst joint", sim.report.position_error, 1e-6, "m"),
                Finding(f"{name}: distance from the impulse method", off, unit="m"),
            ]


def find_longest_steps(found: Findings, options: Options) -> Panel:
    """What a hanging tree gains in energy, by step and method."""
    rates = (30, 60) if options.quick else (5, 10, 20, 30, 60, 120, 240)
    curves = []
    for number, (name, settings) in enumerate(METHODS.items()):
        if name == "multipliers":
            found.note("multipliers are those of baraff, and are left out where only the motion counts.")
            continue
        options.tell(f"stability of {name}")
        gained = [gain(1.0 / rate, settings) for rate in rates]
        stable = [1.0 / rate for rate, more in zip(rates, gained, strict=True) if more <= STABLE]
        found.rows.append(Finding(f"{name}: longest stable step", max(stable, default=math.nan), unit="s"))
        if settings["joints"] == "direct":
            found.rows.append(at_most(f"{name}: energy gained at 1/30 s", gained[rates.index(30)], STABLE))
        drawn = [min(max(more, 1e-6), 1e6) for more in gained]
        curves.append(Curve(name, [1.0 / rate for rate in rates], drawn, colour=number))
    up = "energy gained, of the largest potential"
    return Panel("Long steps: a hanging tree of 31", "time step [s]", up, tuple(curves), ("log", "log"))


def gain(h: float, settings: dict[str, Any]) -> float:
    """Energy that a hanging tree gains in 3 s, of what there is to fall; infinite where it diverges."""
    sim = Simulation(tree(5, hanging=True), time_step=h, warn=False, **settings)
    weights = np.array([body.mass for body in sim.scene.bodies]) * 9.81
    scale = float(np.sum(weights * np.abs(sim.state.position[:, 2])))
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            sim.run(2.0 * TREE_STEP)
            begun = float(sim.energy().total)
            worst = 0.0
            for _ in range(30):
                sim.run(0.1)
                worst = max(worst, float(sim.energy().total) - begun)
        except RattlebackError:
            return math.inf
    return worst / scale if math.isfinite(worst) else math.inf


EXPERIMENT = Experiment(
    "rivals",
    "How do the classical methods compare with impulses in time, accuracy, loops and stability?",
    "Bender, dissertation, §3.5, tables 3.7 and 3.8, figure 3.32",
    run,
)
