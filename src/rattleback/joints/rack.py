"""A rack and pinion: a straight rack B rolls on the pitch circle of a pinion A without slip.

    d · u + R f(ψ) = const,   or where the rack leads   f(d · u) + R ψ = const

Symbols: d way from the pinion's centre to a point of the rack; u direction of the rack; R radius of the pitch circle;
ψ azimuth of the rack's normal seen from the pinion; f(x) = x + b₂ x² + b₃ x³ + b₄ x⁴ of the bend b, x without one.
Only the two bodies enter, so that it also holds in a housing that moves; what leads the pinion and the rack in it are
joints of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.bend import bend_of, keep_bend
from rattleback.joints.joint import Placement, RowSpec, X, Z, framed

LEADS = ("pinion", "rack")


@sealed
@dataclass(frozen=True)
class Rack(Placement):
    """A rack and pinion: the rack B rolls on the pitch circle of the pinion A. It only couples them.

    ``at`` is the pinion's centre, ``axis`` its axis, ``axis_b`` the direction of the rack. If ``at_b``, a point on the
    rack's pitch line, is left out, the rack lies where turning the pinion about ``axis`` moves it along ``axis_b``.
    Placed by frames, that is so too: z of A is the pinion's axis, z of B the rack's direction, and both x axes lie
    along z of B times z of A where the rack's point is level with the pinion's centre.

    Args:
        radius: Radius of the pinion's pitch circle [m]; follows from ``at_b`` if left out.
        bend: Parts (3,) of the second to fourth power of what leads: the other follows a polynomial.
        leads: ``"pinion"`` or ``"rack"``: of which the bend is.
    """

    radius: float | None = None
    bend: Any = field(default=None, kw_only=True)
    leads: str = field(default="pinion", kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "turn_x", "turn_y", "roll")

    def __post_init__(self) -> None:
        """Check the directions and find radius and side."""
        if self.axis_b is None and not self.in_bodies:
            raise InputError("Rack needs axis_b=, the direction of the rack.")
        side = self.at_b
        super().__post_init__()
        keep_bend(self)
        checks.one_of(self.leads, LEADS, "The option leads of Rack")
        if self.radius is not None:
            object.__setattr__(self, "radius", checks.positive(self.radius, "The radius of Rack"))
        if self.radius is None and (self.in_bodies or side is None):
            raise InputError("Rack needs radius=, that of the pinion's pitch circle [m].")
        if not self.in_bodies:
            self._place_the_rack(side is not None)

    def _place_the_rack(self, point_given: bool) -> None:
        if abs(np.dot(self.axis, self.axis_b)) > 1e-6:
            raise InputError(
                f"The direction {self.axis_b} of Rack is not perpendicular to the pinion's axis {self.axis}; "
                "such a rack cannot roll on it."
            )
        if not point_given:
            place = np.array(self.at) + float(self.radius or 0.0) * self._normal()
            object.__setattr__(self, "at_b", tuple(place.tolist()))
        height = abs(self._height())
        radius = height if self.radius is None else self.radius
        if height == 0.0:
            raise InputError("The point at_b of Rack is level with the pinion's centre; give one on its pitch line.")
        if abs(height - radius) > 1e-6 * height:
            raise InputError(
                f"The point at_b of Rack is {height:.6g} m beside the pinion's centre and its radius {radius:.6g} m; "
                "the pitch circle does not touch the rack. Leave one of them out."
            )
        object.__setattr__(self, "radius", radius)

    def _normal(self) -> np.ndarray:
        """Towards the rack if turning the pinion about its axis moves it along its direction, else away from it."""
        return np.cross(self.axis_b, self.axis)

    def _height(self) -> float:
        return float(np.subtract(self.at_b, self.at) @ self._normal())

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Orientations of the frames of A and B as quaternions; both x axes are the rack's normal."""
        if self.in_bodies:
            return super().frames()
        return framed(self._normal(), np.array(self.axis)), framed(self._normal(), np.array(self.axis_b))

    def rows(self) -> list[RowSpec]:
        """The motion it forbids."""
        radius = float(self.radius or 0.0)
        if self.in_bodies:
            return [self._row(0.0, radius)]
        start = float(np.subtract(self.at_b, self.at) @ np.array(self.axis_b))
        return [self._row(start, radius if self._height() > 0.0 else -radius)]

    def _row(self, start: float, radius: float) -> RowSpec:
        by_rack = float(self.bend is not None and self.leads == "rack")
        return RowSpec("rack", Z, X, start, radius, by_rack, bend=bend_of(self))
