"""Contacts between the steps in which they are found: carried along with their bodies, exactly as rigid bodies go.

    δ_a = x − x₀ + w t × r + ½ t × (t × r),   r = c_a − x₀,   c_a = p₀ + (½ s₀ + ρ_a) n₀      the same of b, with −n₀
    n = n₀ + w t × n₀ + ½ t × (t × n₀)                                                      with the flat one of the two
    s = s₀ + n · (δ_a − δ_b + (s₀ + ρ_a + ρ_b) (n₀ − n))

x, q pose of a body, x₀, q₀ its anchor, (½ t, w) the turn q q₀⁻¹ with w ≥ 0; n, s, p normal, separation and place of a
contact, with ₀ those found with all bodies at their anchors; ρ thickness of the shell of a solid, c the point of its
core. Of a turn of nothing nothing comes, to the bit. What has a shell is followed by its core, so that balls and
capsules may roll. The normal turns with that of the two solids that is flat, the larger one where both are; where both
are round it stays. A point goes with the corner it is named after, one that stands alone with the solid that does not
bear the normal, crossings of edges with half of both ways.

Where contacts are found after every n-th step only, those between are a function of anchors and poses, and the step at
which they are found next follows from the clock. So a state that is copied or loaded between has its contacts found
again with all bodies at their anchors, which stay where they are, and goes on bit for bit. Where something was written
anchors follow, and contacts are those of the new poses at once.

Limits: what comes near between is not seen before contacts are found again, see ``look_ahead``. Normals of two solids
whose features change are off by how far they turn against each other, separations by that times how far they slip;
pairs that have gone far against each other, and boxes that touch at nearly parallel edges, whose normal turns faster
than they do, are found anew where they are, see ``renew``. Cylinders, cones and
ellipsoids that roll by an angle φ are off by ½ r φ².

Cost: about 40 ns a contact; nothing where both bodies rest, or are at their anchors when contacts were found.

Reference: derived here.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Places
from rattleback.collision.geometry.solid import BOX, HULL
from rattleback.collision.geometry.world_poses import pose
from rattleback.collision.manifold.clip import CROSSING, OF_B, Regions, fetch_soon
from rattleback.collision.manifold.limits import ALONE
from rattleback.collision.manifold.match import Gathering
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.speculative.boxes import FAR
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real, vec3
from rattleback.maths.quat import small_turn
from rattleback.model.contact_memory import ContactMemory
from rattleback.model.contacts import Contacts
from rattleback.model.state import Clock, Motion

HALF = wp.constant(real(0.5))
# Contact distances that the points of a contact may go against each other before their pair is found anew, and that
# the ends of solids may by how far their normal is off.
FAR_APART = 2.0


@group(axis="one")
class Phase:
    """What is done about contacts now."""

    due: wp.int32 = field("1", "1 where they are found anew")
    carried: wp.int32 = field("1", "1 where they are carried along")
    held: wp.int32 = field("1", "1 where anchors of settled worlds stay when they are found anew, between those steps")
    eve: wp.int32 = field("1", "1 in a step after which they are found anew")


@group(axis="colliders")
class Rides:
    """How colliders have gone on since their anchors were set."""

    way: vec3 = field("m", "way of its body")
    turn: vec3 = field("rad", "its turn, while that is small")
    swing: mat33 = field("1", "matrix of its turn less that of none: how vectors of the body have changed")
    away: wp.int32 = field("1", "1 unless it is at its anchor, to the bit")


@wp.struct
class Carriage:
    """What is carried: the items that were looked at, their regions and their rows, and what they are of.

    ``poses`` is where colliders are now, ``limit`` how far the points of a contact may go against each other [m];
    ``near`` is 1 for every item whose points have not gone farther, and ``far`` where one has.
    """

    items: Items
    regions: Regions
    start: wp.array[wp.int32]
    most: wp.int32
    colliders: Colliders
    places: Places
    rides: Rides
    motion: Motion
    memory: ContactMemory
    contacts: Contacts
    poses: Places
    limit: real
    near: wp.array[wp.int32]
    far: wp.array[wp.int32]


@kernel
def find_phase(clock: Clock, stale: wp.array[wp.int32], contacts: Contacts, every: int, phase: Phase) -> None:
    """Whether contacts are found anew: after every so many steps, where they are not those of the state, or moved."""
    often = clock.steps[0] % wp.int64(every) == wp.int64(0)
    due = wp.where(often or stale[0] != 0 or contacts.alike[0] < 0, 1, 0)
    phase.due[0] = due
    phase.carried[0] = 1 - due


@kernel
def find_eve(clock: Clock, every: int, phase: Phase) -> None:
    """Whether contacts are found anew after the step that is predicted."""
    phase.eve[0] = wp.where((clock.steps[0] + wp.int64(1)) % wp.int64(every) == wp.int64(0), 1, 0)


@kernel
def find_held(clock: Clock, every: int, phase: Phase) -> None:
    """Whether anchors may stay: those of a state that was copied or loaded between."""
    phase.held[0] = wp.where(clock.steps[0] % wp.int64(every) != wp.int64(0), 1, 0)


@wp.func
def swing(t: vec3) -> mat33:
    """The matrix of a turn, less that of none."""
    w = wp.sqrt(wp.max(real(1.0) - real(0.25) * wp.dot(t, t), real(0.0)))
    x = HALF * t[0]
    y = HALF * t[1]
    z = HALF * t[2]
    wx = w * t[0]
    wy = w * t[1]
    wz = w * t[2]
    xx = x * t[0]
    yy = y * t[1]
    zz = z * t[2]
    xy = x * t[1]
    xz = x * t[2]
    yz = y * t[2]
    return mat33(-yy - zz, xy - wz, xz + wy, xy + wz, -xx - zz, yz - wx, xz - wy, yz + wx, -xx - yy)


@kernel
def follow(carriage: Carriage, anew: int, lanes: int) -> None:
    """How far colliders have gone from their anchors; between, whether they rest since they were seen last."""
    places = carriage.places
    if wp.tid() == 0:
        carriage.far[0] = 0
    for i in range(wp.tid(), carriage.colliders.body.shape[0], lanes):
        body = carriage.colliders.body[i]
        x = carriage.motion.position[body]
        q = carriage.motion.orientation[body]
        if anew == 0:
            places.rests[i] = wp.where(x == places.seen[i] and q == places.heading[i], 1, 0)
            places.seen[i] = x
            places.heading[i] = q
        way = x - carriage.memory.anchor[i]
        turn = small_turn(carriage.memory.heading[i], q)
        carriage.rides.way[i] = way
        carriage.rides.turn[i] = turn
        carriage.rides.swing[i] = swing(turn)
        carriage.rides.away[i] = wp.where(way == vec3() and turn == vec3(), 0, 1)
        pose(carriage.colliders, carriage.motion, carriage.poses, i)


@wp.func
def breadth(colliders: Colliders, i: int) -> real:
    """How far a solid with flat sides reaches; negative for a round one."""
    kind = colliders.kind[i]
    if kind != BOX and kind < HULL:
        return real(-1.0)
    return wp.where(colliders.reach[i] < real(0.0), FAR, colliders.reach[i])


@wp.func
def bearer(colliders: Colliders, a: int, b: int) -> int:
    """Which of two solids the normal turns with: the flat one, or the larger; −1 where both are round."""
    of_a = breadth(colliders, a)
    of_b = breadth(colliders, b)
    if of_a < real(0.0) and of_b < real(0.0):
        return -1
    return wp.where(of_a > of_b, a, b)


@wp.func
def share_of_a(feature: int, normal_of: int, a: int) -> real:
    """How much of the way of A a point goes, the rest of that of B; without branches, which nobody could foresee."""
    alone = wp.where(normal_of < 0, HALF, wp.where(normal_of == a, real(0.0), real(1.0)))
    named = wp.where(feature < OF_B, real(1.0), real(0.0))
    return wp.where(feature < CROSSING, named, wp.where(feature == ALONE, alone, HALF))


@wp.func
def carry_item(carriage: Carriage, m: int, begin: int, end: int) -> real:
    """Rewrite the contacts of an item from its region, with its bodies where they are now.

    Returns the square of how far the points of a contact have gone against each other, at most.
    """
    a = carriage.items.a[m]
    b = carriage.items.b[m]
    way_a = carriage.rides.way[a]
    way_b = carriage.rides.way[b]
    x_a = carriage.memory.anchor[a]
    x_b = carriage.memory.anchor[b]
    M_a = carriage.rides.swing[a]
    M_b = carriage.rides.swing[b]
    n0 = carriage.regions.normal[m]
    n = n0
    normal_of = bearer(carriage.colliders, a, b)
    if normal_of == a:
        n += M_a * n0
    elif normal_of == b:
        n += M_b * n0
    shell_a = carriage.colliders.round[a]
    shell_b = carriage.colliders.round[b]
    # How much of a gap along the normal is lost when that turns.
    lost = wp.dot(n, n0 - n)
    slot = m * carriage.most - begin
    farthest = real(0.0)
    for c in range(begin, end):
        p = carriage.regions.point[slot + c]
        s = carriage.regions.separation[slot + c]
        up = HALF * s + shell_a
        down = HALF * s + shell_b
        of_b = way_b + M_b * (p - down * n0 - x_b)
        apart = way_a + M_a * (p + up * n0 - x_a) - of_b
        farthest = wp.max(farthest, wp.dot(apart, apart))
        s += wp.dot(n, apart) + (up + down) * lost
        share = share_of_a(carriage.regions.feature[slot + c], normal_of, a)
        rest = real(1.0) - share
        before = share * up - rest * down
        after = share * (HALF * s + shell_a) - rest * (HALF * s + shell_b)
        carriage.contacts.normal[c] = n
        carriage.contacts.separation[c] = s
        carriage.contacts.point[c] = p + of_b + share * apart + before * (n0 - n) + (before - after) * n
    return farthest


@wp.func
def swerves(carriage: Carriage, m: int) -> bool:
    """Whether a normal across two edges has turned away from the one that is carried, as that of parallel ones does.

    It turns by φ / sin α, φ the turn of the solids against each other, α the angle between the edges.
    """
    a = carriage.items.a[m]
    b = carriage.items.b[m]
    turn = carriage.rides.turn[a] - carriage.rides.turn[b]
    reach = wp.abs(carriage.colliders.reach[a] * carriage.colliders.reach[b])
    return carriage.regions.touchy[m] * wp.dot(turn, turn) * reach > carriage.limit * carriage.limit


@kernel
def carry(carriage: Carriage, anew: int, lanes: int) -> None:
    """Put the contacts where their bodies are; between, all are in the rows they were in, and so is their memory."""
    contacts = carriage.contacts
    if wp.tid() == 0:
        contacts.alike[0] = wp.where(anew == 1, wp.max(contacts.alike[0], 0), 1)
        contacts.carried[0] = 1 - anew
        contacts.times[0] = contacts.times[0] + 1 - anew
    for m in range(wp.tid(), wp.min(carriage.items.needed[0], carriage.items.a.shape[0]), lanes):
        begin = carriage.start[m]
        end = wp.min(carriage.start[m + 1], contacts.part.shape[0])
        fetch_soon(carriage.regions, m, carriage.most)
        carriage.near[m] = 1
        if begin >= end:
            continue
        a = carriage.items.a[m]
        b = carriage.items.b[m]
        goes = carriage.rides.away[a] + carriage.rides.away[b]
        if anew == 0:
            rests = carriage.places.rests[a] * carriage.places.rests[b]
            goes = 1 - rests
            for c in range(begin, end):
                contacts.previous[c] = c
                contacts.rests[c] = rests
        if goes > 0:
            farthest = carry_item(carriage, m, begin, end)
            far = farthest > carriage.limit * carriage.limit or swerves(carriage, m)
            if far and carriage.items.part[m] < 0:
                carriage.near[m] = 0
                carriage.far[0] = 1


class Carrying:
    """Contacts that are found after every so many steps, and carried along between.

    Args:
        gathering: What lists the contacts that were found.
        motion: Where the bodies are.
        every: After how many steps contacts are found.
        clock: Which step it is; None where nobody remembers contacts, so that they are always found where bodies are.
        phase: What is done about contacts now.
        unit: Contact distance, or the usual one where that is zero [m].
    """

    def __init__(
        self, gathering: Gathering, motion: Motion, every: int, clock: "Clock | None", phase: Phase, unit: float
    ) -> None:
        self.every, self.clock, self.phase = every, clock, phase
        self.carriage = carriage = Carriage()
        carriage.items, carriage.regions = gathering.items, gathering.into.regions
        carriage.start, carriage.most = gathering.start, gathering.into.slots
        carriage.colliders, carriage.places = gathering.placed.colliders, gathering.placed.places
        count, device = len(gathering.placed.places.way), gathering.start.device
        carriage.rides = arrays.allocate(Rides, {"colliders": count}, device)
        carriage.poses = arrays.allocate(Places, {"colliders": count}, device)
        carriage.near = wp.zeros(len(gathering.items.a), dtype=wp.int32, device=device)
        carriage.far = wp.zeros(1, dtype=wp.int32, device=device)
        carriage.limit = FAR_APART * unit
        carriage.motion, carriage.memory, carriage.contacts = motion, gathering.memory, gathering.contacts

    def record_held(self, program: Any) -> None:
        """Record what says if anchors stay, before contacts are found."""
        if self.clock is not None:
            program.launch(find_held, 1, self.clock, self.every, self.phase)

    def record(self, program: Any, anew: bool) -> None:
        """Record what puts contacts where their bodies are.

        Args:
            program: Where to record.
            anew: Whether they have just been found.
        """
        program.share(follow, len(self.carriage.rides.way), self.carriage, int(anew))
        program.share(carry, len(self.carriage.items.a), self.carriage, int(anew))


def make_phase(device: Any) -> Phase:
    """Nothing is done yet, and anchors follow their bodies."""
    return arrays.allocate(Phase, {"one": 1}, device)
