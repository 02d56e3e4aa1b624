"""Trees of bars at the step of the picture, 1/30 s: do the joints hold, and where does the time go?

Trees of 31 to 255 bars, as a mobile and hanging, are twisted for one step and then left alone for 500. Every joint must
be within 1e-6 m in every step. The tree of 127 is then done with both methods: time of a step, corrections it needs,
and how much of it goes to the joints.

Reference: Bender, dissertation, §3.3.3.1, tables 3.2 and 3.5, figures 3.29 and 3.30.
"""

from __future__ import annotations

import numpy as np

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
from rattleback.experiments.trial import MOST_CORRECTIONS, Trial, watch
from rattleback.scenes import tree
from rattleback.scenes.trees import TREE_STEP
from rattleback.settings import Settings

STEPS = 500
# Table 3.2: time of a step [ms] and mean corrections of the joints; table 3.5: parts of a step [ms].
PUBLISHED_TIME = {"iterative": 169.07, "direct": 19.66}
PUBLISHED_CORRECTIONS = {"iterative": 541.65, "direct": 2.0}
FACTOR, CORRECTION, MOVE = 15.81, 1.01, 0.17
# The iterative method sweeps over the joints this often before it looks at the end of the step again.
SWEEPS = {"iterative": 4, "direct": 1}


def run(options: Options) -> Result:
    """Hold the trees, then time the one of 127 bars."""
    found = Findings()
    depths, steps = ((5, 6), 60) if options.quick else ((5, 6, 7, 8), STEPS)
    for hanging in (False, True):
        for depth in depths:
            hold(depth, hanging, steps, found, options)
    depth = 5 if options.quick else 7
    trials = {method: compare(method, depth, steps, found, options) for method in PUBLISHED_TIME}
    slow, fast = (trials[method].mean_milliseconds for method in ("iterative", "direct"))
    printed = None if options.quick else PUBLISHED_TIME["iterative"] / PUBLISHED_TIME["direct"]
    found.rows.append(at_least("iterative over direct", slow / fast, 1.0, published=printed))
    found.rows += part_rows(trials["direct"])
    return found.result(_panel(trials, 2**depth - 1))


def hold(depth: int, hanging: bool, steps: int, found: Findings, options: Options) -> None:
    """Judge a tree with the direct method at 1e-6."""
    who = f"{'hanging' if hanging else 'mobile'} of {2**depth - 1}"
    options.tell(who)
    trial = watch(tree(depth, hanging), steps, time_step=TREE_STEP)
    found.rows += [trial.held(who), trial.stable(who), trial.change(who)]
    found.note(trial.reason and f"{who}: {trial.reason}")


def compare(method: str, depth: int, steps: int, found: Findings, options: Options) -> Trial:
    """Time of a step and mean number of corrections, with one method."""
    bars, whole = 2**depth - 1, depth == 7
    options.tell(f"mobile of {bars}, {method}")
    settings: Settings = {"time_step": TREE_STEP, "joints": method, "max_iterations": MOST_CORRECTIONS[method]}
    trial = watch(tree(depth), steps, **settings)
    closely = watch(tree(depth), min(steps, 100), pieces=min(steps, 100), **settings)
    sweeps = SWEEPS[method] * float(np.mean(closely.corrections[1:]))
    said = PUBLISHED_CORRECTIONS[method] if whole else None
    row = Finding(
        f"{bars} bars, {method}: a step", trial.mean_milliseconds, PUBLISHED_TIME[method] if whole else None, "ms"
    )
    what = f"{bars} bars, {method}: sweeps a step"
    judged = at_most(what, sweeps, PUBLISHED_CORRECTIONS["direct"], published=said)
    found.rows += [row, judged if method == "direct" and whole else Finding(what, sweeps, said)]
    return trial


def part_rows(trial: Trial) -> list[Finding]:
    """The parts of a step with the direct method: table 3.5."""
    seconds = trial.simulation.profile(50).seconds
    joints = 1e3 * (seconds["joints"] + seconds["velocities"])
    move = 1e3 * (seconds["predict"] + seconds["advance"])
    whole = FACTOR + 3.0 * CORRECTION
    return [
        Finding("joints in a step", joints, whole, "ms"),
        Finding("bodies in a step", move, MOVE, "ms"),
        Finding("share of the joints", joints / (joints + move), whole / (whole + MOVE)),
    ]


def _panel(trials: dict[str, Trial], bars: int) -> Panel:
    curves = []
    for colour, (method, trial) in enumerate(trials.items()):
        spent = trial.milliseconds
        curves.append(Curve(f"{method}, here", trial.times[1 : len(spent) + 1], spent, "line", colour))
        ends = [0.0, trial.times[-1]]
        curves.append(Curve(f"{method}, dissertation, mean", ends, [PUBLISHED_TIME[method]] * 2, "published", colour))
    return Panel(f"Figure 3.30: a tree of {bars}", "simulated time [s]", "time of a step [ms]", tuple(curves), LOG_UP)


LOG_UP = ("linear", "log")
EXPERIMENT = Experiment(
    "tree",
    "Do trees of bars hold at 1/30 s, mobile and hanging, and what does a step need?",
    "Bender, dissertation, tables 3.2 and 3.5, figure 3.30",
    run,
)
