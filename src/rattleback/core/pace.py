"""How often a simulation warns: at once of a new kind, then ever more seldom while it continues, with the count.

A loop of single steps in which bodies lie a little too deep would else give a warning in every step, and what matters
would be lost among them. Warnings are of one kind where their sentences differ in names and numbers only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rattleback.core.report import Report

# In which step from the first warning of a kind on the next one is due, and how many times later each one after it is.
FEW, MORE = 10, 10
NAMES_AND_NUMBERS = re.compile(r"'[^']*'|[-+]?\d[\d.]*(e[-+]?\d+)?")


@dataclass
class Kind:
    """What has been seen of warnings of one kind.

    Attributes:
        first: Number of the step of the first one.
        wait: In which step from there on the next one is due.
        calls: Calls that ended so since the last one.
        worst: How many times its tolerance the worst of these was.
        reason: What the report said of it.
    """

    first: int
    wait: int = FEW
    calls: int = 0
    worst: float = 0.0
    reason: str = ""


class Pace:
    """What has been warned of so far."""

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}

    def warning(self, report: Report) -> str:
        """What to warn of after a call that did not meet its tolerances; empty where that can wait."""
        key = NAMES_AND_NUMBERS.sub("", report.reason)
        kind = self._kinds.get(key)
        if kind is None or report.step <= kind.first:
            self._kinds[key] = Kind(report.step)
            return report.reason
        kind.calls += 1
        if excess(report) >= kind.worst:
            kind.worst, kind.reason = excess(report), report.reason
        past = report.step - kind.first
        if past + 1 < kind.wait:
            return ""
        while kind.wait <= past + 1:
            kind.wait *= MORE
        calls, kind.calls, kind.worst = kind.calls, 0, 0.0
        if calls == 1:
            return kind.reason
        return f"{kind.reason} That is the worst of {calls} such calls in the {past} steps since step {kind.first}."


def excess(report: Report) -> float:
    """How many times its tolerance the worst error of a report is."""
    pairs = [
        (report.penetration, report.penetration_tolerance),
        (max(report.normal_velocity_error, report.tangential_velocity_error), report.contact_velocity_tolerance),
        (report.position_error, report.position_tolerance),
        (report.orientation_error, report.orientation_tolerance),
        (report.velocity_error, report.velocity_tolerance),
        (report.integration_error, report.integration_tolerance),
    ]
    return max(error / tolerance for error, tolerance in pairs if tolerance > 0.0)
