"""Patches: the contact points of two solids taken together, in the order they are solved, and how they answer.

    K = Σ [ 1/m + rˣᵀ I⁻¹ rˣ    rˣᵀ I⁻¹ ]     over the two bodies of a patch, in its axes (n, t, s = n × t),
          [ I⁻¹ rˣ              I⁻¹     ]     r from the centre of mass to its middle

K says how a wrench (f, m) at the middle changes the twist (u, ω) of A against B there; its inverse which wrench stops
the patch whole. The points of a patch share their bodies and their normal, so what pushes them apart is the part
(f_n, m_t, m_s) of the wrench alone, and what rubs them the part (f_t, f_s, m_n); K is kept in blocks for these two:

    (u_n, ω_t, ω_s) ← rise (f_n, m_t, m_s) + dragᵀ (f_t, f_s, m_n)
    (u_t, u_s, ω_n) ← drag (f_n, m_t, m_s) + skid (f_t, f_s, m_n)

Reference: Bender, dissertation, §5.2.1 (one point of a patch).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3
from rattleback.maths.small_solve import symmetric_inverse
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

# Patches whose points are nearly on a line, by the ratio of their second moments, are not taken whole.
NARROW = wp.constant(real(1e-4))
# Nor are those that, held across, hardly answer along the normal, by the ratio of determinants: it is lost in rounding.
ROUNDING = wp.constant(real(16.0 * epsilon))


@group(axis="contacts")
class Patches:
    """Patches in the order they are solved; no more than there are contacts. Axes (n, t, s)."""

    first: wp.int32 = field("1", "its first point")
    count: wp.int32 = field("1", "number of its points")
    contact: wp.int32 = field("1", "row of its first contact")
    body_a: wp.int32 = field("1", "row of body A")
    body_b: wp.int32 = field("1", "row of body B")
    world: wp.int32 = field("1", "its world")
    jointed: wp.int32 = field("1", "1 where a joint holds one of its bodies")
    flat: wp.int32 = field("1", "1 where its points span a plane and all of them touch")
    whole: wp.int32 = field("1", "1 where it may be taken whole: it is flat and all its points want the same")
    normal: vec3 = field("1", "unit normal n from B to A")
    tangent: vec3 = field("1", "unit vector t across it")
    arm_a: vec3 = field("m", "from the centre of mass of A to its middle, world frame")
    arm_b: vec3 = field("m", "from that of B")
    rise: mat33 = field("1/kg, 1/(kg m), 1/(kg m²)", "block of K: along the normal by what pushes")
    drag: mat33 = field("1/kg, 1/(kg m), 1/(kg m²)", "block of K: across by what pushes")
    skid: mat33 = field("1/kg, 1/(kg m), 1/(kg m²)", "block of K: across by what rubs")
    still: mat33 = field("kg, kg m, kg m²", "inverse of rise: what stops it along the normal where nothing rubs")
    calm: mat33 = field("kg, kg m, kg m²", "inverse of skid: what stops it across where nothing pushes")
    lead: mat33 = field("1, m, 1/m", "calm times drag: what holds it across against what pushes")
    hold: mat33 = field("kg, kg m, kg m²", "what stops it along the normal while it is held across")
    spread: vec3 = field("1/m²", "inverse of the second moments of its points: xx, xy, yy")
    remainder: vec3 = field("m", "what its linear way over the last step left out")
    extent: real = field("m²", "square of the motion that this came from; zero where it is not known")
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
    swept: wp.int32 = field("1", "last sweep that solved it")


@group(axis="contacts")
class PatchPoints:
    """The contact points of the patches, one patch after the other."""

    place: vec3 = field("m, m, m/s", "x and y in the patch; what is added to the velocity along the normal")
    impulse: vec3 = field("N s", "impulse on A so far, axes of the patch")
    load: vec3 = field("N", "force on A that the step begins with, axes of the patch")
    acted: vec3 = field("N s", "impulse on A before the step is taken, axes of the patch")
    given: vec3 = field("N s", "impulse on A in the step so far where its row is another one, world frame")
    slip: vec3 = field("m", "way A has crept against B since the point began to stick, world frame")
    remainder: vec3 = field("m", "what its linear way over the last step left out, world frame")
    extent: real = field("m²", "square of the motion that this came from")
    lift: real = field("m", "what its remainder along the normal has beside that of its patch")
    sticks: wp.int32 = field("1", "1 where it pushes and its friction is not used up")


@group(axis="bodies")
class Weights:
    """How the bodies answer to a push now."""

    inverse_inertia: mat33 = field("1/(kg m²)", "inverse inertia, axes of the world")
    soft: wp.int32 = field("1", "1 where the stiffness of joints is in it")
    pushed: wp.int32 = field("1", "last sweep in which it was pushed so that it matters")
    withheld: vec3 = field("N s", "less the impulse that shock propagation kept from it while it stood still")


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
    upright = wp.abs(n[2]) > real(0.7)
    # e × n with e the axis y, or z; without a branch, which nobody could foresee.
    x = wp.where(upright, n[2], -n[1])
    other = wp.where(upright, -n[0], n[0])
    part = real(1.0) / wp.sqrt(x * x + other * other)
    x *= part
    other *= part
    return vec3(x, wp.where(upright, real(0.0), other), wp.where(upright, other, real(0.0)))


@wp.func
def is_alike(bodies: Bodies, i: int) -> bool:
    """Whether a body turns about any axis alike."""
    ratios = bodies.ratios[i]
    return wp.dot(ratios, ratios) == real(0.0)


@kernel
def weigh(bodies: Bodies, motion: Motion, weights: Weights, lanes: int) -> None:
    """Inverse inertias in the axes of the world; what turns about any axis alike has one in all axes."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        inverse = bodies.inverse_inertia[i]
        if not is_alike(bodies, i):
            r = wp.quat_to_matrix(motion.orientation[i])
            inverse = r * inverse * wp.transpose(r)
        weights.inverse_inertia[i] = inverse
        weights.soft[i] = 0


@wp.func
def place_points(contacts: Contacts, patches: Patches, points: PatchPoints, k: int, touching: real) -> vec3:
    """The points of a patch about their middle, which is returned, and how they are spread; which of them touch."""
    first = patches.first[k]
    count = patches.count[k]
    row = patches.contact[k]
    middle = vec3()
    farthest = contacts.separation[row]
    for i in range(count):
        middle += contacts.point[row + i]
        farthest = wp.max(farthest, contacts.separation[row + i])
    middle *= real(1.0) / real(count)
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
    wide = count >= 3 and det > NARROW * (xx + yy) * (xx + yy)
    patches.flat[k] = wp.where(wide and farthest <= touching, 1, 0)
    if patches.flat[k] == 1:
        patches.spread[k] = vec3(yy / det, -xy / det, xx / det)
    return middle


@wp.func
def keep_blocks(patches: Patches, give: mat33, lean: mat33, turn: mat33, k: int, to: int) -> None:
    """K, given as velocity by force, angular velocity by force and by moment, to a row in blocks, and its inverse."""
    column_n = vec3(give[0, 0], lean[1, 0], lean[2, 0])
    column_t = vec3(lean[1, 0], turn[1, 1], turn[2, 1])
    column_s = vec3(lean[2, 0], turn[1, 2], turn[2, 2])
    rise = wp.matrix_from_cols(column_n, column_t, column_s)
    column_n = vec3(give[1, 0], give[2, 0], lean[0, 0])
    column_t = vec3(lean[1, 1], lean[1, 2], turn[0, 1])
    column_s = vec3(lean[2, 1], lean[2, 2], turn[0, 2])
    drag = wp.matrix_from_cols(column_n, column_t, column_s)
    column_t = vec3(give[1, 1], give[2, 1], lean[0, 1])
    column_s = vec3(give[1, 2], give[2, 2], lean[0, 2])
    column_n = vec3(lean[0, 1], lean[0, 2], turn[0, 0])
    skid = wp.matrix_from_cols(column_t, column_s, column_n)
    patches.rise[to] = rise
    patches.drag[to] = drag
    patches.skid[to] = skid
    if patches.flat[k] == 1:
        calm, _ = symmetric_inverse(skid)
        lead = calm * drag
        still, free = symmetric_inverse(rise)
        hold, held = symmetric_inverse(rise - wp.transpose(drag) * lead)
        patches.calm[to] = calm
        patches.lead[to] = lead
        patches.still[to] = still
        patches.hold[to] = hold
        if not held > ROUNDING * free:
            patches.flat[k] = 0


@wp.func
def answer(bodies: Bodies, pressing: Pressing, k: int, to: int, share_a: real, share_b: real) -> None:
    """K of a patch in its own axes, and its inverse, to a row; bodies may answer with a share of what they would."""
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    axes = wp.matrix_from_cols(n, t, wp.cross(n, t))
    give = mat33()
    lean = mat33()
    turn = mat33()
    for side in range(2):
        i = wp.where(side == 0, pressing.patches.body_a[k], pressing.patches.body_b[k])
        share = wp.where(side == 0, share_a, share_b)
        mass = share * bodies.inverse_mass[i]
        if mass > real(0.0):
            r = local(n, t, wp.where(side == 0, pressing.patches.arm_a[k], pressing.patches.arm_b[k]))
            arm = wp.skew(r)
            inverse = pressing.weights.inverse_inertia[i]
            if is_alike(bodies, i) and pressing.weights.soft[i] == 0:
                ease = share * inverse[0, 0]
                all_ways = mass + ease * wp.dot(r, r)
                give += wp.diag(vec3(all_ways, all_ways, all_ways)) - wp.outer(ease * r, r)
                lean += ease * arm
                turn += wp.diag(vec3(ease, ease, ease))
            else:
                inverse = share * (wp.transpose(axes) * (inverse * axes))
                turned = inverse * arm
                give += wp.diag(vec3(mass, mass, mass)) + wp.transpose(arm) * turned
                lean += turned
                turn += inverse
    keep_blocks(pressing.patches, give, lean, turn, k, to)


@wp.func
def between(patches: Patches, moved: wp.array[vec3], turned: wp.array[vec3], k: int) -> tuple[vec3, vec3]:
    """How A moves against B at the middle of a patch and how it turns, in its axes, from how centres of mass move."""
    a = patches.body_a[k]
    b = patches.body_b[k]
    n = patches.normal[k]
    t = patches.tangent[k]
    turn_a = turned[a]
    turn_b = turned[b]
    u = moved[a] + wp.cross(turn_a, patches.arm_a[k]) - moved[b] - wp.cross(turn_b, patches.arm_b[k])
    return local(n, t, u), local(n, t, turn_a - turn_b)


@wp.func
def twist_of(patches: Patches, motion: Motion, k: int) -> tuple[vec3, vec3]:
    """Velocity and angular velocity of A against B at the middle of a patch, in its axes."""
    return between(patches, motion.velocity, motion.angular_velocity, k)


@wp.func
def moment_at(place: vec3, p: vec3) -> vec3:
    """Moment of an impulse at a point of a patch about its middle, in its axes."""
    return vec3(place[0] * p[2] - place[1] * p[1], place[1] * p[0], -place[0] * p[0])


@wp.func
def wrench_of(pressing: Pressing, k: int) -> tuple[vec3, vec3]:
    """The impulses that the points of a patch have, with what resists turning, as force and moment in its axes."""
    force = vec3()
    moment = pressing.patches.couple[k]
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        p = pressing.points.impulse[c]
        force += p
        moment += moment_at(pressing.points.place[c], p)
    return force, moment
