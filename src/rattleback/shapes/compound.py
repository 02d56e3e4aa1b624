"""Compound: several shapes, each at its own place, as one.

    m = Σ mᵢ      c = (1/m) Σ mᵢ cᵢ      J = Σ Rᵢ Jᵢ Rᵢᵀ + mᵢ (|cᵢ − c|² 1 − (cᵢ − c)(cᵢ − c)ᵀ)

mᵢ, cᵢ, Jᵢ mass, centre of mass in the compound's frame and own inertia of part i, Rᵢ its orientation. Where parts
overlap, the shared region counts once for each of them, in mass as in volume.

Source: the integrals of Bender, dissertation, D.1, split over the parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths.inertia import combine
from rattleback.maths.rotation import matrix_from_quaternion
from rattleback.shapes.mass import MassProperties
from rattleback.shapes.plane import Plane
from rattleback.shapes.shape import Shape, check_density, unit_direction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@sealed
@dataclass(frozen=True)
class Placed:
    """A shape at a place in a compound.

    Attributes:
        shape: Any shape but a Plane; a Compound too.
        position: Origin of the shape in the compound's frame [m].
        orientation: Unit quaternion (x, y, z, w) that turns the shape's axes into the compound's.
        density_ratio: Density of this part over the density of the compound.
    """

    shape: Shape
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    density_ratio: float = 1.0

    def __post_init__(self) -> None:
        """Check the shape and its place."""
        if isinstance(self.shape, type) or not isinstance(self.shape, Shape):
            raise InputError(f"The shape of Placed is {self.shape!r}; it must be a shape, such as Sphere(0.1).")
        if isinstance(self.shape, Plane):
            raise InputError("The shape of Placed is a Plane, which has no size; add it on its own with add_static.")
        position = checks.vector(self.position, "The position of Placed")
        orientation = checks.unit_quaternion(self.orientation, "The orientation of Placed")
        object.__setattr__(self, "position", tuple(position.tolist()))
        object.__setattr__(self, "orientation", tuple(orientation.tolist()))
        ratio = checks.positive(self.density_ratio, "The density_ratio of Placed")
        object.__setattr__(self, "density_ratio", ratio)

    @property
    def rotation(self) -> NDArray[np.float64]:
        """The orientation as a matrix, shape (3, 3)."""
        return matrix_from_quaternion(np.array(self.orientation))

    def mass_properties(self, density: float) -> MassProperties:
        """Properties in the compound's frame, for a density of the compound [kg/m³]."""
        own = self.shape.mass_properties(self.density_ratio * density)
        return own.placed(self.position, self.rotation)

    def support(self, direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """A point farthest along a direction, both in the compound's frame [m], shape (3,)."""
        rotation = self.rotation
        point: NDArray[np.float64] = rotation @ self.shape.support(rotation.T @ direction) + self.position
        return point


@sealed
@dataclass(frozen=True)
class Compound:
    """Several shapes as one; overlapping parts count twice.

    Attributes:
        parts: The parts, each a ``Placed``.
    """

    parts: tuple[Placed, ...]

    def __post_init__(self) -> None:
        """Check the parts."""
        if not isinstance(self.parts, (list, tuple)):
            raise InputError(f"The parts of Compound is {self.parts!r}; it must be a list of Placed.")
        parts = tuple(self.parts)
        if not parts:
            raise InputError("Compound has no parts; give at least one, such as Placed(Sphere(0.1)).")
        for index, part in enumerate(parts):
            checks.instance(part, Placed, f"Part {index} of Compound", "Placed(Sphere(0.1), position=(0, 0, 1))")
        object.__setattr__(self, "parts", parts)

    def volume(self) -> float:
        """Sum of the volumes of the parts [m³]."""
        return sum(part.shape.volume() for part in self.parts)

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it; parts have the density [kg/m³] times their density_ratio."""
        density = check_density(self, density)
        each = [part.mass_properties(density) for part in self.parts]
        mass, center, inertia = combine([(own.mass, own.center_of_mass, own.inertia) for own in each])
        return MassProperties(mass, center, inertia, of="Compound")

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the smallest box along the axes that holds all parts [m], each (3,)."""
        axes = np.eye(3)
        low = np.array([min(part.support(-axis) @ axis for part in self.parts) for axis in axes])
        high = np.array([max(part.support(axis) @ axis for part in self.parts) for axis in axes])
        return low, high

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A point of any part farthest along a direction [m], shape (3,)."""
        unit = unit_direction(self, direction)
        return max((part.support(unit) for part in self.parts), key=lambda point: float(point @ unit))

    def bounding_radius(self) -> float:
        """Radius of a sphere around the origin that holds all parts [m]; not always the smallest one."""
        return max(float(np.linalg.norm(part.position)) + part.shape.bounding_radius() for part in self.parts)
