"""Ropes of 100, 200 and 800 links at the step the user chose: do they hold, and is the cost linear?

A rope of n links carries n times the weight of a link at its top, so long ropes are as hard as heavy loads. Every joint
must be within 1e-6 m in every step of 0.01 s, the motion stable, and the cost of a step within 1.1 × linear.

Reference: a demand of this project; no published numbers.
"""

from __future__ import annotations

import math

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.experiments.trial import watch
from rattleback.scenes import rope

STEP, LINEAR = 0.01, 1.1
LENGTHS = (100, 200, 800)


def run(options: Options) -> Result:
    """Swing the ropes."""
    found, times, energies = Findings(), {}, []
    lengths, steps = ((10, 20), 100) if options.quick else (LENGTHS, 500)
    for number, count in enumerate(lengths):
        who = f"{count} links"
        options.tell(f"rope of {who}")
        trial = watch(rope(count), steps, time_step=STEP)
        found.rows += [trial.held(who), trial.stable(who), trial.change(who)]
        found.rows.append(Finding(f"{who}: a step", trial.mean_milliseconds, unit="ms"))
        found.note(trial.reason and f"{who}: {trial.reason}")
        # A rope that fell apart tells nothing about the cost.
        times[count] = math.nan if trial.reason else trial.mean_milliseconds
        share = [(energy - trial.energies[0]) / trial.kinetic for energy in trial.energies]
        energies.append(Curve(who, trial.times, share, "line", number))
    first, last = lengths[0], lengths[-1]
    growth = times[last] / times[first]
    found.rows.append(at_most(f"growth of time, {first} to {last} links", growth, LINEAR * last / first))
    curve = Curve("here", list(times), list(times.values()))
    return found.result(
        Panel("Energy", "time [s]", "change of the energy, of the largest kinetic", tuple(energies)),
        Panel("Cost", "links", "time of a step [ms]", (curve,), ("log", "log")),
    )


EXPERIMENT = Experiment(
    "rope",
    "Do ropes of up to 800 links hold at a step of 0.01 s?",
    "a demand of this project",
    run,
)
