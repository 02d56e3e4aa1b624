"""Manifold update: between detections, contact points, gaps and normals move with their bodies as rigid bodies do.

    δ_a = x − x₀ + w t × r + ½ t × (t × r),   r = c_a − x₀,   c_a = p₀ + (½ s₀ + ρ_a) n₀      the same of b, with −n₀
    n = n₀ + w t × n₀ + ½ t × (t × n₀)                                          with the solid that owns the normal
    s = s₀ + n · (δ_a − δ_b + (s₀ + ρ_a + ρ_b) (n₀ − n))

x, q pose of a body, x₀, q₀ its reference pose, (½ t, w) the rotation q q₀⁻¹ with w ≥ 0; n, s, p normal, gap and
position of a contact, with ₀ those of the detection at reference poses; ρ thickness of the shell of a solid, c the
point of its core. Without rotation or motion the bits stay. A solid with a shell moves by its core, so that spheres and
capsules may roll. The normal rotates with the flat solid, the larger one where both are flat; where both are round it
stays. A point moves with the solid of its vertex; a point without vertex moves with the solid that does not own the
normal; a crossing of edges moves with half of both displacements.

With ``contact_every=n`` contacts between detections are a function of reference poses and poses, and the clock says
which step detects. So a state that is copied or loaded between detects again at the reference poses, which stay, and
continues bit for bit. Where something was written, reference poses follow, and contacts are those of the new poses.

Limits: pairs that come near between detections wait for the next one (see ``speculative``). Where features change,
normals are off by the relative rotation and gaps by that times the slip. Pairs that have slipped far, and boxes that
touch at nearly parallel edges, whose normal turns faster than they do, are detected again (see ``refresh``).
Cylinders, cones and ellipsoids that roll by an angle φ are off by ½ r φ².

Cost: about 40 ns a contact; nothing where both bodies rest, or are at their reference poses at a detection.

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
# Contact distances that the points of a contact may slip before their pair is detected again, and that
# the ends of solids may by how far their normal is off.
FAR_APART = 2.0


@group(axis="one")
class Phase:
    """What this step does about contacts."""

    due: wp.int32 = field("1", "1 where contacts are detected")
    carried: wp.int32 = field("1", "1 where manifolds are updated")
    held: wp.int32 = field("1", "1 where reference poses of settled worlds stay in an early detection")
    before_detection: wp.int32 = field("1", "1 in a step after which contacts are detected")


@group(axis="colliders")
class Displacements:
    """How colliders have moved since their reference poses were set."""

    travel: vec3 = field("m", "way of its body")
    turn: vec3 = field("rad", "its turn, while that is small")
    rotation_change: mat33 = field("1", "matrix of its rotation less the identity")
    away: wp.int32 = field("1", "1 unless it is at its reference pose, to the bit")


@wp.struct
class ManifoldUpdate:
    """What is updated: items, their manifolds and rows of the contact list, and the colliders they are of.

    ``poses`` is where colliders are now, ``limit`` how far the points of a contact may slip [m]; ``near`` is 1 for
    every item whose points have not slipped farther, and ``far`` is 1 where one has.
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
    """Whether contacts are detected: every so many steps, where they are not those of the state, or rows have moved."""
    often = clock.steps[0] % wp.int64(every) == wp.int64(0)
    due = wp.where(often or stale[0] != 0 or contacts.alike[0] < 0, 1, 0)
    phase.due[0] = due
    phase.carried[0] = 1 - due


@kernel
def find_before_detection(clock: Clock, every: int, phase: Phase) -> None:
    """Whether contacts are detected after the step that is predicted."""
    phase.before_detection[0] = wp.where((clock.steps[0] + wp.int64(1)) % wp.int64(every) == wp.int64(0), 1, 0)


@kernel
def find_held(clock: Clock, every: int, phase: Phase) -> None:
    """Whether reference poses may stay: those of a state that was copied or loaded between detections."""
    phase.held[0] = wp.where(clock.steps[0] % wp.int64(every) != wp.int64(0), 1, 0)


@wp.func
def rotation_change(t: vec3) -> mat33:
    """The matrix of a rotation, less the identity."""
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
    """How far colliders are from their reference poses; between detections, which rest since the last step."""
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
    """Which of two solids the normal rotates with: the flat one, or the larger; −1 where both are round."""
    of_a = flat_extent(colliders, a)
    of_b = flat_extent(colliders, b)
    if of_a < real(0.0) and of_b < real(0.0):
        return -1
    return wp.where(of_a > of_b, a, b)


@wp.func
def share_of_a(feature: int, normal_of: int, a: int) -> real:
    """Share of A's displacement that a point follows, the rest of B's; branchless: the branch is unpredictable."""
    alone = wp.where(normal_of < 0, HALF, wp.where(normal_of == a, real(0.0), real(1.0)))
    named = wp.where(feature < OF_B, real(1.0), real(0.0))
    return wp.where(feature < CROSSING, named, wp.where(feature == NO_VERTEX, alone, HALF))


@wp.func
def update_manifold(update: ManifoldUpdate, m: int, begin: int, end: int) -> real:
    """Rewrite the contacts of an item from its manifold, with its bodies where they are now.

    Returns the square of the largest slip of the points of a contact.
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
    # How much of a gap along the normal is lost when that rotates.
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
    """Whether the normal across two edges has turned away from the updated one, as that of parallel edges does.

    It turns by φ / sin α, φ the turn of the solids against each other, α the angle between the edges.
    """
    a = update.items.a[m]
    b = update.items.b[m]
    turn = update.displacements.turn[a] - update.displacements.turn[b]
    reach = wp.abs(update.colliders.reach[a] * update.colliders.reach[b])
    return update.manifolds.sensitivity[m] * wp.dot(turn, turn) * reach > update.limit * update.limit


@kernel
def update_manifolds(update: ManifoldUpdate, anew: int, lanes: int) -> None:
    """Move the contacts with their bodies; between detections all keep their rows, and so does their memory."""
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
    """Contacts that are detected every so many steps, and updated between.

    Args:
        contact_list: What lists the contacts that were found.
        motion: Where the bodies are.
        every: After how many steps contacts are detected.
        clock: Which step it is; None without a contact memory: every step detects.
        phase: What this step does about contacts.
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
        """Record what says if reference poses stay, before detection."""
        if self.clock is not None:
            program.launch(find_held, 1, self.clock, self.every, self.phase)

    def record(self, program: Any, anew: bool) -> None:
        """Record what moves contacts with their bodies.

        Args:
            program: Where to record.
            anew: Whether contacts have just been detected.
        """
        program.share(measure_displacements, len(self.update.displacements.travel), self.update, int(anew))
        program.share(update_manifolds, len(self.update.items.a), self.update, int(anew))


def make_phase(device: Any) -> Phase:
    """Nothing is done yet, and reference poses follow their bodies."""
    return arrays.allocate(Phase, {"one": 1}, device)
