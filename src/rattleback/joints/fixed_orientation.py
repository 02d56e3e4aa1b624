"""B moves freely but does not turn against A.

Reference: Bender, dissertation, §3.2.3.2 (Translationsgelenk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, unturned


@sealed
@dataclass(frozen=True)
class FixedOrientation(Placement):
    """B moves freely but does not turn against A."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "slide_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return unturned()
