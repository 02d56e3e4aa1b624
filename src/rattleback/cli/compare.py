"""Run the same scene under several methods at once: side by side on a page, or as a table with a plot."""

from __future__ import annotations

import argparse
import itertools
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.options import FLAGS, OPTIONS, add_simulation_options, add_source_arguments, number
from rattleback.cli.output import FINE
from rattleback.cli.sources import open_source
from rattleback.cli.targets import check_target
from rattleback.cli.view import add_page_options, page_wishes
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from rattleback.simulation import Simulation

# More of them beside each other cannot be told apart.
MOST_LANES = 12
# Settings that are the same for all.
SHARED = ("device", "worlds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_source_arguments(parser)
    lanes = parser.add_argument_group(
        "what to compare; every option takes several values, and every combination is a simulation"
    )
    for setting, (metavar, read, sentence) in OPTIONS.items():
        if setting not in SHARED:
            option = f"--{setting.replace('_', '-')}"
            lanes.add_argument(option, metavar=metavar, type=read, nargs="+", help=sentence)
    add_simulation_options(parser, leave_out=[name for name in OPTIONS if name not in SHARED])
    table = parser.add_argument_group("without a page")
    table.add_argument("--table", action="store_true", help="run to the end and print a table instead")
    table.add_argument("--duration", metavar="S", type=number, help="time to simulate [s]; 1 for a file")
    table.add_argument("--plot", metavar="FILE", type=Path, help="write errors over time, as .png, .svg or .pdf")
    table.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    add_page_options(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Compare."""
    headless = arguments.table or arguments.json or arguments.plot is not None
    if arguments.plot is not None:
        from rattleback.recording.plots import check_picture_path

        check_target(check_picture_path(arguments.plot))
    sims, duration = make_lanes(arguments)
    if headless:
        return _tabulate(sims, duration, arguments)
    from rattleback.viewer.view import view

    wishes = page_wishes(arguments) | {"labels": list(sims), "wait": False}
    with suppress(KeyboardInterrupt), view(list(sims.values()), **wishes) as shown:
        shown.wait()
    return FINE


def make_lanes(arguments: argparse.Namespace) -> tuple[dict[str, Simulation], float]:
    """The simulations by what is different about them, and how long to simulate [s]."""
    several = {name: getattr(arguments, name) for name in OPTIONS if name not in SHARED and getattr(arguments, name)}
    varied = [name for name, values in several.items() if len(values) > 1]
    combinations = list(itertools.product(*several.values()))
    if len(combinations) > MOST_LANES:
        raise InputError(f"These are {len(combinations)} combinations; at most {MOST_LANES} can be compared at once.")
    sims: dict[str, Simulation] = {}
    duration = 0.0
    for values in combinations:
        chosen = dict(zip(several, values, strict=True))
        own = argparse.Namespace(**{**vars(arguments), **dict.fromkeys(OPTIONS), **_shared(arguments), **chosen})
        sim, duration = open_source(own)
        label = ", ".join(_worded(name, chosen[name], varied) for name in varied) or sim.scene.name
        if label in sims:
            raise InputError(f"{label!r} is to be compared with itself; give every value once.")
        sims[label] = sim
    return sims, duration


def _shared(arguments: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in (*SHARED, *FLAGS)}


def _worded(name: str, value: Any, varied: list[str]) -> str:
    """A value as a label says it; numbers, and values of several settings, with the setting's name."""
    return str(value) if isinstance(value, str) and len(varied) == 1 else f"{name.replace('_', ' ')} {value}"


def _tabulate(sims: dict[str, Simulation], duration: float, arguments: argparse.Namespace) -> int:
    from rattleback.recording.comparison import compare, comparison_data, comparison_plot, comparison_table

    lanes = compare(sims, duration)
    if arguments.plot is not None:
        comparison_plot(lanes, arguments.plot)
    if arguments.json:
        output.write_json({"duration": duration, "methods": comparison_data(lanes)})
        return FINE
    output.show(comparison_table(lanes))
    if arguments.plot is not None:
        output.write(f"Wrote the plot to {arguments.plot}")
    return FINE
