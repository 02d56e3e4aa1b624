"""The correction of a manifold point by point: along the normal and then within the friction cone.

    p_n ← max(p_n − (u_n + b_n) / K_nn, 0),     p_t ← projection of  p_t − K_tt⁻¹ (u_t + b_t)  on  |p_t| ≤ μ p_n

u, b, K of the point, see ``kernels.block`` and ``kernels.friction``; each point sees the velocities that the points
before left.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import is_separating, solve_normal_point
from rattleback.solvers.contacts.kernels.friction import has_resistance, solve_friction_point, solve_resistance
from rattleback.solvers.contacts.kernels.twist import Twist, apply_twist, make_twist
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, ManifoldPoints, Manifolds, twist_of


@wp.func
def solve_twist_by_points(manifolds: Manifolds, points: ManifoldPoints, k: int, twist: Twist) -> Twist:
    """The wrench that corrects a manifold, point by point."""
    first = manifolds.first[k]
    block_tn = manifolds.block_tn[k]
    for c in range(first, first + manifolds.count[k]):
        pushed = twist.normal_impulse
        twist = solve_normal_point(manifolds.block_nn[k], points, c, twist)
        twist.tangent += block_tn * (twist.normal_impulse - pushed)
        rubbed = twist.tangent_impulse
        twist = solve_friction_point(manifolds.block_tt[k], manifolds.friction[k], points, c, twist)
        twist.normal += wp.transpose(block_tn) * (twist.tangent_impulse - rubbed)
    if has_resistance(manifolds, k):
        # The change of the normal twist by friction is in the resistance.
        twist.normal -= wp.transpose(block_tn) * twist.tangent_impulse
        twist = solve_resistance(manifolds, points, k, twist)
    return twist


@wp.func
def solve_points(bodies: Bodies, system: ContactSystem, motion: Motion, k: int) -> tuple[real, real]:
    """Correct the velocities of a manifold; returns the largest changes along its normal and across."""
    manifolds = system.manifolds
    u, w = twist_of(manifolds, motion, k)
    twist = make_twist(u + manifolds.bias[k], w + manifolds.angular_bias[k])
    if is_separating(manifolds, system.points, k, twist):
        return real(0.0), real(0.0)
    twist = solve_twist_by_points(manifolds, system.points, k, twist)
    apply_twist(bodies, system, motion, k, twist)
    return twist.normal_residual, wp.sqrt(twist.tangential_residual_squared)
