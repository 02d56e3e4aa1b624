"""B is fixed to A.

Reference: Bender, dissertation, §3.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, locked, unturned


@sealed
@dataclass(frozen=True)
class Fixed(Placement):
    """B is fixed to A."""

    freedoms: ClassVar[tuple[str, ...]] = ()

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y, Z), *unturned()]
