"""B slides along an axis of A and does not turn.

Reference: Bender, dissertation, §3.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.joints.joint import Placement, RowSpec, X, Y, locked, unturned


@dataclass(frozen=True)
class Prismatic(Placement):
    """B slides along an axis of A and does not turn."""

    freedoms: ClassVar[tuple[str, ...]] = ("slide_z",)

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y), *unturned()]
