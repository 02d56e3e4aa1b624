"""Pictures of a sweep: main effects, a matrix of scatter plots, quantiles over time.

    main effect of x on y:  m(x) = mean of y over all variants with x      band: first to third quartile of y

Where a parameter has few values, or each of them often, each is one point of a main effect; else they are put into
groups of as many variants each. A scatter matrix shows what main effects hide, that two parameters act together.
Variants that failed are left out everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, UnknownName, listing
from rattleback.recording.plots import check_picture_path, save_figure
from rattleback.recording.style import ACCENT, FAINT, INK, PALETTE, label, tidy
from rattleback.sweeps.results.table import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from rattleback.sweeps.results.result import Result

FEW = 12  # values of a parameter that are shown one by one
REPEATED = 4  # variants with each value, from which on these are shown one by one however many they are
GROUPS = 8
MOST_PANELS = 8  # columns of a scatter matrix that can still be read
BANDS = ((0.05, 0.95, 0.18), (0.25, 0.75, 0.3))  # quantiles with their shade


def main_effects(result: Result, results: str | Iterable[str] | None, path: str | PathLike[str] | None) -> Figure:
    """A row of plots for each result, one for each parameter: the mean, and how far the middle half spreads.

    Args:
        result: The results.
        results: Names of numbers; None for all of them.
        path: Where to save the figure, if anywhere.
    """
    numbers = _numbers(result)
    parameters = [name for name in flat(result.space) if len(set(_values(result, name).tolist())) > 1]
    rows = _chosen(results, [name for name in numbers if name in result.survey.columns])
    if not rows or not parameters:
        raise InputError(
            "There is nothing to draw: main effects need a result that is a number and a varied parameter."
        )
    figure, grid = _figure(len(rows), len(parameters), 2.4)
    for (row, column), axes in np.ndenumerate(grid):
        _effect(axes, _values(result, parameters[column]), numbers[rows[row]])
        axes.sharey(grid[row, 0])
        label(axes, parameters[column] if row == len(rows) - 1 else "", "" if column else rows[row])
    figure.align_labels()
    return _saved(figure, path)


def scatter_matrix(result: Result, names: str | Iterable[str] | None, path: str | PathLike[str] | None) -> Figure:
    """Every number over every other, and on the diagonal how often each value comes.

    Args:
        result: The results.
        names: Names of parameters and results; None for all that vary, the first eight at most.
        path: Where to save the figure, if anywhere.
    """
    numbers = _numbers(result)
    varied = [name for name, values in numbers.items() if np.unique(values[np.isfinite(values)]).size > 1]
    chosen = _chosen(names, list(numbers)) if names is not None else varied[:MOST_PANELS]
    if not chosen:
        raise InputError("There is nothing to draw: no number of this sweep varies.")
    figure, grid = _figure(len(chosen), len(chosen), 1.7)
    for row, up in enumerate(chosen):
        for place, across in enumerate(chosen):
            axes = grid[row][place]
            if row == place:
                axes.hist(numbers[up][np.isfinite(numbers[up])], bins="sturges", color=FAINT)
                axes.set_yticks([])
            else:
                axes.plot(numbers[across], numbers[up], ".", color=_colour(result, up), markersize=3, alpha=0.6)
            label(axes, across if row == len(chosen) - 1 else "", up if place == 0 else "")
    figure.align_labels()
    return _saved(figure, path)


def quantiles(result: Result, name: str, path: str | PathLike[str] | None) -> Figure:
    """Median, middle half and middle nine tenths of an array over time, a plot for each of its components.

    Args:
        result: The results.
        name: Name of an array.
        path: Where to save the figure, if anywhere.
    """
    form = result.survey.forms.get(_chosen(name, list(result.survey.forms))[0])
    values = result[name].reshape(len(result), -1) if form is None else result[name]
    values = values[result.survey.ok].reshape(int(result.survey.ok.sum()), values.shape[1], -1)
    shared = result.survey.times is not None and form is not None and form.timed
    times = result.survey.times if shared else np.arange(values.shape[1])
    figure, grid = _figure(values.shape[2], 1, 2.6, width=8.0)
    for component, (axes,) in enumerate(grid):
        shown = values[:, :, component]
        for low, high, shade in BANDS:
            bounds = np.nanquantile(shown, [low, high], axis=0)
            axes.fill_between(times, *bounds, color=ACCENT, alpha=shade, linewidth=0, label=f"{low:.0%} to {high:.0%}")
        axes.plot(times, np.nanmedian(shown, axis=0), color=INK, linewidth=1.4, label="median")
        label(axes, "", f"{name}.{component}" if values.shape[2] > 1 else name)
    label(grid[-1][0], "time [s]" if shared else "sample", grid[-1][0].get_ylabel())
    grid[0][0].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.align_labels()
    return _saved(figure, path)


def _effect(axes: Any, values: NDArray[Any], numbers: NDArray[Any]) -> None:
    """One main effect: a mean and a bar for each value of the parameter, or for each group of values."""
    good = np.isfinite(numbers)
    values, numbers = values[good], numbers[good]
    text = values.dtype.kind == "U"
    levels, place = np.unique(values, return_inverse=True)
    if len(levels) > FEW and len(values) < REPEATED * len(levels):
        order = np.argsort(values, kind="stable")
        groups: Sequence[Any] = np.array_split(order, GROUPS)
    else:
        groups = [np.flatnonzero(place == level) for level in range(len(levels))]
    across = np.arange(len(levels)) if text else np.array([values[group].mean() for group in groups])
    means = np.array([numbers[group].mean() for group in groups])
    low, high = np.array([np.quantile(numbers[group], [0.25, 0.75]) for group in groups]).reshape(-1, 2).T
    axes.plot(values if not text else place, numbers, ".", color=FAINT, markersize=3, zorder=1)
    axes.fill_between(across, low, high, color=ACCENT, alpha=0.18, linewidth=0, zorder=2)
    axes.plot(across, means, "o-", color=ACCENT, markersize=4, linewidth=1.4, zorder=3)
    if text:
        axes.set_xticks(across, levels)


def _numbers(result: Result) -> dict[str, NDArray[np.float64]]:
    """Parameters and results that are numbers, NaN where a variant failed."""
    columns = {name: column for name, column in flat(result.space).items() if column.dtype.kind != "U"}
    columns |= {name: result[name] for name, column in result.survey.columns.items() if not column.is_text}
    return {name: np.where(result.survey.ok, column.astype(np.float64), np.nan) for name, column in columns.items()}


def _values(result: Result, name: str) -> NDArray[Any]:
    found: NDArray[Any] = flat(result.space)[name]
    return found if found.dtype.kind == "U" else found.astype(np.float64)


def _chosen(names: str | Iterable[str] | None, known: list[str]) -> list[str]:
    chosen = known if names is None else [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in known:
            raise UnknownName(f"There is no {name!r} to draw here. There are {listing(known, 30)}.")
    return chosen


def _colour(result: Result, name: str) -> str:
    return PALETTE[0] if name in result.survey.columns else PALETTE[1]


def _figure(rows: int, columns: int, height: float, width: float | None = None) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    size = (width or max(4.0, 0.8 + 2.1 * columns), 0.6 + height * rows)
    figure = Figure(figsize=size, dpi=120, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.ravel():
        tidy(axes)
    return figure, grid


def _saved(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    if path is not None:
        save_figure(figure, check_picture_path(path))
    return figure
