"""B turns about an axis of A and slides along it.

Reference: Bender, dissertation, §3.2.4 (Schienendrehgelenk).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, aligned, locked
from rattleback.joints.stop import StopSpec, keep_limits, stops


@sealed
@dataclass(frozen=True)
class Cylindrical(Placement):
    """B turns about an axis of A and slides along it.

    Args:
        limits: Least and largest position, the way of B's anchor from A's along the axis (2,) [m]; None where there is
            no limit.
        turn_limits: Least and largest angle (2,) [rad], which is zero at the start; None where there is no limit.
        restitution: Part of the velocity that is left after hitting a limit, from 0 to 1.
    """

    limits: Any = field(default=None, kw_only=True)
    turn_limits: Any = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("slide_z", "turn_z")

    def __post_init__(self) -> None:
        """Check the limits."""
        super().__post_init__()
        keep_limits(self, "limits", "turn_limits")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y), *aligned()]

    def stops(self) -> list[StopSpec]:
        """How far it may slide and turn."""
        return stops(self.restitution, slide_z=self.limits, turn_z=self.turn_limits)
