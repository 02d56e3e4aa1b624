"""Rotation of a rigid body by Euler's equation, as functions for kernels.

    L̇ = τ,   L = J ω,   J = R J_l Rᵀ,   ω̇ = J⁻¹ (τ − ω × J ω)

J_l inertia in the body's frame, R rotation from it to the world (as quaternion q), ω angular velocity and
L angular momentum in the world frame, τ torque. ``free_rotation`` is the torque-free step: the implicit
midpoint rule on the momentum in the body's frame,

    Π₁ = Π₀ + h Π × Ω,   Π = (Π₀ + Π₁)/2 = J_l Ω,   q₁ = q₀ ⊗ cay(h Ω).

It is of second order, symmetric, and keeps both the energy ½ Π·Ω and the vector R Π to rounding: both
sides of the first equation are (1 ± h/2 [Ω]×) applied to Π, so the Cayley rotation cancels exactly.

For h/2 |Ω| ≤ ½ its matrix is diagonally dominant, and Newton's method finds the one solution there is. What ever turns
faster on its way is followed in parts of h, each of which keeps both as well; the way back has the same parts. What
turns so fast that its direction is undefined only precesses: Π stays, and the body turns about it at its mean rate
Π·Ω / |Π|, which keeps both again.

Reference: Austin, Krishnaprasad, Wang, Almost Poisson integration of rigid body systems, J. Comput. Phys.
107 (1993). Euler's equation: Bender, dissertation, eq. 3.4 and D.2.
"""

import warp as wp

from rattleback.core.precision import epsilon, mat33, quat, real, vec3
from rattleback.maths.quat import quat_from_rotation_vector, rotate, rotate_back

NEWTON_LIMIT = 24
# Pairs of rounds of m ← ω₀ − e ∘ (m_y m_z, …) before Newton's method; what turns by milliradians needs no more.
FIXED_POINT = wp.constant(3)
# Relative residual that rounding leaves.
ROUNDED = wp.constant(real(epsilon))
# Below this relative residual one more update ends at rounding: Newton squares it.
ALMOST = wp.constant(real(epsilon**0.5))
# h/2 |Ω| up to which the step is done whole, that of a part where it is not, and most parts.
WHOLE = wp.constant(real(0.5))
PART = wp.constant(real(0.125))
MOST_PARTS = wp.constant(256)
# Square of the relative residual above which Newton's method has not found the solution.
LOST = wp.constant(real(epsilon**0.5))


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
def free_rotation(w: vec3, moments: vec3, ratios: vec3, h: real) -> tuple[quat, vec3, real, int]:
    """Torque-free rotation over h, in principal axes.

    ``w`` is the angular velocity in those axes, ``moments`` are those of inertia about them and ``ratios``
    (J_z − J_y) / J_x, (J_x − J_z) / J_y, (J_y − J_x) / J_z.
    Returns the turn up to its length, to be multiplied from the right; ω₁ in the turned axes; the square of the
    relative residual left, 1 where it only precesses, and Newton iterations used.
    """
    # Twice the energy bounds how fast it ever turns, and costs less.
    if h * h * wp.dot(w, wp.cw_mul(moments, w)) <= real(4.0) * WHOLE * WHOLE * wp.min(moments):
        return midpoint_rotation(w, ratios, h)
    angle = real(0.5) * wp.abs(h) * fastest(w, moments)
    if angle <= WHOLE:
        return midpoint_rotation(w, ratios, h)
    if not angle <= real(MOST_PARTS) * PART:
        return precession(w, moments, h), w, real(1.0), int(0)
    parts = int(wp.ceil(angle / PART))
    share = h / real(parts)
    turned = quat(real(0.0), real(0.0), real(0.0), real(1.0))
    left = real(0.0)
    iterations = int(0)
    for _k in range(parts):
        turn, spun, residual, count = midpoint_rotation(w, ratios, share)
        if not residual <= LOST:
            turn = precession(w, moments, share)
            spun = w
        turned = wp.normalize(turned * turn)
        w = spun
        left = wp.max(left, residual)
        iterations = wp.max(iterations, count)
    return turned, w, left, iterations


@wp.func
def fastest(w: vec3, moments: vec3) -> real:
    """The largest |Ω| on the way of a body: squares x of Π go to and fro on a line with Σ x and Σ x/J constant."""
    shares = moments / wp.max(moments)
    speed = vec3(real(1.0) / shares[0], real(1.0) / shares[1], real(1.0) / shares[2])
    momentum = wp.cw_mul(shares, w)
    x = wp.cw_mul(momentum, momentum)
    along = wp.cross(vec3(real(1.0), real(1.0), real(1.0)), speed)
    square = wp.cw_mul(speed, speed)
    if wp.dot(along, square) < real(0.0):
        along = -along
    # The line ends where the first of the squares vanishes.
    end = real(-1.0)
    for k in range(3):
        if along[k] < real(0.0):
            reach = -x[k] / along[k]
            end = wp.where(end < real(0.0) or reach < end, reach, end)
    return wp.sqrt(wp.dot(w, w) + wp.max(end, real(0.0)) * wp.dot(along, square))


@wp.func
def precession(w: vec3, moments: vec3, h: real) -> quat:
    """The turn over h about the angular momentum, at the mean rate about it."""
    momentum = wp.cw_mul(moments, w)
    rate = wp.dot(w, momentum) / wp.dot(momentum, momentum)
    return quat_from_rotation_vector(h * rate * momentum)


@wp.func
def midpoint_rotation(w: vec3, ratios: vec3, h: real) -> tuple[quat, vec3, real, int]:
    """The implicit midpoint rule over h: cay(h Ω) up to its length, ω₁, square of the residual, iterations."""
    half = real(0.5) * h
    # Divided by the moments, the equation is Ω − ω₀ + e ∘ (Ω_y Ω_z, Ω_z Ω_x, Ω_x Ω_y) = 0.
    e = half * ratios
    square = wp.dot(w, w)
    m = w - wp.cw_mul(e, products(w))
    done = bool(False)
    left = real(0.0)
    g = vec3()
    rounds = int(0)
    while rounds < FIXED_POINT and not done:
        m = w - wp.cw_mul(e, products(m))
        m = w - wp.cw_mul(e, products(m))
        g = m - w + wp.cw_mul(e, products(m))
        left = wp.dot(g, g)
        done = left <= ROUNDED * ROUNDED * square
        rounds += 1
    iterations = int(0)
    while iterations < NEWTON_LIMIT and not done:
        done = left <= ALMOST * ALMOST * square
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
    relative = wp.where(square > real(0.0), left / square, real(0.0))
    turn = quat(half * m[0], half * m[1], half * m[2], real(1.0))
    return turn, real(2.0) * m - w, relative, iterations


@wp.func
def products(m: vec3) -> vec3:
    """m_y m_z, m_z m_x, m_x m_y."""
    return vec3(m[1] * m[2], m[2] * m[0], m[0] * m[1])
