"""Regions of space as cells of a grid: what a machine can reach, its volume, its sections and its points.

    V ≈ N h³,   N cells whose middle is inside,   error O(h) · surface in the worst case, about O(h^1.5) in general

h side of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

# Points tested at once, which bounds the memory.
AT_ONCE = 200_000


@sealed
@dataclass(frozen=True, eq=False)
class Region:
    """Cells of a grid that belong to a region of space.

    Attributes:
        low: Lower corner of the first cell (3,) [m].
        spacing: Side of a cell [m].
        inside: Which cells belong to it (nx, ny, nz).
    """

    low: Floats
    spacing: float
    inside: Flags

    @property
    def volume(self) -> float:
        """Volume of its cells [m³]."""
        return float(self.inside.sum()) * self.spacing**3

    @property
    def points(self) -> Floats:
        """Middles of its cells (n, 3) [m], a cloud of points to look at."""
        return self.low + (np.argwhere(self.inside) + 0.5) * self.spacing

    def section(self, axis: int, at: float) -> tuple[Flags, Floats]:
        """The layer of cells at a place along an axis.

        Args:
            axis: 0, 1 or 2 for x, y or z.
            at: The place [m].

        Returns:
            Which cells belong to it (n, m), in the order of the other two axes, and the ranges of those (2, 2) [m].
        """
        axis = checks.count(axis, "The axis of a section", least=0, most=2)
        layer = int(np.floor((checks.number(at, "The place of a section") - self.low[axis]) / self.spacing))
        if not 0 <= layer < self.inside.shape[axis]:
            high = self.low[axis] + self.spacing * self.inside.shape[axis]
            raise InputError(f"The section at {at:g} m is outside the region, from {self.low[axis]:g} to {high:g} m.")
        others = [k for k in range(3) if k != axis]
        low, count = self.low[others], np.array(self.inside.shape)[others]
        return np.take(self.inside, layer, axis=axis), np.stack([low, low + self.spacing * count], axis=1)

    def contains(self, points: ArrayLike) -> Flags:
        """Whether points (..., 3) [m] lie in its cells (...)."""
        cell = np.floor((checks.finite(points, "A point") - self.low) / self.spacing).astype(np.int64)
        within = np.asarray(((cell >= 0) & (cell < self.inside.shape)).all(axis=-1))
        x, y, z = np.moveaxis(np.where(within[..., None], cell, 0), -1, 0)
        return within & self.inside[x, y, z]


def region(inside: Callable[[Floats], Flags], low: ArrayLike, high: ArrayLike, cells: int) -> Region:
    """The cells of a box whose middles are inside.

    Args:
        inside: Whether points (n, 3) belong to the region (n,).
        low: Lower corner of the box (3,) [m].
        high: Upper corner of the box (3,) [m].
        cells: Number of cells along its longest side.
    """
    first, last = checks.vector(low, "The low corner of a region"), checks.vector(high, "The high corner of a region")
    if (last <= first).any():
        return Region(first, 1.0, np.zeros((0, 0, 0), dtype=np.bool_))
    spacing = float((last - first).max()) / checks.count(cells, "The number of cells")
    shape = np.maximum(np.ceil((last - first) / spacing - 1e-9).astype(int), 1)
    index = np.indices(shape).reshape(3, -1).T
    found = np.zeros(len(index), dtype=np.bool_)
    for start in range(0, len(index), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        found[part] = inside(first + (index[part] + 0.5) * spacing)
    return Region(first, spacing, found.reshape(shape))
