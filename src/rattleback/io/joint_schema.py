"""What a joint looks like in a file: one model a kind, made from the fields of its class.

    {"kind": "revolute", "name": "elbow", "a": "upper arm", "b": "forearm", "at": [0.3, 0, 1], "axis": [0, 1, 0]}

A field of a joint needs a line in ``FIELDS``: what a file may hold there, and what it means, with its unit. Whether it
may be left out, and what it is then, is said by the class.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, TypeAdapter, create_model

from rattleback import joints
from rattleback.core import checks
from rattleback.io.shape_schema import Entry, Name, NotNegative, Positive, Vector

if TYPE_CHECKING:
    from dataclasses import Field as DataclassField


def _direction(vector: list[float]) -> list[float]:
    checks.direction(vector, "it")
    return vector


def _frame(parts: list[list[float]]) -> list[list[float]]:
    checks.vector(parts[0], "its point")
    checks.unit_quaternion(parts[1], "its orientation")
    return parts


Direction = Annotated[Vector, AfterValidator(_direction)]
Frame = Annotated[list[list[float]], Field(min_length=2, max_length=2), AfterValidator(_frame)]
Limits = Annotated[list[float | None], Field(min_length=2, max_length=2)]
Rates = Annotated[list[float | None], Field(min_length=3, max_length=3)]
Softness = NotNegative | dict[str, NotNegative]
FIELDS: dict[str, tuple[Any, str]] = {
    "a": (Name, 'Name of the body the frame\'s axes are fixed to; "world" for the frame nothing moves.'),
    "b": (Name, 'Name of the other body, or "world".'),
    "at": (Vector, "Point of the joint in the world at the start (3,) [m]; the origin if left out."),
    "axis": (Direction, "Axis of the joint in the world at the start (3,), of any length; upwards if left out."),
    "at_b": (Vector, "Point on B, where it is not the same as at (3,) [m]."),
    "axis_b": (Direction, "Axis of B, where it is not the same as axis (3,), of any length."),
    "frame_a": (
        Frame,
        "Frame of the joint in body A's frame, instead of points and axes: point (3,) [m] and quaternion (x, y, z, w).",
    ),
    "frame_b": (Frame, "Frame of the joint in body B's frame: point (3,) [m] and quaternion (x, y, z, w)."),
    "breaking_force": (Positive, "Force above which it breaks [N]; never if left out."),
    "breaking_torque": (Positive, "Torque about the anchor of B above which it breaks [N m]; never if left out."),
    "length": (float, "Distance that is kept [m]; the one at the start if left out."),
    "pitch": (float, "Way along the axis in one turn [m]; below zero for a left-handed screw."),
    "ratio": (Positive, "Turns of gear A for one turn of gear B."),
    "radii": (Annotated[list[Positive], Field(min_length=2, max_length=2)], "Radii of the two pitch circles (2,) [m]."),
    "internal": (bool, "Whether one gear lies inside the other."),
    "bend": (
        Annotated[list[float], Field(min_length=1, max_length=3)],
        "Parts of the second, third and fourth power of what leads in a gear or rack [by its unit]; none if left out.",
    ),
    "leads": (Literal["pinion", "rack"], "Whether the bend of a rack is that of its pinion or its own."),
    "radius": (Positive, "Radius of the pinion's pitch circle [m]."),
    "limits": (
        Limits,
        "Least and largest angle [rad], about axis where there are two, or position along the axis [m] where it slides "
        "(2,); null where there is none.",
    ),
    "turn_limits": (
        Limits,
        "Least and largest angle of a joint that slides as well (2,) [rad]; null where there is none.",
    ),
    "limits_b": (Limits, "Least and largest angle about axis_b (2,) [rad]; null where there is none."),
    "swing": (
        Annotated[float, Field(gt=0.0, lt=np.pi)],
        "Largest angle between axis, on A, and axis_b, on B [rad]; free if left out.",
    ),
    "twist": (Limits, "Least and largest turn of B about axis_b (2,) [rad]; free if left out."),
    "restitution": (
        Annotated[float, Field(ge=0.0, le=1.0)],
        "Part of the velocity that is left after hitting a limit, from 0 to 1.",
    ),
    "damping": (
        Softness,
        "Torque [N m s/rad] or force [N s/m] that brakes it, for a unit of its rate; where no axis is left free, that "
        "of its soft rows: a number for all, or numbers by the names of rows.",
    ),
    "stiffness": (
        Softness,
        "Force [N/m] or torque [N m/rad] with which its rows pull back, for a unit they are off: a number for all, or "
        "numbers by the names of rows; all rows hold if left out.",
    ),
    "row_damping": (
        Softness,
        "Damping of its soft rows [N s/m, N m s/rad], where damping is that of the axis left free.",
    ),
    "armature": (
        Annotated[float, Field(ge=0.0)],
        "Inertia [kg m²] or mass [kg] of its drive, which moves with its coordinate and adds to no body.",
    ),
    "friction": (
        Annotated[float, Field(ge=0.0)],
        "Torque [N m] or force [N] up to which it holds its coordinate, and which brakes it beyond.",
    ),
    "linear": (Rates, "Velocities of B's anchor along the axes of A's frame (3,) [m/s]; null where free."),
    "angular": (Rates, "Angular velocities of B about the axes of A's frame (3,) [rad/s]; null where free."),
    "linear_damping": (Positive, "Force on B for every m/s that is lacking [N s/m]; kept exactly if left out."),
    "angular_damping": (Positive, "Torque on B for every rad/s that is lacking [N m s/rad]; kept exactly if left out."),
}


class JointEntry(Entry):
    """What every joint has besides its kind and the fields of its class."""

    name: Name | None = Field(None, description="Its name, used once; made from its kind and number if left out.")


def _entry(name: str, kind: type[Any]) -> type[JointEntry]:
    """The model of one kind of joint."""
    own: dict[str, Any] = {"kind": (Literal[name], ...), **{field.name: _field(field) for field in fields(kind)}}
    said = (kind.__doc__ or "").split("\n")[0]
    return create_model(f"{kind.__name__}Entry", __base__=JointEntry, __doc__=said, **own)


def _field(field: DataclassField[Any]) -> tuple[Any, Any]:
    """Form, default and description of one field; null where it is the default of the class."""
    form, meaning = FIELDS[field.name]
    if field.default is MISSING:
        return form, Field(description=meaning)
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    return (form if default is not None else form | None), Field(default, description=meaning)


JOINTS: dict[str, type[JointEntry]] = {name: _entry(name, kind) for name, kind in joints.MENU.items()}
# The alternatives are made above, not written down, so that a type checker cannot know them.
AnyJoint: Any = Annotated[reduce(or_, JOINTS.values()), Field(discriminator="kind")]
JOINT: TypeAdapter[Any] = TypeAdapter(AnyJoint)
