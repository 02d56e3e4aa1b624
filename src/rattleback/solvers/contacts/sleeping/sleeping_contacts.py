"""Contacts of bodies that fall asleep and wake: they are stored, and restored with their forces.

    asleep   contacts between bodies that sleep or are static move from the list, and from the memory beside it, to the
             stored ones; the order of the others stays
    awake    contacts that are found again get the load and the slip of the stored one, through free rows of the memory,
             so that a stack need not find its load anew; then the stored ones are dropped

There must be room for the contacts found and those stored together; ``stop_when_full`` sees to that.

Cost: O(contacts) on one thread, only in steps in which an island falls asleep or wakes.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contact_memory import ContactMemory, first_from
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.sleep import Sleep, SleepingContacts, rests
from rattleback.solvers.contacts.sleeping.islands import Islands


@wp.func
def has_woken(bodies: Bodies, sleep: Sleep, kept: SleepingContacts, k: int) -> bool:
    """Whether a stored contact is of a body that is awake."""
    return not (rests(bodies, sleep, kept.body_a[k]) and rests(bodies, sleep, kept.body_b[k]))


@kernel
def stop_when_full(
    bodies: Bodies,
    contacts: Contacts,
    sleep: Sleep,
    kept: SleepingContacts,
    islands: Islands,
    stop: wp.array[wp.int32],
) -> None:
    """Stop where there is no room for all contacts, found and stored."""
    count = kept.count[0]
    if islands.woken[0] == 1:
        for k in range(kept.count[0]):
            if has_woken(bodies, sleep, kept, k):
                count -= 1
    if contacts.needed[0] + count > contacts.part.shape[0] and stop[0] == 0:
        stop[0] = -1


@wp.func
def store_contact(contacts: Contacts, memory: ContactMemory, c: int, kept: SleepingContacts, k: int) -> None:
    """Store a contact."""
    kept.body_a[k] = contacts.body_a[c]
    kept.body_b[k] = contacts.body_b[c]
    kept.collider_a[k] = contacts.collider_a[c]
    kept.collider_b[k] = contacts.collider_b[c]
    kept.part[k] = contacts.part[c]
    kept.feature[k] = contacts.feature[c]
    kept.normal[k] = contacts.normal[c]
    kept.point[k] = contacts.point[c]
    kept.separation[k] = contacts.separation[c]
    kept.load[k] = memory.load[c]
    kept.slip[k] = memory.slip[c]


@wp.func
def move_contact(contacts: Contacts, memory: ContactMemory, c: int, to: int) -> None:
    """Give a contact another row, with its memory."""
    contacts.body_a[to] = contacts.body_a[c]
    contacts.body_b[to] = contacts.body_b[c]
    contacts.collider_a[to] = contacts.collider_a[c]
    contacts.collider_b[to] = contacts.collider_b[c]
    contacts.part[to] = contacts.part[c]
    contacts.feature[to] = contacts.feature[c]
    contacts.normal[to] = contacts.normal[c]
    contacts.point[to] = contacts.point[c]
    contacts.separation[to] = contacts.separation[c]
    contacts.previous[to] = to
    memory.collider[to] = memory.collider[c]
    memory.part[to] = memory.part[c]
    memory.feature[to] = memory.feature[c]
    memory.load[to] = memory.load[c]
    memory.impulse[to] = memory.impulse[c]
    memory.slip[to] = memory.slip[c]
    memory.remainder[to] = memory.remainder[c]
    memory.extent[to] = memory.extent[c]


@kernel
def remove_sleeping(
    bodies: Bodies, contacts: Contacts, memory: ContactMemory, sleep: Sleep, kept: SleepingContacts
) -> None:
    """Store the contacts of bodies that both rest, on one thread."""
    room = kept.part.shape[0]
    rows = contacts.first.shape[0] - 1
    count = kept.count[0]
    at = int(0)
    to = int(0)
    for a in range(rows):
        end = contacts.first[a + 1]
        contacts.first[a] = to
        memory.first[a] = to
        while at < end:
            if rests(bodies, sleep, contacts.body_a[at]) and rests(bodies, sleep, contacts.body_b[at]):
                if count < room:
                    store_contact(contacts, memory, at, kept, count)
                    count += 1
            else:
                move_contact(contacts, memory, at, to)
                to += 1
            at += 1
    contacts.first[rows] = to
    memory.first[rows] = to
    contacts.needed[0] = to
    contacts.alike[0] = -1
    memory.count[0] = to
    kept.count[0] = count


@kernel
def find_woken(bodies: Bodies, sleep: Sleep, kept: SleepingContacts, islands: Islands, lanes: int) -> None:
    """Whether stored contacts are of bodies that were woken from outside."""
    for k in range(wp.tid(), kept.count[0], lanes):
        if has_woken(bodies, sleep, kept, k):
            islands.woken[0] = 1


@kernel
def restore_woken(
    bodies: Bodies, contacts: Contacts, memory: ContactMemory, sleep: Sleep, kept: SleepingContacts
) -> None:
    """Match contacts of bodies that have woken with the stored ones."""
    k = wp.tid()
    row = memory.count[0] + k
    if k >= kept.count[0] or row >= memory.load.shape[0] or not has_woken(bodies, sleep, kept, k):
        return
    a = kept.collider_a[k]
    end = contacts.first[a + 1]
    first = first_from(contacts.collider_b, contacts.first[a], end, kept.collider_b[k])
    for c in range(first, first_from(contacts.collider_b, first, end, kept.collider_b[k] + 1)):
        same = contacts.part[c] == kept.part[k] and contacts.feature[c] == kept.feature[k]
        if same and contacts.previous[c] < 0:
            memory.load[row] = kept.load[k]
            memory.impulse[row] = vec3()
            memory.slip[row] = kept.slip[k]
            memory.remainder[row] = vec3()
            memory.extent[row] = real(0.0)
            contacts.previous[c] = row


@kernel
def clear_restored(contacts: Contacts, memory: ContactMemory) -> None:
    """Free those rows of the memory again."""
    c = wp.tid()
    if c < wp.min(contacts.needed[0], contacts.part.shape[0]) and contacts.previous[c] >= memory.count[0]:
        contacts.previous[c] = -1


@kernel
def drop_woken(
    bodies: Bodies, sleep: Sleep, kept: SleepingContacts, islands: Islands, stop: wp.array[wp.int32]
) -> None:
    """Drop the stored contacts of bodies that have woken, on one thread; unless contacts did not fit."""
    if stop[0] != 0:
        return
    to = int(0)
    for k in range(kept.count[0]):
        if not has_woken(bodies, sleep, kept, k):
            kept.body_a[to] = kept.body_a[k]
            kept.body_b[to] = kept.body_b[k]
            kept.collider_a[to] = kept.collider_a[k]
            kept.collider_b[to] = kept.collider_b[k]
            kept.part[to] = kept.part[k]
            kept.feature[to] = kept.feature[k]
            kept.normal[to] = kept.normal[k]
            kept.point[to] = kept.point[k]
            kept.separation[to] = kept.separation[k]
            kept.load[to] = kept.load[k]
            kept.slip[to] = kept.slip[k]
            to += 1
    kept.count[0] = to
    islands.woken[0] = 0
