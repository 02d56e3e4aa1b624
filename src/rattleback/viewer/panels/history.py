"""Histories: the last samples of some numbers over time, few enough to be drawn many times a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# When there are twice as many samples, every other one is dropped: the whole run stays in the picture.
FEWEST = 300


class History:
    """Numbers over time, from the start of the run or the last jump back.

    Args:
        columns: How many numbers a sample has.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.clear()

    def __len__(self) -> int:
        return len(self._rows)

    def clear(self) -> None:
        """Forget all samples."""
        self._rows: list[tuple[float, ...]] = []
        self._stride, self._skipped = 1, 0

    def add(self, time: float, values: Sequence[float]) -> None:
        """Add a sample; those from later times are forgotten, since the run has gone back."""
        while self._rows and self._rows[-1][0] >= time:
            self._rows.pop()
        self._skipped += 1
        if self._rows and self._skipped < self._stride:
            return
        self._skipped = 0
        self._rows.append((time, *map(float, values)))
        if len(self._rows) >= 2 * FEWEST:
            self._rows, self._stride = self._rows[::2], 2 * self._stride

    @property
    def data(self) -> tuple[NDArray[np.float64], ...]:
        """Times and columns, each (samples,); one sample at least, which is no number where there is none."""
        if not self._rows:
            return tuple(np.full(1, np.nan) if column else np.zeros(1) for column in range(1 + self.columns))
        return tuple(np.array(self._rows).T.copy())
