"""A heap at rest: how deep its bodies overlap, how fast they still are, and what a step of it takes, awake and asleep.

A step in which everything sleeps does next to nothing, however many bodies there are; so its time is judged, with much
room. That of a step awake belongs to the machine.

Reference: a demand of this project; no published numbers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.experiments.result import Finding, at_most

if TYPE_CHECKING:
    from rattleback.simulation import Simulation

# Overlaps of a heap at rest [m], time of a step in which everything sleeps [ms].
DEEPEST, ASLEEP = 5e-4, 0.05
# Steps that are timed, awake and asleep; pieces of a second in which a heap may fall asleep, and how many.
AWAKE_STEPS, ASLEEP_STEPS, PIECE, PIECES = 50, 500, 0.25, 40


@dataclass(frozen=True)
class Settled:
    """What was seen of a heap at rest.

    Attributes:
        deepest: Deepest overlap [m].
        fastest: Speed of the fastest body [m/s].
        awake: Time of a step while nothing sleeps [ms].
        asleep: The same while everything does; infinite where something stays awake [ms].
        after: How long it took to fall asleep once it was allowed to [s].
    """

    deepest: float
    fastest: float
    awake: float
    asleep: float
    after: float

    def rows(self) -> list[Finding]:
        """The rows of a table."""
        return [
            at_most("at rest: deepest overlap", self.deepest, DEEPEST, "m"),
            Finding("at rest: fastest cube", self.fastest, unit="m/s"),
            Finding("at rest: a step", self.awake, unit="ms"),
            Finding("all asleep after", self.after, unit="s"),
            at_most("all asleep: a step", self.asleep, ASLEEP, "ms"),
        ]


def settle(simulation: Simulation) -> Settled:
    """Watch a simulation that has come to rest, then let it sleep.

    Args:
        simulation: It goes on, and sleeps afterwards.
    """
    awake, deepest = milliseconds(simulation, AWAKE_STEPS), simulation.report.penetration
    fastest = float(np.linalg.norm(simulation.state.velocity, axis=1).max())
    begun, asleep = simulation.time, float("inf")
    simulation.use(sleep=True)
    for _ in range(PIECES):
        simulation.run(PIECE)
        if sleeps(simulation):
            asleep = milliseconds(simulation, ASLEEP_STEPS)
            break
    return Settled(deepest, fastest, awake, asleep, simulation.time - begun)


def sleeps(simulation: Simulation) -> bool:
    """Whether all bodies that can move sleep."""
    return all(simulation[body.name].asleep for body in simulation.scene.bodies if not body.static)


def milliseconds(simulation: Simulation, steps: int) -> float:
    """Mean time of a step [ms], over steps that are taken."""
    simulation.capture()
    begun = time.perf_counter()
    simulation.step(steps)
    return 1e3 * (time.perf_counter() - begun) / steps
