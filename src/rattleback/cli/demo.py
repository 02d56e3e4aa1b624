"""Run a first scene, leave its picture and its recording in a folder, and open the simulator with another."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli.job import Wishes, carry_out, show_outcome
from rattleback.cli.output import FINE
from rattleback.cli.run import tell_interruption

if TYPE_CHECKING:
    import argparse

    from rattleback.simulation import Simulation
    from rattleback.viewer.session import Session

MEASURED, SHOWN = "tumbling", "wall"
# Fifty samples a second: the curves are smooth, and taking them costs little.
STEPS_PER_SAMPLE = 4
# So many sweeps may be taken in a step; two steps of the hit need more than the 50 that are usual.
SWEEPS = 200
# The ball hits the wall at 1.57 s; so slow the simulator shows it between these times [s].
SLOW, HIT = 0.1, (1.5, 2.5)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("out"), help="folder to write to (default: out)"
    )
    parser.add_argument("--device", metavar="NAME", default="cpu", help="cpu, cuda or cuda:0 (default: cpu)")
    parser.add_argument("--no-page", action="store_true", help="do not open the simulator")


def execute(arguments: argparse.Namespace) -> int:
    """Run the first scene as it is meant to be run, then show the other one until Ctrl-C."""
    from rattleback.scenes import MENU

    folder, entry = arguments.out, MENU[MEASURED]
    wishes = Wishes(record=folder / f"{MEASURED}.npz", plot=folder / f"{MEASURED}.png", every=STEPS_PER_SAMPLE)
    wishes.check()
    outcome = carry_out(_make(MEASURED, arguments.device), entry.duration, wishes, bar=True)
    show_outcome(outcome)
    if (code := tell_interruption(outcome, entry.duration)) != FINE or arguments.no_page:
        return code
    from rattleback.viewer.view import view

    sim = shown_simulation(arguments.device)
    with suppress(KeyboardInterrupt), view(sim, wait=False) as shown:
        shown.session.do(lambda sim: slow_through(sim, shown.session))
        shown.wait()
    return FINE


def slow_through(sim: Simulation, session: Session) -> None:
    """Have the simulator show the hit slowly, and go on as before."""

    @sim.at(HIT[0])
    def slow(sim: Simulation) -> None:
        session.set_speed(SLOW)

    @sim.at(HIT[1])
    def as_before(sim: Simulation) -> None:
        session.set_speed(1.0)


def shown_simulation(device: str) -> Simulation:
    """The scene that the simulator shows, within its tolerances through the hit."""
    from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

    sim = _make(SHOWN, device)
    sim.use(contacts=Impulse(solver=BlockGaussSeidel(sweeps=SWEEPS)))
    return sim


def _make(name: str, device: str) -> Simulation:
    """A scene of the menu as it is meant to be run."""
    from rattleback.scenes import MENU
    from rattleback.simulation import Simulation

    entry = MENU[name]
    return Simulation(entry.build(), time_step=entry.time_step, integrator=entry.integrator, device=device)
