"""Trees of four sizes at three tolerances with both methods: how time grows with the size and with the accuracy.

    31, 63, 127, 255 bars,   ε_d = ε_v = 1e-3, 1e-4, 1e-6,   500 steps of 1/30 s

The direct method's time grows linearly with the bars and hardly depends on the tolerance; the iterative method pays for
accuracy. The two methods of Lagrange multipliers of the dissertation are shown beside them as published. Times are
those of this machine; ratios are compared.

Reference: Bender, dissertation, §3.3.3.1 and §3.6, tables 3.3, 3.4 and 3.7, figure 3.32.
"""

from __future__ import annotations

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
from rattleback.experiments.trial import MOST_CORRECTIONS, watch
from rattleback.scenes import tree
from rattleback.scenes.trees import TREE_STEP

SIZES = (31, 63, 127, 255)
# Milliseconds a step by method and tolerance, one number for each size: tables 3.3, 3.4 and 3.7.
PUBLISHED = {
    ("iterative", 1e-3): (2.73, 7.86, 20.35, 51.47),
    ("iterative", 1e-4): (7.07, 21.87, 63.77, 176.96),
    ("iterative", 1e-6): (15.87, 54.25, 169.07, 494.15),
    ("direct", 1e-3): (3.51, 6.95, 18.38, 57.72),
    ("direct", 1e-4): (3.99, 7.09, 19.05, 57.61),
    ("direct", 1e-6): (4.53, 7.89, 19.66, 59.48),
}
MULTIPLIERS = {"Lagrange multipliers": (212.12, 2190.0, 25200.0, 175450.0), "Baraff": (7.72, 16.84, 35.29, 82.05)}
LINEAR = 1.1
Times = dict[tuple[str, float], dict[int, float]]


def run(options: Options) -> Result:
    """Measure every size, method and tolerance."""
    found = Findings()
    times: Times = {}
    depths, steps = ((5, 6), 30) if options.quick else ((5, 6, 7, 8), 500)
    for (method, tolerance), said in PUBLISHED.items():
        spent = times[method, tolerance] = {}
        for depth in depths:
            bars = 2**depth - 1
            spent[bars] = measure(depth, method, tolerance, steps, found, options)
            printed = said[SIZES.index(bars)] if bars in SIZES else None
            found.rows.append(Finding(f"{bars} bars, {method} at {tolerance:.0e}: a step", spent[bars], printed, "ms"))
    failed = [row for row in found.rows if row.passed is False]
    found.rows.append(at_most("demands on joints and energy that failed", len(failed), 0.0))
    found.rows += ratio_rows(times, 2 ** depths[0] - 1, 2 ** depths[-1] - 1)
    return found.result(_panel(times))


def measure(depth: int, method: str, tolerance: float, steps: int, found: Findings, options: Options) -> float:
    """Milliseconds a step; a run whose joints were off or that was not stable gets rows that say so."""
    who = f"{2**depth - 1} bars, {method} at {tolerance:.0e}"
    options.tell(who)
    trial = watch(
        tree(depth),
        steps,
        10,
        time_step=TREE_STEP,
        joints=method,
        position_tolerance=tolerance,
        velocity_tolerance=tolerance,
        max_iterations=MOST_CORRECTIONS[method],
    )
    found.rows += [row for row in (trial.held(who), trial.stable(who)) if not row.passed]
    found.note(trial.reason and f"{who}: {trial.reason}")
    return trial.mean_milliseconds


def ratio_rows(times: Times, small: int, large: int) -> list[Finding]:
    """Growth with size and with accuracy, and which method is faster."""
    fast, slow = times["direct", 1e-6], times["iterative", 1e-6]
    whole = large == SIZES[-1]
    said = {key: numbers[-1] for key, numbers in PUBLISHED.items()}
    pays = {method: times[method, 1e-6][large] / times[method, 1e-3][large] for method in ("direct", "iterative")}
    paid = {method: said[method, 1e-6] / said[method, 1e-3] for method in pays}
    grown = PUBLISHED["direct", 1e-6][-1] / PUBLISHED["direct", 1e-6][0]
    faster = said["iterative", 1e-6] / said["direct", 1e-6]
    ratios = [
        (
            at_most,
            f"direct: growth of time, {small} to {large} bars",
            fast[large] / fast[small],
            LINEAR * large / small,
            grown,
        ),
        (at_most, "direct: time at 1e-6 over 1e-3, the largest", pays["direct"], pays["iterative"], paid["direct"]),
        (at_least, "iterative: time at 1e-6 over 1e-3, the largest", pays["iterative"], 1.0, paid["iterative"]),
        (at_least, "iterative over direct at 1e-6, the largest", slow[large] / fast[large], 1.0, faster),
    ]
    return [judge(what, value, bound, "", printed if whole else None) for judge, what, value, bound, printed in ratios]


def _panel(times: Times) -> Panel:
    curves = []
    for number, ((method, tolerance), spent) in enumerate(times.items()):
        name = f"{method} {tolerance:.0e}"
        curves.append(Curve(f"{name}, here", list(spent), list(spent.values()), colour=number))
        curves.append(Curve("", SIZES, PUBLISHED[method, tolerance], "published", number))
    for number, (name, numbers) in enumerate(MULTIPLIERS.items(), len(times)):
        curves.append(Curve(f"{name}, dissertation", SIZES, numbers, "published", number))
    return Panel("Figure 3.32 (dotted: dissertation)", "bars", "time of a step [ms]", tuple(curves), ("log", "log"))


EXPERIMENT = Experiment(
    "tree_sizes",
    "How does the time of a step grow with the size of a tree and with the accuracy asked for?",
    "Bender, dissertation, tables 3.3, 3.4 and 3.7, figure 3.32",
    run,
)
