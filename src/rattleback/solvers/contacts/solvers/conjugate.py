"""Conjugate directions: the step of a symmetric sweep is combined with the step before it.

    x ← P(x + a z + b d),   d the change by that,   a and b such that   z·(g + a A z + b A d) = 0   and   d·(…) = 0

x impulses and velocities together, so that they remain consistent; z the change of x by the sweep, d the last step, g
velocities of points before the sweep, A z and A d their changes by z and d. The products are over what is free: pushing
points along the normal, and sticking points across. Where all is free this is the method of conjugate gradients with a
symmetric sweep as its preconditioner. Sweeps alone need as many as the square of the height of a tower, or as the ratio
of the masses where heavy bodies rest on light ones; conjugate directions need about the height. P projects impulses on
the friction cone. The step is accepted only if it lowers ½ p·A p + b·p, p impulses, as much as the sweep.

Cost: about half of a forward and backward sweep over the manifolds that were swept since the directions began.

Reference: Knyazev (2001), the best step in the plane of two directions; Silcowitz-Hansen, Niebe, Erleben (2010).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.friction import clamp_to_cone
from rattleback.solvers.contacts.kernels.twist import apply_wrench
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, Manifolds, moment_at, to_manifold, to_world
from rattleback.solvers.contacts.problem.status import ANY_RESIDUAL, SolverStatus

# Largest a where stops of joints are hit: beyond, wedged limbs get impulses many times those that stop them.
LONGEST = wp.constant(real(4.0))
# Part of its friction from which on a point slides.
SLIDING_FRACTION = wp.constant(real(0.9999))


@group(axis="contacts")
class ConjugateDirections:
    """The last step, impulses and velocities before and after the sweep, and the products that choose the next step."""

    impulse: vec3 = field("N s", "impulses before the sweep")
    impulse_step: vec3 = field("N s", "last step of the impulses")
    swept_impulse: vec3 = field("N s", "impulses after the sweep")
    velocity: vec3 = field("m/s", "velocities before the sweep", axis="bodies")
    angular_velocity: vec3 = field("rad/s", "angular velocities before it", axis="bodies")
    velocity_step: vec3 = field("m/s", "last step of the velocities", axis="bodies")
    angular_step: vec3 = field("rad/s", "last step of the angular velocities", axis="bodies")
    swept_velocity: vec3 = field("m/s", "velocities after the sweep", axis="bodies")
    swept_angular_velocity: vec3 = field("rad/s", "angular velocities after it", axis="bodies")
    free_z: vec3 = field("J", "z·A z, z·A d and z·g over what is free", axis="worlds")
    free_d: vec3 = field("J", "d·A z, d·A d and d·g over what is free", axis="worlds")
    all_z: vec3 = field("J", "z·A z, z·A d and z·g over all points", axis="worlds")
    scale_z: real = field("1", "a", axis="worlds")
    scale_d: real = field("1", "b", axis="worlds")
    longest: real = field("1", "largest a of a step that is tried", axis="worlds")
    gain: real = field("J", "by how much the step lowers ½ p·A p + b·p more than the sweep", axis="worlds")
    accepted: wp.int32 = field("1", "1 where a step is tried, then where it is accepted", axis="worlds")
    active: wp.int32 = field("1", "1 where a step is tried", axis="worlds")
    listed: wp.int32 = field("1", "manifolds that take part, in order")
    member: wp.int32 = field("1", "bodies that take part, in order", axis="bodies")
    last_list: wp.int32 = field("1", "last list of manifolds that a body was on", axis="bodies")
    first_sweep: wp.int32 = field("1", "last sweep before the directions began", axis="worlds")
    lists: wp.int32 = field("1", "lists made so far", axis="flags")
    count: wp.int32 = field("1", "number of manifolds that take part", axis="flags")
    members: wp.int32 = field("1", "number of bodies that do", axis="flags")


@wp.struct
class RelativeTwist:
    """Velocity and angular velocity of A against B at the middle of a manifold, in its axes."""

    u: vec3
    w: vec3


@kernel
def begin_acceleration(
    bodies: Bodies,
    active: Active,
    system: ContactSystem,
    motion: Motion,
    directions: ConjugateDirections,
    begun: wp.array[wp.int32],
    which: wp.array[wp.int32],
) -> None:
    """Directions begin anew in selected worlds, after the given sweep, on one thread."""
    for w in range(directions.first_sweep.shape[0]):
        if which[w] == 1:
            directions.first_sweep[w] = begun[0]
    for n in range(active.count[0]):
        k = active.listed[n]
        first = system.manifolds.first[k]
        if which[system.manifolds.world[k]] == 1:
            for c in range(first, first + system.manifolds.count[k]):
                directions.impulse[c] = system.points.impulse[c]
                directions.impulse_step[c] = vec3()
    for i in range(bodies.world.shape[0]):
        if which[bodies.world[i]] == 1:
            directions.velocity[i] = motion.velocity[i]
            directions.angular_velocity[i] = motion.angular_velocity[i]
            directions.velocity_step[i] = vec3()
            directions.angular_step[i] = vec3()


@wp.func
def is_included(system: ContactSystem, directions: ConjugateDirections, k: int) -> bool:
    """Whether a manifold of an active world was swept since the directions began; others have no step."""
    w = system.manifolds.world[k]
    seen = system.manifolds.last_sweep[k]
    return directions.active[w] == 1 and seen > directions.first_sweep[w]


@wp.func
def list_included(bodies: Bodies, active: Active, system: ContactSystem, directions: ConjugateDirections) -> None:
    """List the manifolds that take part, and the bodies that they or joints have pushed."""
    now = directions.lists[0] + 1
    directions.lists[0] = now
    count = int(0)
    for n in range(active.count[0]):
        k = active.listed[n]
        if is_included(system, directions, k):
            directions.listed[count] = k
            directions.last_list[system.manifolds.body_a[k]] = now
            directions.last_list[system.manifolds.body_b[k]] = now
            count += 1
    directions.count[0] = count
    members = int(0)
    for i in range(bodies.world.shape[0]):
        if directions.last_list[i] == now or system.inertias.last_push[i] > directions.first_sweep[bodies.world[i]]:
            directions.member[members] = i
            members += 1
    directions.members[0] = members


@wp.func
def relative_twist(
    manifolds: Manifolds, velocity: wp.array[vec3], angular_velocity: wp.array[vec3], k: int
) -> RelativeTwist:
    """Twist of a manifold by velocities of its bodies."""
    a = manifolds.body_a[k]
    b = manifolds.body_b[k]
    wa = angular_velocity[a]
    wb = angular_velocity[b]
    u = velocity[a] + wp.cross(wa, manifolds.arm_a[k]) - velocity[b] - wp.cross(wb, manifolds.arm_b[k])
    twist = RelativeTwist()
    twist.u = to_manifold(manifolds.normal[k], manifolds.tangent[k], u)
    twist.w = to_manifold(manifolds.normal[k], manifolds.tangent[k], wa - wb)
    return twist


@wp.func
def velocity_at(twist: RelativeTwist, place: vec3) -> vec3:
    """Velocity of a point of the manifold by that twist."""
    u = twist.u
    w = twist.w
    return vec3(u[0] + w[1] * place[1] - w[2] * place[0], u[1] - w[0] * place[1], u[2] + w[0] * place[0])


@wp.func
def add_products(system: ContactSystem, motion: Motion, directions: ConjugateDirections, k: int) -> None:
    """Add the products of a manifold to those of its world."""
    after = relative_twist(system.manifolds, motion.velocity, motion.angular_velocity, k)
    before = relative_twist(system.manifolds, directions.velocity, directions.angular_velocity, k)
    step = relative_twist(system.manifolds, directions.velocity_step, directions.angular_step, k)
    change = RelativeTwist()
    change.u = after.u - before.u
    change.w = after.w - before.w
    before.u += system.manifolds.bias[k]
    before.w += system.manifolds.angular_bias[k]
    free_z = vec3()
    free_d = vec3()
    all_z = vec3()
    # The impulses of the points do not include the resistance to rolling.
    if system.manifolds.rolling[k] + system.manifolds.spinning[k] > real(0.0):
        directions.accepted[system.manifolds.world[k]] = 0
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        p = system.points.impulse[c]
        place = system.points.place[c]
        z = p - directions.impulse[c]
        d = directions.impulse_step[c]
        az = velocity_at(change, place)
        ad = velocity_at(step, place)
        g = velocity_at(before, place) + vec3(place[2], real(0.0), real(0.0))
        all_z += vec3(wp.dot(z, az), wp.dot(z, ad), wp.dot(z, g))
        if p[0] > real(0.0):
            limit = SLIDING_FRACTION * system.manifolds.friction[k] * p[0]
            if p[1] * p[1] + p[2] * p[2] >= limit * limit:
                z = vec3(z[0], real(0.0), real(0.0))
                d = vec3(d[0], real(0.0), real(0.0))
            free_z += vec3(wp.dot(z, az), wp.dot(z, ad), wp.dot(z, g))
            free_d += vec3(wp.dot(d, az), wp.dot(d, ad), wp.dot(d, g))
    w = system.manifolds.world[k]
    directions.free_z[w] = directions.free_z[w] + free_z
    directions.free_d[w] = directions.free_d[w] + free_d
    directions.all_z[w] = directions.all_z[w] + all_z


@wp.func
def choose_step(directions: ConjugateDirections, w: int) -> None:
    """Step lengths a and b of a world, and whether the step is worth a trial."""
    z = directions.free_z[w]
    d = directions.free_d[w]
    a = real(1.0)
    b = real(0.0)
    det = z[0] * d[1] - z[1] * d[0]
    if z[0] > real(0.0) and d[1] > real(0.0) and det > real(0.0):
        a = (z[1] * d[2] - z[2] * d[1]) / det
        b = (d[0] * z[2] - z[0] * d[2]) / det
    elif z[0] > real(0.0):
        a = -z[2] / z[0]
    sweep = directions.all_z[w][2] + real(0.5) * directions.all_z[w][0]
    # A symmetric sweep lowers the objective and never overshoots, unless friction is not the gradient of it.
    if not (a >= real(0.5) and sweep <= real(0.0)):
        directions.accepted[w] = 0
    if a > directions.longest[w]:
        b *= (directions.longest[w] - real(1.0)) / (a - real(1.0))
    directions.scale_z[w] = wp.min(a, directions.longest[w])
    directions.scale_d[w] = b
    directions.gain[w] = sweep


@wp.func
def find_steps(system: ContactSystem, motion: Motion, directions: ConjugateDirections) -> None:
    """Step lengths of every world."""
    for w in range(directions.scale_z.shape[0]):
        directions.free_z[w] = vec3()
        directions.free_d[w] = vec3()
        directions.all_z[w] = vec3()
        directions.accepted[w] = directions.active[w]
    for n in range(directions.count[0]):
        add_products(system, motion, directions, directions.listed[n])
    for w in range(directions.scale_z.shape[0]):
        choose_step(directions, w)


@wp.func
def apply_step_to_bodies(bodies: Bodies, motion: Motion, directions: ConjugateDirections) -> None:
    """Velocities of the step, in worlds that try one; those after the sweep are stored."""
    for n in range(directions.members[0]):
        i = directions.member[n]
        w = bodies.world[i]
        if directions.active[w] == 1:
            directions.swept_velocity[i] = motion.velocity[i]
            directions.swept_angular_velocity[i] = motion.angular_velocity[i]
        if directions.accepted[w] == 1:
            a = directions.scale_z[w]
            b = directions.scale_d[w]
            start = directions.velocity[i]
            motion.velocity[i] = start + a * (motion.velocity[i] - start) + b * directions.velocity_step[i]
            start = directions.angular_velocity[i]
            turn = start + a * (motion.angular_velocity[i] - start)
            motion.angular_velocity[i] = turn + b * directions.angular_step[i]


@wp.func
def apply_step_to_manifold(
    bodies: Bodies, system: ContactSystem, motion: Motion, directions: ConjugateDirections, k: int
) -> None:
    """Impulses of the step at a manifold, projected on the cone, with the velocities that the projection changes."""
    w = system.manifolds.world[k]
    force = vec3()
    moment = vec3()
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        start = directions.impulse[c]
        swept = system.points.impulse[c]
        directions.swept_impulse[c] = swept
        if directions.accepted[w] == 1:
            target = start + directions.scale_z[w] * (swept - start)
            target = target + directions.scale_d[w] * directions.impulse_step[c]
            p = clamp_to_cone(target, system.manifolds.friction[k])
            system.points.impulse[c] = p
            off = p - target
            force += off
            moment += moment_at(system.points.place[c], off)
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    if wp.dot(force, force) + wp.dot(moment, moment) > real(0.0):
        apply_wrench(bodies, system, motion, k, to_world(n, t, force), to_world(n, t, moment))


@wp.func
def add_gain(system: ContactSystem, motion: Motion, directions: ConjugateDirections, k: int) -> None:
    """Subtract the change of the objective at a manifold from the gain of its world."""
    after = relative_twist(system.manifolds, motion.velocity, motion.angular_velocity, k)
    before = relative_twist(system.manifolds, directions.velocity, directions.angular_velocity, k)
    mean = RelativeTwist()
    mean.u = real(0.5) * (after.u + before.u) + system.manifolds.bias[k]
    mean.w = real(0.5) * (after.w + before.w) + system.manifolds.angular_bias[k]
    gain = real(0.0)
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        place = system.points.place[c]
        g = velocity_at(mean, place) + vec3(place[2], real(0.0), real(0.0))
        gain -= wp.dot(system.points.impulse[c] - directions.impulse[c], g)
    w = system.manifolds.world[k]
    directions.gain[w] = directions.gain[w] + gain


@wp.func
def accept_or_restore(
    bodies: Bodies, system: ContactSystem, motion: Motion, status: SolverStatus, directions: ConjugateDirections
) -> None:
    """Accept the steps that are better than the sweep; restore the sweep elsewhere."""
    for n in range(directions.count[0]):
        k = directions.listed[n]
        w = system.manifolds.world[k]
        first = system.manifolds.first[k]
        for c in range(first, first + system.manifolds.count[k]):
            p = wp.where(directions.accepted[w] == 1, system.points.impulse[c], directions.swept_impulse[c])
            directions.impulse_step[c] = p - directions.impulse[c]
            directions.impulse[c] = p
            system.points.impulse[c] = p
    for n in range(directions.members[0]):
        i = directions.member[n]
        w = bodies.world[i]
        if directions.active[w] == 1:
            v = wp.where(directions.accepted[w] == 1, motion.velocity[i], directions.swept_velocity[i])
            directions.velocity_step[i] = v - directions.velocity[i]
            directions.velocity[i] = v
            motion.velocity[i] = v
            v = wp.where(directions.accepted[w] == 1, motion.angular_velocity[i], directions.swept_angular_velocity[i])
            directions.angular_step[i] = v - directions.angular_velocity[i]
            directions.angular_velocity[i] = v
            motion.angular_velocity[i] = v
            if wp.length_sq(directions.velocity_step[i]) + wp.length_sq(directions.angular_step[i]) > real(0.0):
                system.inertias.last_push[i] = status.sweep[0]


@wp.func
def apply_step(
    bodies: Bodies,
    active: Active,
    system: ContactSystem,
    motion: Motion,
    directions: ConjugateDirections,
) -> None:
    """Apply a trial step in worlds that look for one, where it is not too long."""
    list_included(bodies, active, system, directions)
    find_steps(system, motion, directions)
    apply_step_to_bodies(bodies, motion, directions)
    for n in range(directions.count[0]):
        apply_step_to_manifold(bodies, system, motion, directions, directions.listed[n])


@wp.func
def accept_step(
    bodies: Bodies, system: ContactSystem, motion: Motion, status: SolverStatus, directions: ConjugateDirections
) -> None:
    """Accept the trial step where it is better than the sweep."""
    for n in range(directions.count[0]):
        k = directions.listed[n]
        if directions.accepted[system.manifolds.world[k]] == 1:
            add_gain(system, motion, directions, k)
    for w in range(directions.accepted.shape[0]):
        if not directions.gain[w] >= real(0.0):
            directions.accepted[w] = 0
    accept_or_restore(bodies, system, motion, status, directions)


@kernel
def accelerate(
    bodies: Bodies,
    active: Active,
    system: ContactSystem,
    motion: Motion,
    status: SolverStatus,
    directions: ConjugateDirections,
) -> None:
    """Replace the last sweep by a better step in worlds that are still active, on one thread."""
    for w in range(directions.active.shape[0]):
        directions.active[w] = status.busy[w]
        directions.longest[w] = ANY_RESIDUAL
    apply_step(bodies, active, system, motion, directions)
    accept_step(bodies, system, motion, status, directions)


@kernel
def try_conjugate_step(
    bodies: Bodies,
    active: Active,
    system: ContactSystem,
    motion: Motion,
    status: SolverStatus,
    directions: ConjugateDirections,
    hit: wp.array[wp.int32],
) -> None:
    """Try a step in worlds that are still active, on one thread, and no long one where stops of joints are hit."""
    for w in range(directions.active.shape[0]):
        directions.active[w] = status.busy[w]
        directions.longest[w] = wp.where(hit[w] == 1, LONGEST, ANY_RESIDUAL)
    apply_step(bodies, active, system, motion, directions)


@kernel
def accept_conjugate_step(
    bodies: Bodies, system: ContactSystem, motion: Motion, status: SolverStatus, directions: ConjugateDirections
) -> None:
    """The response to the trial step is there: accept it where it is better than the sweep, on one thread."""
    accept_step(bodies, system, motion, status, directions)
