"""The figure of an experiment: its panels side by side, published numbers as hollow dots, measured ones as lines."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.plots import check_picture_path, save_figure
from rattleback.recording.style import FAINT, INK, PALETTE, label, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from rattleback.experiments.result import Curve, Experiment, Panel, Picture, Result

WIDTH, HEIGHT = 6.4, 4.6
# Height of the strip of pictures [inch].
STRIP = 3.0
# Letters of the title that fit above a panel.
LETTERS = 68
# More curves than this have their legend beside the panel.
MOST_INSIDE = 4


def draw(experiment: Experiment, result: Result, path: str | Path | None = None) -> Figure:
    """Draw the panels of a result, and its pictures above them.

    Args:
        experiment: What was asked; its question is the title.
        result: What came out; it must have panels.
        path: Where to save the figure; None for nowhere.
    """
    from matplotlib.figure import Figure

    target = None if path is None else check_picture_path(path)
    count = len(result.panels)
    strip = STRIP if result.pictures else 0.0
    figure = Figure(figsize=(WIDTH * count, HEIGHT + strip), dpi=120, layout="constrained")
    below: Any = figure
    if result.pictures:
        parts: Any = figure.subfigures(2, 1, height_ratios=(STRIP, HEIGHT))
        below = parts[1]
        _show(parts[0], result.pictures)
    grid = below.subplots(1, count, squeeze=False)[0]
    for axes, panel in zip(grid, result.panels, strict=True):
        _fill(axes, panel)
    question = textwrap.fill(experiment.question, LETTERS * count)
    figure.suptitle(question, color=INK, fontsize=11, x=0.01, ha="left")
    if target is not None:
        save_figure(figure, target)
    return figure


def _show(figure: Any, pictures: Sequence[Picture]) -> None:
    """Paint pictures side by side."""
    for axes, picture in zip(figure.subplots(1, len(pictures), squeeze=False)[0], pictures, strict=True):
        picture.stage.paint(axes)
        axes.set_title(picture.title, color=INK, fontsize=10)


def _fill(axes: Any, panel: Panel) -> None:
    """Draw one panel."""
    tidy(axes)
    axes.tick_params(which="minor", labelsize=9, labelcolor=INK)
    axes.set_xscale(panel.scales[0])
    axes.set_yscale(panel.scales[1])
    drawn = [axes.plot(*_points(curve, panel), label=curve.name, **_look(curve))[0] for curve in panel.curves]
    if not any(len(line.get_xdata()) for line in drawn):
        axes.text(0.5, 0.5, "nothing to show", color=INK, ha="center", transform=axes.transAxes)
    label(axes, panel.across, panel.up)
    axes.set_title(panel.title, color=INK, fontsize=10, loc="left")
    if panel.scales[0] == "log":
        _tick_where_measured(axes, panel)
    if len(panel.curves) > 1:
        place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if len(panel.curves) > MOST_INSIDE else {}
        axes.legend(fontsize=8.5, framealpha=0.85, edgecolor="none", labelcolor=INK, **place)


def _tick_where_measured(axes: Any, panel: Panel) -> None:
    """Name the few places of a logarithmic axis where something is known, instead of powers of ten between them."""
    from matplotlib.ticker import NullFormatter, NullLocator

    places = sorted({float(x) for curve in panel.curves for x in curve.x})
    if len(places) <= MOST_INSIDE:
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def _points(curve: Curve, panel: Panel) -> tuple[np.ndarray, np.ndarray]:
    """The points of a curve that its axes can show: finite, and above zero on a logarithmic one."""
    points = np.array([curve.x, curve.y], dtype=np.float64)
    shown = np.isfinite(points).all(axis=0)
    for values, scale in zip(points, panel.scales, strict=True):
        shown &= (values > 0.0) | (scale == "linear")
    return points[0, shown], points[1, shown]


def _look(curve: Curve) -> dict[str, Any]:
    """How a curve is drawn."""
    colour = PALETTE[curve.colour % len(PALETTE)]
    looks: dict[str, dict[str, Any]] = {
        "measured": {"color": colour, "linewidth": 1.6, "marker": "o", "markersize": 4.0},
        "line": {"color": colour, "linewidth": 1.2},
        "dots": {"color": colour, "linestyle": "none", "marker": "o", "markersize": 3.0},
        "published": {
            "color": colour,
            "linewidth": 0.9,
            "linestyle": ":",
            "marker": "o",
            "markersize": 6.0,
            "markerfacecolor": "none",
        },
        "bound": {"color": INK if curve.colour == 0 else FAINT, "linewidth": 1.0, "linestyle": "--"},
    }
    return looks[curve.look]
