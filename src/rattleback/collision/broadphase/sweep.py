"""Sweep and prune along three axes: the ends of boxes stay sorted; pairs come and go where two change places.

    fat(i) = box(i) ± slack · (longest edge)
    fat(i) ∩ fat(j) ≠ ∅  ⇔  lower(i) ≤ upper(j) and lower(j) ≤ upper(i) along x, y and z

1. A box that has left its fat one, or has become much smaller, gets a new one; its six ends are put in their places by
   insertion.
2. A lower end that passes below an upper one, or an upper above a lower one, may begin a pair: all axes are tested.
3. A lower end that passes above an upper one, or an upper below a lower one, ends a pair.
4. The list holds the pairs of fat boxes whose boxes overlap.

Bodies at rest cost one test, bodies in motion the ends they pass, so the cost is O(n) where motions are small beside
the distances. In a dense pile of n bodies an end has n^(2/3) others close by; where more than ``SWAPS`` ends per
collider were passed in a step, as after bodies were put elsewhere, the ends are sorted and swept from scratch. One
thread goes through a world: good on a CPU and for many worlds on CUDA, not for one large world there.

Reference: Baraff (1992); Cohen, Lin, Manocha, Ponamgi (1995), I-COLLIDE; Bender, dissertation, §2.2.2; lecture on
physics simulation, "sweep and prune".
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.broadphase.endpoints import Endpoints, comes_before, set_end, sort_stretch, stretch
from rattleback.collision.broadphase.listing import Crowd, Listing, crowd, drivers, put, put_all, put_big
from rattleback.collision.broadphase.pair_lists import (
    END,
    PairLists,
    add_pair,
    chain_up,
    empty_lists,
    lay_side_by_side,
    note_pair,
    remove_pair,
)
from rattleback.collision.broadphase.pairs import Pairs, may_meet
from rattleback.collision.geometry.bvh import overlap
from rattleback.collision.geometry.colliders import Places
from rattleback.core.checks import positive
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed

# A fat box is too wide where it is so many times farther from its box than a new one would be.
LOOSE = wp.constant(real(3.0))
# Ends that may change places in a step, for each collider, before sorting from scratch is cheaper.
SWAPS = wp.constant(256)
# More than any number of swaps: there was no room for a pair.
FULL = wp.constant(2**30)
# Pairs of fat boxes there is room for at first, for each collider.
ROOM = 16


@wp.struct
class FatBox:
    """A box along the axes."""

    lower: vec3
    upper: vec3


@wp.struct
class Swept:
    """What is kept from step to step: fat boxes, their sorted ends, their pairs."""

    slack: real
    lower: wp.array[vec3]
    upper: wp.array[vec3]
    small: wp.array[wp.int32]
    ends: Endpoints
    lists: PairLists
    active: wp.array[wp.int32]
    slot: wp.array[wp.int32]
    stale: wp.array[wp.int32]
    needed: wp.array[wp.int32]


@wp.func
def fatten(crowd: Crowd, swept: Swept, i: int) -> None:
    """Give a collider a new fat box."""
    lower = crowd.places.lower[i]
    upper = crowd.places.upper[i]
    more = swept.slack * wp.max(upper - lower)
    wide = vec3(more, more, more)
    swept.lower[i] = lower - wide
    swept.upper[i] = upper + wide


@wp.func
def is_fit(crowd: Crowd, swept: Swept, i: int) -> bool:
    """Whether the box of a collider is in its fat one, which is not much too wide, as after the box was larger."""
    lower = crowd.places.lower[i]
    upper = crowd.places.upper[i]
    below = lower - swept.lower[i]
    above = swept.upper[i] - upper
    most = LOOSE * swept.slack * wp.max(upper - lower)
    return wp.min(wp.min(below), wp.min(above)) >= real(0.0) and wp.max(wp.max(below), wp.max(above)) <= most


@wp.func
def fat_partners(crowd: Crowd, swept: Swept, i: int, j: int) -> bool:
    """Whether two fat boxes share a point and their colliders may meet."""
    if not overlap(swept.lower[i], swept.upper[i], swept.lower[j], swept.upper[j]):
        return False
    return may_meet(crowd.colliders, crowd.exclusions, crowd.each_body, i, j)


@wp.func
def pass_end(crowd: Crowd, swept: Swept, i: int, j: int, begins: bool, was: FatBox) -> bool:
    """An end of collider i has passed one of the other kind of j: a pair may begin or end; False without room."""
    w = i // crowd.each
    if begins:
        if fat_partners(crowd, swept, i, j):
            return add_pair(swept.lists, w, wp.min(i, j), wp.max(i, j))
    elif overlap(was.lower, was.upper, swept.lower[j], swept.upper[j]):
        remove_pair(swept.lists, w, wp.min(i, j), wp.max(i, j))
    return True


@wp.func
def slide(crowd: Crowd, swept: Swept, axis: int, end: int, i: int, was: FatBox) -> int:
    """Put an end of collider i in its place along an axis; returns how many others it passed, or FULL."""
    w = i // crowd.each
    start = w * crowd.each
    side = end & 1
    count = 2 * swept.small.shape[0]
    begin = stretch(swept.ends, axis, w)
    lower = swept.lower[i]
    upper = swept.upper[i]
    value = wp.where(side == 0, lower[axis], upper[axis])
    k = swept.ends.place[begin + end]
    # Going down first, then up; only one of the two finds something to pass.
    step = int(-1)
    passed = int(0)
    room = bool(True)
    while step <= 1:
        n = k + step
        moves = n >= 0 and n < count
        if moves:
            other = swept.ends.end[begin + n]
            there = swept.ends.value[begin + n]
            moves = (step < 0) == comes_before(value, end, there, other) and (value != there or (other & 1) != side)
            if moves:
                set_end(swept.ends, begin, k, there, other)
                k = n
                passed = passed + 1
                j = start + (other >> 1)
                if (other & 1) != side and j != i:
                    room = room and pass_end(crowd, swept, i, j, (step < 0) == (side == 0), was)
        if not moves:
            step = step + 2
    set_end(swept.ends, begin, k, value, end)
    if not room:
        return FULL
    return passed


@wp.func
def move(crowd: Crowd, swept: Swept, i: int) -> int:
    """Give collider i a new fat box and renew its pairs; returns how many ends were passed, or at least FULL."""
    was = FatBox()
    was.lower = swept.lower[i]
    was.upper = swept.upper[i]
    fatten(crowd, swept, i)
    end = 2 * (i % crowd.each)
    passed = int(0)
    for k in range(6):
        if passed < FULL:
            passed = passed + slide(crowd, swept, k // 2, end + k % 2, i, was)
    return passed


@wp.func
def sort_ends(crowd: Crowd, swept: Swept, w: int) -> int:
    """Sort the ends of all fat boxes of a world; returns the axis along which fewest overlap."""
    count = 2 * swept.small.shape[0]
    best = int(0)
    fewest = wp.int64(-1)
    for axis in range(3):
        begin = stretch(swept.ends, axis, w)
        for k in range(swept.small.shape[0]):
            i = swept.small[k]
            lower = swept.lower[w * crowd.each + i]
            upper = swept.upper[w * crowd.each + i]
            swept.ends.value[begin + 2 * k] = lower[axis]
            swept.ends.end[begin + 2 * k] = 2 * i
            swept.ends.value[begin + 2 * k + 1] = upper[axis]
            swept.ends.end[begin + 2 * k + 1] = 2 * i + 1
        sort_stretch(swept.ends, axis, w, count)
        begun = wp.int64(0)
        total = wp.int64(0)
        for k in range(count):
            if (swept.ends.end[begin + k] & 1) == 0:
                total = total + begun
                begun = begun + wp.int64(1)
            else:
                begun = begun - wp.int64(1)
        if axis == 0 or total < fewest:
            fewest = total
            best = axis
    return best


@wp.func
def find_pairs(crowd: Crowd, swept: Swept, w: int, axis: int) -> int:
    """Sweep along one axis and note all pairs of fat boxes of a world; returns their number."""
    start = w * crowd.each
    begin = stretch(swept.ends, axis, w)
    count = int(0)
    active = int(0)
    for k in range(2 * swept.small.shape[0]):
        end = swept.ends.end[begin + k]
        i = start + (end >> 1)
        if (end & 1) == 0:
            for n in range(start, start + active):
                j = swept.active[n]
                if fat_partners(crowd, swept, i, j):
                    note_pair(swept.lists, w, count, wp.min(i, j), wp.max(i, j))
                    count = count + 1
            swept.active[start + active] = i
            swept.slot[i] = start + active
            active = active + 1
        else:
            active = active - 1
            last = swept.active[start + active]
            swept.active[swept.slot[i]] = last
            swept.slot[last] = swept.slot[i]
    return count


@wp.func
def rebuild(crowd: Crowd, swept: Swept, w: int) -> int:
    """Make fat boxes, sorted ends and pairs of a world from scratch; returns the number of pairs."""
    start = w * crowd.each
    for i in range(start, start + crowd.each):
        fatten(crowd, swept, i)
    empty_lists(swept.lists, w, start, crowd.each)
    count = find_pairs(crowd, swept, w, sort_ends(crowd, swept, w))
    swept.stale[w] = 1
    if count <= swept.lists.room:
        chain_up(swept.lists, w, start, crowd.each)
        lay_side_by_side(swept.lists, w, start, crowd.each)
        swept.stale[w] = 0
    return count


@kernel
def begin_step(swept: Swept) -> None:
    """No room is needed yet."""
    swept.needed[0] = 0


@kernel
def update(crowd: Crowd, swept: Swept) -> None:
    """Bring the fat boxes of a world and their pairs up to date."""
    w = wp.tid()
    start = w * crowd.each
    left = SWAPS * crowd.each
    if swept.stale[w] != 0:
        left = -1
    k = int(0)
    while k < swept.small.shape[0] and left >= 0:
        i = start + swept.small[k]
        if not is_fit(crowd, swept, i):
            left = left - move(crowd, swept, i)
        k = k + 1
    if left < 0:
        wp.atomic_max(swept.needed, 0, rebuild(crowd, swept, w))
    else:
        wp.atomic_max(swept.needed, 0, swept.lists.used[w])
        if 4 * swept.lists.changes[w] > swept.lists.used[w]:
            lay_side_by_side(swept.lists, w, start, crowd.each)


@wp.func
def row(crowd: Crowd, swept: Swept, a: int, pairs: Pairs, at: int, room: int) -> int:
    """The colliders of a higher row that collider a overlaps."""
    if crowd.is_big[a % crowd.each] != 0:
        return put_all(crowd, a, pairs, at, room)
    lower = crowd.places.lower[a]
    upper = crowd.places.upper[a]
    to = at
    k = swept.lists.head[a]
    while k != END:
        entry = swept.lists.link[k]
        if overlap(lower, upper, crowd.places.lower[entry[0]], crowd.places.upper[entry[0]]):
            to = put(pairs, to, room, entry[0])
        k = entry[1]
    return put_big(crowd, a, pairs, to, room)


KERNELS = drivers(row, Swept)


@sealed
@dataclass(frozen=True)
class Sweep:
    """Sweep and prune along three axes.

    Args:
        slack: How much wider the boxes are that are kept sorted, on every side, beside the longest edge of a box.
    """

    slack: float = 0.05

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "slack", positive(self.slack, "slack of Sweep"))

    def bind(self, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> "BoundSweep":
        """The method on the colliders of a model.

        Args:
            geometry: The colliders.
            places: Their places.
            pairs: Where the list goes.
            each_body: Number of bodies of a world.
        """
        return BoundSweep(self, geometry, crowd(geometry, places, each_body), pairs)


class BoundSweep:
    """The sorted boxes of the colliders of a model and their pairs."""

    def __init__(self, method: Sweep, geometry: Any, crowd: Crowd, pairs: Pairs) -> None:
        self.crowd, self.worlds, self.device = crowd, geometry.count // max(1, geometry.each), geometry.device
        self.swept = _swept(method, geometry, crowd, self.worlds)
        self.listing = Listing(KERNELS, crowd, self.swept, pairs)
        self._make_room(ROOM * geometry.each)

    def _make_room(self, room: int) -> None:
        """Room for so many pairs of fat boxes in every world; they are found from scratch."""
        lists = self.swept.lists
        lists.room = room
        lists.link = wp.zeros(self.worlds * room, dtype=wp.vec2i, device=self.device)
        lists.spare = wp.zeros(self.worlds * room, dtype=wp.vec2i, device=self.device)
        self.swept.stale.fill_(1)

    def record(self, program: Any) -> None:
        """Record the launches that write the list."""
        program.launch(begin_step, 1, self.swept)
        program.launch(update, self.worlds, self.crowd, self.swept)
        self.listing.record(program)

    def write_to(self, pairs: Pairs) -> None:
        """Write another list from now on; then record again."""
        self.listing.pairs = pairs

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer of its own, the array that counts what is needed, and what there is."""
        return {"pairs of fat boxes of a world": (self.swept.needed, self.swept.lists.room)}

    def grow(self) -> None:
        """Enlarge the buffers that were too small; then record again."""
        needed = int(self.swept.needed.numpy()[0])
        if needed > self.swept.lists.room:
            self._make_room(needed + needed // 4)


def _swept(method: Sweep, geometry: Any, crowd: Crowd, worlds: int) -> Swept:
    """Everything but the room for pairs, empty."""
    each, count, device = geometry.each, geometry.count, geometry.device
    swept = Swept()
    swept.slack = real(method.slack)
    small = np.flatnonzero(crowd.is_big.numpy() == 0)
    swept.small = wp.array(small, dtype=wp.int32, device=device)
    swept.lower, swept.upper = (wp.zeros(count, dtype=vec3, device=device) for _ in range(2))
    swept.active, swept.slot = (wp.zeros(count, dtype=wp.int32, device=device) for _ in range(2))
    swept.stale, swept.needed = (wp.zeros(n, dtype=wp.int32, device=device) for n in (worlds, 1))
    ends, lists = swept.ends, swept.lists
    ends.each, ends.worlds = each, worlds
    ends.value, ends.spare_value = (wp.zeros(n * count, dtype=real, device=device) for n in (6, 2))
    for name, length in {"end": 6 * count, "place": 6 * count, "spare_end": 2 * count}.items():
        setattr(ends, name, wp.zeros(length, dtype=wp.int32, device=device))
    for name, length in {"head": count, "column": count, "used": worlds, "free": worlds, "changes": worlds}.items():
        setattr(lists, name, wp.zeros(length, dtype=wp.int32, device=device))
    return swept
