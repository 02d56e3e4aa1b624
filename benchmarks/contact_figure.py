"""The figure of the contact benchmark: how deep bodies overlap over the time of a step, a point for every engine.

Colours are engines and marks their settings. A mark is where bodies rest; the line from it ends at the largest overlap
on the way. Runs that were stopped before bodies came to rest are left out.
"""

from pathlib import Path
from typing import Any

# Title, key of the overlap at rest, and key of the times that the median is of.
PANELS = {
    "wall": ("Wall of 252 bricks: overlap before the hit, up to the largest of all 5 s", "standing", "before the hit"),
    "pile": ("Heap of 1,000 cubes: overlap at the end, up to the largest of all 22 s", "end", "ms"),
}
# Overlaps below this are none [mm].
LEAST = 1e-3
MARKS = "oDs^vPX*<>"


def draw(found: dict[str, dict[str, dict[str, Any]]], path: Path) -> None:
    """Draw it, with a panel for each of the scenes that were run."""
    from matplotlib.figure import Figure

    from rattleback.recording.style import INK

    scenes = [scene for scene in PANELS if scene in found]
    if not scenes:
        return
    figure = Figure(figsize=(6.2 * len(scenes), 5.4), dpi=120, layout="constrained")
    looks = looks_of(list(dict.fromkeys(name for scene in scenes for name in found[scene])))
    for axes, scene in zip(figure.subplots(1, len(scenes), squeeze=False)[0], scenes, strict=True):
        title, key, span = PANELS[scene]
        scales(axes)
        axes.set_title(title, color=INK, fontsize=10, loc="left")
        for name, one in found[scene].items():
            if not one["fault"] and one["whole"] and key in one:
                point(axes, one[span], (1e3 * one[key], 1e3 * one["most"]), {"label": name, **looks[name]})
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        handles |= {text: handle for handle, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=4, fontsize=8.5, labelcolor=INK)
    figure.savefig(path)


def looks_of(names: list[str]) -> dict[str, dict[str, Any]]:
    """A colour for each engine, and a mark for each of its settings."""
    from rattleback.recording.style import PALETTE

    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.split(",")[0], []).append(name)
    return {
        name: {"color": colour, "marker": mark}
        for family, colour in zip(families.values(), PALETTE, strict=False)
        for name, mark in zip(family, MARKS, strict=False)
    }


def scales(axes: Any) -> None:
    """Logarithmic axes with plain numbers."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    from rattleback.recording.style import label, tidy

    tidy(axes)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.margins(0.12, 0.05)
    label(axes, "CPU time of a step, median [ms]", f"overlap [mm]; what is below {LEAST:g} is at {LEAST:g}")


def point(axes: Any, time: float, overlaps: tuple[float, float], look: dict[str, Any]) -> None:
    """One engine: its overlap at rest, and a line up to the largest."""
    rest, most = (max(value, LEAST) for value in overlaps)
    axes.plot([time, time], [rest, most], color=look["color"], linewidth=1.2, alpha=0.5)
    axes.plot([time], [rest], linestyle="none", markersize=8.0, markeredgecolor="white", **look)
