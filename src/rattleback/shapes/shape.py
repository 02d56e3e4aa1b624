"""What every shape can do, said once, and the checks they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from rattleback.shapes.mass import MassProperties

# Sizes whose squares are numbers above zero [m].
LEAST_SIZE, LARGEST_SIZE = 1e-140, 1e140


@runtime_checkable
class Shape(Protocol):
    """A solid with an origin and axes of its own; everything below is expressed in them."""

    def volume(self) -> float:
        """Volume [m³]; infinite for a Plane and a HeightField."""

    def mass_properties(self, density: float) -> MassProperties:
        """Mass, centre of mass and inertia about it, for a density [kg/m³]."""

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner of the smallest box along the axes that holds the shape [m], each (3,)."""

    def support(self, direction: ArrayLike) -> NDArray[np.float64]:
        """A point of the shape farthest along a direction [m], shape (3,); the direction may have any length."""

    def bounding_radius(self) -> float:
        """Radius of a sphere around the origin that holds the shape [m]; the smallest one but for a Compound."""


def keep_positive(shape: object, *names: str) -> None:
    """Store the named sizes of a shape as floats whose squares are numbers above zero, or say which one is not."""
    for name in names:
        what = f"The {name} of {type(shape).__name__}"
        value = checks.positive(getattr(shape, name), what)
        if not LEAST_SIZE <= value <= LARGEST_SIZE:
            raise InputError(f"{what} is {value!r} m; it must be between {LEAST_SIZE:g} and {LARGEST_SIZE:g} m.")
        object.__setattr__(shape, name, value)


def unit_direction(shape: object, direction: ArrayLike) -> NDArray[np.float64]:
    """The direction of a support query, scaled to length one, shape (3,)."""
    return checks.direction(direction, f"The direction of a support point of {type(shape).__name__}")


def check_density(shape: object, density: object) -> float:
    """A density [kg/m³] above zero, or an error naming the shape."""
    return checks.positive(density, f"The density of {type(shape).__name__}")
