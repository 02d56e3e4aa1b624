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

# The largest count taken: what a 64-bit counter on a device can hold, with room to spare.
MOST = 2**62


def number(value: object, what: str) -> float:
    """A finite real number."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)):
        raise InputError(f"{what} is {value!r}; it must be a number.")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise InputError(f"{what} is {_short(value)}; it must be finite.")
    return result


def number_or_infinite(value: object, what: str) -> float:
    """A number, or infinity for no limit."""
    return math.inf if isinstance(value, float) and value == math.inf else number(value, what)


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


def count(value: object, what: str, least: int = 1, most: int = MOST) -> int:
    """A whole number between ``least`` and ``most``."""
    if type(value) is int and least <= value <= most:
        return value
    if isinstance(value, bool) or not isinstance(value, (numbers.Integral, np.integer)):
        raise InputError(f"{what} is {value!r}; it must be a whole number.")
    if not least <= int(value) <= most:
        bound = f"at least {least}" if int(value) < least else f"at most {most}"
        raise InputError(f"{what} is {_short(value)}; it must be {bound}.")
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


def finite(value: object, what: str) -> NDArray[np.float64]:
    """A finite array of floats of any shape."""
    result = _floats(value)
    if result is None:
        raise InputError(f"{what} is {_short(value)}; it must be made of numbers.")
    if not np.isfinite(result).all():
        raise InputError(f"{what} is {_short(value)}; every number must be finite.")
    return result


def array(value: object, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    """A finite array of floats of the given shape; −1 in the shape stands for any length."""
    wanted = "x".join("n" if n < 0 else str(n) for n in shape)
    result = _floats(value)
    if result is None:
        raise InputError(f"{what} is {_short(value)}; it must be {wanted} numbers.")
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
    # A direction that was scaled once stays as it is, so that files and copies keep every bit.
    if abs(math.hypot(*result) - 1.0) <= 1e-15:
        return result
    if (largest := float(np.abs(result).max())) == 0.0:
        raise InputError(f"{what} is the zero vector; a direction needs a length.")
    result = result / largest  # the squares of very large or small numbers would leave the range of floats
    return result / float(np.linalg.norm(result))


def unit_quaternion(value: object, what: str) -> NDArray[np.float64]:
    """A quaternion (x, y, z, w) of length one; lengths off by rounding are mended, others refused."""
    result = array(value, (4,), what)
    with np.errstate(over="ignore"):
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


def _floats(value: Any) -> NDArray[np.float64] | None:
    """An array of floats of its own, or None when the value is not made of real numbers."""
    try:
        return None if np.iscomplexobj(value) else np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def _short(value: object) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else shown[:57] + "..."
