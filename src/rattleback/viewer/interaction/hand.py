"""Hands: what acts on a simulation before each of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rattleback.simulation import Simulation


class Hand(Protocol):
    """Something that acts on a simulation before each of its steps, as a hand that holds a body does."""

    def before_step(self, sim: Simulation) -> None:
        """Act on it."""
