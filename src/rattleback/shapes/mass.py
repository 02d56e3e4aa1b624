"""Mass, centre of mass and inertia of a body, as one value.

    m = ∫ ρ dV      c = (1/m) ∫ ρ r dV      J = ∫ ρ (|r − c|² 1 − (r − c)(r − c)ᵀ) dV

m mass [kg], c centre of mass [m], J inertia about c [kg m²], ρ density [kg/m³], r position in the shape's frame [m].

Source: Bender, dissertation, D.1.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.maths.inertia import check_inertia, rotate_inertia

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@sealed
@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass, centre of mass, and inertia about the centre of mass, in the axes of one frame.

    Attributes:
        mass: Mass [kg], greater than zero.
        center_of_mass: Centre of mass in the frame [m], shape (3,), read-only.
        inertia: Inertia tensor about the centre of mass in the frame's axes [kg m²], shape (3, 3), read-only.
    """

    mass: float
    center_of_mass: NDArray[np.float64]
    inertia: NDArray[np.float64]
    of: InitVar[str] = "MassProperties"

    def __post_init__(self, of: str) -> None:
        """Check the three values; messages say what they are the properties of."""
        mass = checks.positive(self.mass, f"The mass of {of}")
        center = checks.vector(self.center_of_mass, f"The centre of mass of {of}")
        inertia = check_inertia(self.inertia, f"The inertia of {of}")
        for name, array in (("center_of_mass", center), ("inertia", inertia)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "mass", mass)

    def placed(self, position: ArrayLike, rotation: NDArray[np.float64]) -> MassProperties:
        """The same body seen from an outer frame.

        Args:
            position: Origin of this frame in the outer one [m], shape (3,).
            rotation: Axes of this frame in the outer one, as columns, shape (3, 3).
        """
        center = np.asarray(position, dtype=np.float64) + rotation @ self.center_of_mass
        return MassProperties(self.mass, center, rotate_inertia(self.inertia, rotation))

    def with_mass(self, mass: float) -> MassProperties:
        """The same distribution of mass, scaled to another mass [kg]."""
        wanted = checks.positive(mass, "The mass of MassProperties")
        return MassProperties(wanted, self.center_of_mass, self.inertia * (wanted / self.mass))


def symmetric(shape: object, mass: float, moments: tuple[float, float, float], height: float = 0.0) -> MassProperties:
    """Properties of a shape whose own axes are its principal axes.

    Args:
        shape: The shape, for messages.
        mass: Its mass [kg].
        moments: Principal moments of inertia per mass about the centre of mass [m²].
        height: Coordinate z of the centre of mass [m].
    """
    inertia = np.diag([mass * moment for moment in moments])
    return MassProperties(mass, np.array([0.0, 0.0, height]), inertia, of=type(shape).__name__)
