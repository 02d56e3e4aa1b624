"""Whether what is built stands: how far its bodies go and how fast they are while nothing touches it."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np

from rattleback.core.errors import NotConvergedWarning, RattlebackError
from rattleback.experiments.result import Curve
from rattleback.settings import Settings
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from rattleback.model import Scene


@dataclass
class Standing:
    """What was seen of a building.

    Attributes:
        simulation: The simulation, where the run ended.
        times: When it was looked at [s].
        moved: How far the body that had gone farthest was from its place at the start then [m].
        fastest: Largest speed of the centre of mass of a body at any time [m/s].
        deepest: Deepest overlap at any time [m].
        reason: Why a step did not meet its tolerance or the run ended early; empty if neither happened.
    """

    simulation: Simulation
    times: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)
    fastest: float = 0.0
    deepest: float = 0.0
    reason: str = ""

    @property
    def farthest(self) -> float:
        """How far any body was from its place at any time [m]; infinite where the run ended early."""
        return max(self.moved, default=math.inf)

    def curve(self, name: str, number: int = 0) -> Curve:
        """How far the farthest body was over time."""
        return Curve(name, self.times, self.moved, "line", number)


def build(scene: Scene, seconds: float, looks: int = 100, **settings: Unpack[Settings]) -> Standing:
    """Leave a building alone for some time and watch it.

    Args:
        scene: What is built.
        seconds: How long [s].
        looks: How often to look.
        **settings: As for :class:`rattleback.Simulation`.
    """
    settings.setdefault("contacts", "impulse")
    seen = Standing(Simulation(scene, **settings))
    sim, start = seen.simulation, seen.simulation.state.position.copy()
    steps = max(round(seconds / sim.time_step / looks), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        try:
            while sim.time < seconds - 0.5 * sim.time_step:
                sim.step(steps)
                seen.times.append(sim.time)
                seen.moved.append(float(np.linalg.norm(sim.state.position - start, axis=1).max()))
                seen.fastest = max(seen.fastest, float(np.linalg.norm(sim.state.velocity, axis=1).max()))
                seen.deepest = max(seen.deepest, sim.report.penetration)
                seen.reason = seen.reason or sim.report.reason
        except RattlebackError as error:
            seen.reason, seen.fastest = str(error), math.inf
            seen.times.append(sim.time)
            seen.moved.append(math.inf)
    return seen
