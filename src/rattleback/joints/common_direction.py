"""The axes of both bodies keep a common direction; B moves freely and turns about it.

Reference: Bender, dissertation, §3.2.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, aligned


@sealed
@dataclass(frozen=True)
class CommonDirection(Placement):
    """The axes of both bodies keep a common direction; B moves freely and turns about it."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "slide_z", "turn_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return aligned()
