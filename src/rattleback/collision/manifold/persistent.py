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
class Answered:
    """The items of the last time, by their slots."""

    a: wp.int32 = field("1", "first collider; -1 where there was no item, or something lay ahead of it")
    b: wp.int32 = field("1", "second collider")
    part: wp.int32 = field("1", "triangle")
    count: wp.int32 = field("1", "number of slots that were used", axis="one")


@wp.struct
class Anchoring:
    """What anchors are made from: poses of bodies, the anchors, and how far colliders may go from them.

    Where ``held`` is 1 they stay in worlds whose velocities fit their contacts.
    """

    motion: Motion
    memory: ContactMemory
    limit: real
    held: wp.array[wp.int32]


@wp.func
def place_at_anchor(
    colliders: Colliders, hulls: Hulls, anchoring: Anchoring, wider: real, places: Places, i: int
) -> None:
    """Place a collider at its anchor, which follows where the body has gone too far."""
    body = colliders.body[i]
    x = anchoring.motion.position[body]
    q = anchoring.motion.orientation[body]
    way = x - anchoring.memory.anchor[i]
    turn = small_turn(anchoring.memory.heading[i], q)
    angle = wp.length(turn)
    far = wp.length(way) + angle * (colliders.reach[i] + wp.length(colliders.position[i]))
    # The turn from a heading that was never set is none.
    unset = anchoring.memory.heading[i] == quat()
    # An anchor that is not finite, as a step may leave one that is broken off, is near nothing.
    near = far <= anchoring.limit and (colliders.reach[i] >= real(0.0) or angle == real(0.0))
    held = anchoring.held[0] == 1 and anchoring.memory.pending[colliders.world[i]] == SETTLED
    if unset or (not near and not held):
        anchoring.memory.anchor[i] = x
        anchoring.memory.heading[i] = q
        way = vec3()
        turn = vec3()
    places.way[i] = way
    places.turn[i] = turn
    p = anchoring.memory.anchor[i] + wp.quat_rotate(anchoring.memory.heading[i], colliders.position[i])
    r = wp.quat_to_matrix(anchoring.memory.heading[i] * colliders.orientation[i])
    places.stays[i] = wp.where(p == places.position[i] and r == places.rotation[i], 1, 0)
    places.rests[i] = wp.where(x == places.seen[i] and q == places.heading[i], places.stays[i], 0)
    places.seen[i] = x
    places.heading[i] = q
    places.position[i] = p
    places.rotation[i] = r
    bound(colliders, hulls, places, i, wider)


@kernel
def place_at_anchors(
    colliders: Colliders, hulls: Hulls, anchoring: Anchoring, wider: real, places: Places, lanes: int
) -> None:
    """Place every collider at its anchor, which follows where the body has gone too far."""
    for i in range(wp.tid(), colliders.body.shape[0], lanes):
        place_at_anchor(colliders, hulls, anchoring, wider, places, i)


@kernel
def spare(items: Items, places: Places, answered: Answered, lanes: int) -> None:
    """Which items keep their answers; what will have been answered when the others are."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        kept = int(0)
        a = items.a[m]
        b = items.b[m]
        part = items.part[m]
        known = m < answered.count[0] and answered.a[m] == a and answered.b[m] == b and answered.part[m] == part
        if items.ahead[m] > real(0.0):
            answered.a[m] = -1
        elif known:
            kept = places.stays[a] * places.stays[b]
        else:
            answered.a[m] = a
            answered.b[m] = b
            answered.part[m] = part
        if not known:
            items.others[0] = 1
        items.kept[m] = kept


@kernel
def compare_counts(items: Items, answered: Answered) -> None:
    """Whether there are as many items as the last time."""
    items.others[0] = wp.where(items.needed[0] == answered.count[0], 0, 1)


@kernel
def note_answered(items: Items, answered: Answered) -> None:
    """How many items will have been answered; those of slots beyond are forgotten."""
    answered.count[0] = items.needed[0]


@wp.struct
class Drift:
    """How a collider has gone on since its anchor was set, and where that is."""

    way: vec3
    turn: vec3
    anchor: vec3


@wp.func
def begun(places: Places, memory: ContactMemory, i: int) -> Drift:
    """How collider i has gone on since its anchor was set."""
    drift = Drift()
    drift.way = places.way[i]
    drift.turn = places.turn[i]
    drift.anchor = memory.anchor[i]
    return drift


@wp.func
def gone(drift: Drift, p: vec3) -> vec3:
    """How far a point of a collider has gone since its anchor was set."""
    return drift.way + wp.cross(drift.turn, p - drift.anchor)


def record_spared(program: Any, items: Items, places: Places, answered: Answered) -> None:
    """Record what finds out which items keep their answers, before any is looked at."""
    program.launch(compare_counts, 1, items, answered)
    program.share(spare, len(items.a), items, places, answered)
    program.launch(note_answered, 1, items, answered)
