"""The delta robot: three arms on motors and three pairs of parallel rods carry a platform that never turns.

    K_i(θ_i) = u_i (F + L cos θ_i − E) − L sin θ_i z,     |p − K_i| = l,   i = 1, 2, 3

p place of the platform, u_i horizontal direction of arm i and z up, F radius of the motors' axes, E radius of the rods'
ends on the platform, L length of an arm, l of a rod, θ_i angle of an arm below the horizontal. K_i is the elbow, moved
inwards by E, so that all three rods end in p.

    inverse    with q = p − (F − E) u_i, x = q · u_i, y = q · (z × u_i), d = −q · z:
               2 L (x cos θ + d sin θ) = x² + y² + d² + L² − l²     two angles each; the elbow turned outwards is meant
    forward    p is where three spheres of radius l about K_1, K_2, K_3 meet: two points, the lower one is meant
    Jacobian   s_i · ṗ = (s_i · K_i′) θ̇_i,   s_i = p − K_i,   K_i′ = dK_i/dθ_i:   θ̇ = J ṗ with rows s_i/(s_i · K_i′)

Singular: of the first kind where s_i · K_i′ = 0, an arm and its rods in one plane with its axis: the edge of what it
can reach; of the second kind where the three s_i lie in one plane: the platform gives way though all motors are held.

Cost: some ten square roots; all side by side for as many places as asked for.

Reference: Clavel, Proc. Int. Symp. Industrial Robots (1988), 91–100; López, Castillo, García and Bashir, Proc.
Inst. Mech. Eng. C 220 (2006), 103–109, for the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.grid import Region, region

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

ANGLES = np.arange(3) * 2.0 * np.pi / 3.0
OUTWARDS = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(3)], axis=1)
SIDEWAYS = np.stack([-np.sin(ANGLES), np.cos(ANGLES), np.zeros(3)], axis=1)
UP = np.array([0.0, 0.0, 1.0])


@sealed
@dataclass(frozen=True)
class Delta:
    """A delta robot that hangs from the plane z = 0.

    Args:
        base_radius: Radius of the circle that touches the axes of the three motors [m].
        platform_radius: Radius at which the rods hold the platform [m].
        arm: Length of an arm [m].
        rod: Length of a rod [m].
        limits: Least and greatest angle of an arm below the horizontal [rad]; None for none.
        name: What it is called.
    """

    base_radius: float = 0.2
    platform_radius: float = 0.05
    arm: float = 0.25
    rod: float = 0.5
    limits: Any = None
    name: str = "delta"

    def __post_init__(self) -> None:
        """Check it."""
        for field in ("base_radius", "platform_radius", "arm", "rod"):
            object.__setattr__(self, field, checks.positive(getattr(self, field), f"The {field} of Delta"))
        checks.text(self.name, "The name of Delta")
        if self.limits is not None:
            low, high = checks.array(self.limits, (2,), "The limits of Delta").tolist()
            if low >= high:
                raise InputError(f"The limits of Delta are {low:g} and {high:g}; the first must be below the second.")
            object.__setattr__(self, "limits", (low, high))

    def inverse(self, place: ArrayLike, inwards: bool = False) -> Floats:
        """Angles of the arms (..., 3) [rad] that bring the platform to places (..., 3) [m].

        Args:
            place: Places of the platform.
            inwards: Whether the elbows are to be turned inwards, the other solution.

        Returns:
            Angles between −π and π; not a number where an arm and its rod do not reach.
        """
        x, y, d = self._seen_by_arms(place)
        level = (x * x + y * y + d * d + self.arm**2 - self.rod**2) / (2.0 * self.arm)
        reach = np.hypot(x, d)
        with np.errstate(invalid="ignore", divide="ignore"):
            away = np.arccos(level / reach)
        angle = np.arctan2(d, x) + (away if inwards else -away)
        return np.mod(angle + np.pi, 2.0 * np.pi) - np.pi

    def elbows(self, angles: ArrayLike) -> Floats:
        """Where the three spheres of the rods have their centres (..., 3, 3) [m]."""
        found = _triples(angles, "Angles of Delta")[..., None]
        out = self.base_radius - self.platform_radius + self.arm * np.cos(found)
        return out * OUTWARDS - self.arm * np.sin(found) * UP

    def forward(self, angles: ArrayLike, upper: bool = False) -> Floats:
        """Places of the platform (..., 3) [m] for angles of the arms (..., 3) [rad].

        Args:
            angles: Angles of the arms.
            upper: Whether the upper of the two places is meant.

        Returns:
            Places; not a number where the rods cannot be put together.
        """
        first, second, third = np.moveaxis(self.elbows(angles), -2, 0)
        one, other = second - first, third - first
        normal = np.cross(one, other)
        square = (normal * normal).sum(-1, keepdims=True)
        # The circumcentre of the elbows, from which the platform is as far along the normal as the rods reach.
        across = (one * one).sum(-1, keepdims=True) * np.cross(other, normal)
        across += (other * other).sum(-1, keepdims=True) * np.cross(normal, one)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = across / (2.0 * square)
            height = np.sqrt(self.rod**2 - (middle * middle).sum(-1, keepdims=True))
            along = normal / np.sqrt(square) * np.where(normal[..., 2:] < 0.0, -1.0, 1.0)
        return first + middle + (height if upper else -height) * along

    def jacobian(self, place: ArrayLike, inwards: bool = False) -> Floats:
        """How fast the arms turn (..., 3, 3): θ̇ = J ṗ; infinite where an arm is stretched out."""
        rods, levers = self._rods(place, inwards)
        with np.errstate(divide="ignore", invalid="ignore"):
            return rods / levers[..., None]

    def singular(self, place: ArrayLike, inwards: bool = False) -> tuple[Floats, Floats]:
        """How near places are to being singular, between 0 (singular) and 1.

        Returns:
            Of the first kind: least sine of the angle between a rod and the plane of the arm and its axis (...). Of the
            second kind: volume spanned by the directions of the three rods (...).
        """
        rods, levers = self._rods(place, inwards)
        return np.abs(levers).min(axis=-1) / (self.arm * self.rod), np.abs(np.linalg.det(rods / self.rod))

    def reaches(self, place: ArrayLike) -> NDArray[np.bool_]:
        """Whether all arms reach places (..., 3) within their limits, elbows outwards (...)."""
        angles = self.inverse(place)
        low, high = (-np.pi, np.pi) if self.limits is None else self.limits
        return np.asarray(((angles >= low) & (angles <= high)).all(axis=-1))

    def workspace(self, cells: int = 60) -> Region:
        """Where the platform can be below the base, with the elbows outwards and within the limits of the arms."""
        centres, reach = (self.base_radius - self.platform_radius) * OUTWARDS, self.arm + self.rod
        low, high = (centres - reach).max(axis=0), (centres + reach).min(axis=0)
        return region(self.reaches, low, np.minimum(high, (np.inf, np.inf, 0.0)), cells)

    def _seen_by_arms(self, place: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Places from the axis of each motor: outwards, sideways and down (..., 3)."""
        found = _triples(place, "A place of Delta")
        offset = self.base_radius - self.platform_radius
        down = np.broadcast_to(-found[..., 2:], found.shape)
        return found @ OUTWARDS.T - offset, found @ SIDEWAYS.T, down

    def _rods(self, place: ArrayLike, inwards: bool) -> tuple[Floats, Floats]:
        """Rods from elbow to platform (..., 3, 3) [m], and s_i · K_i′ (..., 3) [m²]."""
        angles = self.inverse(place, inwards)[..., None]
        elbow = (self.base_radius - self.platform_radius + self.arm * np.cos(angles)) * OUTWARDS
        elbow = elbow - self.arm * np.sin(angles) * UP
        rods = np.asarray(place, dtype=np.float64)[..., None, :] - elbow
        slope = -self.arm * (np.sin(angles) * OUTWARDS + np.cos(angles) * UP)
        return rods, (rods * slope).sum(axis=-1)


def _triples(value: ArrayLike, what: str) -> Floats:
    found = checks.finite(value, what)
    if found.shape[-1:] != (3,):
        raise InputError(f"{what} have shape {found.shape}; the last axis must be 3.")
    return found
