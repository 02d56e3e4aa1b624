"""Jolts that lie ahead: what strikes each other in the coming step throws each other, and that what it meets.

    α_v = 2 ρ' h |n × ω_ab| − n · u h,   u = v_a + ω_a × r_a − v_b − ω_b × r_b      how much nearer they come
    γ_a = the largest  2 m_b / (m_a + m_b) (ρ' h |n × ω_ab| − n · u h − s')    of the solids b that a meets
          and of       0.9 · 2 m_b / (m_a + m_b) (γ_b − s')                           where b is thrown itself

h step, m, v, ω mass and velocities of a body, ρ' the smaller reach of two colliders from their origins, s separation
and n normal of two solids, r their nearest points from the centres of mass, d contact distance. They meet where s is
less than d + α_v, or less than d + α_v + γ_a + γ_b. Nobody is thrown before s is used up; s' is what is left of it when
points collide, 5/4 of a step before they touch. ω_ab is ω_a − ω_b or the difference of what of them moves the surfaces,
whichever is less across n: the turning of a ball or a wheel does not count. That bounds how far one blow after the
other throws bodies, whatever the restitution; what several throw at once may go farther. What slides past has no part
in it, but in the blows by which boxes are widened before any normal is known (see ``boxes_ahead``).

In order on a CPU jolts go on from solid to solid, up the list, so that a column that lands is foreseen to its top if it
was built from the ground. In parallel on CUDA they go on once.

Limits: only what boxes have listed is looked at. A row of bodies at rest, some way apart, is not: the second one that
is struck in turn may overlap the third for a step.

Cost: two looks at every item that is near.
"""

from typing import Any

import warp as wp

from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.speculative.boxes import Outlook, is_known, share, sweeping
from rattleback.core.kernel import kernel
from rattleback.core.precision import real

# Steps before they touch in which points collide.
EARLY = wp.constant(real(1.25))
# Part of a jolt that is passed on; the rest turns bodies, or goes to others that they meet.
PASSED_ON = wp.constant(real(0.9))


@wp.func
def is_near(items: Items, found: Found, outlook: Outlook, m: int) -> bool:
    """Whether two solids may touch in the step, by all that can happen to them."""
    return items.ahead[m] > real(0.0) and found.separation[m] <= outlook.gap + items.ahead[m]


@wp.func
def come_nearer(outlook: Outlook, found: Found, m: int, a: int, b: int) -> tuple[real, real]:
    """How much nearer two solids come by turning, at either end, and by how their nearest points move."""
    n = found.normal[m]
    body_a = outlook.colliders.body[a]
    body_b = outlook.colliders.body[b]
    origin = outlook.places.position[a]
    spin_a = outlook.motion.angular_velocity[body_a]
    spin_b = outlook.motion.angular_velocity[body_b]
    u = outlook.motion.velocity[body_a] - outlook.motion.velocity[body_b]
    u += wp.cross(spin_a, origin + found.point_a[m] - outlook.motion.position[body_a])
    u -= wp.cross(spin_b, origin + found.point_b[m] - outlook.motion.position[body_b])
    h = outlook.steps * real(outlook.clock.time_step[outlook.colliders.world[a]])
    sweep = sweeping(outlook.colliders, outlook.places, a, spin_a)
    sweep -= sweeping(outlook.colliders, outlook.places, b, spin_b)
    size = outlook.colliders.reach[a]
    other = outlook.colliders.reach[b]
    if size < real(0.0) or (other >= real(0.0) and other < size):
        size = other
    turn = wp.min(wp.length(wp.cross(n, spin_a - spin_b)), wp.length(wp.cross(n, sweep)))
    return h * size * turn, -h * wp.dot(n, u)


@wp.func
def left(outlook: Outlook, s: real, nearer: real) -> real:
    """What is left of the separation of two solids when they collide, that come so much nearer in all steps."""
    return wp.max(s - (EARLY / outlook.steps) * wp.max(nearer, real(0.0)), real(0.0))


@kernel
def find_jolts(items: Items, found: Found, outlook: Outlook, lanes: int) -> None:
    """How much nearer solids come by their velocities, and how far those that meet throw each other."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        items.nearer[m] = real(0.0)
        a = items.a[m]
        if is_known(outlook, a) or not is_near(items, found, outlook, m):
            continue
        b = items.b[m]
        turn, closer = come_nearer(outlook, found, m, a, b)
        items.nearer[m] = real(2.0) * turn + closer
        jolt = turn + closer - left(outlook, found.separation[m], closer)
        if found.separation[m] < outlook.gap + items.nearer[m] and jolt > real(0.0):
            wp.atomic_max(outlook.prospects.jolt, a, share(outlook, a, b) * jolt)
            wp.atomic_max(outlook.prospects.jolt, b, share(outlook, b, a) * jolt)


@kernel
def pass_jolts_on(items: Items, found: Found, outlook: Outlook, into: wp.array[real], lanes: int) -> None:
    """What is thrown throws what it meets then; into the same array they go on, in the order of the items."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if not is_near(items, found, outlook, m):
            continue
        a = items.a[m]
        b = items.b[m]
        jolt_a = outlook.prospects.jolt[a]
        jolt_b = outlook.prospects.jolt[b]
        meeting = items.nearer[m] + jolt_a + jolt_b
        if jolt_a + jolt_b > real(0.0) and found.separation[m] < outlook.gap + meeting:
            apart = left(outlook, found.separation[m], meeting)
            wp.atomic_max(into, a, PASSED_ON * share(outlook, a, b) * (jolt_b - apart))
            wp.atomic_max(into, b, PASSED_ON * share(outlook, b, a) * (jolt_a - apart))


@wp.func
def jolt_of(outlook: Outlook, i: int) -> real:
    """How much farther a collider may go than its velocity says."""
    return wp.max(outlook.prospects.jolt[i], outlook.prospects.jolted[i])


def record_jolts(program: Any, outlook: Outlook, items: Items, found: Found) -> None:
    """Record what finds the jolts that lie ahead, from the answers of a narrow phase."""
    prospects = outlook.prospects
    program.share(find_jolts, len(items.a), items, found, outlook)
    into = prospects.jolt if program.device.is_cpu else prospects.jolted
    program.share(pass_jolts_on, len(items.a), items, found, outlook, into)
