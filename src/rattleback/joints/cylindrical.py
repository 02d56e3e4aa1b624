"""B turns about an axis of A and slides along it.

Reference: Bender, dissertation, §3.2.4 (Schienendrehgelenk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.joints.joint import Placement, RowSpec, X, Y, aligned, locked


@dataclass(frozen=True)
class Cylindrical(Placement):
    """B turns about an axis of A and slides along it."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_z", "turn_z")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y), *aligned()]
