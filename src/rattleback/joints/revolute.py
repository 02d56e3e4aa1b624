"""A hinge: B turns about an axis of A and does nothing else.

Reference: Bender, dissertation, §3.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, aligned, locked


@dataclass(frozen=True)
class Revolute(Placement):
    """A hinge: B turns about an axis of A and does nothing else."""

    freedoms: ClassVar[tuple[str, ...]] = ("turn_z",)

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y, Z), *aligned()]
