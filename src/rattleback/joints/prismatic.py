"""B slides along an axis of A and does not turn.

Reference: Bender, dissertation, §3.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, locked, unturned
from rattleback.joints.stop import StopSpec, keep_limits, stops


@sealed
@dataclass(frozen=True)
class Prismatic(Placement):
    """B slides along an axis of A and does not turn.

    Args:
        limits: Least and largest position, the way of B's anchor from A's along the axis (2,) [m]; None where there is
            no limit.
        damping: Force that brakes it, for every metre a second [N s/m].
        row_damping: Damping of its soft rows, as ``damping`` is that of the axis it leaves free; see ``stiffness``.
        armature: Mass of its drive, which moves with it and adds to no body [kg]; for methods by impulses.
        friction: Force up to which it holds, and which brakes it beyond [N]; for methods by impulses.
        restitution: Part of the velocity that is left after hitting a limit, from 0 to 1.
    """

    limits: Any = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    row_damping: Any = field(default=None, kw_only=True)
    armature: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("slide_z",)

    def __post_init__(self) -> None:
        """Check the limits and the drive."""
        super().__post_init__()
        keep_limits(self, "limits")
        self._keep_drive()

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y), *unturned()]

    def stops(self) -> list[StopSpec]:
        """How far it may slide."""
        return stops(self.restitution, slide_z=self.limits)
