"""Random numbers of each world for itself: the same, whatever happens in other worlds and however many there are.

    u_k = 2⁻⁵³ (mix(mix(s + φ) + e φ + mix((k + 1) φ)) >> 11)

s the seed of a world, e the number of its episode, k counts the numbers drawn in it; mix is the finaliser of
SplitMix64, φ its increment. A world that is reset alone draws what it would draw beside others.

Cost: nanoseconds a number; generators of NumPy for each world would take microseconds to make.

Reference: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014, figure 17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

STEP = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Whole numbers, scattered over all 64 bits."""
    found = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


class Draws:
    """Random numbers for some worlds, one row for each.

    Attributes:
        worlds: Numbers of the worlds.

    Args:
        worlds: See above.
        seeds: The seed of each of them.
        episodes: The number of the episode that begins in each of them.
    """

    def __init__(self, worlds: NDArray[np.int64], seeds: NDArray[np.uint64], episodes: NDArray[np.uint64]) -> None:
        self.worlds = worlds
        with np.errstate(over="ignore"):
            self._base = mixed(seeds + STEP) + episodes * STEP
        self._drawn = 0

    def uniform(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: int = 1) -> Floats:
        """Numbers between two bounds (worlds, size); the bounds are numbers or arrays of that shape."""
        count = np.arange(self._drawn, self._drawn + size, dtype=np.uint64)
        self._drawn += size
        with np.errstate(over="ignore"):
            bits = mixed(self._base[:, None] + mixed((count + np.uint64(1)) * STEP))
        part = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        found: Floats = np.asarray(low) + (np.asarray(high) - np.asarray(low)) * part
        return found

    def normal(self, mean: ArrayLike = 0.0, deviation: ArrayLike = 1.0, size: int = 1) -> Floats:
        """Normally distributed numbers (worlds, size), by the method of Box and Muller."""
        radius = np.sqrt(-2.0 * np.log1p(-self.uniform(size=size)))
        found: Floats = np.asarray(mean) + np.asarray(deviation) * radius * np.cos(self.uniform(0, 2 * np.pi, size))
        return found


class Streams:
    """The seeds of all worlds, and in which episode each is.

    Args:
        worlds: Number of worlds.
    """

    def __init__(self, worlds: int) -> None:
        self._seeds = np.zeros(worlds, dtype=np.uint64)
        self._episodes = np.zeros(worlds, dtype=np.uint64)

    def seed(self, worlds: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Begin anew from seeds."""
        self._seeds[worlds], self._episodes[worlds] = seeds, 0

    def begin(self, worlds: NDArray[np.int64]) -> Draws:
        """The numbers of the next episode of some worlds."""
        self._episodes[worlds] += np.uint64(1)
        return Draws(worlds, self._seeds[worlds], self._episodes[worlds])
