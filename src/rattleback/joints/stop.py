"""Stops: how far a freedom of a joint may go, and what is left of its speed when it gets there.

    lower ≤ q ≤ upper,     q̇ after the hit = −restitution × q̇ before it

q the coordinate of the freedom: an angle [rad] or a way along the axis [m].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError


class StopSpec(NamedTuple):
    """A freedom with limits: its name as in ``freedoms``, the limits, infinite where there is none, and the rebound."""

    freedom: str
    lower: float
    upper: float
    restitution: float


def keep_limits(joint: Any, *names: str) -> None:
    """Check the limits of a joint in the fields named, and its restitution, and keep them as plain numbers."""
    kind = type(joint).__name__
    for name in names:
        object.__setattr__(joint, name, _limits(getattr(joint, name), f"The {name} of {kind}"))
    restitution = checks.number(joint.restitution, f"The restitution of {kind}")
    if not 0.0 <= restitution <= 1.0:
        raise InputError(f"The restitution of {kind} is {restitution!r}; it must be between 0 and 1.")
    object.__setattr__(joint, "restitution", restitution)


def keep_angles_within_half_turn(joint: Any, *names: str) -> None:
    """Refuse limits of an angle not counted over full turns, unless both are there and less than half a turn away."""
    for name in names:
        for bound in getattr(joint, name) or ():
            if bound is None or abs(bound) >= math.pi:
                raise InputError(
                    f"The {name} of {type(joint).__name__} are {getattr(joint, name)}; it needs both, each less than "
                    "half a turn (π) away from zero."
                )


def stops(restitution: float, **limits: Any) -> list[StopSpec]:
    """The stops for the limits of freedoms; none where the limits are None."""
    found = []
    for freedom, pair in limits.items():
        if pair is not None:
            lower, upper = (
                far if bound is None else bound for far, bound in zip((-math.inf, math.inf), pair, strict=True)
            )
            found.append(StopSpec(freedom, lower, upper, restitution))
    return found


def stops_of(joint: Any) -> list[StopSpec]:
    """The stops of a joint, which need not have any."""
    return list(joint.stops()) if hasattr(joint, "stops") else []


def _limits(value: Any, what: str) -> tuple[float | None, float | None] | None:
    if value is None:
        return None
    pair = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InputError(f"{what} are {value!r}; they must be a pair (lower, upper), None where there is no limit.")
    lower = None if pair[0] is None or pair[0] == -math.inf else checks.number(pair[0], f"The lower of {_lower(what)}")
    upper = None if pair[1] is None or pair[1] == math.inf else checks.number(pair[1], f"The upper of {_lower(what)}")
    if lower is not None and upper is not None and not lower < upper:
        raise InputError(f"{what} are {lower!r} and {upper!r}; the lower one must be below the upper one.")
    return None if lower is None and upper is None else (lower, upper)


def _lower(what: str) -> str:
    return what[0].lower() + what[1:]
