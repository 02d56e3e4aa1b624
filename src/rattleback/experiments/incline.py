"""Ten cubes on an inclined plane: how far they slide until friction has stopped them.

    s = v² / (2 g (μ cos α − sin α))

v speed when friction is switched on, α = 15° angle of the plane, μ friction of the pair, s braking distance. The cubes
slide for 5 s without friction, then each gets its own; at 11 s all are at rest and the way they went since is measured.
A cube stops within a step: a method that stops it at the end of one is off by up to half a step of its speed.

Reference: Bender, dissertation, §5.5.2, equation 5.12 and table 5.2.
"""

from __future__ import annotations

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.model import Material
from rattleback.scenes import incline
from rattleback.scenes.slopes import BRAKING_STARTS, INCLINE_FRICTIONS, braking_distance
from rattleback.simulation import Simulation

# Braking distances simulated there [m], and how far they are from those computed there [m].
PUBLISHED = (31.8508, 28.1535, 25.2308, 22.8550, 20.8919, 19.2420, 17.8295, 16.6136, 15.5541, 14.6168)
PUBLISHED_DEVIATIONS = (0.0021, 0.0066, 0.0051, 0.0069, 0.0042, 0.0003, 0.0004, 0.0024, 0.0057, 0.0033)
STEP, END, ALLOWED = 0.001, 11.0, 0.0005


def run(options: Options) -> Result:
    """Let the cubes slide and brake."""
    found = Findings()
    options.tell("cubes slide and brake")
    # The short version brakes from lower speeds, with which all distances are shorter.
    part = 0.1 if options.quick else 1.0
    measured, speeds, left = brake(STEP, part * BRAKING_STARTS, part * END)
    wanted = braking_distance(speeds)
    off = np.abs(measured - wanted)
    for k, mu in enumerate(INCLINE_FRICTIONS):
        published = None if options.quick else PUBLISHED[k]
        found.rows.append(Finding(f"μ = {mu:g}: braking distance", float(measured[k]), published, "m"))
        found.rows.append(at_most(f"μ = {mu:g}: deviation", float(off[k]), ALLOWED, "m", PUBLISHED_DEVIATIONS[k]))
    worst = max(PUBLISHED_DEVIATIONS)
    found.rows.append(at_most("largest deviation", float(off.max()), ALLOWED, "m", worst))
    found.rows.append(at_most("fastest cube at the end", left, 1e-9, "m/s"))
    return found.result(distances(measured, wanted, options.quick), deviations(off))


def brake(step: float, start: float, end: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Ways of the cubes [m] and their speeds [m/s] since friction began, and the speed of the fastest at the end."""
    sim = Simulation(
        incline(),
        time_step=step,
        contacts="impulse",
        penetration_tolerance=1e-6,
        contact_velocity_tolerance=1e-6,
        strict=True,
    )
    cubes = [sim[f"cube_{k + 1}"] for k in range(len(INCLINE_FRICTIONS))]
    sim.run(start)
    places = np.array([cube.position for cube in cubes])
    speeds = np.linalg.norm([cube.velocity for cube in cubes], axis=1)
    for cube, mu in zip(cubes, INCLINE_FRICTIONS, strict=True):
        cube.material = Material(friction=mu)
    sim.run(end - start)
    ways = np.linalg.norm(np.array([cube.position for cube in cubes]) - places, axis=1)
    return ways, speeds, float(np.linalg.norm([cube.velocity for cube in cubes], axis=1).max())


def distances(measured: np.ndarray, wanted: np.ndarray, quick: bool) -> Panel:
    """Braking distances over friction."""
    curves = [
        Curve("simulated", INCLINE_FRICTIONS, measured.tolist(), "dots"),
        Curve("formula", INCLINE_FRICTIONS, wanted.tolist(), "line"),
    ]
    if not quick:
        curves.append(Curve("dissertation", INCLINE_FRICTIONS, PUBLISHED, "published", 1))
    return Panel("Braking distance", "friction μ", "distance [m]", tuple(curves))


def deviations(off: np.ndarray) -> Panel:
    """Deviations from the formula over friction."""
    curves = (
        Curve("simulated", INCLINE_FRICTIONS, off.tolist()),
        Curve("dissertation", INCLINE_FRICTIONS, PUBLISHED_DEVIATIONS, "published", 1),
        Curve("allowed", INCLINE_FRICTIONS, [ALLOWED] * len(off), "bound"),
    )
    return Panel("Deviation from the formula", "friction μ", "deviation [m]", curves, ("linear", "log"))


EXPERIMENT = Experiment(
    "incline",
    "How far do cubes slide down an inclined plane until friction stops them?",
    "Bender, dissertation, table 5.2",
    run,
)
