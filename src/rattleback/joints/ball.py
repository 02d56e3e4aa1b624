"""A ball joint: the two anchors stay together; B turns freely about them.

Reference: Bender, dissertation, §3.2.3.1 (Kugelgelenk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, locked


@sealed
@dataclass(frozen=True)
class Ball(Placement):
    """A ball joint: the two anchors stay together; B turns freely about them."""

    freedoms: ClassVar[tuple[str, ...]] = ("turn_x", "turn_y", "turn_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return locked(X, Y, Z)
