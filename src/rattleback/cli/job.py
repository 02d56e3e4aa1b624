"""One run from start to finish: record, step, sum up, write the files that were asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.stepping import Ride, drive
from rattleback.cli.targets import check_target, write_target
from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.recording import Recorder
    from rattleback.simulation import Simulation


@dataclass(frozen=True)
class Wishes:
    """What a run is to leave behind.

    Attributes:
        record: Recording to write; None for none.
        plot: Plot to write.
        save: State to write.
        out: Motion to write, for other programs.
        quantities: What to record and plot; empty for what describes the motion and the picture of the run.
        every: Number of steps from one sample to the next.
        fps: Frames in a second of the motion.
    """

    record: Path | None = None
    plot: Path | None = None
    save: Path | None = None
    out: Path | None = None
    quantities: tuple[str, ...] = ()
    every: int = 1
    fps: float = 60.0

    def check(self) -> None:
        """Refuse files that could not be written, before anything is simulated."""
        from rattleback.recording.files import check_suffix
        from rattleback.recording.recorder import SUFFIXES

        if self.record is not None:
            check_suffix(self.record, SUFFIXES, "a recording")
        if self.plot is not None:
            from rattleback.recording.plots import check_picture_path

            check_picture_path(self.plot)
        if self.out is not None:
            from rattleback.recording.motion.export import WRITERS

            check_suffix(self.out, WRITERS, "a motion")
            checks.positive(self.fps, "The fps of a motion")
        wanted = [path for path in (self.record, self.plot, self.save, self.out) if path is not None]
        for path in wanted:
            check_target(path)
            if wanted.count(path) > 1:
                raise InputError(f"{str(path)!r} is to hold two different things; give each file a name of its own.")


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Attributes:
        ride: How the stepping went.
        summary: The closing table as plain data.
        files: What was written where.
    """

    ride: Ride
    summary: dict[str, Any]
    files: dict[str, str]


def carry_out(sim: Simulation, duration: float, wishes: Wishes, bar: bool) -> Outcome:
    """Simulate, then write what was asked for, also when Ctrl-C or a fault ended the run early.

    Args:
        sim: The simulation.
        duration: Time to simulate [s].
        wishes: What to leave behind; checked already.
        bar: Whether to show a progress bar, if standard error is a terminal.

    Raises:
        RattlebackError: The simulation gave up; the files are written up to there and a note says so.
    """
    from rattleback.recording.tables import run_summary

    recorder, motion = make_recorder(sim, wishes), make_motion_recorder(sim, wishes)
    start_energy, start_time, start_steps = sim.energy(), sim.time, sim.state.steps
    ride = drive(sim, duration, bar)
    files = _write_files(sim, (recorder, motion), wishes)
    if ride.error is not None:
        if files:
            ride.error.add_note(f"Written up to there: {', '.join(files.values())}.")
        raise ride.error
    summary = run_summary(sim, ride.wall_seconds, start_energy, [sim.report], start_time, start_steps)
    return Outcome(ride, summary, files)


def make_recorder(sim: Simulation, wishes: Wishes) -> Recorder | None:
    """A recorder of what was wished for; None if nothing needs one."""
    if wishes.record is None and wishes.plot is None:
        return None
    from rattleback.recording import Recorder
    from rattleback.recording.picture import NEEDED

    return Recorder(sim, wishes.every, wishes.quantities or (*NEEDED, "velocity", "angular_velocity"))


def make_motion_recorder(sim: Simulation, wishes: Wishes) -> Recorder | None:
    """A recorder of what the motion is made of, and of what is to stand beside it; None if none is written."""
    if wishes.out is None:
        return None
    from rattleback.recording import Recorder
    from rattleback.recording.motion.take import NEEDED

    return Recorder(sim, wishes.every, tuple(dict.fromkeys((*NEEDED, "velocity", *(wishes.quantities or ("energy",))))))


def show_outcome(outcome: Outcome) -> None:
    """Print the closing table and what was written where."""
    from rattleback.recording.tables import render

    output.show(render(outcome.summary))
    for what, path in outcome.files.items():
        output.write(f"Wrote the {what} to {path}")


def _write_files(sim: Simulation, recorders: tuple[Recorder | None, Recorder | None], wishes: Wishes) -> dict[str, str]:
    recorder, motion = recorders
    writers: dict[str, tuple[Path | None, Callable[[Path], Any]]] = {"state": (wishes.save, sim.save)}
    if recorder is not None:
        writers["recording"] = (wishes.record, recorder.save)
        writers["plot"] = (wishes.plot, lambda path: _plot(recorder, wishes.quantities, path))
    if motion is not None:
        writers["motion"] = (wishes.out, lambda path: motion.export(path, fps=wishes.fps))
    for path, write in writers.values():
        if path is not None:
            write_target(path, write)
    return {what: str(path) for what, (path, _) in writers.items() if path is not None}


def _plot(recorder: Recorder, quantities: tuple[str, ...], path: Path) -> None:
    """The quantities asked for over time, or the picture of the run."""
    if quantities:
        recorder.plot(list(quantities), path)
        return
    from rattleback.recording.picture import overview

    overview(recorder, path)
