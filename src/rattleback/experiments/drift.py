"""How far joints drift at the three levels at which they can be held, and what the stabilisations leave.

    C̈ = 0: C = k₁ t + k₂ t² …       acceleration level: |C| grows as t²
    Ċ = 0: C = k₁ t                  velocity level: |C| grows as t
    C = 0                            position level: |C| stays within the tolerance

A point on a rod runs round a circle without gravity, so that every step makes the same error: at the level of
accelerations one of the velocity, which adds up twice, at the level of velocities one of the position. The rod is then
held by accelerations with Baumgarte's terms, projection and impulses. Last, the rod swings under gravity for 40 s and
the integrator is the dissertation's, of fourth order: its error is small, and grows as t² all the same. Slopes are
those of log |C| over log t in the last half of the decades.

Reference: Bender, dissertation, §2.1.3.3 and §3.5; Baumgarte, 1972.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most, near
from rattleback.joints import Distance
from rattleback.model import Scene
from rattleback.simulation import Simulation
from rattleback.solvers.joints import Baraff, Direct, Penalty

STEP, SPEED, TOLERANCE = 2e-3, 1.0, 1e-9
# Name in the figure, method, and the slope it must have; None where the error stays bounded.
LEVELS: dict[str, tuple[object, float | None]] = {
    "accelerations": (Baraff(stabilisation="none"), 2.0),
    "velocities": (Baraff(level="velocity", stabilisation="none"), 1.0),
    "positions, by impulses": (Direct(), None),
    "accelerations, Baumgarte": (Baraff(), None),
    "accelerations, projected": (Baraff(stabilisation="projection"), None),
    "accelerations and impulses": (Baraff(stabilisation="impulses"), None),
    "velocities, Baumgarte": (Baraff(level="velocity"), None),
    "penalty": (Penalty(), None),
}
WITHIN_TOLERANCE = ("positions, by impulses", "accelerations, projected", "accelerations and impulses")


def rod(gravity: float = 0.0) -> Scene:
    """A point that runs round a circle on a rod of 1 m, or swings on it."""
    scene = Scene(gravity=(0, 0, -gravity), name="drift")
    scene.add_body(mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(0, SPEED, 0), name="point")
    scene.add_joint(Distance("world", "point", at=(0, 0, 0), at_b=(1, 0, 0)), name="rod")
    return scene


def drift_of(scene: Scene, steps: int, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] and errors of the joint [m], at 60 moments that are evenly spread in log t."""
    sim = Simulation(scene, warn=False, position_tolerance=TOLERANCE, velocity_tolerance=TOLERANCE, **settings)
    times, errors, done = [], [], 0
    for moment in np.unique(np.geomspace(5, steps, 60).astype(int)).tolist():
        sim.step(moment - done)
        done = moment
        times.append(sim.time)
        errors.append(abs(float(np.linalg.norm(sim["point"].position)) - 1.0))
    return np.array(times), np.array(errors)


def slope(times: np.ndarray, errors: np.ndarray) -> float:
    """Slope of log error over log time in the last half of the decades."""
    late = times >= math.sqrt(times[0] * times[-1])
    return float(np.polyfit(np.log(times[late]), np.log(errors[late]), 1)[0])


def run(options: Options) -> Result:
    """Measure every level and stabilisation."""
    found, curves = Findings(), []
    steps = 1000 if options.quick else 2500
    for number, (name, (method, expected)) in enumerate(LEVELS.items()):
        options.tell(name)
        times, errors = drift_of(rod(), steps, joints=method, time_step=STEP)
        curves.append(Curve(name, times.tolist(), np.maximum(errors, 1e-16).tolist(), "line", number))
        found.rows.append(Finding(f"{name}: error after {times[-1]:g} s", float(errors[-1]), unit="m"))
        if expected is not None:
            found.rows.append(near(f"{name}: slope", slope(times, errors), expected, 0.05))
        elif name in WITHIN_TOLERANCE:
            found.rows.append(at_most(f"{name}: largest error", float(errors.max()), TOLERANCE, "m"))
    times, errors = drift_of(
        rod(9.81), 1000 if options.quick else 4000, joints=LEVELS["accelerations"][0], time_step=0.01, integrator="rk4"
    )
    found.rows.append(near("swinging, by accelerations and rk4: slope", slope(times, errors), 2.0, 0.1))
    curves.append(Curve("swinging, by accelerations and rk4", times.tolist(), errors.tolist(), "line", len(curves)))
    return found.result(Panel("Drift of one joint", "time [s]", "error [m]", tuple(curves), ("log", "log")))


EXPERIMENT = Experiment(
    "drift",
    "How fast do joints drift that are held by accelerations, by velocities and by positions?",
    "Bender, dissertation, §2.1.3.3 and §3.5",
    run,
)
