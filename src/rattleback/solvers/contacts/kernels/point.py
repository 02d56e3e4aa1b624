"""The correction of a manifold point by point: along the normal and then within the friction cone.

    p_n ← max(p_n − (u_n + b_n) / K_nn, 0),     p_t ← projection of  p_t − K_tt⁻¹ (u_t + b_t)  on  |p_t| ≤ μ p_n

u, b, K of the point, see ``kernels.block`` and ``kernels.friction``; each meets what the points before have changed.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import push_point, separates
from rattleback.solvers.contacts.kernels.friction import grip_point, resist, resists
from rattleback.solvers.contacts.kernels.twist import Twist, apply_twist, make_twist
from rattleback.solvers.contacts.problem.manifolds import Patches, PatchPoints, Pressing, twist_of


@wp.func
def solve_twist_by_points(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> Twist:
    """The wrench that a manifold needs, point by point."""
    first = patches.first[k]
    drag = patches.drag[k]
    for c in range(first, first + patches.count[k]):
        pushed = twist.push
        twist = push_point(patches.rise[k], points, c, twist)
        twist.side += drag * (twist.push - pushed)
        rubbed = twist.rub
        twist = grip_point(patches.skid[k], patches.grip[k], points, c, twist)
        twist.up += wp.transpose(drag) * (twist.rub - rubbed)
    if resists(patches, k):
        # What friction has done to the normal twist is counted by the resistance itself.
        twist.up -= wp.transpose(drag) * twist.rub
        twist = resist(patches, points, k, twist)
    return twist


@wp.func
def solve_points(bodies: Bodies, pressing: Pressing, motion: Motion, k: int) -> tuple[real, real]:
    """Correct the velocities of a manifold; returns the largest changes along its normal and across."""
    patches = pressing.patches
    u, w = twist_of(patches, motion, k)
    twist = make_twist(u + patches.drive[k], w + patches.spin[k])
    if separates(patches, pressing.points, k, twist):
        return real(0.0), real(0.0)
    twist = solve_twist_by_points(patches, pressing.points, k, twist)
    apply_twist(bodies, pressing, motion, k, twist)
    return twist.along, wp.sqrt(twist.across)
