"""Joints between two crossed axes: one keeps them perpendicular, the universal joint joins their anchors too.

Reference: Bender, dissertation, §3.2.3.2 (double rotation) and §3.2.4 (Kardangelenk).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rattleback.core.errors import InputError
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, locked


@dataclass(frozen=True)
class DoubleRotation(Placement):
    """The axis of A and the axis of B stay perpendicular; B moves freely and turns about both.

    ``axis`` is fixed to A and ``axis_b`` to B; they must be perpendicular at the start.
    """

    freedoms: ClassVar[tuple[str, ...]] = ("slide_x", "slide_y", "slide_z", "turn_a", "turn_b")

    def __post_init__(self) -> None:
        """Check that the two axes are given and perpendicular."""
        kind = type(self).__name__
        if self.axis_b is None:
            raise InputError(f"{kind} needs two axes: axis=, fixed to A, and axis_b=, fixed to B.")
        super().__post_init__()
        if abs(np.dot(self.axis, self.axis_b)) > 1e-6:
            raise InputError(f"The axes {self.axis} and {self.axis_b} of {kind} are not perpendicular.")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [RowSpec("cross", Z, Z)]


@dataclass(frozen=True)
class Universal(DoubleRotation):
    """A universal joint: the anchors stay together and the two axes perpendicular."""

    freedoms: ClassVar[tuple[str, ...]] = ("turn_a", "turn_b")

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        return [*locked(X, Y, Z), *super().rows()]
