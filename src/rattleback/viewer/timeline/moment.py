"""Moments: everything simulations need to go on from where they were, bit for bit.

A moment is a save point with the methods of then and the length of a step. Same input, same bits: so a moment and a
number of steps are a later moment, as long as nothing but steps happened in between.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import RattlebackError
from rattleback.settings import settings_of
from rattleback.viewer.save_point import SavePoint, save_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.settings import Methods
    from rattleback.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Moment:
    """A moment of simulations.

    Attributes:
        point: Scene and state of each.
        methods: How each does its steps.
        time_steps: Length of a step of each [s].
        steps: Number of steps taken.
        bytes: Room it takes.
        disturbed: Whether something else than steps led to it from the moment before.
    """

    point: SavePoint
    methods: tuple[Methods, ...]
    time_steps: tuple[float, ...]
    steps: int
    bytes: int
    disturbed: bool

    def restore(self, sims: Sequence[Simulation], steps: int) -> bool:
        """Go to where so many steps were taken; says whether a scene has changed by that.

        Args:
            sims: The simulations.
            steps: Number of steps, no fewer than those of the moment.
        """
        # The methods of then need not fit the scene of now, nor those of now the scene of then.
        with suppress(RattlebackError):
            self._choose_methods(sims)
        changed = self.point.restore(sims)
        if self._choose_methods(sims):
            self.point.restore(sims)
        for sim, time_step in zip(sims, self.time_steps, strict=True):
            sim.time_step = time_step
            if steps > self.steps:
                sim.step(steps - self.steps)
        return changed

    def _choose_methods(self, sims: Sequence[Simulation]) -> bool:
        """Choose the methods of then; says whether others were chosen before."""
        others = [pair for pair in zip(sims, self.methods, strict=True) if pair[0].methods != pair[1]]
        for sim, methods in others:
            settings: Any = {**settings_of(methods), "warn": sim.warn}
            sim.use(**settings)
        return bool(others)


def moment_of(sims: Sequence[Simulation], disturbed: bool) -> Moment:
    """This moment of simulations."""
    point = save_point(sims)
    room = sum(snapshot.bytes for _, snapshot in point.moments)
    methods, lengths = tuple(sim.methods for sim in sims), tuple(sim.time_step for sim in sims)
    return Moment(point, methods, lengths, sims[0].state.steps, room, disturbed)
