"""The twist of a patch, how its points are taken, and the wrench it gets, which goes to its bodies.

    v ← v + f / m,    ω ← ω + I⁻¹ (m + r × f)        of A, and the opposite of B

(f, m) force and moment at the middle of the patch, r from the centre of mass to it.
"""

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.problem.manifolds import Pressing, Weights, world

# Smaller than any square of an impulse that means something.
TINY = wp.constant(real(1e-30))


@wp.struct
class Twist:
    """Twist of a patch along its normal (u_n, ω_t, ω_s) and across (u_t, u_s, ω_n), and the wrench it has got.

    The wrench is in the same two parts, ``push`` (f_n, m_t, m_s) and ``rub`` (f_t, f_s, m_n); ``along`` is the largest
    change of a velocity along the normal, ``across`` the square of the largest one across.
    """

    up: vec3
    side: vec3
    push: vec3
    rub: vec3
    along: real
    across: real


@wp.func
def make_twist(u: vec3, w: vec3) -> Twist:
    """A twist that has got no wrench."""
    twist = Twist()
    twist.up = vec3(u[0], w[1], w[2])
    twist.side = vec3(u[1], u[2], w[0])
    return twist


@wp.func
def push_body(bodies: Bodies, weights: Weights, motion: Motion, i: int, arm: vec3, f: vec3, m: vec3) -> None:
    """Apply a wrench at the end of an arm from its centre of mass to a body, static ones aside."""
    mass = bodies.inverse_mass[i]
    if mass > real(0.0):
        motion.velocity[i] = motion.velocity[i] + mass * f
        motion.angular_velocity[i] = motion.angular_velocity[i] + weights.inverse_inertia[i] * (m + wp.cross(arm, f))


@wp.func
def apply(bodies: Bodies, pressing: Pressing, motion: Motion, k: int, f: vec3, m: vec3) -> None:
    """Apply a wrench of the world at the middle of a patch to A, its opposite to B."""
    push_body(bodies, pressing.weights, motion, pressing.patches.body_a[k], pressing.patches.arm_a[k], f, m)
    push_body(bodies, pressing.weights, motion, pressing.patches.body_b[k], pressing.patches.arm_b[k], -f, -m)


@wp.func
def apply_twist(bodies: Bodies, pressing: Pressing, motion: Motion, k: int, twist: Twist) -> None:
    """Apply the wrench that a patch has got to its bodies."""
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    f = vec3(twist.push[0], twist.rub[0], twist.rub[1])
    m = vec3(twist.rub[2], twist.push[1], twist.push[2])
    # What is no number has to get to the velocities, where it is seen.
    if wp.dot(f, f) + wp.dot(m, m) != real(0.0):
        apply(bodies, pressing, motion, k, world(n, t, f), world(n, t, m))
