"""The courses of several methods of inverse kinematics: a plot, a table, and plain data."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.plots import check_picture_path, save_figure
from rattleback.recording.style import INK, PALETTE, label, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from rich.table import Table

    from rattleback.recording.ik_courses import Course

# Each method has a colour of its own, the same everywhere.
COLOURS = (*PALETTE, INK)
# What is smaller is rounding [m].
FLOOR = 1e-16


def plot_courses(courses: Sequence[Course], path: str | os.PathLike[str] | None = None) -> Figure:
    """Error against steps, one curve a method; methods that keep no history are a dashed line from start to end.

    Args:
        courses: What the methods did.
        path: Where to save the figure; None for nowhere.
    """
    from matplotlib.figure import Figure

    target = None if path is None else check_picture_path(path)
    figure = Figure(figsize=(9.0, 5.2), dpi=120, layout="constrained")
    axes = figure.subplots()
    tidy(axes)
    for course, colour in zip(courses, COLOURS, strict=False):
        if course.solution is not None:
            whole = course.solution.history is not None
            known: dict[str, Any] = {} if whole else {"linestyle": "--", "marker": "o", "markersize": 4}
            name = f"{course.method}{'' if course.solution.reached else ' (not reached)'}"
            error = np.maximum(course.error, FLOOR)
            axes.plot(course.steps, error, color=colour, linewidth=1.5, label=name, **known)
    axes.set_yscale("log")
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xlim(left=0)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    label(axes, "steps", "error |e| [m]")
    if target is not None:
        save_figure(figure, target)
    return figure


def courses_table(courses: Sequence[Course]) -> Table:
    """The courses as a table for the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for title in ("steps", "off [m]", "off [rad]", "ms"):
        table.add_column(Text(title), justify="right", no_wrap=True)
    table.add_column("verdict")
    for course in courses:
        found = course.solution
        numbers = ("", "", "") if found is None else (str(found.iterations), *(f"{off:.1e}" for off in found.residual))
        style = "dim" if found is None else "green" if found.reached else "bold red"
        spent = "" if found is None else f"{1e3 * course.seconds:.3g}"
        table.add_row(course.method, *numbers, spent, Text(course.verdict, style=style))
    return table


def courses_data(courses: Sequence[Course]) -> list[dict[str, Any]]:
    """The courses as plain data, ready for JSON."""
    return [
        {
            "method": course.method,
            "reached": None if course.solution is None else bool(course.solution.reached),
            "verdict": course.verdict,
            "residual": None if course.solution is None else course.solution.residual,
            "iterations": None if course.solution is None else course.solution.iterations,
            "seconds": course.seconds,
            "q": None if course.solution is None else course.solution.q,
            "steps": course.steps,
            "error": course.error,
        }
        for course in courses
    ]
