"""From what a method finds for one collider to the list of all pairs: count, add up, fill in, sort.

    first[a] = Σ count[i], i < a        pairs of a: first[a] … first[a + 1] − 1, sorted by b

A method says in a function ``row`` which colliders of a higher row one collider overlaps. In order on a CPU, the rows
are written one behind the other; in parallel on CUDA they are counted, the counts added up, and the rows filled in.
Rows of big colliders may be as long as there are colliders; there, every possible pair is a slot of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from rattleback.collision.broadphase.pairs import Pairs, may_meet
from rattleback.collision.geometry.bvh import overlap
from rattleback.collision.geometry.colliders import Colliders, Exclusions, Places
from rattleback.core.kernel import lone_kernel
from rattleback.core.precision import vec3
from rattleback.core.sums import Sum

# A collider is big where its reach is this many times the median; at most so many that have an end are.
BIG, MOST_BIG = 8.0, 32
# What stands for the other collider of a slot that is the row of a collider, and of one that begins that of a big one.
ROW, BIG_ROW = wp.constant(-1), wp.constant(-2)


@wp.struct
class Crowd:
    """All colliders and where they are, how many a world has, and which of these are much larger than the rest."""

    colliders: Colliders
    exclusions: Exclusions
    places: Places
    each: wp.int32
    each_body: wp.int32
    big: wp.array[wp.int32]
    is_big: wp.array[wp.int32]


def crowd(geometry: Any, places: Places, each_body: int, apart: bool = True) -> Crowd:
    """What the kernels of a method read.

    Args:
        geometry: The colliders.
        places: Their places.
        each_body: Number of bodies of a world.
        apart: Whether big colliders are to be found and kept apart.
    """
    result = Crowd()
    result.colliders, result.exclusions, result.places = geometry.colliders, geometry.exclusions, places
    result.each, result.each_body = geometry.each, each_body
    flags = big_ones(geometry.colliders.reach.numpy()[: geometry.each]) if apart else np.zeros(geometry.each, bool)
    result.big = wp.array(np.flatnonzero(flags), dtype=wp.int32, device=geometry.device)
    result.is_big = wp.array(flags, dtype=wp.int32, device=geometry.device)
    return result


def big_ones(reach: NDArray[Any]) -> NDArray[np.bool_]:
    """Which colliders are so much larger than the rest that they are tested against all.

    Args:
        reach: Radius of each (colliders,) [m]; negative for no end.
    """
    endless = reach < 0.0
    if endless.all():
        return np.ones(len(reach), dtype=np.bool_)
    large = ~endless & (reach > BIG * np.median(reach[~endless]))
    keep = np.argsort(-np.where(large, reach, 0.0), kind="stable")[:MOST_BIG]
    result: NDArray[np.bool_] = endless.copy()
    result[keep] |= large[keep]
    return result


@wp.func
def meets(crowd: Crowd, i: int, j: int) -> bool:
    """Whether the boxes of two colliders overlap and they may meet."""
    places = crowd.places
    if not overlap(places.lower[i], places.upper[i], places.lower[j], places.upper[j]):
        return False
    return may_meet(crowd.colliders, crowd.exclusions, crowd.each_body, i, j)


@wp.func
def is_partner(crowd: Crowd, lower: vec3, upper: vec3, a: int, b: int) -> bool:
    """Whether collider b belongs to the row of a, whose box is given."""
    if b <= a:
        return False
    if not overlap(lower, upper, crowd.places.lower[b], crowd.places.upper[b]):
        return False
    return may_meet(crowd.colliders, crowd.exclusions, crowd.each_body, a, b)


@wp.func
def put(pairs: Pairs, at: int, room: int, b: int) -> int:
    """Write the other collider of a pair, if there is room; returns the next place."""
    if at < room:
        pairs.b[at] = b
    return at + 1


@wp.func
def put_big(crowd: Crowd, a: int, pairs: Pairs, at: int, room: int) -> int:
    """Write the big colliders of a higher row that one collider overlaps; returns the next place."""
    start = a - a % crowd.each
    lower = crowd.places.lower[a]
    upper = crowd.places.upper[a]
    to = at
    for k in range(crowd.big.shape[0]):
        b = start + crowd.big[k]
        if is_partner(crowd, lower, upper, a, b):
            to = put(pairs, to, room, b)
    return to


@wp.func
def put_all(crowd: Crowd, a: int, pairs: Pairs, at: int, room: int) -> int:
    """Write all colliders of a higher row that one collider overlaps; returns the next place."""
    lower = crowd.places.lower[a]
    upper = crowd.places.upper[a]
    to = at
    for b in range(a + 1, a - a % crowd.each + crowd.each):
        if is_partner(crowd, lower, upper, a, b):
            to = put(pairs, to, room, b)
    return to


@wp.func
def sort_row(values: wp.array[wp.int32], first: int, end: int) -> None:
    """Sort a stretch of whole numbers: Shell's sort, which is insertion where it is short or nearly sorted."""
    gap = int(1)
    while gap * 27 < end - first:
        gap = gap * 3 + 1
    while gap > 0:
        for k in range(first + gap, end):
            value = values[k]
            j = k - gap
            while j >= first and values[wp.max(j, first)] > value:
                values[j + gap] = values[j]
                j = j - gap
            values[j + gap] = value
        gap = gap // 3


@wp.func
def finish_row(pairs: Pairs, a: int, at: int, to: int, room: int) -> None:
    """Sort the pairs of one collider and say where they begin."""
    first = wp.min(at, room)
    end = wp.min(to, room)
    pairs.first[a] = first
    sort_row(pairs.b, first, end)
    for k in range(first, end):
        pairs.a[k] = a


@wp.struct
class Slots:
    """What is counted on its own: the row of a collider, or one possible pair of a big one."""

    row: wp.array[wp.int32]
    other: wp.array[wp.int32]
    start: wp.array[wp.int32]


@dataclass(frozen=True)
class Drivers:
    """The kernels that make a list out of a row function."""

    serial: Any
    count: Any
    fill: Any


def drivers(row: Any, state: Any) -> Drivers:
    """Kernels that list the pairs a method finds.

    Args:
        row: A ``@wp.func`` (crowd, state, a, pairs, at, room) that writes the colliders of a higher row that a overlaps
            to ``pairs.b[at]`` and on, below ``room``, in any order, each once; it returns the place after the last.
            It counts rows from the front, as all kernels of the house do.
        state: The Warp struct of its second argument.
    """

    @lone_kernel
    def list_serially(crowd: Crowd, own: state, pairs: Pairs) -> None:
        room = pairs.b.shape[0]
        rows = pairs.first.shape[0] - 1
        at = int(0)
        for a in range(rows):
            to = row(crowd, own, a, pairs, at, room)
            finish_row(pairs, a, at, to, room)
            at = to
        pairs.first[rows] = wp.min(at, room)
        pairs.needed[0] = at

    @lone_kernel
    def count_row(crowd: Crowd, own: state, slots: Slots, pairs: Pairs) -> None:
        s = wp.tid()
        a = slots.row[s]
        b = slots.other[s]
        count = int(0)
        if b == ROW:
            count = row(crowd, own, a, pairs, 0, 0)
        elif b >= 0:
            count = wp.where(meets(crowd, a, b), 1, 0)
        slots.start[s] = count

    @lone_kernel
    def fill_row(crowd: Crowd, own: state, slots: Slots, pairs: Pairs) -> None:
        s = wp.tid()
        room = pairs.b.shape[0]
        a = slots.row[s]
        b = slots.other[s]
        at = slots.start[s]
        to = slots.start[s + 1]
        if b < 0:
            if to > at:
                row(crowd, own, a, pairs, at, room)
            finish_row(pairs, a, at, to, room)
            if s + 1 == slots.row.shape[0]:
                pairs.first[a + 1] = wp.min(to, room)
                pairs.needed[0] = to
        elif to > at and at < room:
            pairs.a[at] = a
            pairs.b[at] = b

    return Drivers(list_serially, count_row, fill_row)


class Listing:
    """The list of all pairs out of the rows a method finds.

    Args:
        kernels: Kernels made from its row function.
        crowd: The colliders.
        state: What its row function reads.
        pairs: Where the list goes.
    """

    def __init__(self, kernels: Drivers, crowd: Crowd, state: Any, pairs: Pairs) -> None:
        self.kernels, self.crowd, self.state, self.pairs = kernels, crowd, state, pairs
        self.slots = Slots()
        self.sum: Sum | None = None

    def record(self, program: Any) -> None:
        """Record the launches."""
        if self.crowd.each == 0:
            return
        if program.device.is_cpu:
            program.launch(self.kernels.serial, 1, self.crowd, self.state, self.pairs)
            return
        # What is recorded twice, before the steps and in them, must work on the same arrays.
        if self.sum is None:
            self._make_slots()
            self.sum = Sum(self.slots.start, len(self.slots.row), program.device)
        inputs = (self.crowd, self.state, self.slots, self.pairs)
        many = len(self.slots.row)
        program.launch(self.kernels.count, many, *inputs)
        self.sum.record(program)
        program.launch(self.kernels.fill, many, *inputs)

    def _make_slots(self) -> None:
        """The slots of all rows, in order: a row by itself, behind it the possible pairs of a big collider."""
        each, flags, device = self.crowd.each, self.crowd.is_big.numpy(), self.pairs.first.device
        others = [np.arange(a + 1, each) if flags[a] else np.zeros(0, dtype=int) for a in range(each)]
        row = np.concatenate([np.full(1 + len(other), a) for a, other in enumerate(others)])
        other = np.concatenate([np.append(BIG_ROW if flags[a] else ROW, other) for a, other in enumerate(others)])
        starts = np.arange(0, len(self.pairs.first) - 1, each)
        self.slots.row = wp.array((row + starts[:, None]).ravel(), dtype=wp.int32, device=device)
        shifted = np.where(other < 0, other, other + starts[:, None])
        self.slots.other = wp.array(shifted.ravel(), dtype=wp.int32, device=device)
        self.slots.start = wp.zeros(len(self.slots.row) + 1, dtype=wp.int32, device=device)
