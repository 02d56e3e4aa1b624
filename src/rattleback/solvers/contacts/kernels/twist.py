"""The twist of a manifold, and the wrench it gets, which is applied to its bodies.

    v ← v + f / m,    ω ← ω + I⁻¹ (m + r × f)        of A, and the opposite of B

(f, m) force and moment at the middle of the manifold, r from the centre of mass to it.
"""

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.problem.manifolds import BodyInertias, ContactSystem, to_world

# Smaller than the square of any impulse that is not rounding.
TINY = wp.constant(real(1e-30))


@wp.struct
class Twist:
    """Twist of a manifold along its normal (u_n, ω_t, ω_s) and across (u_t, u_s, ω_n), and the wrench it has got.

    The wrench is in the same two parts, ``normal_impulse`` (f_n, m_t, m_s) and ``tangent_impulse`` (f_t, f_s, m_n);
    ``normal_residual`` is the largest change of a velocity along the normal, ``tangential_residual_squared`` the square
    of the largest one across.
    """

    normal: vec3
    tangent: vec3
    normal_impulse: vec3
    tangent_impulse: vec3
    normal_residual: real
    tangential_residual_squared: real


@wp.func
def make_twist(u: vec3, w: vec3) -> Twist:
    """A twist that has got no wrench."""
    twist = Twist()
    twist.normal = vec3(u[0], w[1], w[2])
    twist.tangent = vec3(u[1], u[2], w[0])
    return twist


@wp.func
def apply_to_body(bodies: Bodies, inertias: BodyInertias, motion: Motion, i: int, arm: vec3, f: vec3, m: vec3) -> None:
    """Apply a wrench at the end of an arm from its centre of mass to a body, static ones aside."""
    mass = bodies.inverse_mass[i]
    if mass > real(0.0):
        motion.velocity[i] = motion.velocity[i] + mass * f
        motion.angular_velocity[i] = motion.angular_velocity[i] + inertias.inverse_inertia[i] * (m + wp.cross(arm, f))


@wp.func
def apply_wrench(bodies: Bodies, system: ContactSystem, motion: Motion, k: int, f: vec3, m: vec3) -> None:
    """Apply a wrench of the world at the middle of a manifold to A, its opposite to B."""
    apply_to_body(bodies, system.inertias, motion, system.manifolds.body_a[k], system.manifolds.arm_a[k], f, m)
    apply_to_body(bodies, system.inertias, motion, system.manifolds.body_b[k], system.manifolds.arm_b[k], -f, -m)


@wp.func
def apply_twist(bodies: Bodies, system: ContactSystem, motion: Motion, k: int, twist: Twist) -> None:
    """Apply the wrench that a manifold has got to its bodies."""
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    f = vec3(twist.normal_impulse[0], twist.tangent_impulse[0], twist.tangent_impulse[1])
    m = vec3(twist.tangent_impulse[2], twist.normal_impulse[1], twist.normal_impulse[2])
    # A NaN must reach the velocities, where it is detected.
    if wp.dot(f, f) + wp.dot(m, m) != real(0.0):
        apply_wrench(bodies, system, motion, k, to_world(n, t, f), to_world(n, t, m))
