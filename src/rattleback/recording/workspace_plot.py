"""Pictures of workspaces: clouds of points with the edge of a planar arm, and sections with the share of directions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.plots import check_picture_path, save_figure
from rattleback.recording.style import ACCENT, FAINT, QUIET, label, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from rattleback.kinematics.grid import Region
    from rattleback.kinematics.planar import PlanarArm
    from rattleback.kinematics.workspace import Cloud, Dexterity

    Place = str | os.PathLike[str] | None

NAMES = ("x [m]", "y [m]", "z [m]")
# More points than this make a picture slow and no clearer.
MOST_POINTS = 20_000


def plot_cloud(cloud: Cloud, arm: PlanarArm | None = None, path: Place = None) -> Figure:
    """Where the tip of a tree comes to, seen from above and, where it is not planar, from the side.

    Args:
        cloud: Samples of its workspace.
        arm: The planar arm it belongs to, whose edge is drawn, as seen from its first joint; None for no edge.
        path: Where to save the figure; None for nowhere.
    """
    views = [(0, 1)] if cloud.planar else [(0, 1), (0, 2)]
    figure, grid = _panels(len(views))
    shown = cloud.points[:: max(1, len(cloud.points) // MOST_POINTS)]
    for axes, (across, up) in zip(grid, views, strict=True):
        axes.plot(shown[:, across], shown[:, up], ".", color=QUIET[1], markersize=1.0, rasterized=True)
        label(axes, NAMES[across], NAMES[up])
    if arm is not None:
        for arc in arm.arcs():
            grid[0].plot(*arc.points().T, color=ACCENT, linewidth=1.4)
    return _kept(figure, path)


def plot_section(region: Region, axis: int, at: float, path: Place = None) -> Figure:
    """The cells of a region in a plane.

    Args:
        region: The region.
        axis: 0, 1 or 2 for a plane across x, y or z.
        at: Where it is [m].
        path: Where to save the figure; None for nowhere.
    """
    figure, grid = _panels(1)
    layer, ranges = region.section(axis, at)
    _picture(grid[0], np.where(layer, 1.0, 0.0), ranges, axis)
    return _kept(figure, path)


def plot_dexterity(dexterity: Dexterity, axis: int, at: float, path: Place = None) -> Figure:
    """The share of directions in which a tip comes to the cells of a plane.

    Args:
        dexterity: What was found by sampling.
        axis: 0, 1 or 2 for a plane across x, y or z.
        at: Where it is [m].
        path: Where to save the figure; None for nowhere.
    """
    figure, grid = _panels(1)
    _, ranges = dexterity.reached.section(axis, at)
    layer = int(np.floor((at - dexterity.reached.low[axis]) / dexterity.reached.spacing))
    picture = _picture(grid[0], np.take(dexterity.share, layer, axis=axis), ranges, axis)
    figure.colorbar(picture, ax=grid[0], label="share of directions")
    return _kept(figure, path)


def _panels(count: int) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0 * count, 5.0), dpi=120, layout="constrained")
    grid = figure.subplots(1, count, squeeze=False)[0]
    for axes in grid:
        tidy(axes)
        axes.set_aspect("equal")
    return figure, grid


def _picture(axes: Any, values: NDArray[np.float64], ranges: NDArray[np.float64], axis: int) -> Any:
    """Values of the cells of a plane, empty ones left out."""
    from matplotlib.colors import LinearSegmentedColormap

    others = [k for k in range(3) if k != axis]
    label(axes, *(NAMES[k] for k in others))
    colours = LinearSegmentedColormap.from_list("share", [FAINT, QUIET[0]])
    shown = np.ma.masked_equal(values.T, 0.0)
    return axes.imshow(shown, origin="lower", extent=ranges.ravel(), cmap=colours, vmin=0.0, vmax=1.0)


def _kept(figure: Figure, path: Place) -> Figure:
    if path is not None:
        save_figure(figure, check_picture_path(path))
    return figure
