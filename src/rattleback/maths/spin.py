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
from rattleback.maths.quat import cross_matrix, rotate, rotate_back

NEWTON_LIMIT = 24
# Newton's slope at the explicit guess mostly gains three digits an update, so it is kept for the first ones.
SLOPE_KEPT = 4
# Below this relative residual one more update ends at rounding.
ALMOST = wp.constant(real(1e3 * epsilon))


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
def free_rotation(q: quat, w: vec3, inertia: mat33, inverse_inertia: mat33, h: real) -> tuple[quat, vec3, real, int]:
    """Torque-free rotation over h; returns q₁, ω₁, the relative residual left, and Newton iterations used."""
    w0 = rotate_back(q, w)
    l0 = inertia * w0
    half = real(0.5) * h
    m = w0 + half * (inverse_inertia * wp.cross(l0, w0))
    square = wp.dot(l0, l0)
    iterations = int(0)
    inverse = mat33()
    for k in range(NEWTON_LIMIT):
        p = inertia * m
        g = p - l0 - half * wp.cross(p, m)
        if k == 0 or k >= SLOPE_KEPT:
            inverse = wp.inverse(inertia - half * (cross_matrix(p) - cross_matrix(m) * inertia))
        m = m - inverse * g
        iterations += 1
        if wp.dot(g, g) <= ALMOST * ALMOST * square:
            break
    p = inertia * m
    g = p - l0 - half * wp.cross(p, m)
    # The Cayley map up to its length, which the normalisation takes care of.
    q1 = wp.normalize(q * quat(half * m[0], half * m[1], half * m[2], real(1.0)))
    relative = wp.where(square > real(0.0), wp.sqrt(wp.dot(g, g) / square), real(0.0))
    return q1, rotate(q1, real(2.0) * m - w0), relative, iterations
