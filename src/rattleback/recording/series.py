"""A growing array: samples are appended one by one, the room for them doubles when it is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

ROOM_AT_FIRST = 16


class Series:
    """Samples of one shape in the order they came.

    Args:
        shape: Shape of one sample.
        dtype: Kind of its numbers.
    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike) -> None:
        self._room = np.empty((ROOM_AT_FIRST, *shape), dtype)
        self._count = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one sample."""
        return self._room.shape[1:]

    @property
    def values(self) -> NDArray[np.generic]:
        """All samples, shape (samples, ...), read-only; later samples do not change it."""
        view = self._room[: self._count]
        view.flags.writeable = False
        return view

    def append(self, sample: NDArray[np.generic]) -> None:
        """Add a sample of the right shape."""
        if self._count == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._count] = sample
        self._count += 1

    def clear(self) -> None:
        """Forget all samples; arrays handed out before keep theirs."""
        self._room, self._count = np.empty((ROOM_AT_FIRST, *self.shape), self._room.dtype), 0
