"""Collisions: which contact points strike each other at this moment, and which patches resolve them together.

    a point collides where   u_n < −ε,   u_n + l < −ε,   gap < tolerance + 5/4 h |u_n|,   e > 0       ε = √(2 g d)

u_n velocity of A against B along the normal, l what the loads of resting contacts add to it, h time step, d contact
distance, e restitution of the patch. A body that falls through the contact distance from rest reaches ε; slower points
rest. A point that is farther away does not get there in the coming step: within the contact distance the fall adds less
than a fifth to the way h u_n, so that no resting contact brakes a point before it has struck.

At the end of a step resting bodies still lack one half of their load, so they seem to approach with ½ g h; with it they
do not. The load of a body that was stopped within the step is as large as the blow that did it, and would throw the
body back; so collisions are resolved without loads, and both are asked.

``sequential`` resolves the patches that collide at a moment, and looks again, as a shock goes through a row of balls
one after the other. ``simultaneous`` resolves everything that touches at once, as if bodies were equally stiff, and
looks again for what that has thrown against others.

Cost: one look at every patch with restitution where nothing collides; in later rounds only at those near collisions,
which on one thread the contact graph knows.

Reference: Bender, dissertation, §5.1.1 and §5.1.2; the tolerance is Mirtich's.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import Pressing, twist_of
from rattleback.solvers.contacts.schemes.inputs import Footing

ZERO = wp.constant(real(0.0))
# What a patch does at a moment: nothing, touch, or collide.
TOUCHES = wp.constant(1)
COLLIDES = wp.constant(2)
# Which patches are looked at: those near the last list, all, or all of which those that touch take part too.
NEARBY, EVERYWHERE, TOGETHER = wp.constant(0), wp.constant(1), wp.constant(2)


@group(axis="contacts")
class Collisions:
    """The collisions of a moment. A round resolves those of one look at the contacts."""

    state: wp.int32 = field("1", "2 where a patch collides, 1 where it touches, else 0")
    point: wp.int32 = field("1", "what a point does, as the state of a patch")
    velocity: vec3 = field("m/s", "velocity of a point before it is struck, axes of its patch")
    looked: wp.int32 = field("1", "last list after which a patch was looked at")
    pressed: real = field("N s", "impulse of compression of a point along the normal")
    waiting: wp.int32 = field("1", "1 where a world is to be looked at", axis="worlds")
    colliding: wp.int32 = field("1", "1 where something collides in a world", axis="worlds")
    rounds: wp.int32 = field("1", "rounds done", axis="worlds")
    spent: wp.int32 = field("1", "sweeps and corrections of joints done in all rounds of the moment", axis="worlds")
    left: real = field(
        "m/s", "largest velocity still changed when the budget ended, since the last report", axis="worlds"
    )
    stirred: wp.int32 = field("1", "last list that a body was on", axis="bodies")
    lists: wp.int32 = field("1", "lists made so far", axis="flags")
    former: wp.int32 = field("1", "lists made before the moment", axis="flags")
    any_colliding: wp.int32 = field("1", "1 where something collides in any world", axis="flags")


@wp.struct
class Courses:
    """Velocities at the moment: those now, and those before it without the loads of resting contacts and with them."""

    now: Motion
    unloaded: Motion
    loaded: Motion


@kernel
def begin_collisions(collisions: Collisions, which: wp.array[wp.int32]) -> None:
    """No world has been looked at; those that are wanted are to be."""
    w = wp.tid()
    collisions.waiting[w] = which[w]
    collisions.colliding[w] = 0
    collisions.rounds[w] = 0
    collisions.spent[w] = 0
    collisions.any_colliding[0] = 0
    collisions.former[0] = collisions.lists[0]


@wp.func
def velocity_of(pressing: Pressing, c: int, u: vec3, w: vec3) -> vec3:
    """Velocity of A against B at a point of a patch that has the twist (u, ω), in the axes of the patch."""
    place = pressing.points.place[c]
    return u + vec3(w[1] * place[1] - w[2] * place[0], -w[0] * place[1], w[0] * place[0])


@wp.func
def added_by_loads(pressing: Pressing, courses: Courses, k: int, c: int) -> real:
    """What the loads of resting contacts add to the velocity of a point along the normal."""
    u, w = twist_of(pressing.patches, courses.unloaded, k)
    v, r = twist_of(pressing.patches, courses.loaded, k)
    return velocity_of(pressing, c, v, r)[0] - velocity_of(pressing, c, u, w)[0]


@wp.func
def what_point_does(ground: Footing, pressing: Pressing, courses: Courses, k: int, i: int, u_n: real, h: real) -> int:
    """Whether a point of a patch collides, touches, or neither."""
    limits = ground.limits
    gap = ground.contacts.separation[pressing.patches.contact[k] + i]
    if gap >= limits.depth + real(1.25) * h * wp.max(-u_n, ZERO):
        return 0
    fastest = -wp.max(limits.rebound, limits.speed)
    if u_n >= fastest or pressing.patches.restitution[k] == ZERO:
        return TOUCHES
    loaded = added_by_loads(pressing, courses, k, pressing.patches.first[k] + i)
    return wp.where(u_n + wp.max(loaded, ZERO) < fastest, COLLIDES, TOUCHES)


@wp.func
def is_fast(ground: Footing, pressing: Pressing, k: int, u: vec3, w: vec3) -> bool:
    """Whether a point of a patch with a twist approaches so fast that it may collide."""
    first = pressing.patches.first[k]
    fastest = ZERO
    for c in range(first, first + pressing.patches.count[k]):
        fastest = wp.min(fastest, velocity_of(pressing, c, u, w)[0])
    return fastest < -wp.max(ground.limits.rebound, ground.limits.speed)


@wp.func
def look_at(
    ground: Footing, pressing: Pressing, courses: Courses, clock: Clock, collisions: Collisions, k: int, scope: int
) -> None:
    """What a patch does; those without restitution matter only where all that touch take part."""
    collisions.state[k] = 0
    world = pressing.patches.world[k]
    alone = scope != TOGETHER
    if collisions.waiting[world] == 0 or (alone and pressing.patches.restitution[k] == ZERO):
        return
    u, w = twist_of(pressing.patches, courses.now, k)
    if alone and not is_fast(ground, pressing, k, u, w):
        return
    h = real(clock.time_step[world])
    most = int(0)
    for i in range(pressing.patches.count[k]):
        c = pressing.patches.first[k] + i
        velocity = velocity_of(pressing, c, u, w)
        does = what_point_does(ground, pressing, courses, k, i, velocity[0], h)
        collisions.point[c] = does
        collisions.velocity[c] = velocity
        most = wp.max(most, does)
    collisions.state[k] = most
    if most == COLLIDES:
        collisions.colliding[world] = 1
        collisions.any_colliding[0] = 1


@wp.func
def is_stirred(pressing: Pressing, collisions: Collisions, k: int) -> bool:
    """Whether a body of a patch was on the last list."""
    last = collisions.lists[0]
    a = collisions.stirred[pressing.patches.body_a[k]]
    return a == last or collisions.stirred[pressing.patches.body_b[k]] == last


@kernel
def find_collisions(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    courses: Courses,
    clock: Clock,
    collisions: Collisions,
    scope: int,
    lanes: int,
) -> None:
    """What every patch does.

    Near the last list only patches are looked at of which a body was on it: all others do what they did.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        if scope != NEARBY or is_stirred(pressing, collisions, k):
            look_at(ground, pressing, courses, clock, collisions, k, scope)


@kernel
def find_near_collisions(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    courses: Courses,
    clock: Clock,
    collisions: Collisions,
    active: Active,
) -> None:
    """What the patches near the last list do, which the contact graph knows, on one thread."""
    last = collisions.lists[0]
    for i in range(2 * active.count[0]):
        k = active.listed[i >> 1]
        body = wp.where((i & 1) == 0, pressing.patches.body_a[k], pressing.patches.body_b[k])
        if collisions.stirred[body] == last:
            end = graph.head[body]
            while end >= 0:
                near = graph.solved[end >> 1]
                if collisions.looked[near] != last:
                    collisions.looked[near] = last
                    look_at(ground, pressing, courses, clock, collisions, near, NEARBY)
                end = graph.follower[end]


@wp.func
def stir(bodies: Bodies, collisions: Collisions, i: int) -> None:
    """A body is on the list; static ones do not change."""
    if bodies.inverse_mass[i] > ZERO:
        collisions.stirred[i] = collisions.lists[0]


@kernel
def list_patches(
    bodies: Bodies, graph: Graph, pressing: Pressing, collisions: Collisions, active: Active, together: int
) -> None:
    """List the patches of the round: those that collide, or all that touch in worlds where something does."""
    count = int(0)
    collisions.lists[0] = collisions.lists[0] + 1
    for k in range(graph.total[0]):
        does = collisions.state[k]
        if does == TOUCHES:
            does = together * collisions.colliding[pressing.patches.world[k]]
        # Branchless: the branch is unpredictable.
        active.listed[count] = k
        active.marked[k] = wp.where(does > 0, 1, 0)
        count += active.marked[k]
    active.count[0] = count
    for i in range(count):
        k = active.listed[i]
        stir(bodies, collisions, pressing.patches.body_a[k])
        stir(bodies, collisions, pressing.patches.body_b[k])
