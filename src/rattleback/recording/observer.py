"""What is observed: quantities by name or functions of the simulation, as one row of numbers for each world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.model.coordinates import TURN
from rattleback.recording.quantities import find_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]
    Read = Callable[[Simulation], Any]
    Wanted = str | Read | Iterable[str | Read]


class Observer:
    """Reads observations.

    Attributes:
        names: Names of the numbers, with those of a function by the name of that.
        size: How many numbers a world has.

    Args:
        wanted: Names of quantities, as those of a recorder, and functions of the simulation that return (worlds,) or
            (worlds, n); one of them or a list.
        simulation: What is observed.
    """

    def __init__(self, wanted: Wanted, simulation: Simulation) -> None:
        single = isinstance(wanted, str) or callable(wanted)
        entries: list[Any] = [wanted] if single else list(wanted)  # type: ignore[arg-type]
        if not entries:
            raise InputError('There is nothing to observe; give names of quantities, such as ["hinge.angle"].')
        self._simulation = simulation
        found = [_reader(entry, simulation) for entry in entries]
        self._reads = [read for read, _ in found]
        self.names: list[str] = [name for _, names in found for name in names]
        self.size = len(self.names)

    def look(self) -> Floats:
        """The observations now, as an array of its own (worlds, size)."""
        simulation = self._simulation
        parts = [read(simulation) for read in self._reads]
        if len(parts) == 1:
            return np.array(parts[0], dtype=np.float64)
        return np.concatenate(parts, axis=1, dtype=np.float64)


def _reader(entry: Any, simulation: Simulation) -> tuple[Read, list[str]]:
    """What reads an entry as (worlds, n), and the names of its numbers."""
    if callable(entry):
        return _own(entry, simulation)
    if not isinstance(entry, str):
        raise InputError(f"{entry!r} cannot be observed; give the name of a quantity or a function of the simulation.")
    if (fast := _of_joint(entry, simulation)) is not None:
        return fast, [entry]
    quantity = find_quantity(entry, simulation)
    if quantity.worlds is None:
        raise InputError(f"{entry!r} cannot be observed: it is one number for all worlds.")
    count = len(quantity.labels)
    return (lambda sim: np.reshape(quantity.read(sim), (-1, count))), list(quantity.labels)


def _of_joint(name: str, simulation: Simulation) -> Read | None:
    """What reads a free coordinate or its rate out of those of all joints; None for another name."""
    owner, _, inner = name.rpartition(".")
    joints = simulation.joints
    places = [place for place, found in enumerate(joints.coordinates) if found.name.split(".")[0] == owner]
    turns = [joints.coordinates[place].freedom == TURN for place in places]
    if len(places) != 1 or inner not in ("angle" if turns[0] else "position", "velocity"):
        return None
    columns = slice(places[0], places[0] + 1)
    if inner == "velocity":
        return lambda sim: sim.joints.velocity[:, columns]
    return lambda sim: sim.joints.position[:, columns]


def _own(function: Any, simulation: Simulation) -> tuple[Read, list[str]]:
    """What reads by a function of the user, checked once."""
    worlds, name = simulation.worlds or 1, getattr(function, "__name__", "observed")

    def read(sim: Simulation) -> Floats:
        value = np.asarray(function(sim), dtype=np.float64)
        if value.shape[:1] != (worlds,) or value.ndim > 2:
            raise InputError(
                f"The function {name!r} observes an array of shape {value.shape}; it must be ({worlds}, n), one row a "
                "world."
            )
        return value.reshape(worlds, -1)

    count = read(simulation).shape[1]
    return read, [name] if count == 1 else [f"{name}.{place}" for place in range(count)]
