"""Plots of recorded quantities over time, one below the other, with names, units and a legend beside each."""

from __future__ import annotations

import os
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import InputError, UnknownName
from rattleback.recording.files import check_suffix
from rattleback.recording.quantities import bracket
from rattleback.recording.style import PALETTE, label, tidy
from rattleback.recording.tables import relative_drift

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from rattleback.recording.recorder import Recorder

# More curves than colours cannot be told apart; then all curves of a component share one.
MOST_COLOURS = len(PALETTE)
# A range this much smaller than the numbers is rounding; the axis then shows a constant as a constant.
FLAT = 1e-9


class Curve(NamedTuple):
    """One line of a plot: its values over time, its name in the legend, and the component it shows."""

    values: NDArray[np.float64]
    name: str
    component: str


def plot(recorder: Recorder, names: list[str], path: str | os.PathLike[str] | None, drift: bool) -> Figure:
    """A figure with one plot for each name, and one for the drift of the energy if asked for.

    Args:
        recorder: Where the samples are.
        names: What to draw, as in ``recorder[name]``.
        path: Where to save the figure; None for nowhere.
        drift: Whether to add the relative drift of the total energy.
    """
    from matplotlib.figure import Figure

    target = None if path is None else check_picture_path(path)
    if not names:
        raise InputError("There is nothing to plot; name a recorded quantity.")
    panels = [(f"{name}{bracket(recorder.unit(name))}", curves(recorder, name)) for name in names]
    if drift:
        panels.append(("relative energy drift", drift_curves(recorder)))
    figure = Figure(figsize=(9.0, 1.0 + 2.6 * len(panels)), dpi=120, layout="constrained")
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (title, lines) in zip(grid, panels, strict=True):
        _draw(axes, recorder.time, lines)
        label(axes, up=title)
    label(grid[-1], "time [s]", panels[-1][0])
    figure.align_ylabels(grid)
    if target is not None:
        save_figure(figure, target)
    return figure


def curves(recorder: Recorder, name: str) -> list[Curve]:
    """The lines of one quantity, world by world, body by body, component by component."""
    quantity, _ = recorder.quantity(name)
    values = np.asarray(recorder[name], dtype=np.float64)
    flat = values.reshape(len(values), quantity.worlds or 1, len(quantity.labels))
    # What all names share need not be said in each: the axis says it.
    shared = quantity.labels[0] if len(quantity.labels) == 1 else _stem(quantity.labels)
    found = []
    for world in range(flat.shape[1]):
        prefix = "" if quantity.worlds is None else f"world {world} "
        for index, entry in enumerate(quantity.labels):
            name = f"{prefix}{entry.removeprefix(shared)}".strip() or entry
            found.append(Curve(flat[:, world, index], name, entry.rpartition(".")[2]))
    return found


def _stem(labels: tuple[str, ...]) -> str:
    """What all labels begin with, dot by dot."""
    levels = zip(*(entry.split(".") for entry in labels), strict=False)
    return "".join(f"{level[0]}." for level in takewhile(lambda level: len(set(level)) == 1, levels))


def drift_curves(recorder: Recorder) -> list[Curve]:
    """The drift of the total energy relative to its first value, world by world."""
    try:
        total, kinetic = recorder["energy.total"], recorder["energy.kinetic"]
    except UnknownName:
        raise InputError("The drift needs the energy; add 'energy' to the quantities of the Recorder.") from None
    flat = relative_drift(total, kinetic).reshape(len(total), -1)
    batched = recorder.simulation.worlds is not None
    names = [f"world {world}" if batched else "drift" for world in range(flat.shape[1])]
    return [Curve(flat[:, world], name, "drift") for world, name in enumerate(names)]


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """The path, if its name ends as one of the formats Matplotlib writes."""
    from matplotlib.backend_bases import FigureCanvasBase

    return check_suffix(path, [f".{suffix}" for suffix in FigureCanvasBase.get_supported_filetypes()], "a plot")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format its name ends with, whole or not at all."""
    kind = path.suffix.lower().lstrip(".")
    whole_file.write(path, lambda stream: figure.savefig(stream, format=kind), "plot")


def _draw(axes: Any, time: NDArray[np.float64], lines: list[Curve]) -> None:
    """Draw the lines of one plot with their legend beside it."""
    tidy(axes)
    crowded = len(lines) > MOST_COLOURS
    names = [line.component if crowded else line.name for line in lines]
    colours = {name: PALETTE[index % len(PALETTE)] for index, name in enumerate(dict.fromkeys(names))}
    look = {"linewidth": 0.6, "alpha": 0.5} if crowded else {"linewidth": 1.4}
    handles = {}
    for line, name in zip(lines, names, strict=True):
        (handles[name],) = axes.plot(time, line.values, color=colours[name], marker=_marker(time), **look)
    _keep_constants_flat(axes, lines)
    if len(handles) > 1:
        title = f"{len(lines)} curves" if crowded else None
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
        legend = axes.legend(handles.values(), handles, frameon=False, fontsize=9, title=title, **place)
        for handle in legend.get_lines():
            handle.set(linewidth=1.6, alpha=1.0)


def _marker(time: NDArray[np.float64]) -> str:
    """A single sample makes no line; it is shown as a dot."""
    return "o" if len(time) == 1 else ""


def _keep_constants_flat(axes: Any, lines: list[Curve]) -> None:
    """Do not blow up the rounding of a constant to the height of the plot."""
    values = np.concatenate([line.values for line in lines])
    finite = values[np.isfinite(values)]
    if not len(finite):
        return
    low, high = finite.min(), finite.max()
    size = max(abs(low), abs(high))
    if high - low < FLAT * size:
        axes.set_ylim(low - 0.1 * size, high + 0.1 * size)
