"""Which worlds are meant: all of them, those of a mask, or those of a list of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def choose_worlds(worlds: Any, count: int) -> NDArray[np.int32]:
    """Numbers of the worlds meant.

    Args:
        worlds: None for all; a mask with one entry a world; or their numbers, each once.
        count: How many worlds there are.
    """
    if worlds is None:
        return np.arange(count, dtype=np.int32)
    given = _whole(worlds, "The worlds to reset")
    if given.dtype == np.bool_:
        if given.shape != (count,):
            raise InputError(f"The mask of worlds has shape {given.shape}; it must be ({count},), one entry a world.")
        return np.flatnonzero(given).astype(np.int32)
    chosen = _within(given.ravel(), count, "The worlds to reset")
    if len(np.unique(chosen)) != len(chosen):
        raise InputError(f"The worlds to reset name world {_first_twice(chosen)} twice; each may be named once.")
    return chosen


def source_worlds(from_worlds: Any, chosen: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """The world of a state that each of the chosen worlds takes.

    Args:
        from_worlds: One for all or one for each; None for the world of the same number, or the only one there is.
        chosen: Numbers of the worlds that take them.
        count: How many worlds the state has.
    """
    what = "The from_worlds of a reset"
    if from_worlds is None:
        return _within(np.zeros_like(chosen) if count == 1 else chosen, count, f"{what}, which are those to reset,")
    given = _whole(from_worlds, what)
    if given.dtype == np.bool_ or given.ndim > 1 or given.shape not in ((), chosen.shape):
        raise InputError(f"{what} are numbers: one for all, or {len(chosen)}, one for each world to reset.")
    return np.broadcast_to(_within(given, count, what), chosen.shape)


def _whole(value: Any, what: str) -> NDArray[Any]:
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    if found.size == 0:
        return found.astype(np.bool_ if found.dtype == np.bool_ else np.int32)
    if found.dtype.kind not in "iub":
        raise InputError(f"{what} are {value!r}; they must be a mask of one True or False a world, or whole numbers.")
    return found


def _within(numbers: NDArray[Any], count: int, what: str) -> NDArray[np.int32]:
    bad = numbers[(numbers < 0) | (numbers >= count)]
    if bad.size:
        raise InputError(f"{what} name world {bad.ravel()[0]}; there are {count}, the first is 0.")
    return numbers.astype(np.int32)


def _first_twice(numbers: NDArray[Any]) -> int:
    found, times = np.unique(numbers, return_counts=True)
    return int(found[times > 1][0])
