"""Simulate a scene of the list, a scene file or a saved state, and say how it went."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli import output
from rattleback.cli.job import Outcome, Wishes, carry_out, show_outcome
from rattleback.cli.options import add_simulation_options, add_source_arguments, names, number, whole_number
from rattleback.cli.output import FINE, INTERRUPTED, REFUSED
from rattleback.cli.sources import open_source

if TYPE_CHECKING:
    import argparse

    from rattleback.script import Script
    from rattleback.simulation import Simulation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_source_arguments(parser)
    how = add_simulation_options(parser)
    how.add_argument("--duration", metavar="S", type=number, help="time to simulate [s]; 1 for a file")
    how.add_argument("--script", metavar="FILE", type=Path, help="run a Python file inside, which finds it as `sim`")
    what = parser.add_argument_group("what to keep")
    what.add_argument("--record", metavar="FILE", type=Path, help="write what was recorded, as .npz or .csv")
    what.add_argument("--plot", metavar="FILE", type=Path, help="write a picture, as .png, .svg or .pdf")
    what.add_argument(
        "--save", metavar="FILE", type=Path, help="write the state, to go on from with `rattleback run FILE`"
    )
    what.add_argument("--out", metavar="FILE", type=Path, help="write the motion for other programs: .glb, .usd")
    what.add_argument("--fps", metavar="N", type=number, help="frames in a second of the motion (default: 60)")
    what.add_argument("--quantities", metavar="NAMES", type=names, help="record and plot these: energy,ball.position")
    what.add_argument("--every", metavar="N", type=whole_number, help="steps from one sample to the next (default: 1)")
    how_told = parser.add_argument_group("what to print")
    how_told.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    how_told.add_argument("--quiet", action="store_true", help="no table and no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Run; the exit code is 1 when a script failed, however well the rest went."""
    wishes = wishes_of(arguments)
    wishes.check()
    script = None if arguments.script is None else make_script(arguments.script)
    sim, duration = open_source(arguments)
    if wishes.save is not None:
        check_savable(sim)
    # What a script prints must not come between a program and the JSON it waits for.
    with redirect_stdout(sys.stderr) if arguments.json else nullcontext():
        if script is not None:
            sim.check_duration(duration)
            script.start(sim)
        outcome = carry_out(sim, duration, wishes, bar=not arguments.quiet)
    if arguments.json:
        more = {"time": sim.time, "hash": sim.hash(), "interrupted": outcome.ride.interrupted, "files": outcome.files}
        if script is not None and script.fault:
            more["error"] = {"kind": "ScriptFault", "message": script.fault}
        output.write_json({**outcome.summary, **more})
    elif not arguments.quiet:
        show_outcome(outcome)
    return tell_interruption(outcome, duration) or (REFUSED if script is not None and script.fault else FINE)


def make_script(path: Path) -> Script:
    """A script that says on standard error when it fails."""
    from rattleback.script import Script

    return Script(path, lambda fault: output.say(f"The script failed and is stopped; the run goes on.\n{fault}"))


def check_savable(sim: Simulation) -> None:
    """Refuse methods that a saved state cannot name, before anything is simulated."""
    from rattleback.io.state_schema import settings_data

    settings_data(sim)


def wishes_of(arguments: argparse.Namespace) -> Wishes:
    """What the run is to leave behind; options that would have no effect are wrong usage."""
    if arguments.record is None and arguments.plot is None and arguments.out is None:
        for option in ("quantities", "every"):
            if getattr(arguments, option) is not None:
                arguments.parser.error(f"--{option} has no effect without --record, --plot or --out")
    if arguments.out is None and arguments.fps is not None:
        arguments.parser.error("--fps has no effect without --out")
    return Wishes(
        record=arguments.record,
        plot=arguments.plot,
        save=arguments.save,
        out=arguments.out,
        quantities=arguments.quantities or (),
        every=1 if arguments.every is None else arguments.every,
        fps=60.0 if arguments.fps is None else arguments.fps,
    )


def tell_interruption(outcome: Outcome, duration: float) -> int:
    """The exit code; says how far an interrupted run got."""
    if not outcome.ride.interrupted:
        return FINE
    done = outcome.summary["simulated_time"]
    kept = " What was asked for is written up to there." if outcome.files else ""
    output.say(f"Interrupted after {done:.6g} s of {duration:.6g} s.{kept}")
    return INTERRUPTED
