"""Joints between two crossed axes: one keeps them perpendicular, the universal joint joins their anchors too.

Reference: Bender, dissertation, §3.2.3.2 (double rotation) and §3.2.4 (Kardangelenk).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, framed, locked
from rattleback.joints.stop import StopSpec, keep_angles_within_half_turn, keep_limits, stops


@sealed
@dataclass(frozen=True)
class DoubleRotation(Placement):
    """The axis of A and the axis of B stay perpendicular; B moves freely and turns about both.

    ``axis`` is fixed to A and ``axis_b`` to B; they must be perpendicular at the start.
    """

    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "slide_z", "turn_a", "turn_b")

    def __post_init__(self) -> None:
        """Check that the two axes are given and perpendicular."""
        kind = type(self).__name__
        if self.axis_b is None and not self.in_bodies:
            raise InputError(f"{kind} needs two axes: axis=, fixed to A, and axis_b=, fixed to B.")
        super().__post_init__()
        if not self.in_bodies and abs(np.dot(self.axis, self.axis_b)) > 1e-6:
            raise InputError(f"The axes {self.axis} and {self.axis_b} of {kind} are not perpendicular.")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [RowSpec("cross", Z, Z)]


@sealed
@dataclass(frozen=True)
class Universal(DoubleRotation):
    """A universal joint: the anchors stay together and the two axes perpendicular.

    Both angles are zero at the start; placed by frames, where the z axis of each frame is the x axis of the other.

    Args:
        limits: Least and largest angle of B about ``axis`` (2,) [rad], less than half a turn away; None where free.
        limits_b: Least and largest angle of B about ``axis_b`` (2,) [rad], the same.
        restitution: Part of the angular velocity that is left after hitting a limit, from 0 to 1.
    """

    limits: Any = field(default=None, kw_only=True)
    limits_b: Any = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("turn_a", "turn_b")

    def __post_init__(self) -> None:
        """Check the axes and the limits."""
        super().__post_init__()
        keep_limits(self, "limits", "limits_b")
        keep_angles_within_half_turn(self, "limits", "limits_b")

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Orientations of the frames of A and B as quaternions; the z axis of each is the x axis of the other."""
        if self.in_bodies:
            return super().frames()
        first, second = np.array(self.axis), np.array(self.axis_b)
        return framed(second, first), framed(first, second)

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y, Z), *super().rows()]

    def stops(self) -> list[StopSpec]:
        """How far it may turn about either axis."""
        return stops(self.restitution, turn_a=self.limits, turn_b=self.limits_b)
