"""A tippe top: friction turns it over onto its stem, the sooner the more there is of it.

A hollow ball with a stem, spun fast with the stem up. Its centre of mass is below the middle of the ball; the ball
slides on the ground, and the moment of friction lifts the centre of mass until the stem touches and the top goes on on
that. It counts as turned over when its axis has passed 150°: the stem touches first at 141°. While the ball slides all
the time, friction and the time it takes are inversely proportional.

Reference: Bender, dissertation, §5.5.3, figure 5.13 (a): it turns over with every friction, and the earlier the higher
the friction; no numbers.
"""

from __future__ import annotations

import math
import warnings

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
from rattleback.maths.rotation import rotate
from rattleback.scenes import tippe_top
from rattleback.simulation import Simulation

STEP, LOOK = 0.0005, 0.01
FRICTIONS = (0.1, 0.2, 0.3, 0.4, 0.5)
# Angle of the axis from which on the top is over [rad]; how long to wait, times the friction [s].
OVER, PATIENCE = math.radians(150.0), 1.0


def run(options: Options) -> Result:
    """Spin tops of several frictions."""
    found, curves, moments = Findings(), [], []
    for number, friction in enumerate(FRICTIONS[2::2] if options.quick else FRICTIONS):
        options.tell(f"tippe top, μ = {friction:g}")
        path = spin(friction, PATIENCE / friction)
        moments.append(turned_over(path))
        found.rows.append(at_most(f"μ = {friction:g}: turned over after", moments[-1], PATIENCE / friction, "s"))
        found.rows.append(at_least(f"μ = {friction:g}: angle at the end", math.degrees(path[-1, 1]), 150.0, "°"))
        found.rows.append(Finding(f"μ = {friction:g}: time × μ", friction * moments[-1], unit="s"))
        curves.append(Curve(f"μ = {friction:g}", path[:, 0].tolist(), np.degrees(path[:, 1]).tolist(), "line", number))
    later = float(np.max(np.diff(moments)))
    found.rows.append(at_most("largest delay by more friction", later, 0.0, "s"))
    curves.append(Curve("over", [0.0, max(max(curve.x) for curve in curves)], [150.0, 150.0], "bound"))
    return found.result(Panel("A top turns over", "time [s]", "angle of its axis to the vertical [°]", tuple(curves)))


def spin(friction: float, seconds: float) -> np.ndarray:
    """Time [s] and angle of the axis to the vertical [rad] (looks, 2)."""
    sim = Simulation(
        tippe_top(friction),
        time_step=STEP,
        contacts="impulse",
        penetration_tolerance=1e-5,
        contact_velocity_tolerance=1e-6,
    )
    path = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        while sim.time < seconds:
            sim.run(LOOK)
            path.append((sim.time, math.acos(rotate(sim["top"].orientation, (0.0, 0.0, 1.0))[2])))
    return np.array(path)


def turned_over(path: np.ndarray) -> float:
    """When the axis has first passed the angle from which on the top is over [s]; infinite where it never has."""
    over = path[:, 1] > OVER
    return float(path[np.argmax(over), 0]) if over.any() else math.inf


EXPERIMENT = Experiment(
    "tippe_top",
    "Does a tippe top turn over, and the sooner the higher the friction?",
    "Bender, dissertation, §5.5.3",
    run,
)
