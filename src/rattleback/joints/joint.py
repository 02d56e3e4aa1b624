"""What every joint is made of: two bodies, and a frame on each.

A joint is a declaration. ``rows()`` lists the motions it forbids, in the alphabet of ``constraints``; ``freedoms``
names those it leaves. It never sees a solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    pass

X, Y, Z = range(3)


class RowSpec(NamedTuple):
    """A row: its kind, the axis of frame A, the axis of frame B, and the value its quantity must have."""

    kind: str
    axis_a: int = 0
    axis_b: int = 0
    offset: float = 0.0


@dataclass(frozen=True)
class Placement:
    """Two bodies and where they are joined.

    Args:
        a: Body the frame's axes are fixed to: what ``add_body`` returned, its name, or ``scene.world``.
        b: The other body.
        at: Point of the joint in the world at the start (3,) [m].
        axis: Axis of the joint in the world at the start (3,); the z axis of both frames.
        at_b: Point on B, where it is not the same as ``at`` (3,) [m].
        axis_b: Axis of B, where it is not the same as ``axis`` (3,).
    """

    a: Any
    b: Any
    at: Any = (0.0, 0.0, 0.0)
    axis: Any = (0.0, 0.0, 1.0)
    at_b: Any = None
    axis_b: Any = None

    def __post_init__(self) -> None:
        """Check the place and keep the bodies as names."""
        kind = type(self).__name__
        for side in ("a", "b"):
            name = getattr(getattr(self, side), "name", getattr(self, side))
            if not isinstance(name, str) or not name:
                raise InputError(f"Body {side} of {kind} is {name!r}; give a name, a body, or scene.world.")
            object.__setattr__(self, side, name)
        if self.a == self.b:
            raise InputError(f"{kind} joins {self.a!r} to itself; it needs two bodies.")
        for name, other in (("at", "at_b"), ("axis", "axis_b")):
            check = checks.vector if name == "at" else checks.direction
            value = tuple(check(getattr(self, name), f"The {name} of {kind}").tolist())
            second = getattr(self, other)
            object.__setattr__(self, name, value)
            own = value if second is None else tuple(check(second, f"The {other} of {kind}").tolist())
            object.__setattr__(self, other, own)

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Orientations of the frames of A and B at the start, as quaternions; z is the axis."""
        first = turn_to(np.array(self.axis))
        return first, first if self.axis_b == self.axis else turn_to(np.array(self.axis_b))


def turn_to(direction: np.ndarray) -> np.ndarray:
    """The shortest turn that takes z to a direction, as a quaternion (x, y, z, w)."""
    x, y, z = direction
    across = math.hypot(x, y)
    if across == 0.0:
        return np.array([0.0, 0.0, 0.0, 1.0] if z > 0.0 else [1.0, 0.0, 0.0, 0.0])
    half = 0.5 * math.atan2(across, z)
    return np.array([-y / across * math.sin(half), x / across * math.sin(half), 0.0, math.cos(half)])


def locked(*axes: int) -> list[RowSpec]:
    """Rows that keep B from moving along axes of A."""
    return [RowSpec("slide", axis) for axis in axes]


def aligned() -> list[RowSpec]:
    """Rows that keep the z axes of both frames parallel."""
    return [RowSpec("cross", X, Z), RowSpec("cross", Y, Z)]


def unturned() -> list[RowSpec]:
    """Rows that keep the frames from turning against each other."""
    return [RowSpec("orient", axis) for axis in (X, Y, Z)]
