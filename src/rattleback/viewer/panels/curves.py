"""What the page can plot: energy, error against tolerance, corrections, contacts, and any quantity by name.

    excess = max over what a report holds of (error reached / tolerance)

An excess of one or less keeps every tolerance; it is the certificate of a step as one number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.comparison import error_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rattleback.core.report import Report
    from rattleback.viewer.frame import Frame, Picture

# Errors of a report beside the tolerances they are measured against.
MEASURED = {
    "position_error": "position_tolerance",
    "orientation_error": "orientation_tolerance",
    "velocity_error": "velocity_tolerance",
    "penetration": "penetration_tolerance",
    "normal_velocity_error": "contact_velocity_tolerance",
    "tangential_velocity_error": "contact_velocity_tolerance",
    "integration_error": "integration_tolerance",
}


# Less is drawn so: the page writes smaller numbers at an axis as 0.
LEAST = 1e-3


@dataclass(frozen=True)
class Curves:
    """Curves of one plot.

    Attributes:
        title: What it is called, with its unit.
        hint: What it shows.
        wants: Names of ``frame.WANTS`` it needs.
        names: Names of the curves of a frame.
        read: Their values now; no number where there is none.
        logarithmic: Whether its axis is.
    """

    title: str
    hint: str
    wants: tuple[str, ...]
    names: Callable[[Frame], Sequence[str]]
    read: Callable[[Frame], Sequence[float]]
    logarithmic: bool = False


def excess(report: Report | None) -> float:
    """Largest error of a report as a multiple of its tolerance; no number without a report."""
    if report is None:
        return math.nan
    ratios = (
        getattr(report, error) / getattr(report, tolerance)
        for error, tolerance in MEASURED.items()
        if getattr(report, tolerance) > 0.0
    )
    return max(ratios, default=0.0)


def _called(alone: str) -> Callable[[Frame], list[str]]:
    """Names of one curve for every simulation: their labels, or, where there is but one, what the curve shows."""
    return lambda frame: [picture.label for picture in frame.pictures] if len(frame.pictures) > 1 else [alone]


def _each(read: Callable[[Picture], float]) -> Callable[[Frame], list[float]]:
    """Reads one number of every simulation."""
    return lambda frame: [read(picture) for picture in frame.pictures]


def _energy_names(frame: Frame) -> list[str]:
    return ["kinetic", "potential", "total"] if len(frame.pictures) == 1 else _called("total")(frame)


def _energies(frame: Frame) -> list[float]:
    """Kinetic, potential and total energy; of several simulations, their total energies."""
    if len(frame.pictures) > 1:
        return [math.nan if p.energy is None else _first(p.energy.total) for p in frame.pictures]
    energy = frame.picture.energy
    if energy is None:
        return [math.nan] * 3
    return [_first(part) for part in (energy.kinetic, energy.potential, energy.total)]


def _first(value: Any) -> float:
    """A number, or that of the first of several worlds."""
    return float(np.atleast_1d(value)[0])


def _visible(value: float) -> float:
    """A value for an axis that has no zero, and whose numbers have three digits after the point at most."""
    return max(value, LEAST)


PLOTS = (
    Curves(
        "Energy [J]",
        "Kinetic, potential and total energy; of several simulations, the total of each.",
        ("energy",),
        _energy_names,
        _energies,
    ),
    Curves(
        "Error / tolerance",
        "The largest error of a step as a multiple of what you allowed: below 1, every tolerance is met.",
        ("report",),
        lambda frame: [*_called("error")(frame), "tolerance"],
        lambda frame: [*(_visible(excess(picture.report)) for picture in frame.pictures), 1.0],
        logarithmic=True,
    ),
    Curves(
        "Error [µm]",
        "Largest distance of a joint's halves, or depth of an overlap; what is less than a nanometre is drawn as one.",
        ("report",),
        _called("error"),
        _each(lambda picture: math.nan if picture.report is None else _visible(1e6 * error_of(picture.report))),
        logarithmic=True,
    ),
    Curves(
        "Corrections",
        "Most corrections of the joints, or sweeps over the contacts, that a step needed.",
        ("report",),
        _called("corrections"),
        _each(
            lambda picture: (
                math.nan if picture.report is None else max(picture.report.iterations, picture.report.contact_sweeps)
            )
        ),
    ),
    Curves(
        "Contacts",
        "How many points touch.",
        ("contacts",),
        _called("contacts"),
        _each(lambda picture: math.nan if picture.contacts is None else len(picture.contacts)),
    ),
    Curves(
        "Step [ms]",
        "Time a step takes, all simulations together.",
        (),
        lambda frame: ["step"],
        lambda frame: [1e3 * frame.step_seconds],
    ),
)
