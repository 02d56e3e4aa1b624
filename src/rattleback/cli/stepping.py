"""Stepping with a progress bar, open to Ctrl-C between two steps.

The first Ctrl-C ends the run after the steps under way, so that state, recording and files agree; a second one
breaks through at once.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import RattlebackError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rattleback.simulation import Simulation

# Often enough for a bar that flows and for a prompt answer to Ctrl-C.
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass
class Ride:
    """What a stretch of stepping did.

    Attributes:
        wall_seconds: Time it took [s].
        interrupted: Whether Ctrl-C ended it early.
        error: What else ended it early; the simulation is at its last good state.
    """

    wall_seconds: float = 0.0
    interrupted: bool = False
    error: RattlebackError | None = None


class Stopped(Exception):
    """Ctrl-C was pressed while stepping; the steps under way are done."""


class Watch:
    """An observer that moves the bar and ends the run when asked to; it looks every tenth of a second or so.

    Args:
        asked: Set when the run is to end.
        advance: Called with the time reached [s].
    """

    def __init__(self, asked: threading.Event, advance: Callable[[float], None]) -> None:
        self.every = 1
        self._asked, self._advance = asked, advance
        self._looked: tuple[float, int] | None = None

    def observe(self, simulation: Simulation) -> None:
        """Called after every ``every``-th step."""
        now, steps = time.perf_counter(), simulation.state.steps
        if self._looked is not None:
            seconds, taken = max(now - self._looked[0], 1e-6), steps - self._looked[1]
            self.every = max(1, min(8 * self.every, int(taken * SECONDS_BETWEEN_LOOKS / seconds)))
        self._looked = now, steps
        self._advance(simulation.time)
        if self._asked.is_set():
            raise Stopped


def drive(sim: Simulation, duration: float, bar: bool) -> Ride:
    """Step until ``duration`` more has passed [s], Ctrl-C is pressed or the simulation gives up.

    Args:
        sim: The simulation; what it records is attached to it already.
        duration: Time to simulate [s].
        bar: Whether to show a progress bar, if standard error is a terminal.
    """
    sim.check_duration(duration)
    ride, begun = Ride(), time.perf_counter()
    with _interrupts() as asked, _bar(sim, duration, bar) as advance:
        watch = Watch(asked, advance)
        sim.observe(watch)
        try:
            sim.run(duration)
            advance(sim.time)
        except Stopped:
            ride.interrupted = True
        except RattlebackError as error:
            ride.error = error
        finally:
            sim.unobserve(watch)
    ride.wall_seconds = time.perf_counter() - begun
    return ride


@contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; a second Ctrl-C raises KeyboardInterrupt as usual."""
    asked, usual = threading.Event(), signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(*_: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def _bar(sim: Simulation, duration: float, wanted: bool) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error, if that is a terminal; gives what to call with the time reached [s]."""
    if not (wanted and sys.stderr is not None and sys.stderr.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    name, clock = TextColumn("{task.description}", markup=False), TextColumn("t = {task.fields[time]:.4g} s")
    start, columns = sim.time, (name, BarColumn(), TaskProgressColumn(), clock, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(sim.scene.name, total=duration, time=start)
        yield lambda reached: progress.update(task, completed=reached - start, time=reached)
