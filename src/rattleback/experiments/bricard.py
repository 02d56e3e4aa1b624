"""Bricard's mechanism: by count it cannot move, but it does; does it swing for 10 s and keep its energy?

    6 · 5 freedoms − 6 · 5 conditions = 0 by count,   + 1 redundant condition = 1

Reference: multibody benchmark library, problem A04; 10 s at 0.001 s with an energy error below 1e-5 J.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, at_least, at_most, near
from rattleback.experiments.trial import watch
from rattleback.scenes import bricard

if TYPE_CHECKING:
    from rattleback.simulation import Simulation

STEP, ENERGY = 0.001, 1e-5


def run(options: Options) -> Result:
    """Swing it."""
    found, heights, redundant = Findings(), [], set()

    def look(sim: Simulation) -> None:
        heights.append(float(sim["bar_3"].position[1]))
        redundant.add(sim.report.redundant_rows)

    options.tell("Bricard's mechanism")
    trial = watch(bricard(), 1000 if options.quick else 10_000, 100, look, time_step=STEP)
    found.note(trial.reason)
    found.rows += [trial.held("Bricard"), trial.stable("Bricard")]
    found.rows.append(at_most("largest change of the energy", trial.energy_error, ENERGY, "J"))
    found.rows.append(near("redundant conditions, at all times", max(redundant), 1, 0.0))
    found.rows.append(near("redundant conditions, at any time", min(redundant), 1, 0.0))
    found.rows.append(at_least("swing of the third bar", float(np.ptp(heights)), 0.1, "m"))
    times = trial.times
    change = np.subtract(trial.energies, trial.energies[0]).tolist()
    bounds = [
        Curve(name, [0.0, times[-1]], [bound] * 2, "bound") for name, bound in (("allowed", ENERGY), ("", -ENERGY))
    ]
    return found.result(
        Panel("The motion", "time [s]", "height of the third bar [m]", (Curve("height", times, heights, "line", 1),)),
        Panel("The energy", "time [s]", "change of the energy [J]", (Curve("change", times, change, "line"), *bounds)),
    )


EXPERIMENT = Experiment(
    "bricard",
    "Does Bricard's mechanism swing though counting says it cannot, and keep its energy?",
    "multibody benchmark library, A04",
    run,
)
