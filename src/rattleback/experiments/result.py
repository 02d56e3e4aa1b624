"""What an experiment is and what it hands back: rows of numbers with a verdict each, and curves for a figure.

A row holds a measured number beside the published one. It is judged where something is demanded of it, and shown for
comparison only where nothing is; times are never judged by themselves, since they belong to a machine. A number that is
not finite meets no demand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rattleback.recording.stage import Stage


def in_silence(sentence: str) -> None:
    """Tell nothing."""


@dataclass(frozen=True)
class Options:
    """How to run an experiment.

    Attributes:
        quick: Whether to run a short version: smaller scenes, fewer steps.
        data: Folder with reference files; None to ask the environment variable ``RATTLEBACK_DATA``.
        tell: Called with what is under way, for a line of progress.
    """

    quick: bool = False
    data: Path | None = None
    tell: Callable[[str], None] = in_silence


@dataclass(frozen=True)
class Finding:
    """One number of an experiment.

    Attributes:
        quantity: What was measured.
        measured: What came out; None where it could not be measured.
        published: What the source says; None where it says nothing.
        unit: Unit of both.
        demand: What is demanded of the measured number, in words; empty where it is shown for comparison only.
        tolerance: Distance from the published number, or bound, that decides.
        passed: Whether the demand is met; None where there is none.
    """

    quantity: str
    measured: float | None
    published: float | None = None
    unit: str = ""
    demand: str = ""
    tolerance: float | None = None
    passed: bool | None = None


def near(quantity: str, measured: float, published: float, tolerance: float, unit: str = "") -> Finding:
    """A row that passes where the measured number is as near to the published one as the tolerance says."""
    passed = abs(measured - published) <= tolerance
    return Finding(quantity, measured, published, unit, f"± {tolerance:.3g}", tolerance, bool(passed))


def at_most(quantity: str, measured: float, bound: float, unit: str = "", published: float | None = None) -> Finding:
    """A row that passes where the measured number is finite and not above the bound."""
    passed = math.isfinite(measured) and measured <= bound
    return Finding(quantity, measured, published, unit, f"≤ {bound:.3g}", bound, bool(passed))


def at_least(quantity: str, measured: float, bound: float, unit: str = "", published: float | None = None) -> Finding:
    """A row that passes where the measured number is finite and not below the bound."""
    passed = math.isfinite(measured) and measured >= bound
    return Finding(quantity, measured, published, unit, f"≥ {bound:.3g}", bound, bool(passed))


@dataclass(frozen=True)
class Curve:
    """One line of a figure.

    Attributes:
        name: Its name in the legend.
        x: Where it is known.
        y: What it is there.
        look: ``"measured"`` for a line with dots, ``"published"`` for hollow dots, ``"line"`` for a thin line,
            ``"dots"`` for dots alone, ``"bound"`` for a dashed line.
        colour: Number of its colour; curves of the same method share one.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    look: str = "measured"
    colour: int = 0


@dataclass(frozen=True)
class Panel:
    """One diagram of a figure.

    Attributes:
        title: What it shows.
        across: Label of the horizontal axis.
        up: Label of the vertical axis.
        curves: What is drawn.
        scales: Scales of the two axes, ``"linear"`` or ``"log"``.
    """

    title: str
    across: str
    up: str
    curves: tuple[Curve, ...]
    scales: tuple[str, str] = ("linear", "linear")


@dataclass(frozen=True)
class Picture:
    """What a scene looks like at one moment.

    Attributes:
        title: Which moment.
        stage: What is to be painted.
    """

    title: str
    stage: Stage


@dataclass(frozen=True)
class Result:
    """What came out of an experiment.

    Attributes:
        rows: The numbers.
        panels: What to draw; may be empty.
        notes: Sentences that belong to the numbers: what failed and why, what is left out.
        skipped: Why the experiment was not done; empty when it was.
        pictures: What to show in a strip above the panels; may be empty.
    """

    rows: tuple[Finding, ...] = ()
    panels: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: str = ""
    pictures: tuple[Picture, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no row failed."""
        return all(row.passed is not False for row in self.rows)


@dataclass(frozen=True)
class Experiment:
    """One table or figure, done again.

    Attributes:
        name: Its name on the menu.
        question: What it asks, as a sentence.
        source: Where the published numbers stand.
        run: Does it.
    """

    name: str
    question: str
    source: str
    run: Callable[[Options], Result]


@dataclass
class Findings:
    """What an experiment gathers while it runs.

    Attributes:
        rows: The numbers so far.
        notes: The sentences so far.
    """

    rows: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, sentence: str) -> None:
        """Keep a sentence, unless it is empty or already there."""
        if sentence and sentence not in self.notes:
            self.notes.append(sentence)

    def result(self, *panels: Panel, pictures: Sequence[Picture] = ()) -> Result:
        """What was gathered, with the panels of its figure and the pictures above them."""
        return Result(tuple(self.rows), panels, tuple(self.notes), pictures=tuple(pictures))


def as_dict(experiment: Experiment, result: Result) -> dict[str, Any]:
    """An experiment and its result as plain data, without pictures."""
    from dataclasses import asdict, replace

    plain = asdict(replace(result, pictures=()))
    del plain["pictures"]
    said = {"name": experiment.name, "question": experiment.question, "source": experiment.source}
    return {**said, "passed": result.passed, **plain}
