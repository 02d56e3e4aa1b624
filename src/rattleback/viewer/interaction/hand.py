"""Hands: what acts on a simulation before its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.simulation import Simulation


class Hand(Protocol):
    """Something that acts on a simulation before its steps, as a hand that holds a body does."""

    def most_steps(self, sim: Simulation) -> int:
        """How many steps it can be left alone for."""

    def before_step(self, sim: Simulation, steps: int = 1) -> None:
        """Act on it, for so many steps."""

    def observe(self, sim: Simulation) -> None:
        """The steps are done: take back what holds for them alone."""


def most_steps(hands: Sequence[Hand], sims: Sequence[Simulation], steps: int) -> int:
    """How many of so many steps can be taken before a hand looks again."""
    return min((steps, *(hand.most_steps(sim) for hand in hands for sim in sims)))


def step_in(hands: Sequence[Hand], sim: Simulation, steps: int, budget_ms: float | None) -> None:
    """Take steps of a simulation in the hands that hold something of it."""
    for hand in hands:
        hand.before_step(sim, steps)
    sim.step(steps, budget_ms)
    for hand in hands:
        hand.observe(sim)
