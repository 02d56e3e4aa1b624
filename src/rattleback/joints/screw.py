"""A screw: B turns about an axis of A and moves along it, by the pitch for every turn.

    d · z = θ pitch/2π

Symbols: d way from the anchor of A to that of B since the start [m]; θ turn of B against A, counted on over full turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec, X, Y, Z, aligned, locked
from rattleback.joints.stop import StopSpec, keep_limits, stops


@sealed
@dataclass(frozen=True)
class Screw(Placement):
    """A screw: B turns about an axis of A and moves along it, by the pitch for every turn.

    Args:
        pitch: Way along the axis in one turn [m]; above zero for a right-handed screw, below for a left-handed one.
        limits: Least and largest angle (2,) [rad], which is zero at the start; None where there is no limit.
        restitution: Part of the angular velocity that is left after hitting a limit, from 0 to 1.
    """

    pitch: float | None = None
    limits: Any = field(default=None, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    freedoms: ClassVar[tuple[str, ...]] = ("turn_z",)

    def __post_init__(self) -> None:
        """Check the limits, and that there is a pitch."""
        super().__post_init__()
        keep_limits(self, "limits")
        if self.pitch is None:
            raise InputError("Screw needs pitch=, the way along its axis in one turn [m].")
        if (pitch := checks.number(self.pitch, "The pitch of Screw")) == 0.0:
            raise InputError("The pitch of Screw is 0; a screw without a pitch is a Revolute.")
        object.__setattr__(self, "pitch", pitch)

    def rows(self) -> list[RowSpec]:
        """The motions it forbids."""
        start = 0.0 if self.in_bodies else float(np.subtract(self.at_b, self.at) @ np.array(self.axis))
        lead = float(self.pitch or 0.0) / (2.0 * math.pi)
        return [*locked(X, Y), *aligned(), RowSpec("screw", Z, Z, start, lead)]

    def stops(self) -> list[StopSpec]:
        """How far it may turn."""
        return stops(self.restitution, turn_z=self.limits)
