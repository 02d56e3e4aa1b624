"""Samples of several parameters at once: drawn evenly by two methods, or given.

A full grid of k parameters with m levels has m^k variants; samples spread n variants over the same space.

    Latin hypercube:  x_ij = l_j + (u_j − l_j) (π_j(i) + r_ij) / n          Sobol:  a digital net in base 2, scrambled

l and u are the bounds of parameter j, π_j is a random permutation of 0 … n − 1, r a random number in [0, 1). In a Latin
hypercube each parameter alone is spread evenly, for any n; a Sobol sequence spreads all of them together, best where n
is a power of two, and its first points are those of every longer one. Both cost O(n k). Take Sobol for integrals and
means, a Latin hypercube for few, costly variants; take a grid where two or three parameters are to be seen one by one.

Reference: M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21 (1979) 239; S. Joe, F. Y. Kuo, SIAM J. Sci.
Comput. 30 (2008) 2635. Both are SciPy's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[int, int], NDArray[np.float64]]


@dataclass(frozen=True)
class Samples:
    """Values of several parameters, variant by variant.

    Attributes:
        columns: The values of each parameter by its name, all as many.
    """

    columns: Mapping[str, Any]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def zipped(columns: Mapping[str, Any]) -> Samples:
    """Samples that are given: the first values of all parameters make the first variant, and so on.

    Args:
        columns: A list or an array of values for each parameter, all of the same length.
    """
    if not isinstance(columns, Mapping) or not columns:  # type: ignore[redundant-expr]
        raise InputError(f"The samples are {columns!r}; give a dict of lists, such as {{'mass': [1.0, 2.0]}}.")
    lengths = {name: len(values) for name, values in columns.items() if hasattr(values, "__len__")}
    if len(lengths) < len(columns) or len(set(lengths.values())) > 1:
        told = ", ".join(f"{name!r} has {lengths.get(name, 'no list of values')}" for name in columns)
        raise InputError(f"Samples need as many values of every parameter; {told}.")
    return Samples(dict(columns))


def latin_hypercube(ranges: Mapping[str, tuple[float, float]], n: int, seed: int = 0) -> Samples:
    """Samples that cover the range of each parameter evenly, one in each of ``n`` slices.

    Args:
        ranges: Lower and upper bound of each parameter.
        n: Number of samples.
        seed: What the random numbers are drawn from; the same seed gives the same samples.
    """

    def draw(size: int, count: int) -> NDArray[np.float64]:
        from scipy.stats import qmc

        return qmc.LatinHypercube(d=size, **_generator(qmc.LatinHypercube, seed)).random(count)

    return _scaled(ranges, n, draw)


def sobol(ranges: Mapping[str, tuple[float, float]], n: int, seed: int = 0) -> Samples:
    """Samples of a scrambled Sobol sequence, which fill the space of all parameters evenly.

    Args:
        ranges: Lower and upper bound of each parameter.
        n: Number of samples, best a power of two.
        seed: What the scrambling is drawn from; the same seed gives the same samples.
    """

    def draw(size: int, count: int) -> NDArray[np.float64]:
        from scipy.stats import qmc

        exponent = max(0, (count - 1).bit_length())
        return qmc.Sobol(d=size, **_generator(qmc.Sobol, seed)).random_base2(exponent)[:count]

    return _scaled(ranges, n, draw)


def _generator(kind: Any, seed: int) -> dict[str, Any]:
    """The argument that takes the random numbers, which SciPy 1.15 has renamed."""
    import inspect

    name = "rng" if "rng" in inspect.signature(kind).parameters else "seed"
    return {name: np.random.default_rng(checks.count(seed, "The seed of samples", least=0))}


def _scaled(ranges: Mapping[str, tuple[float, float]], n: int, draw: Draw) -> Samples:
    """Points of the unit cube, stretched to the ranges."""
    if not isinstance(ranges, Mapping) or not ranges:  # type: ignore[redundant-expr]
        raise InputError(f"The ranges of samples are {ranges!r}; give a dict, such as {{'mass': (1.0, 2.0)}}.")
    bounds = [_bounds(name, ends) for name, ends in ranges.items()]
    unit = draw(len(bounds), checks.count(n, "The number of samples", most=2**30))
    columns = zip(ranges, bounds, unit.T, strict=True)
    return Samples({name: low + (high - low) * points for name, (low, high), points in columns})


def _bounds(name: str, ends: Any) -> tuple[float, float]:
    low, high = checks.array(ends, (2,), f"The range of {name!r}")
    if low >= high:
        raise InputError(f"The range of {name!r} is {ends!r}; the first bound must be the lower one.")
    return float(low), float(high)
