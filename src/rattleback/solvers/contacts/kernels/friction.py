"""Friction of a manifold: impulses across the normal within the Coulomb limit, and resistance to spinning and rolling.

    p_t ← p_t − K_tt⁻¹ u_t  if that is within |p_t| ≤ μ p_n, else the projection of  p_t − u_t / k_max

u_t velocity across, p impulse so far, K = J M⁻¹ Jᵀ of the point, k_max a bound of it. Points are solved one after the
other, each at the velocities that the ones before left.

Reference: Bender, dissertation, §5.2.5.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.solvers.contacts.kernels.twist import TINY, Twist
from rattleback.solvers.contacts.problem.manifolds import ManifoldPoints, Manifolds


@wp.func
def clamp_to_cone(p: vec3, mu: real) -> vec3:
    """An impulse projected on its friction cone."""
    normal = wp.max(p[0], real(0.0))
    tangential_squared = p[1] * p[1] + p[2] * p[2]
    if tangential_squared <= mu * normal * (mu * normal):
        return vec3(normal, p[1], p[2])
    part = mu * normal / wp.max(wp.sqrt(tangential_squared), TINY)
    return vec3(normal, part * p[1], part * p[2])


@wp.func
def solve_friction_point(block_tt: mat33, mu: real, points: ManifoldPoints, c: int, twist: Twist) -> Twist:
    """Correct one point across the normal, within its friction."""
    p = points.impulse[c]
    if p[0] == real(0.0) and p[1] == real(0.0) and p[2] == real(0.0):
        return twist
    place = points.place[c]
    x = place[0]
    y = place[1]
    u1 = twist.tangent[0] - y * twist.tangent[2]
    u2 = twist.tangent[1] + x * twist.tangent[2]
    # Response of the tangential twist to f1 and f2.
    by_1 = vec3(
        block_tt[0, 0] - y * block_tt[0, 2], block_tt[1, 0] - y * block_tt[1, 2], block_tt[2, 0] - y * block_tt[2, 2]
    )
    by_2 = vec3(
        block_tt[0, 1] + x * block_tt[0, 2], block_tt[1, 1] + x * block_tt[1, 2], block_tt[2, 1] + x * block_tt[2, 2]
    )
    k_11 = by_1[0] - y * by_1[2]
    k_22 = by_2[1] + x * by_2[2]
    k_12 = by_1[1] + x * by_1[2]
    share = real(1.0) / (k_11 * k_22 - k_12 * k_12)
    f1 = (share * k_12) * u2 - (share * k_22) * u1
    f2 = (share * k_12) * u1 - (share * k_11) * u2
    q1 = p[1] + f1
    q2 = p[2] + f2
    limit = mu * p[0]
    moved = u1 * u1 + u2 * u2
    if q1 * q1 + q2 * q2 > limit * limit:
        # A sliding impulse opposes the velocity: a scalar keeps that direction, K_tt⁻¹ would rotate it.
        most = wp.max(k_11, k_22) + wp.abs(k_12)
        step = real(1.0) / most
        q1 = p[1] - step * u1
        q2 = p[2] - step * u2
        part = wp.min(limit / wp.max(wp.sqrt(q1 * q1 + q2 * q2), TINY), real(1.0))
        q1 *= part
        q2 *= part
        f1 = q1 - p[1]
        f2 = q2 - p[2]
        moved = most * most * (f1 * f1 + f2 * f2)
    twist.tangential_residual_squared = wp.max(twist.tangential_residual_squared, moved)
    twist.tangent += f1 * by_1 + f2 * by_2
    twist.tangent_impulse += vec3(f1, f2, x * f2 - y * f1)
    points.impulse[c] = vec3(p[0], q1, q2)
    return twist


@wp.func
def has_resistance(manifolds: Manifolds, k: int) -> bool:
    """Whether a manifold resists spinning or rolling."""
    return manifolds.rolling[k] + manifolds.spinning[k] > real(0.0)


@wp.func
def solve_resistance(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """Moments that resist spinning about the normal and rolling, within their limits."""
    pushed = real(0.0)
    for c in range(manifolds.first[k], manifolds.first[k] + manifolds.count[k]):
        pushed += points.impulse[c][0]
    block_nn = manifolds.block_nn[k]
    normal = twist.normal + wp.transpose(manifolds.block_tn[k]) * twist.tangent_impulse
    old = manifolds.resisting_moment[k]
    limit = manifolds.spinning[k] * pushed
    spinning = wp.clamp(old[0] - twist.tangent[2] / manifolds.block_tt[k][2, 2], -limit, limit)
    det = block_nn[1, 1] * block_nn[2, 2] - block_nn[1, 2] * block_nn[1, 2]
    r1 = old[1] - (block_nn[2, 2] * normal[1] - block_nn[1, 2] * normal[2]) / det
    r2 = old[2] - (block_nn[1, 1] * normal[2] - block_nn[1, 2] * normal[1]) / det
    size = wp.sqrt(r1 * r1 + r2 * r2)
    part = wp.min(real(1.0), manifolds.rolling[k] * pushed / wp.max(size, TINY))
    new = vec3(spinning, part * r1, part * r2)
    twist.normal_impulse += vec3(real(0.0), new[1] - old[1], new[2] - old[2])
    twist.tangent_impulse += vec3(real(0.0), real(0.0), new[0] - old[0])
    manifolds.resisting_moment[k] = new
    return twist


@wp.func
def solve_friction_in_turn(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """Correct the points of a manifold across the normal, one after the other, forward and backward."""
    first = manifolds.first[k]
    count = manifolds.count[k]
    block_tt = manifolds.block_tt[k]
    mu = manifolds.friction[k]
    for i in range(count):
        twist = solve_friction_point(block_tt, mu, points, first + i, twist)
    for i in range(1, count):
        twist = solve_friction_point(block_tt, mu, points, first + count - 1 - i, twist)
    return twist


@wp.func
def solve_friction_points(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """Correct the points of a manifold across the normal, then the resisting moments."""
    twist = solve_friction_in_turn(manifolds, points, k, twist)
    if has_resistance(manifolds, k):
        twist = solve_resistance(manifolds, points, k, twist)
    return twist
