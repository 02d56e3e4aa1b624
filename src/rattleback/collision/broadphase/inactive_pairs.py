"""Pairs of still colliders are left out: neither of the two moves, nor can anything move it until it wakes.

Between the broad phase and all that follows, such pairs are taken out of the list; the order of the others stays.

Cost: one test of every pair. In order on a CPU; on CUDA the pairs kept are counted, added up and filled in.
"""

from typing import Any

import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.sums import Sum


@wp.func
def is_kept(still: wp.array[wp.int32], a: int, b: int) -> bool:
    """Whether one of two colliders is not still."""
    return still[a] == 0 or still[b] == 0


@kernel
def sift_serially(still: wp.array[wp.int32], all_pairs: Pairs, pairs: Pairs) -> None:
    """List the pairs that are kept, in order."""
    rows = pairs.first.shape[0] - 1
    at = int(0)
    for a in range(rows):
        pairs.first[a] = at
        for k in range(all_pairs.first[a], all_pairs.first[a + 1]):
            b = all_pairs.b[k]
            if is_kept(still, a, b):
                pairs.a[at] = a
                pairs.b[at] = b
                at = at + 1
    pairs.first[rows] = at
    pairs.needed[0] = at


@kernel
def judge(still: wp.array[wp.int32], all_pairs: Pairs, kept: wp.array[wp.int32]) -> None:
    """Note which pairs are kept."""
    k = wp.tid()
    kept[k] = 0
    if k < all_pairs.needed[0] and is_kept(still, all_pairs.a[k], all_pairs.b[k]):
        kept[k] = 1


@kernel
def sift(all_pairs: Pairs, kept: wp.array[wp.int32], pairs: Pairs) -> None:
    """Write the pairs that are kept, and where those of a collider begin."""
    k = wp.tid()
    room = all_pairs.b.shape[0]
    if k < pairs.first.shape[0]:
        pairs.first[k] = kept[all_pairs.first[k]]
    if k < room and kept[k + 1] > kept[k]:
        pairs.a[kept[k]] = all_pairs.a[k]
        pairs.b[kept[k]] = all_pairs.b[k]
    if k == 0:
        pairs.needed[0] = kept[room]


class InactivePairFilter:
    """Takes pairs of still colliders out of a list.

    Args:
        still: 1 for every collider that is still.
        pairs: Where the other pairs go.

    Attributes:
        all_pairs: Where a broad phase has to write its list.
    """

    def __init__(self, still: Any, pairs: Pairs) -> None:
        self.still, self.pairs, device = still, pairs, still.device
        self.room, self.rows = (int(array.shape[0]) for array in (pairs.a, pairs.first))
        counts = {"pairs": self.room, "colliders_and_one": self.rows, "one": 1}
        self.all_pairs = arrays.allocate(Pairs, counts, device)
        self.kept = wp.zeros(0 if device.is_cpu else self.room + 1, dtype=wp.int32, device=device)

    def record(self, program: Any) -> None:
        """Record the launches."""
        if program.device.is_cpu:
            program.launch(sift_serially, 1, self.still, self.all_pairs, self.pairs)
            return
        program.launch(judge, self.room, self.still, self.all_pairs, self.kept)
        Sum(self.kept, self.room, program.device).record(program)
        program.launch(sift, max(self.room, self.rows), self.all_pairs, self.kept, self.pairs)
