"""Checks on what a user hands in: each returns the clean value or raises an InputError naming the object."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray


def number(value: object, what: str) -> float:
    """A finite real number."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)):
        raise InputError(f"{what} is {value!r}; it must be a number.")
    if not math.isfinite(result := float(value)):
        raise InputError(f"{what} is {value!r}; it must be finite.")
    return result


def positive(value: object, what: str) -> float:
    """A number above zero."""
    if (result := number(value, what)) <= 0.0:
        raise InputError(f"{what} is {value!r}; it must be greater than zero.")
    return result


def not_negative(value: object, what: str) -> float:
    """A number that is zero or more."""
    if (result := number(value, what)) < 0.0:
        raise InputError(f"{what} is {value!r}; it must be zero or more.")
    return result


def count(value: object, what: str, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Integral, np.integer)):
        raise InputError(f"{what} is {value!r}; it must be a whole number.")
    if int(value) < least:
        raise InputError(f"{what} is {value!r}; it must be at least {least}.")
    return int(value)


def flag(value: object, what: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what} is {value!r}; it must be True or False.")
    return bool(value)


def text(value: object, what: str) -> str:
    """A string that is not empty."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} is {value!r}; it must be a string that is not empty.")
    return value


def array(value: object, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """A finite array of floats of the given shape; −1 in the shape stands for any length."""
    wanted = "x".join("n" if n < 0 else str(n) for n in shape)
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} is {_short(value)}; it must be {wanted} numbers.") from None
    if result.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, result.shape, strict=True)):
        raise InputError(f"{what} has shape {result.shape}; it must be {wanted} numbers.")
    if not np.isfinite(result).all():
        raise InputError(f"{what} is {_short(value)}; every entry must be finite.")
    return result


def vector(value: object, what: str) -> NDArray[np.float64]:
    """A finite vector of three numbers."""
    return array(value, (3,), what)


def direction(value: object, what: str) -> NDArray[np.float64]:
    """A vector of three numbers, scaled to length one."""
    result = vector(value, what)
    if (length := float(np.linalg.norm(result))) == 0.0:
        raise InputError(f"{what} is the zero vector; a direction needs a length.")
    return result / length


def unit_quaternion(value: object, what: str) -> NDArray[np.float64]:
    """A quaternion (x, y, z, w) of length one; lengths off by rounding are mended, others refused."""
    result = array(value, (4,), what)
    length = float(np.linalg.norm(result))
    if abs(length - 1.0) > 1e-6:
        raise InputError(
            f"{what} is {_short(value)}, a quaternion (x, y, z, w) of length {length:.6g}; it must have length 1."
        )
    # A quaternion that was scaled once stays as it is, so that files and copies keep every bit.
    return result if abs(length - 1.0) <= 1e-15 else result / length


def options(given: Mapping[str, object], known: Iterable[str], what: str) -> None:
    """Refuse keyword options that do not exist."""
    names = list(known)
    for name in given:
        if name not in names:
            raise InputError(
                f"{what} has no option {name!r}.{did_you_mean(name, names)} It takes {listing(names, 30)}."
            )


def one_of(value: object, choices: Iterable[str], what: str) -> str:
    """A string out of a short list."""
    names = list(choices)
    if value not in names:
        raise InputError(f"{what} is {value!r}; it may be {listing(names)}.{did_you_mean(value, names)}")
    return str(value)


def instance(value: object, kind: type[Any], what: str, example: str) -> None:
    """Refuse an object of another kind, showing what would work."""
    if not isinstance(value, kind):
        raise InputError(f"{what} is {_short(value)}; it must be a {kind.__name__}, such as {example}.")


def _short(value: object) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else shown[:57] + "..."
