"""Soft joints: rows that pull back instead of holding, with stiffness and damping.

    E = ½ k e²,    λ = −k e − c ė,    F = Jᵀ λ

e error of a row, J its Jacobian, k stiffness, c damping. Any row of a joint can be soft; the others hold. A row is
named by the motion it opposes:

| name | row |
|---|---|
| ``slide_x``, ``slide_y``, ``slide_z`` | B's anchor moving along an axis of A |
| ``turn_x``, ``turn_y``, ``turn_z`` | B turning about an axis of A |
| ``cross`` | the angle of two crossed axes changing |
| ``distance``, ``radius`` | the distance of two points, or of a point and an axis, changing |
| ``screw``, ``mesh``, ``rack`` | two coupled motions going on apart |

``slide`` and ``turn`` name all rows of that kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.core.errors import InputError, listing

if TYPE_CHECKING:
    from rattleback.joints.joint import RowSpec

X, Y, Z = range(3)
LETTERS = "xyz"


def row_name(row: RowSpec) -> str:
    """What a row of a joint is called: the motion it opposes."""
    if row.kind in ("slide", "orient"):
        return f"{'slide' if row.kind == 'slide' else 'turn'}_{LETTERS[row.axis_a]}"
    if row.kind == "cross" and row.axis_a != row.axis_b:
        # A z axis that may not lean along x does not turn about y.
        return {X: "turn_y", Y: "turn_x"}.get(row.axis_a, "cross") if row.axis_b == Z else "cross"
    return row.kind


def soft_rows(joint: Any) -> list[RowSpec]:
    """The rows of a joint with the stiffness and the damping it gives them.

    Raises:
        InputError: It names a row that it does not have, or a row that would do nothing.
    """
    rows: list[RowSpec] = joint.rows()
    stiffness, damping = getattr(joint, "stiffness", None), getattr(joint, "softness_damping", None)
    if stiffness is None and damping is None:
        return rows
    if any(row.kind.endswith("_rate") for row in rows):
        raise InputError(
            f"{type(joint).__name__} between {joint.a!r} and {joint.b!r} keeps velocities and has no place to pull "
            "back to; give linear_damping= or angular_damping= instead of stiffness and damping."
        )
    names = [row_name(row) for row in rows]
    _check_names(joint, names, stiffness, damping)
    return [_softened(joint, row, name, stiffness, damping) for row, name in zip(rows, names, strict=True)]


def is_soft(joint: Any) -> bool:
    """Whether a joint has soft rows."""
    return getattr(joint, "stiffness", None) is not None or getattr(joint, "softness_damping", None) is not None


def keep_softness(joint: Any, name: str) -> None:
    """Check what a joint says of its soft rows in one of its fields: a number for all, or numbers by name."""
    value, what = getattr(joint, name), f"The {name} of {type(joint).__name__}"
    if value is None:
        return
    if isinstance(value, Mapping):
        kept: Any = {str(row): checks.not_negative(number, f"{what} for {row!r}") for row, number in value.items()}
        if not kept:
            raise InputError(f"{what} names no row; give a number, a row by name, or None where all rows hold.")
    else:
        kept = checks.not_negative(value, what)
    object.__setattr__(joint, name, kept)


def _softened(joint: Any, row: RowSpec, name: str, stiffness: Any, damping: Any) -> RowSpec:
    k, c = _given(stiffness, name), _given(damping, name)
    if k is None and c is None:
        return row
    k, c = k or 0.0, c or 0.0
    if k == 0.0 and c == 0.0:
        raise InputError(
            f"The row {name!r} of {type(joint).__name__} between {joint.a!r} and {joint.b!r} is soft with neither "
            "stiffness nor damping and would do nothing; give it one, or choose a joint without that row."
        )
    return row._replace(stiffness=k, damping=c)


def _given(values: Any, name: str) -> float | None:
    if not isinstance(values, Mapping):
        return None if values is None else float(values)
    found = values.get(name, values.get(name.split("_")[0]))
    return None if found is None else float(found)


def _check_names(joint: Any, names: list[str], *given: Any) -> None:
    known = list(dict.fromkeys([*names, *(name.split("_")[0] for name in names)]))
    for values in given:
        for name in values if isinstance(values, Mapping) else ():
            if name not in known:
                raise InputError(
                    f"{type(joint).__name__} between {joint.a!r} and {joint.b!r} has no row {name!r} to be soft; "
                    f"it has {listing(known)}."
                )
