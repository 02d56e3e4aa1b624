"""Cone.

    V = π r² h / 3      c = (0, 0, −h/4)      J = m diag(3/20 r² + 3/80 h², 3/20 r² + 3/80 h², 3/10 r²)

r radius of the base, h height, m mass, c centre of mass, J inertia about c. The disc at distance t below the apex has
the radius r t / h; integrating its mass and moments over t gives the above from the integrals of Bender,
dissertation, D.1.
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
class Cone:
    """A circular cone along z: apex at z = +height/2, base at z = −height/2, so the origin is at mid height.

    Attributes:
        radius: Radius of the base [m].
        height: Full height along z [m].
    """

    radius: float
    height: float

    def __post_init__(self) -> None:
        """Check radius and height."""
        keep_positive(self, "radius", "height")

    def volume(self) -> float:
        """Volume [m³]."""
        return math.pi * (self.radius * self.radius) * self.height / 3.0

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        rr, hh = self.radius * self.radius, self.height * self.height
        across = 0.15 * rr + 0.0375 * hh
        mass = check_density(self, density) * self.volume()
        return symmetric(self, mass, (across, across, 0.3 * rr), height=-0.25 * self.height)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the cone [m], each (3,)."""
        high = np.array([self.radius, self.radius, 0.5 * self.height])
        return -high, high

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A point farthest along a direction [m], shape (3,): the apex, on the rim, or the middle of the base."""
        x, y, z = unit_direction(self, direction)
        across = math.hypot(x, y)
        if z * self.height >= self.radius * across:
            return np.array([0.0, 0.0, 0.5 * self.height])
        rim = (x / across, y / across) if across > 0.0 else (0.0, 0.0)
        return np.array([self.radius * rim[0], self.radius * rim[1], -0.5 * self.height])

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return math.hypot(self.radius, 0.5 * self.height)
