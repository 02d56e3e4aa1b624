"""From regions to the list of contacts: add up, copy, and find each point's former self.

The items are sorted by their colliders, so the contacts are. A contact is the same as one of the last time if its
colliders, its triangle and the name of its feature are; what a solver has learnt of it can be carried over.

Cost: O(contacts), a linear search among the former contacts of one collider for each.
"""

from typing import Any

import warp as wp

from rattleback.collision.anchor import gone
from rattleback.collision.colliders import PlacedColliders
from rattleback.collision.items import Items
from rattleback.collision.narrowphase.region import Into
from rattleback.collision.narrowphase.wanted import NAMES
from rattleback.collision.pairs import Pairs
from rattleback.collision.regions import Regions
from rattleback.core.precision import real
from rattleback.core.sums import Sum
from rattleback.model.contact_memory import ContactMemory, remember
from rattleback.model.contacts import Contacts


@wp.kernel(enable_backward=False)
def count_points(items: Items, regions: Regions, start: wp.array[wp.int32]) -> None:
    """Number of points of every item."""
    m = wp.tid()
    start[m] = wp.where(m < items.needed[0], regions.points[m], 0)


@wp.kernel(enable_backward=False)
def gather(
    items: Items,
    placed: PlacedColliders,
    regions: Regions,
    start: wp.array[wp.int32],
    most: int,
    memory: ContactMemory,
    contacts: Contacts,
    lanes: int,
) -> None:
    """Copy the points of every item to their places in the list."""
    if wp.tid() == 0:
        contacts.needed[0] = start[start.shape[0] - 1]
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        begin = start[m]
        end = wp.min(start[m + 1], contacts.part.shape[0])
        a = items.a[m]
        b = items.b[m]
        for c in range(begin, end):
            slot = m * most + c - begin
            contacts.body_a[c] = placed.colliders.body[a]
            contacts.body_b[c] = placed.colliders.body[b]
            contacts.collider_a[c] = a
            contacts.collider_b[c] = b
            contacts.part[c] = items.part[m]
            contacts.feature[c] = regions.feature[slot] + NAMES * items.sight[m]
            n = regions.normal[m]
            p = regions.point[slot]
            of_a = gone(placed.places, memory, a, p)
            of_b = gone(placed.places, memory, b, p)
            contacts.normal[c] = n
            contacts.point[c] = p + real(0.5) * (of_a + of_b)
            contacts.separation[c] = regions.separation[slot] + wp.dot(n, of_a - of_b)


@wp.kernel(enable_backward=False)
def find_rows(pairs: Pairs, items: Items, start: wp.array[wp.int32], contacts: Contacts) -> None:
    """Where the contacts of every collider begin."""
    a = wp.tid()
    item = wp.min(items.first[pairs.first[a]], start.shape[0] - 1)
    contacts.first[a] = wp.min(start[item], contacts.part.shape[0])


@wp.func
def is_same(contacts: Contacts, c: int, former: ContactMemory, k: int) -> bool:
    """Whether a contact is one of the last time, with the same collider as A."""
    if former.collider[k] != contacts.collider_b[c] or (former.feature[k] ^ contacts.feature[c]) % NAMES != 0:
        return False
    return former.part[k] == contacts.part[c]


@wp.kernel(enable_backward=False)
def match(contacts: Contacts, former: ContactMemory, lanes: int) -> None:
    """Find the former self of every contact."""
    for c in range(wp.tid(), wp.min(contacts.needed[0], contacts.part.shape[0]), lanes):
        a = contacts.collider_a[c]
        first = former.first[a]
        end = former.first[a + 1]
        # Most contacts are where they were in the list.
        k = first + c - contacts.first[a]
        if k < end and is_same(contacts, c, former, wp.min(k, end - 1)):
            contacts.previous[c] = k
            continue
        same = int(-1)
        for k in range(first, end):
            if is_same(contacts, c, former, k):
                same = k
        contacts.previous[c] = same


class Gathering:
    """The list of contacts out of the regions of the items.

    Args:
        placed: The colliders and where they are.
        pairs: Pairs of colliders.
        items: What was looked at.
        into: Where its regions are.
        contacts: Where the list goes.
        memory: The contacts of the last time.
    """

    def __init__(
        self, placed: PlacedColliders, pairs: Pairs, items: Items, into: Into, contacts: Contacts, memory: ContactMemory
    ) -> None:
        self.placed, self.pairs, self.items, self.into = placed, pairs, items, into
        self.contacts, self.memory, device = contacts, memory, items.a.device
        self.start = wp.zeros(len(items.a) + 1, dtype=wp.int32, device=device)
        self.sum = Sum(self.start, len(items.a), device)

    def record(self, program: Any) -> None:
        """Record the launches."""
        room, rows, many = len(self.contacts.part), len(self.contacts.first), len(self.items.a)
        regions, slots = self.into.regions, self.into.slots
        program.launch(count_points, many, self.items, regions, self.start)
        self.sum.record(program)
        given = (self.start, slots, self.memory, self.contacts)
        program.share(gather, many, self.items, self.placed, regions, *given)
        program.launch(find_rows, rows, self.pairs, self.items, self.start, self.contacts)
        program.share(match, room, self.contacts, self.memory)

    def record_memory(self, program: Any, stop: Any) -> None:
        """Record what makes these contacts the last ones."""
        rows = max(len(self.contacts.part), len(self.contacts.first))
        program.launch(remember, rows, self.contacts, self.memory, stop)
