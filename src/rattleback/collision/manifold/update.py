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
from rattleback.collision.manifold.clip import CROSSING, OF_B, Manifolds, fetch_soon
from rattleback.collision.manifold.limits import NO_VERTEX
from rattleback.collision.manifold.match import ContactList
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
    before_detection: wp.int32 = field("1", "1 in a step after which they are found anew")


@group(axis="colliders")
class Displacements:
    """How colliders have gone on since their anchors were set."""

    travel: vec3 = field("m", "way of its body")
    turn: vec3 = field("rad", "its turn, while that is small")
    rotation_change: mat33 = field("1", "matrix of its turn less that of none: how vectors of the body have changed")
    away: wp.int32 = field("1", "1 unless it is at its anchor, to the bit")


@wp.struct
class ManifoldUpdate:
    """What is carried: the items that were looked at, their regions and their rows, and what they are of.

    ``poses`` is where colliders are now, ``limit`` how far the points of a contact may go against each other [m];
    ``near`` is 1 for every item whose points have not gone farther, and ``far`` where one has.
    """

    items: Items
    manifolds: Manifolds
    start: wp.array[wp.int32]
    most: wp.int32
    colliders: Colliders
    places: Places
    displacements: Displacements
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
def find_before_detection(clock: Clock, every: int, phase: Phase) -> None:
    """Whether contacts are found anew after the step that is predicted."""
    phase.before_detection[0] = wp.where((clock.steps[0] + wp.int64(1)) % wp.int64(every) == wp.int64(0), 1, 0)


@kernel
def find_held(clock: Clock, every: int, phase: Phase) -> None:
    """Whether anchors may stay: those of a state that was copied or loaded between."""
    phase.held[0] = wp.where(clock.steps[0] % wp.int64(every) != wp.int64(0), 1, 0)


@wp.func
def rotation_change(t: vec3) -> mat33:
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
def measure_displacements(update: ManifoldUpdate, anew: int, lanes: int) -> None:
    """How far colliders have gone from their anchors; between, whether they rest since they were seen last."""
    places = update.places
    if wp.tid() == 0:
        update.far[0] = 0
    for i in range(wp.tid(), update.colliders.body.shape[0], lanes):
        body = update.colliders.body[i]
        x = update.motion.position[body]
        q = update.motion.orientation[body]
        if anew == 0:
            places.rests[i] = wp.where(x == places.seen[i] and q == places.heading[i], 1, 0)
            places.seen[i] = x
            places.heading[i] = q
        travel = x - update.memory.anchor[i]
        turn = small_turn(update.memory.heading[i], q)
        update.displacements.travel[i] = travel
        update.displacements.turn[i] = turn
        update.displacements.rotation_change[i] = rotation_change(turn)
        update.displacements.away[i] = wp.where(travel == vec3() and turn == vec3(), 0, 1)
        pose(update.colliders, update.motion, update.poses, i)


@wp.func
def flat_extent(colliders: Colliders, i: int) -> real:
    """How far a solid with flat sides reaches; negative for a round one."""
    kind = colliders.kind[i]
    if kind != BOX and kind < HULL:
        return real(-1.0)
    return wp.where(colliders.reach[i] < real(0.0), FAR, colliders.reach[i])


@wp.func
def normal_owner(colliders: Colliders, a: int, b: int) -> int:
    """Which of two solids the normal turns with: the flat one, or the larger; −1 where both are round."""
    of_a = flat_extent(colliders, a)
    of_b = flat_extent(colliders, b)
    if of_a < real(0.0) and of_b < real(0.0):
        return -1
    return wp.where(of_a > of_b, a, b)


@wp.func
def share_of_a(feature: int, normal_of: int, a: int) -> real:
    """How much of the way of A a point goes, the rest of that of B; without branches, which nobody could foresee."""
    alone = wp.where(normal_of < 0, HALF, wp.where(normal_of == a, real(0.0), real(1.0)))
    named = wp.where(feature < OF_B, real(1.0), real(0.0))
    return wp.where(feature < CROSSING, named, wp.where(feature == NO_VERTEX, alone, HALF))


@wp.func
def update_manifold(update: ManifoldUpdate, m: int, begin: int, end: int) -> real:
    """Rewrite the contacts of an item from its region, with its bodies where they are now.

    Returns the square of how far the points of a contact have gone against each other, at most.
    """
    a = update.items.a[m]
    b = update.items.b[m]
    travel_a = update.displacements.travel[a]
    travel_b = update.displacements.travel[b]
    x_a = update.memory.anchor[a]
    x_b = update.memory.anchor[b]
    M_a = update.displacements.rotation_change[a]
    M_b = update.displacements.rotation_change[b]
    n0 = update.manifolds.normal[m]
    n = n0
    normal_of = normal_owner(update.colliders, a, b)
    if normal_of == a:
        n += M_a * n0
    elif normal_of == b:
        n += M_b * n0
    shell_a = update.colliders.round[a]
    shell_b = update.colliders.round[b]
    # How much of a gap along the normal is lost when that turns.
    lost = wp.dot(n, n0 - n)
    slot = m * update.most - begin
    farthest = real(0.0)
    for c in range(begin, end):
        p = update.manifolds.point[slot + c]
        s = update.manifolds.separation[slot + c]
        up = HALF * s + shell_a
        down = HALF * s + shell_b
        of_b = travel_b + M_b * (p - down * n0 - x_b)
        apart = travel_a + M_a * (p + up * n0 - x_a) - of_b
        farthest = wp.max(farthest, wp.dot(apart, apart))
        s += wp.dot(n, apart) + (up + down) * lost
        share = share_of_a(update.manifolds.feature[slot + c], normal_of, a)
        rest = real(1.0) - share
        before = share * up - rest * down
        after = share * (HALF * s + shell_a) - rest * (HALF * s + shell_b)
        update.contacts.normal[c] = n
        update.contacts.separation[c] = s
        update.contacts.point[c] = p + of_b + share * apart + before * (n0 - n) + (before - after) * n
    return farthest


@wp.func
def normal_deviates(update: ManifoldUpdate, m: int) -> bool:
    """Whether a normal across two edges has turned away from the one that is carried, as that of parallel ones does.

    It turns by φ / sin α, φ the turn of the solids against each other, α the angle between the edges.
    """
    a = update.items.a[m]
    b = update.items.b[m]
    turn = update.displacements.turn[a] - update.displacements.turn[b]
    reach = wp.abs(update.colliders.reach[a] * update.colliders.reach[b])
    return update.manifolds.sensitivity[m] * wp.dot(turn, turn) * reach > update.limit * update.limit


@kernel
def update_manifolds(update: ManifoldUpdate, anew: int, lanes: int) -> None:
    """Put the contacts where their bodies are; between, all are in the rows they were in, and so is their memory."""
    contacts = update.contacts
    if wp.tid() == 0:
        contacts.alike[0] = wp.where(anew == 1, wp.max(contacts.alike[0], 0), 1)
        contacts.carried[0] = 1 - anew
        contacts.times[0] = contacts.times[0] + 1 - anew
    for m in range(wp.tid(), wp.min(update.items.needed[0], update.items.a.shape[0]), lanes):
        begin = update.start[m]
        end = wp.min(update.start[m + 1], contacts.part.shape[0])
        fetch_soon(update.manifolds, m, update.most)
        update.near[m] = 1
        if begin >= end:
            continue
        a = update.items.a[m]
        b = update.items.b[m]
        goes = update.displacements.away[a] + update.displacements.away[b]
        if anew == 0:
            rests = update.places.rests[a] * update.places.rests[b]
            goes = 1 - rests
            for c in range(begin, end):
                contacts.previous[c] = c
                contacts.rests[c] = rests
        if goes > 0:
            farthest = update_manifold(update, m, begin, end)
            far = farthest > update.limit * update.limit or normal_deviates(update, m)
            if far and update.items.part[m] < 0:
                update.near[m] = 0
                update.far[0] = 1


class ManifoldUpdater:
    """Contacts that are found after every so many steps, and carried along between.

    Args:
        contact_list: What lists the contacts that were found.
        motion: Where the bodies are.
        every: After how many steps contacts are found.
        clock: Which step it is; None where nobody remembers contacts, so that they are always found where bodies are.
        phase: What is done about contacts now.
        unit: Contact distance, or the usual one where that is zero [m].
    """

    def __init__(
        self, contact_list: ContactList, motion: Motion, every: int, clock: "Clock | None", phase: Phase, unit: float
    ) -> None:
        self.every, self.clock, self.phase = every, clock, phase
        self.update = update = ManifoldUpdate()
        update.items, update.manifolds = contact_list.items, contact_list.output.manifolds
        update.start, update.most = contact_list.start, contact_list.output.slots
        update.colliders, update.places = contact_list.placed.colliders, contact_list.placed.places
        count, device = len(contact_list.placed.places.travel), contact_list.start.device
        update.displacements = arrays.allocate(Displacements, {"colliders": count}, device)
        update.poses = arrays.allocate(Places, {"colliders": count}, device)
        update.near = wp.zeros(len(contact_list.items.a), dtype=wp.int32, device=device)
        update.far = wp.zeros(1, dtype=wp.int32, device=device)
        update.limit = FAR_APART * unit
        update.motion, update.memory, update.contacts = motion, contact_list.memory, contact_list.contacts

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
        program.share(measure_displacements, len(self.update.displacements.travel), self.update, int(anew))
        program.share(update_manifolds, len(self.update.items.a), self.update, int(anew))


def make_phase(device: Any) -> Phase:
    """Nothing is done yet, and anchors follow their bodies."""
    return arrays.allocate(Phase, {"one": 1}, device)
