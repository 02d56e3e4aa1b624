"""Spaces and seeds of environments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Box

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.gym.worlds import Worlds


def observation_space(worlds: Worlds) -> Box:
    """The space of the observations of one world."""
    return _box(*worlds.bounds)


def action_space(worlds: Worlds) -> Box:
    """The space of the actions of one world."""
    return _box(worlds.actuators.low, worlds.actuators.high)


def seeds_of(
    seed: int | list[int | None] | None, count: int, random: np.random.Generator | None
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Which worlds get a seed, and what seed.

    Args:
        seed: A number, from which those of the worlds are counted on; a list of one for each; None for none.
        count: Number of worlds.
        random: Where seeds come from that are not given; None where worlds without one go on.
    """
    if seed is None or isinstance(seed, (int, np.integer)):
        given: list[Any] = [None] * count if seed is None else [int(seed) + world for world in range(count)]
    else:
        given = list(seed)
    if len(given) != count or not all(one is None or _is_seed(one) for one in given):
        raise InputError(f"The seed is {seed!r}; it must be a whole number from zero, or {count} of them or None.")
    worlds = [world for world, one in enumerate(given) if one is not None or random is not None]
    found = [int(random.integers(2**63)) if one is None and random is not None else int(one or 0) for one in given]
    seeds = [found[world] % 2**64 for world in worlds]
    return np.array(worlds, dtype=np.int64), np.array(seeds, dtype=np.uint64)


def _is_seed(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and bool(value >= 0)


def _box(low: NDArray[np.float64], high: NDArray[np.float64]) -> Box:
    with np.errstate(over="ignore"):
        return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
