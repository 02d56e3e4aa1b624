"""Islands in which the energy of a step is judged: moving bodies that touch or are joined, over any number of others.

    parent(i) = i for every body;  for every joint and contact of two bodies the smaller root is parent of the larger

Static bodies connect nothing: an island rests on them, or is driven by them where they or their surfaces move, as it is
by joints with a rate of their own. Cost: O(joints + contacts) on one thread a world, only where a mechanism is in debt.

Reference: Tarjan (1975), disjoint sets.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.model.surfaces import Surfaces
from rattleback.problem.joint_rows import Joints

ZERO = wp.constant(real(0.0))


@group(axis="bodies")
class Ledger:
    """What happens to the energy in a step, and the islands in which it is judged."""

    loose: wp.int32 = field("1", "1 where the body has no joint")
    before: real = field("J", "kinetic energy at the beginning of the step")
    spin: real = field("rad/s", "angular speed there")
    velocity: vec3 = field("m/s", "velocity there")
    first_push: vec3 = field("N s", "momentum that forces give in the first prediction")
    first_turn: vec3 = field("N m s", "the same of angular momentum")
    push: vec3 = field("N s", "momentum that forces give in the step")
    turn: vec3 = field("N m s", "the same of angular momentum")
    rate: vec3 = field("rad/s", "mean angular velocity of the predicted step")
    work: real = field("J", "work of forces in the predicted step, and of joints with a rate of their own")
    rest: real = field("J", "work of forces on the rest of the way that the body really goes")
    gone: real = field("J", "half of its mass times the square of its mean speed on that")
    missed: real = field("J", "what integrators of first order may miss of it")
    allowed: real = field(
        "J", "what a mechanism in debt may gain, at its first body; its part at others; else below zero"
    )
    head: wp.int32 = field("1", "row of the first body of the mechanism in debt")
    parent: wp.int32 = field("1", "row of another body of its island, at last of the first one")
    due: real = field("J", "kinetic energy that its island may have, at its first body")
    kinetic: real = field("J", "its kinetic energy")
    flown: real = field("J", "the same of the prediction")
    mass: real = field("kg", "its mass")
    momentum: vec3 = field("N s", "its momentum")
    leans: wp.int32 = field("1", "1 where it touches or is joined to something that does not move")
    driven: wp.int32 = field("1", "1 where something drives it")
    judged: wp.int32 = field("1", "1 where a mechanism of it is in debt")
    scale: real = field("1", "what its velocities are multiplied by")
    over: wp.int32 = field("1", "1 where a mechanism of a world is in debt", axis="worlds")
    most: real = field("J", "largest excess taken from an island in a step of the call", axis="worlds")
    body: wp.int32 = field("1", "body of that island which had gained most", axis="worlds")
    any_over: wp.int32 = field("1", "1 where a mechanism of any world is in debt", axis="flags")
    any_held: wp.int32 = field("1", "1 where a mechanism is held back", axis="flags")


@wp.func
def root_of(ledger: Ledger, i: int) -> int:
    """The first body of an island so far, with shorter ways to it."""
    k = i
    while ledger.parent[k] != k:
        ledger.parent[k] = ledger.parent[ledger.parent[k]]
        k = ledger.parent[k]
    return k


@wp.func
def lean(motion: Motion, ledger: Ledger, i: int, other: int) -> None:
    """A moving body rests on one that forces do not move, or on the world, −1."""
    r = root_of(ledger, i)
    ledger.leans[r] = 1
    if other >= 0 and wp.length_sq(motion.velocity[other]) + wp.length_sq(motion.angular_velocity[other]) > ZERO:
        ledger.driven[r] = 1


@wp.func
def connect(bodies: Bodies, motion: Motion, ledger: Ledger, a: int, b: int) -> None:
    """Two bodies touch or are joined; −1 stands for the world."""
    free_a = a >= 0
    free_b = b >= 0
    if a >= 0:
        free_a = bodies.mass[a] > ZERO
    if b >= 0:
        free_b = bodies.mass[b] > ZERO
    if free_a and free_b:
        p = root_of(ledger, a)
        q = root_of(ledger, b)
        first = wp.min(p, q)
        other = wp.max(p, q)
        ledger.parent[other] = first
        ledger.leans[first] = wp.max(ledger.leans[first], ledger.leans[other])
        ledger.driven[first] = wp.max(ledger.driven[first], ledger.driven[other])
    elif free_a:
        lean(motion, ledger, a, b)
    elif free_b:
        lean(motion, ledger, b, a)


@wp.func
def drive(ledger: Ledger, bodies: Bodies, i: int) -> None:
    """Something drives a body."""
    moves = bool(False)
    if i >= 0:
        moves = bodies.mass[i] > ZERO
    if moves:
        ledger.driven[root_of(ledger, i)] = 1


@kernel
def join_joints(bodies: Bodies, motion: Motion, joints: Joints, ledger: Ledger, each: int) -> None:
    """Islands of jointed bodies, one world a thread; it has so many joints."""
    w = wp.tid()
    if ledger.over[w] == 0:
        return
    count = bodies.world.shape[0] // ledger.over.shape[0]
    for i in range(w * count, (w + 1) * count):
        ledger.parent[i] = i
        ledger.leans[i] = 0
        ledger.driven[i] = 0
    for j in range(w * each, (w + 1) * each):
        if joints.broken[j] == 0:
            connect(bodies, motion, ledger, joints.body_a[j], joints.body_b[j])


@kernel
def join_contacts(
    bodies: Bodies, motion: Motion, contacts: Contacts, surfaces: Surfaces, ledger: Ledger, each: int
) -> None:
    """Join what touches, one world a thread; it has so many colliders."""
    w = wp.tid()
    if ledger.over[w] == 0:
        return
    for c in range(contacts.first[w * each], contacts.first[(w + 1) * each]):
        a = contacts.body_a[c]
        b = contacts.body_b[c]
        connect(bodies, motion, ledger, a, b)
        if wp.length_sq(surfaces.velocity[a]) + wp.length_sq(surfaces.velocity[b]) > ZERO:
            drive(ledger, bodies, a)
            drive(ledger, bodies, b)
