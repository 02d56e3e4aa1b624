"""Ellipsoid.

    V = 4/3 π x y z      J = m/5 diag(y² + z², x² + z², x² + y²)

x, y, z radii along the axes, m mass: the sphere of Bender, dissertation, D.1, stretched along its axes. The point
farthest along a direction d is D² d / |D d| with D = diag(x, y, z).
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
class Ellipsoid:
    """An ellipsoid centred on the origin, its principal axes along the axes.

    Attributes:
        x: Radius (half extent) along x [m].
        y: Radius (half extent) along y [m].
        z: Radius (half extent) along z [m].
    """

    x: float
    y: float
    z: float

    def __post_init__(self) -> None:
        """Check the radii."""
        keep_positive(self, "x", "y", "z")

    def volume(self) -> float:
        """Volume [m³]."""
        return 4.0 / 3.0 * math.pi * (self.x * self.y * self.z)

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        xx, yy, zz = self.x * self.x / 5.0, self.y * self.y / 5.0, self.z * self.z / 5.0
        return symmetric(self, check_density(self, density) * self.volume(), (yy + zz, xx + zz, xx + yy))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the ellipsoid [m], each (3,)."""
        high = np.array([self.x, self.y, self.z])
        return -high, high

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """The point farthest along a direction [m], shape (3,)."""
        radii = np.array([self.x, self.y, self.z])
        stretched = radii * unit_direction(self, direction)
        point: NDArray[np.float64] = radii * (stretched / np.linalg.norm(stretched))
        return point

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return max(self.x, self.y, self.z)
