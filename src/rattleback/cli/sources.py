"""What ``run`` runs: a scene of the menu, a scene or robot file or a saved state, as a simulation ready to step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.options import settings_of
from rattleback.cli.parameters import read_pairs
from rattleback.core.errors import FileError, InputError, UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    import argparse

    from rattleback.io.robots.report import Report
    from rattleback.simulation import Simulation

# How long a file is simulated when nothing is said; the scenes of the menu have durations of their own.
SECONDS_OF_A_FILE = 1.0
# Losses of a robot file that are told one by one.
SHOWN = 5


def open_source(arguments: argparse.Namespace) -> tuple[Simulation, float]:
    """The simulation and how long to simulate [s].

    Args:
        arguments: ``target``, ``parameters``, ``duration`` and the settings of the simulation, as ``cli.options``
            declares them; what is None or missing was not given.
    """
    from rattleback.scenes import MENU

    target, duration = str(arguments.target), getattr(arguments, "duration", None)
    if target in MENU:
        entry = MENU[target]
        return _from_menu(entry, arguments), entry.duration if duration is None else duration
    path = existing(target, list(MENU))
    if arguments.parameters:
        raise InputError(
            f"{target!r} is a file and takes no parameters such as {arguments.parameters[0]!r}; change the file."
        )
    sim = _from_state_file(path, arguments) if _is_archive(path) else _from_scene_file(path, arguments)
    return sim, SECONDS_OF_A_FILE if duration is None else duration


def existing(target: str, names: list[str]) -> Path:
    """The file called so; what is neither a file nor looks like one was meant to be a scene."""
    path = Path(target)
    try:
        if path.is_file():
            return path
    except OSError as error:
        raise FileError(f"{target!r} cannot be read: {error.strerror}.") from None
    if path.suffix or len(path.parts) > 1:
        raise FileError(f"There is no file {target!r}; `rattleback list` shows the scenes that need none.")
    raise UnknownName(f"There is no scene {target!r}.{did_you_mean(target, names)} There are {listing(names, 40)}.")


def _from_menu(entry: Any, arguments: argparse.Namespace) -> Simulation:
    from rattleback.scenes.parameters import parameters_of
    from rattleback.simulation import Simulation

    values = read_pairs(arguments.parameters, parameters_of(entry.build), arguments.target)
    settings = settings_of(arguments, time_step=entry.time_step, integrator=entry.integrator)
    return Simulation(entry.build(**values), **settings)


def _from_scene_file(path: Path, arguments: argparse.Namespace) -> Simulation:
    """A simulation of a scene or robot file; what of it is lost is told."""
    from rattleback.model import Scene
    from rattleback.simulation import Simulation

    scene = Scene.from_file(path)
    report = scene.import_report
    if report is not None and (report.approximated or report.dropped):
        output.say(short(report, "print(rb.Scene.from_file(path).import_report)"))
    robot: Any = scene.robot
    told = {} if robot is None else robot.settings
    return Simulation(scene, **settings_of(arguments, **told))


def short(report: Report, rest: str = "--json shows all") -> str:
    """A report with the first of its losses, and where the others are found."""
    lines = list(report.losses())
    more = [f"and {len(lines) - SHOWN} more: {rest}"] if len(lines) > SHOWN else []
    return "\n  ".join([report.summary(), *lines[:SHOWN], *more])


def _from_state_file(path: Path, arguments: argparse.Namespace) -> Simulation:
    from rattleback.io import state_file

    if getattr(arguments, "worlds", None) is not None:
        raise InputError(f"{str(path)!r} is a saved state, which has its worlds already; leave --worlds out.")
    sim = state_file.load(path, device=getattr(arguments, "device", None))
    changes = settings_of(arguments, contacts=sim.methods.contacts)
    changes.pop("device", None)
    sim.use(**changes)
    return sim


def _is_archive(path: Path) -> bool:
    """Whether a file is a zip archive, as saved states are; scene files are text."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"PK" and path.suffix.lower() != ".usdz"
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
