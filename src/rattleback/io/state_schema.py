"""What the header of a state file holds: where it comes from, the scene, and the settings of the simulation."""

from __future__ import annotations

import math
import numbers
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from rattleback import integrators
from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError, listing
from rattleback.io.shape_schema import Entry, Name, Positive

if TYPE_CHECKING:
    from rattleback.core.protocols import Integrator

FORMAT = "rattleback-state"
VERSION = 1
INFINITY = "infinity"  # JSON has no number for it


class IntegratorEntry(Entry):
    """An integrator of the menu and its parameters."""

    name: str
    parameters: dict[str, Any]


class SettingsEntry(Entry):
    """The settings of a simulation that are not in the arrays of its state."""

    integrator: IntegratorEntry
    worlds: int | None = Field(ge=1)
    position_tolerance: Positive
    velocity_tolerance: Positive
    strict: bool


class HeaderEntry(Entry):
    """The header of a state file."""

    format: Literal["rattleback-state"]
    version: Literal[1]
    rattleback: str
    precision: Literal["double", "single"]
    bodies: list[Name] = Field(min_length=1)
    code_forces: list[Name]
    scene: dict[str, Any] | None
    settings: SettingsEntry


ENTRIES: dict[str, type[Entry]] = {"": HeaderEntry, "settings": SettingsEntry, "integrator": IntegratorEntry}


def integrator_data(integrator: Integrator) -> dict[str, Any]:
    """An integrator as plain data: its name on the menu and its parameters."""
    name = next((name for name, kind in integrators.MENU.items() if type(integrator) is kind), None)
    if name is None:
        raise InputError(
            f"The integrator {integrator!r} is not on the menu, so a state file cannot name it; choose another with "
            f"sim.use(integrator=...) before saving. The menu: {listing(list(integrators.MENU))}."
        )
    parameters: Any = {field.name: getattr(integrator, field.name) for field in fields(integrators.MENU[name])}
    return {"name": name, "parameters": {key: _plain(value) for key, value in parameters.items()}}


def make_integrator(entry: IntegratorEntry) -> Integrator:
    """The integrator a header names."""
    default: Integrator = choose("integrator", entry.name, integrators.MENU, integrators.NEEDS)
    kind: Any = type(default)
    checks.options(entry.parameters, [field.name for field in fields(kind)], f"The integrator {entry.name!r}")
    made: Integrator = kind(
        **{key: math.inf if value == INFINITY else value for key, value in entry.parameters.items()}
    )
    return made


def _plain(value: float) -> float | str:
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if math.isfinite(value) else INFINITY
