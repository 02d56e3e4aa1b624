"""Targets: what a tool, or any point of any link, shall do. Every goal may have a leading axis, one for each problem.

rb.ik.Position((0.3, 0.2, 0.5))                          the tip at a point
rb.ik.Pose(matrix)                                       the tip in a frame, as a 4 × 4 matrix
rb.ik.Orientation((0, 0, 0, 1), tool="camera")           a tool turned so
rb.ik.Pointing((0, 0, 2), axis=(0, 0, 1))                an axis of the tip pointing at a point
rb.ik.Distance((0, 0, 0), 0.5, tool="elbow")             a link half a metre away from a point
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.ik import tasks
from rattleback.kinematics.ik.matrices import split
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Target:
    """What all targets have in common.

    Args:
        tool: Name of the tool or link that is meant.
        point: The point of it, in its frame (3,) [m].
        weight: How much it counts against others of the same priority.
        priority: 0 goes first; others only use what freedom those before leave.
    """

    kind: ClassVar[int]
    tool: str = field(default="tip", kw_only=True)
    point: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    weight: float = field(default=1.0, kw_only=True)
    priority: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        """Check what all have."""
        what = type(self).__name__
        object.__setattr__(self, "tool", checks.text(self.tool, f"The tool of {what}"))
        object.__setattr__(self, "point", tuple(checks.vector(self.point, f"The point of {what}").tolist()))
        object.__setattr__(self, "weight", checks.positive(self.weight, f"The weight of {what}"))
        object.__setattr__(self, "priority", checks.count(self.priority, f"The priority of {what}", least=0))

    def goals(self) -> dict[str, Floats]:
        """What kernels are told: ``point``, ``turn`` or ``value``, each with a leading axis or without."""
        raise NotImplementedError

    def _keep(self, name: str, value: Floats, size: int) -> None:
        if value.ndim not in (1, 2) or value.shape[-1] != size:
            raise InputError(
                f"The goal of {type(self).__name__} has shape {value.shape}; it must be ({size},), or (n, {size}) for "
                "n problems."
            )
        value.flags.writeable = False
        object.__setattr__(self, name, value)


@sealed
@dataclass(frozen=True)
class Position(Target):
    """The point of the tool at a place of the world.

    Args:
        place: Where to (3,) or (n, 3) [m].
    """

    place: Any
    kind: ClassVar[int] = int(tasks.POSITION)

    def __post_init__(self) -> None:
        """Check the place."""
        super().__post_init__()
        self._keep("place", checks.finite(self.place, "The place of Position"), 3)

    def goals(self) -> dict[str, Floats]:
        """What kernels are told."""
        return {"point": self.place}


@sealed
@dataclass(frozen=True)
class Orientation(Target):
    """The frame of the tool turned as wished, wherever it is.

    Args:
        turn: Quaternion x, y, z, w (4,) or (n, 4), or rotation matrix (3, 3) or (n, 3, 3).
    """

    turn: Any
    kind: ClassVar[int] = int(tasks.ORIENTATION)

    def __post_init__(self) -> None:
        """Check the orientation."""
        super().__post_init__()
        self._keep("turn", _quaternions(self.turn, "The turn of Orientation"), 4)

    def goals(self) -> dict[str, Floats]:
        """What kernels are told."""
        return {"turn": self.turn}


@sealed
@dataclass(frozen=True)
class Pose(Target):
    """The frame of the tool, at its point, in a frame of the world.

    Args:
        matrix: 4 × 4 matrix, or n of them (n, 4, 4).
    """

    matrix: Any
    _split: Any = field(init=False, repr=False, compare=False)
    kind: ClassVar[int] = int(tasks.POSE)

    def __post_init__(self) -> None:
        """Check the matrices."""
        super().__post_init__()
        found = checks.finite(self.matrix, "The matrix of Pose")
        if found.ndim not in (2, 3) or found.shape[-2:] != (4, 4):
            raise InputError(f"The matrix of Pose has shape {found.shape}; it must be (4, 4), or (n, 4, 4).")
        object.__setattr__(self, "_split", split(found, "The matrix of Pose"))
        found.flags.writeable = False
        object.__setattr__(self, "matrix", found)

    def goals(self) -> dict[str, Floats]:
        """What kernels are told."""
        return dict(zip(("point", "turn"), self._split, strict=True))


@sealed
@dataclass(frozen=True)
class Pointing(Target):
    """An axis of the tool, through its point, towards a point of the world or in a direction.

    Args:
        at: Point to look at (3,) or (n, 3) [m].
        axis: The axis that points, in the frame of the tool (3,).
        along: Direction to look in, instead of a point (3,) or (n, 3).
    """

    at: Any = None
    axis: Any = (0.0, 0.0, 1.0)
    along: Any = None
    kind: ClassVar[int] = int(tasks.POINTING)

    def __post_init__(self) -> None:
        """Check where to."""
        super().__post_init__()
        object.__setattr__(self, "axis", tuple(checks.direction(self.axis, "The axis of Pointing").tolist()))
        if (self.at is None) == (self.along is None):
            raise InputError("Pointing needs a point to look at, at=, or a direction, along=; give one of them.")
        name = "at" if self.along is None else "along"
        found = checks.finite(getattr(self, name), f"The {name} of Pointing")
        if name == "along":
            length = np.linalg.norm(found, axis=-1, keepdims=True)
            if not (length > 0.0).all():
                raise InputError("The along of Pointing is the zero vector; a direction needs a length.")
            found = found / length
        self._keep(name, found, 3)

    def goals(self) -> dict[str, Floats]:
        """What kernels are told."""
        goal = self.at if self.along is None else self.along
        return {"point": goal, "value": np.full(goal.shape[:-1], 0.0 if self.along is None else -1.0)}


@sealed
@dataclass(frozen=True)
class Distance(Target):
    """The point of the tool at a distance from a point of the world.

    Args:
        centre: Point to be away from (3,) or (n, 3) [m].
        distance: How far (a number, or n of them) [m].
    """

    centre: Any
    distance: Any
    kind: ClassVar[int] = int(tasks.DISTANCE)

    def __post_init__(self) -> None:
        """Check both."""
        super().__post_init__()
        self._keep("centre", checks.finite(self.centre, "The centre of Distance"), 3)
        found = checks.finite(self.distance, "The distance of Distance")
        if found.ndim > 1 or (found < 0.0).any():
            raise InputError(
                f"The distance of Distance is {self.distance!r}; it must be zero or more, one or n of them."
            )
        object.__setattr__(self, "distance", found)

    def goals(self) -> dict[str, Floats]:
        """What kernels are told."""
        return {"point": self.centre, "value": self.distance}


def as_targets(given: Any) -> tuple[Target, ...]:
    """Targets from one, from several, or from 4 × 4 matrices."""
    if isinstance(given, Target):
        return (given,)
    if isinstance(given, (list, tuple)) and any(isinstance(entry, Target) for entry in given):
        for entry in given:
            checks.instance(entry, Target, "A target", "rb.ik.Position((0.3, 0.2, 0.5))")
        return tuple(given)
    try:
        shape = np.shape(given)
    except ValueError:
        shape = ()
    if shape[-2:] != (4, 4) or len(shape) not in (2, 3):
        raise InputError(
            f"The target has shape {shape}; it must be a 4 × 4 matrix, or n of them, or targets such as "
            "rb.ik.Position((0.3, 0.2, 0.5))."
        )
    return (Pose(given),)


def _quaternions(value: Any, what: str) -> Floats:
    found = checks.finite(value, what)
    if found.shape[-2:] == (3, 3):
        return rotation.quaternion_from_matrix(rotation.check_matrix(found, what))
    return rotation.check_quaternion(found, what)
