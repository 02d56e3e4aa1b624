"""Friction of one contact point under the law ``pyramid``: each tangent for itself, within a box.

    p_t ← clamp(p_t − u_t / k_tt, −μ p_n, μ p_n),     then p_s the same, at the velocity that this leaves

The limits are refreshed whenever p_n changes, so that this is the box of a mixed complementarity problem, not the QP
over a pyramid. Friction depends on the direction of the tangents: along a diagonal it is √2 times as large.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.solvers.contacts.kernels.twist import Twist
from rattleback.solvers.contacts.problem.manifolds import ManifoldPoints


@wp.func
def solve_box_point(block_tt: mat33, mu: real, points: ManifoldPoints, c: int, twist: Twist) -> Twist:
    """Correct one point across the normal, one tangent after the other."""
    p = points.impulse[c]
    if p[0] == real(0.0) and p[1] == real(0.0) and p[2] == real(0.0):
        return twist
    place = points.place[c]
    limit = mu * p[0]
    for axis in range(2):
        arm = vec3(real(1.0), real(0.0), -place[1])
        if axis == 1:
            arm = vec3(real(0.0), real(1.0), place[0])
        by = block_tt * arm
        response = wp.dot(arm, by)
        old = points.impulse[c][1 + axis]
        f = wp.clamp(old - wp.dot(arm, twist.tangent) / response, -limit, limit) - old
        twist.tangent += f * by
        twist.tangent_impulse += f * arm
        change = f * response
        twist.tangential_residual_squared = wp.max(twist.tangential_residual_squared, change * change)
        p = points.impulse[c]
        points.impulse[c] = vec3(p[0], wp.where(axis == 0, old + f, p[1]), wp.where(axis == 1, old + f, p[2]))
    return twist
