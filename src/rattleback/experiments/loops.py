"""Three closed loops of revolute joints: three ways to solve them in the dissertation, at three tolerances.

    60 conditions, of which 9 follow from the others,   h = 1/30 s

The iterative method takes loops as they are. The direct method can cut them open. The dissertation's other way is a
model whose joints were changed by hand so that no condition is redundant; ours finds the redundant conditions itself,
so it is set beside the hand-made model. Times are those of this machine; ratios are compared.

Reference: Bender, dissertation, §3.3.3.1, figure 3.31, table 3.6.
"""

from __future__ import annotations

import math

from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Result,
    at_least,
    near,
)
from rattleback.experiments.trial import MOST_CORRECTIONS, watch
from rattleback.scenes import loops
from rattleback.solvers.joints.direct import Direct

STEP = 1.0 / 30.0
TOLERANCES = (1e-3, 1e-4, 1e-6)
# Milliseconds a step at the three tolerances, table 3.6.
PUBLISHED = {"iterative": (32.26, 88.86, 241.24), "cut": (41.19, 64.94, 114.70), "direct": (3.51, 3.89, 4.85)}
METHODS = {"iterative": "iterative", "cut": Direct(loops="cut"), "direct": "direct"}
REDUNDANT = 9


def run(options: Options) -> Result:
    """Measure the three methods at every tolerance."""
    found, steps = Findings(), 40 if options.quick else 500
    times = {
        method: [measure(method, number, steps, found, options) for number in range(len(TOLERANCES))]
        for method in PUBLISHED
    }
    for slower in ("iterative", "cut"):
        faster, printed = times[slower][-1] / times["direct"][-1], PUBLISHED[slower][-1] / PUBLISHED["direct"][-1]
        found.rows.append(at_least(f"{slower} over direct at 1e-6", faster, 1.0, published=printed))
    return found.result(_panel(times))


def measure(method: str, number: int, steps: int, found: Findings, options: Options) -> float:
    """Milliseconds a step with a method at one of the tolerances."""
    tolerance = TOLERANCES[number]
    who = f"{method} at {tolerance:.0e}"
    options.tell(f"loops, {who}")
    trial = watch(
        loops(),
        steps,
        10,
        time_step=STEP,
        joints=METHODS[method],
        position_tolerance=tolerance,
        velocity_tolerance=tolerance,
        max_iterations=MOST_CORRECTIONS["iterative" if method == "iterative" else "direct"],
    )
    found.rows += [trial.held(who), trial.change(who)]
    found.note(trial.reason and f"{who}: {trial.reason}")
    if method == "direct" and number == 0:
        found.rows.append(near("redundant conditions found", trial.simulation.report.redundant_rows, REDUNDANT, 0.0))
    spent = math.nan if math.isinf(trial.position_error) else trial.mean_milliseconds
    found.rows.append(Finding(f"{who}: a step", spent, PUBLISHED[method][number], "ms"))
    return spent


def _panel(times: dict[str, list[float]]) -> Panel:
    curves = []
    for colour, (method, spent) in enumerate(times.items()):
        curves.append(Curve(f"{method}, here", TOLERANCES, spent, colour=colour))
        curves.append(Curve(f"{method}, dissertation", TOLERANCES, PUBLISHED[method], "published", colour))
    return Panel("Table 3.6", "tolerance [m, m/s]", "time of a step [ms]", tuple(curves), ("log", "log"))


EXPERIMENT = Experiment(
    "loops",
    "What do three closed loops cost, iterative, cut open and direct, without changing the model by hand?",
    "Bender, dissertation, table 3.6, figure 3.31",
    run,
)
