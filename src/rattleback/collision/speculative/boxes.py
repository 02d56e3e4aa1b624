"""Speculative AABBs: boxes of colliders stretched along their motion and by possible impacts, kept while they fit.

    box       lower, upper of now and after the displacement  w = h v,  and  h |ω × o| + h |ω'| ρ + β  wider
    impact    β_a = the largest  min(σ_a, 1) h U  of the last contacts that a, or a movable body that it touches, has
    speed     U = min(|u| + |ω_a − ω_b| r,  |v_a − v_b| + |ω_a| ρ_a + |ω_b| ρ_b)
    share     σ_a = min(2 / (1 + μ),  (1 + e) max { (1 + 3 x) / (1 + μ + 3 x²) })   μ = m_a / m_b,  0 ≤ x ≤ 1
    kept      the box of the last detection where it holds the new one; else the new one, 2 d wider for a slow collider

h step, v, ω velocities of a body, d contact distance, ρ how far a collider reaches from its origin, o that of its frame
from the centre of mass. ω' is the part of ω that moves the surface: for a sphere nothing, for a capsule, a cylinder and
a cone the part across their axis, so that wheels roll without rotation. u is the relative velocity of the bodies at a
point, and r how far points of their contact are from there at most: the origin of the smaller collider and its reach,
or the middle of where their boxes overlap and half its diagonal; where one is a mesh, that overlap with the box around
the triangle. So the size of the larger collider does not matter; and the spin of one is not taken for a speed where the
other is, far beyond its own surface. m mass, e coefficient of restitution of the pair. σ is the largest part of the
relative speed by which an impact changes the velocity of a point of a rod, hit at x times half its length from its
middle; the first bound holds for the middle of any body where e is 1.

Where all boxes are kept the pairs are those of the last detection, and at rest no pair is listed again. A pair too many
makes no contact; only a missing pair would. ``speculative`` says why boxes of settled worlds are restored.
"""

import math

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places, SpeculativeMargins
from rattleback.collision.geometry.solid import CAPSULE, CONE, CYLINDER, MESH, PLANE, SPHERE
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.model.contact_memory import SETTLED, ContactMemory
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.surfaces import PairRules, Surfaces, combine

# Farther than anything, yet sums of it are finite.
FAR = wp.constant(real(math.sqrt(float(np.finfo(numpy_real).max))))
# Contact distances by which the box of a slow collider is wider; slow are those that move no farther in a step.
HELD = wp.constant(real(2.0))
# A box that is so many times wider than it would be made is made anew.
LOOSE = wp.constant(real(3.0))


@wp.struct
class SpeculativeInput:
    """What the kernels read: bodies, their colliders, how they move, for how long, and which contacts are stored.

    ``base_margin`` is the margin of the first class, the contact distance unless that is zero [m]; velocities are taken
    to stay for ``steps`` steps, those after an impact for ``impact_steps``.
    """

    bodies: Bodies
    materials: Surfaces
    rules: PairRules
    colliders: Colliders
    hulls: Hulls
    places: Places
    margins: SpeculativeMargins
    motion: Motion
    clock: Clock
    memory: ContactMemory
    max_gap: real
    base_margin: real
    steps: real
    impact_steps: real


@wp.func
def is_settled(inputs: SpeculativeInput, i: int) -> bool:
    """Whether the contacts of the world of a collider are those in its contact memory."""
    return inputs.memory.pending[inputs.colliders.world[i]] == SETTLED


@wp.func
def mass_ratio(inputs: SpeculativeInput, i: int, other: int) -> real:
    """Mass of a collider's body over that of another; negative where the first cannot be moved."""
    mass = inputs.bodies.inverse_mass[inputs.colliders.body[i]]
    if mass == real(0.0):
        return real(-1.0)
    return inputs.bodies.inverse_mass[inputs.colliders.body[other]] / mass


@wp.func
def rebound(inputs: SpeculativeInput, i: int, other: int) -> real:
    """One plus the coefficient of restitution of two colliders."""
    a = inputs.colliders.body[i]
    return real(1.0) + combine(inputs.materials, inputs.rules, a, inputs.colliders.body[other]).restitution


@wp.func
def mass_share(inputs: SpeculativeInput, i: int, other: int) -> real:
    """The part of the relative speed of two colliders by which an impact may change that of the first one's middle."""
    ratio = mass_ratio(inputs, i, other)
    if ratio < real(0.0):
        return real(0.0)
    return rebound(inputs, i, other) / (real(1.0) + ratio)


@wp.func
def point_share(inputs: SpeculativeInput, i: int, other: int) -> real:
    """The same of any point of the first one, a rod that is hit where this is most, but at most twice the middle's."""
    ratio = mass_ratio(inputs, i, other)
    if ratio < real(0.0):
        return real(0.0)
    share = real(4.0) / (real(4.0) + ratio)
    if ratio < real(4.0):
        share = real(1.5) / (wp.sqrt(real(4.0) + real(3.0) * ratio) - real(1.0))
    return wp.min(real(2.0) / (real(1.0) + ratio), rebound(inputs, i, other) * share)


@kernel
def clear_impacts(inputs: SpeculativeInput, lanes: int) -> None:
    """No impact is known."""
    if wp.tid() == 0:
        inputs.margins.changed[0] = 0
    for i in range(wp.tid(), inputs.colliders.body.shape[0], lanes):
        inputs.margins.impact_travel[i] = real(0.0)
        inputs.margins.neighbor_travel[i] = real(0.0)
        inputs.margins.ahead_travel[i] = real(0.0)
        inputs.margins.chained_travel[i] = real(0.0)


@wp.func
def collider_of(memory: ContactMemory, k: int, a: int) -> int:
    """Collider A of a stored contact, none before a: the next few are tried, then a binary search."""
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
def is_repeated(memory: ContactMemory, a: int, k: int) -> bool:
    """Whether a contact of A is another point of the same pair as the one before it, which adds nothing."""
    if k == memory.first[a]:
        return False
    return memory.collider[k - 1] == memory.collider[k] and memory.part[k - 1] == memory.part[k]


@wp.func
def surface_spin(colliders: Colliders, places: Places, i: int, spin: vec3) -> vec3:
    """The part of an angular velocity that moves a collider's surface: none of a sphere, that across a wheel's axis."""
    kind = colliders.kind[i]
    if kind == SPHERE:
        return vec3()
    if kind == CAPSULE or kind == CYLINDER or kind == CONE:
        R = places.rotation[i]
        axis = vec3(R[0, 2], R[1, 2], R[2, 2])
        return spin - wp.dot(spin, axis) * axis
    return spin


@wp.func
def velocity_at(inputs: SpeculativeInput, body: int, x: vec3) -> vec3:
    """Velocity of the point of a body at x [m/s]."""
    return inputs.motion.velocity[body] + wp.cross(
        inputs.motion.angular_velocity[body], x - inputs.motion.position[body]
    )


@wp.func
def relative_speed(inputs: SpeculativeInput, a: int, b: int) -> real:
    """Largest relative speed of points of two colliders that touch [m/s]."""
    reach_a = inputs.colliders.reach[a]
    reach_b = inputs.colliders.reach[b]
    of_b = reach_b >= real(0.0) and (reach_a < real(0.0) or reach_b < reach_a)
    x = inputs.places.position[wp.where(of_b, b, a)]
    body = inputs.colliders.body[a]
    other = inputs.colliders.body[b]
    u = velocity_at(inputs, body, x) - velocity_at(inputs, other, x)
    spin_a = inputs.motion.angular_velocity[body]
    spin_b = inputs.motion.angular_velocity[other]
    fastest = wp.length(u) + wp.length(spin_a - spin_b) * wp.where(of_b, reach_b, reach_a)
    if wp.min(reach_a, reach_b) < real(0.0):
        return fastest
    # Of two colliders that are far apart, the smaller one is farther from the other than that one reaches.
    u = velocity_at(inputs, body, inputs.places.position[a]) - velocity_at(inputs, other, inputs.places.position[b])
    return wp.min(fastest, wp.length(u) + wp.length(spin_a) * reach_a + wp.length(spin_b) * reach_b)


@wp.func
def corner_of(inputs: SpeculativeInput, mesh: int, part: int, k: int) -> vec3:
    """Corner k of a triangle of a mesh."""
    x = inputs.hulls.vertex[inputs.colliders.first[mesh] + 3 * part + k]
    return inputs.places.position[mesh] + inputs.places.rotation[mesh] * x


@wp.func
def relative_speed_within(inputs: SpeculativeInput, a: int, b: int, part: int) -> real:
    """The same of points in the boxes of both, and in that around the triangle ``part`` where one is a mesh [m/s]."""
    lower = wp.max(inputs.places.lower[a], inputs.places.lower[b])
    upper = wp.min(inputs.places.upper[a], inputs.places.upper[b])
    wider = real(0.0)
    if part >= 0:
        mesh = wp.where(inputs.colliders.kind[a] == MESH, a, b)
        p = corner_of(inputs, mesh, part, 0)
        q = corner_of(inputs, mesh, part, 1)
        r = corner_of(inputs, mesh, part, 2)
        lower = wp.max(lower, wp.min(p, wp.min(q, r)))
        upper = wp.min(upper, wp.max(p, wp.max(q, r)))
        wider = inputs.colliders.round[mesh] + inputs.max_gap
    middle = real(0.5) * (lower + upper)
    body = inputs.colliders.body[a]
    other = inputs.colliders.body[b]
    u = velocity_at(inputs, body, middle) - velocity_at(inputs, other, middle)
    spin = inputs.motion.angular_velocity[body] - inputs.motion.angular_velocity[other]
    return wp.length(u) + wp.length(spin) * (real(0.5) * wp.length(upper - lower) + wider)


@kernel
def find_contact_impacts(inputs: SpeculativeInput, lanes: int) -> None:
    """Bound how far an impact at a contact can move its colliders."""
    a = int(0)
    for k in range(wp.tid(), inputs.memory.count[0], lanes):
        a = collider_of(inputs.memory, k, a)
        if is_repeated(inputs.memory, a, k):
            continue
        b = inputs.memory.collider[k]
        u = wp.min(relative_speed(inputs, a, b), relative_speed_within(inputs, a, b, inputs.memory.part[k]))
        far = inputs.impact_steps * real(inputs.clock.time_step[inputs.colliders.world[a]]) * u
        if inputs.colliders.movable[a] == 1:
            wp.atomic_max(inputs.margins.impact_travel, a, wp.min(point_share(inputs, a, b), real(1.0)) * far)
        if inputs.colliders.movable[b] == 1:
            wp.atomic_max(inputs.margins.impact_travel, b, wp.min(point_share(inputs, b, a), real(1.0)) * far)


@kernel
def spread_contact_impacts(inputs: SpeculativeInput, lanes: int) -> None:
    """Bound how far a collider moves when one that it touches is hit."""
    a = int(0)
    for k in range(wp.tid(), inputs.memory.count[0], lanes):
        a = collider_of(inputs.memory, k, a)
        if is_repeated(inputs.memory, a, k):
            continue
        b = inputs.memory.collider[k]
        wp.atomic_max(inputs.margins.neighbor_travel, a, inputs.margins.impact_travel[b])
        wp.atomic_max(inputs.margins.neighbor_travel, b, inputs.margins.impact_travel[a])


@wp.func
def make_endless(inputs: SpeculativeInput, i: int) -> None:
    """Let the box around a half-space hold everything."""
    inputs.places.lower[i] = vec3(-FAR, -FAR, -FAR)
    inputs.places.upper[i] = vec3(FAR, FAR, FAR)


@wp.func
def stretch_box(inputs: SpeculativeInput, i: int) -> None:
    """Stretch the box around a collider along its motion."""
    inputs.margins.lower[i] = inputs.places.lower[i]
    inputs.margins.upper[i] = inputs.places.upper[i]
    if is_settled(inputs, i):
        inputs.margins.travel[i] = vec3()
        inputs.margins.turn[i] = real(0.0)
        inputs.places.max_travel[i] = FAR
        if inputs.colliders.kind[i] == PLANE:
            make_endless(inputs, i)
        return
    body = inputs.colliders.body[i]
    impact_travel = wp.max(inputs.margins.impact_travel[i], inputs.margins.neighbor_travel[i])
    if inputs.colliders.movable[i] == 0:
        impact_travel = real(0.0)
    inputs.margins.impact_travel[i] = impact_travel
    h = inputs.steps * real(inputs.clock.time_step[inputs.colliders.world[i]])
    travel = h * inputs.motion.velocity[body]
    spin = inputs.motion.angular_velocity[body]
    inputs.margins.travel[i] = travel
    turn = real(0.0)
    if inputs.colliders.kind[i] == PLANE:
        angle = h * wp.length(spin)
        inputs.margins.turn[i] = -angle
        inputs.places.max_travel[i] = wp.where(angle > real(0.0), FAR, wp.length(travel))
        if angle > real(0.0):
            make_endless(inputs, i)
            return
    else:
        swing = wp.length(wp.cross(spin, inputs.places.position[i] - inputs.motion.position[body]))
        sweep = wp.length(surface_spin(inputs.colliders, inputs.places, i, spin))
        turn = h * (swing + sweep * inputs.colliders.reach[i]) + impact_travel
        inputs.margins.turn[i] = turn
        inputs.places.max_travel[i] = wp.length(travel) + turn
    wide = vec3(turn, turn, turn)
    lower = inputs.places.lower[i]
    upper = inputs.places.upper[i]
    inputs.places.lower[i] = wp.min(lower, lower + travel) - wide
    inputs.places.upper[i] = wp.max(upper, upper + travel) + wide


@wp.func
def hold_box(inputs: SpeculativeInput, i: int) -> None:
    """Keep the last box where it holds the new one, so that at rest no pairs have to be listed again."""
    lower = inputs.places.lower[i]
    upper = inputs.places.upper[i]
    wide = wp.where(inputs.places.max_travel[i] > HELD * inputs.max_gap, real(0.0), HELD * inputs.max_gap)
    below = lower - inputs.margins.held_lower[i]
    above = inputs.margins.held_upper[i] - upper
    closest = wp.min(wp.min(below), wp.min(above))
    # Also where one of the two is not finite.
    if not (closest >= real(0.0) and wp.max(wp.max(below), wp.max(above)) <= LOOSE * wide):
        inputs.margins.changed[0] = 1
        inputs.margins.held_lower[i] = lower - vec3(wide, wide, wide)
        inputs.margins.held_upper[i] = upper + vec3(wide, wide, wide)
    inputs.places.lower[i] = inputs.margins.held_lower[i]
    inputs.places.upper[i] = inputs.margins.held_upper[i]


@kernel
def stretch_boxes(inputs: SpeculativeInput, lanes: int) -> None:
    """Stretch the boxes around all colliders along their motion."""
    for i in range(wp.tid(), inputs.colliders.body.shape[0], lanes):
        stretch_box(inputs, i)
        hold_box(inputs, i)


@wp.func
def stretch_to(inputs: SpeculativeInput, i: int, lower: vec3, upper: vec3) -> None:
    """Make the box around a collider hold another one."""
    inputs.places.lower[i] = wp.min(inputs.places.lower[i], lower)
    inputs.places.upper[i] = wp.max(inputs.places.upper[i], upper)


@kernel
def restore_boxes(inputs: SpeculativeInput) -> None:
    """Stretch boxes of settled worlds to the colliders they are in contact with, on one thread: once for a state."""
    memory = inputs.memory
    kind = inputs.colliders.kind
    for a in range(kind.shape[0]):
        if not is_settled(inputs, a):
            continue
        # The boxes of the next detection are none of these.
        inputs.margins.changed[0] = 1
        inputs.margins.held_upper[a] = vec3(-FAR, -FAR, -FAR)
        for k in range(memory.first[a], memory.first[a + 1]):
            b = memory.collider[k]
            part = memory.part[k]
            if kind[a] != PLANE and kind[b] != PLANE:
                if part < 0:
                    stretch_to(inputs, a, inputs.margins.lower[b], inputs.margins.upper[b])
                else:
                    mesh = wp.where(kind[a] == MESH, a, b)
                    for c in range(3):
                        x = corner_of(inputs, mesh, part, c)
                        stretch_to(inputs, wp.where(mesh == a, b, a), x, x)
