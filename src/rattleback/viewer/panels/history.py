"""Histories: the samples of some numbers over time, few enough to be drawn many times a second, as an envelope.

Samples are gathered in spans of time. A span is drawn as two points, at its ends: the least and the largest value that
each number had, in the order in which they came. So what swings faster than spans are long is a band as wide as its
swing, never a slower wave that was not there; what changes slowly is a line. When there are many spans, each two are
merged: the whole run stays in the picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

# When there are twice as many spans, they become half as many.
FEWEST = 150


class Span(NamedTuple):
    """The samples of some time.

    Attributes:
        begun: Time of the first [s].
        ended: Time of the last [s].
        low: Least values (columns,); no number where there was none.
        high: Largest values (columns,).
        falls: Where the largest came before the least (columns,).
        samples: How many there are.
    """

    begun: float
    ended: float
    low: Floats
    high: Floats
    falls: Flags
    samples: int

    def with_next(self, other: Span) -> Span:
        """This span and the one after it."""
        low, high = np.fmin(self.low, other.low), np.fmax(self.high, other.high)
        low_here, high_here = self.low <= low, self.high >= high
        falls = np.where(low_here & high_here, self.falls, np.where(low_here == high_here, other.falls, high_here))
        return Span(self.begun, other.ended, low, high, falls, self.samples + other.samples)

    def points(self) -> list[tuple[float, ...]]:
        """What is drawn: one row where there is one sample, and else two, each a time and values."""
        first, last = np.where(self.falls, self.high, self.low), np.where(self.falls, self.low, self.high)
        rows: list[tuple[float, ...]] = [(self.begun, *first)]
        return rows if self.samples == 1 else [*rows, (self.ended, *last)]


class History:
    """Numbers over time, from the start of the run or the last jump back.

    Args:
        columns: How many numbers a sample has.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.clear()

    def __len__(self) -> int:
        return len(self._spans)

    def clear(self) -> None:
        """Forget all samples."""
        self._spans: list[Span] = []
        self._most = 1

    def add(self, time: float, values: Sequence[float]) -> None:
        """Add a sample; spans that reach to later times are forgotten, since the run has gone back."""
        while self._spans and self._spans[-1].ended >= time:
            self._spans.pop()
        now = np.array(values, dtype=np.float64)
        span = Span(time, time, now, now, np.zeros(self.columns, dtype=np.bool_), 1)
        if self._spans and self._spans[-1].samples < self._most:
            self._spans[-1] = self._spans[-1].with_next(span)
        else:
            self._spans.append(span)
        if len(self._spans) >= 2 * FEWEST:
            self._spans = [a.with_next(b) for a, b in zip(self._spans[::2], self._spans[1::2], strict=True)]
            self._most *= 2

    @property
    def data(self) -> tuple[Floats, ...]:
        """Times and columns, each (points,); one point at least, which is no number where there is none."""
        if not self._spans:
            return tuple(np.full(1, np.nan) if column else np.zeros(1) for column in range(1 + self.columns))
        return tuple(np.array([row for span in self._spans for row in span.points()]).T.copy())
