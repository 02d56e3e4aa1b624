"""Plane: the half-space below a flat boundary, for static surroundings.

    { p : n · p ≤ d }

n unit normal, pointing out of the solid, d offset of the boundary along n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@sealed
@dataclass(frozen=True)
class Plane:
    """Everything on the inner side of a plane; it has no mass, so it can only be static.

    Attributes:
        normal: Direction out of the solid, scaled to length one.
        offset: Distance of the boundary from the origin along the normal [m].
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Check normal and offset, and scale the normal to length one."""
        normal = checks.direction(self.normal, "The normal of Plane")
        object.__setattr__(self, "normal", tuple(normal.tolist()))
        object.__setattr__(self, "offset", checks.number(self.offset, "The offset of Plane"))

    def volume(self) -> float:
        """Infinity [m³]."""
        return math.inf

    def mass_properties(self, density: float) -> NoReturn:
        """Refused: a half-space has no finite mass."""
        raise InputError("Plane fills half of space and has no mass; add it with add_static, or use a Box.")

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """An infinite box [m], each corner (3,)."""
        return np.full(3, -math.inf), np.full(3, math.inf)

    def support(self, direction: ArrayLike) -> NoReturn:
        """Refused: a half-space has no farthest point."""
        raise InputError("Plane fills half of space and has no support point; use its normal and offset.")

    def bounding_radius(self) -> float:
        """Infinity [m]."""
        return math.inf
