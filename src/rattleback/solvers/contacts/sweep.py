"""The arithmetic of contact impulses: one patch after the other gets the impulses that correct its own velocities.

A patch works in its own axes (n, t, s) at its middle, with the twist (u, ω) of A against B there. A point at x t + y s
moves with

    u_n + ω_t y − ω_s x,   u_t − ω_n y,   u_s + ω_n x.

A flat patch is first taken whole: the wrench that stops it, spread over its points. If every point then pushes and
grips, that is the answer. If not, its points are solved one after the other, forth and back:

    p_n ← max(p_n − (u_n + wanted) / k_nn, 0)
    p_t ← p_t − K_tt⁻¹ u_t  if that is within |p_t| ≤ μ p_n, else what is nearest in there to  p_t − u_t / k_max

p impulses on A so far, K = J M⁻¹ Jᵀ of the point. The drive and spin of a patch and what its points want are added to
the velocities, so that the same arithmetic serves velocities, positions and rebounds.

    for every patch in order: twist of its bodies, wrench, apply it to them
Cost: on one thread about 0.1 µs for a flat patch that holds, 0.5 µs for one of four points that slides or lifts.

Reference: Bender, dissertation, §5.2.1 (eq. 5.5–5.7), §5.2.5.
"""

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.patch import Patches, PatchPoints, Pressing, Weights, twist_of, world

# Smaller than any square of an impulse that means something.
TINY = wp.constant(real(1e-30))


@wp.struct
class Twist:
    """Twist of a patch, the wrench it has got in this sweep, and how large the changes were along n and across."""

    u: vec3
    w: vec3
    f: vec3
    m: vec3
    along: real
    across: real


@wp.func
def hold_whole(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> tuple[Twist, bool]:
    """The wrench that stops a flat patch, if all its points then push and grip."""
    first = patches.first[k]
    count = patches.count[k]
    f = -(patches.stop_f[k] * twist.u + patches.stop_m[k] * twist.w)
    m = -(wp.transpose(patches.stop_m[k]) * twist.u + patches.stop_c[k] * twist.w)
    spread = patches.spread[k]
    part = real(1.0) / real(count)
    by_x = spread[1] * m[1] - spread[0] * m[2]
    by_y = spread[2] * m[1] - spread[1] * m[2]
    # The second moments add up to (xx + yy) of the inverse, over its determinant.
    around = m[0] * (spread[0] * spread[2] - spread[1] * spread[1]) / (spread[0] + spread[2])
    mu = patches.grip[k]
    for c in range(first, first + count):
        place = points.place[c]
        p = points.impulse[c]
        p += part * f + vec3(by_x * place[0] + by_y * place[1], -around * place[1], around * place[0])
        grip = mu * p[0]
        if p[0] < real(0.0) or p[1] * p[1] + p[2] * p[2] > grip * grip:
            return twist, False
    for c in range(first, first + count):
        place = points.place[c]
        change = part * f + vec3(by_x * place[0] + by_y * place[1], -around * place[1], around * place[0])
        points.impulse[c] = points.impulse[c] + change
        u1 = twist.u[1] - twist.w[0] * place[1]
        u2 = twist.u[2] + twist.w[0] * place[0]
        twist.along = wp.max(twist.along, wp.abs(twist.u[0] + twist.w[1] * place[1] - twist.w[2] * place[0]))
        twist.across = wp.max(twist.across, wp.sqrt(u1 * u1 + u2 * u2))
    twist.f = f
    twist.m = m
    return twist, True


@wp.func
def push_point(patches: Patches, points: PatchPoints, k: int, c: int, twist: Twist) -> Twist:
    """Correct one point along the normal."""
    place = points.place[c]
    p = points.impulse[c]
    by = vec3(real(0.0), place[1], -place[0])
    u = twist.u[0] + wp.dot(by, twist.w) + place[2]
    if p[0] == real(0.0) and u >= real(0.0):
        return twist
    give = patches.give[k]
    lean = patches.lean[k]
    turn = patches.turn[k]
    leaning = vec3(lean[0, 0], lean[1, 0], lean[2, 0])
    turned = leaning + turn * by
    k_nn = give[0, 0] + wp.dot(by, leaning) + wp.dot(by, turned)
    dn = wp.max(-u / k_nn, -p[0])
    twist.along = wp.max(twist.along, wp.abs(dn) * k_nn)
    twist.u += dn * (vec3(give[0, 0], give[1, 0], give[2, 0]) + wp.transpose(lean) * by)
    twist.w += dn * turned
    twist.f += vec3(dn, real(0.0), real(0.0))
    twist.m += dn * by
    points.impulse[c] = vec3(p[0] + dn, p[1], p[2])
    return twist


@wp.func
def grip_point(patches: Patches, points: PatchPoints, k: int, c: int, twist: Twist) -> Twist:
    """Correct one point across the normal, within its friction."""
    p = points.impulse[c]
    if p[0] == real(0.0) and p[1] == real(0.0) and p[2] == real(0.0):
        return twist
    place = points.place[c]
    x = place[0]
    y = place[1]
    give = patches.give[k]
    lean = patches.lean[k]
    turn = patches.turn[k]
    u1 = twist.u[1] - y * twist.w[0]
    u2 = twist.u[2] + x * twist.w[0]
    k_11 = give[1, 1] - real(2.0) * y * lean[0, 1] + y * y * turn[0, 0]
    k_22 = give[2, 2] + real(2.0) * x * lean[0, 2] + x * x * turn[0, 0]
    k_12 = give[1, 2] - y * lean[0, 2] + x * lean[0, 1] - x * y * turn[0, 0]
    share = real(1.0) / (k_11 * k_22 - k_12 * k_12)
    f1 = share * (k_22 * u1 - k_12 * u2)
    f2 = share * (k_11 * u2 - k_12 * u1)
    q1 = p[1] - f1
    q2 = p[2] - f2
    limit = patches.grip[k] * p[0]
    square = q1 * q1 + q2 * q2
    moved = wp.sqrt(u1 * u1 + u2 * u2)
    if square > limit * limit:
        # It slides against its velocity; K_tt⁻¹ would turn the impulse away from there, a number does not.
        apart = wp.sqrt((k_11 - k_22) * (k_11 - k_22) + real(4.0) * k_12 * k_12)
        step = real(2.0) / (k_11 + k_22 + apart)
        q1 = p[1] - step * u1
        q2 = p[2] - step * u2
        part = wp.min(limit / wp.max(wp.sqrt(q1 * q1 + q2 * q2), TINY), real(1.0))
        q1 *= part
        q2 *= part
        taken = (q1 - p[1]) * (q1 - p[1]) + (q2 - p[2]) * (q2 - p[2])
        moved = wp.sqrt(taken) / step
    twist.across = wp.max(twist.across, moved)
    f = vec3(real(0.0), q1 - p[1], q2 - p[2])
    m = x * f[2] - y * f[1]
    twist.u += give * f + m * vec3(lean[0, 0], lean[0, 1], lean[0, 2])
    twist.w += lean * f + m * vec3(turn[0, 0], turn[1, 0], turn[2, 0])
    twist.f += f
    twist.m += vec3(m, real(0.0), real(0.0))
    points.impulse[c] = vec3(p[0], q1, q2)
    return twist


@wp.func
def resist(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> Twist:
    """The moments that resist spinning about the normal and rolling, within what the points push."""
    pushed = real(0.0)
    for c in range(patches.first[k], patches.first[k] + patches.count[k]):
        pushed += points.impulse[c][0]
    turn = patches.turn[k]
    old = patches.couple[k]
    limit = patches.spinning[k] * pushed
    spinning = wp.clamp(old[0] - twist.w[0] / turn[0, 0], -limit, limit)
    det = turn[1, 1] * turn[2, 2] - turn[1, 2] * turn[1, 2]
    r1 = old[1] - (turn[2, 2] * twist.w[1] - turn[1, 2] * twist.w[2]) / det
    r2 = old[2] - (turn[1, 1] * twist.w[2] - turn[1, 2] * twist.w[1]) / det
    size = wp.sqrt(r1 * r1 + r2 * r2)
    part = wp.min(real(1.0), patches.rolling[k] * pushed / wp.max(size, TINY))
    new = vec3(spinning, part * r1, part * r2)
    m = new - old
    twist.u += wp.transpose(patches.lean[k]) * m
    twist.w += turn * m
    twist.m += m
    patches.couple[k] = new
    return twist


@wp.func
def solve_twist(patches: Patches, points: PatchPoints, k: int, twist: Twist) -> Twist:
    """The wrench that a patch needs."""
    first = patches.first[k]
    count = patches.count[k]
    resists = patches.rolling[k] + patches.spinning[k] > real(0.0)
    if patches.whole[k] == 1 and not resists:
        twist, holds = hold_whole(patches, points, k, twist)
        if holds:
            return twist
    pushed = real(0.0)
    for c in range(first, first + count):
        twist = push_point(patches, points, k, c, twist)
        pushed += points.impulse[c][0]
    if pushed == real(0.0) and twist.along == real(0.0):
        return twist
    for i in range(1, count):
        twist = push_point(patches, points, k, first + count - 1 - i, twist)
    for i in range(count):
        twist = grip_point(patches, points, k, first + i, twist)
    for i in range(1, count):
        twist = grip_point(patches, points, k, first + count - 1 - i, twist)
    if resists:
        twist = resist(patches, points, k, twist)
    return twist


@wp.func
def push_body(bodies: Bodies, weights: Weights, motion: Motion, i: int, arm: vec3, f: vec3, m: vec3) -> None:
    """Apply a wrench at the end of an arm from its centre of mass to a body, static ones aside."""
    mass = bodies.inverse_mass[i]
    if mass > real(0.0):
        motion.velocity[i] = motion.velocity[i] + mass * f
        motion.angular_velocity[i] = motion.angular_velocity[i] + weights.inverse_inertia[i] * (m + wp.cross(arm, f))


@wp.func
def apply(bodies: Bodies, pressing: Pressing, motion: Motion, k: int, f: vec3, m: vec3) -> None:
    """Apply a wrench of the world at the middle of a patch to A, its opposite to B."""
    push_body(bodies, pressing.weights, motion, pressing.patches.body_a[k], pressing.patches.arm_a[k], f, m)
    push_body(bodies, pressing.weights, motion, pressing.patches.body_b[k], pressing.patches.arm_b[k], -f, -m)


@wp.func
def solve_patch(bodies: Bodies, pressing: Pressing, motion: Motion, k: int) -> tuple[real, real]:
    """Correct the velocities of a patch; returns the largest changes along its normal and across."""
    twist = Twist()
    u, w = twist_of(pressing.patches, motion, k)
    twist.u = u + pressing.patches.drive[k]
    twist.w = w + pressing.patches.spin[k]
    twist = solve_twist(pressing.patches, pressing.points, k, twist)
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    if wp.dot(twist.f, twist.f) + wp.dot(twist.m, twist.m) > real(0.0):
        apply(bodies, pressing, motion, k, world(n, t, twist.f), world(n, t, twist.m))
    return twist.along, twist.across


@wp.func
def push_patch(bodies: Bodies, pressing: Pressing, motion: Motion, k: int) -> None:
    """Apply the impulses the points of a patch have."""
    force = vec3()
    moment = pressing.patches.couple[k]
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        p = pressing.points.impulse[c]
        place = pressing.points.place[c]
        force += p
        moment += vec3(place[0] * p[2] - place[1] * p[1], place[1] * p[0], -place[0] * p[0])
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    apply(bodies, pressing, motion, k, world(n, t, force), world(n, t, moment))
