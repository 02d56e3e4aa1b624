"""What a call of an articulation computes: launches over configurations, and the results that are wanted.

Many configurations are computed in parts, so that what kernels write stays in the cache of a CPU until it is copied to
where the user gets it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core.precision import real

if TYPE_CHECKING:
    from rattleback.dynamics.bench import Bench
    from rattleback.dynamics.given import Given

Launches = Sequence[tuple[Any, int]]
Shapes = Mapping[Any, tuple[int, ...]]
# Configurations in a part, for each thread of a CPU.
PART = 128


class Work(NamedTuple):
    """What is computed on a bench.

    Attributes:
        launches: Kernels, each with the numbers its ``out`` takes for a configuration.
        results: Names of what is wanted, or the kernels whose ``out`` is, with its shape for one configuration.
        constants: Numbers that are the same for all configurations.
        still: Names of what is zero.
    """

    launches: Launches
    results: Shapes
    constants: Mapping[str, Any]
    still: Sequence[str]

    def in_parts(self, bench: Bench, given: Given) -> tuple[Any, ...]:
        """The results for NumPy arrays, as many configurations at a time as the bench has room for."""
        self._prepare(bench)
        found = [np.empty((given.rows, *shape)) for shape in self.results.values()]
        for first in range(0, given.rows, bench.rows):
            last = min(first + bench.rows, given.rows)
            for name, value in given.values.items():
                part = value.reshape(given.rows, -1)[first:last]
                if last - first < bench.rows:  # the last configuration fills the room that is left
                    part = np.concatenate([part, np.repeat(part[-1:], bench.rows - len(part), axis=0)])
                bench.put(name, part.ravel())
            for kernel, size in self.launches:
                bench.launch(kernel, size, (first, given.rows))
            for array, (name, shape) in zip(found, self.results.items(), strict=True):
                array[first:last] = bench.mirror(name).look().reshape(-1, *shape)[: last - first]
        return tuple(array.reshape(*given.lead, *array.shape[1:]) for array in found)

    def in_warp(self, bench: Bench, given: Given) -> tuple[Any, ...]:
        """The results for Warp arrays, which take the place of those of a bench that is used once."""
        for name, value in given.values.items():
            bench.put(name, value)
        self._prepare(bench)
        for kernel, size in self.launches:
            bench.launch(kernel, size)
        arrays = [(bench.array(name), shape) for name, shape in self.results.items()]
        # Arrays of vectors and quaternions have the last axis in their entries.
        return tuple(
            array.reshape((*given.lead, *(shape if array.dtype is real else shape[:-1]))) for array, shape in arrays
        )

    def _prepare(self, bench: Bench) -> None:
        for name, value in self.constants.items():
            bench.put(name, value)
        for name in self.still:
            bench.put(name, 0.0)
