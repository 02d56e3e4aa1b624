"""Boxes of colliders that look ahead: stretched along their ways, wider by what may strike them, held while they fit.

    box    lower, upper of now and after the way  w = h v,  and  h |ω × o| + h |ω'| ρ + β  wider
    blow   β_a = the largest  h (|u| + |ω_c − ω_e| r)  of contacts c, e of the last time that a, or what it touched, has
    held   the box of the last time where it holds the new one; else the new one, 2 d wider for a slow collider

h step, v, ω velocities of a body, d contact distance, ρ how far a collider reaches from its origin, o that of its frame
from the centre of mass. ω' is what of ω moves the surface: of a ball nothing, of a capsule, a cylinder and a cone what
is across their axis, so that wheels roll without turning. u is the velocity of one body against the other at a point,
and r how far points of their contact are from there at most: the origin of the smaller one and how far it reaches, or
the middle of where their boxes overlap and half its diagonal; where one is a mesh, that overlap with the box around the
triangle. So the size of the larger one does not matter. Where all boxes are held the pairs are those of the last time,
and at rest nothing is listed. Pairs more or less make no contacts more or less, as long as none is left out that
touches. Why boxes are recalled is told in ``look_ahead``.
"""

import math

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places, Prospects
from rattleback.collision.geometry.solid import CAPSULE, CONE, CYLINDER, MESH, PLANE, SPHERE
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.model.contact_memory import SETTLED, ContactMemory
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion

# Farther than anything, yet sums of it are finite.
FAR = wp.constant(real(math.sqrt(float(np.finfo(numpy_real).max))))
# Contact distances by which the box of a slow collider is wider; slow are those that go no farther in a step.
HELD = wp.constant(real(2.0))
# A box that is so many times wider than it would be made is made anew.
LOOSE = wp.constant(real(3.0))


@wp.struct
class Outlook:
    """What the kernels read: bodies, their colliders, how they move, for how long, and which contacts are known.

    ``unit`` is how much farther the regions of the first class go, the contact distance unless that is zero [m];
    ``steps`` for how many steps velocities are taken to stay, ``struck`` for how many those after a blow.
    """

    bodies: Bodies
    colliders: Colliders
    hulls: Hulls
    places: Places
    prospects: Prospects
    motion: Motion
    clock: Clock
    memory: ContactMemory
    gap: real
    unit: real
    steps: real
    struck: real


@wp.func
def is_known(outlook: Outlook, i: int) -> bool:
    """Whether the contacts of the world of a collider are those it remembers."""
    return outlook.memory.pending[outlook.colliders.world[i]] == SETTLED


@wp.func
def share(outlook: Outlook, i: int, other: int) -> real:
    """The part of the speed of two colliders against each other by which a blow may change that of one of them."""
    mass = outlook.bodies.inverse_mass[outlook.colliders.body[i]]
    if mass == real(0.0):
        return real(0.0)
    return real(2.0) * mass / (mass + outlook.bodies.inverse_mass[outlook.colliders.body[other]])


@kernel
def begin_blows(outlook: Outlook, lanes: int) -> None:
    """Nobody has been struck."""
    if wp.tid() == 0:
        outlook.prospects.changed[0] = 0
    for i in range(wp.tid(), outlook.colliders.body.shape[0], lanes):
        outlook.prospects.blow[i] = real(0.0)
        outlook.prospects.struck[i] = real(0.0)
        outlook.prospects.jolt[i] = real(0.0)
        outlook.prospects.jolted[i] = real(0.0)


@wp.func
def owner(memory: ContactMemory, k: int, a: int) -> int:
    """The collider that a contact of the last time belongs to as A, none before a: the next ones, else by halves."""
    low = a
    for _ in range(4):
        if memory.first[low + 1] > k:
            return low
        low += 1
    high = memory.first.shape[0] - 1
    while high - low > 1:
        half = (low + high) // 2
        if memory.first[half] <= k:
            low = half
        else:
            high = half
    return low


@wp.func
def repeats(memory: ContactMemory, a: int, k: int) -> bool:
    """Whether a contact of A is another point of the same solids as the one before it, which says nothing new."""
    if k == memory.first[a]:
        return False
    return memory.collider[k - 1] == memory.collider[k] and memory.part[k - 1] == memory.part[k]


@wp.func
def sweeping(colliders: Colliders, places: Places, i: int, spin: vec3) -> vec3:
    """The part of a collider's spin that moves its surface: nothing of a ball, what is across the axis of a wheel."""
    kind = colliders.kind[i]
    if kind == SPHERE:
        return vec3()
    if kind == CAPSULE or kind == CYLINDER or kind == CONE:
        R = places.rotation[i]
        axis = vec3(R[0, 2], R[1, 2], R[2, 2])
        return spin - wp.dot(spin, axis) * axis
    return spin


@wp.func
def velocity_at(outlook: Outlook, body: int, x: vec3) -> vec3:
    """How fast the point of a body at x goes."""
    return outlook.motion.velocity[body] + wp.cross(
        outlook.motion.angular_velocity[body], x - outlook.motion.position[body]
    )


@wp.func
def against(outlook: Outlook, a: int, b: int) -> real:
    """How fast points of two colliders that touch go against each other, at most [m/s]."""
    reach_a = outlook.colliders.reach[a]
    reach_b = outlook.colliders.reach[b]
    of_b = reach_b >= real(0.0) and (reach_a < real(0.0) or reach_b < reach_a)
    x = outlook.places.position[wp.where(of_b, b, a)]
    body = outlook.colliders.body[a]
    other = outlook.colliders.body[b]
    u = velocity_at(outlook, body, x) - velocity_at(outlook, other, x)
    spin = outlook.motion.angular_velocity[body] - outlook.motion.angular_velocity[other]
    return wp.length(u) + wp.length(spin) * wp.where(of_b, reach_b, reach_a)


@wp.func
def corner_of(outlook: Outlook, mesh: int, part: int, k: int) -> vec3:
    """Corner k of a triangle of a mesh."""
    x = outlook.hulls.vertex[outlook.colliders.first[mesh] + 3 * part + k]
    return outlook.places.position[mesh] + outlook.places.rotation[mesh] * x


@wp.func
def against_within(outlook: Outlook, a: int, b: int, part: int) -> real:
    """The same of points in the boxes of both, and in that around the triangle ``part`` where one is a mesh [m/s]."""
    lower = wp.max(outlook.places.lower[a], outlook.places.lower[b])
    upper = wp.min(outlook.places.upper[a], outlook.places.upper[b])
    wider = real(0.0)
    if part >= 0:
        mesh = wp.where(outlook.colliders.kind[a] == MESH, a, b)
        p = corner_of(outlook, mesh, part, 0)
        q = corner_of(outlook, mesh, part, 1)
        r = corner_of(outlook, mesh, part, 2)
        lower = wp.max(lower, wp.min(p, wp.min(q, r)))
        upper = wp.min(upper, wp.max(p, wp.max(q, r)))
        wider = outlook.colliders.round[mesh] + outlook.gap
    middle = real(0.5) * (lower + upper)
    body = outlook.colliders.body[a]
    other = outlook.colliders.body[b]
    u = velocity_at(outlook, body, middle) - velocity_at(outlook, other, middle)
    spin = outlook.motion.angular_velocity[body] - outlook.motion.angular_velocity[other]
    return wp.length(u) + wp.length(spin) * (real(0.5) * wp.length(upper - lower) + wider)


@kernel
def find_blows(outlook: Outlook, lanes: int) -> None:
    """How far colliders may be thrown by what they touch: as far as it goes against them."""
    a = int(0)
    for k in range(wp.tid(), outlook.memory.count[0], lanes):
        a = owner(outlook.memory, k, a)
        if repeats(outlook.memory, a, k):
            continue
        b = outlook.memory.collider[k]
        u = wp.min(against(outlook, a, b), against_within(outlook, a, b, outlook.memory.part[k]))
        far = outlook.struck * real(outlook.clock.time_step[outlook.colliders.world[a]]) * u
        wp.atomic_max(outlook.prospects.blow, a, far)
        wp.atomic_max(outlook.prospects.blow, b, far)


@kernel
def pass_blows_on(outlook: Outlook, lanes: int) -> None:
    """What is struck strikes what it touches."""
    a = int(0)
    for k in range(wp.tid(), outlook.memory.count[0], lanes):
        a = owner(outlook.memory, k, a)
        if repeats(outlook.memory, a, k):
            continue
        b = outlook.memory.collider[k]
        wp.atomic_max(outlook.prospects.struck, a, outlook.prospects.blow[b])
        wp.atomic_max(outlook.prospects.struck, b, outlook.prospects.blow[a])


@wp.func
def make_endless(outlook: Outlook, i: int) -> None:
    """Let the box around a half-space hold everything."""
    outlook.places.lower[i] = vec3(-FAR, -FAR, -FAR)
    outlook.places.upper[i] = vec3(FAR, FAR, FAR)


@wp.func
def widen_box(outlook: Outlook, i: int) -> None:
    """Stretch the box around a collider along its way."""
    outlook.prospects.lower[i] = outlook.places.lower[i]
    outlook.prospects.upper[i] = outlook.places.upper[i]
    if is_known(outlook, i):
        outlook.prospects.way[i] = vec3()
        outlook.prospects.turn[i] = real(0.0)
        outlook.places.stride[i] = FAR
        if outlook.colliders.kind[i] == PLANE:
            make_endless(outlook, i)
        return
    body = outlook.colliders.body[i]
    blow = wp.max(outlook.prospects.blow[i], outlook.prospects.struck[i])
    if outlook.colliders.movable[i] == 0:
        blow = real(0.0)
    outlook.prospects.blow[i] = blow
    h = outlook.steps * real(outlook.clock.time_step[outlook.colliders.world[i]])
    way = h * outlook.motion.velocity[body]
    spin = outlook.motion.angular_velocity[body]
    outlook.prospects.way[i] = way
    turn = real(0.0)
    if outlook.colliders.kind[i] == PLANE:
        angle = h * wp.length(spin)
        outlook.prospects.turn[i] = -angle
        outlook.places.stride[i] = wp.where(angle > real(0.0), FAR, wp.length(way))
        if angle > real(0.0):
            make_endless(outlook, i)
            return
    else:
        swing = wp.length(wp.cross(spin, outlook.places.position[i] - outlook.motion.position[body]))
        sweep = wp.length(sweeping(outlook.colliders, outlook.places, i, spin))
        turn = h * (swing + sweep * outlook.colliders.reach[i]) + blow
        outlook.prospects.turn[i] = turn
        outlook.places.stride[i] = wp.length(way) + turn
    wide = vec3(turn, turn, turn)
    lower = outlook.places.lower[i]
    upper = outlook.places.upper[i]
    outlook.places.lower[i] = wp.min(lower, lower + way) - wide
    outlook.places.upper[i] = wp.max(upper, upper + way) + wide


@wp.func
def hold_box(outlook: Outlook, i: int) -> None:
    """Let a box be the one of the last time if that holds it, so that at rest no pairs have to be listed again."""
    lower = outlook.places.lower[i]
    upper = outlook.places.upper[i]
    wide = wp.where(outlook.places.stride[i] > HELD * outlook.gap, real(0.0), HELD * outlook.gap)
    below = lower - outlook.prospects.held_lower[i]
    above = outlook.prospects.held_upper[i] - upper
    closest = wp.min(wp.min(below), wp.min(above))
    # Also where one of the two is not finite.
    if not (closest >= real(0.0) and wp.max(wp.max(below), wp.max(above)) <= LOOSE * wide):
        outlook.prospects.changed[0] = 1
        outlook.prospects.held_lower[i] = lower - vec3(wide, wide, wide)
        outlook.prospects.held_upper[i] = upper + vec3(wide, wide, wide)
    outlook.places.lower[i] = outlook.prospects.held_lower[i]
    outlook.places.upper[i] = outlook.prospects.held_upper[i]


@kernel
def widen_boxes(outlook: Outlook, lanes: int) -> None:
    """Stretch the boxes around all colliders along their ways."""
    for i in range(wp.tid(), outlook.colliders.body.shape[0], lanes):
        widen_box(outlook, i)
        hold_box(outlook, i)


@wp.func
def stretch_to(outlook: Outlook, i: int, lower: vec3, upper: vec3) -> None:
    """Make the box around a collider hold another one."""
    outlook.places.lower[i] = wp.min(outlook.places.lower[i], lower)
    outlook.places.upper[i] = wp.max(outlook.places.upper[i], upper)


@kernel
def recall_boxes(outlook: Outlook) -> None:
    """Widen boxes to what they are remembered to be in contact with, on one thread: it is done once for a state."""
    memory = outlook.memory
    kind = outlook.colliders.kind
    for a in range(kind.shape[0]):
        if not is_known(outlook, a):
            continue
        # The boxes of the next time are none of these.
        outlook.prospects.changed[0] = 1
        outlook.prospects.held_upper[a] = vec3(-FAR, -FAR, -FAR)
        for k in range(memory.first[a], memory.first[a + 1]):
            b = memory.collider[k]
            part = memory.part[k]
            if kind[a] != PLANE and kind[b] != PLANE:
                if part < 0:
                    stretch_to(outlook, a, outlook.prospects.lower[b], outlook.prospects.upper[b])
                else:
                    mesh = wp.where(kind[a] == MESH, a, b)
                    for c in range(3):
                        x = corner_of(outlook, mesh, part, c)
                        stretch_to(outlook, wp.where(mesh == a, b, a), x, x)
