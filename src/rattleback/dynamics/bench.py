"""Room for a number of configurations at once, and the launches over them.

A launch is recorded once and replayed: what one configuration costs beside its arithmetic is a microsecond. Kernels
name what they take: an array group of this bench, ``span``, ``fault`` or ``out``, their result.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

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
from rattleback.reduced.walk import TreeMotion

if TYPE_CHECKING:
    from collections.abc import Callable

# No configuration has failed.
NONE = 2**31 - 1
# The groups a kernel can take.
GROUPS: dict[str, Any] = {
    "state": Coordinates,
    "motion": TreeMotion,
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
    **dict.fromkeys(("a", "tau", "outer"), "forces"),
    **{name: group for group in ("matrices", "bodies", "aim") for name in arrays.fields(GROUPS[group])},
}


class Bench:
    """Arrays for a number of configurations and what is computed from them.

    Attributes:
        forest: The forest.
        rows: Number of configurations.

    Args:
        forest: The forest.
        layout: Its names and sizes.
        rows: Number of configurations.
        wrenches: Whether there are external wrenches.
        gravity: Acceleration of free fall (3,) [m/s²].
    """

    def __init__(self, forest: Forest, layout: Layout, rows: int, wrenches: bool, gravity: Any) -> None:
        self.forest, self.rows = forest, rows
        self.device: Any = forest.parent.device
        lanes, bodies, rates = rows if self.device.is_cuda else 1, len(layout.bodies), len(layout.rates)
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
        self.fault = wp.full(1, NONE, dtype=wp.int32, device=self.device)
        self.span = Span()
        self.span.rows, self.span.lanes, self.span.coordinates = rows, lanes, len(layout.coordinates)
        self._fault, self._mirrors = Mirror(self.fault), dict[str, Mirror]()
        self._launches: dict[str, Callable[[], None]] = {}
        self._outs: dict[str, Any] = {}
        Mirror(self.forces.gravity).put(gravity)

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
            return
        self.mirror(name).put(values)

    def mirror(self, name: str) -> Mirror:
        """The host's side of an array of the groups."""
        if name not in self._mirrors:
            self._mirrors[name] = Mirror(self.array(name))
        return self._mirrors[name]

    def array(self, name: str) -> Any:
        """An array of the groups, or the ``out`` of a kernel."""
        return self._outs[name] if name in self._outs else getattr(getattr(self, PLACES[name]), name)

    def launch(self, kernel: Any, size: int = 0) -> None:
        """Launch a kernel; ``size`` is what its ``out`` takes for a configuration, if it has one."""
        if kernel.key not in self._launches:
            self._launches[kernel.key] = self._record(kernel, size)
        self._launches[kernel.key]()
        self.check()

    def check(self) -> None:
        """Refuse configurations whose results are not finite."""
        if (row := self._fault.look()[0]) != NONE:
            self._fault.put(NONE)
            raise InputError(_not_finite(int(row), self.rows))

    def _record(self, kernel: Any, size: int) -> Callable[[], None]:
        self._outs[out_of(kernel)] = out = wp.zeros(size * self.rows, dtype=real, device=self.device)
        names = inspect.signature(kernel.func).parameters
        taken = tuple(out if name == "out" else getattr(self, name) for name in names)
        return recorded(kernel, self.span.lanes, taken, self.device)


def out_of(kernel: Any) -> str:
    """The name of what a kernel writes that is in no group."""
    return f"out of {kernel.key}"


def _not_finite(row: int, rows: int) -> str:
    which = f"Configuration {row} of {rows}" if rows > 1 else "The configuration"
    return (
        f"{which} gives numbers that are not finite; coordinates, rates and forces must be finite and quaternions "
        "longer than zero."
    )
