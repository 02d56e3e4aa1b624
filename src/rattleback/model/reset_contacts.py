"""Contacts in a masked reset: the list of all worlds is gathered anew, with other rows for the worlds that go back.

    first*_a = Σ_{b < a} n_b,   n_b the contacts of collider b in the world that its own takes

The rows are gathered into room of their own and copied back, for the memory is part of recorded steps and must stay
where it is; where it is too small another one takes its place. Contacts of sleeping bodies, which are few and seldom,
are gathered on the host.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays, host_read
from rattleback.core.kernel import kernel
from rattleback.model.contact_memory import ContactMemory, enlarged, trimmed
from rattleback.model.sleep import SleepingContacts, with_room

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.state import State

# What of the memory there is for each contact.
COLUMNS = [name for name, declared in arrays.fields(ContactMemory).items() if declared.axis == "contacts"]


@wp.struct
class Origin:
    """Where the contacts of a world come from: its own where ``world`` is −1, else those of that world of ``given``."""

    world: wp.array[wp.int32]
    own: ContactMemory
    given: ContactMemory
    colliders: wp.int32
    any_given: wp.int32


@wp.func
def span(origin: Origin, a: int) -> wp.vec2i:
    """First contact of a collider where it comes from, and their number."""
    w = a // origin.colliders
    taken = origin.world[w]
    if taken < 0:
        return wp.vec2i(origin.own.first[a], origin.own.first[a + 1] - origin.own.first[a])
    if origin.any_given == 0:
        return wp.vec2i(0, 0)
    there = a + (taken - w) * origin.colliders
    return wp.vec2i(origin.given.first[there], origin.given.first[there + 1] - origin.given.first[there])


@wp.func
def copy_contact(source: ContactMemory, i: int, target: ContactMemory, j: int, shift: int) -> None:
    """Copy a row of one memory to a row of another, whose colliders have other numbers."""
    target.collider[j] = source.collider[i] + shift
    target.part[j] = source.part[i]
    target.feature[j] = source.feature[i]
    target.load[j] = source.load[i]
    target.impulse[j] = source.impulse[i]
    target.slip[j] = source.slip[i]
    target.remainder[j] = source.remainder[i]
    target.extent[j] = source.extent[i]


@kernel
def count_contacts(origin: Origin, counts: wp.array[wp.int32]) -> None:
    """How many contacts each collider will have."""
    a = wp.tid()
    counts[a] = span(origin, a)[1]


@kernel
def gather_contacts(origin: Origin, target: ContactMemory) -> None:
    """Gather the contacts of each collider, which ``target.first`` says where to put."""
    a = wp.tid()
    w = a // origin.colliders
    found = span(origin, a)
    taken = origin.world[w]
    for k in range(found[1]):
        if taken < 0:
            copy_contact(origin.own, found[0] + k, target, target.first[a] + k, 0)
        else:
            copy_contact(origin.given, found[0] + k, target, target.first[a] + k, (w - taken) * origin.colliders)


def reset_contacts(state: "State", given: "State | None", own: Any) -> None:
    """Give worlds of a state the contacts of worlds of another one, or none.

    Args:
        state: The state.
        given: Where they come from; None for the start, which has none.
        own: On the device, the world each world takes; −1 where it keeps its own.
    """
    memory, rows = state.contacts, len(state.contacts.first)
    more = 0 if given is None or len(given.contacts.first) < 1 else int(host_read.first(given.contacts.count))
    if rows < 2 or not (more or host_read.first(memory.count)):
        return
    worlds, device = len(memory.pending), memory.first.device
    colliders = (rows - 1) // worlds
    fits = more > 0 and given is not None and (len(given.contacts.first) - 1) == colliders * len(given.contacts.pending)
    counts = wp.zeros(rows, dtype=wp.int32, device=device)
    origin = Origin()
    origin.world, origin.own, origin.given = own, memory, given.contacts if fits and given is not None else memory
    origin.colliders, origin.any_given = colliders, int(fits)
    wp.launch(count_contacts, rows - 1, inputs=[origin, counts], device=device)
    first = wp.empty(rows, dtype=wp.int32, device=device)
    wp.utils.array_scan(counts, first, inclusive=False)
    found = int(first.numpy()[-1])
    gathered = ContactMemory()
    for name in COLUMNS:
        setattr(gathered, name, wp.empty(found, dtype=getattr(memory, name).dtype, device=device))
    gathered.first, gathered.count = first, wp.full(1, found, dtype=wp.int32, device=device)
    wp.launch(gather_contacts, rows - 1, inputs=[origin, gathered], device=device)
    if found > len(memory.collider):
        state.contacts = memory = enlarged(memory, found, rows, device)
    for name in (*COLUMNS, "first", "count"):
        array = getattr(gathered, name)
        wp.copy(getattr(memory, name), array, count=len(array))


def reset_sleeping_contacts(state: "State", given: "State | None", own: "NDArray[np.int32]") -> None:
    """The same for the contacts of bodies that sleep.

    Args:
        state: The state.
        given: Where they come from; None for the start, which has none.
        own: The world each world takes; −1 where it keeps its own.
    """
    if not (
        host_read.first(state.sleeping_contacts.count) or (given and host_read.first(given.sleeping_contacts.count))
    ):
        return
    each, colliders = state.shape[-1], (len(state.contacts.first) - 1) // len(own)
    kept = trimmed(arrays.read(state.sleeping_contacts), SleepingContacts)
    parts = [_moved(kept, np.where(own < 0, np.arange(len(own)), -1), (each, colliders))]
    if given is not None:
        there = trimmed(arrays.read(given.sleeping_contacts), SleepingContacts)
        for world in np.flatnonzero(own >= 0):
            to = np.full(len(given.clock.time), -1)
            to[own[world]] = world
            parts.append(_moved(there, to, (each, colliders)))
    joined = {name: np.concatenate([part[name] for part in parts]) for name in kept if name != "count"}
    count = len(joined["part"])
    state.sleeping_contacts = with_room(state.sleeping_contacts, count)
    room = arrays.read(state.sleeping_contacts)
    for name, array in joined.items():
        room[name][:count] = array
    room["count"][0] = count
    arrays.write(state.sleeping_contacts, room, "the sleeping contacts")


def _moved(kept: "dict[str, NDArray[Any]]", to: "NDArray[Any]", sizes: tuple[int, int]) -> "dict[str, NDArray[Any]]":
    """Contacts of bodies that sleep whose worlds go on as others; without those of worlds that go on nowhere (−1)."""
    each, colliders = sizes
    world = kept["body_a"] // each
    rows = to[world] >= 0
    found = {name: array[rows] for name, array in kept.items() if name != "count"}
    shift = (to[world] - world)[rows]
    for name, size in (("body", each), ("collider", colliders)):
        for side in "ab":
            found[f"{name}_{side}"] = (found[f"{name}_{side}"] + shift * size).astype(np.int32)
    return found
