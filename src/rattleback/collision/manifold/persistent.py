"""Persistent manifolds: pairs of bodies that hardly move keep their manifold, updated to first order.

    x₀, q₀ ← x, q        where a collider has moved farther than a limit from its reference pose x₀, q₀
    s = s₀ + n · (δ_a − δ_b),    p = p₀ + ½ (δ_a + δ_b),    δ = x − x₀ + θ × (p₀ − x₀)

x, q pose of a body, θ its rotation since q₀; s, p gap and position of a contact point, s₀, p₀ those of the detection
with all bodies at their reference poses. Reference poses (``anchor`` and ``heading`` of the contact memory) belong to
the state, and contacts are a function of reference poses and poses. So a pair may keep its manifold or build it again
with the same bits. A pair keeps it when both colliders have the reference poses of the last detection and no
speculative margin is needed.

The normal stays that of the reference poses. With a limit of a hundredth of the contact distance its error is 1e-5 rad
at most.

Cost: one comparison for a pair that keeps its manifold, where building one takes a microsecond.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.world_poses import bound
from rattleback.collision.narrowphase.items import Items
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import small_turn
from rattleback.model.contact_memory import SETTLED, ContactMemory
from rattleback.model.state import Motion

# Part of the contact distance that a collider moves before its reference pose follows.
LIMIT = 0.01


@group(axis="items")
class LastItems:
    """The items of the last detection, by their slots."""

    a: wp.int32 = field("1", "first collider; -1 where there was no item, or a speculative one")
    b: wp.int32 = field("1", "second collider")
    part: wp.int32 = field("1", "triangle")
    count: wp.int32 = field("1", "number of slots that were used", axis="one")


@wp.struct
class ReferencePoses:
    """What reference poses are made from: poses of bodies, the contact memory, and how far colliders may move.

    Where ``held`` is 1 they stay in worlds whose velocities fit their contacts.
    """

    motion: Motion
    memory: ContactMemory
    limit: real
    held: wp.array[wp.int32]


@wp.func
def place_at_reference(
    colliders: Colliders, hulls: Hulls, references: ReferencePoses, wider: real, places: Places, i: int
) -> None:
    """Put a collider at its reference pose, which follows where the body has moved too far."""
    body = colliders.body[i]
    x = references.motion.position[body]
    q = references.motion.orientation[body]
    travel = x - references.memory.anchor[i]
    turn = small_turn(references.memory.heading[i], q)
    angle = wp.length(turn)
    far = wp.length(travel) + angle * (colliders.reach[i] + wp.length(colliders.position[i]))
    # The rotation from a heading that was never set is none.
    unset = references.memory.heading[i] == quat()
    # A reference pose that is not finite, as a step that stops may leave it, is near nothing.
    near = far <= references.limit and (colliders.reach[i] >= real(0.0) or angle == real(0.0))
    held = references.held[0] == 1 and references.memory.pending[colliders.world[i]] == SETTLED
    if unset or (not near and not held):
        references.memory.anchor[i] = x
        references.memory.heading[i] = q
        travel = vec3()
        turn = vec3()
    places.travel[i] = travel
    places.turn[i] = turn
    p = references.memory.anchor[i] + wp.quat_rotate(references.memory.heading[i], colliders.position[i])
    r = wp.quat_to_matrix(references.memory.heading[i] * colliders.orientation[i])
    places.stays[i] = wp.where(p == places.position[i] and r == places.rotation[i], 1, 0)
    places.rests[i] = wp.where(x == places.seen[i] and q == places.heading[i], places.stays[i], 0)
    places.seen[i] = x
    places.heading[i] = q
    places.position[i] = p
    places.rotation[i] = r
    bound(colliders, hulls, places, i, wider)


@kernel
def place_at_references(
    colliders: Colliders, hulls: Hulls, references: ReferencePoses, wider: real, places: Places, lanes: int
) -> None:
    """Put every collider at its reference pose, which follows where the body has moved too far."""
    for i in range(wp.tid(), colliders.body.shape[0], lanes):
        place_at_reference(colliders, hulls, references, wider, places, i)


@kernel
def find_kept(items: Items, places: Places, last_items: LastItems, lanes: int) -> None:
    """Find the items that keep their manifolds, and list the items that will have one."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        kept = int(0)
        a = items.a[m]
        b = items.b[m]
        part = items.part[m]
        known = m < last_items.count[0] and last_items.a[m] == a and last_items.b[m] == b and last_items.part[m] == part
        if items.speculative_margin[m] > real(0.0):
            last_items.a[m] = -1
        elif known:
            kept = places.stays[a] * places.stays[b]
        else:
            last_items.a[m] = a
            last_items.b[m] = b
            last_items.part[m] = part
        if not known:
            items.changed[0] = 1
        items.kept[m] = kept


@kernel
def compare_counts(items: Items, last_items: LastItems) -> None:
    """Whether there are as many items as in the last detection."""
    items.changed[0] = wp.where(items.needed[0] == last_items.count[0], 0, 1)


@kernel
def store_item_count(items: Items, last_items: LastItems) -> None:
    """Store how many items will have a manifold; those of slots beyond are dropped."""
    last_items.count[0] = items.needed[0]


@wp.struct
class Displacement:
    """How a collider has moved since its reference pose was set, and where that is."""

    travel: vec3
    turn: vec3
    anchor: vec3


@wp.func
def displacement_of(places: Places, memory: ContactMemory, i: int) -> Displacement:
    """How collider i has moved since its reference pose was set."""
    displacement = Displacement()
    displacement.travel = places.travel[i]
    displacement.turn = places.turn[i]
    displacement.anchor = memory.anchor[i]
    return displacement


@wp.func
def displaced(displacement: Displacement, p: vec3) -> vec3:
    """How far a point of a collider has moved since its reference pose was set."""
    return displacement.travel + wp.cross(displacement.turn, p - displacement.anchor)


def record_kept(program: Any, items: Items, places: Places, last_items: LastItems) -> None:
    """Record what finds the items that keep their manifolds, before the narrow phase."""
    program.launch(compare_counts, 1, items, last_items)
    program.share(find_kept, len(items.a), items, places, last_items)
    program.launch(store_item_count, 1, items, last_items)
