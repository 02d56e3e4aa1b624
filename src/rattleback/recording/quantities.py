"""Quantities by name: what can be recorded, in which unit, and how its numbers are called one by one.

A name stands for something of all bodies (``position``), of one body or group (``arm.position``, split at the last
dot), of the world (``energy``) or of the report of the step (``iterations``). Anything else is a function of one's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.maths.rotation import conjugate, rotate
from rattleback.model.measure import worlds_first

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.simulation import Simulation

    Read = Callable[[Simulation], Any]

XYZ = ("x", "y", "z")


class Kind(NamedTuple):
    """What is known about a quantity before any scene: unit, names of its components (none for a number), reader."""

    unit: str
    components: tuple[str, ...]
    read: Read


@dataclass(frozen=True)
class Quantity:
    """Something to record from one simulation.

    Attributes:
        name: What it is asked for by.
        unit: Unit of its numbers; empty for none.
        labels: Names of its numbers in one world, in the order of the flattened array.
        shape: Shape in one world.
        worlds: Number of worlds in its leading axis; None for no such axis.
        read: Function of the simulation that gives the numbers.
        own: Whether the function is the user's.
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    shape: tuple[int, ...]
    worlds: int | None
    read: Read
    own: bool = False

    @property
    def full_shape(self) -> tuple[int, ...]:
        """Shape of one sample, with the world axis where there is one."""
        return self.shape if self.worlds is None else (self.worlds, *self.shape)

    @property
    def columns(self) -> list[str]:
        """Names of the numbers of one sample with their unit, world by world."""
        worlds = [""] if self.worlds is None else [f"world_{world}." for world in range(self.worlds)]
        return [f"{world}{label}{bracket(self.unit)}" for world in worlds for label in self.labels]


def bracket(unit: str) -> str:
    """The unit in brackets after a space; nothing where there is none."""
    return f" [{unit}]" if unit else ""


def _window(name: str) -> Read:
    return lambda sim: worlds_first(sim.model, sim.state.now(name))


def _local_spin(sim: Simulation) -> NDArray[np.float64]:
    return rotate(conjugate(_window("orientation")(sim)), _window("angular_velocity")(sim))


def _origin(sim: Simulation) -> NDArray[np.float64]:
    centers = np.array([body.center_of_mass for body in sim.scene.bodies]).reshape(-1, 3)
    turn = _window("orientation")(sim)
    return _window("position")(sim) - rotate(turn, np.broadcast_to(centers, (*turn.shape[:-1], 3)))


def _kinetic_energy(sim: Simulation) -> NDArray[np.float64]:
    return sim.measures.of_bodies("translational") + sim.measures.of_bodies("rotational")


def _spin_momentum(sim: Simulation) -> NDArray[np.float64]:
    return sim.measures.of_bodies("spin")


def _energies(sim: Simulation) -> NDArray[np.float64]:
    energy = sim.energy()
    return np.stack([energy.kinetic, energy.potential, energy.total], axis=-1)


# Of every body, shape (worlds, bodies, components), without the last axis for a number.
BODY: dict[str, Kind] = {
    "position": Kind("m", XYZ, _window("position")),
    "origin": Kind("m", XYZ, _origin),
    "orientation": Kind("", (*XYZ, "w"), _window("orientation")),
    "velocity": Kind("m/s", XYZ, _window("velocity")),
    "angular_velocity": Kind("rad/s", XYZ, _window("angular_velocity")),
    "angular_velocity_local": Kind("rad/s", XYZ, _local_spin),
    "kinetic_energy": Kind("J", (), _kinetic_energy),
    "angular_momentum": Kind("kg m²/s", XYZ, _spin_momentum),
    "applied_force": Kind("N", XYZ, _window("applied_force")),
    "applied_torque": Kind("N m", XYZ, _window("applied_torque")),
}

# Of the world, in the user's view: with a leading world axis where worlds were asked for.
WORLD: dict[str, Kind] = {
    "energy": Kind("J", ("kinetic", "potential", "total"), _energies),
    "energy.kinetic": Kind("J", (), lambda sim: sim.energy().kinetic),
    "energy.potential": Kind("J", (), lambda sim: sim.energy().potential),
    "energy.total": Kind("J", (), lambda sim: sim.energy().total),
    "momentum": Kind("kg m/s", XYZ, lambda sim: sim.momentum().linear),
    "momentum.angular": Kind("kg m²/s", XYZ, lambda sim: sim.momentum().angular),
}

# Of the report: one number for all worlds, the worst since the current call to step or run began.
REPORT: dict[str, Kind] = {
    "position_error": Kind("m", (), lambda sim: sim.report.position_error),
    "orientation_error": Kind("rad", (), lambda sim: sim.report.orientation_error),
    "velocity_error": Kind("m/s", (), lambda sim: sim.report.velocity_error),
    "integration_error": Kind("", (), lambda sim: sim.report.integration_error),
    "penetration": Kind("m", (), lambda sim: sim.report.penetration),
    "iterations": Kind("", (), lambda sim: sim.report.iterations),
    "contact_sweeps": Kind("", (), lambda sim: sim.report.contact_sweeps),
    "converged": Kind("", (), lambda sim: sim.report.converged),
}

# Of one joint, by its name: ``hinge.angle``. The unit of a velocity is that of its coordinate per second.
JOINT: dict[str, tuple[str, tuple[str, ...]]] = {
    "angle": ("rad", ()),
    "position": ("m", ()),
    "velocity": ("", ()),
    "reaction_force": ("N", XYZ),
    "reaction_torque": ("N m", XYZ),
}

# Of a named frame of a robot, by its place in what ``robot.motion`` gives.
FRAME = {"position": 0, "orientation": 1, "velocity": 2, "angular_velocity": 3}

NAMES = [*BODY, *WORLD, *REPORT]


def find_quantity(name: str, sim: Simulation) -> Quantity:
    """The quantity of this name; a wrong name is answered with the menu."""
    if name in WORLD or name in REPORT:
        kind = WORLD[name] if name in WORLD else REPORT[name]
        labels = tuple(f"{name}.{component}" for component in kind.components) or (name,)
        shape = (len(kind.components),) if kind.components else ()
        return Quantity(name, kind.unit, labels, shape, sim.worlds if name in WORLD else None, kind.read)
    if name in BODY:
        return _of_bodies(name, name, sim, slice(None))
    owner, dot, inner = name.rpartition(".")
    if (found := _of_robot(name, owner, inner, sim)) is not None:
        return found
    if owner in sim.scene.joints and inner in JOINT:
        return _of_joint(name, owner, inner, sim)
    if not dot or inner not in BODY:
        known = [*NAMES, *(f"{owner}.{entry}" for entry in BODY if owner in _owners(sim))]
        raise UnknownName(
            f"There is no quantity {name!r}.{did_you_mean(name, known)} There are {listing(NAMES, 30)}; "
            "'arm.position' for a body or group 'arm'; 'hinge.angle' and others of a joint 'hinge'; and pairs (name, "
            "function of the simulation) of your own."
        )
    return _of_bodies(name, inner, sim, _rows(name, owner, sim))


def _of_robot(name: str, owner: str, inner: str, sim: Simulation) -> Quantity | None:
    """A sensor of the file that the scene came from, or a frame of it that is no body; None for another name."""
    robot = sim.scene.robot
    if robot is None:
        return None
    if name in robot.measures:
        unit, read = robot.measures[name]
        return own_quantity(f"{name}{bracket(unit)}", read, sim)[0]
    if owner in robot.frames and owner not in _owners(sim) and inner in FRAME:
        index = FRAME[inner]
        told = f"{name}{bracket(BODY[inner].unit)}"
        return own_quantity(told, lambda later: robot.motion(later, owner)[index], sim)[0]
    return None


def own_quantity(name: object, read: Any, sim: Simulation) -> tuple[Quantity, NDArray[np.float64]]:
    """A quantity of the user's own and its first sample, which settles its shape.

    Args:
        name: Its name; a unit may follow in brackets, as in ``height [m]``.
        read: Function of the simulation that returns a number or an array.
        sim: The simulation.
    """
    bare, unit = split_unit(checks.text(name, "The name of a quantity"))
    if bare in (*NAMES, "time", "columns"):
        raise InputError(
            f"A quantity of your own is called {bare!r}, which has a meaning already; choose another name."
        )
    if not callable(read):
        raise InputError(f"The quantity {bare!r} is {read!r}; it must be a function of the simulation.")
    first = _read_own(bare, read, sim)
    labels = tuple(".".join([bare, *map(str, index)]) for index in np.ndindex(first.shape))
    own = Quantity(bare, unit, labels, first.shape, None, lambda later: _read_own(bare, read, later), own=True)
    return own, first


def split_unit(name: str) -> tuple[str, str]:
    """Name and unit of ``name [unit]``; the unit is empty where there is none."""
    bare, opening, unit = name.rpartition(" [")
    return (bare, unit[:-1]) if bare and opening and unit.endswith("]") else (name, "")


def _read_own(name: str, read: Read, sim: Simulation) -> NDArray[np.float64]:
    """The numbers a user's function gives now; whatever goes wrong in it names the quantity."""
    try:
        value = read(sim)
    except Exception as error:
        raise InputError(
            f"The quantity {name!r} could not be read at t = {sim.time:.6g} s; its function raised "
            f"{type(error).__name__}: {error}"
        ) from error
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.asarray(None)
    if found.dtype.kind not in "biuf" or not found.size:
        raise InputError(f"The quantity {name!r} is {value!r}; its function must return a number or an array of them.")
    return found.astype(np.float64)


def _of_joint(name: str, owner: str, inner: str, sim: Simulation) -> Quantity:
    unit, components = JOINT[inner]
    getattr(sim[owner], inner)  # a joint without the coordinate says so now
    labels = tuple(f"{name}.{component}" for component in components) or (name,)
    shape = (len(components),) if components else ()
    return Quantity(name, unit, labels, shape, sim.worlds, lambda later: getattr(later[owner], inner))


def _of_bodies(name: str, inner: str, sim: Simulation, rows: Any) -> Quantity:
    kind, chosen = BODY[inner], np.array(sim.model.names, dtype=object)[rows]
    labels = tuple(
        ".".join([body, inner, *filter(None, [component])])
        for body in np.atleast_1d(chosen)
        for component in kind.components or ("",)
    )
    shape = np.shape(chosen) + ((len(kind.components),) if kind.components else ())

    def read(simulation: Simulation) -> Any:
        values = kind.read(simulation)[:, rows]
        return values if simulation.worlds is not None else values[0]

    return Quantity(name, kind.unit, labels, shape, sim.worlds, read)


def _rows(name: str, owner: str, sim: Simulation) -> Any:
    """Index of a body, or indices of a group, in one world."""
    if owner not in _owners(sim):
        known = _owners(sim)
        raise UnknownName(
            f"The quantity {name!r} is of {owner!r}, which is no body or group.{did_you_mean(owner, known)} "
            f"There are {listing(known)}."
        )
    names = sim[owner].names
    return [sim.model.index(body) for body in names] if owner in sim.scene.groups else sim.model.index(owner)


def _owners(sim: Simulation) -> list[str]:
    return [*sim.model.names, *sim.scene.groups]
