"""Footfall: at which phases of a gait its feet stand, and for gaits in between.

    s = Σ w_k s_k,   d = Σ w_k d_k,   b = Σ w_k b_k        p = φ − s (mod 1),   a foot stands while p < d

s phase at which a foot comes down, d part of a stride for which it stays, b part after which its ball stands, w_k
weights of the gaits that lead somewhere, φ phase. All are measured on the gaits once, so what stands at a phase does
not depend on how fast anything moves in a blend.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.characters.motion.footing import standing
from rattleback.characters.motion.ground import moved

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.motion.cycle import Cycle
    from rattleback.characters.motion.footing import Leg

    Floats = NDArray[np.float64]

# Phases at which a gait is looked at, and the greatest part of a stride for which a foot stands.
PHASES, MOST = 96, 0.95
# A foot that was off the ground for less than this part of a stride has not left it.
BRIEF = 0.06
HEEL, BALL, OFF = 0, 1, -1


class Stance(NamedTuple):
    """What a foot does: the part that it stands on, −1 while it swings, and how far it has swung, from 0 to 1."""

    part: int
    swung: float


class Footfall:
    """When the feet of a few gaits stand.

    Args:
        cycles: The gaits; those that lead nowhere take no part.
        legs: The legs.
    """

    def __init__(self, cycles: Sequence[Cycle], legs: Sequence[Leg]) -> None:
        self._moving = np.array([cycle.stride > 0.0 for cycle in cycles])
        found = [[_measured(cycle, leg) for leg in legs] for cycle in cycles if cycle.stride > 0.0]
        # Down at, down for, ball from (gaits, legs, 3).
        self.times = np.array(found) if found else np.zeros((0, len(legs), 3))
        if len(found) > 1:
            first = self.times[0, :, 0]
            self.times[:, :, 0] = first + np.mod(self.times[:, :, 0] - first + 0.5, 1.0) - 0.5

    def of(self, weights: ArrayLike) -> Floats:
        """When each foot comes down, the part of a stride it stays, and that after which its ball stands (legs, 3).

        Args:
            weights: Weights of the cycles; where all that lead somewhere have none it is the slowest of these.
        """
        shares = np.asarray(weights, dtype=np.float64)[self._moving]
        if shares.sum() <= 1e-9:
            shares = np.eye(len(shares))[0]
        return np.asarray(np.tensordot(shares / shares.sum(), self.times, axes=1))

    def at(self, phase: float, weights: ArrayLike) -> list[Stance]:
        """What each foot does at a phase."""
        if not len(self.times):
            return [Stance(BALL, 0.0)] * self.times.shape[1]
        found = []
        for down, stays, ball in self.of(weights):
            p = (phase - down) % 1.0
            part = OFF if p >= stays else BALL if p >= ball else HEEL
            found.append(Stance(part, max(0.0, (p - stays) / (1.0 - stays))))
        return found


def _measured(cycle: Cycle, leg: Leg) -> tuple[float, float, float]:
    phases = np.arange(3 * PHASES) / PHASES
    poses = cycle.pose(phases)
    ways = np.stack([phases * cycle.stride, np.zeros_like(phases)], axis=-1)
    stands = standing(cycle.skeleton, moved(cycle.skeleton, poses, ways), leg, cycle.duration / PHASES)
    stands = stands[PHASES : 2 * PHASES]
    down = _closed(stands[:, HEEL] | stands[:, BALL])
    start, count = _longest(down)
    on = np.roll(stands[:, BALL], -start)[:count]
    ball = int(np.argmax(on)) if on.any() else count
    return start / PHASES, min(count / PHASES, MOST), ball / PHASES


def _closed(down: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Stances around a cycle, without the gaps that are brief."""
    gap = max(1, round(BRIEF * len(down)))
    wide = np.concatenate([down, down, down])
    on = np.flatnonzero(wide)
    for a, b in pairwise(on):
        if b - a <= gap:
            wide[a:b] = True
    return wide[len(down) : 2 * len(down)]


def _longest(down: NDArray[np.bool_]) -> tuple[int, int]:
    """First phase and number of phases of the longest stance around a cycle."""
    if down.all() or not down.any():
        return 0, len(down) if down.all() else 1
    off = int(np.argmin(down))
    turned = np.roll(down, -off)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], turned.astype(int), [0]])))
    starts, ends = edges[::2], edges[1::2]
    k = int(np.argmax(ends - starts))
    return (int(starts[k]) + off) % len(down), int(ends[k] - starts[k])
