"""The closing table of a run: what was simulated, how fast, and how far its errors are from what was asked for.

    drift = E(end) − E(start),   relative drift = drift / |E(start)|,   real-time factor = simulated time / wall time

E total energy. Where E(start) is zero the drift is taken relative to the larger of the two kinetic energies. Of several
worlds, the one with the largest relative drift is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.choice import name_of
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.steps import MENU as STEPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray
    from rich.table import Table

    from rattleback.core.report import Report
    from rattleback.model.measure import Energy
    from rattleback.simulation import Simulation

# The errors a report gives, each compared with the tolerance of the same name, and their units.
ERRORS = {"integration": "", "position": "m", "orientation": "rad", "velocity": "m/s"}


def way_of_moving(sim: Simulation) -> str:
    """What moves the bodies: the integrator, or a step of high order with that."""
    step = sim.methods.step
    if step.scheme() is None:
        return name_of(sim.integrator, INTEGRATORS)
    return f"{name_of(step, STEPS)} of order {step.scheme().order}"


def run_summary(
    sim: Simulation,
    wall_seconds: float,
    start_energy: Energy,
    reports: Iterable[Report],
    start_time: float = 0.0,
    start_step: int = 0,
) -> dict[str, Any]:
    """The summary of a run as plain data, in SI units, ready for JSON.

    Args:
        sim: The simulation, at the end of the run.
        wall_seconds: How long the run took [s].
        start_energy: What ``sim.energy()`` gave before it.
        reports: What ``sim.report`` gave after each call to ``step`` or ``run``; empty for the last one alone.
        start_time: Time the run began at [s].
        start_step: Steps taken before it.
    """
    wall = checks.positive(wall_seconds, "The wall_seconds of a summary")
    seen = list(reports) or [sim.report]
    simulated = sim.time - checks.number(start_time, "The start_time of a summary")
    summary: dict[str, Any] = {
        "scene": sim.scene.name,
        "bodies": len(sim.model.names),
        "joints": len(sim.scene.joints),
        "worlds": sim.model.worlds,
        "device": str(sim.device),
        "integrator": way_of_moving(sim),
        "time_step": sim.time_step,
        "steps": sim.state.steps - checks.count(start_step, "The start_step of a summary", least=0),
        "simulated_time": simulated,
        "wall_time": wall,
        "real_time_factor": simulated / wall,
    }
    summary |= _energy_rows(start_energy, sim.energy())
    for name in ERRORS:
        summary[f"{name}_error"] = max(getattr(report, f"{name}_error") for report in seen)
        summary[f"{name}_tolerance"] = getattr(seen[-1], f"{name}_tolerance")
    summary["converged"] = all(report.converged for report in seen)
    summary["reason"] = next((report.reason for report in seen if report.reason), "")
    return summary


def relative_drift(total: ArrayLike, kinetic: ArrayLike) -> NDArray[np.float64]:
    """Drift of the total energy from its first value, relative to it.

    Args:
        total: Total energy over time, shape (samples, ...) [J].
        kinetic: Kinetic energy over time, the scale where the total begins at zero; the same shape [J].
    """
    energy, largest = np.asarray(total, dtype=np.float64), np.max(kinetic, axis=0)
    scale = np.where(energy[0] != 0.0, np.abs(energy[0]), largest)
    return (energy - energy[0]) / np.where(scale > 0.0, scale, 1.0)


def render(summary: Mapping[str, Any]) -> Table:
    """The summary as a table for the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=False, title=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, shown in _rows(summary).items():
        table.add_row(name, Text(shown))
    ok = bool(summary["converged"])
    verdict = "every tolerance met" if ok else f"not converged: {summary['reason']}"
    table.add_row("verdict", Text(verdict, style="green" if ok else "bold red"))
    return table


def _energy_rows(start: Energy, end: Energy) -> dict[str, Any]:
    """Energies and drift; of several worlds, those of the one that drifted most."""
    total = np.array([np.atleast_1d(start.total), np.atleast_1d(end.total)])
    kinetic = np.array([np.atleast_1d(start.kinetic), np.atleast_1d(end.kinetic)])
    relative = relative_drift(total, kinetic)[1]
    world = int(np.argmax(np.abs(relative)))
    rows: dict[str, Any] = {
        "energy_start": float(total[0, world]),
        "energy_end": float(total[1, world]),
        "energy_drift": float(total[1, world] - total[0, world]),
        "energy_drift_relative": float(relative[world]),
    }
    return rows | ({"energy_world": world} if np.ndim(start.total) else {})


def _rows(summary: Mapping[str, Any]) -> dict[str, str]:
    """The rows of the table: a name and what stands beside it."""
    worlds = f" in each of {summary['worlds']} worlds" if summary["worlds"] > 1 else ""
    joints = f" and {_counted(summary['joints'], 'joint', 'joints')}" if summary["joints"] else ""
    where = f", world {summary['energy_world']}" if summary["worlds"] > 1 else ""
    rows = {
        "scene": f"{summary['scene']}, {_counted(summary['bodies'], 'body', 'bodies')}{joints}{worlds}",
        "method": f"{summary['integrator']} on {summary['device']}, {summary['steps']} steps of "
        f"{summary['time_step']:g} s",
        "time": f"{summary['simulated_time']:.6g} s simulated in {summary['wall_time']:.3g} s, "
        f"{_times(summary['real_time_factor'])} real time",
        f"energy{where}": f"{summary['energy_start']:.9g} J at the start, {summary['energy_end']:.9g} J at the end",
        "energy drift": f"{_size(summary['energy_drift'])} J, {_size(summary['energy_drift_relative'])} of the energy",
    }
    for name, unit in ERRORS.items():
        error, tolerance = summary[f"{name}_error"], summary[f"{name}_tolerance"]
        if tolerance > 0.0 and (name == "integration" or summary["joints"]):
            unit = f" {unit}" if unit else ""
            rows[f"{name} error"] = f"{_size(error)}{unit} at worst, {_size(tolerance)}{unit} allowed"
    return rows


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _size(value: float) -> str:
    """A small number by its first digits and its power of ten."""
    return f"{value:.1e}" if value else "0"


def _times(factor: float) -> str:
    """A factor with at least two digits that mean something."""
    return f"{factor:.0f} ×" if factor >= 100.0 else f"{factor:.2g} ×"
