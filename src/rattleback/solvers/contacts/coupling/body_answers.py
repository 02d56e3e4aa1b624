"""How bodies answer to impulses: those of trees through their trees, others for themselves.

    (v, ω)_i ← (v, ω)_i + R_ij (f, m)_j        of every touching body i of the trees, for an impulse on body j

R_ij blocks of M⁻¹, see ``reduced.midpoint.touching``; v, ω velocities, f, m impulse and angular impulse.

Cost: 0.02 µs for each touching body.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.reduced.midpoint.touching import Touching, room_of
from rattleback.solvers.contacts.kernels.twist import apply_to_body
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, to_world

# Part of how a body answers alone that is added to effective masses: joints may leave a point no way to move.
EASE = wp.constant(real(1e-6))


@wp.struct
class Blocks:
    """How a body answers: velocity and angular velocity by impulse and angular impulse."""

    way_push: mat33
    way_twist: mat33
    turn_push: mat33
    turn_twist: mat33


@wp.func
def answer_between(bodies: Bodies, system: ContactSystem, touching: Touching, i: int, j: int) -> Blocks:
    """How body i answers to impulses on body j."""
    found = Blocks()
    a = touching.place[i]
    b = touching.place[j]
    if a >= 0 and b >= 0:
        room = room_of(touching)
        pair = (bodies.world[i] * room + b) * room + a
        found.way_push = touching.way_push[pair]
        found.way_twist = touching.way_twist[pair]
        found.turn_push = touching.turn_push[pair]
        found.turn_twist = touching.turn_twist[pair]
    if i == j:
        part = wp.where(a >= 0, EASE, real(1.0))
        found.way_push += (part * bodies.inverse_mass[i]) * wp.identity(n=3, dtype=real)
        found.turn_twist += part * system.inertias.inverse_inertia[i]
    return found


@wp.struct
class Wrench:
    """An impulse and an angular impulse."""

    f: vec3
    m: vec3


@wp.func
def push_body(
    bodies: Bodies, system: ContactSystem, touching: Touching, motion: Motion, i: int, wrench: Wrench
) -> None:
    """Apply a wrench at its centre of mass to a body, and what all touching bodies do for it."""
    a = touching.place[i]
    if a < 0:
        apply_to_body(bodies, system.inertias, motion, i, vec3(), wrench.f, wrench.m)
        return
    w = bodies.world[i]
    first = w * room_of(touching)
    touching.push[first + a] = touching.push[first + a] + wrench.f
    touching.twist[first + a] = touching.twist[first + a] + wrench.m
    pair = (first + a) * room_of(touching)
    for b in range(touching.count[w]):
        j = touching.body[first + b]
        v = touching.way_push[pair + b] * wrench.f + touching.way_twist[pair + b] * wrench.m
        turn = touching.turn_push[pair + b] * wrench.f + touching.turn_twist[pair + b] * wrench.m
        motion.velocity[j] = motion.velocity[j] + v
        motion.angular_velocity[j] = motion.angular_velocity[j] + turn


@wp.func
def push_manifold(
    bodies: Bodies, system: ContactSystem, touching: Touching, motion: Motion, k: int, wrench: Wrench
) -> None:
    """Apply a wrench in the axes of a manifold to its bodies."""
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    f = to_world(n, t, wrench.f)
    m = to_world(n, t, wrench.m)
    on = Wrench()
    on.f = f
    on.m = m + wp.cross(system.manifolds.arm_a[k], f)
    push_body(bodies, system, touching, motion, system.manifolds.body_a[k], on)
    on.f = -f
    on.m = -m - wp.cross(system.manifolds.arm_b[k], f)
    push_body(bodies, system, touching, motion, system.manifolds.body_b[k], on)
