"""Manifold matching: the contact list, and for each point its row in the list of the last detection.

    same point  ⇔  same colliders A and B, same triangle, same feature id

Items are sorted by their colliders, so contacts are. Solvers carry the impulses of a matched point over as its warm
start.

Cost: O(contacts). A contact in the same place of its collider's list is found at once; others need a linear search
among the last contacts of that collider. In order on a CPU, points are counted and summed in one pass, and contacts
that are the same to the bit are not copied again.
"""

from typing import Any

import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import PlacedColliders, Places
from rattleback.collision.manifold.build import ManifoldOutput
from rattleback.collision.manifold.clip import Manifolds, fetch_soon
from rattleback.collision.manifold.limits import FEATURE_IDS
from rattleback.collision.manifold.persistent import displaced, displacement_of
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sums import Sum
from rattleback.model.contact_memory import ContactMemory, first_from, remember
from rattleback.model.contacts import Contacts


@kernel
def count_points(items: Items, manifolds: Manifolds, start: wp.array[wp.int32]) -> None:
    """Number of points of every item."""
    m = wp.tid()
    start[m] = wp.where(m < items.needed[0], manifolds.points[m], 0)


@kernel
def count_in_order(items: Items, manifolds: Manifolds, start: wp.array[wp.int32], contacts: Contacts) -> None:
    """Number of points of all items before one, and of all as the last entry; which rows are unchanged."""
    count = wp.min(items.needed[0], items.a.shape[0])
    total = int(0)
    alike = 1 - items.changed[0]
    moved = contacts.alike[0] < 0
    for m in range(count):
        same = wp.where(start[m] == total and not moved, 1, 0)
        manifolds.same_rows[m] = same
        alike = wp.min(alike, same)
        start[m] = total
        total += manifolds.points[m]
    contacts.alike[0] = wp.where(start[count] == total, alike, 0)
    contacts.times[0] = contacts.times[0] + 1
    start[count] = total
    start[items.a.shape[0]] = total


@kernel
def find_rows(pairs: Pairs, items: Items, start: wp.array[wp.int32], contacts: Contacts, lanes: int) -> None:
    """Where the contacts of every collider begin."""
    for a in range(wp.tid(), contacts.first.shape[0], lanes):
        item = wp.min(items.first[pairs.first[a]], start.shape[0] - 1)
        contacts.first[a] = wp.min(start[item], contacts.part.shape[0])


@wp.func
def is_of_same_item(last: ContactMemory, k: int, b: int, part: int) -> bool:
    """Whether a contact of the last detection has this B and triangle; A is the same."""
    return last.collider[k] == b and last.part[k] == part


@wp.func
def is_same_point(last: ContactMemory, k: int, b: int, part: int, feature: int) -> bool:
    """Whether a contact of the last detection is the same point; A is the same."""
    return is_of_same_item(last, k, b, part) and (last.feature[k] ^ feature) % FEATURE_IDS == 0


@wp.func
def previous_row(last: ContactMemory, items: Items, m: int, place: int) -> int:
    """A row of the last detection from which on contacts of item m are, if there were any.

    Args:
        last: The contacts of the last detection.
        items: The items.
        m: The item.
        place: Which of the contacts of its collider A the first one of the item is now.
    """
    low = last.first[items.a[m]]
    high = last.first[items.a[m] + 1]
    b = items.b[m]
    part = items.part[m]
    # Most are where they were in the list, which is sorted by the colliders of B.
    here = wp.min(low + place, last.collider.shape[0] - 1)
    begins = place == 0 or not is_of_same_item(last, wp.max(here - 1, 0), b, part)
    if here < high and begins and is_of_same_item(last, here, b, part):
        return here
    return first_from(last.collider, low, high, b)


@wp.func
def match_point(last: ContactMemory, items: Items, m: int, feature: int, row: int, place: int) -> int:
    """Row of a contact of item m in the last detection; −1 if it is new.

    Args:
        last: The contacts of the last detection.
        items: The items.
        m: The item.
        feature: Feature id of the point.
        row: Row of the last detection from which on contacts of the item are.
        place: Which of its points it is.
    """
    b = items.b[m]
    part = items.part[m]
    end = last.first[items.a[m] + 1]
    here = wp.min(row + place, last.collider.shape[0] - 1)
    if here < end and is_same_point(last, here, b, part, feature):
        return here
    while row < end and last.collider[wp.min(row, end - 1)] == b:
        if is_same_point(last, row, b, part, feature):
            return row
        row += 1
    return -1


@wp.func
def list_item(
    items: Items,
    placed: PlacedColliders,
    manifolds: Manifolds,
    memory: ContactMemory,
    contacts: Contacts,
    m: int,
    slot: int,
    begin: int,
) -> None:
    """Copy the points of an item, from ``slot`` on, to the list, from ``begin`` on, as far as there is room."""
    a = items.a[m]
    b = items.b[m]
    n = manifolds.normal[m]
    body_a = placed.colliders.body[a]
    body_b = placed.colliders.body[b]
    seen = FEATURE_IDS * items.margin_class[m]
    part = items.part[m]
    from_a = displacement_of(placed.places, memory, a)
    from_b = displacement_of(placed.places, memory, b)
    row = previous_row(memory, items, m, begin - contacts.first[a])
    for c in range(begin, wp.min(begin + manifolds.points[m], contacts.part.shape[0])):
        p = manifolds.point[slot + c - begin]
        feature = manifolds.feature[slot + c - begin] + seen
        of_a = displaced(from_a, p)
        of_b = displaced(from_b, p)
        contacts.body_a[c] = body_a
        contacts.body_b[c] = body_b
        contacts.collider_a[c] = a
        contacts.collider_b[c] = b
        contacts.part[c] = part
        contacts.feature[c] = feature
        contacts.normal[c] = n
        contacts.point[c] = p + real(0.5) * (of_a + of_b)
        contacts.separation[c] = manifolds.separation[slot + c - begin] + wp.dot(n, of_a - of_b)
        contacts.previous[c] = match_point(memory, items, m, feature, row, c - begin)
        contacts.rests[c] = 0


@wp.func
def rests(items: Items, places: Places, manifolds: Manifolds, m: int) -> bool:
    """Whether the contacts of an item are what they were, in the same rows."""
    return items.kept[m] * places.rests[items.a[m]] * places.rests[items.b[m]] * manifolds.same_rows[m] == 1


@wp.func
def keep_item(items: Items, memory: ContactMemory, contacts: Contacts, m: int, begin: int, end: int) -> None:
    """Keep the contacts of an item as they are; only their rows in the last detection may have changed."""
    a = items.a[m]
    b = items.b[m]
    part = items.part[m]
    first = contacts.first[a]
    known = wp.where(memory.first[a] == first, memory.first[a + 1], 0)
    for c in range(begin, end):
        feature = contacts.feature[c]
        last = c
        if c >= known or not is_same_point(memory, c, b, part, feature):
            row = previous_row(memory, items, m, begin - first)
            last = match_point(memory, items, m, feature, row, c - begin)
        contacts.previous[c] = last
        contacts.rests[c] = 1


@kernel
def list_contacts(
    items: Items,
    placed: PlacedColliders,
    manifolds: Manifolds,
    start: wp.array[wp.int32],
    most: int,
    memory: ContactMemory,
    contacts: Contacts,
    lanes: int,
) -> None:
    """Copy the points of every item to their rows of the list, matched with those of the last detection."""
    if wp.tid() == 0:
        contacts.needed[0] = start[start.shape[0] - 1]
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        fetch_soon(manifolds, m, most)
        if rests(items, placed.places, manifolds, m):
            keep_item(items, memory, contacts, m, start[m], wp.min(start[m + 1], contacts.part.shape[0]))
        elif start[m] < start[m + 1]:
            list_item(items, placed, manifolds, memory, contacts, m, m * most, start[m])


class ContactList:
    """The list of contacts, from the manifolds of the items.

    Args:
        placed: The colliders and where they are.
        pairs: Pairs of colliders.
        items: The items.
        output: Where their manifolds are.
        contacts: Where the list goes.
        memory: The contacts of the last detection.
    """

    def __init__(
        self,
        placed: PlacedColliders,
        pairs: Pairs,
        items: Items,
        output: ManifoldOutput,
        contacts: Contacts,
        memory: ContactMemory,
    ) -> None:
        self.placed, self.pairs, self.items, self.output = placed, pairs, items, output
        self.contacts, self.memory, device = contacts, memory, items.a.device
        self.start = wp.zeros(len(items.a) + 1, dtype=wp.int32, device=device)
        self.sum = Sum(self.start, len(items.a), device)

    def record(self, program: Any) -> None:
        """Record the launches."""
        items, manifolds, contacts, many = self.items, self.output.manifolds, self.contacts, len(self.items.a)
        if program.device.is_cpu:
            program.launch(count_in_order, 1, items, manifolds, self.start, contacts)
        else:
            program.launch(count_points, many, items, manifolds, self.start)
            self.sum.record(program)
        program.share(find_rows, len(contacts.first), self.pairs, items, self.start, contacts)
        given = (self.start, self.output.slots, self.memory, contacts)
        program.share(list_contacts, many, items, self.placed, manifolds, *given)

    def record_memory(self, program: Any, stop: Any) -> None:
        """Record what stores these contacts as those of the last detection."""
        rows = max(len(self.contacts.part), len(self.contacts.first))
        program.share(remember, rows, self.contacts, self.memory, stop)
