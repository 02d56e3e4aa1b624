"""How episodes begin: coordinates and rates of trees of joints and of free bodies, fixed or drawn for each world."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.dynamics.articulation import Articulation
from rattleback.dynamics.states import NAMES, counted_angles, same_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rattleback.gym.draws import Draws
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]

# Poses are found for so many worlds at once.
CHUNK = 64


class Start:
    """Writes how episodes begin.

    Args:
        given: By name of a coordinate or rate, a number, bounds (low, high) that are drawn from, or the same with an
            array in place of numbers: ``"hinge.angle"``, ``"rail.position"``, ``"hinge.velocity"``; of a free body its
            ``"ball.position"`` and ``"ball.velocity"`` (3,). What is not named begins as the scene says.
        simulation: What begins.
    """

    def __init__(self, given: Mapping[str, Any], simulation: Simulation) -> None:
        self._simulation = simulation
        if given:
            _check_places(simulation.model.scenes.scenes)
        self._entries = [(*self._place(name), *_bounds(name, value)) for name, value in given.items()]
        for name, (_, part, low, _) in zip(given, self._entries, strict=True):
            if low.shape not in ((), (1,), (part.stop - part.start,)):
                raise InputError(
                    f"The start of {name!r} has {low.size} numbers; it must have {part.stop - part.start}."
                )
        self._rest = tuple(found[0] for found in self._robot.coordinates_of(simulation)) if given else ()

    def write(self, draws: Draws) -> None:
        """Write the start of the worlds of the draws, which were reset."""
        if not self._entries or not len(draws.worlds):
            return
        count = len(draws.worlds)
        q, v = (np.repeat(rest[None], count, axis=0) for rest in self._rest)
        for kind, part, low, high in self._entries:
            array = q if kind == "q" else v
            size = part.stop - part.start
            array[:, part] = draws.uniform(low, high, size) if high is not None else low
        for first in range(0, count, CHUNK):
            chosen = slice(first, first + CHUNK)
            self._write(draws.worlds[chosen], q[chosen], v[chosen])
        self._simulation.state.changed(draws.worlds)

    def _write(self, worlds: NDArray[np.int64], q: Floats, v: Floats) -> None:
        """Put the bodies of at most so many worlds where coordinates say."""
        robot, state = self._robot, self._simulation.state
        padding = ((0, CHUNK - len(q)), (0, 0))
        found = robot.motion(np.pad(q, padding, mode="edge"), np.pad(v, padding, mode="edge"))
        rows = (worlds[:, None] * state.shape[-1] + self._rows).ravel()
        for name, values in zip(NAMES, found, strict=True):
            state.mirror("motion", name).put(values[: len(q)].reshape(len(rows), -1), rows)
        angle, joints = state.mirror("joints", "angle"), len(self._simulation.scene.joints)
        for place, first in counted_angles(robot):
            angle.put(q[:, first], worlds * joints + place)

    @cached_property
    def _robot(self) -> Articulation:
        robot = Articulation(self._simulation.scene)
        if robot.cut_joints:
            raise InputError(
                f"A start by names of coordinates needs joints without loops; {robot.cut_joints[0]!r} closes one. Give "
                "a function of the simulation and the draws that writes the state."
            )
        return robot

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.array([self._simulation.scene.index(name) for name in self._robot.bodies])

    def _place(self, name: str) -> tuple[str, slice]:
        """Whether a name is of a coordinate (q) or a rate (v), and where it stands."""
        owner, _, inner = str(name).rpartition(".")
        kinds = {"angle": "q", "position": "q", "velocity": "v"}
        if inner not in kinds:
            raise InputError(
                f"The start has no {name!r}; it takes the angle, position or velocity of a joint with one coordinate, "
                "as 'hinge.angle', and the position or velocity of a free body."
            )
        found = self._robot.places(owner)[0 if kinds[inner] == "q" else 1]
        size = found.stop - found.start
        if size > 3 and owner in self._robot.bodies:
            return kinds[inner], slice(found.start, found.start + 3)
        if size != 1:
            raise InputError(f"The start has no {name!r}: joint {owner!r} has {size} coordinates. Give a function.")
        return kinds[inner], found


def _bounds(name: str, value: Any) -> tuple[Floats, Floats | None]:
    """A number or array and None, or the bounds of what is drawn."""
    low, high = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    try:
        found = np.asarray(low, dtype=np.float64), None if high is None else np.asarray(high, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.asarray(np.nan), None
    if not np.isfinite(found[0]).all() or (found[1] is not None and not np.isfinite(found[1]).all()):
        raise InputError(f"The start of {name!r} is {value!r}; it must be a number, an array, or bounds (low, high).")
    return found


def _check_places(scenes: list[Any]) -> None:
    """Refuse worlds whose bodies or joints are in other places: coordinates count from those of the first."""
    if not same_places(scenes):
        raise InputError(
            "A start by names of coordinates needs bodies and joints in the same places in all worlds, and vary moves "
            "them. Give a function of the simulation and the draws that writes the state."
        )
