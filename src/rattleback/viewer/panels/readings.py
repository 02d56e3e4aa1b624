"""Readings: what a running simulation says about itself, as a small table on the page."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from rattleback.viewer.panels.verdict import BAD, GOOD, QUIET, left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.core.report import Report
    from rattleback.viewer.frame import Frame, Picture

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
    return f"{within}, but {without}" if (without := left_out(picture)) else within


def _coloured(text: str, colour: str) -> str:
    return f'<span style="color:{colour}">{text}</span>'
