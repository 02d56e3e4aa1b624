"""Strikes that lie ahead: what comes upon something it has not touched yet may be thrown by it, or throw it.

    β_a = 2 m_b / (m_a + m_b) h (|u| + |ω_a − ω_b| ρ')    where a and b were not in contact and boxes meet

h step, m mass of a body, ω its angular velocity, u the velocity of one against the other at the origin of the smaller
of two colliders, ρ' how far that reaches. A contact that lies ahead is
resolved when it is found, so what is struck then goes another way than its box was stretched along. What flies behind
it was far enough away as long as both went on alike, and would be run into. Contacts of the last time say nothing of
such strikes (see ``boxes_ahead``); the pairs do. Where there are any, the boxes of what may be struck are made wider,
and pairs are listed once more. What that strikes in turn is not foreseen.

Cost: a look at every pair, and in steps with such strikes a second list of pairs.
"""

from typing import Any

import warp as wp

from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.solid import PLANE
from rattleback.collision.speculative.boxes import HELD, Outlook, against, is_known, share
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contact_memory import known_from


@kernel
def begin_strikes(outlook: Outlook, lanes: int) -> None:
    """Nothing that lies ahead is known."""
    if wp.tid() == 0:
        outlook.prospects.unforeseen[0] = 0
    for i in range(wp.tid(), outlook.colliders.body.shape[0], lanes):
        outlook.prospects.strike[i] = real(0.0)


@wp.func
def touched(outlook: Outlook, a: int, b: int) -> bool:
    """Whether two colliders were in contact the last time."""
    return known_from(outlook.memory, a, b) < known_from(outlook.memory, a, b + 1)


@wp.func
def lowest(outlook: Outlook, i: int) -> vec3:
    """Lower corner of the box that a collider stays in over the step."""
    wide = wp.max(outlook.prospects.turn[i], real(0.0))
    lower = outlook.prospects.lower[i]
    return wp.min(lower, lower + outlook.prospects.way[i]) - vec3(wide, wide, wide)


@wp.func
def highest(outlook: Outlook, i: int) -> vec3:
    """Upper corner of that box."""
    wide = wp.max(outlook.prospects.turn[i], real(0.0))
    upper = outlook.prospects.upper[i]
    return wp.max(upper, upper + outlook.prospects.way[i]) + vec3(wide, wide, wide)


@wp.func
def meet(outlook: Outlook, a: int, b: int) -> bool:
    """Whether two colliders may come upon each other: their boxes overlap, and one gets as far as a half-space."""
    below = highest(outlook, a) - lowest(outlook, b)
    above = highest(outlook, b) - lowest(outlook, a)
    if wp.min(wp.min(below), wp.min(above)) < real(0.0):
        return False
    plane = wp.where(outlook.colliders.kind[a] == PLANE, a, b)
    if outlook.colliders.kind[plane] != PLANE:
        return True
    i = a + b - plane
    R = outlook.places.rotation[plane]
    n = vec3(R[0, 2], R[1, 2], R[2, 2])
    size = real(0.5) * wp.length(outlook.prospects.upper[i] - outlook.prospects.lower[i])
    height = wp.dot(n, outlook.places.position[i] - outlook.places.position[plane])
    return height <= size + outlook.gap + outlook.places.stride[i] + outlook.places.stride[plane]


@kernel
def find_strikes(outlook: Outlook, pairs: Pairs, lanes: int) -> None:
    """How far colliders may be thrown by others that they have not touched."""
    for k in range(wp.tid(), wp.min(pairs.needed[0], pairs.a.shape[0]), lanes):
        a = pairs.a[k]
        b = pairs.b[k]
        if is_known(outlook, a):
            continue
        blow_a = outlook.prospects.blow[a]
        blow_b = outlook.prospects.blow[b]
        h = outlook.steps * real(outlook.clock.time_step[outlook.colliders.world[a]])
        far = h * against(outlook, a, b)
        far_a = share(outlook, a, b) * far
        far_b = share(outlook, b, a) * far
        more = wp.max(far_a - blow_a, far_b - blow_b)
        if more > HELD * outlook.gap and meet(outlook, a, b) and not touched(outlook, a, b):
            wp.atomic_max(outlook.prospects.strike, a, far_a)
            wp.atomic_max(outlook.prospects.strike, b, far_b)
            outlook.prospects.unforeseen[0] = 1


@kernel
def widen_struck(outlook: Outlook, lanes: int) -> None:
    """Make the boxes wider of colliders that may be struck, by what their blows do not cover."""
    for i in range(wp.tid(), outlook.colliders.body.shape[0], lanes):
        more = outlook.prospects.strike[i] - outlook.prospects.blow[i]
        if more > real(0.0):
            outlook.prospects.turn[i] = outlook.prospects.turn[i] + more
            outlook.places.stride[i] = outlook.places.stride[i] + more
            wide = vec3(more, more, more)
            outlook.places.lower[i] = outlook.places.lower[i] - wide
            outlook.places.upper[i] = outlook.places.upper[i] + wide


def record_strikes(program: Any, outlook: Outlook, pairs: Pairs) -> None:
    """Record what finds the strikes that lie ahead, from the pairs; then ``unforeseen`` says if there are any."""
    program.share(begin_strikes, len(outlook.prospects.strike), outlook)
    program.share(find_strikes, len(pairs.a), outlook, pairs)
