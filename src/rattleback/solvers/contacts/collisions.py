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
one after the other. ``simultaneous`` resolves everything that touches once, as if bodies were equally stiff.

Cost: one look at every patch with restitution where nothing collides; in later rounds only at those near collisions.

Reference: Bender, dissertation, §5.1.1 and §5.1.2; the tolerance is Mirtich's.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.contact_graph import Graph
from rattleback.solvers.contacts.patch import Pressing, local, twist_of
from rattleback.solvers.contacts.resting import ContactLimits, Footing, belt
from rattleback.solvers.contacts.rounds import Rounds
from rattleback.solvers.contacts.sweep import solve_patch

ZERO = wp.constant(real(0.0))
# What a patch does at a moment: nothing, touch, or collide.
TOUCHES = wp.constant(1)
COLLIDES = wp.constant(2)
# Which patches are looked at: those near the last list, all, or all of which those that touch take part too.
NEARBY, EVERYWHERE, TOGETHER = wp.constant(0), wp.constant(1), wp.constant(2)
# What is added to the velocity of points that take no part, so that they never push [m/s].
AWAY = wp.constant(real(1e30))


@group(axis="contacts")
class Collisions:
    """The collisions of a moment. A round resolves those of one look at the contacts."""

    state: wp.int32 = field("1", "2 where a patch collides, 1 where it touches, else 0")
    listed: wp.int32 = field("1", "patches that take part in the round, in order")
    point: wp.int32 = field("1", "what a point does, as the state of a patch")
    velocity: vec3 = field("m/s", "velocity of a point before it is struck, axes of its patch")
    loaded: real = field("m/s", "what loads of resting contacts add to the velocity of a point along the normal")
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
    count: wp.int32 = field("1", "number of patches listed", axis="flags")
    any_colliding: wp.int32 = field("1", "1 where something collides in any world", axis="flags")


@wp.kernel(enable_backward=False)
def begin_collisions(collisions: Collisions) -> None:
    """No world has been looked at."""
    w = wp.tid()
    collisions.waiting[w] = 1
    collisions.colliding[w] = 0
    collisions.rounds[w] = 0
    collisions.spent[w] = 0
    collisions.any_colliding[0] = 0


@wp.kernel(enable_backward=False)
def spend(
    rounds: Rounds, collisions: Collisions, answers: wp.array[wp.int32], tolerance: real, most: int, budget: int
) -> None:
    """A sweep is done, and the answers of joints to it: count them; note what is left where it is the last there is."""
    w = wp.tid()
    if rounds.busy[w] == 0:
        return
    collisions.spent[w] = collisions.spent[w] + 1 + answers[w]
    worst = wp.max(rounds.along[w], rounds.across[w])
    if collisions.spent[w] >= budget:
        rounds.busy[w] = 0
        collisions.left[w] = wp.max(collisions.left[w], wp.max(rounds.beginning[w], worst))
    elif worst > tolerance and rounds.sweeps[w] + 1 >= most:
        collisions.left[w] = wp.max(collisions.left[w], worst)


@wp.kernel(enable_backward=False)
def next_round(collisions: Collisions, rounds: Rounds, most: int, budget: int) -> None:
    """A round is done: worlds that had collisions are looked at again, if there may be so many rounds."""
    w = wp.tid()
    collisions.rounds[w] = collisions.rounds[w] + 1
    again = collisions.colliding[w] == 1 and collisions.rounds[w] < most and collisions.spent[w] < budget
    if collisions.colliding[w] == 1 and collisions.rounds[w] == most and most > 1:
        collisions.left[w] = wp.max(collisions.left[w], rounds.beginning[w])
    collisions.waiting[w] = wp.where(again, 1, 0)
    collisions.colliding[w] = 0
    collisions.any_colliding[0] = 0


@wp.func
def what_point_does(limits: ContactLimits, gap: real, u_n: real, loaded: real, h: real) -> int:
    """Whether a point collides, touches, or neither."""
    if gap >= limits.depth + real(1.25) * h * wp.max(-u_n, ZERO):
        return 0
    if u_n + wp.max(loaded, ZERO) < -wp.max(limits.rebound, limits.speed):
        return COLLIDES
    return TOUCHES


@wp.func
def velocity_of(pressing: Pressing, c: int, u: vec3, w: vec3) -> vec3:
    """Velocity of A against B at a point of a patch that has the twist (u, ω), in the axes of the patch."""
    place = pressing.points.place[c]
    return u + vec3(w[1] * place[1] - w[2] * place[0], -w[0] * place[1], w[0] * place[0])


@wp.kernel(enable_backward=False)
def note_loads(
    graph: Graph, pressing: Pressing, motion: Motion, loaded: Motion, collisions: Collisions, lanes: int
) -> None:
    """What the loads of resting contacts add to the velocities of points along the normal."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if pressing.patches.restitution[k] == ZERO:
            continue
        u, w = twist_of(pressing.patches, motion, k)
        v, r = twist_of(pressing.patches, loaded, k)
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            collisions.loaded[c] = velocity_of(pressing, c, v, r)[0] - velocity_of(pressing, c, u, w)[0]


@wp.func
def is_stirred(pressing: Pressing, collisions: Collisions, k: int) -> bool:
    """Whether a body of a patch was on the last list."""
    last = collisions.lists[0]
    a = collisions.stirred[pressing.patches.body_a[k]]
    return a == last or collisions.stirred[pressing.patches.body_b[k]] == last


@wp.kernel(enable_backward=False)
def find_collisions(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    motion: Motion,
    clock: Clock,
    collisions: Collisions,
    scope: int,
    lanes: int,
) -> None:
    """What every patch does; those without restitution matter only where all that touch take part.

    Near the last list only patches are looked at of which a body was on it: all others do what they did.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        if scope == NEARBY and not is_stirred(pressing, collisions, k):
            continue
        collisions.state[k] = 0
        e = pressing.patches.restitution[k]
        world = pressing.patches.world[k]
        if collisions.waiting[world] == 0 or (e == ZERO and scope != TOGETHER):
            continue
        h = real(clock.time_step[world])
        u, w = twist_of(pressing.patches, motion, k)
        most = int(0)
        for i in range(pressing.patches.count[k]):
            c = pressing.patches.first[k] + i
            velocity = velocity_of(pressing, c, u, w)
            gap = ground.contacts.separation[pressing.patches.contact[k] + i]
            does = what_point_does(ground.limits, gap, velocity[0], collisions.loaded[c], h)
            if e == ZERO:
                does = wp.min(does, TOUCHES)
            collisions.point[c] = does
            collisions.velocity[c] = velocity
            most = wp.max(most, does)
        collisions.state[k] = most
        if most == COLLIDES:
            collisions.colliding[world] = 1
            collisions.any_colliding[0] = 1


@wp.func
def stir(bodies: Bodies, collisions: Collisions, i: int) -> None:
    """A body is on the list; static ones do not change."""
    if bodies.inverse_mass[i] > ZERO:
        collisions.stirred[i] = collisions.lists[0]


@wp.kernel(enable_backward=False)
def list_patches(bodies: Bodies, graph: Graph, pressing: Pressing, collisions: Collisions, together: int) -> None:
    """List the patches of the round: those that collide, or all that touch in worlds where something does."""
    count = int(0)
    collisions.lists[0] = collisions.lists[0] + 1
    for k in range(graph.total[0]):
        does = collisions.state[k]
        joined = together == 1 and does == TOUCHES and collisions.colliding[pressing.patches.world[k]] == 1
        if does == COLLIDES or joined:
            collisions.listed[count] = k
            count += 1
            stir(bodies, collisions, pressing.patches.body_a[k])
            stir(bodies, collisions, pressing.patches.body_b[k])
    collisions.count[0] = count


@wp.kernel(enable_backward=False)
def aim(
    ground: Footing, pressing: Pressing, motion: Motion, collisions: Collisions, newton: int, together: int, lanes: int
) -> None:
    """What the points of the round want: −e u_n by Newton's law, else to be stopped; those that touch not to meet."""
    for i in range(wp.tid(), collisions.count[0], lanes):
        k = collisions.listed[i]
        e = wp.where(newton == 1, pressing.patches.restitution[k], ZERO)
        first = pressing.patches.first[k]
        alike = bool(True)
        for c in range(first, first + pressing.patches.count[k]):
            does = collisions.point[c]
            wanted = wp.where(does == TOUCHES and together == 1, ZERO, AWAY)
            if does == COLLIDES:
                wanted = e * collisions.velocity[c][0]
            alike = alike and does == collisions.state[k]
            place = pressing.points.place[c]
            pressing.points.place[c] = vec3(place[0], place[1], wanted)
            pressing.points.impulse[c] = vec3()
            collisions.pressed[c] = ZERO
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        slide = local(n, t, belt(ground.surfaces, motion, pressing.patches.body_a[k], pressing.patches.body_b[k], n))
        u, w = twist_of(pressing.patches, motion, k)
        slow = wp.length(vec3(ZERO, u[1] + slide[1], u[2] + slide[2])) < ground.limits.slow
        pressing.patches.grip[k] = wp.where(
            slow, pressing.patches.static_friction[k], pressing.patches.dynamic_friction[k]
        )
        pressing.patches.couple[k] = vec3()
        pressing.patches.drive[k] = slide
        pressing.patches.spin[k] = vec3()
        pressing.patches.whole[k] = 0
        if alike and pressing.patches.flat[k] == 1:
            # All points want the same part of the patch's own twist: it can be taken whole.
            part = wp.where(collisions.state[k] == COLLIDES, e, ZERO)
            pressing.patches.whole[k] = 1
            pressing.patches.drive[k] = slide + vec3(part * u[0], ZERO, ZERO)
            pressing.patches.spin[k] = vec3(ZERO, part * w[1], part * w[2])
            for c in range(first, first + pressing.patches.count[k]):
                place = pressing.points.place[c]
                pressing.points.place[c] = vec3(place[0], place[1], ZERO)


@wp.kernel(enable_backward=False)
def sweep_listed(bodies: Bodies, pressing: Pressing, motion: Motion, collisions: Collisions, rounds: Rounds) -> None:
    """One sweep over the patches of the round in busy worlds, on one thread."""
    for i in range(collisions.count[0]):
        k = collisions.listed[i]
        w = pressing.patches.world[k]
        if rounds.busy[w] == 1:
            along, across = solve_patch(bodies, pressing, motion, k)
            rounds.along[w] = wp.max(rounds.along[w], along)
            rounds.across[w] = wp.max(rounds.across[w], across)
