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

from pydantic import AfterValidator, Field, TypeAdapter, create_model

from rattleback import joints
from rattleback.core import checks
from rattleback.io.shape_schema import Entry, Name, Vector

if TYPE_CHECKING:
    from dataclasses import Field as DataclassField


def _direction(vector: list[float]) -> list[float]:
    checks.direction(vector, "it")
    return vector


Direction = Annotated[Vector, AfterValidator(_direction)]
FIELDS: dict[str, tuple[Any, str]] = {
    "a": (Name, 'Name of the body the frame\'s axes are fixed to; "world" for the frame nothing moves.'),
    "b": (Name, 'Name of the other body, or "world".'),
    "at": (Vector, "Point of the joint in the world at the start (3,) [m]."),
    "axis": (Direction, "Axis of the joint in the world at the start (3,), of any length."),
    "at_b": (Vector, "Point on B, where it is not the same as at (3,) [m]."),
    "axis_b": (Direction, "Axis of B, where it is not the same as axis (3,), of any length."),
    "length": (float, "Distance that is kept [m]; the one at the start if left out."),
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
