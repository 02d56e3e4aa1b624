"""Boxes along the axes: the broad phase has compared them already, so every pair is kept.

lower(a) ≤ upper(b) and lower(b) ≤ upper(a)        along x, y and z

a, b colliders of a candidate pair. It is the default and costs nothing.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Places
from rattleback.core.kernel import kernel
from rattleback.core.sealed import sealed


@kernel
def keep_all(pairs: Pairs, keep: wp.array[wp.int32]) -> None:
    """Keep every pair there is."""
    k = wp.tid()
    keep[k] = wp.where(k < pairs.needed[0], 1, 0)


@sealed
@dataclass(frozen=True)
class BoxBounds:
    """Boxes along the axes, as they come from the broad phase."""

    def record(self, program: Any, geometry: Any, places: Places, pairs: Pairs, keep: Any, wider: float) -> None:
        """Record the launch that keeps every pair."""
        program.launch(keep_all, len(pairs.a), pairs, keep)
