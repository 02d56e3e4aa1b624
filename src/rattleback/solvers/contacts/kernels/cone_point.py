"""One contact point under the convex relaxation ``cone``: all three components of its impulse at once.

    p ← p − K⁻¹ u                       if that is within the cone: the point sticks
    p ← P(p − (u + K δ) / k), again     otherwise; δ the change of p so far, k a bound of K

P projection on the cone |p_t| ≤ μ p_n, K = J M⁻¹ Jᵀ the 3 × 3 effective mass block of the point. Each repetition lowers
½ p·K p + u·p, and is zero exactly where u is within the dual cone and p · u = 0.

Cost: about twice a point of Coulomb's law where it slides.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.maths.small_solve import symmetric_inverse
from rattleback.solvers.contacts.kernels.laws import project_on_cone
from rattleback.solvers.contacts.kernels.twist import Twist
from rattleback.solvers.contacts.problem.manifolds import ManifoldPoints, Manifolds

# Projected steps of a point that slides, in one correction.
PROJECTED_STEPS = wp.constant(8)


@wp.func
def point_block(manifolds: Manifolds, k: int, x: real, y: real) -> mat33:
    """Effective mass K of a point of a manifold, at x t + y s."""
    n = vec3(real(1.0), y, -x)
    one = vec3(real(1.0), real(0.0), -y)
    two = vec3(real(0.0), real(1.0), x)
    by_n = manifolds.block_tn[k] * n
    by_1 = manifolds.block_tt[k] * one
    k_nn = wp.dot(n, manifolds.block_nn[k] * n)
    k_n1 = wp.dot(one, by_n)
    k_n2 = wp.dot(two, by_n)
    k_12 = wp.dot(two, by_1)
    k_22 = wp.dot(two, manifolds.block_tt[k] * two)
    return mat33(k_nn, k_n1, k_n2, k_n1, wp.dot(one, by_1), k_12, k_n2, k_12, k_22)


@wp.func
def largest_response(block: mat33) -> real:
    """A bound of the largest eigenvalue of an effective mass block: its trace, or its largest row sum."""
    rows = real(0.0)
    for i in range(3):
        rows = wp.max(rows, wp.abs(block[i, 0]) + wp.abs(block[i, 1]) + wp.abs(block[i, 2]))
    return wp.min(rows, block[0, 0] + block[1, 1] + block[2, 2])


@wp.func
def solve_cone_block(block: mat33, p: vec3, u: vec3, mu: real) -> vec3:
    """The impulse of a point at velocity u with the impulse p so far."""
    inverse, _ = symmetric_inverse(block)
    q = p - inverse * u
    if q[0] >= real(0.0) and wp.sqrt(q[1] * q[1] + q[2] * q[2]) <= mu * q[0]:
        return q
    part = real(1.0) / largest_response(block)
    q = p
    for _step in range(PROJECTED_STEPS):
        q = project_on_cone(q - part * (u + block * (q - p)), mu)
    return q


@wp.func
def solve_cone_point(manifolds: Manifolds, points: ManifoldPoints, k: int, c: int, twist: Twist) -> Twist:
    """Correct one point; the twist is right along the normal and across, before and after."""
    place = points.place[c]
    x = place[0]
    y = place[1]
    u = vec3(
        twist.normal[0] + y * twist.normal[1] - x * twist.normal[2] + place[2],
        twist.tangent[0] - y * twist.tangent[2],
        twist.tangent[1] + x * twist.tangent[2],
    )
    block = point_block(manifolds, k, x, y)
    p = points.impulse[c]
    q = solve_cone_block(block, p, u, manifolds.friction[k])
    f = q - p
    change = block * f
    normal_wrench = f[0] * vec3(real(1.0), y, -x)
    tangent_wrench = vec3(f[1], f[2], x * f[2] - y * f[1])
    twist.normal += manifolds.block_nn[k] * normal_wrench + wp.transpose(manifolds.block_tn[k]) * tangent_wrench
    twist.tangent += manifolds.block_tn[k] * normal_wrench + manifolds.block_tt[k] * tangent_wrench
    twist.normal_impulse += normal_wrench
    twist.tangent_impulse += tangent_wrench
    twist.normal_residual = wp.max(twist.normal_residual, wp.abs(change[0]))
    moved = change[1] * change[1] + change[2] * change[2]
    twist.tangential_residual_squared = wp.max(twist.tangential_residual_squared, moved)
    points.impulse[c] = q
    return twist
