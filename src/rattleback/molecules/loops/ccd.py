"""Cyclic coordinate descent for loops: one bond after the other is turned to where the anchor is nearest.

    S(δ) = const − 2 (b cos δ + c sin δ),   δ = atan2(c, b),   b = Σ f·r⊥,   c = Σ f·(a × r)

δ turn about a bond of direction a; over the three last points: r from the bond to the point, r⊥ its part across the
bond, f from the bond to where the point should be. S is the sum of their squared distances, so it never grows.

1. From the first bond to the last: turn by δ all that is behind.  2. Repeat until √(S/3) is within the tolerance.
3. A chain that hardly comes nearer is stuck: all bonds are turned by random angles, and it goes on.

Cost: about 0.5 µs a bond and sweep; some 100 to 1000 sweeps.
Use it: for quick closures of any loop, to some hundredths of an ångström. Not for the last digits: finish them
analytically, see ``analytic``.
Reference: Canutescu and Dunbrack, "Cyclic coordinate descent: a robotics algorithm for protein loop closure", Protein
Science 12 (2003), 963-972; step 3 is added here, short loops stay stuck without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.molecules.loops.found import Found

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.loops.chain import LoopChain

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class LoopCCD:
    """Cyclic coordinate descent.

    Args:
        tolerance: Distance of the end from the anchor, root of the mean square, that is closed [Å].
        sweeps: Most sweeps over all bonds.
    """

    tolerance: float = 0.08
    sweeps: int = 20_000

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.positive(self.tolerance, "The tolerance of ccd")
        checks.count(self.sweeps, "The sweeps of ccd")

    def close(self, chain: LoopChain, starts: Floats) -> Found:
        """One conformation for each start."""
        done = chain.descend(starts, self.tolerance, self.sweeps)
        return Found(done.q, np.arange(len(starts)), done.miss, done.miss <= self.tolerance)
