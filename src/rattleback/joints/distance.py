"""Joints that keep a distance instead of closing it: between two points, from a line, from a plane.

The distance is the one the points have at the start, unless ``length`` is given.

Reference: Bender, dissertation, §3.2.3.1, footnote on distance joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, Z


@sealed
@dataclass(frozen=True)
class Distance(Placement):
    """The point on A and the point on B keep their distance, as if joined by a rod without mass.

    Args:
        length: The distance [m]; None for the one at the start, which a joint placed by frames cannot know.
    """

    length: float | None = None
    kind: ClassVar[str] = "distance"
    freedoms: ClassVar[tuple[str, ...]] = ("orbit_y", "orbit_z", "turn_x", "turn_y", "turn_z")

    def __post_init__(self) -> None:
        """Find the distance and check that there is one."""
        super().__post_init__()
        if self.length is None and self.in_bodies:
            raise InputError(f"{self._what()} is not given; a joint placed by frames needs length=.")
        length = self._measured() if self.length is None else checks.number(self.length, self._what())
        if length <= 0.0 and self.kind != "slide":
            raise InputError(
                f"{self._what()} is {length:g} m; it must be greater than zero. For none, use a joint without."
            )
        object.__setattr__(self, "length", length)

    def _what(self) -> str:
        return f"The length of {type(self).__name__}"

    def _measured(self) -> float:
        return float(np.linalg.norm(np.subtract(self.at_b, self.at)))

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [RowSpec(self.kind, Z, 0, float(self.length or 0.0))]


@sealed
@dataclass(frozen=True)
class DistanceToLine(Distance):
    """The point on B keeps its distance from the line through the point on A along its axis."""

    kind: ClassVar[str] = "radius"
    freedoms: ClassVar[tuple[str, ...]] = ("slide_z", "orbit_z", "turn_x", "turn_y", "turn_z")

    def _measured(self) -> float:
        way = np.subtract(self.at_b, self.at)
        return float(np.linalg.norm(way - (way @ np.array(self.axis)) * np.array(self.axis)))


@sealed
@dataclass(frozen=True)
class DistanceToPlane(Distance):
    """The point on B keeps its distance from the plane through the point on A, along the axis."""

    kind: ClassVar[str] = "slide"
    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "turn_x", "turn_y", "turn_z")

    def _measured(self) -> float:
        return float(np.subtract(self.at_b, self.at) @ np.array(self.axis))
