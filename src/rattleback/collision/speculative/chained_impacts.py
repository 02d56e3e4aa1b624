"""Chained impacts: how far solids that hit each other in the coming step can move, and then others that they meet.

    α_v = 2 ρ' h |n × ω_ab| − n · u h,   u = v_a + ω_a × r_a − v_b − ω_b × r_b      how much nearer they come
    γ_a = the largest  σ_a (ρ' h |n × ω_ab| − n · u h − s')           of the solids b that a meets
          and of       0.9 (1 + e) m_b / (m_a + m_b) (γ_b − s')       where b itself is hit

h step, m, v, ω mass and velocities of a body, e restitution of a pair, σ share of an impact (``boxes``), ρ' the smaller
reach of two colliders from their origins, s gap and n normal of two solids, r their nearest points from the centres of
mass, d contact distance. They meet where s is less than d + α_v, or less than d + α_v + γ_a + γ_b. An impulse transfers
only after the gap has closed; s' is what is left of it when points collide, 5/4 of a step before they touch. ω_ab is
ω_a − ω_b or the difference of the parts that move the surfaces, whichever is less across n: rotation of a sphere or a
wheel does not count. That bounds the travel by one impact after another; several impacts at once may exceed it. Sliding
bodies do not count here, only in the impacts by which boxes are widened before any normal is known (``boxes``).

In order on a CPU impacts pass from solid to solid up the list, so a column that lands is covered to its top if it was
built from the ground. In parallel on CUDA they pass on once.

Limits: only pairs of the broad phase are tested. In a row of bodies at rest, some way apart, the second one that is hit
in turn may penetrate the third for a step.

Cost: two tests of every item within its search margin.
"""

from typing import Any

import warp as wp

from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.speculative.boxes import (
    SpeculativeInput,
    is_settled,
    mass_share,
    point_share,
    surface_spin,
)
from rattleback.core.kernel import kernel
from rattleback.core.precision import real

# Steps before they touch in which points collide.
EARLY = wp.constant(real(1.25))
# Part of an impact that is passed on; the rest rotates bodies, or goes to others that they meet.
PASSED_ON = wp.constant(real(0.9))


@wp.func
def is_near(items: Items, found: Found, inputs: SpeculativeInput, m: int) -> bool:
    """Whether two solids are within their search margin."""
    return (
        items.speculative_margin[m] > real(0.0) and found.separation[m] <= inputs.max_gap + items.speculative_margin[m]
    )


@wp.func
def approach_of(inputs: SpeculativeInput, found: Found, m: int, a: int, b: int) -> tuple[real, real]:
    """How much nearer two solids come by rotation, at either end, and by how their nearest points move."""
    n = found.normal[m]
    body_a = inputs.colliders.body[a]
    body_b = inputs.colliders.body[b]
    origin = inputs.places.position[a]
    spin_a = inputs.motion.angular_velocity[body_a]
    spin_b = inputs.motion.angular_velocity[body_b]
    u = inputs.motion.velocity[body_a] - inputs.motion.velocity[body_b]
    u += wp.cross(spin_a, origin + found.point_a[m] - inputs.motion.position[body_a])
    u -= wp.cross(spin_b, origin + found.point_b[m] - inputs.motion.position[body_b])
    h = inputs.steps * real(inputs.clock.time_step[inputs.colliders.world[a]])
    sweep = surface_spin(inputs.colliders, inputs.places, a, spin_a)
    sweep -= surface_spin(inputs.colliders, inputs.places, b, spin_b)
    size = inputs.colliders.reach[a]
    other = inputs.colliders.reach[b]
    if size < real(0.0) or (other >= real(0.0) and other < size):
        size = other
    turn = wp.min(wp.length(wp.cross(n, spin_a - spin_b)), wp.length(wp.cross(n, sweep)))
    return h * size * turn, -h * wp.dot(n, u)


@wp.func
def gap_left(inputs: SpeculativeInput, s: real, nearer: real) -> real:
    """What is left of the gap of two solids when they collide, which come so much nearer in all steps."""
    return wp.max(s - (EARLY / inputs.steps) * wp.max(nearer, real(0.0)), real(0.0))


@kernel
def find_impacts_ahead(items: Items, found: Found, inputs: SpeculativeInput, lanes: int) -> None:
    """How much nearer solids come by their velocities, and how far those that meet move each other."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        items.approach[m] = real(0.0)
        a = items.a[m]
        if is_settled(inputs, a) or not is_near(items, found, inputs, m):
            continue
        b = items.b[m]
        turn, closer = approach_of(inputs, found, m, a, b)
        items.approach[m] = real(2.0) * turn + closer
        ahead_travel = turn + closer - gap_left(inputs, found.separation[m], closer)
        if found.separation[m] < inputs.max_gap + items.approach[m] and ahead_travel > real(0.0):
            wp.atomic_max(inputs.margins.ahead_travel, a, point_share(inputs, a, b) * ahead_travel)
            wp.atomic_max(inputs.margins.ahead_travel, b, point_share(inputs, b, a) * ahead_travel)


@kernel
def chain_impacts(items: Items, found: Found, inputs: SpeculativeInput, into: wp.array[real], lanes: int) -> None:
    """Pass impacts on to the next solids; where ``into`` is the array read, they chain in the order of items."""
    for m in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if not is_near(items, found, inputs, m):
            continue
        a = items.a[m]
        b = items.b[m]
        impact_a = inputs.margins.ahead_travel[a]
        impact_b = inputs.margins.ahead_travel[b]
        meeting = items.approach[m] + impact_a + impact_b
        if impact_a + impact_b > real(0.0) and found.separation[m] < inputs.max_gap + meeting:
            apart = gap_left(inputs, found.separation[m], meeting)
            wp.atomic_max(into, a, PASSED_ON * mass_share(inputs, a, b) * (impact_b - apart))
            wp.atomic_max(into, b, PASSED_ON * mass_share(inputs, b, a) * (impact_a - apart))


@wp.func
def impact_travel_of(inputs: SpeculativeInput, i: int) -> real:
    """How much farther a collider may move than its velocity says."""
    return wp.max(inputs.margins.ahead_travel[i], inputs.margins.chained_travel[i])


def record_chained_impacts(program: Any, inputs: SpeculativeInput, items: Items, found: Found) -> None:
    """Record what bounds chained impacts, from the results of a narrow phase."""
    margins = inputs.margins
    program.share(find_impacts_ahead, len(items.a), items, found, inputs)
    into = margins.ahead_travel if program.device.is_cpu else margins.chained_travel
    program.share(chain_impacts, len(items.a), items, found, inputs, into)
