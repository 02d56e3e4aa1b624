"""Ranges: what the numbers of an array may be, said where the array is declared and checked where one is taken over.

    broken: wp.int32 = field("1", "1 where it is broken", within=FLAG)
    body_a: wp.int32 = field("1", "row of body A", within=row_of("bodies"))

Every number is finite, whatever else is said of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

# How far a vector of length one may be off it, by rounding and by what users may write.
SLACK = 1e-5


@dataclass(frozen=True)
class Range:
    """What numbers may be: all of these hold.

    Attributes:
        least: The least one.
        most: The largest one.
        above: All are larger than this.
        rows: They count rows: all are less than the rows along this axis; empty for no such bound.
        more: By so many less or more than that.
        length: Whether the lengths of vectors are meant, of which these may be as given.
        or_zero: Whether zero is one of them in any case.
    """

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    rows: str = ""
    more: int = 0
    length: bool = False
    or_zero: bool = False

    def first_violated(self, values: NDArray[Any], sizes: Mapping[str, int]) -> int | None:
        """The first row of an array with a number out of range, or with such a vector; None where there is none.

        Args:
            values: The array, one number or vector a row.
            sizes: Rows along every axis.
        """
        if not values.size:
            return None
        with np.errstate(over="ignore"):
            one = np.sqrt((values.astype(np.float64) ** 2).sum(axis=-1)) if self.length else values
        least, most = one.min(), one.max()
        if least >= self.least and least > self.above and most <= self._most(sizes):
            return None
        bad = (one < self.least) | (one > self._most(sizes)) | (one <= self.above)
        return first_row(bad & (one != 0) if self.or_zero else bad)

    def told(self, sizes: Mapping[str, int]) -> str:
        """The range as the end of a sentence."""
        if self.length:
            return f"of length 1{' or zero' if self.or_zero else ''}"
        most = self._most(sizes)
        if math.isfinite(self.above):
            return f"greater than {_short(self.above)}"
        if not math.isfinite(most):
            return f"{_short(self.least)} or more"
        return f"from {_short(self.least)} to {_short(most)}" if most >= self.least else "left out"

    def _most(self, sizes: Mapping[str, int]) -> float:
        return min(self.most, sizes[self.rows] - 1 + self.more) if self.rows else self.most


def first_row(bad: NDArray[np.bool_]) -> int | None:
    """The first row in which something is true; None where nothing is."""
    return int(np.argwhere(bad)[0, 0]) if bad.any() else None


def _short(number: float) -> str:
    return f"{int(number)}" if number == int(number) else f"{number:g}"


def between(least: float, most: float) -> Range:
    """Numbers from one to another, both included."""
    return Range(least, most)


def row_of(axis: str, least: int = 0, more: int = 0) -> Range:
    """Indices of rows along an axis."""
    return Range(least, rows=axis, more=more)


FLAG = between(0, 1)
NOT_NEGATIVE = Range(0.0)
POSITIVE = Range(above=0.0)
UNIT = Range(1.0 - SLACK, 1.0 + SLACK, length=True)
UNIT_OR_ZERO = Range(1.0 - SLACK, 1.0 + SLACK, length=True, or_zero=True)
