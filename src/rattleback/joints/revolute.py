"""A hinge: B turns about an axis of A and does nothing else.

Reference: Bender, dissertation, §3.2.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, aligned, locked
from rattleback.joints.stop import StopSpec, keep_limits, stops


@sealed
@dataclass(frozen=True)
class Revolute(Placement):
    """A hinge: B turns about an axis of A and does nothing else.

    Args:
        limits: Least and largest angle (2,) [rad], which is zero at the start; None where there is no limit.
        damping: Torque that brakes it, for every radian a second [N m s/rad].
        row_damping: Damping of its soft rows, as ``damping`` is that of the axis it leaves free; see ``stiffness``.
        armature: Inertia of its drive, which turns with it and adds to no body [kg m²]; for methods by impulses.
        friction: Torque up to which it holds, and which brakes it beyond [N m]; for methods by impulses.
        restitution: Part of the angular velocity that is left after hitting a limit, from 0 to 1.
    """

    limits: Any = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    row_damping: Any = field(default=None, kw_only=True)
    armature: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("turn_z",)

    def __post_init__(self) -> None:
        """Check the limits and the drive."""
        super().__post_init__()
        keep_limits(self, "limits")
        self._keep_drive()

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y, Z), *aligned()]

    def stops(self) -> list[StopSpec]:
        """How far it may turn."""
        return stops(self.restitution, turn_z=self.limits)
