"""Six bars, six revolute joints and one freedom: is the one redundant condition found, and does it move?

    6 · 5 freedoms − 30 conditions + 1 redundant = 1

Reference: Bender, dissertation, §3.3.2.3, figure 3.25: 30 conditions of rank 29.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_least, near
from rattleback.experiments.trial import Trial, watch
from rattleback.scenes import six_bar

if TYPE_CHECKING:
    from rattleback.simulation import Simulation

CONDITIONS, RANK, FREEDOMS = 30, 29, 1
BODIES, STEP = 5, 0.001


def run(options: Options) -> Result:
    """Swing it and count."""
    found, angles, redundant = Findings(), [], []

    def look(sim: Simulation) -> None:
        angles.append(sim["joint_1"].angle)
        redundant.append(sim.report.redundant_rows)

    options.tell("six-bar")
    trial = watch(six_bar(), 1000 if options.quick else 10_000, 100, look, time_step=STEP)
    found.note(trial.reason)
    found.rows += [trial.held("six bars"), trial.stable("six bars")]
    found.rows += count_rows(trial, redundant)
    found.rows.append(at_least("swing of the first joint", float(np.ptp(angles)), 0.1, "rad"))
    found.rows.append(Finding("largest change of the energy", trial.energy_error, unit="J"))
    curve = Curve("angle", trial.times, angles, "line")
    return found.result(Panel("The one freedom", "time [s]", "angle of the first joint [rad]", (curve,)))


def count_rows(trial: Trial, redundant: list[int]) -> list[Finding]:
    """Conditions, rank and freedoms, where the most and the fewest redundant conditions of the run must agree."""
    conditions = sum(len(joint.rows()) for joint in trial.simulation.scene.joints.values())
    most, fewest = max(redundant), min(redundant)
    return [
        near("conditions of the joints", conditions, CONDITIONS, 0.0),
        near("rank, fewest during the run", conditions - most, RANK, 0.0),
        near("rank, most during the run", conditions - fewest, RANK, 0.0),
        near("freedoms", 6 * BODIES - conditions + most, FREEDOMS, 0.0),
    ]


EXPERIMENT = Experiment(
    "six_bar",
    "Is the one redundant condition of the six-bar found, and does it move with its one freedom?",
    "Bender, dissertation, figure 3.25",
    run,
)
