"""The anchor of B stays in the plane through the anchor of A, with the axis as its normal; B turns freely.

Reference: Bender, dissertation, §3.2.3.1 (Ebenengelenk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, Z, locked


@sealed
@dataclass(frozen=True)
class PointOnPlane(Placement):
    """The anchor of B stays in the plane through the anchor of A, with the axis as its normal; B turns freely."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "turn_x", "turn_y", "turn_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return locked(Z)
