"""One run of a scene under watch: how long its steps took, how far its joints were off, what its energy did.

The first step is taken before the watch begins: it ends what the scene does at the start, such as a twist that lasts
one step. A run that diverges or does not meet its tolerance ends there as a trial that failed, with the reason; nothing
is raised.

    gained = max(E) − E₁,   of the largest kinetic energy

E total energy, E₁ that after the first step. A run is called stable if it gains no more than a tenth: without a source
of energy it should gain nothing, and one that blows up gains many times what it had.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np

from rattleback.core.errors import NotConverged, RattlebackError
from rattleback.experiments.result import Finding, at_most
from rattleback.settings import Settings
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.model import Scene

STABLE = 0.1
# The iterative method may take all the corrections it wants, what they cost is the question; the direct one converges
# in a few or not at all.
MOST_CORRECTIONS = {"iterative": 5000, "direct": 50}


@dataclass
class Trial:
    """What was seen during a run.

    Attributes:
        simulation: The simulation, where the run ended.
        times: Time reached at the end of the first step and of each piece [s].
        energies: Total energy then [J].
        corrections: Most corrections of the joints a step had needed by then, since the time before.
        milliseconds: Mean time of a step in each piece that met its tolerance [ms]; the first step is not timed.
        position_error: Largest position error of a joint in any step [m].
        kinetic: Largest kinetic energy seen [J].
        reason: Why a step did not meet its tolerance or the run ended early; empty if neither happened.
    """

    simulation: Simulation
    times: list[float] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)
    corrections: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    position_error: float = 0.0
    kinetic: float = 0.0
    reason: str = ""

    @property
    def mean_milliseconds(self) -> float:
        """Mean time of a step [ms]."""
        return float(np.mean(self.milliseconds)) if self.milliseconds else math.nan

    @property
    def gained(self) -> float:
        """Energy gained at worst, of the largest kinetic energy; infinite for a run that diverged."""
        if not self.energies or not np.isfinite(self.energies).all() or not math.isfinite(self.kinetic):
            return math.inf
        return (max(self.energies) - self.energies[0]) / (self.kinetic or 1.0)

    @property
    def energy_error(self) -> float:
        """Largest change of the total energy, either way [J]."""
        return float(np.max(np.abs(np.subtract(self.energies, self.energies[0]))))

    def held(self, who: str) -> Finding:
        """Whether the joints held in every step."""
        tolerance = self.simulation.methods.tolerances["position_tolerance"]
        off = math.inf if self.reason and self.position_error <= tolerance else self.position_error
        return at_most(f"{who}: worst joint", off, tolerance, "m")

    def stable(self, who: str) -> Finding:
        """Whether the motion was stable."""
        return at_most(f"{who}: energy gained", self.gained, STABLE)

    def change(self, who: str) -> Finding:
        """What became of the energy in the end, of the largest kinetic energy; shown, as losing some is stable too."""
        moved = self.energies[-1] - self.energies[0] if self.energies else math.nan
        return Finding(f"{who}: energy change", moved / (self.kinetic or 1.0))


def watch(
    scene: Scene,
    steps: int,
    pieces: int = 50,
    look: Callable[[Simulation], None] | None = None,
    **settings: Unpack[Settings],
) -> Trial:
    """Run a scene and keep what was seen.

    Args:
        scene: What to simulate.
        steps: Number of steps after the first.
        pieces: How often to look; each piece has as many steps as the others.
        look: Called with the simulation at the end of the first step and of each piece, also one that failed.
        **settings: As for :class:`rattleback.Simulation`.
    """
    trial = Trial(Simulation(scene, **settings))
    trial.simulation.use(strict=True)
    size = max(steps // pieces, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            trial.simulation.step()
            trial.simulation.capture()
            _note(trial, look)
            for _ in range(min(pieces, steps)):
                begun = time.perf_counter()
                trial.simulation.step(size)
                trial.milliseconds.append(1e3 * (time.perf_counter() - begun) / size)
                _note(trial, look)
        except NotConverged as error:
            trial.reason = str(error)
            _note(trial, look)
        except RattlebackError as error:
            trial.reason, trial.position_error, trial.kinetic = str(error), math.inf, math.inf
    return trial


def _note(trial: Trial, look: Callable[[Simulation], None] | None) -> None:
    """Note where the simulation stands and what its last piece left."""
    report, energy = trial.simulation.report, trial.simulation.energy()
    trial.times.append(trial.simulation.time)
    trial.energies.append(float(energy.total))
    trial.kinetic = max(trial.kinetic, float(energy.kinetic))
    trial.corrections.append(report.iterations)
    trial.position_error = max(trial.position_error, report.position_error)
    if look is not None:
        look(trial.simulation)
