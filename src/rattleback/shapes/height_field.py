"""Height field: ground given by its height above a grid, solid below.

    x = (i − (nx − 1)/2) dx      y = (j − (ny − 1)/2) dy      z = hᵢⱼ

hᵢⱼ heights, nx × ny of them, dx, dy their spacing. Each cell of the grid is two triangles that meet along the diagonal
from (i, j) to (i + 1, j + 1).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.shapes.shape import unit_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Surface = Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike]


@sealed
@dataclass(frozen=True, eq=False, repr=False)
class HeightField:
    """Ground over a rectangle centred on the origin; it has no mass, so it can only be static.

    Attributes:
        heights: Heights z [m], at least 2 along x and 2 along y, shape (nx, ny), read-only.
        spacing: Distance between neighbouring heights along x and along y [m]; one number stands for both.
    """

    heights: Any
    spacing: Any

    def __post_init__(self) -> None:
        """Check heights and spacing."""
        # Adding zero turns −0.0 into 0.0, so that equal fields have equal bytes.
        heights = checks.array(self.heights, (-1, -1), "The array of heights of HeightField") + 0.0
        if min(heights.shape) < 2:
            raise InputError(
                f"The array of heights of HeightField has shape {heights.shape}; it must be at least 2x2, one cell."
            )
        heights.setflags(write=False)
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "spacing", _pair(self.spacing, "The spacing of HeightField"))

    @staticmethod
    def from_function(surface: Surface, size: Any, cells: Any) -> HeightField:
        """The heights of a function z = f(x, y) on a regular grid.

        Args:
            surface: The function; it gets the coordinates of all points at once, two arrays of shape (nx, ny) [m], and
                returns their heights in an array of the same shape [m].
            size: Full extent along x and along y [m]; one number stands for both.
            cells: Number of cells along x and along y; one number stands for both.
        """
        extent = _pair(size, "The size of HeightField")
        along = cells if isinstance(cells, (tuple, list)) and len(cells) == 2 else (cells, cells)
        counts = [checks.count(entry, "The number of cells of HeightField") for entry in along]
        spacing = tuple(length / count for length, count in zip(extent, counts, strict=True))
        axes = [_centred(count + 1, step) for count, step in zip(counts, spacing, strict=True)]
        heights = surface(*np.meshgrid(*axes, indexing="ij"))
        shape = (counts[0] + 1, counts[1] + 1)
        return HeightField(checks.array(heights, shape, "What the function of HeightField returns"), spacing)

    @cached_property
    def vertices(self) -> NDArray[np.float64]:
        """The points of the surface [m], y running fastest, shape (nx ny, 3), read-only."""
        axes = [_centred(count, step) for count, step in zip(self.heights.shape, self.spacing, strict=True)]
        x, y = np.meshgrid(*axes, indexing="ij")
        points = np.stack([x, y, self.heights], axis=-1).reshape(-1, 3)
        points.setflags(write=False)
        return points

    @cached_property
    def triangles(self) -> NDArray[np.int32]:
        """Indices of the corners, anticlockwise seen from above, shape (2 (nx − 1) (ny − 1), 3), read-only.

        Cell by cell, y running fastest; of the two triangles of a cell, the one on the side of x comes first.
        """
        index = np.arange(self.heights.size, dtype=np.int32).reshape(self.heights.shape)
        a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
        triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
        triangles.setflags(write=False)
        return triangles

    def __repr__(self) -> str:
        """The number of heights and their spacing."""
        nx, ny = self.heights.shape
        return f"HeightField({nx}x{ny} heights, spacing={self.spacing})"

    def __eq__(self, other: object) -> bool:
        """Whether the other is a height field with the same heights and spacing."""
        if not isinstance(other, HeightField):
            return NotImplemented
        return self.spacing == other.spacing and np.array_equal(self.heights, other.heights)

    def __hash__(self) -> int:
        """A hash of the contents."""
        return self._hash

    def __reduce__(self) -> tuple[type[HeightField], tuple[NDArray[np.float64], tuple[float, float]]]:
        """Copies are made by the constructor, so that their arrays are read-only too."""
        return HeightField, (self.heights, self.spacing)

    def volume(self) -> float:
        """Infinity [m³]: the ground has no lower end."""
        return math.inf

    def mass_properties(self, density: float) -> NoReturn:
        """Refused: ground without a lower end has no finite mass."""
        raise InputError("HeightField has no lower end and no mass; add it with add_static, or use a closed Mesh.")

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the surface [m], each (3,)."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A point of the surface farthest along a direction [m], shape (3,)."""
        return self.vertices[np.argmax(self.vertices @ unit_direction(self, direction))].copy()

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the surface [m]."""
        return float(np.linalg.norm(self.vertices, axis=1).max())

    @cached_property
    def _hash(self) -> int:
        return hash((self.heights.shape, self.heights.tobytes(), self.spacing))


def _centred(count: int, step: float) -> NDArray[np.float64]:
    """Coordinates a step apart, centred on zero [m], shape (count,)."""
    return (np.arange(count, dtype=np.float64) - 0.5 * (count - 1)) * step


def _pair(value: Any, what: str) -> tuple[float, float]:
    """Two lengths above zero; one number stands for both."""
    both = (value, value) if isinstance(value, (numbers.Real, np.number)) else value
    lengths = checks.array(both, (2,), what).tolist()
    return checks.positive(lengths[0], what), checks.positive(lengths[1], what)
