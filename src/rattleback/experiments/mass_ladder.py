"""A light chain with a heavy load: up to which ratio of masses do the joints hold, at the step the user chose?

    load / link = 1, 10, … 10⁶,   20 links,   h = 0.01 s

Iterative methods fail at ratios of a hundred; an exact solution of the joints alone fails where h² T r / J exceeds
about four (T tension, r lever, J inertia of a link). What is demanded: every joint within 1e-6 m in every step, and a
stable motion.

Reference: a demand of this project; no published numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result
from rattleback.experiments.trial import watch
from rattleback.scenes import mass_ladder

STEP, TOLERANCE = 0.01, 1e-6
RATIOS = tuple(10**power for power in range(7))


def run(options: Options) -> Result:
    """Climb the ladder."""
    found, off, needed = Findings(), {}, {}
    ratios, steps = ((1, 10), 100) if options.quick else (RATIOS, 1000)
    for ratio in ratios:
        who = f"ratio {ratio:,}".replace(",", " ")
        options.tell(f"mass ladder, {who}")
        trial = watch(mass_ladder(float(ratio)), steps, time_step=STEP)
        found.rows += [trial.held(who), trial.stable(who), trial.change(who)]
        most = max(trial.corrections, default=0)
        found.rows.append(Finding(f"{who}: most corrections", most))
        found.note(trial.reason and f"{who}: {trial.reason}")
        off[ratio], needed[ratio] = trial.position_error, most
    bound = Curve("allowed", ratios, [TOLERANCE] * len(ratios), "bound")
    return found.result(
        Panel("Worst joint", "load / link", "error [m]", (Curve("worst step", *_split(off)), bound), ("log", "log")),
        Panel("Effort", "load / link", "most corrections of a step", (Curve("", *_split(needed), colour=1),), UPWARD),
    )


def _split(numbers: Mapping[int, float]) -> tuple[list[float], list[float]]:
    return [float(key) for key in numbers], [float(value) for value in numbers.values()]


UPWARD = ("log", "linear")
EXPERIMENT = Experiment(
    "mass_ladder",
    "Does a chain hold a load up to a million times the mass of its links?",
    "a demand of this project",
    run,
)
