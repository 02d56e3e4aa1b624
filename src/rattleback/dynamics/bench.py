"""Room for so many configurations at once, and the launches over them."""

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
from rattleback.reduced.articulated import Articulated
from rattleback.reduced.composite import Composite
from rattleback.reduced.forest import Coordinates, Forest, Layout
from rattleback.reduced.newton_euler import TreeForces
from rattleback.reduced.walk import TreeMotion

if TYPE_CHECKING:
    from collections.abc import Callable

# No configuration has failed.
NONE = 2**31 - 1


class Bench:
    """Arrays for a number of configurations and what is computed from them.

    Attributes:
        rows: Number of configurations.

    Args:
        forest: The forest.
        layout: Its names and sizes.
        rows: Number of configurations.
        wrenches: Whether there are external wrenches.
        gravity: Acceleration of free fall (3,) [m/s²].
    """

    def __init__(self, forest: Forest, layout: Layout, rows: int, wrenches: bool, gravity: Any) -> None:
        self.forest, self.layout, self.rows = forest, layout, rows
        self.device: Any = forest.parent.device
        lanes = rows if self.device.is_cuda else 1
        counts = {
            "bodies": len(layout.bodies) * lanes,
            "columns": len(layout.rates) * lanes,
            "coordinates": len(layout.coordinates) * rows,
            "rates": len(layout.rates) * rows,
            "wrenches": len(layout.bodies) * rows * wrenches,
            "fields": 1,
        }
        self._counts = counts
        self.state: Any = arrays.allocate(Coordinates, counts, self.device)
        self.motion: Any = arrays.allocate(TreeMotion, counts, self.device)
        self.forces: Any = arrays.allocate(TreeForces, counts, self.device)
        self.fault = wp.full(1, NONE, dtype=wp.int32, device=self.device)
        self.span = Span()
        self.span.rows, self.span.lanes, self.span.coordinates = rows, lanes, len(layout.coordinates)
        self.given = {name: Mirror(getattr(self.state, name)) for name in ("q", "v")}
        self.given |= {name: Mirror(getattr(self.forces, name)) for name in ("a", "tau", "outer_force", "outer_torque")}
        Mirror(self.forces.gravity).put(gravity)
        self._fault = Mirror(self.fault)
        self._launches: dict[str, tuple[Callable[[], None], Mirror]] = {}

    def __getattr__(self, name: str) -> Any:
        """Groups that only some launches need, made when first asked for."""
        kinds: dict[str, Any] = {"composite": Composite, "articulated": Articulated}
        if name not in kinds:
            raise AttributeError(name)
        found = arrays.allocate(kinds[name], self._counts, self.device)
        setattr(self, name, found)
        return found

    def launch(self, kernel: Any, result: str, size: int) -> Mirror:
        """Launch a kernel and return its result: an array of the forces, or one of so many numbers a configuration."""
        name = kernel.key
        if name not in self._launches:
            out = getattr(self.forces, result, None) or wp.zeros(size * self.rows, dtype=real, device=self.device)
            taken = [out if key == "out" else getattr(self, key) for key in inspect.signature(kernel.func).parameters]
            self._launches[name] = recorded(kernel, self.span.lanes, tuple(taken), self.device), Mirror(out)
        run, found = self._launches[name]
        run()
        if (row := self._fault.look()[0]) != NONE:
            self._fault.put(NONE)
            raise InputError(_not_finite(int(row), self.rows))
        return found


def _not_finite(row: int, rows: int) -> str:
    which = f"Configuration {row} of {rows}" if rows > 1 else "The configuration"
    return (
        f"{which} gives numbers that are not finite; its coordinates, rates and forces must be finite, its quaternions "
        "longer than zero, and its bodies must have inertia."
    )
