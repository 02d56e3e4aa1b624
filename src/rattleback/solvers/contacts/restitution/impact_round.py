"""Rounds of collisions: what the patches of a round want, the sweeps that give it to them, and the loads afterwards.

    a round     list → aims → sweeps until no velocity changes by more than the tolerance → next look
    before      the loads of resting contacts are taken off all bodies
    after       they are put on again: on one thread only at bodies that were struck, others get back what they had

Cost: of a sweep as many patches as are listed. On one thread without joints all sweeps of a round are one launch.

Reference: Bender, dissertation, §5.2.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.kernels.block import push_patch
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import Pressing, local, twist_of
from rattleback.solvers.contacts.problem.status import Rounds
from rattleback.solvers.contacts.restitution.search import COLLIDES, TOUCHES, ZERO, Collisions, Courses
from rattleback.solvers.contacts.schemes.inputs import Footing
from rattleback.solvers.contacts.schemes.targets import belt, end_patch

# What is added to the velocity of points that take no part, so that they never push [m/s].
AWAY = wp.constant(real(1e30))


@kernel
def take_loads_off(bodies: Bodies, courses: Courses, lanes: int) -> None:
    """Bodies go on without the loads of resting contacts, which are put aside."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        courses.loaded.velocity[i] = courses.now.velocity[i]
        courses.loaded.angular_velocity[i] = courses.now.angular_velocity[i]
        courses.now.velocity[i] = courses.unloaded.velocity[i]
        courses.now.angular_velocity[i] = courses.unloaded.angular_velocity[i]


@kernel
def empty(graph: Graph, pressing: Pressing, lanes: int) -> None:
    """No patch pushes or wants anything, as where those that take no part are looked at, too."""
    for k in range(wp.tid(), graph.total[0], lanes):
        pressing.patches.couple[k] = vec3()
        pressing.patches.drive[k] = vec3()
        pressing.patches.spin[k] = vec3()
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            pressing.points.impulse[c] = vec3()


@kernel
def aim(
    ground: Footing,
    pressing: Pressing,
    motion: Motion,
    collisions: Collisions,
    active: Active,
    newton: int,
    together: int,
    lanes: int,
) -> None:
    """What the points of the round want: −e u_n by Newton's law, else to be stopped; those that touch not to meet."""
    for i in range(wp.tid(), active.count[0], lanes):
        k = active.listed[i]
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


@kernel
def spend_answers(rounds: Rounds, collisions: Collisions, answers: wp.array[wp.int32], budget: int) -> None:
    """Joints have been corrected: count that, and end where the budget is used up."""
    w = wp.tid()
    if rounds.exchanging[w] == 0:
        return
    collisions.spent[w] = collisions.spent[w] + answers[w]
    if collisions.spent[w] >= budget:
        worst = wp.max(rounds.beginning[w], wp.max(rounds.along[w], rounds.across[w]))
        collisions.left[w] = wp.max(collisions.left[w], worst)
        rounds.exchanging[w] = 0


@kernel
def spend_sweeps(rounds: Rounds, collisions: Collisions, which: wp.array[wp.int32]) -> None:
    """Count the sweeps of some worlds."""
    w = wp.tid()
    if which[w] == 1:
        collisions.spent[w] = collisions.spent[w] + rounds.sweeps[w]


@kernel
def next_round(collisions: Collisions, rounds: Rounds, most: int, budget: int) -> None:
    """A round is done: worlds that had collisions are looked at again, if there may be so many rounds."""
    w = wp.tid()
    collisions.rounds[w] = collisions.rounds[w] + 1
    again = collisions.colliding[w] == 1 and collisions.rounds[w] < most and collisions.spent[w] < budget
    if collisions.colliding[w] == 1 and not again:
        collisions.left[w] = wp.max(collisions.left[w], rounds.beginning[w])
    collisions.waiting[w] = wp.where(again, 1, 0)
    collisions.colliding[w] = 0
    collisions.any_colliding[0] = 0


@wp.func
def is_struck(pressing: Pressing, collisions: Collisions, k: int) -> bool:
    """Whether a body of a patch was on a list of the moment."""
    former = collisions.former[0]
    a = collisions.stirred[pressing.patches.body_a[k]]
    return a > former or collisions.stirred[pressing.patches.body_b[k]] > former


@kernel
def put_loads_on(
    bodies: Bodies,
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    courses: Courses,
    clock: Clock,
    taken: wp.array[wp.float64],
    collisions: Collisions,
) -> None:
    """Bodies that were struck get the loads of their resting contacts, others what they had with theirs; one thread."""
    for k in range(graph.total[0]):
        if is_struck(pressing, collisions, k):
            end_patch(ground, pressing, courses.now, clock, taken, k)
    for k in range(graph.total[0]):
        if is_struck(pressing, collisions, k):
            push_patch(bodies, pressing, courses.now, k)
    for i in range(bodies.world.shape[0]):
        if collisions.stirred[i] <= collisions.former[0]:
            courses.now.velocity[i] = courses.loaded.velocity[i]
            courses.now.angular_velocity[i] = courses.loaded.angular_velocity[i]
