"""The look of plots and pictures: few colours, thin lines, room to breathe."""

from __future__ import annotations

from typing import Any

INK = "#2b3440"
FAINT = "#c9d1d9"
ACCENT = "#c8553d"
# Told apart by eyes of every kind, also in grey: brick, slate, ochre, teal, plum, leaf, sky, umber, rose, steel.
PALETTE = (
    ACCENT, "#3d5a80", "#d9a441", "#2a9d8f", "#7b5ea7", "#6a994e", "#6fa8dc", "#8c6d46", "#d17a9b", "#7d8a97",
)  # fmt: skip

# Beside the accent: bodies that are not the one spoken of, by kind of shape, and lines that are not the main one.
OTHERS = ("#3d5a80", "#8d99a6", "#d9a441", "#2a9d8f", "#7b5ea7", "#6a994e")
QUIET = ("#3d5a80", "#9aa7b4")


def tidy(axes: Any) -> None:
    """Two spines, a faint grid, quiet ticks."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(colors=INK, length=3, width=0.8, labelsize=9)
    axes.grid(True, color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)


def label(axes: Any, across: str = "", up: str = "") -> None:
    """Axis labels in the ink of the text."""
    axes.set_xlabel(across, color=INK, fontsize=10)
    axes.set_ylabel(up, color=INK, fontsize=10)
