"""Another method on wider boxes, done again only when a collider has left its own; in between its list is sifted.

    fat(i) = box(i) ± slack · (longest edge of box(i))        box(i) ∩ box(j) ≠ ∅  ⇒  fat(i) ∩ fat(j) ≠ ∅

While every box stays in its fat one, the pairs of fat boxes hold all pairs of boxes. Each step then costs one test of
every collider and at every such pair, linear in both and far less than to find them anew. Bodies at rest never leave
their boxes. Where one of many bodies is always fast, the inner method is done every step with more pairs than needed;
where there are many worlds, one of them is always restless.

Reference: Verlet (1967), Computer "experiments" on classical fluids I, neighbour lists.
"""

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.broadphase.grid import Grid
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.bvh import overlap
from rattleback.collision.geometry.colliders import Places
from rattleback.core import arrays
from rattleback.core.checks import positive
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed
from rattleback.core.sums import Sum

# Pairs of fat boxes there is room for at first, for each collider.
ROOM = 16
# Corners of a box that holds nothing.
FURTHEST = float(np.finfo(np.float32).max)


@kernel
def rest(stale: wp.array[wp.int32]) -> None:
    """Take the list to be good."""
    stale[0] = 0


@kernel
def look(places: Places, fat: Places, stale: wp.array[wp.int32]) -> None:
    """Note that a box has left its fat one."""
    i = wp.tid()
    p = fat.lower[i]
    q = places.lower[i]
    r = places.upper[i]
    s = fat.upper[i]
    inside = p[0] <= q[0] and p[1] <= q[1] and p[2] <= q[2] and r[0] <= s[0] and r[1] <= s[1] and r[2] <= s[2]
    if not inside:
        stale[0] = 1


@kernel
def fatten(places: Places, fat: Places, slack: real) -> None:
    """Make a new fat box."""
    i = wp.tid()
    more = slack * wp.max(places.upper[i] - places.lower[i])
    wide = vec3(more, more, more)
    fat.lower[i] = places.lower[i] - wide
    fat.upper[i] = places.upper[i] + wide


@kernel
def sift_serially(places: Places, near: Pairs, pairs: Pairs) -> None:
    """List the pairs of fat boxes whose boxes overlap, in order."""
    room = pairs.b.shape[0]
    rows = pairs.first.shape[0] - 1
    at = int(0)
    for a in range(rows):
        pairs.first[a] = wp.min(at, room)
        lower = places.lower[a]
        upper = places.upper[a]
        for k in range(near.first[a], near.first[a + 1]):
            b = near.b[k]
            if overlap(lower, upper, places.lower[b], places.upper[b]):
                if at < room:
                    pairs.a[at] = a
                    pairs.b[at] = b
                at = at + 1
    pairs.first[rows] = wp.min(at, room)
    pairs.needed[0] = at


@kernel
def judge(places: Places, near: Pairs, kept: wp.array[wp.int32]) -> None:
    """Note which pairs of fat boxes are pairs of boxes."""
    k = wp.tid()
    kept[k] = 0
    if k < near.needed[0]:
        a = near.a[k]
        b = near.b[k]
        if overlap(places.lower[a], places.upper[a], places.lower[b], places.upper[b]):
            kept[k] = 1


@kernel
def sift(near: Pairs, kept: wp.array[wp.int32], pairs: Pairs) -> None:
    """Write the pairs that were kept, and where those of a collider begin."""
    k = wp.tid()
    room = pairs.b.shape[0]
    if k < pairs.first.shape[0]:
        pairs.first[k] = wp.min(kept[near.first[k]], room)
    if k < near.b.shape[0]:
        at = kept[k]
        if kept[k + 1] > at and at < room:
            pairs.a[at] = near.a[k]
            pairs.b[at] = near.b[k]
    if k == 0:
        pairs.needed[0] = kept[near.b.shape[0]]


@sealed
@dataclass(frozen=True)
class Cached:
    """Keeps the pairs another method found among wider boxes as long as these hold the boxes.

    Args:
        inner: The method that finds them.
        slack: How much wider, on every side, beside the longest edge of a box.
    """

    inner: Any = dataclass_field(default_factory=Grid)
    slack: float = 0.1

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "slack", positive(self.slack, "slack of Cached"))
        if isinstance(self.inner, str) or not hasattr(self.inner, "bind"):
            raise InputError(f"inner of Cached is {self.inner!r}; it must be a broad phase, such as Grid().")

    def bind(self, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> "BoundCached":
        """The method on the colliders of a model.

        Args:
            geometry: The colliders.
            places: Their places.
            pairs: Where the list goes.
            each_body: Number of bodies of a world.
        """
        return BoundCached(self, geometry, places, pairs, each_body)


class BoundCached:
    """The fat boxes of the colliders of a model and their pairs."""

    def __init__(self, method: Cached, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> None:
        self.method, self.geometry, self.places, self.pairs, self.each_body = method, geometry, places, pairs, each_body
        self.stale = wp.zeros(1, dtype=wp.int32, device=geometry.device)
        self.fat = Places()
        self.fat.lower = wp.zeros(geometry.count, dtype=vec3, device=geometry.device)
        self.fat.upper = wp.zeros(geometry.count, dtype=vec3, device=geometry.device)
        self._make_room(ROOM * geometry.count)

    def _make_room(self, room: int) -> None:
        """An empty list of the pairs of fat boxes, and fat boxes that hold nothing."""
        counts = {"pairs": room, "colliders_and_one": self.geometry.count + 1, "one": 1}
        self.near = arrays.allocate(Pairs, counts, self.geometry.device)
        self.inner = self.method.inner.bind(self.geometry, self.fat, self.near, self.each_body)
        self.fat.lower.fill_(FURTHEST)
        self.fat.upper.fill_(-FURTHEST)

    def record(self, program: Any) -> None:
        """Record the launches that write the list."""
        count, near = self.geometry.count, self.near
        program.launch(rest, 1, self.stale)
        program.launch(look, count, self.places, self.fat, self.stale)
        with program.when(self.stale):
            program.launch(fatten, count, self.places, self.fat, real(self.method.slack))
            self.inner.record(program)
        if program.device.is_cpu:
            program.launch(sift_serially, 1, self.places, near, self.pairs)
            return
        room = len(near.b)
        kept = wp.zeros(room + 1, dtype=wp.int32, device=self.geometry.device)
        program.launch(judge, room, self.places, near, kept)
        Sum(kept, room, program.device).record(program)
        program.launch(sift, max(room, count + 1), near, kept, self.pairs)

    def write_to(self, pairs: Pairs) -> None:
        """Write another list from now on; then record again."""
        self.pairs = pairs

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer of its own, the array that counts what is needed, and what there is."""
        return {"pairs of fat boxes": (self.near.needed, len(self.near.b))} | self.inner.buffers()

    def grow(self) -> None:
        """Enlarge the buffers that were too small; then record again."""
        needed = int(self.near.needed.numpy()[0])
        self.inner.grow()
        if needed > len(self.near.b):
            self._make_room(needed + needed // 4)
