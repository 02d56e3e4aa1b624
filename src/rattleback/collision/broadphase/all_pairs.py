"""All pairs: every pair of colliders of a world is tested.

    candidates = { (a, b) : a < b, box(a) ∩ box(b) ≠ ∅ }        n (n − 1) / 2 tests

n colliders of a world. No structure is kept, so nothing is faster for a few dozen colliders, nor for many small
worlds; the cost grows with n².

Reference: lecture on physics simulation, contact detection, "all pairs".
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.broadphase.listing import Crowd, Listing, crowd, drivers, put_all
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Places
from rattleback.core.sealed import sealed


@wp.func
def row(crowd: Crowd, first: int, a: int, pairs: Pairs, at: int, room: int) -> int:
    """The colliders of a higher row that collider a overlaps."""
    return put_all(crowd, a, pairs, at, room)


KERNELS = drivers(row, wp.int32)


@sealed
@dataclass(frozen=True)
class AllPairs:
    """Tests every pair of colliders of a world."""

    def bind(self, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> "BoundAllPairs":
        """The method on the colliders of a model.

        Args:
            geometry: The colliders.
            places: Their places.
            pairs: Where the list goes.
            each_body: Number of bodies of a world.
        """
        return BoundAllPairs(geometry, places, pairs, each_body)


class BoundAllPairs:
    """All pairs of the colliders of a model."""

    def __init__(self, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> None:
        self.listing = Listing(KERNELS, crowd(geometry, places, each_body, apart=False), 0, pairs)

    def record(self, program: Any) -> None:
        """Record the launches that write the list."""
        self.listing.record(program)

    def write_to(self, pairs: Pairs) -> None:
        """Write another list from now on; then record again."""
        self.listing.pairs = pairs

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer of its own, the array that counts what is needed, and what there is."""
        return {}

    def grow(self) -> None:
        """Enlarge the buffers that were too small; then record again."""
