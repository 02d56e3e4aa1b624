"""Links and frames: what a kinematic tree is declared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import rotation

KINDS = ("fixed", "revolute", "prismatic")
HERE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


class Frame(NamedTuple):
    """A place and an orientation in another frame.

    Attributes:
        position: Its origin (3,) [m].
        orientation: Quaternion x, y, z, w.
    """

    position: tuple[float, ...]
    orientation: tuple[float, ...]


class Mimic(NamedTuple):
    """A joint that follows the coordinate of another: value = ratio · coordinate + offset.

    Attributes:
        link: Name of the link whose joint it follows.
        ratio: How much it moves for a unit of the other [rad or m for rad or m].
        offset: Where it is when the other is at zero [rad or m].
    """

    link: str
    ratio: float = 1.0
    offset: float = 0.0


@sealed
@dataclass(frozen=True)
class Link:
    """A rigid segment and the joint that carries it; a joint of many freedoms is a series of links without length.

    The joint sits at ``place`` in the frame of the parent; turned by its value about ``axis``, or moved along it, that
    is the frame of the link.

    Args:
        name: Its name.
        parent: Name of the link it hangs on; empty for the base.
        joint: ``"revolute"``, ``"prismatic"`` or ``"fixed"``.
        place: Frame of the joint in the frame of the parent: (point (3,) [m], quaternion x, y, z, w).
        axis: Axis of the joint in that frame (3,).
        limits: Least and greatest value of the joint [rad or m], None for none; None where it has neither.
        offset: Value of the joint when its coordinate is zero [rad or m].
        mimic: The joint it follows, if it has no coordinate of its own.
    """

    name: str
    parent: str = ""
    joint: str = "revolute"
    place: Any = HERE
    axis: Any = (0.0, 0.0, 1.0)
    limits: Any = None
    offset: float = 0.0
    mimic: Mimic | None = None

    def __post_init__(self) -> None:
        """Check it and keep plain values."""
        name = checks.text(self.name, "The name of a link")
        checks.one_of(self.joint, KINDS, f"The joint of link {name!r}")
        keep = {
            "place": as_frame(self.place, f"The place of link {name!r}"),
            "axis": tuple(checks.direction(self.axis, f"The axis of link {name!r}").tolist()),
            "offset": checks.number(self.offset, f"The offset of link {name!r}"),
            "limits": _limits(self.limits, f"The limits of link {name!r}"),
        }
        for field, value in keep.items():
            object.__setattr__(self, field, value)
        if self.mimic is not None:
            object.__setattr__(self, "mimic", Mimic(*self.mimic))
        if self.joint == "fixed" and (self.limits is not None or self.mimic is not None or self.offset != 0.0):
            raise InputError(f"Link {name!r} is fixed; it has no limits, no offset and follows no other.")

    @property
    def moves(self) -> bool:
        """Whether it has a coordinate of its own."""
        return self.joint != "fixed" and self.mimic is None


def as_frame(value: Any, what: str) -> Frame:
    """A frame from a pair (point, quaternion) or a 4 × 4 matrix."""
    try:
        parts = list(value)
    except TypeError:
        parts = []
    if len(parts) == 2:
        return Frame(
            tuple(checks.vector(parts[0], what).tolist()), tuple(checks.unit_quaternion(parts[1], what).tolist())
        )
    if len(parts) == 4:
        matrix = checks.array(value, (4, 4), what)
        if not np.allclose(matrix[3], (0.0, 0.0, 0.0, 1.0), atol=1e-12):
            raise InputError(f"{what} is a matrix whose last row is {matrix[3].tolist()}; it must be (0, 0, 0, 1).")
        turn = rotation.quaternion_from_matrix(rotation.check_matrix(matrix[:3, :3], what))
        return Frame(tuple(matrix[:3, 3].tolist()), tuple(turn.tolist()))
    raise InputError(f"{what} is {value!r}; it must be a pair (point, quaternion) or a 4 × 4 matrix.")


def as_matrix(frame: Frame) -> np.ndarray:
    """A frame as a 4 × 4 matrix."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = rotation.matrix_from_quaternion(frame.orientation), frame.position
    return found


def _limits(value: Any, what: str) -> tuple[float, float] | None:
    """Two limits, infinite where there is none; None for none at all."""
    if value is None:
        return None
    found = np.asarray(value, dtype=object).ravel()
    if len(found) != 2:
        raise InputError(f"{what} are {value!r}; they must be two numbers, or None.")
    low, high = (_limit(entry, end, what) for entry, end in zip(found, (-np.inf, np.inf), strict=True))
    if low > high:
        raise InputError(f"{what} are {low:g} and {high:g}; the first must not be above the second.")
    return None if np.isneginf(low) and np.isposinf(high) else (low, high)


def _limit(value: Any, end: float, what: str) -> float:
    return end if value is None or value == end else checks.number(value, what)
