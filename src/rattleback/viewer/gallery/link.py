"""Links: a scene of the list with its parameters and settings, as the query of an address.

    ?scene=wall&rows=4&joints=iterative&time_step=0.005

Names are those of the command line, and so is how strictly they are read: what is unknown, given twice or of another
kind is refused with a sentence. Methods are named from their menus; a link never imports anything and opens no file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.scenes import MENU
from rattleback.scenes.parameters import parameters_of, read_value, written
from rattleback.settings import CONTACT_TOLERANCES, TOLERANCES, default_methods
from rattleback.simulation import Simulation
from rattleback.viewer.panels.slots import AUTOMATIC, NO_LAW, SLOTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.viewer.frame import Frame

SCENE, PAUSED, PACE = "scene", "paused", "pace"
NUMBERS = ("time_step", *TOLERANCES, *CONTACT_TOLERANCES)
COUNTS, TICKS = ("substeps", "max_iterations"), ("sleep", PAUSED)
METHODS = {slot.name: slot for slot in SLOTS}
# What a setting may begin with; it has to where a parameter of the scene has its name.
DASHES = "--"
# More than any page writes.
LONGEST = 4000


@dataclass(frozen=True)
class Link:
    """A scene of the list and what is said about it.

    Attributes:
        scene: Its name.
        parameters: Its parameters that are not as usual.
        settings: Settings of the simulation, by the names of the command line; methods by their names.
        speed: Simulated seconds in a second.
        paused: Whether it waits.
    """

    scene: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    speed: float = 1.0
    paused: bool = False

    def make(self, device: str) -> Simulation:
        """The simulation.

        Args:
            device: Where to simulate.
        """
        entry = MENU[self.scene]
        plain = {name: value for name, value in self.settings.items() if name not in METHODS}
        given: dict[str, Any] = {"time_step": entry.time_step, "integrator": entry.integrator, **plain}
        sim = Simulation(entry.build(**self.parameters), device=device, **given)
        for name, slot in METHODS.items():
            if name in self.settings:
                slot.choose(sim, self.settings[name])
        return sim

    @property
    def query(self) -> str:
        """It as the query of an address."""
        known = parameters_of(MENU[self.scene].build)
        settings = {f"{DASHES if name in known else ''}{name}": value for name, value in self.settings.items()}
        said = {SCENE: self.scene, **self.parameters, **settings}
        if self.speed != 1.0:
            said[PACE] = self.speed
        if self.paused:
            said[PAUSED] = True
        return urlencode({name: written(value) for name, value in said.items()})

    @property
    def command(self) -> str:
        """It as a command line."""
        parameters = [f"{name}={written(value)}" for name, value in self.parameters.items()]
        options = [
            f"--{name.replace('_', '-')}" + ("" if value is True else f" {written(value)}")
            for name, value in self.settings.items()
            if name not in ("level", "stabilisation", "order")
        ]
        return " ".join(["rattleback view", self.scene, *parameters, *options])


def read_link(query: str) -> Link | None:
    """What the query of an address asks for; None where it asks for no scene.

    Args:
        query: What stands behind the question mark.

    Raises:
        InputError: Something in it is unknown, given twice, or of another kind.
        UnknownName: There is no such scene or method.
    """
    pairs = parse_qsl(query[:LONGEST], keep_blank_values=True)
    said = dict(pairs)
    if SCENE not in said:
        return None
    if len(said) < len(pairs) or len(query) > LONGEST:
        raise InputError("The link says something twice, or is too long; say everything once.")
    name = said.pop(SCENE)
    if name not in MENU:
        raise UnknownName(f"There is no scene {name!r}.{did_you_mean(name, list(MENU))}")
    known = parameters_of(MENU[name].build)
    parameters = {key: read_value(said.pop(key), known[key], name) for key in list(said) if key in known}
    if len({key.removeprefix(DASHES) for key in said}) < len(said):
        raise InputError("The link says something twice, or is too long; say everything once.")
    read = {key.removeprefix(DASHES): _read(key.removeprefix(DASHES), text, list(known)) for key, text in said.items()}
    speed, paused = read.pop(PACE, 1.0), read.pop(PAUSED, False)
    if not speed > 0.0:
        raise InputError(f"The pace of the link is {speed:g}; it must be more than zero.")
    return Link(name, parameters, read, speed, paused)


def settings_of(frame: Frame, scene: str) -> dict[str, Any]:
    """The settings of the first simulation that are not what holds where nothing is said about a scene of the list."""
    methods, usual = frame.picture.methods, replace(default_methods(), integrator=_integrator(scene))
    found: dict[str, Any] = {}
    if frame.time_step != MENU[scene].time_step:
        found["time_step"] = frame.time_step
    for name, slot in METHODS.items():
        value = slot.read(methods)
        told = name == "preset" or methods.preset == usual.preset
        if value in slot.options and value not in (AUTOMATIC, NO_LAW) and not (told and value == slot.read(usual)):
            found[name] = value
    for name in (*TOLERANCES, *CONTACT_TOLERANCES, *COUNTS, "sleep"):
        now: Any = methods.tolerances[name] if name in TOLERANCES else getattr(methods, name)
        before: Any = usual.tolerances[name] if name in TOLERANCES else getattr(usual, name)
        if now is not None and now != before:
            found[name] = now
    return found


def _integrator(scene: str) -> Any:
    """The integrator that a scene is meant for."""
    return INTEGRATORS[MENU[scene].integrator]()


def _read(key: str, text: str, parameters: list[str]) -> Any:
    """The value of a setting."""
    if key in METHODS:
        if text not in METHODS[key].options:
            there = listing(METHODS[key].options, 20)
            raise UnknownName(
                f"The link says {key}={text}, which is not on the menu.{did_you_mean(text, METHODS[key].options)} "
                f"There are {there}."
            )
        return text
    if key in TICKS:
        if text.lower() not in ("true", "false"):
            raise InputError(f"The link says {key}={text}; it must be true or false.")
        return text.lower() == "true"
    if key not in (*NUMBERS, *COUNTS, PACE):
        names = [*parameters, *METHODS, *NUMBERS, *COUNTS, *TICKS, PACE]
        raise InputError(f"A link cannot say {key!r}.{did_you_mean(key, names)} It can say {listing(names, 60)}.")
    try:
        value = int(text) if key in COUNTS else float(text)
    except ValueError:
        kind = "a whole number" if key in COUNTS else "a number"
        raise InputError(f"The link says {key}={text}; it must be {kind}.") from None
    if math.isnan(value):
        raise InputError(f"The link says {key}={text}; it must be a number.")
    return value
