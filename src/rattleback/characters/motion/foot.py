"""A foot that stays where it stands: the shift and the turn that hold it, one moment after the other.

    stands     a' = c − R(ψ) (p − a),   ψ = ψ₀ − ψ_m, at most ±ψ_max
    swings     a' = a + f Δ + (1 − f) λ,   ψ = f ψ₁,   f = 1 − 3 s² + 2 s³

a ankle and p what it stands on, heel or ball, both as the motion has them; c where that came down, ψ₀ the heading of
the foot then and ψ_m the motion's; a' where the ankle has to be, R(ψ) the turn about the vertical; Δ and ψ₁ are what
held the foot when it left the ground, s how far it has swung, λ how far from where the motion has it the foot is to
land. So a foot that stands does not move, whatever the figure does above it, and lands where the motion has it.
Heights go to the ground within a few hundredths of a second.

Cost: a few sums for a foot and a moment. It looks at no later moment, so it serves figures that are steered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.motion.footfall import OFF, Stance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# How far a foot is turned against its motion before it pivots [rad], and the time in which heights are taken up [s].
PIVOT, SETTLING = 0.7, 0.06


class Foot:
    """The hold on one foot.

    Attributes:
        shift: How far the ankle is moved (3,) [m].
        turn: By how much the foot is turned about the vertical [rad].
        part: What it stands on: 0 its heel, 1 its ball, −1 nothing.
        place: Where that is (2,) [m].
        landing: How far from where the motion has it the foot lands next (3,) [m].
    """

    def __init__(self) -> None:
        self.shift, self.turn, self.part = np.zeros(3), 0.0, OFF
        self.place, self.landing, self._heading = np.zeros(2), np.zeros(3), 0.0
        self._left, self._left_turn = np.zeros(3), 0.0

    def step(self, points: Floats, stance: Stance, rise: float, time_step: float) -> None:
        """Go on by a moment.

        Args:
            points: Heel and ball, as the motion has them (2, 3) [m].
            stance: What the foot does.
            rise: How far the part that it stands on is above the ground in the motion [m].
            time_step: Length of the moment [s].
        """
        across = points[1] - points[0]
        heading = float(np.arctan2(across[1], across[0])) if np.hypot(across[0], across[1]) > 1e-6 else 0.0
        if stance.part == OFF:
            self._swing(stance.swung)
            return
        if self.part == OFF:
            self._heading, self.landing = heading + self.turn, np.zeros(3)
        elif self.part != stance.part:
            self._hold(points, heading, rise, time_step)
        if self.part != stance.part:
            self.part = stance.part
            self.place = self.held(points)[stance.part, :2]
        self._hold(points, heading, rise, time_step)

    def held(self, points: Floats) -> Floats:
        """Heel and ball, held (2, 3) [m]."""
        return np.asarray(points[0] + self.shift + (points - points[0]) @ about_z(self.turn).T)

    def _hold(self, points: Floats, heading: float, rise: float, time_step: float) -> None:
        self.turn = float(np.clip((self._heading - heading + np.pi) % (2.0 * np.pi) - np.pi, -PIVOT, PIVOT))
        lever = about_z(self.turn) @ (points[self.part] - points[0])
        up = self.shift[2] + (1.0 - np.exp(-time_step / SETTLING)) * (-rise - self.shift[2])
        self.shift = np.array([*(self.place - lever[:2] - points[0, :2]), up])
        self._left, self._left_turn = self.shift, self.turn

    def _swing(self, swung: float) -> None:
        self.part = OFF
        left = 1.0 - swung * swung * (3.0 - 2.0 * swung)
        self.shift, self.turn = left * self._left + (1.0 - left) * self.landing, left * self._left_turn


def about_z(angle: float) -> Floats:
    """The matrix of a turn about z (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
