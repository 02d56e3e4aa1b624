"""The memory of contacts from step to step: which points there were, their loads, impulses and slips."""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.core.ranges import NOT_NEGATIVE, UNIT_OR_ZERO, between, row_of
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies

# Whether velocities of a world still have to be corrected at its contacts.
SETTLED = wp.constant(0)
WRITTEN = wp.constant(1)
ADVANCED = wp.constant(2)
HELD = wp.constant(3)


@group(axis="contacts")
class ContactMemory:
    """The contacts of the last detection: what matches them, and what continues with them."""

    collider: wp.int32 = field("1", "collider of B", within=row_of("colliders"))
    part: wp.int32 = field("1", "triangle; −1 where neither is a mesh", within=row_of("triangles", least=-1))
    feature: wp.int32 = field("1", "feature id of the point", within=NOT_NEGATIVE)
    load: vec3 = field("N", "force on A that the next step begins with, world frame")
    impulse: vec3 = field("N s", "sum of the impulses on A in the last step, world frame")
    slip: vec3 = field("m", "way A has crept against B since the point began to stick, world frame")
    remainder: vec3 = field("m", "second-order remainder of its displacement in the last step, world frame")
    extent: real = field("m²", "square of the motion that this came from; zero where it is not known")
    first: wp.int32 = field("1", "first contact of a collider as A", axis="rows", within=row_of("contacts", more=1))
    anchor: vec3 = field("m", "where the body of a collider was when its contacts were found last", axis="rows")
    heading: quat = field(
        "1", "orientation of the body then; zero where they never were", axis="rows", within=UNIT_OR_ZERO
    )
    count: wp.int32 = field("1", "number of contacts", axis="one", within=row_of("contacts", more=1))
    pending: wp.int32 = field(
        "1",
        "0 where velocities fit the contacts, 1 after writing, 2 after a step, 3 where they fit joints",
        axis="worlds",
        within=between(0, 3),
    )


@wp.func
def first_from(collider: wp.array[wp.int32], low: int, high: int, b: int) -> int:
    """The first of the rows low … high − 1, sorted by collider, with b or a higher one; high where there is none."""
    begin = int(low)
    end = int(high)
    while begin < end:
        half = (begin + end) // 2
        if collider[half] < b:
            begin = half + 1
        else:
            end = half
    return begin


@wp.func
def known_from(memory: ContactMemory, a: int, b: int) -> int:
    """Where the contacts of collider a with b begin in the memory; they end where those with b + 1 would begin."""
    return first_from(memory.collider, memory.first[a], memory.first[a + 1], b)


@group(axis="worlds")
class Due:
    """Worlds whose velocities have to be made fit their contacts."""

    which: wp.int32 = field("1", "1 where they are")
    any_due: wp.int32 = field("1", "1 where those of any world are", axis="flags")
    any_settled: wp.int32 = field("1", "1 where those of any world are not", axis="flags")
    any_written: wp.int32 = field("1", "1 where those of any world are since it was written to", axis="flags")
    any_advanced: wp.int32 = field("1", "1 where those of any world are since a step was taken", axis="flags")


@group(axis="contacts")
class MovedLoads:
    """Memory of contacts while their rows change."""

    load: vec3 = field("N", "force on A that the next step begins with, world frame")
    impulse: vec3 = field("N s", "sum of the impulses on A in the last step, world frame")
    slip: vec3 = field("m", "way A has crept against B since the point began to stick, world frame")
    remainder: vec3 = field("m", "second-order remainder of its displacement over the last step, world frame")
    extent: real = field("m²", "square of the motion that this came from")


@kernel
def remember(contacts: Contacts, memory: ContactMemory, stop: wp.array[wp.int32], lanes: int) -> None:
    """The present contacts become those of the last detection."""
    if stop[0] != 0:
        return
    if wp.tid() == 0:
        memory.count[0] = contacts.needed[0]
    for i in range(wp.tid(), memory.first.shape[0], lanes):
        memory.first[i] = contacts.first[i]
    for i in range(wp.tid(), contacts.needed[0], lanes):
        memory.collider[i] = contacts.collider_b[i]
        memory.part[i] = contacts.part[i]
        memory.feature[i] = contacts.feature[i]


@kernel
def begin_due(due: Due) -> None:
    """No world is known to be due, and none not to be."""
    due.any_due[0] = 0
    due.any_settled[0] = 0
    due.any_written[0] = 0
    due.any_advanced[0] = 0


@kernel
def find_due(memory: ContactMemory, stop: wp.array[wp.int32], due: Due) -> None:
    """Worlds whose velocities have to be made fit their contacts; none where a buffer was too small."""
    w = wp.tid()
    due.which[w] = wp.where(stop[0] == 0 and memory.pending[w] != SETTLED, 1, 0)
    if due.which[w] == 1:
        due.any_due[0] = 1
        if memory.pending[w] == ADVANCED:
            due.any_advanced[0] = 1
        else:
            due.any_written[0] = 1
    else:
        due.any_settled[0] = 1


@kernel
def take_loads(bodies: Bodies, contacts: Contacts, memory: ContactMemory, due: Due, loads: MovedLoads) -> None:
    """Read the memory of a contact in a world that is not due, whose rows other worlds have moved."""
    c = wp.tid()
    if c < contacts.needed[0] and due.which[bodies.world[contacts.body_a[c]]] == 0:
        loads.load[c] = vec3()
        loads.impulse[c] = vec3()
        loads.slip[c] = vec3()
        loads.remainder[c] = vec3()
        loads.extent[c] = real(0.0)
        if contacts.previous[c] >= 0:
            loads.remainder[c] = memory.remainder[contacts.previous[c]]
            loads.extent[c] = memory.extent[contacts.previous[c]]
            loads.impulse[c] = memory.impulse[contacts.previous[c]]
            loads.load[c] = memory.load[contacts.previous[c]]
            loads.slip[c] = memory.slip[contacts.previous[c]]


@kernel
def put_loads(bodies: Bodies, contacts: Contacts, memory: ContactMemory, due: Due, loads: MovedLoads) -> None:
    """Store it in the present row, to the bit."""
    c = wp.tid()
    if c < contacts.needed[0] and due.which[bodies.world[contacts.body_a[c]]] == 0:
        memory.load[c] = loads.load[c]
        memory.impulse[c] = loads.impulse[c]
        memory.slip[c] = loads.slip[c]
        memory.remainder[c] = loads.remainder[c]
        memory.extent[c] = loads.extent[c]


def record_due(program: Any, memory: ContactMemory, stop: Any, due: Due) -> None:
    """Record the search for worlds whose velocities have to be made fit their contacts."""
    program.launch(begin_due, 1, due)
    program.launch(find_due, len(due.which), memory, stop, due)


def record_moved_loads(program: Any, given: tuple[Any, ...], loads: MovedLoads) -> None:
    """Record that contacts of worlds that are not due keep their memory where other worlds have moved their rows.

    Args:
        program: Where to record.
        given: The bodies, the contacts found, the memory, and the worlds that are due.
        loads: Room for the loads.
    """
    with program.when(given[-1].any_settled):
        program.launch(take_loads, len(loads.load), *given, loads)
        program.launch(put_loads, len(loads.load), *given, loads)


@kernel
def forget_loads(memory: ContactMemory, lanes: int) -> None:
    """Clear the loads of contacts, as after velocities were written."""
    for c in range(wp.tid(), memory.load.shape[0], lanes):
        memory.load[c] = vec3()
        memory.impulse[c] = vec3()
        memory.slip[c] = vec3()
        memory.remainder[c] = vec3()
        memory.extent[c] = real(0.0)
    for w in range(wp.tid(), memory.pending.shape[0], lanes):
        memory.pending[w] = WRITTEN


def trimmed(values: dict[str, Any], kind: Any = ContactMemory) -> dict[str, Any]:
    """The arrays of a memory, or another group of so many contacts, without the rows that are not used."""
    count = int(values["count"][0])
    along = [name for name, declared in arrays.fields(kind).items() if declared.axis == "contacts"]
    return {name: array[:count] if name in along else array for name, array in values.items()}


def make_memory(room: int, rows: int, worlds: int, device: Any) -> ContactMemory:
    """An empty memory of so many worlds, with room for contacts and for the colliders they are listed by."""
    return arrays.allocate(ContactMemory, {"contacts": room, "rows": rows, "worlds": worlds, "one": 1}, device)


def adopted(memory: ContactMemory, other: ContactMemory, device: Any) -> ContactMemory:
    """A memory with the contents of another one; empty, if that is of other colliders."""
    if len(memory.first) and len(memory.first) != len(other.first):
        forget_contacts(memory)
        wp.copy(memory.pending, other.pending)
        return memory
    result = enlarged(memory, len(other.collider), len(other.first), device)
    arrays.copy_into(result, other)
    return result


def forget_contacts(memory: ContactMemory) -> None:
    """There were no contacts; velocities are as if they had been written."""
    memory.first.zero_()
    memory.count.zero_()
    memory.pending.fill_(int(WRITTEN))


def enlarged(memory: ContactMemory, room: int, rows: int, device: Any) -> ContactMemory:
    """A memory with at least this much room and the same contents; empty where it was of other colliders."""
    if len(memory.collider) >= room and len(memory.first) == rows:
        return memory
    new = make_memory(max(room, len(memory.collider)), rows, len(memory.pending), device)
    if len(memory.first) == rows:
        for name, array in arrays.each(memory):
            wp.copy(getattr(new, name), array, count=len(array))
    wp.copy(new.pending, memory.pending)
    return new
