"""What every joint is made of: two bodies, and a frame on each.

A joint is a declaration. ``rows()`` lists the motions it forbids, in the alphabet of ``constraints``; ``freedoms``
names those it leaves. It never sees a solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.joints.soft import keep_softness
from rattleback.maths import rotation

X, Y, Z = range(3)


class RowSpec(NamedTuple):
    """A row: its kind, the axis of frame A, the axis of frame B, and the value its quantity must have.

    ``radius_a`` and ``radius_b`` are what a radian of its angles is worth in a row that couples [m], ``rate`` is the
    target of a row that only has a velocity [m/s or rad/s]. ``stiffness`` and ``damping`` are what a soft row pulls
    with for every unit that its quantity [N/m or N m/rad] and its rate [N s/m or N m s] are off; zero for a row that
    holds, whatever that takes. ``armature`` is the inertia of a drive that moves with a row alone [kg or kg m²],
    ``friction`` the effort up to which it holds and ``limit`` the largest of its law [N or N m]; zero for none.
    ``bend`` are the parts of the second to fourth power of what leads a coupling.
    """

    kind: str
    axis_a: int = 0
    axis_b: int = 0
    offset: float = 0.0
    radius_a: float = 0.0
    radius_b: float = 0.0
    rate: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0
    armature: float = 0.0
    friction: float = 0.0
    limit: float = 0.0
    bend: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Placement:
    """Two bodies and where they are joined: by a point and an axis in the world, or by a frame on each body.

    Args:
        a: Body the frame's axes are fixed to: what ``add_body`` returned, its name, or ``scene.world``.
        b: The other body.
        at: Point of the joint in the world at the start (3,) [m]; the origin if left out.
        axis: Axis of the joint in the world at the start (3,), the z axis of both frames; upwards if left out.
        at_b: Point on B, where it is not the same as ``at`` (3,) [m].
        axis_b: Axis of B, where it is not the same as ``axis`` (3,).
        frame_a: Frame on A instead of all these: (point (3,) [m], quaternion (x, y, z, w)), in the body's own frame,
            which for ``scene.world`` is the world's. The axis of the joint is the z axis of the frame. Where the two
            frames are apart at the start, the joint is violated at the start.
        frame_b: Frame on B, in the same form; both or none are given.
        breaking_force: Force on B above which it breaks [N]; None for never.
        breaking_torque: Torque on B about its anchor above which it breaks [N m]; None for never.
        stiffness: Force [N/m] or torque [N m/rad] with which its rows pull back for every unit they are off: a number
            for all, or numbers by the names of rows, such as ``{"slide_z": 1e4}``, see :mod:`rattleback.joints.soft`;
            None where all rows hold.
        damping: Force [N s/m] or torque [N m s/rad] for every unit of their rates, in the same form.
    """

    a: Any
    b: Any
    at: Any = None
    axis: Any = None
    at_b: Any = None
    axis_b: Any = None
    frame_a: Any = field(default=None, kw_only=True)
    frame_b: Any = field(default=None, kw_only=True)
    breaking_force: float | None = field(default=None, kw_only=True)
    breaking_torque: float | None = field(default=None, kw_only=True)
    stiffness: Any = field(default=None, kw_only=True)
    damping: Any = field(default=None, kw_only=True)

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
        self._keep_strength(kind)
        self._keep_softness()
        if self.in_bodies:
            self._place_in_bodies(kind)
        else:
            self._place_in_world(kind)

    def _keep_strength(self, kind: str) -> None:
        for name in ("breaking_force", "breaking_torque"):
            if (limit := getattr(self, name)) is not None:
                object.__setattr__(self, name, checks.positive(limit, f"The {name} of {kind}"))

    def _keep_softness(self) -> None:
        for name in ("stiffness", self._softness_field):
            keep_softness(self, name)

    @property
    def _softness_field(self) -> str:
        """The field that holds the damping of its soft rows; joints whose free axis has a damping have another."""
        return "row_damping" if hasattr(self, "row_damping") else "damping"

    @property
    def softness_damping(self) -> Any:
        """Damping of its soft rows: a number, numbers by name, or None."""
        return getattr(self, self._softness_field)

    @property
    def axis_damping(self) -> float:
        """Damping of the axis it leaves free; zero for joints without a field for that."""
        return float(self.damping) if self._softness_field == "row_damping" else 0.0

    def _keep_drive(self) -> None:
        for name in ("damping", "armature", "friction"):
            value = checks.not_negative(getattr(self, name), f"The {name} of {type(self).__name__}")
            object.__setattr__(self, name, value)

    def _advice(self, name: str) -> str:
        if name not in vars(self):
            return ""
        return (
            f"Make another, dataclasses.replace(it, {name}=...); in a scene, scene.change_joint(its name, {name}=...)."
        )

    @property
    def in_bodies(self) -> bool:
        """Whether it is placed by a frame on each body, not by points and axes in the world."""
        return self.frame_a is not None or self.frame_b is not None

    def _place_in_world(self, kind: str) -> None:
        for name, other, start in (("at", "at_b", (0.0, 0.0, 0.0)), ("axis", "axis_b", (0.0, 0.0, 1.0))):
            check = checks.vector if name == "at" else checks.direction
            given, second = getattr(self, name), getattr(self, other)
            value = tuple(check(start if given is None else given, f"The {name} of {kind}").tolist())
            object.__setattr__(self, name, value)
            own = value if second is None else tuple(check(second, f"The {other} of {kind}").tolist())
            object.__setattr__(self, other, own)

    def _place_in_bodies(self, kind: str) -> None:
        for name in ("at", "axis", "at_b", "axis_b"):
            if getattr(self, name) is not None:
                raise InputError(f"{kind} is placed by {name}= and by frames; give one or the other.")
        for name, other in (("frame_a", "frame_b"), ("frame_b", "frame_a")):
            if getattr(self, name) is None:
                raise InputError(f"{kind} has {other}= without {name}=; give a frame on each body.")
            object.__setattr__(self, name, _frame(getattr(self, name), f"The {name} of {kind}"))

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Orientations of the frames of A and B as quaternions; z is the axis.

        They are those in the world at the start or, where the joint is placed by frames, those in the bodies.
        """
        if self.in_bodies:
            return np.array(self.frame_a[1]), np.array(self.frame_b[1])
        first = turn_to(np.array(self.axis))
        return first, first if self.axis_b == self.axis else turn_to(np.array(self.axis_b))

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Anchors on A and B (3,) [m], in the world at the start or, where placed by frames, in the bodies."""
        if self.in_bodies:
            return np.array(self.frame_a[0]), np.array(self.frame_b[0])
        return np.array(self.at), np.array(self.at_b)


def _frame(value: Any, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A frame as a point and a quaternion."""
    try:
        point, turn = value
    except (TypeError, ValueError):
        raise InputError(f"{what} is {value!r}; it must be a pair (point, quaternion).") from None
    return (
        tuple(checks.vector(point, f"The point of {_lower(what)}").tolist()),
        tuple(checks.unit_quaternion(turn, f"The orientation of {_lower(what)}").tolist()),
    )


def _lower(what: str) -> str:
    return what[0].lower() + what[1:]


def framed(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The orientation whose z axis is z and whose x axis is x, made perpendicular to it, as a quaternion."""
    first = x - (x @ z) * z
    first /= np.linalg.norm(first)
    found: np.ndarray = rotation.quaternion_from_matrix(np.stack([first, np.cross(z, first), z], axis=-1))
    return found


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
