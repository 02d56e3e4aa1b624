"""Rotation of a rigid body by Euler's equation, as functions for kernels.

    L̇ = τ,   L = J ω,   J = R J_l Rᵀ,   ω̇ = J⁻¹ (τ − ω × J ω)

J_l inertia in the body's frame, R rotation from it to the world (as quaternion q), ω angular velocity and
L angular momentum in the world frame, τ torque. ``free_rotation`` is the torque-free step: the implicit
midpoint rule on the momentum in the body's frame,

    Π₁ = Π₀ + h Π × Ω,   Π = (Π₀ + Π₁)/2 = J_l Ω,   q₁ = q₀ ⊗ cay(h Ω).

It is of second order, symmetric, and keeps both the energy ½ Π·Ω and the vector R Π to rounding: both
sides of the first equation are (1 ± h/2 [Ω]×) applied to Π, so the Cayley rotation cancels exactly.

Reference: Austin, Krishnaprasad, Wang, Almost Poisson integration of rigid body systems, J. Comput. Phys.
107 (1993). Euler's equation: Bender, dissertation, eq. 3.4 and D.2.
"""

import warp as wp

from rattleback.core.precision import epsilon, mat33, quat, real, vec3
from rattleback.maths.quat import rotate, rotate_back

NEWTON_LIMIT = 24
# Below this relative residual one more update ends at rounding: Newton squares it.
ALMOST = wp.constant(real(epsilon**0.5))


@wp.func
def angular_momentum(q: quat, w: vec3, inertia: mat33) -> vec3:
    """L = R J_l Rᵀ ω."""
    return rotate(q, inertia * rotate_back(q, w))


@wp.func
def angular_velocity(q: quat, momentum: vec3, inverse_inertia: mat33) -> vec3:
    """ω = R J_l⁻¹ Rᵀ L."""
    return rotate(q, inverse_inertia * rotate_back(q, momentum))


@wp.func
def local_angular_acceleration(w: vec3, torque: vec3, inertia: mat33, inverse_inertia: mat33) -> vec3:
    """ω̇ = J⁻¹ (τ − ω × J ω), everything in the body's frame."""
    return inverse_inertia * (torque - wp.cross(w, inertia * w))


@wp.func
def angular_acceleration(q: quat, w: vec3, torque: vec3, inertia: mat33, inverse_inertia: mat33) -> vec3:
    """ω̇ in the world frame."""
    local = local_angular_acceleration(rotate_back(q, w), rotate_back(q, torque), inertia, inverse_inertia)
    return rotate(q, local)


@wp.func
def free_rotation(w: vec3, ratios: vec3, h: real) -> tuple[quat, vec3, real, int]:
    """Torque-free rotation over h, in principal axes.

    ``w`` is the angular velocity in those axes, ``ratios`` are (J_z − J_y) / J_x, (J_x − J_z) / J_y, (J_y − J_x) / J_z.
    Returns the turn cay(h Ω) up to its length, to be multiplied from the right; ω₁ in the turned axes; the square of
    the relative residual left, and Newton iterations used.
    """
    half = real(0.5) * h
    # Divided by the moments, the equation is Ω − ω₀ + e ∘ (Ω_y Ω_z, Ω_z Ω_x, Ω_x Ω_y) = 0.
    e = half * ratios
    square = wp.dot(w, w)
    goal = ALMOST * ALMOST * square
    m = w - wp.cw_mul(e, products(w))
    m = w - wp.cw_mul(e, products(m))
    m = w - wp.cw_mul(e, products(m))
    g = m - w + wp.cw_mul(e, products(m))
    left = wp.dot(g, g)
    iterations = int(0)
    for _k in range(NEWTON_LIMIT):
        done = left <= goal
        one = real(1.0)
        slope = mat33(
            one, e[0] * m[2], e[0] * m[1],
            e[1] * m[2], one, e[1] * m[0],
            e[2] * m[1], e[2] * m[0], one,
        )  # fmt: skip
        m = m - wp.inverse(slope) * g
        g = m - w + wp.cw_mul(e, products(m))
        left = wp.dot(g, g)
        iterations += 1
        if done:
            break
    relative = wp.where(square > real(0.0), left / square, real(0.0))
    turn = quat(half * m[0], half * m[1], half * m[2], real(1.0))
    return turn, real(2.0) * m - w, relative, iterations


@wp.func
def products(m: vec3) -> vec3:
    """m_y m_z, m_z m_x, m_x m_y."""
    return vec3(m[1] * m[2], m[2] * m[0], m[0] * m[1])
