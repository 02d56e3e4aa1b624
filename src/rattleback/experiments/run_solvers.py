"""Contact solvers in the run: a heap at rest solved anew to two tolerances, and three scenes that are hard to hold.

    heap      cubes that have come to rest; all loads are forgotten: iterations and time to a residual
    stack     cubes on each other, masses growing upwards to 10⁴ times the lowest: how far one is from its place
    arch      stones at t/R = 0.11, just thick enough to stand: the same
    needles   long boxes that fall on each other: the worst residual

All without load propagation, which would solve what stands by itself. Times belong to the machine and are not judged.
Judged is that block Gauss–Seidel holds stack and arch, that accelerated gradients reach the first tolerance in the
heap, and that they and Barzilai–Borwein steps hold the stack, where sweeps over points do not.

Reference: a demand of this project; no published numbers.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import NotConvergedWarning
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.maths.rotation import quaternion_from_axis_angle
from rattleback.model import Scene
from rattleback.scenes import arch, cubes_1000
from rattleback.shapes import Box, Plane
from rattleback.simulation import Simulation
from rattleback.solvers.contacts import SOLVERS, Impulse, TimeStepping

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = [name for name in SOLVERS if name != "assembled"]
STEP = 0.005
# Residuals to reach in the heap [m/s], with so many sweeps at most, and of the scenes that are hard to hold.
COARSE, FINE, HEAP_SWEEPS = 1e-4, 1e-8, 20_000
TOLERANCE, NEEDLE_TOLERANCE, SWEEPS, NEEDLE_SWEEPS = 1e-4, 1e-3, 1000, 500
# What holds moves no farther [m]: a thousandth of a cube or of the depth of the arch.
HELD = 1e-3
HEAVIEST = 1e4


def stack(cubes: int) -> Scene:
    """Cubes on each other, the uppermost the heaviest by far."""
    scene = Scene(name="stack")
    scene.add_static(Plane(), name="ground")
    for k in range(cubes):
        mass = HEAVIEST ** (k / (cubes - 1))
        scene.add_body(Box(1.0, 1.0, 1.0), mass=mass, position=(0, 0, 0.5 + k), name=f"cube_{k + 1}")
    return scene


def needles(count: int) -> Scene:
    """Long boxes above each other, each turned about the vertical."""
    scene, draw = Scene(name="needles"), np.random.default_rng(1)
    scene.add_static(Plane(), name="ground")
    for k in range(count):
        turn = quaternion_from_axis_angle((0, 0, 1), draw.uniform(0.0, np.pi))
        place = (*draw.uniform(-0.15, 0.15, 2), 0.05 + 0.03 * k)
        scene.add_body(Box(0.5, 0.02, 0.02), mass=0.1, position=place, orientation=turn, name=f"needle_{k + 1}")
    return scene


def solve_anew(heap: Simulation, name: str, tolerance: float, sweeps: int) -> tuple[int, float, float]:
    """One step of a heap whose loads are forgotten: sweeps, residual [m/s] and time [ms]."""
    sim = Simulation(heap.scene, time_step=STEP, warn=False)
    solver: Any = SOLVERS[name](sweeps=sweeps)
    sim.use(contacts=TimeStepping(solver=solver, load_propagation=False), contact_velocity_tolerance=tolerance)
    sim.state = heap.state.copy()
    sim.state.contacts.load.zero_()
    sim.capture()
    begun = time.process_time()
    sim.step()
    taken, report = 1e3 * (time.process_time() - begun), sim.report
    return report.contact_sweeps, max(report.normal_velocity_error, report.tangential_velocity_error), taken


def hold(scene: Scene, name: str, seconds: float, limits: tuple[int, float]) -> tuple[float, float]:
    """How far a body is from its place at the end [m], and the worst residual on the way [m/s]."""
    sweeps, tolerance = limits
    contacts = Impulse(solver=SOLVERS[name](sweeps=sweeps), load_propagation=False)
    sim = Simulation(scene, time_step=STEP, contacts=contacts, contact_velocity_tolerance=tolerance, warn=False)
    start, worst = sim.state.position.copy(), 0.0
    for _ in range(round(seconds / STEP / 10)):
        sim.step(10)
        worst = max(worst, sim.report.normal_velocity_error, sim.report.tangential_velocity_error)
    return float(np.linalg.norm(sim.state.position - start, axis=1).max()), worst


def run(options: Options) -> Result:
    """Run every solver in every scene."""
    found, short = Findings(), options.quick
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        curves = _heap(found, options)
        stones, long = (10, 0.1) if short else (20, 1.0)
        scenes: dict[str, tuple[Callable[[], Scene], float]] = {
            "stack": (partial(stack, 4 if short else 10), 0.25 if short else 2.0),
            "arch": (partial(arch, 0.15 if short else 0.11, stones), long),
        }
        for scene, (build, seconds) in scenes.items():
            for name in NAMES:
                options.tell(f"{scene}, {name}")
                moved, worst = hold(build(), name, seconds, (SWEEPS, TOLERANCE))
                _tell(found, scene, name, moved)
                found.rows.append(Finding(f"{scene}, {name}: worst residual", worst, unit="m/s"))
        for name in NAMES:
            options.tell(f"needles, {name}")
            limits = (NEEDLE_SWEEPS, NEEDLE_TOLERANCE)
            _, worst = hold(needles(10 if short else 150), name, 0.1 if short else 0.5, limits)
            found.rows.append(Finding(f"needles, {name}: worst residual", worst, unit="m/s"))
    return found.result(Panel("Heap", "CPU time [ms]", "residual [m/s]", curves, ("log", "log")))


def _tell(found: Findings, scene: str, name: str, moved: float) -> None:
    """How far something is from its place, judged where the solver has to hold it."""
    quantity = f"{scene}, {name}: farthest from its place"
    holds = name == "block_gauss_seidel" or (scene == "stack" and name in ("apgd", "bb"))
    found.rows.append(at_most(quantity, moved, HELD, "m") if holds else Finding(quantity, moved, unit="m"))


def _heap(found: Findings, options: Options) -> tuple[Curve, ...]:
    """The rows of the heap, and residuals over times."""
    heap = Simulation(
        cubes_1000(3, 2) if options.quick else cubes_1000(), time_step=STEP, contacts="impulse", warn=False
    )
    options.tell("the heap comes to rest")
    heap.run(1.0 if options.quick else 7.0)
    found.rows.append(Finding("heap: contact points", len(heap.contacts)))
    curves = []
    for number, name in enumerate(NAMES):
        reached: list[tuple[float, float]] = []
        for tolerance in (COARSE, FINE):
            options.tell(f"heap to {tolerance:g} m/s, {name}")
            sweeps, residual, taken = solve_anew(heap, name, tolerance, 500 if options.quick else HEAP_SWEEPS)
            what = f"heap to {tolerance:g} m/s, {name}"
            judged = name == "apgd" and tolerance == COARSE and not options.quick
            row = at_most(f"{what}: residual", residual, tolerance, "m/s")
            found.rows.append(row if judged else Finding(f"{what}: residual", residual, unit="m/s"))
            found.rows.append(Finding(f"{what}: sweeps", sweeps))
            found.rows.append(Finding(f"{what}: CPU time", taken, unit="ms"))
            reached.append((taken, residual))
        times, residuals = ([pair[axis] for pair in reached] for axis in (0, 1))
        curves.append(Curve(name, times, residuals, "measured", number))
    return tuple(curves)


EXPERIMENT = Experiment(
    "run_solvers",
    "Which contact solver holds what in the run, and how long does it take?",
    "a demand of this project",
    run,
)
