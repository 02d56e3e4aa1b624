"""Anchors: where bodies hardly move their contacts are not found anew, but carried along.

    x₀, q₀ ← x, q        where a collider has gone farther than a limit from its anchor x₀, q₀
    s = s₀ + n · (δ_a − δ_b),    p = p₀ + ½ (δ_a + δ_b),    δ = x − x₀ + θ × (p₀ − x₀)

x, q pose of a body, θ its turn since q₀; s, p separation and place of a contact point, s₀, p₀ those found with all
bodies at their anchors. Anchors belong to the state, and contacts are a function of anchors and poses: whether a pair
is looked at again or keeps its answer makes no difference, to the bit. A pair keeps it when the places of its two
colliders are the same as the last time and nothing lies ahead.

The normal stays the one at the anchors, which with a limit of a hundredth of the contact distance is off by a
hundred-thousandth of a radian at most.

Cost: one comparison a pair that is spared, where finding its region takes a microsecond.
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

# Part of the contact distance that a collider goes before it is looked at anew.
LIMIT = 0.01


@group(axis="items")
class LastItems:
    """The items of the last time, by their slots."""

    a: wp.int32 = field("1", "first collider; -1 where there was no item, or something lay ahead of it")
    b: wp.int32 = field("1", "second collider")
    part: wp.int32 = field("1", "triangle")
    count: wp.int32 = field("1", "number of slots that were used", axis="one")


@wp.struct
class ReferencePoses:
    """What anchors are made from: poses of bodies, the anchors, and how far colliders may go from them.

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
    """Place a collider at its anchor, which follows where the body has gone too far."""
    body = colliders.body[i]
    x = references.motion.position[body]
    q = references.motion.orientation[body]
    travel = x - references.memory.anchor[i]
    turn = small_turn(references.memory.heading[i], q)
    angle = wp.length(turn)
    far = wp.length(travel) + angle * (colliders.reach[i] + wp.length(colliders.position[i]))
    # The turn from a heading that was never set is none.
    unset = references.memory.heading[i] == quat()
    # An anchor that is not finite, as a step may leave one that is broken off, is near nothing.
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
    """Place every collider at its anchor, which follows where the body has gone too far."""
    for i in range(wp.tid(), colliders.body.shape[0], lanes):
        place_at_reference(colliders, hulls, references, wider, places, i)


@kernel
def find_kept(items: Items, places: Places, last_items: LastItems, lanes: int) -> None:
    """Which items keep their answers; what will have been answered when the others are."""
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
    """Whether there are as many items as the last time."""
    items.changed[0] = wp.where(items.needed[0] == last_items.count[0], 0, 1)


@kernel
def store_item_count(items: Items, last_items: LastItems) -> None:
    """How many items will have been answered; those of slots beyond are forgotten."""
    last_items.count[0] = items.needed[0]


@wp.struct
class Displacement:
    """How a collider has gone on since its anchor was set, and where that is."""

    travel: vec3
    turn: vec3
    anchor: vec3


@wp.func
def displacement_of(places: Places, memory: ContactMemory, i: int) -> Displacement:
    """How collider i has gone on since its anchor was set."""
    displacement = Displacement()
    displacement.travel = places.travel[i]
    displacement.turn = places.turn[i]
    displacement.anchor = memory.anchor[i]
    return displacement


@wp.func
def displaced(displacement: Displacement, p: vec3) -> vec3:
    """How far a point of a collider has gone since its anchor was set."""
    return displacement.travel + wp.cross(displacement.turn, p - displacement.anchor)


def record_kept(program: Any, items: Items, places: Places, last_items: LastItems) -> None:
    """Record what finds out which items keep their answers, before any is looked at."""
    program.launch(compare_counts, 1, items, last_items)
    program.share(find_kept, len(items.a), items, places, last_items)
    program.launch(store_item_count, 1, items, last_items)
