"""Islands: bodies that touch or are joined, over any number of others, and islands that have come to rest.

    slow     |v| ≤ v₀  and  |ω| s ≤ v₀,      v₀ = 0.01 √(g s),      s = √(2 tr J / m)
    ready    slow for half a second
    asleep   every island all of whose bodies are ready

v, ω velocities, m, J mass and inertia of a body, s its size, the edge of a cube; g gravity. A cube of 10 cm is slow
below 1 cm/s. Static bodies do not connect. A body that touches or is joined to a moving static body is not ready, nor
is one that a joint drives at a rate of its own.

    parent(i) = i for every body;  for every contact and joint of two bodies the smaller root is parent of the larger;
    parent(i) = parent(parent(i)) in ascending order, which leaves the first row of its island to every body

Islands are searched in steps after which contacts are detected, once in about ``EVERY``: an island that falls asleep
removes its contacts from the list, and causes no detection of its own.

Cost: O(contacts + joints) on one thread a world, then, and only where a body is ready.

Reference: Bender, dissertation, §7.2; Schmidl, Milenkovic (2004); Tarjan (1975), union–find.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.sleep import Sleep
from rattleback.model.state import Clock, Loads, Motion

# How long bodies must have been slow [s], and how slow beside √(g s).
DELAY = 0.5
PART = 0.01
# Least number of steps from one search for islands to the next.
EVERY = 8
READY_DELAY = wp.constant(wp.float64(DELAY))
ZERO = wp.constant(real(0.0))


@group(axis="bodies")
class Islands:
    """Islands of each world, and which fall asleep or wake."""

    parent: wp.int32 = field("1", "row of another body of its island; in the end of its first one")
    restless: wp.int32 = field(
        "1", "1 where it is not ready; in the end at the first body of an island with such a body"
    )
    fallen: wp.int32 = field("1", "1 where it has just fallen asleep")
    wanted: wp.int32 = field("1", "1 at the first body of a sleeping island that has to wake")
    awake: wp.int32 = field("1", "1 where anything moves", axis="flags")
    sleeping: wp.int32 = field("1", "1 where anything sleeps", axis="flags")
    ready: wp.int32 = field("1", "1 where islands are to be searched", axis="flags")
    falling: wp.int32 = field("1", "1 where an island has just fallen asleep", axis="flags")
    waking: wp.int32 = field("1", "1 where a sleeping island has to wake", axis="flags")
    woken: wp.int32 = field("1", "1 where stored contacts are of bodies that have woken", axis="flags")


@wp.func
def size_of(bodies: Bodies, i: int) -> real:
    """Size of a body that moves."""
    return wp.sqrt(real(2.0) * wp.trace(bodies.inertia[i]) / bodies.mass[i])


@wp.func
def slow_speed(size: real, gravity: real) -> real:
    """Speed below which a body of a size is slow."""
    return real(PART) * wp.sqrt(gravity * size)


@wp.func
def is_still(motion: Motion, i: int) -> bool:
    """Whether a body does not move at all."""
    return wp.length_sq(motion.velocity[i]) + wp.length_sq(motion.angular_velocity[i]) == ZERO


@kernel
def begin_rest_tracking(islands: Islands) -> None:
    """A step begins."""
    islands.ready[0] = 0
    islands.falling[0] = 0


@kernel
def track_rest(
    bodies: Bodies, motion: Motion, clock: Clock, sleep: Sleep, islands: Islands, gravity: wp.array[real], every: int
) -> None:
    """Time since when every body has been slow; after so many steps contacts are detected."""
    i = wp.tid()
    if bodies.mass[i] == ZERO or sleep.asleep[i] != 0:
        return
    w = bodies.world[i]
    now = clock.time[w]
    size = size_of(bodies, i)
    fastest = wp.max(wp.length(motion.velocity[i]), size * wp.length(motion.angular_velocity[i]))
    # Zero is for bodies that have not been tracked yet.
    if sleep.since[i] == wp.float64(0.0) or not (fastest <= slow_speed(size, gravity[w])):
        sleep.since[i] = now
    looks = (EVERY + every - 1) // every
    turn = (clock.steps[w] + wp.int64(1 - every)) % wp.int64(every * looks)
    if now - sleep.since[i] >= READY_DELAY and turn == wp.int64(0):
        islands.ready[0] = 1


@kernel
def begin_islands(bodies: Bodies, clock: Clock, sleep: Sleep, islands: Islands) -> None:
    """Every body is an island."""
    i = wp.tid()
    islands.parent[i] = i
    ripe = clock.time[bodies.world[i]] - sleep.since[i] >= READY_DELAY
    islands.restless[i] = wp.where(bodies.mass[i] == ZERO or ripe, 0, 1)


@wp.func
def root_of(islands: Islands, i: int) -> int:
    """The first body of the island so far; rows on the way are shortened."""
    k = i
    while islands.parent[k] != k:
        islands.parent[k] = islands.parent[islands.parent[k]]
        k = islands.parent[k]
    return k


@wp.func
def connect(bodies: Bodies, motion: Motion, islands: Islands, a: int, b: int) -> None:
    """Join the islands of two bodies that touch or are jointed, if both move freely; −1 is the world."""
    if a < 0 or b < 0:
        return
    free_a = bodies.mass[a] > ZERO
    free_b = bodies.mass[b] > ZERO
    if free_a and free_b:
        p = root_of(islands, a)
        q = root_of(islands, b)
        islands.parent[wp.max(p, q)] = wp.min(p, q)
    elif free_a and not is_still(motion, b):
        islands.restless[a] = 1
    elif free_b and not is_still(motion, a):
        islands.restless[b] = 1


@kernel
def join_contacts(bodies: Bodies, motion: Motion, contacts: Contacts, islands: Islands, each: int) -> None:
    """Join bodies that touch, one world a thread; it has so many colliders."""
    w = wp.tid()
    for c in range(contacts.first[w * each], contacts.first[(w + 1) * each]):
        connect(bodies, motion, islands, contacts.body_a[c], contacts.body_b[c])


@wp.struct
class IslandJoints:
    """The two bodies of every joint, −1 for the world; 1 where it drives them at a rate; 1 where it is broken."""

    a: wp.array[wp.int32]
    b: wp.array[wp.int32]
    drives: wp.array[wp.int32]
    broken: wp.array[wp.int32]


@kernel
def join_joints(bodies: Bodies, motion: Motion, joined: IslandJoints, islands: Islands, each: int) -> None:
    """Join jointed bodies, one world a thread; it has so many joints. Broken ones join nothing."""
    w = wp.tid()
    for j in range(w * each, (w + 1) * each):
        if joined.broken[j] != 0:
            continue
        connect(bodies, motion, islands, joined.a[j], joined.b[j])
        if joined.drives[j] == 1:
            if joined.a[j] >= 0:
                islands.restless[joined.a[j]] = 1
            if joined.b[j] >= 0:
                islands.restless[joined.b[j]] = 1


@kernel
def close_islands(islands: Islands, each: int) -> None:
    """Find the first body of every island, and whether any of its bodies is restless; one world a thread."""
    w = wp.tid()
    for i in range(w * each, (w + 1) * each):
        first = islands.parent[islands.parent[i]]
        islands.parent[i] = first
        if islands.restless[i] == 1:
            islands.restless[first] = 1


@kernel
def fall_asleep(bodies: Bodies, motion: Motion, sleep: Sleep, islands: Islands) -> None:
    """Stop the bodies of islands without a restless one, and let them sleep."""
    i = wp.tid()
    islands.fallen[i] = 0
    first = islands.parent[i]
    if bodies.mass[i] == ZERO or sleep.asleep[i] != 0 or islands.restless[first] == 1:
        return
    islands.fallen[i] = 1
    islands.falling[0] = 1
    sleep.asleep[i] = first + 1
    motion.velocity[i] = vec3()
    motion.angular_velocity[i] = vec3()


@kernel
def store_loads(loads: Loads, sleep: Sleep, islands: Islands) -> None:
    """The loads on bodies that have just fallen asleep."""
    i = wp.tid()
    if islands.fallen[i] == 1:
        sleep.force[i] = loads.force[i]
        sleep.torque[i] = loads.torque[i]
