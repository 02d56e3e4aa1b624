"""Options that all commands share which simulate: what to simulate, and how."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rattleback.cli.plugins import OPTION_OF, resolve, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping


def number(text: str) -> float:
    """A number, for argparse."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def whole_number(text: str) -> int:
    """A whole number, for argparse."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them, for argparse."""
    found = tuple(name.strip() for name in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names with commas between them")
    return found


# Options by setting: how its value is called, read and explained. Those of SLOTS may also be package.module:Name.
OPTIONS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "time_step": ("H", number, "length of a step [s]"),
    "substeps": ("N", whole_number, "sub-steps of a step"),
    "preset": ("NAME", str, "settings that go together: accurate, balanced or fast"),
    "device": ("NAME", str, "cpu, cuda or cuda:0"),
    "worlds": ("N", whole_number, "copies of the scene side by side"),
    "step": ("METHOD", str, "what happens in a step: impulse, or extrapolated(order=8) or composed for high order"),
    "integrator": ("METHOD", str, "how free bodies are moved, such as rk4"),
    "joints": ("METHOD", str, "how joints are held: direct or iterative"),
    "contacts": ("METHOD", str, "how contacts are resolved: impulse, shock, time_stepping, detect or none"),
    "contact_solver": ("METHOD", str, "what solves contacts, such as pgs, apgd or lemke"),
    "law": ("LAW", str, "law of friction: coulomb, cone, pyramid or frictionless"),
    "restitution": ("LAW", str, "law of collisions: newton, poisson or stronge"),
    "broadphase": ("METHOD", str, "how pairs that may touch are found, such as sweep"),
    "narrowphase": ("METHOD", str, "how contacts of a pair are found, such as gjk"),
    "bounding_volume": ("METHOD", str, "what pairs are tested with before that, such as oriented"),
    "contact_time": ("NAME", str, "bisect or interpolate to end steps when bodies touch, or off"),
    "position_tolerance": ("M", number, "how far joints may be apart [m]"),
    "orientation_tolerance": ("RAD", number, "how far they may be turned [rad]"),
    "velocity_tolerance": ("V", number, "how fast they may come apart [m/s, rad/s]"),
    "penetration_tolerance": ("M", number, "how deep contacts may overlap [m]"),
    "contact_velocity_tolerance": ("V", number, "how fast contacts may be that are to be stopped [m/s]"),
    "max_iterations": ("N", whole_number, "most corrections of the joints in a step"),
}
FLAGS = {
    "sleep": "let bodies at rest sleep",
    "strict": "end the run where a step does not meet its tolerance",
}
SLOTS = ("step", "integrator", "joints", "contacts", "broadphase", "narrowphase", "bounding_volume")


def add_source_arguments(parser: argparse.ArgumentParser, least: int = 1) -> None:
    """Declare what to simulate: ``target`` and ``parameters``; with ``least`` 0 it may be left out."""
    needed: dict[str, Any] = {} if least else {"nargs": "?"}
    parser.add_argument(
        "target", metavar="NAME|FILE", **needed, help="a scene of the list, a scene file (.rb.json) or a saved state"
    )
    parser.add_argument("parameters", metavar="key=value", nargs="*", default=[], help="parameters of the scene")


def add_simulation_options(parser: argparse.ArgumentParser, leave_out: Collection[str] = ()) -> Any:
    """Declare how to simulate, one option a setting, None where it is not given; see :func:`settings_of`.

    Args:
        parser: The parser of a command.
        leave_out: Settings that are no options of this command, or that it declares by itself.

    Returns:
        The group of options, to which a command can add its own.
    """
    group = parser.add_argument_group(
        "how to simulate; what is left out is as the scene is meant to run",
        "A METHOD is a name, with arguments if need be, impulse(solver=pgs), or package.module:Name of your own.",
    )
    for setting, (metavar, read, sentence) in OPTIONS.items():
        if setting not in leave_out:
            group.add_argument(_option(setting), metavar=metavar, type=read, help=sentence)
    for setting, sentence in FLAGS.items():
        if setting not in leave_out:
            group.add_argument(_option(setting), action="store_const", const=True, help=sentence)
    return group


def settings_of(arguments: argparse.Namespace, **usual: Any) -> dict[str, Any]:
    """The settings of a simulation that were given, with the methods they name.

    Args:
        arguments: What was given; what is None or was left out is not a setting.
        **usual: What holds where nothing else is given; ``contacts`` is only what gets another solver or law.
    """
    found = {name: getattr(arguments, name, None) for name in (*OPTIONS, *FLAGS)}
    given = {name: value for name, value in found.items() if value is not None}
    parts = {part: given.pop(name, None) for part, name in OPTION_OF.items()}
    chosen, contacts = {part: value for part, value in parts.items() if value is not None}, usual.pop("contacts", None)
    settings = {**usual, **given, **{slot: resolve(slot, given[slot]) for slot in SLOTS if slot in given}}
    if chosen:
        settings["contacts"] = with_parts(_contacts(settings, contacts), **chosen)
    return settings


def _contacts(settings: Mapping[str, Any], usual: Any) -> Any:
    """The contact method that settings ask for, by themselves, by their preset, or as usual."""
    from rattleback.presets import with_preset
    from rattleback.settings import default_methods

    return with_preset(settings).get("contacts", usual) or default_methods().contacts


def _option(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"
