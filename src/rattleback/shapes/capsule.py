"""Capsule: a cylinder with half a ball on either end.

    V = π r² s + 4/3 π r³ = V₁ + V₂
    J_zz = m₁ r²/2 + m₂ 2/5 r²
    J_xx = J_yy = m₁ (r²/4 + s²/12) + m₂ (2/5 r² + 3/8 r s + s²/4)

r radius, s = length − 2 r straight part, m₁ = ρ V₁ mass of the cylinder, m₂ = ρ V₂ mass of both half balls. The
half balls enter by the parallel-axis theorem: each has its centre of mass 3/8 r from its flat side and the moment
83/320 m r² about it. Cylinder and sphere: Bender, dissertation, D.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.shapes.mass import MassProperties, symmetric
from rattleback.shapes.shape import check_density, keep_positive, unit_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@sealed
@dataclass(frozen=True)
class Capsule:
    """All points within ``radius`` of a straight piece of the z axis, centred on the origin.

    Attributes:
        radius: Radius [m].
        length: Full length along z, tip to tip [m]; at least twice the radius.
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        """Check radius and length."""
        keep_positive(self, "radius", "length")
        if self.length < 2.0 * self.radius:
            raise InputError(
                f"The length of Capsule is {self.length!r} and its radius {self.radius!r}; length is the full extent "
                f"from tip to tip, so it must be at least twice the radius."
            )

    @property
    def straight(self) -> float:
        """Length of the cylindrical part [m], zero if the capsule is a sphere."""
        return self.length - 2.0 * self.radius

    def volume(self) -> float:
        """Volume [m³]."""
        return math.pi * (self.radius * self.radius) * (self.straight + 4.0 / 3.0 * self.radius)

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""
        r, s = self.radius, self.straight
        cylinder = s / (s + 4.0 / 3.0 * r)
        balls = 1.0 - cylinder
        along = cylinder * (r * r / 2.0) + balls * (0.4 * r * r)
        across = cylinder * (r * r / 4.0 + s * s / 12.0) + balls * (0.4 * r * r + 0.375 * r * s + s * s / 4.0)
        return symmetric(self, check_density(self, density) * self.volume(), (across, across, along))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the box around the capsule [m], each (3,)."""
        high = np.array([self.radius, self.radius, 0.5 * self.length])
        return -high, high

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A point farthest along a direction [m], shape (3,)."""
        unit = unit_direction(self, direction)
        middle = np.array([0.0, 0.0, math.copysign(0.5 * self.straight, unit[2])])
        return middle + self.radius * unit

    def bounding_radius(self) -> float:
        """Radius of the smallest sphere around the origin that holds the shape [m]."""
        return 0.5 * self.length
