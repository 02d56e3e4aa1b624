"""The verdict at a glance: a chip with a colour and a number, and behind it every error beside its tolerance."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from rattleback.viewer.panels.curves import MEASURED, excess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.core.report import Report
    from rattleback.viewer.frame import Frame, Picture

GOOD, AMBER, BAD, QUIET = "#2b8a3e", "#b35c00", "#c92a2a", "#868e96"
CHIP = (
    "display:inline-block;padding:0 0.8em;border-radius:1em;color:#fff;white-space:nowrap;cursor:pointer;"
    "font-size:0.8em;line-height:2.1;font-variant-numeric:tabular-nums"
)
# So many times its tolerance an error is far outside.
FAR_OUTSIDE = 10.0
# Ratios below this are not worth a number.
SMALL = 0.1
UNITS = {"position": "m", "orientation": "rad", "penetration": "m"}
SPEED = "m/s"
# Contacts that are found, and that nothing is done about.
UNRESOLVED = "contacts are found, but nothing is done about them"
UNFOUND = "contacts are not looked for"


def chip(frame: Frame, reports: Sequence[Report | None]) -> str:
    """The verdict as HTML: green, amber or red, and the largest error as a multiple of its tolerance.

    Args:
        frame: What is shown.
        reports: What each simulation says of its accuracy.
    """
    there = [number for number, report in enumerate(reports) if report is not None and report.step > 0]
    state = "playing" if frame.playing else "paused"
    if not there:
        return _pill(state, QUIET, "no step yet", "No step has been taken yet.")
    worst = max(there, key=lambda number: _rank(reports[number]))
    ratio, met = excess(reports[worst]), _rank(reports[worst])[0] == 0
    without = next((said for k in there if (said := left_out(frame.pictures[k]))), "")
    colour = BAD if not met and ratio > FAR_OUTSIDE else GOOD if met and not without else AMBER
    whose = f"{frame.pictures[worst].label}: " if len(frame.pictures) > 1 else ""
    words = f"{whose}{times(ratio)} tolerance" if met or ratio > 1.0 else f"{whose}outside tolerance"
    return _pill(state, colour, words + (", contacts off" if without else ""), "Click: every error and its tolerance.")


def left_out(picture: Picture) -> str:
    """What a verdict on a simulation says nothing about; empty where it says all, or where nothing can touch."""
    shaped = [body for body in picture.scene.bodies if body.shape is not None or body.colliders]
    if picture.methods.resolves and picture.methods.finds:
        return ""
    if len(shaped) < 2 or all(body.static for body in shaped):
        return ""
    return UNRESOLVED if picture.methods.finds else UNFOUND


def details(frame: Frame, reports: Sequence[Report | None]) -> str:
    """Every error of the last step beside its tolerance, as HTML; names from scenes are escaped."""
    found = []
    for picture, report in zip(frame.pictures, reports, strict=True):
        if len(frame.pictures) > 1:
            found.append(f"<h2>{escape(picture.label)}</h2>")
        if report is None or report.step == 0:
            found.append("<p>No step has been taken yet.</p>")
            continue
        met = "Every tolerance was met." if report.converged else report.reason
        without = f" But {said}." if (said := left_out(picture)) else ""
        rows = "".join(_row(report, error, tolerance) for error, tolerance in MEASURED.items())
        head = "<tr><td></td><td>error</td><td>tolerance</td><td></td></tr>"
        found.append(f"<p>{escape(met + without)}</p><table>{head}{rows}</table>")
    return "".join(found)


def times(ratio: float) -> str:
    """A ratio in two digits, as in 2.4 ×."""
    if ratio < SMALL:
        return f"< {SMALL} ×"
    return f"{ratio:.1f} ×" if ratio < 9.95 else f"{ratio:.0f} ×" if ratio < 9999.5 else f"{ratio:.0e} ×"


def _rank(report: Report | None) -> tuple[int, float]:
    """By what the worst of several reports is found: those that missed something, then by how much."""
    ratio = excess(report)
    return int(report is not None and not report.converged), 0.0 if math.isnan(ratio) else ratio


def _row(report: Report, error: str, tolerance: str) -> str:
    reached, allowed = getattr(report, error), getattr(report, tolerance)
    if allowed <= 0.0:
        return ""
    name = error.removesuffix("_error").replace("_", " ")
    unit = UNITS.get(name, SPEED)
    ratio = reached / allowed
    colour = GOOD if ratio <= 1.0 else AMBER if ratio <= FAR_OUTSIDE else BAD
    cells = (name, f"{reached:.2g} {unit}", f"{allowed:.2g} {unit}")
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}<td style='color:{colour}'>{times(ratio)}</td></tr>"


def _pill(state: str, colour: str, words: str, hint: str) -> str:
    """The chip; a script of the page looks for what it is called."""
    chip = f'<span data-rattleback="verdict" title="{hint}" style="{CHIP};background:{colour}">{escape(words)}</span>'
    return f'<div class="rattleback-chip" data-rattleback-chip="{state}">{chip}</div>'
