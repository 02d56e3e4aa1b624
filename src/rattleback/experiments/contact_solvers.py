"""Every contact method on every problem at hand: how exact, in what time, and where each fails.

Problems are scenes in closed form (a sliding block, stacks, a wall, arches, needles, redundant ones) and the files in
the folder that ``--data`` or the environment variable ``RATTLEBACK_DATA`` names, or in its folder ``contact_problems``:
text files of Siconos and saved problems. Each method solves the law that is hardest for it: Coulomb's if it can, else
the pyramid, else the convex cone. A time counts from the history of the method: when its residual first was within a
tolerance.

The performance profile of a method says for which share of the problems it is within a factor τ of the fastest method.
A problem that a method does not solve counts for no τ.

Reference: Dolan and Moré, Math. Program. 91 (2002); Acary, Brémond and Huber, INRIA RR-9118 (2018), §6.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import FileError
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, at_most
from rattleback.lcp import LAWS, MENU, Problem, load, solve
from rattleback.lcp.example_scenes import SCENES
from rattleback.lcp.solve import taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "RATTLEBACK_DATA"
TOLERANCES = (1e-4, 1e-8, 1e-12)
# What ``auto`` must reach on every problem [m/s].
DEMAND = 1e-8
# CPU time of a method on a problem [s].
SECONDS, QUICK_SECONDS = 5.0, 1.0
QUICK_SCENES = ("sliding block", "three bodies", "three bodies twice", "stack", "arch")
HARDEST = ("coulomb", "pyramid", "cone", "frictionless")
# The law of problems without contacts, in the table.
PLAIN = "plain rows"
# What the figure shows: methods for Coulomb's law, and those for plain rows that differ from each other there.
WITH_FRICTION = tuple(name for name, kind in MENU.items() if HARDEST[0] in kind.laws)
WITHOUT_CONTACTS = ("lemke", "dantzig", "murty", "newton", "qp", "pgs", "apgd", "bb", "admm", "auto")
FACTORS = np.logspace(0.0, 4.0, 81)


@dataclass(frozen=True)
class Run:
    """One method on one problem.

    Attributes:
        problem: Name of the problem.
        method: Name of the method.
        law: Name of the law.
        residual: Residual reached [m/s].
        seconds: CPU time [s].
        times: CPU time to each of ``TOLERANCES`` [s]; infinite where it was not reached.
        reason: Why the method ended.
    """

    problem: str
    method: str
    law: str
    residual: float
    seconds: float
    times: tuple[float, ...]
    reason: str


def run(options: Options) -> Result:
    """Run every method on every problem."""
    found = Findings()
    problems = list(gather(options, found))
    runs = [one for problem in problems for one in run_problem(problem, options)]
    for method in MENU:
        own = [one for one in runs if one.method == method]
        for k, tolerance in enumerate(TOLERANCES):
            solved = sum(math.isfinite(one.times[k]) for one in own)
            found.rows.append(Finding(f"{method}: solved to {tolerance:g} m/s, of {len(own)}", float(solved)))
    for one in runs:
        what = f"{one.problem}: {one.method}, {one.law}"
        if one.method == "auto":
            found.rows.append(at_most(f"{what}: residual", one.residual, DEMAND, "m/s"))
        else:
            found.rows.append(Finding(f"{what}: residual", one.residual, unit="m/s"))
        found.rows.append(Finding(f"{what}: CPU time", one.seconds, unit="s"))
        if one.residual > TOLERANCES[1]:
            found.note(f"{what}: {one.reason}")
    contacts = [one for one in runs if one.law == HARDEST[0]]
    rows = [one for one in runs if one.law == PLAIN]
    panels = [reached_panel(contacts), *(profile_panel(contacts, WITH_FRICTION, k) for k in range(len(TOLERANCES)))]
    if rows:
        panels.append(profile_panel(rows, WITHOUT_CONTACTS, len(TOLERANCES) - 1))
    return found.result(*panels)


def gather(options: Options, found: Findings) -> Iterator[Problem]:
    """The problems: scenes, then files."""
    for name in QUICK_SCENES if options.quick else SCENES:
        yield SCENES[name]()
    folder = options.data or (Path(os.environ[VARIABLE]) if VARIABLE in os.environ else None)
    if folder is None:
        found.note(f"Only the package's own problems were solved; --data or {VARIABLE} may name a folder with files.")
        return
    inner = folder / "contact_problems"
    files = sorted(path for path in (inner if inner.is_dir() else folder).rglob("*") if path.suffix in (".dat", ".npz"))
    if not files:
        found.note(f"{folder} holds no .dat or .npz file.")
    for path in files:
        try:
            yield load(path)
        except FileError as error:
            found.note(str(error))


def run_problem(problem: Problem, options: Options) -> Iterator[Run]:
    """Every method that takes the problem."""
    for name, kind in MENU.items():
        law = next(law for law in HARDEST if law in kind.laws)
        if taken(problem, kind(), LAWS[law]):
            continue
        options.tell(f"{problem.name}: {name}")
        seconds = QUICK_SECONDS if options.quick else SECONDS
        result = solve(problem, name, law, TOLERANCES[-1], seconds=seconds)
        law = law if problem.contacts else PLAIN
        yield Run(problem.name, name, law, result.residual, result.seconds, reach(result), result.reason)


def reach(result: Any) -> tuple[float, ...]:
    """CPU time at which the history first met each tolerance [s]."""
    times = []
    for tolerance in TOLERANCES:
        met = np.flatnonzero(result.history[:, 2] <= tolerance)
        times.append(float(result.history[met[0], 1]) if len(met) else math.inf)
    return tuple(times)


def profile_panel(runs: Sequence[Run], methods: Sequence[str], k: int) -> Panel:
    """Performance profiles of some methods at one tolerance."""
    shares = profile(runs, methods, k)
    curves = tuple(Curve(name, FACTORS.tolist(), shares[name], "line", i) for i, name in enumerate(methods))
    title = f"{runs[0].law.capitalize()}: performance profile at {TOLERANCES[k]:g} m/s"
    return Panel(title, "factor τ of the fastest method", "share of problems solved", curves, ("log", "linear"))


def profile(runs: Sequence[Run], methods: Sequence[str], k: int) -> dict[str, list[float]]:
    """Shares of the problems that a method solves within a factor of the fastest, at each of ``FACTORS``."""
    best: dict[str, float] = {}
    for one in runs:
        best[one.problem] = min(best.get(one.problem, math.inf), resolved(one.times[k]))
    shares = {}
    for name in methods:
        own = [one for one in runs if one.method == name and best[one.problem] < math.inf]
        ratios = np.array([resolved(one.times[k]) / best[one.problem] for one in own])
        shares[name] = [float((ratios <= factor).sum()) / max(len(best), 1) for factor in FACTORS]
    return shares


def resolved(seconds: float) -> float:
    """A time that is not below what the clock resolves [s]."""
    return max(seconds, 1e-4)


def reached_panel(runs: Sequence[Run]) -> Panel:
    """Residual against CPU time of the methods for Coulomb's law on every problem with contacts."""
    curves = []
    for i, name in enumerate(WITH_FRICTION):
        own = [one for one in runs if one.method == name]
        times, residuals = [resolved(one.seconds) for one in own], [max(one.residual, 1e-17) for one in own]
        curves.append(Curve(name, times, residuals, "dots", i))
    return Panel("Coulomb: where every run ended", "CPU time [s]", "residual [m/s]", tuple(curves), ("log", "log"))


EXPERIMENT = Experiment(
    "contact_solvers",
    "Which contact method solves which problem, how exactly and in what time?",
    "performance profiles after Dolan and Moré; problems of this project and of the folder --data",
    run,
)
