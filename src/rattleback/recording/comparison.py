"""Comparison: the same scene under several methods, error beside time, as a table and a plot.

    error = max(largest position error of a joint, deepest overlap)   [m],   after each step

Every simulation takes its own steps up to the same times; the time it needed is taken around its steps alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, RattlebackError
from rattleback.recording.plots import check_picture_path, save_figure
from rattleback.recording.style import PALETTE, label, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from rich.table import Table

    from rattleback.core.report import Report
    from rattleback.simulation import Simulation

# What is below this is rounding and would only stretch the axis of the plot [m].
FLOOR = 1e-16


def error_of(report: Report) -> float:
    """How far a step is from what joints and contacts ask for [m]."""
    return max(report.position_error, report.penetration)


@dataclass(frozen=True)
class Lane:
    """What came of one simulation.

    Attributes:
        label: What it is called.
        time: Times looked at [s], shape (looks,); the first is the start.
        error: Worst error since the look before [m], shape (looks,).
        drift: Drift of the energy from the start, in parts of it or, where that is larger, of the largest kinetic
            energy, shape (looks,).
        iterations: Most corrections of the joints a step needed since the look before, shape (looks,).
        seconds: Time all steps took [s].
        steps: How many there were.
        converged: Whether every step met its tolerances.
        fault: Why it ended early; empty where it did not.
    """

    label: str
    time: NDArray[np.float64]
    error: NDArray[np.float64]
    drift: NDArray[np.float64]
    iterations: NDArray[np.int64]
    seconds: float
    steps: int
    converged: bool
    fault: str

    @property
    def milliseconds_per_step(self) -> float:
        """Time a step took [ms]."""
        return 1e3 * self.seconds / max(self.steps, 1)


def compare(sims: Mapping[str, Simulation], duration: float, looks: int = 100) -> list[Lane]:
    """Run simulations for the same time and note their errors.

    Args:
        sims: The simulations by what they are called.
        duration: Time to simulate [s].
        looks: At how many times they are looked at.
    """
    if not sims:
        raise InputError("There is nothing to compare; give at least one simulation.")
    wanted, count = checks.positive(duration, "The duration"), checks.count(looks, "The looks of a comparison")
    return [_run(name, sim, wanted, count) for name, sim in sims.items()]


def _run(name: str, sim: Simulation, duration: float, looks: int) -> Lane:
    """One lane; a simulation that gives up ends it early."""
    sim.warn = False
    sim.capture()
    start, first = sim.time, sim.state.steps
    rows, energies, seconds, converged, fault = [(sim.time, 0.0, 0)], [sim.energy()], 0.0, True, ""
    for end in start + duration * np.arange(1, looks + 1) / looks:
        if (steps := round((end - sim.time) / sim.time_step)) < 1:
            continue
        begun = time.perf_counter()
        try:
            sim.step(steps)
        except RattlebackError as error:
            fault = str(error)
            break
        finally:
            seconds += time.perf_counter() - begun
        report = sim.report
        rows.append((sim.time, error_of(report), report.iterations))
        energies.append(sim.energy())
        converged &= report.converged
    times, errors, iterations = map(np.array, zip(*rows, strict=True))
    total, kinetic = (np.array([np.max(getattr(energy, part)) for energy in energies]) for part in ("total", "kinetic"))
    drift, steps = (total - total[0]) / (max(abs(total[0]), kinetic.max()) or 1.0), sim.state.steps - first
    return Lane(name, times, errors, drift, iterations, seconds, steps, converged and not fault, fault)


def comparison_table(lanes: list[Lane]) -> Table:
    """The lanes as a table for the terminal, errors beside times."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    # On a narrow terminal the names of methods are broken, and numbers and verdicts stay whole.
    table.add_column("method", min_width=8, overflow="fold")
    for title in ("ms/step", "worst [m]", "median [m]", "drift", "corrections"):
        table.add_column(Text(title), justify="right", no_wrap=True)
    table.add_column("verdict", min_width=7)
    for lane in lanes:
        verdict = lane.fault or ("met" if lane.converged else "missed")
        numbers = (lane.error.max(), float(np.median(lane.error[1:] if len(lane.error) > 1 else lane.error)))
        table.add_row(
            Text(lane.label),
            f"{lane.milliseconds_per_step:.3g}",
            *(f"{value:.1e}" for value in numbers),
            f"{np.abs(lane.drift).max():.1e}",
            str(int(lane.iterations.max())),
            Text(verdict, style="green" if lane.converged else "bold red"),
        )
    return table


def comparison_data(lanes: list[Lane]) -> list[dict[str, Any]]:
    """The rows of the table as plain data, ready for JSON."""
    return [
        {
            "method": lane.label,
            "milliseconds_per_step": lane.milliseconds_per_step,
            "steps": lane.steps,
            "largest_error": float(lane.error.max()),
            "energy_drift": float(np.abs(lane.drift).max()),
            "most_corrections": int(lane.iterations.max()),
            "converged": lane.converged,
            "fault": lane.fault,
        }
        for lane in lanes
    ]


def comparison_plot(lanes: list[Lane], path: str | PathLike[str] | None = None) -> Figure:
    """A figure of error and energy drift over time, one curve a lane.

    Args:
        lanes: What to draw.
        path: Where to save it; None for nowhere.
    """
    from matplotlib.figure import Figure

    target = None if path is None else check_picture_path(path)
    figure = Figure(figsize=(9.0, 6.2), dpi=120, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for lane, colour in zip(lanes, PALETTE * (1 + len(lanes) // len(PALETTE)), strict=False):
        name = f"{lane.label}, {lane.milliseconds_per_step:.3g} ms a step"
        above.plot(lane.time[1:], np.maximum(lane.error[1:], FLOOR), color=colour, linewidth=1.4, label=name)
        below.plot(lane.time, lane.drift, color=colour, linewidth=1.4)
    for axes in (above, below):
        tidy(axes)
    above.set_yscale("log")
    above.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0.0, 1.22), ncols=2)
    label(above, up="error [m]")
    label(below, "time [s]", "relative energy drift")
    if target is not None:
        save_figure(figure, target)
    return figure
