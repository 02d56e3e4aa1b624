"""Contact manifolds: the contact points of two convex parts, in the order they are solved, and their effective mass.

    K = Σ [ 1/m + rˣᵀ I⁻¹ rˣ    rˣᵀ I⁻¹ ]     over the two bodies of a manifold, in its axes (n, t, s = n × t),
          [ I⁻¹ rˣ              I⁻¹     ]     r from the centre of mass to its middle

K is the effective mass: a wrench (f, m) at the middle changes the twist (u, ω) of A against B there by K (f, m), and
its inverse gives the wrench that stops the manifold as one block. The points of a manifold share their bodies and their
normal, so normal impulses give only the part (f_n, m_t, m_s) of the wrench, and friction only the part (f_t, f_s, m_n);
K is stored in blocks for these two:

    (u_n, ω_t, ω_s) ← K_nn (f_n, m_t, m_s) + K_tnᵀ (f_t, f_s, m_n)
    (u_t, u_s, ω_n) ← K_tn (f_n, m_t, m_s) + K_tt (f_t, f_s, m_n)

Reference: Bender, dissertation, §5.2.1 (one point of a manifold).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3
from rattleback.maths.small_solve import symmetric_inverse
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

# Manifolds whose points are nearly on a line, by the ratio of their second moments, are not solved as one block.
MIN_MOMENT_RATIO = wp.constant(real(1e-4))
# Nor are those whose Schur complement is rounding, by the ratio of its determinant to that of K_nn.
MIN_DETERMINANT_RATIO = wp.constant(real(16.0 * epsilon))


@group(axis="contacts")
class Manifolds:
    """Manifolds in the order they are solved; no more than there are contacts. Axes (n, t, s)."""

    first: wp.int32 = field("1", "its first point")
    count: wp.int32 = field("1", "number of its points")
    contact: wp.int32 = field("1", "row of its first contact")
    body_a: wp.int32 = field("1", "row of body A")
    body_b: wp.int32 = field("1", "row of body B")
    world: wp.int32 = field("1", "its world")
    jointed: wp.int32 = field("1", "1 where a joint holds one of its bodies")
    flat: wp.int32 = field("1", "1 where its points span a plane and all of them touch")
    as_block: wp.int32 = field(
        "1", "1 where it may be solved as one block: it is flat and all its points have the same bias"
    )
    normal: vec3 = field("1", "unit normal n from B to A")
    tangent: vec3 = field("1", "unit vector t across it")
    arm_a: vec3 = field("m", "from the centre of mass of A to its middle, world frame")
    arm_b: vec3 = field("m", "from that of B")
    block_nn: mat33 = field("1/kg, 1/(kg m), 1/(kg m²)", "K_nn: normal twist by normal wrench")
    block_tn: mat33 = field("1/kg, 1/(kg m), 1/(kg m²)", "K_tn: tangential twist by normal wrench")
    block_tt: mat33 = field("1/kg, 1/(kg m), 1/(kg m²)", "K_tt: tangential twist by tangential wrench")
    inverse_nn: mat33 = field("kg, kg m, kg m²", "inverse of K_nn, for frictionless points")
    inverse_tt: mat33 = field("kg, kg m, kg m²", "inverse of K_tt")
    coupling_tn: mat33 = field("1, m, 1/m", "K_tt⁻¹ K_tn: friction that balances a normal wrench")
    schur_inverse: mat33 = field(
        "kg, kg m, kg m²", "inverse of the Schur complement K_nn − K_tnᵀ K_tt⁻¹ K_tn, for sticking points"
    )
    inverse_moments: vec3 = field("1/m²", "inverse of the second moments of its points: xx, xy, yy")
    remainder: vec3 = field("m", "what its linear way over the last step left out")
    extent: real = field("m²", "square of the motion that this came from; zero where it is not known")
    bias: vec3 = field("m/s", "bias: added to its velocity")
    angular_bias: vec3 = field("rad/s", "bias: added to its angular velocity")
    resisting_moment: vec3 = field("N m s", "moment of the resistance to spinning and rolling so far")
    friction: real = field("1", "coefficient of friction in force")
    static_friction: real = field("1", "coefficient of friction where it sticks")
    dynamic_friction: real = field("1", "coefficient of friction where it slides")
    rolling: real = field("m", "arm of the rolling resistance")
    spinning: real = field("m", "arm of the resistance to spinning")
    restitution: real = field("1", "coefficient of restitution")
    supported_body: wp.int32 = field("1", "body that the other supports; -1 for none")
    load: real = field("N s", "sum of the loads of its points along the normal")
    last_sweep: wp.int32 = field("1", "last sweep that solved it")


@group(axis="contacts")
class ManifoldPoints:
    """The contact points of the manifolds, one manifold after the other."""

    place: vec3 = field("m, m, m/s", "x and y in the manifold, m; bias of the point along the normal, m/s")
    impulse: vec3 = field("N s", "impulse on A so far, axes of the manifold")
    load: vec3 = field("N", "force on A that the step begins with, axes of the manifold")
    acted: vec3 = field("N s", "impulse on A before the step is taken, axes of the manifold")
    given: vec3 = field("N s", "impulse on A in the step so far where its row is another one, world frame")
    slip: vec3 = field("m", "way A has crept against B since the point began to stick, world frame")
    remainder: vec3 = field("m", "what its linear way over the last step left out, world frame")
    extent: real = field("m²", "square of the motion that this came from")
    lift: real = field("m", "what its remainder along the normal has beside that of its manifold")
    sticking: wp.int32 = field("1", "1 where it sticks")


@group(axis="bodies")
class BodyInertias:
    """Inverse inertias at the present poses, and what sweeps store for each body."""

    inverse_inertia: mat33 = field("1/(kg m²)", "inverse inertia, axes of the world")
    soft: wp.int32 = field("1", "1 where the stiffness of its joints is included")
    last_push: wp.int32 = field("1", "last sweep in which its velocity changed by more than is negligible")
    withheld: vec3 = field("N s", "less the impulse that shock propagation withheld from it")


@wp.struct
class ContactSystem:
    """All that a sweep over the manifolds works on."""

    manifolds: Manifolds
    points: ManifoldPoints
    inertias: BodyInertias


@wp.func
def to_manifold(n: vec3, t: vec3, v: vec3) -> vec3:
    """A vector of the world in the axes of a manifold."""
    return vec3(wp.dot(n, v), wp.dot(t, v), wp.dot(wp.cross(n, t), v))


@wp.func
def to_world(n: vec3, t: vec3, v: vec3) -> vec3:
    """A vector in the axes of a manifold, in the world."""
    return v[0] * n + v[1] * t + v[2] * wp.cross(n, t)


@wp.func
def perpendicular(n: vec3) -> vec3:
    """A unit vector across a unit vector, which changes little where n turns a little."""
    upright = wp.abs(n[2]) > real(0.7)
    # e × n with e the axis y, or z; branchless: the branch is unpredictable.
    x = wp.where(upright, n[2], -n[1])
    other = wp.where(upright, -n[0], n[0])
    part = real(1.0) / wp.sqrt(x * x + other * other)
    x *= part
    other *= part
    return vec3(x, wp.where(upright, real(0.0), other), wp.where(upright, other, real(0.0)))


@wp.func
def is_isotropic(bodies: Bodies, i: int) -> bool:
    """Whether a body has the same moment of inertia about every axis."""
    ratios = bodies.ratios[i]
    return wp.dot(ratios, ratios) == real(0.0)


@kernel
def rotate_inertias(bodies: Bodies, motion: Motion, inertias: BodyInertias, lanes: int) -> None:
    """Inverse inertias in the axes of the world."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        inverse = bodies.inverse_inertia[i]
        if not is_isotropic(bodies, i):
            r = wp.quat_to_matrix(motion.orientation[i])
            inverse = r * inverse * wp.transpose(r)
        inertias.inverse_inertia[i] = inverse
        inertias.soft[i] = 0


@wp.func
def place_points(contacts: Contacts, manifolds: Manifolds, points: ManifoldPoints, k: int, touching: real) -> vec3:
    """Middle of the points of a manifold, which is returned; places, second moments, and whether it is flat."""
    first = manifolds.first[k]
    count = manifolds.count[k]
    row = manifolds.contact[k]
    middle = vec3()
    farthest = contacts.separation[row]
    for i in range(count):
        middle += contacts.point[row + i]
        farthest = wp.max(farthest, contacts.separation[row + i])
    middle *= real(1.0) / real(count)
    n = contacts.normal[row]
    t = perpendicular(n)
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
    manifolds.normal[k] = n
    manifolds.tangent[k] = t
    det = xx * yy - xy * xy
    wide = count >= 3 and det > MIN_MOMENT_RATIO * (xx + yy) * (xx + yy)
    manifolds.flat[k] = wp.where(wide and farthest <= touching, 1, 0)
    if manifolds.flat[k] == 1:
        manifolds.inverse_moments[k] = vec3(yy / det, -xy / det, xx / det)
    return middle


@wp.func
def store_blocks(manifolds: Manifolds, linear: mat33, coupling: mat33, angular: mat33, k: int, to: int) -> None:
    """Store K in blocks, with inverses; K is given as velocity by force, angular velocity by force and by moment."""
    column_n = vec3(linear[0, 0], coupling[1, 0], coupling[2, 0])
    column_t = vec3(coupling[1, 0], angular[1, 1], angular[2, 1])
    column_s = vec3(coupling[2, 0], angular[1, 2], angular[2, 2])
    block_nn = wp.matrix_from_cols(column_n, column_t, column_s)
    column_n = vec3(linear[1, 0], linear[2, 0], coupling[0, 0])
    column_t = vec3(coupling[1, 1], coupling[1, 2], angular[0, 1])
    column_s = vec3(coupling[2, 1], coupling[2, 2], angular[0, 2])
    block_tn = wp.matrix_from_cols(column_n, column_t, column_s)
    column_t = vec3(linear[1, 1], linear[2, 1], coupling[0, 1])
    column_s = vec3(linear[1, 2], linear[2, 2], coupling[0, 2])
    column_n = vec3(coupling[0, 1], coupling[0, 2], angular[0, 0])
    block_tt = wp.matrix_from_cols(column_t, column_s, column_n)
    manifolds.block_nn[to] = block_nn
    manifolds.block_tn[to] = block_tn
    manifolds.block_tt[to] = block_tt
    if manifolds.flat[k] == 1:
        inverse_tt, _ = symmetric_inverse(block_tt)
        coupling_tn = inverse_tt * block_tn
        inverse_nn, free = symmetric_inverse(block_nn)
        schur_inverse, held = symmetric_inverse(block_nn - wp.transpose(block_tn) * coupling_tn)
        manifolds.inverse_tt[to] = inverse_tt
        manifolds.coupling_tn[to] = coupling_tn
        manifolds.inverse_nn[to] = inverse_nn
        manifolds.schur_inverse[to] = schur_inverse
        if not held > MIN_DETERMINANT_RATIO * free:
            manifolds.flat[k] = 0


@wp.func
def find_effective_mass(bodies: Bodies, system: ContactSystem, k: int, to: int, share_a: real, share_b: real) -> None:
    """Effective mass of a manifold in its own axes, stored in a row; shares scale the responses of its bodies."""
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    axes = wp.matrix_from_cols(n, t, wp.cross(n, t))
    linear = mat33()
    coupling = mat33()
    angular = mat33()
    for side in range(2):
        i = wp.where(side == 0, system.manifolds.body_a[k], system.manifolds.body_b[k])
        share = wp.where(side == 0, share_a, share_b)
        mass = share * bodies.inverse_mass[i]
        if mass > real(0.0):
            r = to_manifold(n, t, wp.where(side == 0, system.manifolds.arm_a[k], system.manifolds.arm_b[k]))
            arm = wp.skew(r)
            inverse = system.inertias.inverse_inertia[i]
            if is_isotropic(bodies, i) and system.inertias.soft[i] == 0:
                inverse_moment = share * inverse[0, 0]
                isotropic = mass + inverse_moment * wp.dot(r, r)
                linear += wp.diag(vec3(isotropic, isotropic, isotropic)) - wp.outer(inverse_moment * r, r)
                coupling += inverse_moment * arm
                angular += wp.diag(vec3(inverse_moment, inverse_moment, inverse_moment))
            else:
                inverse = share * (wp.transpose(axes) * (inverse * axes))
                turned = inverse * arm
                linear += wp.diag(vec3(mass, mass, mass)) + wp.transpose(arm) * turned
                coupling += turned
                angular += inverse
    store_blocks(system.manifolds, linear, coupling, angular, k, to)


@wp.func
def relative_motion(manifolds: Manifolds, moved: wp.array[vec3], turned: wp.array[vec3], k: int) -> tuple[vec3, vec3]:
    """Translation and rotation of A against B at the middle of a manifold, in its axes, from those of the bodies."""
    a = manifolds.body_a[k]
    b = manifolds.body_b[k]
    n = manifolds.normal[k]
    t = manifolds.tangent[k]
    turn_a = turned[a]
    turn_b = turned[b]
    u = moved[a] + wp.cross(turn_a, manifolds.arm_a[k]) - moved[b] - wp.cross(turn_b, manifolds.arm_b[k])
    return to_manifold(n, t, u), to_manifold(n, t, turn_a - turn_b)


@wp.func
def twist_of(manifolds: Manifolds, motion: Motion, k: int) -> tuple[vec3, vec3]:
    """Velocity and angular velocity of A against B at the middle of a manifold, in its axes."""
    return relative_motion(manifolds, motion.velocity, motion.angular_velocity, k)


@wp.func
def moment_at(place: vec3, p: vec3) -> vec3:
    """Moment of an impulse at a point of a manifold about its middle, in its axes."""
    return vec3(place[0] * p[2] - place[1] * p[1], place[1] * p[0], -place[0] * p[0])


@wp.func
def wrench_of(system: ContactSystem, k: int) -> tuple[vec3, vec3]:
    """Wrench of the points of a manifold with its resisting moment, in its axes."""
    force = vec3()
    moment = system.manifolds.resisting_moment[k]
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        p = system.points.impulse[c]
        force += p
        moment += moment_at(system.points.place[c], p)
    return force, moment
