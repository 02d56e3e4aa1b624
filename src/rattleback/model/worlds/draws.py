"""Distributions that a parameter is drawn from, one value a world.

    value of world k = F(random numbers of (seed, name of the entry, k))

So a world has the same value whatever the number of worlds, and whatever else varies. Bounds and means may be vectors;
each component is then drawn by itself.

Cost: ten microseconds a value. Reference: O'Neill, PCG (2014), for the generator, NumPy's default.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


@sealed
@dataclass(frozen=True)
class Distribution:
    """A distribution of values.

    Args:
        name: What made it, such as ``uniform``.
        given: What that was given.
        draw: One value from a generator of random numbers.
        seed: Seed of its own; None for that of the simulation.
    """

    name: str
    given: tuple[Any, ...]
    draw: Callable[[np.random.Generator], Any]
    seed: int | None = None

    def value(self, entry: str, world: int, seed: int) -> Any:
        """The value of a world.

        Args:
            entry: What it is a value of.
            world: Number of the world.
            seed: Seed where the distribution has none of its own.
        """
        own = seed if self.seed is None else self.seed
        found = self.draw(np.random.default_rng((own, zlib.crc32(entry.encode()), world)))
        return float(found) if isinstance(found, (float, np.floating)) else found

    def __repr__(self) -> str:
        return f"rb.{self.name}({', '.join(map(repr, self.given))})"


def uniform(low: ArrayLike, high: ArrayLike, *, seed: int | None = None) -> Distribution:
    """Evenly between two bounds.

    Args:
        low: Least value, or a vector of them.
        high: Largest value.
        seed: Seed of its own; None for that of the simulation.
    """
    a, b = _bounds("uniform", low, high)
    return Distribution("uniform", (low, high), lambda rng: _plain(rng.uniform(a, b)), _checked_seed(seed))


def loguniform(low: ArrayLike, high: ArrayLike, *, seed: int | None = None) -> Distribution:
    """Evenly in the logarithm, so that every factor is as likely as any other; both bounds are positive.

    Args:
        low: Least value, or a vector of them.
        high: Largest value.
        seed: Seed of its own; None for that of the simulation.
    """
    a, b = _bounds("loguniform", low, high)
    if not (a > 0.0).all():
        raise InputError(f"The low of rb.loguniform is {low!r}; it must be greater than zero.")
    logs = np.log(a), np.log(b)
    return Distribution("loguniform", (low, high), lambda rng: _plain(np.exp(rng.uniform(*logs))), _checked_seed(seed))


def normal(mean: ArrayLike, deviation: ArrayLike, *, seed: int | None = None) -> Distribution:
    """Gauss's distribution.

    Args:
        mean: Mean, or a vector of them.
        deviation: Standard deviation.
        seed: Seed of its own; None for that of the simulation.
    """
    m, d = (checks.finite(value, f"The {what} of rb.normal") for value, what in ((mean, "mean"), (deviation, "sd")))
    if (d < 0.0).any():
        raise InputError(f"The sd of rb.normal is {deviation!r}; it must be zero or more.")
    _check_broadcast("normal", m, d)
    return Distribution("normal", (mean, deviation), lambda rng: _plain(rng.normal(m, d)), _checked_seed(seed))


def choice(values: Any, *, seed: int | None = None) -> Distribution:
    """One of some values, each as likely as the others.

    Args:
        values: The values, of any kind.
        seed: Seed of its own; None for that of the simulation.
    """
    if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
        raise InputError(f"rb.choice got {values!r}; it needs a list of the values to choose from.")
    found = list(values)
    return Distribution("choice", (values,), lambda rng: found[int(rng.integers(len(found)))], _checked_seed(seed))


def checked_seed(seed: Any, what: str) -> int:
    """A seed: a whole number that is zero or more."""
    return checks.count(seed, what, least=0)


def _checked_seed(seed: int | None) -> int | None:
    return None if seed is None else checked_seed(seed, "The seed of a distribution")


def _bounds(name: str, low: ArrayLike, high: ArrayLike) -> tuple[Any, Any]:
    a, b = (checks.finite(value, f"The {what} of rb.{name}") for value, what in ((low, "low"), (high, "high")))
    _check_broadcast(name, a, b)
    if not (a <= b).all():
        raise InputError(f"rb.{name} goes from {low!r} to {high!r}; the low bound must not be above the high one.")
    return a, b


def _check_broadcast(name: str, a: Any, b: Any) -> None:
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise InputError(f"rb.{name} got shapes {a.shape} and {b.shape}, which do not fit each other.") from None


def _plain(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value
