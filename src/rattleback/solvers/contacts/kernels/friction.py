"""How the points of a patch rub: what holds them across the normal, within their friction, and what resists turning.

    p_t ← p_t − K_tt⁻¹ u_t  if that is within |p_t| ≤ μ p_n, else what is nearest in there to  p_t − u_t / k_max

u_t velocity across, p impulse so far, K = J M⁻¹ Jᵀ of the point, k_max a bound of it. Points are taken one after the
other, each with what the others have changed.

Reference: Bender, dissertation, §5.2.5.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.solvers.contacts.kernels.twist import TINY, Twist
from rattleback.solvers.contacts.problem.manifolds import Patches, PatchPoints


@wp.func
def allowed(p: vec3, mu: real) -> vec3:
    """An impulse without pull and with no more friction than it has."""
    push = wp.max(p[0], real(0.0))
    rub = p[1] * p[1] + p[2] * p[2]
    if rub <= mu * push * (mu * push):
        return vec3(push, p[1], p[2])
    part = mu * push / wp.max(wp.sqrt(rub), TINY)
    return vec3(push, part * p[1], part * p[2])


@wp.func
def grip_point(skid: mat33, mu: real, points: PatchPoints, c: int, twist: Twist) -> Twist:
    """Correct one point across the normal, within its friction."""
    p = points.impulse[c]
    if p[0] == real(0.0) and p[1] == real(0.0) and p[2] == real(0.0):
        return twist
    place = points.place[c]
    x = place[0]
    y = place[1]
    u1 = twist.side[0] - y * twist.side[2]
    u2 = twist.side[1] + x * twist.side[2]
    # How side answers to f1 and f2.
    by_1 = vec3(skid[0, 0] - y * skid[0, 2], skid[1, 0] - y * skid[1, 2], skid[2, 0] - y * skid[2, 2])
    by_2 = vec3(skid[0, 1] + x * skid[0, 2], skid[1, 1] + x * skid[1, 2], skid[2, 1] + x * skid[2, 2])
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
        # It slides against its velocity; K_tt⁻¹ would turn the impulse away from there, a number does not.
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
    twist.across = wp.max(twist.across, moved)
    twist.side += f1 * by_1 + f2 * by_2
    twist.rub += vec3(f1, f2, x * f2 - y * f1)
    points.impulse[c] = vec3(p[0], q1, q2)
    return twist


@wp.func
def resists(patches: Patches, k: int) -> bool:
    """Whether a patch resists spinning or rolling."""
    return patches.rolling[k] + patches.spinning[k] > real(0.0)


@wp.func
def resist(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> Twist:
    """The moments that resist spinning about the normal and rolling, within what the points push."""
    pushed = real(0.0)
    for c in range(patches.first[k], patches.first[k] + patches.count[k]):
        pushed += points.impulse[c][0]
    rise = patches.rise[k]
    up = twist.up + wp.transpose(patches.drag[k]) * twist.rub
    old = patches.couple[k]
    limit = patches.spinning[k] * pushed
    spinning = wp.clamp(old[0] - twist.side[2] / patches.skid[k][2, 2], -limit, limit)
    det = rise[1, 1] * rise[2, 2] - rise[1, 2] * rise[1, 2]
    r1 = old[1] - (rise[2, 2] * up[1] - rise[1, 2] * up[2]) / det
    r2 = old[2] - (rise[1, 1] * up[2] - rise[1, 2] * up[1]) / det
    size = wp.sqrt(r1 * r1 + r2 * r2)
    part = wp.min(real(1.0), patches.rolling[k] * pushed / wp.max(size, TINY))
    new = vec3(spinning, part * r1, part * r2)
    twist.push += vec3(real(0.0), new[1] - old[1], new[2] - old[2])
    twist.rub += vec3(real(0.0), real(0.0), new[0] - old[0])
    patches.couple[k] = new
    return twist


@wp.func
def grip_in_turn(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> Twist:
    """Correct the points of a patch across the normal, one after the other, forth and back."""
    first = patches.first[k]
    count = patches.count[k]
    skid = patches.skid[k]
    mu = patches.grip[k]
    for i in range(count):
        twist = grip_point(skid, mu, points, first + i, twist)
    for i in range(1, count):
        twist = grip_point(skid, mu, points, first + count - 1 - i, twist)
    return twist


@wp.func
def grip_points(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> Twist:
    """Correct the points of a patch across the normal, and what resists turning."""
    twist = grip_in_turn(patches, points, k, twist)
    if resists(patches, k):
        twist = resist(patches, points, k, twist)
    return twist
