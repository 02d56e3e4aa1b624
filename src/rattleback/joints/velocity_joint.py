"""A joint on velocities alone: B moves and turns against A at given rates, wherever the two are.

    a_k · (u_B − u_A) = linear_k          a_k · (ω_B − ω_A) = angular_k

Symbols: a_k axes of the frame on A; u_B velocity of the anchor of B, u_A that of the point of A in the same place; ω
angular velocities. Nothing is said of positions: what drifts apart is not brought back. With a damping c the joint
yields: it pulls B with the force c (linear_k − a_k · (u_B − u_A)) along an axis, and turns it in the same way.

Reference: Bender, dissertation, §3.2.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.joints.joint import Placement, RowSpec

FREE = (None, None, None)


@sealed
@dataclass(frozen=True)
class VelocityJoint(Placement):
    """B moves and turns against A at given rates, wherever the two are.

    Args:
        linear: Velocities of B's anchor against A along the x, y and z axes of A's frame (3,) [m/s]; None where free.
        angular: Angular velocities of B against A about those axes (3,) [rad/s]; None where free.
        linear_damping: Force on B for every m/s that is lacking [N s/m]; None to keep the velocities whatever it takes.
        angular_damping: Torque on B for every rad/s that is lacking [N m s/rad]; None for the same.
    """

    linear: Any = FREE
    angular: Any = FREE
    linear_damping: float | None = field(default=None, kw_only=True)
    angular_damping: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the rates."""
        super().__post_init__()
        for name in ("linear", "angular"):
            object.__setattr__(self, name, _rates(getattr(self, name), f"The {name} velocity of VelocityJoint"))
            damping = f"{name}_damping"
            if (value := getattr(self, damping)) is not None:
                object.__setattr__(self, damping, checks.positive(value, f"The {damping} of VelocityJoint"))
        if not self.rows():
            raise InputError("VelocityJoint has no velocity to keep; give a number in linear= or angular=.")

    @property
    def freedoms(self) -> tuple[str, ...]:
        """The motions it leaves."""
        given = {"slide": self.linear, "turn": self.angular}
        return tuple(
            f"{kind}_{axis}"
            for kind, rates in given.items()
            for axis, rate in zip("xyz", rates, strict=True)
            if rate is None
        )

    def rows(self) -> list[RowSpec]:
        """The velocities it keeps."""
        given = [
            ("linear_rate", self.linear, self.linear_damping),
            ("angular_rate", self.angular, self.angular_damping),
        ]
        return [
            RowSpec(kind, axis, rate=rate, damping=damping or 0.0)
            for kind, rates, damping in given
            for axis, rate in enumerate(rates)
            if rate is not None
        ]


def _rates(value: Any, what: str) -> tuple[float | None, ...]:
    if isinstance(value, str) or not isinstance(value, (Sequence, np.ndarray)):
        raise InputError(f"{what} is {value!r}; it must be three numbers, None where free.")
    entries = list(value)
    if len(entries) != 3:
        raise InputError(f"{what} has {len(entries)} entries; it must have three, None where free.")
    return tuple(None if entry is None else checks.number(entry, what) for entry in entries)
