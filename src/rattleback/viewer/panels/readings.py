"""Readings: what a running simulation says about itself, as a small table on the page."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from rattleback.viewer.panels.curves import excess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.core.report import Report
    from rattleback.viewer.frame import Frame, Picture

GOOD, AMBER, BAD, QUIET = "#2b8a3e", "#b35c00", "#c92a2a", "#868e96"
CHIP = (
    "display:inline-block;margin:0.1em 0.75em 0.7em;padding:0 0.7em;border-radius:1em;color:#fff;"
    "font-size:0.8em;line-height:1.7;font-variant-numeric:tabular-nums"
)
# So many times its tolerance an error is far outside.
FAR_OUTSIDE = 10.0
TABLE = "width:100%;border-collapse:collapse;font-size:0.85em;line-height:1.6;font-variant-numeric:tabular-nums"
NAME = "opacity:0.6;white-space:nowrap;vertical-align:top;padding-right:0.8em;width:6.2em"


def readings(frame: Frame, reports: Sequence[Report | None]) -> str:
    """The table as HTML; names from scenes are escaped.

    Args:
        frame: What is shown.
        reports: What each simulation says of its accuracy.
    """
    verdicts = map(_verdict, frame.pictures, reports)
    several = len(frame.pictures) > 1
    named = (
        f"{escape(p.label)}: {text}" if several else text for p, text in zip(frame.pictures, verdicts, strict=True)
    )
    rows = [
        ("Time", f"{frame.time:.3f} s"),
        ("Steps", f"{frame.steps:,}".replace(",", "\u202f")),
        ("Real time", _rate(frame)),
        ("A step takes", duration(frame.step_seconds)),
        ("Accuracy", "<br>".join(named)),
    ]
    cells = "".join(f'<tr><td style="{NAME}">{name}</td><td>{text}</td></tr>' for name, text in rows)
    return f'<div style="padding:0 0.75em 0.6em"><table style="{TABLE}">{cells}</table></div>'


def chip(reports: Sequence[Report | None]) -> str:
    """The verdict at a glance as HTML: green, amber or red, and the largest error as a multiple of its tolerance.

    Args:
        reports: What each simulation says of its accuracy.
    """
    there = [report for report in reports if report is not None and report.step > 0]
    if not there:
        return f'<div style="{CHIP};background:{QUIET}">no step yet</div>'
    worst = max(map(excess, there))
    met = all(report.converged for report in there)
    colour = GOOD if met else AMBER if worst <= FAR_OUTSIDE else BAD
    words = "within tolerance" if met else f"{times(worst)} tolerance" if worst > 1.0 else "outside tolerance"
    return f'<div style="{CHIP};background:{colour}">{words}</div>'


def times(ratio: float) -> str:
    """A ratio in two digits, as in 2.4 ×."""
    return f"{ratio:.1f} ×" if ratio < 9.95 else f"{ratio:.0f} ×" if ratio < 9999.5 else f"{ratio:.0e} ×"


def duration(seconds: float) -> str:
    """A duration in a unit that suits it; a dash for none."""
    if seconds <= 0.0:
        return "–"
    unit, scale = next((pair for pair in (("s", 1.0), ("ms", 1e-3)) if seconds >= 0.9995 * pair[1]), ("µs", 1e-6))
    return f"{seconds / scale:#.3g}".rstrip(".") + f" {unit}"


def _rate(frame: Frame) -> str:
    """How fast simulated time passes, and whether that is as fast as it should."""
    if not frame.playing:
        return _coloured("paused", QUIET)
    if frame.real_time <= 0.0:
        return "–"
    rate = f"{frame.real_time:.2f} ×" if frame.real_time >= 0.1 else f"{frame.real_time:.2g} ×"
    behind = math.isfinite(frame.speed) and frame.real_time < 0.9 * frame.speed
    return f"{rate} {_coloured('slower than asked for', BAD)}" if behind else rate


def _verdict(picture: Picture, report: Report | None) -> str:
    if report is None or report.step == 0:
        return "–"
    if not report.converged:
        return f"{_coloured('outside tolerance', BAD)}<br>{escape(report.reason)}"
    within = _coloured("within tolerance", GOOD)
    return within if picture.methods.finds else f"{within}, but contacts are not looked for"


def _coloured(text: str, colour: str) -> str:
    return f'<span style="color:{colour}">{text}</span>'
