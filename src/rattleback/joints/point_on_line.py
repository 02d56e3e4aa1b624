"""The anchor of B stays on the line through the anchor of A along its axis; B turns freely.

Reference: Bender, dissertation, §3.2.3.1 (Geradengelenk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, locked


@sealed
@dataclass(frozen=True)
class PointOnLine(Placement):
    """The anchor of B stays on the line through the anchor of A along its axis; B turns freely."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_z", "turn_x", "turn_y", "turn_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return locked(X, Y)
