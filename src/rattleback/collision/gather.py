"""From regions to the list of contacts: add up, copy, and find each point's former self.

The items are sorted by their colliders, so the contacts are. A contact is the same as one of the last time if its
colliders, its triangle and its feature are; what a solver has learnt of it can be carried over.

Cost: O(contacts), a linear search among the former contacts of one collider for each.
"""

from typing import Any

import warp as wp

from rattleback.collision.broadphase.sums import Sum
from rattleback.collision.colliders import Colliders
from rattleback.collision.items import Items
from rattleback.collision.narrowphase.region import Into
from rattleback.collision.pairs import Pairs
from rattleback.collision.regions import Regions
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.model.contacts import Contacts


@group(axis="contacts")
class Former:
    """The contacts of the last time, as far as they tell which is which."""

    collider: wp.int32 = field("1", "collider of B")
    part: wp.int32 = field("1", "triangle")
    feature: wp.int32 = field("1", "name of the point")
    first: wp.int32 = field("1", "first contact of a collider as A", axis="rows")
    again: wp.int32 = field("1", "1 where contacts are found once more for the same moment", axis="one")


@wp.kernel(enable_backward=False)
def remember(contacts: Contacts, former: Former) -> None:
    """What is there now becomes what was there the last time, unless it is of the same moment."""
    i = wp.tid()
    if former.again[0] == 1:
        return
    if i < former.first.shape[0]:
        former.first[i] = contacts.first[i]
    if i < wp.min(contacts.needed[0], contacts.part.shape[0]):
        former.collider[i] = contacts.collider_b[i]
        former.part[i] = contacts.part[i]
        former.feature[i] = contacts.feature[i]


@wp.kernel(enable_backward=False)
def count_points(items: Items, regions: Regions, start: wp.array[wp.int32]) -> None:
    """Number of points of every item."""
    m = wp.tid()
    start[m] = wp.where(m < items.needed[0], regions.points[m], 0)


@wp.kernel(enable_backward=False)
def gather(
    items: Items, colliders: Colliders, regions: Regions, start: wp.array[wp.int32], most: int, contacts: Contacts
) -> None:
    """Copy the points of every item to their places in the list."""
    m = wp.tid()
    if m == 0:
        contacts.needed[0] = start[start.shape[0] - 1]
    if m >= items.needed[0]:
        return
    begin = start[m]
    end = wp.min(start[m + 1], contacts.part.shape[0])
    a = items.a[m]
    b = items.b[m]
    for c in range(begin, end):
        slot = m * most + c - begin
        contacts.body_a[c] = colliders.body[a]
        contacts.body_b[c] = colliders.body[b]
        contacts.collider_a[c] = a
        contacts.collider_b[c] = b
        contacts.part[c] = items.part[m]
        contacts.feature[c] = regions.feature[slot]
        contacts.normal[c] = regions.normal[m]
        contacts.point[c] = regions.point[slot]
        contacts.separation[c] = regions.separation[slot]


@wp.kernel(enable_backward=False)
def find_rows(pairs: Pairs, items: Items, start: wp.array[wp.int32], contacts: Contacts) -> None:
    """Where the contacts of every collider begin."""
    a = wp.tid()
    item = wp.min(items.first[pairs.first[a]], start.shape[0] - 1)
    contacts.first[a] = wp.min(start[item], contacts.part.shape[0])


@wp.func
def is_same(contacts: Contacts, c: int, former: Former, k: int) -> bool:
    """Whether a contact is one of the last time, with the same collider as A."""
    if former.collider[k] != contacts.collider_b[c] or former.feature[k] != contacts.feature[c]:
        return False
    return former.part[k] == contacts.part[c]


@wp.kernel(enable_backward=False)
def match(contacts: Contacts, former: Former) -> None:
    """Find the former self of every contact."""
    c = wp.tid()
    if c == 0:
        former.again[0] = 0
    if c >= wp.min(contacts.needed[0], contacts.part.shape[0]):
        return
    a = contacts.collider_a[c]
    first = former.first[a]
    end = former.first[a + 1]
    # Most contacts are where they were in the list.
    k = first + c - contacts.first[a]
    if k < end and is_same(contacts, c, former, wp.min(k, end - 1)):
        contacts.previous[c] = k
        return
    same = int(-1)
    for k in range(first, end):
        if is_same(contacts, c, former, k):
            same = k
    contacts.previous[c] = same


class Gathering:
    """The list of contacts out of the regions of the items.

    Args:
        colliders: The colliders.
        pairs: Pairs of colliders.
        items: What was looked at.
        into: Where its regions are.
        contacts: Where the list goes.
        device: Warp device.
    """

    def __init__(
        self, colliders: Colliders, pairs: Pairs, items: Items, into: Into, contacts: Contacts, device: Any
    ) -> None:
        self.colliders, self.pairs, self.items, self.into, self.contacts = colliders, pairs, items, into, contacts
        room, rows = len(contacts.part), len(contacts.first)
        self.former = arrays.allocate(Former, {"contacts": room, "rows": rows, "one": 1}, device)
        self.start = wp.zeros(len(items.a) + 1, dtype=wp.int32, device=device)
        self.sum = Sum(self.start, len(items.a), device)

    def record(self, program: Any) -> None:
        """Record the launches."""
        room, rows, many = len(self.contacts.part), len(self.contacts.first), len(self.items.a)
        regions, points = self.into.regions, self.into.points
        program.launch(remember, max(room, rows), self.contacts, self.former)
        program.launch(count_points, many, self.items, regions, self.start)
        self.sum.record(program)
        program.launch(gather, many, self.items, self.colliders, regions, self.start, points, self.contacts)
        program.launch(find_rows, rows, self.pairs, self.items, self.start, self.contacts)
        program.launch(match, room, self.contacts, self.former)

    def take_over(self, old: "Gathering") -> None:
        """Go on from the memory of a smaller one, for the same moment."""
        for name, array in arrays.each(old.former):
            wp.copy(getattr(self.former, name), array, count=len(array))
        self.former.again.fill_(1)
