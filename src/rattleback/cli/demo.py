"""Run the first scene, show how it went, and leave its picture and its recording in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli.job import Wishes, carry_out, show_outcome
from rattleback.cli.run import tell_interruption

if TYPE_CHECKING:
    import argparse

SCENE = "tumbling"
# Fifty samples a second: the curves are smooth, and taking them costs little.
STEPS_PER_SAMPLE = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("out"), help="folder to write to (default: out)"
    )
    parser.add_argument("--device", metavar="NAME", default="cpu", help="cpu, cuda or cuda:0 (default: cpu)")


def execute(arguments: argparse.Namespace) -> int:
    """Run the scene as it is meant to be run."""
    from rattleback.scenes import MENU
    from rattleback.simulation import Simulation

    folder, entry = arguments.out, MENU[SCENE]
    wishes = Wishes(record=folder / f"{SCENE}.npz", plot=folder / f"{SCENE}.png", every=STEPS_PER_SAMPLE)
    wishes.check()
    settings = {"time_step": entry.time_step, "integrator": entry.integrator, "device": arguments.device}
    sim = Simulation(entry.build(), **settings)
    outcome = carry_out(sim, entry.duration, wishes, bar=True)
    show_outcome(outcome)
    return tell_interruption(outcome, entry.duration)
