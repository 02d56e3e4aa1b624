"""B slides in a plane of A, whose normal is the axis, and turns about the normal.

Reference: Bender, dissertation, the point-on-plane joint with a common direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, Z, aligned, locked


@sealed
@dataclass(frozen=True)
class Planar(Placement):
    """B slides in a plane of A, whose normal is the axis, and turns about the normal."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "turn_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(Z), *aligned()]
