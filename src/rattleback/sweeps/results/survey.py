"""A look through a store: which variants are there, which failed, the numbers of each, and the form of their arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rattleback.sweeps.outcome import Outcome

TIME = "time"


@dataclass
class Column:
    """A number, truth value or text of every variant.

    Attributes:
        values: By the number of the variant, where there is one.
        is_text: Whether it is text.
    """

    values: dict[int, Any]
    is_text: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that holds all of them."""
        return np.dtype(np.str_) if self.is_text else np.result_type(*(value.dtype for value in self.values.values()))

    def spread(self, count: int) -> NDArray[Any]:
        """All of them in one array; what is missing is NaN, or empty text."""
        if self.is_text:
            return np.array([self.values.get(index, "") for index in range(count)])
        full = len(self.values) == count
        found = np.full(count, np.nan) if not full else np.empty(count, self.dtype)
        for index, value in self.values.items():
            found[index] = value
        return found


@dataclass
class Form:
    """The form of an array of every variant.

    Attributes:
        shape: The largest size of each axis.
        dtype: The type that holds all of them.
        count: How many variants have it.
        timed: Whether its first axis goes with the times of its variant.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    count: int
    timed: bool

    def joined(self, other: Form) -> Form:
        """The form that holds the arrays of both."""
        shape = tuple(map(max, self.shape, other.shape))
        dtype = np.result_type(self.dtype, other.dtype)
        return Form(shape, dtype, self.count + other.count, self.timed and other.timed)


@dataclass
class Survey:
    """What a store holds.

    Attributes:
        done: Which variants are there, shape (variants,).
        errors: Why variants failed, by their number.
        reports: What more there is to say of them.
        columns: Numbers and text by the name of the result.
        forms: Arrays by the name of the result.
        times: The times that all variants share; None where each has its own or none.
    """

    done: NDArray[np.bool]
    errors: dict[int, str] = field(default_factory=dict)
    reports: dict[int, str] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    times: NDArray[Any] | None = None

    @property
    def ok(self) -> NDArray[np.bool]:
        """Which variants are there and have not failed, shape (variants,)."""
        found = self.done.copy()
        found[list(self.errors)] = False
        return found


def survey(chunks: Iterable[tuple[int, list[Outcome]]], count: int) -> Survey:
    """Look through the chunks of a store.

    Raises:
        InputError: A result is a number in one variant and an array in another, or has another number of axes.
    """
    found, shared = Survey(np.zeros(count, dtype=bool)), True
    for _, outcomes in chunks:
        for entry in outcomes:
            found.done[entry.index] = True
            if entry.error:
                found.errors[entry.index], found.reports[entry.index] = entry.error, entry.report
                continue
            shared = _share_times(found, entry) and shared
            for name, value in entry.values.items():
                _add(found, entry, name, value)
    if not shared:
        found.times = None
    return found


def _add(found: Survey, entry: Outcome, name: str, value: Any) -> None:
    is_text = isinstance(value, str)
    if is_text or value.ndim == 0:
        column = found.columns.setdefault(name, Column({}, is_text))
        column.values[entry.index] = value
        if name in found.forms or column.is_text != is_text:
            raise _mixed(name, entry.index)
        return
    times = entry.values.get(TIME)
    timed = times is not None and not isinstance(times, str) and np.shape(times) == value.shape[:1]
    form, before = Form(value.shape, value.dtype, 1, timed), found.forms.get(name)
    if name in found.columns or (before is not None and len(before.shape) != value.ndim):
        raise _mixed(name, entry.index)
    found.forms[name] = form if before is None else before.joined(form)


def _share_times(found: Survey, entry: Outcome) -> bool:
    """Whether a variant has the times of those before it."""
    times = entry.values.get(TIME)
    if times is None or isinstance(times, str) or times.ndim != 1:
        return False
    if found.times is None:
        found.times = times
    return np.array_equal(found.times, times)


def _mixed(name: str, index: int) -> InputError:
    return InputError(
        f"The result {name!r} of variant {index} is of another kind than before; a result is a number, "
        "text, or an array with the same number of axes in all variants."
    )
