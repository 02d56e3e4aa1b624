"""Sphere.

    V = 4/3 π r³      J = m 2/5 r² 1

r radius, m mass. Source: Bender, dissertation, D.1.
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
class Sphere:
    """A ball around the origin.

    Attributes:
        radius: Radius [m].
    """

    radius: float

    def __post_init__(self) -> None:
        """Check the radius."""
        keep_positive(self, "radius")

    def volume(self) -> float:
        """Volume [m³]."""
        r = self.radius
        return 4.0 / 3.0 * math.pi * (r * r * r)

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        moment = 0.4 * self.radius * self.radius
        return symmetric(self, check_density(self, density) * self.volume(), (moment, moment, moment))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the sphere [m], each (3,)."""
        return np.full(3, -self.radius), np.full(3, self.radius)

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """The point farthest along a direction [m], shape (3,)."""
        return self.radius * unit_direction(self, direction)

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return self.radius
