"""Cylinder.

    V = π r² l      J = m diag(r²/4 + l²/12, r²/4 + l²/12, r²/2)

r radius, l length, m mass. Source: Bender, dissertation, D.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.sealed import sealed
from rattleback.shapes.mass import MassProperties, symmetric
from rattleback.shapes.shape import check_density, keep_positive, unit_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@sealed
@dataclass(frozen=True)
class Cylinder:
    """A circular cylinder centred on the origin, its axis along z.

    Attributes:
        radius: Radius [m].
        length: Full length along z [m].
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        """Check radius and length."""
        keep_positive(self, "radius", "length")

    def volume(self) -> float:
        """Volume [m³]."""
        return math.pi * (self.radius * self.radius) * self.length

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        rr = self.radius * self.radius
        across = rr / 4.0 + self.length * self.length / 12.0
        return symmetric(self, check_density(self, density) * self.volume(), (across, across, rr / 2.0))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the cylinder [m], each (3,)."""
        high = np.array([self.radius, self.radius, 0.5 * self.length])
        return -high, high

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A point farthest along a direction [m], shape (3,): on a rim, or the middle of a cap along the axis."""
        x, y, z = unit_direction(self, direction)
        across = math.hypot(x, y)
        rim = (x / across, y / across) if across > 0.0 else (0.0, 0.0)
        return np.array([self.radius * rim[0], self.radius * rim[1], math.copysign(0.5 * self.length, z)])

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return math.hypot(self.radius, 0.5 * self.length)
