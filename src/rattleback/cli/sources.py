"""What ``run`` runs: a scene of the menu, a scene file or a saved state, as a simulation ready to step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli.parameters import parameters_of, read_pairs
from rattleback.core.errors import FileError, InputError, UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    import argparse

    from rattleback.simulation import Simulation

SCENE_SUFFIX = ".json"
# How long a file is simulated when nothing is said; the scenes of the menu have durations of their own.
SECONDS_OF_A_FILE = 1.0


def open_source(arguments: argparse.Namespace) -> tuple[Simulation, float]:
    """The simulation and how long to simulate [s].

    Args:
        arguments: ``target``, ``parameters``, ``duration`` and the settings of the simulation; None for what was not
            given.
    """
    from rattleback.scenes import MENU

    target: str = arguments.target
    if target in MENU:
        return _from_menu(MENU[target], arguments)
    path = Path(target)
    if not path.suffix and len(path.parts) < 2 and not path.is_file():
        names = list(MENU)
        raise UnknownName(f"There is no scene {target!r}.{did_you_mean(target, names)} There are {listing(names, 40)}.")
    if not path.is_file():
        raise FileError(f"There is no file {target!r}; `rattleback list` names the scenes that need none.")
    if arguments.parameters:
        raise InputError(
            f"{target!r} is a file, which has no parameters such as {arguments.parameters[0]!r}; change the file instead."
        )
    duration = SECONDS_OF_A_FILE if arguments.duration is None else arguments.duration
    sim = _from_scene_file(path, arguments) if path.suffix == SCENE_SUFFIX else _from_state_file(path, arguments)
    return sim, duration


def settings_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings of the simulation that were given."""
    names = ("time_step", "device", "integrator", "worlds")
    return {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def _from_menu(entry: Any, arguments: argparse.Namespace) -> tuple[Simulation, float]:
    from rattleback.simulation import Simulation

    values = read_pairs(arguments.parameters, parameters_of(entry.build), arguments.target)
    settings = {"time_step": entry.time_step, "integrator": entry.integrator} | settings_of(arguments)
    sim = Simulation(entry.build(**values), **settings)
    return sim, entry.duration if arguments.duration is None else arguments.duration


def _from_scene_file(path: Path, arguments: argparse.Namespace) -> Simulation:
    from rattleback.io import scene_file
    from rattleback.simulation import Simulation

    return Simulation(scene_file.load(path), **settings_of(arguments))


def _from_state_file(path: Path, arguments: argparse.Namespace) -> Simulation:
    from rattleback.io import state_file

    if arguments.worlds is not None:
        raise InputError(f"{str(path)!r} is a saved state, which has its worlds already; leave --worlds out.")
    sim = state_file.load(path)
    changes = settings_of(arguments)
    changes.pop("device", None)
    if changes:
        sim.use(**changes)
    return sim
