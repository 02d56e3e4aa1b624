"""Patches: the contact points of two solids taken together, in the order they are solved, and how they answer.

    K = Σ [ 1/m + rˣᵀ I⁻¹ rˣ    rˣᵀ I⁻¹ ]     over the two bodies of a patch, in its axes (n, t, s = n × t),
          [ I⁻¹ rˣ              I⁻¹     ]     r from the centre of mass to its middle

K says how a wrench (f, m) at the middle changes the twist (u, ω) of A against B there; its inverse which wrench stops
the patch whole. The points of a patch share their bodies and their normal.

Reference: Bender, dissertation, §5.2.1 (one point of a patch).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

# Patches whose points are nearly on a line, by the ratio of their second moments, are not taken whole.
NARROW = wp.constant(real(1e-4))


@group(axis="contacts")
class Patches:
    """Patches in the order they are solved; no more than there are contacts. Axes (n, t, s)."""

    first: wp.int32 = field("1", "its first point")
    count: wp.int32 = field("1", "number of its points")
    contact: wp.int32 = field("1", "row of its first contact")
    body_a: wp.int32 = field("1", "row of body A")
    body_b: wp.int32 = field("1", "row of body B")
    world: wp.int32 = field("1", "its world")
    flat: wp.int32 = field("1", "1 where its points span a plane")
    whole: wp.int32 = field("1", "1 where it may be taken whole: it is flat and all its points want the same")
    normal: vec3 = field("1", "unit normal n from B to A")
    tangent: vec3 = field("1", "unit vector t across it")
    arm_a: vec3 = field("m", "from the centre of mass of A to its middle, world frame")
    arm_b: vec3 = field("m", "from that of B")
    stop_f: mat33 = field("kg", "inverse of K: force by velocity")
    stop_m: mat33 = field("kg m", "inverse of K: force by angular velocity")
    stop_c: mat33 = field("kg m²", "inverse of K: moment by angular velocity")
    give: mat33 = field("1/kg", "K: velocity by force")
    lean: mat33 = field("1/(kg m)", "K: angular velocity by force")
    turn: mat33 = field("1/(kg m²)", "K: angular velocity by moment")
    spread: vec3 = field("1/m²", "inverse of the second moments of its points: xx, xy, yy")
    drive: vec3 = field("m/s", "added to its velocity")
    spin: vec3 = field("rad/s", "added to its angular velocity")
    couple: vec3 = field("N m s", "moment of the resistance to spinning and rolling so far")
    grip: real = field("1", "coefficient of friction in force")
    static_friction: real = field("1", "coefficient of friction where it sticks")
    dynamic_friction: real = field("1", "coefficient of friction where it slides")
    rolling: real = field("m", "arm of the rolling resistance")
    spinning: real = field("m", "arm of the resistance to spinning")
    restitution: real = field("1", "coefficient of restitution")
    rider: wp.int32 = field("1", "body that stands on the other; -1 where neither does")
    load: real = field("N s", "what its points push with together")
    swept: wp.int32 = field("1", "last sweep that looked at it")


@group(axis="contacts")
class PatchPoints:
    """The contact points of the patches, one patch after the other."""

    place: vec3 = field("m, m, m/s", "x and y in the patch; what is added to the velocity along the normal")
    impulse: vec3 = field("N s", "impulse on A so far, axes of the patch")
    force: vec3 = field("N", "force on A in the last step, axes of the patch")
    slip: vec3 = field("m", "way A has crept against B since the point began to stick, world frame")
    sticks: wp.int32 = field("1", "1 where it pushes and its friction is not used up")


@group(axis="bodies")
class Weights:
    """How the bodies answer to a push now."""

    inverse_inertia: mat33 = field("1/(kg m²)", "inverse inertia, axes of the world")
    pushed: wp.int32 = field("1", "last sweep in which it was pushed so that it matters")


@wp.struct
class Pressing:
    """All that a sweep over the patches works on."""

    patches: Patches
    points: PatchPoints
    weights: Weights


@wp.func
def local(n: vec3, t: vec3, v: vec3) -> vec3:
    """A vector of the world in the axes of a patch."""
    return vec3(wp.dot(n, v), wp.dot(t, v), wp.dot(wp.cross(n, t), v))


@wp.func
def world(n: vec3, t: vec3, v: vec3) -> vec3:
    """A vector in the axes of a patch, in the world."""
    return v[0] * n + v[1] * t + v[2] * wp.cross(n, t)


@wp.func
def across(n: vec3) -> vec3:
    """A unit vector across a unit vector, that small turns of it change little."""
    if wp.abs(n[2]) > real(0.7):
        return wp.normalize(wp.cross(vec3(real(0.0), real(1.0), real(0.0)), n))
    return wp.normalize(wp.cross(vec3(real(0.0), real(0.0), real(1.0)), n))


@wp.kernel(enable_backward=False)
def weigh(bodies: Bodies, motion: Motion, weights: Weights) -> None:
    """Inverse inertias in the axes of the world."""
    i = wp.tid()
    if bodies.inverse_mass[i] > real(0.0):
        r = wp.quat_to_matrix(motion.orientation[i])
        weights.inverse_inertia[i] = r * bodies.inverse_inertia[i] * wp.transpose(r)


@wp.func
def place_points(contacts: Contacts, patches: Patches, points: PatchPoints, k: int) -> vec3:
    """The points of a patch about their middle, which is returned, and how they are spread."""
    first = patches.first[k]
    count = patches.count[k]
    row = patches.contact[k]
    middle = vec3()
    for i in range(count):
        middle += contacts.point[row + i]
    middle = middle / real(count)
    n = contacts.normal[row]
    t = across(n)
    s = wp.cross(n, t)
    xx = real(0.0)
    xy = real(0.0)
    yy = real(0.0)
    for i in range(count):
        d = contacts.point[row + i] - middle
        x = wp.dot(d, t)
        y = wp.dot(d, s)
        xx += x * x
        xy += x * y
        yy += y * y
        points.place[first + i] = vec3(x, y, real(0.0))
    patches.normal[k] = n
    patches.tangent[k] = t
    det = xx * yy - xy * xy
    patches.flat[k] = wp.where(count >= 3 and det > NARROW * (xx + yy) * (xx + yy), 1, 0)
    if patches.flat[k] == 1:
        patches.spread[k] = vec3(yy / det, -xy / det, xx / det)
    return middle


@wp.func
def answer(bodies: Bodies, pressing: Pressing, k: int, to: int, share_a: real, share_b: real) -> None:
    """K of a patch in its own axes, and its inverse, to a row; bodies may answer with a share of what they would."""
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    s = wp.cross(n, t)
    axes = wp.matrix_from_cols(n, t, s)
    give = mat33()
    lean = mat33()
    turn = mat33()
    for side in range(2):
        i = wp.where(side == 0, pressing.patches.body_a[k], pressing.patches.body_b[k])
        r = wp.where(side == 0, pressing.patches.arm_a[k], pressing.patches.arm_b[k])
        share = wp.where(side == 0, share_a, share_b)
        if bodies.inverse_mass[i] * share > real(0.0):
            by = wp.matrix_from_cols(wp.cross(r, n), wp.cross(r, t), wp.cross(r, s))
            inverse = share * pressing.weights.inverse_inertia[i]
            turned = inverse * by
            give += share * bodies.inverse_mass[i] * wp.identity(n=3, dtype=real) + wp.transpose(by) * turned
            lean += wp.transpose(axes) * turned
            turn += wp.transpose(axes) * inverse * axes
    pressing.patches.give[to] = give
    pressing.patches.lean[to] = lean
    pressing.patches.turn[to] = turn
    if pressing.patches.flat[k] == 1:
        back = wp.inverse(turn)
        half = back * lean
        first = wp.inverse(give - wp.transpose(lean) * half)
        pressing.patches.stop_f[to] = first
        pressing.patches.stop_m[to] = -(first * wp.transpose(half))
        pressing.patches.stop_c[to] = back + half * first * wp.transpose(half)


@wp.func
def twist_of(patches: Patches, motion: Motion, k: int) -> tuple[vec3, vec3]:
    """Velocity and angular velocity of A against B at the middle of a patch, in its axes."""
    a = patches.body_a[k]
    b = patches.body_b[k]
    n = patches.normal[k]
    t = patches.tangent[k]
    wa = motion.angular_velocity[a]
    wb = motion.angular_velocity[b]
    u = motion.velocity[a] + wp.cross(wa, patches.arm_a[k]) - motion.velocity[b] - wp.cross(wb, patches.arm_b[k])
    return local(n, t, u), local(n, t, wa - wb)
