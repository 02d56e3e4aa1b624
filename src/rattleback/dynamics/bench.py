"""Room for a number of configurations at once, and the launches over them.

A launch is recorded once and replayed: what one configuration costs beside its arithmetic is a microsecond. Kernels
name what they take: an array group of this bench, ``span``, ``fault`` or ``out``, their result.
"""

from __future__ import annotations

import functools
import inspect
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.core.mirror import Mirror
from rattleback.core.precision import real
from rattleback.core.stages import recorded
from rattleback.dynamics.kernels import Span
from rattleback.dynamics.measure_kernels import Aim
from rattleback.model.state import Motion
from rattleback.reduced.articulated import Articulated
from rattleback.reduced.composite import Composite
from rattleback.reduced.forest import Coordinates, Forest, Layout
from rattleback.reduced.newton_euler import TreeForces
from rattleback.reduced.slopes import Matrices, Slopes
from rattleback.reduced.walk import ForestMotion

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Fewer configurations than this are not worth a thread of their own.
ROWS_A_THREAD = 64
# No configuration has failed.
NONE = 2**31 - 1
# The groups a kernel can take.
GROUPS: dict[str, Any] = {
    "state": Coordinates,
    "motion": ForestMotion,
    "forces": TreeForces,
    "composite": Composite,
    "articulated": Articulated,
    "slopes": Slopes,
    "matrices": Matrices,
    "bodies": Motion,
    "aim": Aim,
}
# Of each array that is given or found the group it is in.
PLACES = {
    **dict.fromkeys(("q", "v"), "state"),
    **dict.fromkeys(("a", "tau", "wrenches", "gravity"), "forces"),
    **{name: group for group in ("matrices", "bodies", "aim") for name in arrays.fields(GROUPS[group])},
}


class Bench:
    """Arrays for a number of configurations and what is computed from them.

    Attributes:
        forest: The forest.
        rows: Number of configurations.
        lanes: How many share the room for intermediate results: threads of a CPU, all configurations on a GPU.

    Args:
        forest: The forest.
        layout: Its names and sizes.
        rows: Number of configurations.
        wrenches: Whether there are external wrenches.
        threads: Most threads that share them on a CPU.
    """

    def __init__(self, forest: Forest, layout: Layout, rows: int, wrenches: bool, threads: int) -> None:
        self.forest, self.rows = forest, rows
        self.device: Any = forest.parent.device
        self._threads = max(1, min(threads, rows // ROWS_A_THREAD)) if self.device.is_cpu else 1
        self.lanes = lanes = rows if self.device.is_cuda else self._threads
        bodies, rates = len(layout.bodies), len(layout.rates)
        self._counts = {
            "bodies": bodies * lanes,
            "columns": rates * lanes,
            "coordinates": len(layout.coordinates) * rows,
            "rates": rates * rows,
            "wrenches": 6 * bodies * rows * wrenches,
            "entries": rates * rates * rows,
            "places": 3 * rows,
            "fields": 1,
            "all_bodies": bodies * rows,
        }
        self.fault = wp.full(self._threads, NONE, dtype=wp.int32, device=self.device)
        self._size = (rows, lanes, len(layout.coordinates))
        self._fault, self._mirrors = Mirror(self.fault), dict[Any, Mirror]()
        self._launches: dict[Any, Callable[[], None]] = {}
        self._outs: dict[Any, Any] = {}
        self._memories: dict[str, Any] = {}
        if self.device.is_cpu:
            names = ("q", "v", "a", "tau", "q1", "point")
            self._memories = {name: self.array(name).numpy() for name in names}

    def __getattr__(self, name: str) -> Any:
        """A group, made when it is first needed."""
        if name not in GROUPS:
            raise AttributeError(name)
        counts = self._counts
        if name == "bodies":
            counts = {**counts, "bodies": counts["all_bodies"]}
        found = arrays.allocate(GROUPS[name], counts, self.device)
        setattr(self, name, found)
        return found

    def put(self, name: str, values: Any) -> None:
        """Write an array of the groups; a Warp array takes its place."""
        if isinstance(values, wp.array):
            setattr(getattr(self, PLACES[name]), name, values)
        elif np.ndim(values) == 0 and self.device.is_cuda:
            self.array(name).fill_(values)
        else:
            self.mirror(name).put(values)

    def fill(self, values: dict[str, Any], still: tuple[str, ...]) -> bool:
        """Write all that is given, and zeros, where each is a NumPy array of just the size; whether that is so."""
        for name, value in values.items():
            memory = self._memories.get(name)
            if memory is None or type(value) is not np.ndarray or value.shape != memory.shape:
                return False
            memory[:] = value
        for name in still:
            self._memories[name][:] = 0.0
        return True

    def compute(self, launches: Any, results: Any) -> tuple[NDArray[Any], ...]:
        """What launches find for the one configuration that is written."""
        for kernel, size in launches:
            self.launch(kernel, size)
        found = []
        for name, shape in results.items():
            array = self.take(name)
            found.append(array if array.shape == shape else array.reshape(shape))
        return tuple(found)

    def take(self, name: Any) -> NDArray[np.float64]:
        """The entries of such an array, in double precision."""
        return np.array(self.mirror(name).look(), dtype=np.float64)

    def mirror(self, name: Any) -> Mirror:
        """The host's side of an array of the groups, or of the ``out`` of a kernel."""
        found = self._mirrors.get(name)
        if found is None:
            found = self._mirrors[name] = Mirror(self.array(name))
        return found

    def array(self, name: Any) -> Any:
        """An array of the groups, or the ``out`` of a kernel."""
        return self._outs[name] if name in self._outs else getattr(getattr(self, PLACES[name]), name)

    def launch(self, kernel: Any, size: int = 0, part: tuple[int, int] = (0, 1)) -> None:
        """Launch a kernel.

        Args:
            kernel: The kernel.
            size: What its ``out`` takes for a configuration, if it has one.
            part: Number of the first configuration among all that are computed, and how many those are.
        """
        run = self._launches.get(kernel)
        if run is None:
            run = self._launches[kernel] = self._record(kernel, size)
        run()
        if self._threads > 1 or self._fault.look()[0] != NONE:
            self.check(part)

    def check(self, part: tuple[int, int] = (0, 1)) -> None:
        """Refuse configurations whose results are not finite."""
        if (row := self._fault.look().min()) != NONE:
            self.fault.fill_(NONE)
            raise InputError(_not_finite(part[0] + int(row), part[1]))

    def _record(self, kernel: Any, size: int) -> Callable[[], None]:
        self._outs[kernel] = out = wp.zeros(size * self.rows, dtype=real, device=self.device)
        names = inspect.signature(kernel.func).parameters
        runs = []
        for first in range(self._threads):
            own = {"out": out, "span": self.span(first)}
            taken = tuple(own[name] if name in own else getattr(self, name) for name in names)
            runs.append(recorded(kernel, self.rows if self.device.is_cuda else 1, taken, self.device))
        return runs[0] if len(runs) == 1 else partial(_together, runs)

    def span(self, first: int = 0) -> Span:
        """The configurations of a thread."""
        span = Span()
        span.first, (span.rows, span.lanes, span.coordinates) = first, self._size
        return span


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "articulated bodies")


def _together(runs: list[Callable[[], None]]) -> None:
    """Make launches at the same time; kernels of a CPU leave Python's lock to others."""
    for done in [_pool(len(runs)).submit(run) for run in runs]:
        done.result()


def _not_finite(row: int, rows: int) -> str:
    which = f"Configuration {row} of {rows}" if rows > 1 else "The configuration"
    return (
        f"{which} gives numbers that are not finite; coordinates, rates and forces must be finite and quaternions "
        "longer than zero."
    )
