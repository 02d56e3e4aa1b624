"""Simulate a scene of the list, a scene file or a saved state, and say how it went."""

from __future__ import annotations

import argparse
from pathlib import Path

from rattleback.cli import output
from rattleback.cli.job import Outcome, Wishes, carry_out, show_outcome
from rattleback.cli.output import FINE, INTERRUPTED
from rattleback.cli.sources import open_source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "target", metavar="NAME|FILE", help="a scene of the list, a scene file (.rb.json) or a saved state"
    )
    parser.add_argument("parameters", metavar="key=value", nargs="*", default=[], help="parameters of the scene")
    how = parser.add_argument_group("how to simulate; what is left out is as the scene is meant to run")
    how.add_argument("--duration", metavar="S", type=number, help="time to simulate [s]; 1 for a file")
    how.add_argument("--time-step", metavar="H", type=number, help="length of a step [s]")
    how.add_argument("--substeps", metavar="N", type=whole_number, help="sub-steps of a step")
    how.add_argument("--preset", metavar="NAME", help="settings that go together: accurate, balanced or fast")
    how.add_argument("--integrator", metavar="NAME", help="how free bodies are moved, such as rk4")
    how.add_argument("--device", metavar="NAME", help="cpu, cuda or cuda:0")
    how.add_argument("--worlds", metavar="N", type=whole_number, help="copies of the scene side by side")
    what = parser.add_argument_group("what to keep")
    what.add_argument("--record", metavar="FILE", type=Path, help="write what was recorded, as .npz or .csv")
    what.add_argument("--plot", metavar="FILE", type=Path, help="write a picture, as .png, .svg or .pdf")
    what.add_argument(
        "--save", metavar="FILE", type=Path, help="write the state, to go on from with `rattleback run FILE`"
    )
    what.add_argument("--quantities", metavar="NAMES", type=names, help="record and plot these: energy,ball.position")
    what.add_argument("--every", metavar="N", type=whole_number, help="steps from one sample to the next (default: 1)")
    how_told = parser.add_argument_group("what to print")
    how_told.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    how_told.add_argument("--quiet", action="store_true", help="no table and no progress bar")


def execute(arguments: argparse.Namespace) -> int:
    """Run."""
    wishes = wishes_of(arguments)
    wishes.check()
    sim, duration = open_source(arguments)
    outcome = carry_out(sim, duration, wishes, bar=not arguments.quiet)
    if arguments.json:
        more = {"time": sim.time, "hash": sim.hash(), "interrupted": outcome.ride.interrupted, "files": outcome.files}
        output.write_json({**outcome.summary, **more})
    elif not arguments.quiet:
        show_outcome(outcome)
    return tell_interruption(outcome, duration)


def wishes_of(arguments: argparse.Namespace) -> Wishes:
    """What the run is to leave behind; options that would have no effect are wrong usage."""
    if arguments.record is None and arguments.plot is None:
        for option in ("quantities", "every"):
            if getattr(arguments, option) is not None:
                arguments.parser.error(f"--{option} has no effect without --record or --plot")
    return Wishes(
        record=arguments.record,
        plot=arguments.plot,
        save=arguments.save,
        quantities=arguments.quantities or (),
        every=1 if arguments.every is None else arguments.every,
    )


def tell_interruption(outcome: Outcome, duration: float) -> int:
    """The exit code; says how far an interrupted run got."""
    if not outcome.ride.interrupted:
        return FINE
    done = outcome.summary["simulated_time"]
    kept = " What was asked for is written up to there." if outcome.files else ""
    output.say(f"Interrupted after {done:.6g} s of {duration:.6g} s.{kept}")
    return INTERRUPTED


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
