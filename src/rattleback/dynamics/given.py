"""What is given for configurations: arrays with any leading axes, of NumPy or of Warp, checked and laid out flat.

All that is given for a call has the same leading axes, or none, which means the same for all configurations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import warp as wp

from rattleback.core.errors import InputError
from rattleback.core.precision import PRECISION, real

if TYPE_CHECKING:
    from collections.abc import Mapping


class Given(NamedTuple):
    """Arrays in rows.

    Attributes:
        values: By name, each flat.
        lead: The leading axes.
        rows: Number of configurations.
        warp: Whether they are Warp arrays.
    """

    values: dict[str, Any]
    lead: tuple[int, ...]
    rows: int
    warp: bool


def laid_out(arrays: Mapping[str, tuple[Any, tuple[int, ...]]], device: Any) -> Given:
    """Arrays by name, each with the shape that one configuration has."""
    if any(isinstance(value, wp.array) for value, _ in arrays.values()):
        return _of_warp(arrays, device)
    values = {name: _numbers(name, value, shape) for name, (value, shape) in arrays.items()}
    lead: tuple[int, ...] = ()
    for name, (_, shape) in arrays.items():
        own = values[name].shape[: values[name].ndim - len(shape)]
        if own and lead and own != lead:
            raise InputError(
                f"{name} has the leading axes {own} and others have {lead}; they must be the same, or none."
            )
        lead = own or lead
    rows = math.prod(lead)
    if rows == 0:
        raise InputError(f"The leading axes {lead} hold no configuration; give at least one.")
    if rows > 1:
        values = {name: np.broadcast_to(values[name], (*lead, *shape)) for name, (_, shape) in arrays.items()}
    return Given({name: value.ravel() for name, value in values.items()}, lead, rows, False)


def _numbers(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; it must be made of numbers.") from None
    if found.shape[found.ndim - len(shape) :] != shape or found.ndim < len(shape):
        raise InputError(f"{name} has the shape {found.shape}; it must be {_told(shape)}.")
    return found


def _of_warp(arrays: Mapping[str, tuple[Any, tuple[int, ...]]], device: Any) -> Given:
    """Warp arrays, which are used where they lie."""
    values, leads = {}, []
    for name, (value, shape) in arrays.items():
        if not isinstance(value, wp.array):
            raise InputError(f"{name} is no Warp array and others are; give all as Warp arrays, or none.")
        if value.dtype is not real or value.device != device or not value.is_contiguous:
            raise InputError(
                f"{name} is a Warp array of {value.dtype.__name__} on {value.device}; it must be one of {PRECISION} "
                f"precision on {device}, without gaps."
            )
        if value.shape[value.ndim - len(shape) :] != shape:
            raise InputError(f"{name} has the shape {value.shape}; it must be {_told(shape)}.")
        leads.append(value.shape[: value.ndim - len(shape)])
        values[name] = value.flatten()
    if len(set(leads)) > 1:
        raise InputError(f"The Warp arrays have the leading axes {leads}; they must be the same.")
    return Given(values, leads[0], math.prod(leads[0]), True)


def _told(shape: tuple[int, ...]) -> str:
    return f"(..., {', '.join(map(str, shape))})"
