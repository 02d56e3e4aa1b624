"""Supports of bodies: the points below every body that has a velocity to remove, and whether they can carry it.

    Σ F_c (r² 1 − r rᵀ) about q   with   q = Σ F_c r / Σ F_c

F_c load of a point, r from the centre of mass of the body it carries. At rest nearly every body has a velocity of
rounding only. A *candidate* has more than rounding and less than what is fast, or carries a candidate. It is
*supported* if its points span an area and the bodies below are supported, too.

    velocity to remove of every body, and whether that is more than rounding
    from the top down: list the manifolds below candidates; the bodies below them are candidates as well
    from the ground up: sum the loads of the points below a body; a body is not supported by points in a line, or by a
    body that is not

Cost: one pass over every body and manifold, and about half of a sweep over the manifolds that are listed.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3
from rattleback.maths.small_solve import symmetric_inverse
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import ContactSystem
from rattleback.solvers.contacts.schemes.displacements import Displacements

# Part of the load of a manifold that is a weight of all its points alike.
SHARED_FRACTION = wp.constant(real(0.1))
# Weight of the points of a manifold that has no load yet, by the mass of the body [m/s].
UNLOADED_SPEED = wp.constant(real(1e-9))
# Part of the tolerance up to which a velocity is rounding, and stays.
STILL_FRACTION = wp.constant(real(262144.0 * epsilon))
# Times the tolerance, and what gravity does in a step, from which a body is too fast to be supported.
FAST_MULTIPLE = wp.constant(real(4.0))
# Points nearly on a line, by the ratio of their moments, support no body.
MIN_MOMENT_RATIO = wp.constant(real(1e-3))
# Nor do coincident points, whose moments are rounding beside what they are about the centre of mass, or without load.
NEGLIGIBLE_MOMENT = wp.constant(real(1024.0 * epsilon))
# Value of ``supported`` while that is not known yet.
UNDECIDED = wp.constant(2)


@group(axis="bodies")
class SupportLoads:
    """Supports of the bodies, and the momentum they pass down."""

    unjointed: wp.int32 = field("1", "1 where no joint holds it")
    candidate: wp.int32 = field(
        "1", "1 where it or a body it carries has a velocity to remove; 2 while its supports are summed"
    )
    supported: wp.int32 = field("1", "1 where it is supported, static, or without a velocity to remove")
    distributed: wp.int32 = field("1", "1 once its distribution (a, b) over the points below is known")
    velocity: vec3 = field("m/s", "velocity to remove; from its listing on, the momentum of that [N s]")
    angular_velocity: vec3 = field("rad/s", "angular velocity to remove; then its angular momentum [N m s]")
    momentum: vec3 = field("N s", "P")
    angular_momentum: vec3 = field("N m s", "L")
    load: real = field("N s", "Σ F_c of the points below it")
    load_centre: vec3 = field("m", "q, world frame, from its centre of mass")
    moment_diagonal: vec3 = field("N m² s", "xx, yy and zz of Σ F_c r rᵀ, about its centre of mass")
    moment_products: vec3 = field("N m² s", "its yz, zx and xy")
    inverse_moments: mat33 = field("1/(N m² s)", "inverse of Σ F_c (r² 1 − r rᵀ), about q")
    force_per_load: vec3 = field("1", "a")
    moment_per_load: vec3 = field("1/m", "b")
    impulse: vec3 = field("N s", "impulse of a point on the body it carries", axis="contacts")
    listed: wp.int32 = field("1", "manifolds below candidates, from the top down", axis="contacts")
    member: wp.int32 = field("1", "candidates above such manifolds")
    members: wp.int32 = field("1", "their number", axis="flags")
    trying: wp.int32 = field("1", "1 while the supported bodies of a world are being found", axis="worlds")
    succeeded: wp.int32 = field("1", "1 where all points of supported bodies of a world stick", axis="worlds")


@wp.struct
class SpeedScales:
    """Speeds that bound candidates of every world: tolerance of velocities, rebound speed [m/s], gravity, the clock.

    The load that an impact leaves may throw a body up with about the rebound speed, which load propagation removes.
    """

    speed: wp.array[real]
    rebound: wp.array[real]
    gravity: wp.array[real]
    clock: Clock


@wp.func
def set_target(
    bodies: Bodies, support: SupportLoads, i: int, v: vec3, w: vec3, scales: SpeedScales, which: wp.array[wp.int32]
) -> None:
    """Store the velocity to remove of a body, and whether it is a candidate, in selected worlds."""
    support.velocity[i] = v
    support.angular_velocity[i] = w
    mass = bodies.mass[i]
    moments = bodies.moments[i]
    world = bodies.world[i]
    still = STILL_FRACTION * scales.speed[world]
    fall = scales.gravity[world] * real(scales.clock.time_step[world])
    fast = wp.max(FAST_MULTIPLE * wp.max(scales.speed[world], fall), scales.rebound[world])
    wide = moments[0] + moments[1] + moments[2]
    energy = mass * wp.dot(v, v) + wide * wp.dot(w, w)
    moves = energy > mass * still * still
    static = bodies.inverse_mass[i] == real(0.0)
    moves = moves and which[bodies.world[i]] == 1
    support.candidate[i] = wp.where(moves and energy < mass * fast * fast and not static, 1, 0)
    support.supported[i] = wp.where(static or (support.unjointed[i] == 1 and not moves), 1, 0)


@kernel
def set_velocity_targets(
    bodies: Bodies, motion: Motion, support: SupportLoads, scales: SpeedScales, which: wp.array[wp.int32], lanes: int
) -> None:
    """At the end of a step the velocity to remove is the velocity."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        set_target(bodies, support, i, motion.velocity[i], motion.angular_velocity[i], scales, which)


@kernel
def set_displacement_targets(
    bodies: Bodies,
    displacements: Displacements,
    support: SupportLoads,
    scales: SpeedScales,
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """At its start it is the mean velocity over the predicted step."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        rate = real(1.0) / real(scales.clock.time_step[bodies.world[i]])
        set_target(
            bodies, support, i, rate * displacements.translation[i], rate * displacements.rotation[i], scales, which
        )


@wp.func
def other_body(system: ContactSystem, k: int, i: int) -> int:
    """The other body of a manifold."""
    return wp.where(system.manifolds.body_a[k] == i, system.manifolds.body_b[k], system.manifolds.body_a[k])


@wp.func
def arm_of(system: ContactSystem, k: int, i: int) -> vec3:
    """From the centre of mass of a body of a manifold to its middle."""
    return wp.where(system.manifolds.body_a[k] == i, system.manifolds.arm_a[k], system.manifolds.arm_b[k])


@wp.func
def off_diagonal(a: vec3, b: vec3) -> vec3:
    """yz, zx and xy of a bᵀ."""
    return vec3(a[1] * b[2], a[2] * b[0], a[0] * b[1])


@wp.func
def load_weight(system: ContactSystem, k: int, c: int) -> real:
    """Weight of a point in the distribution of a momentum."""
    p = system.points.impulse[c][0]
    if system.points.place[c][2] > real(0.0):
        return p
    return p + SHARED_FRACTION * system.manifolds.load[k]


@wp.func
def sum_load(bodies: Bodies, system: ContactSystem, k: int, i: int) -> None:
    """Sum of the loads of a manifold that carries a body."""
    # Where no point has a load yet, all points of a manifold are alike.
    load = UNLOADED_SPEED * bodies.mass[i]
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        load += system.points.impulse[c][0]
    system.manifolds.load[k] = load


@wp.func
def add_support(system: ContactSystem, support: SupportLoads, k: int, i: int) -> None:
    """Add the points of a manifold to the supports of a body."""
    first = system.manifolds.first[k]
    end = first + system.manifolds.count[k]
    total = real(0.0)
    x = real(0.0)
    y = real(0.0)
    xx = real(0.0)
    xy = real(0.0)
    yy = real(0.0)
    for c in range(first, end):
        p = load_weight(system, k, c)
        place = system.points.place[c]
        total += p
        x += p * place[0]
        y += p * place[1]
        xx += p * place[0] * place[0]
        xy += p * place[0] * place[1]
        yy += p * place[1] * place[1]
    s = system.manifolds.tangent[k]
    u = wp.cross(system.manifolds.normal[k], s)
    m = arm_of(system, k, i)
    # Σ p r rᵀ of r = m + d, where d is in the plane of the manifold.
    d = x * s + y * u
    g = total * m + d
    a = xx * s + xy * u
    b = xy * s + yy * u
    support.load[i] = support.load[i] + total
    support.load_centre[i] = support.load_centre[i] + g
    support.moment_diagonal[i] = support.moment_diagonal[i] + wp.cw_mul(g + d, m) + wp.cw_mul(a, s) + wp.cw_mul(b, u)
    mixed = off_diagonal(g, m) + off_diagonal(m, d) + off_diagonal(a, s) + off_diagonal(b, u)
    support.moment_products[i] = support.moment_products[i] + mixed


@wp.func
def list_candidates(system: ContactSystem, graph: Graph, support: SupportLoads) -> int:
    """List the manifolds below candidates, from the top down; returns how many."""
    count = graph.total[0]
    listed = int(0)
    for down in range(count):
        k = count - 1 - down
        i = system.manifolds.supported_body[k]
        # Branchless: the branch is unpredictable.
        candidate = wp.where(i >= 0, support.candidate[wp.max(i, 0)], 0)
        below = other_body(system, k, i)
        support.candidate[below] = support.candidate[below] | candidate
        support.listed[listed] = k
        listed += candidate
    return listed


@wp.func
def set_support(bodies: Bodies, system: ContactSystem, support: SupportLoads, i: int) -> None:
    """Distribution of a body whose supports are summed; not supported where they are too narrow."""
    load = support.load[i]
    support.supported[i] = 0
    if load < NEGLIGIBLE_MOMENT * UNLOADED_SPEED * bodies.mass[i]:
        return
    q = support.load_centre[i] / load
    rest = load * wp.cw_mul(q, q)
    square = support.moment_diagonal[i] - rest
    wide = square[0] + square[1] + square[2]
    if wide <= NEGLIGIBLE_MOMENT * (rest[0] + rest[1] + rest[2]):
        return
    # Scaled by the largest entry: products of three small loads would underflow.
    d = vec3(real(1.0), real(1.0), real(1.0)) - square / wide
    mixed = (support.moment_products[i] - load * off_diagonal(q, q)) / wide
    x, y, z = mixed[0], mixed[1], mixed[2]
    inverse, determinant = symmetric_inverse(mat33(d[0], -z, -y, -z, d[1], -x, -y, -x, d[2]))
    if determinant > real(8.0) * MIN_MOMENT_RATIO:
        support.load_centre[i] = q
        support.inverse_moments[i] = inverse / wide
        support.supported[i] = 1
        support.velocity[i] = bodies.mass[i] * support.velocity[i]
        inertia, _ = symmetric_inverse(system.inertias.inverse_inertia[i])
        support.angular_velocity[i] = inertia * support.angular_velocity[i]


@wp.func
def can_support(bodies: Bodies, system: ContactSystem, support: SupportLoads, i: int) -> bool:
    """Whether a body can carry others; all its supports have been summed."""
    if support.supported[i] == UNDECIDED:
        set_support(bodies, system, support, i)
    return support.supported[i] == 1


@wp.func
def begin_support(support: SupportLoads, i: int) -> None:
    """No supports of a body are known; joints may hold it."""
    support.candidate[i] = 2
    support.load[i] = real(0.0)
    support.load_centre[i] = vec3()
    support.moment_diagonal[i] = vec3()
    support.moment_products[i] = vec3()
    support.supported[i] = wp.where(support.unjointed[i] == 1, UNDECIDED, 0)


@wp.func
def find_support(bodies: Bodies, system: ContactSystem, support: SupportLoads, listed: int) -> None:
    """From the ground up, the supports of candidates."""
    members = int(0)
    for up in range(listed):
        k = support.listed[listed - 1 - up]
        i = system.manifolds.supported_body[k]
        if support.candidate[i] == 1:
            begin_support(support, i)
            support.member[members] = i
            members += 1
        if support.supported[i] == UNDECIDED:
            support.supported[i] = 0
            if can_support(bodies, system, support, other_body(system, k, i)):
                sum_load(bodies, system, k, i)
                add_support(system, support, k, i)
                support.supported[i] = UNDECIDED
    support.members[0] = members
    for n in range(members):
        i = support.member[n]
        if support.supported[i] == UNDECIDED:
            set_support(bodies, system, support, i)


@wp.func
def exclude_unsupported(system: ContactSystem, support: SupportLoads, listed: int) -> None:
    """A body on an unsupported body is not supported either."""
    for up in range(listed):
        k = support.listed[listed - 1 - up]
        i = system.manifolds.supported_body[k]
        if support.supported[other_body(system, k, i)] == 0:
            support.supported[i] = 0


@wp.func
def drop_excluded(system: ContactSystem, support: SupportLoads, listed: int) -> int:
    """Remove bodies that are not supported from the list; returns how many manifolds remain."""
    kept = int(0)
    for n in range(listed):
        k = support.listed[n]
        support.listed[kept] = k
        kept += wp.where(support.supported[system.manifolds.supported_body[k]] == 1, 1, 0)
    return kept
