"""A ball joint: the two anchors stay together; B turns freely about them, within a cone and a twist if it has limits.

Reference: Bender, dissertation, §3.2.3.1 (Kugelgelenk).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, locked, turn_to
from rattleback.joints.stop import StopSpec, keep_angles_within_half_turn, keep_limits, stops
from rattleback.maths.rotation import conjugate, multiply, rotate


@sealed
@dataclass(frozen=True)
class Ball(Placement):
    """A ball joint: the two anchors stay together; B turns freely about them.

    With limits ``axis`` is that of the cone, fixed to A, and ``axis_b`` the one of B that stays in it; where that is
    left out they are the same, and the cone opens around where B is at the start. The twist is zero there.

    Args:
        swing: Largest angle between the axis of A and the axis of B [rad], below half a turn; None where free.
        twist: Least and largest turn of B about its axis (2,) [rad], less than half a turn away; None where free.
        restitution: Part of the angular velocity that is left after hitting a limit, from 0 to 1.
    """

    swing: float | None = field(default=None, kw_only=True)
    twist: Any = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("turn_x", "turn_y", "turn_z")

    def __post_init__(self) -> None:
        """Check the place and the limits."""
        super().__post_init__()
        keep_limits(self, "twist")
        keep_angles_within_half_turn(self, "twist")
        if self.swing is not None:
            swing = checks.positive(self.swing, "The swing of Ball")
            if swing >= math.pi:
                raise InputError(
                    f"The swing of Ball is {swing:.6g} rad; it must be less than half a turn (π), or None where free."
                )
            object.__setattr__(self, "swing", swing)

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Orientations of the frames of A and B as quaternions; z is the axis, and between them there is no twist."""
        if self.in_bodies or self.axis == self.axis_b:
            return super().frames()
        first = turn_to(np.array(self.axis))
        return first, np.asarray(multiply(first, turn_to(rotate(conjugate(first), np.array(self.axis_b)))))

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return locked(X, Y, Z)

    def stops(self) -> list[StopSpec]:
        """How far its axis may swing, and how far it may twist about that."""
        return stops(self.restitution, swing=None if self.swing is None else (None, self.swing), twist=self.twist)
