"""Box.

    V = x y z      J = m/12 diag(y² + z², x² + z², x² + y²)

x, y, z edge lengths, m mass. Source: Bender, dissertation, D.1.
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
class Box:
    """A rectangular block centred on the origin, its edges along the axes.

    Attributes:
        x: Full edge length along x [m].
        y: Full edge length along y [m].
        z: Full edge length along z [m].
    """

    x: float
    y: float
    z: float

    def __post_init__(self) -> None:
        """Check the edge lengths."""
        keep_positive(self, "x", "y", "z")

    def volume(self) -> float:
        """Volume [m³]."""
        return self.x * self.y * self.z

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        xx, yy, zz = self.x * self.x / 12.0, self.y * self.y / 12.0, self.z * self.z / 12.0
        return symmetric(self, check_density(self, density) * self.volume(), (yy + zz, xx + zz, xx + yy))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner [m], each (3,)."""
        high = 0.5 * np.array([self.x, self.y, self.z])
        return -high, high

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A corner farthest along a direction [m], shape (3,)."""
        low, high = self.bounds()
        return np.where(unit_direction(self, direction) >= 0.0, high, low)

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return 0.5 * math.hypot(self.x, self.y, self.z)
