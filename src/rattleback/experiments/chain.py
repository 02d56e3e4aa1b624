"""The hanging chain: what a step costs with the iterative and with the direct method, as the chain grows.

Bars of 1 m and 1 kg hang by ball joints and are pushed in different horizontal directions; 200 steps of 0.01 s at
ε_d = 1e-6 m and ε_v = 1e-6 m/s for every length. The direct method's time grows no faster than the chain, the iterative
method's much faster, so that they cross at a short chain. Times are those of this machine; the dissertation's are from
a Pentium 4 of 3.4 GHz, so ratios are compared.

Reference: Bender, dissertation, §3.3.3.1, figures 3.27 and 3.28, table 3.1.
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
    at_most,
)
from rattleback.experiments.trial import MOST_CORRECTIONS, watch
from rattleback.scenes import chain

# Milliseconds a step by number of bars, table 3.1.
PUBLISHED = {
    "iterative": {10: 3.30, 20: 23.20, 30: 71.65, 40: 157.69, 50: 287.14},
    "direct": {10: 2.11, 20: 2.78, 30: 3.63, 40: 4.60, 50: 6.28},
}
CROSSING = 8
LENGTHS = (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40, 50)
STEP, STEPS = 0.01, 200
# As the project demands of longer chains: cost within 1.1 × linear.
LINEAR = 1.1


def run(options: Options) -> Result:
    """Measure both methods at every length."""
    found = Findings()
    lengths, steps = ((2, 5, 10), 40) if options.quick else (LENGTHS, STEPS)
    times = {method: measure(method, lengths, steps, found, options) for method in PUBLISHED}
    found.rows += [_time_row(method, count, spent) for method in times for count, spent in times[method].items()]
    found.rows += ratio_rows(times, lengths[-1])
    return found.result(_panel(times))


def measure(method: str, lengths: tuple[int, ...], steps: int, found: Findings, options: Options) -> dict[int, float]:
    """Milliseconds a step by number of bars; how the joints held is judged over all lengths."""
    times, off = {}, 0.0
    for count in lengths:
        options.tell(f"chain of {count}, {method}")
        trial = watch(chain(count), steps, 4, time_step=STEP, joints=method, max_iterations=MOST_CORRECTIONS[method])
        times[count] = trial.mean_milliseconds
        off = max(off, math.inf if trial.reason else trial.position_error)
        found.note(trial.reason and f"Chain of {count}, {method}: {trial.reason}")
    found.rows.append(at_most(f"{method}: worst joint of all lengths", off, 1e-6, "m"))
    return times


def ratio_rows(times: dict[str, dict[int, float]], longest: int) -> list[Finding]:
    """Growth from ten bars (or the shortest chain measured) to the longest, which is faster there, and the crossing."""
    short = 10 if longest > 10 else min(times["direct"])
    growth = {method: spent[longest] / spent[short] for method, spent in times.items()}
    said = {method: table.get(longest, math.nan) / table.get(short, math.nan) for method, table in PUBLISHED.items()}
    known = {method: value if math.isfinite(value) else None for method, value in said.items()}
    faster = times["iterative"][longest] / times["direct"][longest]
    printed = PUBLISHED["iterative"][longest] / PUBLISHED["direct"][longest]
    crossed = [count for count, spent in times["direct"].items() if spent < times["iterative"][count]]
    grown, bound = f"{short} to {longest} bars", LINEAR * longest / short
    return [
        at_most(f"direct: growth of time, {grown}", growth["direct"], bound, published=known["direct"]),
        at_least(f"iterative: growth of time, {grown}", growth["iterative"], longest / short, "", known["iterative"]),
        at_least(f"iterative over direct, {longest} bars", faster, 1.0, published=printed),
        Finding("bars from which direct is faster", float(crossed[0]) if crossed else None, CROSSING + 1.0),
    ]


def _time_row(method: str, count: int, spent: float) -> Finding:
    return Finding(f"{method}, n = {count}: a step", spent, PUBLISHED[method].get(count), "ms")


def _panel(times: dict[str, dict[int, float]]) -> Panel:
    curves = []
    for colour, (method, spent) in enumerate(times.items()):
        said = PUBLISHED[method]
        curves.append(Curve(f"{method}, here", list(spent), list(spent.values()), colour=colour))
        curves.append(Curve(f"{method}, dissertation", list(said), list(said.values()), "published", colour))
    return Panel("Figure 3.28", "bars", "time of a step [ms]", tuple(curves), ("linear", "log"))


EXPERIMENT = Experiment(
    "chain",
    "How does the cost of a step grow with the length of a chain, iterative against direct?",
    "Bender, dissertation, table 3.1, figure 3.28",
    run,
)
