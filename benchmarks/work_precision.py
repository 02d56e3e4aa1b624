"""Energy error over cost on the chain of 50 for many time steps: which engine is more exact for the same time?

A cost is CPU time a simulated second, an error the change of the energy over 2 s, at the end and the largest on the
way. Between two time steps of an engine its error is interpolated along the straight line of the logarithms.
"""

import math
import statistics
from typing import Any

import numpy as np
from machine import DOCS, markdown

COUNT, DURATION = 50, 2.0
TIME_STEPS = (0.02, 0.01, 0.005, 0.0025, 0.001)
# Ours are taken on until they cost what the dearest of the others does.
FINER_STEPS = (0.0005, 0.00025, 0.0001)
KINDS = {"drift": "at the end", "largest": "largest on the way"}
HEAD = [
    "engine",
    "time step",
    "µs a step",
    "ms a simulated second",
    "energy at the end",
    "largest change",
    "worst joint",
]

Point = dict[str, Any]


def measure(engines: Any, ours: str, others: list[str]) -> dict[str, list[Point]]:
    """Cost and errors of every engine for every time step, all steps in one call."""
    curves: dict[str, list[Point]] = {name: [] for name in (ours, *others)}
    for time_step in (*TIME_STEPS, *FINER_STEPS):
        names = list(curves) if time_step in TIME_STEPS else [ours]
        task = {"scene": "chain", "count": COUNT, "time_step": time_step, "steps": round(DURATION / time_step)}
        times = engines.times(names, {**task, "what": "at once"})
        for name in names:
            milliseconds = statistics.median(times[name])
            errors = engines.ask(name, {**task, "what": "errors"})
            point = {"time_step": time_step, "ms": milliseconds, "cost": milliseconds / time_step, **errors}
            curves[name].append(point)
    return curves


def at_cost(points: list[Point], cost: float, kind: str) -> float | None:
    """Error of an engine where it costs this much [J]; None where it was not measured that dear or that cheap."""
    held = sorted((p["cost"], abs(p[kind])) for p in points if p["stable"])
    if not held or not held[0][0] <= cost <= held[-1][0]:
        return None
    costs, errors = np.log(np.array(held)).T
    return math.exp(float(np.interp(math.log(cost), costs, errors)))


def tables(curves: dict[str, list[Point]], ours: str) -> list[str]:
    """What was measured, and our error over that of the others at equal cost."""
    rows = []
    for name, points in curves.items():
        for p in points:
            said = [f"{p['time_step']:g} s", f"{1e3 * p['ms']:.3g}", f"{p['cost']:.3g}"]
            errors = ["diverges", "", ""]
            if p["stable"]:
                errors = [f"{p['drift']:+.2g} J", f"{p['largest']:.2g} J", f"{p['apart']:.1e} m"]
            rows.append([name, *said, *errors])
    return [markdown(HEAD, rows), markdown(*_at_equal_cost(curves, ours))]


def _at_equal_cost(curves: dict[str, list[Point]], ours: str) -> tuple[list[str], list[list[str]]]:
    """Our error over that of the others at their cost, for each of their time steps."""
    head = ["other engine", "its time step", *(f"our energy error / its, {words}" for words in KINDS.values())]
    rows = []
    for name, points in curves.items():
        for p in points if name != ours else []:
            if p["stable"]:
                own = [at_cost(curves[ours], p["cost"], kind) for kind in KINDS]
                ratios = [o / abs(p[kind]) if o else None for o, kind in zip(own, KINDS, strict=True)]
                rows.append([name, f"{p['time_step']:g} s", *("–" if r is None else f"{r:.2g}" for r in ratios)])
    return head, rows


def draw(curves: dict[str, list[Point]]) -> None:
    """The figure of the docs: both errors over the cost."""
    from matplotlib.figure import Figure

    from rattleback.recording.style import INK, PALETTE, label, tidy

    figure = Figure(figsize=(11.0, 4.6), dpi=120, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (kind, words) in zip(panels, KINDS.items(), strict=True):
        tidy(axes)
        axes.set_xscale("log")
        axes.set_xmargin(0.12)
        axes.set_yscale("log")
        for (name, points), colour in zip(curves.items(), PALETTE, strict=False):
            held = [p for p in points if p["stable"]]
            values = [p["cost"] for p in held], [abs(p[kind]) for p in held]
            axes.plot(*values, label=name, color=colour, linewidth=1.6, marker="o", markersize=4.0)
            for point, x, y in (held[0], values[0][0], values[1][0]), (held[-1], values[0][-1], values[1][-1]):
                place = {"xytext": (4, 5), "textcoords": "offset points", "fontsize": 8, "color": INK}
                axes.annotate(f"{point['time_step']:g} s", (x, y), **place)
        label(axes, "CPU time a simulated second [ms]", "change of energy [J]")
        axes.set_title(
            f"Energy error of a chain of {COUNT} over {DURATION:g} s, {words}", color=INK, fontsize=10, loc="left"
        )
    panels[0].legend(fontsize=8.5, framealpha=0.85, edgecolor="none", labelcolor=INK)
    DOCS.mkdir(exist_ok=True)
    figure.savefig(DOCS / "work_precision.png")
