"""The sampler: notes what is plotted in the simulation's own thread, between frames too, as often as that is cheap.

A frame comes thirty times a second, so that of a fast oscillation frames show a slow one that is not there. Bites of
steps are therefore cut, and after each piece the numbers are read: after every step where that costs little, and else
as often as a small part of the time pays for, at uneven distances, so that what is too fast becomes a scatter.

    purse ← purse + share · time of the steps + idle share · time left
    k-th sample where purse ≥ (1/2 + {k φ}) · cost of a sample,        φ golden ratio, {} fractional part
"""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.viewer.frame import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rattleback.core.report import Report
    from rattleback.model.measure import Energy
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.panels.curves import Curves

    Values = tuple[Sequence[float], ...]

# Parts that samples may take of the time of the steps and of what is left, and the most that is saved up for them [s].
SHARE, IDLE_SHARE, MOST_SAVED = 0.01, 0.2, 0.01
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
# Samples that wait to be plotted; the page takes them several times a second.
MOST = 20_000


@dataclass(frozen=True)
class Look:
    """What curves read of a simulation between frames."""

    label: str
    energy: Energy | None
    report: Report | None
    contacts: Any
    probes: Mapping[str, Any]


@dataclass(frozen=True)
class Moment:
    """What curves read between frames."""

    pictures: tuple[Look, ...]
    step_seconds: float

    @property
    def picture(self) -> Look:
        """The first simulation."""
        return self.pictures[0]


class Sampler:
    """Notes the values of some curves.

    Attributes:
        curves: What is noted.
        gap: Most steps between two of the last samples.

    Args:
        curves: What is noted.
        probes: Names of the probes they read.
    """

    def __init__(self, curves: Sequence[Curves], probes: Sequence[str]) -> None:
        self.curves, self.gap = tuple(curves), 1
        self._wants = {name for curve in curves for name in curve.wants}
        self._probes = tuple(probes)
        self._found: deque[tuple[float, Values]] = deque(maxlen=MOST)
        self._purse, self._cost, self._phase, self._steps = 0.0, 1e-4, 0.0, 0

    def pieces(self, steps: int, busy: float, idle: float) -> Iterator[tuple[int, bool]]:
        """Steps that are taken at once, and whether there is a sample after them.

        Args:
            steps: How many are to be taken.
            busy: Time they take [s].
            idle: Time that is left until the next are due [s].
        """
        self._purse = min(self._purse + SHARE * busy + IDLE_SHARE * idle, max(MOST_SAVED, 2.0 * self._cost))
        samples, done, left = 0, 0, self._purse
        while self.curves and samples < steps and left >= (least := self._cost * (0.5 + self._phase)):
            samples, left, self._phase = samples + 1, left - least, (self._phase + GOLDEN) % 1.0
        for number in range(samples):
            end = number + 1 if samples == steps else 1 + int(steps * (number + self._phase) / samples)
            if end > done:
                yield end - done, True
                done = end
        if done < steps:
            yield steps - done, False

    def read(self, sims: Sequence[Simulation], labels: Sequence[str], probes: Mapping[str, Callable[..., Any]]) -> None:
        """Note the values now."""
        begun = time.thread_time()
        looks = tuple(
            Look(
                label,
                sim.energy() if "energy" in self._wants else None,
                sim.report if "report" in self._wants else None,
                sim.contacts if "contacts" in self._wants and sim.methods.finds else None,
                answers(sim, {name: probes[name] for name in self._probes if name in probes}),
            )
            for sim, label in zip(sims, labels, strict=True)
        )
        self._note(sims[0].time, Moment(looks, math.nan))
        spent = time.thread_time() - begun
        self._cost = 0.8 * self._cost + 0.2 * spent
        self._purse -= spent

    def note(self, frame: Frame) -> None:
        """Note what a frame holds."""
        self._note(frame.time, frame)

    def taken(self, steps: int, sampled: bool) -> None:
        """Steps were taken, and a sample after them or not."""
        self._steps += steps
        if sampled:
            self.gap, self._steps = max(self._steps, self.gap * 9 // 10), 0

    def found(self) -> Iterator[tuple[float, Values]]:
        """Times and values since this was asked last."""
        while self._found:
            yield self._found.popleft()

    def _note(self, now: float, moment: Any) -> None:
        self._found.append((now, tuple(curve.read(moment) for curve in self.curves)))
