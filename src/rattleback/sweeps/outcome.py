"""What came of a variant: its results, or why there are none; and the tasks that hold variants to be run."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rattleback.core.errors import InputError

WHOLE = (-(2**63), 2**63 - 1)
TAKEN = ("variant", "seed", "ok", "error", "report")


def short(value: object) -> str:
    """A value as it is shown in a sentence."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


@dataclass(frozen=True)
class Variant:
    """One variant: its number in the sweep, its parameters by their names, and its seed."""

    index: int
    parameters: dict[str, Any]
    seed: int


@dataclass(frozen=True)
class Task:
    """Variants that are run together, all of the same chunk of the store."""

    chunk: int
    variants: tuple[Variant, ...]

    def halves(self) -> list[Task]:
        """The task in two."""
        middle = len(self.variants) // 2
        return [Task(self.chunk, part) for part in (self.variants[:middle], self.variants[middle:]) if part]


@dataclass(frozen=True)
class Outcome:
    """What came of a variant.

    Attributes:
        index: Its number in the sweep.
        values: Results by their names: numbers, truth values and arrays as arrays, text as text.
        error: Why there are none, as a sentence; empty where there are.
        report: What more there is to say of a failure.
    """

    index: int
    values: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    report: str = ""


def clean(results: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The results of a function, checked.

    Raises:
        InputError: They are no dict, or a name or a value in it cannot be kept.
    """
    if not isinstance(results, Mapping):
        raise InputError(f"The function returned {short(results)}; it must return a dict of results.")
    for name in results:
        if not isinstance(name, str) or not name or name.strip() != name or set(name) & set("/\\\n") or name[0] in "._":
            raise InputError(f"A result is called {name!r}; names are text without slashes, such as 'height'.")
        if name in parameters or name in TAKEN:
            raise InputError(f"The result {name!r} has the name of a parameter or of a column of the table; rename it.")
    return {name: _value(name, value) for name, value in results.items()}


def _value(name: str, value: Any) -> Any:
    """A number, a truth value or an array as an array of 64 bits or fewer; text as it is."""
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral) and not WHOLE[0] <= int(value) <= WHOLE[1]:
        raise InputError(f"The result {name!r} is {short(value)}, a whole number of more than 64 bits.")
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "biuf" or found.dtype.itemsize > 8:
        raise InputError(f"The result {name!r} is {short(value)}; it must be a number, text or an array of numbers.")
    return np.ascontiguousarray(found).reshape(found.shape)


def seed_of(seed: int, index: int) -> int:
    """The seed of a variant, between 0 and 2^63 − 1, from that of the sweep and its number alone."""
    high, low = np.random.SeedSequence(seed, spawn_key=(index,)).generate_state(2)
    return (int(high) << 32 | int(low)) >> 1
