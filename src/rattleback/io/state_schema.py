"""What the header of a state file holds: where it comes from, the scene, and the settings of the simulation."""

from __future__ import annotations

import math
import numbers
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from rattleback import integrators, steps
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.broadphase import bounds
from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError, listing
from rattleback.io.shape_schema import Entry, Name, Positive
from rattleback.settings import CONTACT_TOLERANCES, DETECTION, MOST_SUBSTEPS
from rattleback.solvers import contacts, joints

if TYPE_CHECKING:
    from types import ModuleType

    from rattleback.simulation import Simulation

FORMAT = "rattleback-state"
VERSION = 1
INFINITY = "infinity"  # JSON has no number for it
# What a slot of the simulation is called in messages, and the room whose menu fills it.
SLOTS: dict[str, tuple[str, ModuleType]] = {
    "step": ("step", steps),
    "integrator": ("integrator", integrators),
    "joints": ("joint method", joints),
    "contacts": ("contact method", contacts),
    "broadphase": ("broad phase", broadphase),
    "narrowphase": ("narrow phase", narrowphase),
    "bounding_volume": ("bounding volume", bounds),
}


class MethodEntry(Entry):
    """A method of a menu and its parameters."""

    name: str
    parameters: dict[str, Any]


class SettingsEntry(Entry):
    """The settings of a simulation that are not in the arrays of its state.

    Files from before there were joints, contacts, presets or steps lack the settings of those; they get the defaults.
    """

    preset: str | None = None
    substeps: int | None = Field(None, ge=1, le=MOST_SUBSTEPS)
    step: MethodEntry | None = None
    integrator: MethodEntry
    joints: MethodEntry | None = None
    contacts: str | MethodEntry | None = None
    penetration_tolerance: Positive | None = None
    contact_velocity_tolerance: Positive | None = None
    broadphase: MethodEntry | None = None
    narrowphase: MethodEntry | None = None
    contact_distance: float | None = Field(None, ge=0.0, allow_inf_nan=False)
    bounding_volume: MethodEntry | None = None
    contact_points: int | None = Field(None, ge=1)
    contact_volumes: bool | None = None
    contact_every: int | None = Field(None, ge=1)
    contact_time: str | None = None
    worlds: int | None = Field(ge=1)
    position_tolerance: Positive
    orientation_tolerance: Positive | None = None
    velocity_tolerance: Positive
    closing_speed: Positive | None = None
    max_iterations: int | None = Field(None, ge=1, le=checks.MOST)
    sleep: bool | None = None
    strict: bool
    warn: bool | None = None


class HeaderEntry(Entry):
    """The header of a state file."""

    format: Literal["rattleback-state"]
    version: Literal[1]
    rattleback: str
    precision: Literal["double", "single"]
    bodies: list[Name] = Field(min_length=1)
    joints: list[Name] = Field([])
    servos: list[Name] = Field([])
    code_joints: list[Name] = Field([])
    code_forces: list[Name]
    scene: dict[str, Any] | None
    scenes: list[dict[str, Any]] = Field([])
    settings: SettingsEntry


ENTRIES: dict[str, type[Entry]] = {"": HeaderEntry, "settings": SettingsEntry}
# Contacts may also be text, so that the kind of table comes last in their path.
ENTRIES |= dict.fromkeys((*SLOTS, MethodEntry.__name__), MethodEntry)


def settings_data(simulation: Simulation) -> dict[str, Any]:
    """The settings of a simulation as plain data.

    Raises:
        InputError: A method is not on its menu.
    """
    methods = simulation.methods
    detection = {name: getattr(methods.detection, inner, None) for name, inner in DETECTION.items()}
    slots = ("step", "integrator", "joints", "contacts")
    chosen = {**{slot: getattr(methods, slot) for slot in slots}, **detection}
    plain = ("preset", "substeps", "contact_time", "closing_speed", "max_iterations", "sleep", *CONTACT_TOLERANCES)
    return {
        **{name: value for name, value in chosen.items() if name not in SLOTS},
        **{slot: None if chosen[slot] is None else _method_data(slot, chosen[slot]) for slot in SLOTS},
        **{name: getattr(methods, name) for name in plain},
        **methods.tolerances,
        "worlds": simulation.worlds,
        "strict": simulation.strict,
        "warn": simulation.warn,
    }


def make_settings(entry: SettingsEntry) -> dict[str, Any]:
    """The keyword options of the simulation that was saved, with the methods the header names."""
    given = entry.model_dump(exclude_none=True)
    return {**given, **{slot: _make_method(slot, getattr(entry, slot)) for slot in SLOTS if slot in given}}


def _method_data(slot: str, method: Any) -> dict[str, Any]:
    """A method as its name and its parameters."""
    what, room = SLOTS[slot]
    name = next((name for name, kind in _kinds(room).items() if type(method) is kind), None)
    if name is None:
        raise InputError(
            f"The {what} {method!r} is not on the menu, so a state file cannot name it; choose another with "
            f"sim.use({slot}=...) before saving. The menu: {listing(list(room.MENU))}."
        )
    parameters = {field.name: _plain(slot, getattr(method, field.name)) for field in fields(method)}
    return {"name": name, "parameters": parameters}


def _make_method(slot: str, entry: MethodEntry | str) -> Any:
    what, room = SLOTS[slot]
    if isinstance(entry, str):
        return choose(what, entry, _kinds(room), room.NEEDS)
    kind = type(choose(what, entry.name, _kinds(room), room.NEEDS))
    checks.options(entry.parameters, [field.name for field in fields(kind)], f"The {what} {entry.name!r}")
    given = {key: _given(slot, value) for key, value in entry.parameters.items()}
    sets = [field.name for field in fields(kind) if isinstance(field.default, frozenset)]
    return kind(**{key: frozenset(value) if key in sets else value for key, value in given.items()})


def _kinds(room: ModuleType) -> dict[str, type[Any]]:
    """The methods a file can name: those of the menu, and those made of others."""
    return {**room.MENU, **getattr(room, "COMPOSED", {})}


def _plain(slot: str, value: Any) -> Any:
    """A parameter as plain data; methods inside another become tables."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, tuple | frozenset):
        return [_plain(slot, part) for part in (value if isinstance(value, tuple) else sorted(value))]
    if not isinstance(value, numbers.Real):
        return _method_data(slot, value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if math.isfinite(value) else INFINITY


def _given(slot: str, value: Any) -> Any:
    """A parameter from plain data."""
    if isinstance(value, list):
        return tuple(_given(slot, part) for part in value)
    if isinstance(value, dict):
        what = SLOTS[slot][0]
        try:
            return _make_method(slot, MethodEntry.model_validate(value))
        except ValidationError:
            raise InputError(f"A {what} inside another is {value!r}; it must have a name and parameters.") from None
    return math.inf if value == INFINITY else value
