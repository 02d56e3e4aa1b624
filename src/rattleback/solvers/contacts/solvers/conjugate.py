"""Conjugate directions for sweeps: the step that a sweep forth and back proposes is bettered with the step before it.

    x ← P(x + a z + b d),   d what that changed,   a and b such that   z·(g + a A z + b A d) = 0   and   d·(…) = 0

x impulses and velocities together, so that they stay in step; z what the sweep did to x, d the last step, g velocities
of points before the sweep, A z and A d how z and d change them. The products are over what is free: points that push,
along the normal, and points that stick, across. Where all is free this is the method of conjugate gradients with a
symmetric sweep as its preconditioner. A sweep alone only sees neighbours, and needs as many rounds as the square of the
height of a tower, or as the ratio of the masses where heavy bodies rest on light ones; this one needs about the height.
P takes back pulls and friction beyond its limit. The step is kept only if it lowers ½ p·A p + b·p, p impulses, as much
as the sweep; otherwise the sweep is.

Cost: about half of a sweep forth and back over the patches that a sweep has looked at since the directions began; of
the others, and of bodies that nobody has pushed since, z and d are zero.

Reference: Knyazev (2001), conjugate gradients as the best step in the plane of two directions; Silcowitz-Hansen, Niebe,
Erleben (2010), conjugate gradients for contacts.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.friction import allowed
from rattleback.solvers.contacts.kernels.twist import apply
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import Patches, Pressing, local, moment_at, world
from rattleback.solvers.contacts.problem.status import Rounds

# Two directions are one where their determinant is less than this, beside the product of their squares.
PARALLEL = wp.constant(real(1e-12))
# How many sweeps a step is worth at most.
FARTHEST = wp.constant(real(1e7))
# Part of its friction from which on a point slides.
SLIDING = wp.constant(real(0.9999))


@group(axis="contacts")
class Directions:
    """The last step of the sweeps, where they were before it, and the products that decide on the next one."""

    impulse: vec3 = field("N s", "impulses before the sweep")
    along: vec3 = field("N s", "last step of the impulses")
    swept: vec3 = field("N s", "impulses after the sweep")
    velocity: vec3 = field("m/s", "velocities before the sweep", axis="bodies")
    angular_velocity: vec3 = field("rad/s", "angular velocities before it", axis="bodies")
    moving: vec3 = field("m/s", "last step of the velocities", axis="bodies")
    turning: vec3 = field("rad/s", "last step of the angular velocities", axis="bodies")
    swept_velocity: vec3 = field("m/s", "velocities after the sweep", axis="bodies")
    swept_spin: vec3 = field("rad/s", "angular velocities after it", axis="bodies")
    free_z: vec3 = field("J", "z·A z, z·A d and z·g over what is free", axis="worlds")
    free_d: vec3 = field("J", "d·A z, d·A d and d·g over what is free", axis="worlds")
    all_z: vec3 = field("J", "z·A z, z·A d and z·g over all points", axis="worlds")
    part_z: real = field("1", "a", axis="worlds")
    part_d: real = field("1", "b", axis="worlds")
    gain: real = field("J", "by how much the step lowers ½ p·A p + b·p more than the sweep", axis="worlds")
    keeps: wp.int32 = field("1", "1 where the step is tried, and then where it is kept", axis="worlds")
    trying: wp.int32 = field("1", "1 where a step is looked for", axis="worlds")
    listed: wp.int32 = field("1", "patches that take part, in order")
    member: wp.int32 = field("1", "bodies that take part, in order", axis="bodies")
    counted: wp.int32 = field("1", "last list of patches that a body was on", axis="bodies")
    begun: wp.int32 = field("1", "last sweep before the directions began", axis="worlds")
    lists: wp.int32 = field("1", "lists made so far", axis="flags")
    count: wp.int32 = field("1", "number of patches that take part", axis="flags")
    members: wp.int32 = field("1", "number of bodies that do", axis="flags")


@wp.struct
class Sliding:
    """Velocity and angular velocity of A against B at the middle of a patch, in its axes."""

    u: vec3
    w: vec3


@kernel
def begin_directions(
    bodies: Bodies,
    active: Active,
    pressing: Pressing,
    motion: Motion,
    directions: Directions,
    begun: wp.array[wp.int32],
    which: wp.array[wp.int32],
) -> None:
    """No sweep has been done in the worlds that are wanted since the one given, on one thread."""
    for w in range(directions.begun.shape[0]):
        if which[w] == 1:
            directions.begun[w] = begun[0]
    for n in range(active.count[0]):
        k = active.listed[n]
        first = pressing.patches.first[k]
        if which[pressing.patches.world[k]] == 1:
            for c in range(first, first + pressing.patches.count[k]):
                directions.impulse[c] = pressing.points.impulse[c]
                directions.along[c] = vec3()
    for i in range(bodies.world.shape[0]):
        if which[bodies.world[i]] == 1:
            directions.velocity[i] = motion.velocity[i]
            directions.angular_velocity[i] = motion.angular_velocity[i]
            directions.moving[i] = vec3()
            directions.turning[i] = vec3()


@wp.func
def takes_part(pressing: Pressing, directions: Directions, k: int) -> bool:
    """Whether a patch of a world that tries was swept since the directions began; others have no step of their own."""
    w = pressing.patches.world[k]
    seen = pressing.patches.swept[k]
    return directions.trying[w] == 1 and seen > directions.begun[w]


@wp.func
def list_parts(bodies: Bodies, active: Active, pressing: Pressing, directions: Directions) -> None:
    """List the patches that take part, and the bodies that they or joints have pushed."""
    now = directions.lists[0] + 1
    directions.lists[0] = now
    count = int(0)
    for n in range(active.count[0]):
        k = active.listed[n]
        if takes_part(pressing, directions, k):
            directions.listed[count] = k
            directions.counted[pressing.patches.body_a[k]] = now
            directions.counted[pressing.patches.body_b[k]] = now
            count += 1
    directions.count[0] = count
    members = int(0)
    for i in range(bodies.world.shape[0]):
        if directions.counted[i] == now or pressing.weights.pushed[i] > directions.begun[bodies.world[i]]:
            directions.member[members] = i
            members += 1
    directions.members[0] = members


@wp.func
def relative(patches: Patches, velocity: wp.array[vec3], angular_velocity: wp.array[vec3], k: int) -> Sliding:
    """What velocities of the bodies mean for a patch."""
    a = patches.body_a[k]
    b = patches.body_b[k]
    wa = angular_velocity[a]
    wb = angular_velocity[b]
    u = velocity[a] + wp.cross(wa, patches.arm_a[k]) - velocity[b] - wp.cross(wb, patches.arm_b[k])
    sliding = Sliding()
    sliding.u = local(patches.normal[k], patches.tangent[k], u)
    sliding.w = local(patches.normal[k], patches.tangent[k], wa - wb)
    return sliding


@wp.func
def at_point(sliding: Sliding, place: vec3) -> vec3:
    """What it means for a point of the patch."""
    u = sliding.u
    w = sliding.w
    return vec3(u[0] + w[1] * place[1] - w[2] * place[0], u[1] - w[0] * place[1], u[2] + w[0] * place[0])


@wp.func
def add_products(pressing: Pressing, motion: Motion, directions: Directions, k: int) -> None:
    """Add the products of a patch to those of its world."""
    after = relative(pressing.patches, motion.velocity, motion.angular_velocity, k)
    before = relative(pressing.patches, directions.velocity, directions.angular_velocity, k)
    step = relative(pressing.patches, directions.moving, directions.turning, k)
    change = Sliding()
    change.u = after.u - before.u
    change.w = after.w - before.w
    before.u += pressing.patches.drive[k]
    before.w += pressing.patches.spin[k]
    free_z = vec3()
    free_d = vec3()
    all_z = vec3()
    # Impulses of points alone do not say what resists rolling.
    if pressing.patches.rolling[k] + pressing.patches.spinning[k] > real(0.0):
        directions.keeps[pressing.patches.world[k]] = 0
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        p = pressing.points.impulse[c]
        place = pressing.points.place[c]
        z = p - directions.impulse[c]
        d = directions.along[c]
        az = at_point(change, place)
        ad = at_point(step, place)
        g = at_point(before, place) + vec3(place[2], real(0.0), real(0.0))
        all_z += vec3(wp.dot(z, az), wp.dot(z, ad), wp.dot(z, g))
        if p[0] > real(0.0):
            limit = SLIDING * pressing.patches.grip[k] * p[0]
            if p[1] * p[1] + p[2] * p[2] >= limit * limit:
                z = vec3(z[0], real(0.0), real(0.0))
                d = vec3(d[0], real(0.0), real(0.0))
            free_z += vec3(wp.dot(z, az), wp.dot(z, ad), wp.dot(z, g))
            free_d += vec3(wp.dot(d, az), wp.dot(d, ad), wp.dot(d, g))
    w = pressing.patches.world[k]
    directions.free_z[w] = directions.free_z[w] + free_z
    directions.free_d[w] = directions.free_d[w] + free_d
    directions.all_z[w] = directions.all_z[w] + all_z


@wp.func
def choose_parts(directions: Directions, w: int) -> None:
    """How far a world goes along both directions, and whether that is worth a try."""
    z = directions.free_z[w]
    d = directions.free_d[w]
    a = real(1.0)
    b = real(0.0)
    det = z[0] * d[1] - z[1] * d[0]
    if z[0] > real(0.0) and d[1] > real(0.0) and det > PARALLEL * z[0] * d[1]:
        a = (z[1] * d[2] - z[2] * d[1]) / det
        b = (d[0] * z[2] - z[0] * d[2]) / det
    elif z[0] > real(0.0):
        a = -z[2] / z[0]
    sweep = directions.all_z[w][2] + real(0.5) * directions.all_z[w][0]
    # A symmetric sweep never goes too far, and lowers what it can; where it does not, friction has its own way. Where
    # impulses change next to no velocity, as in a mechanism that is jammed, rounding decides how far to go.
    if not (a >= real(0.5) and wp.max(a, wp.abs(b)) < FARTHEST and sweep <= real(0.0)):
        directions.keeps[w] = 0
    directions.part_z[w] = a
    directions.part_d[w] = b
    directions.gain[w] = sweep


@wp.func
def find_parts(pressing: Pressing, motion: Motion, directions: Directions) -> None:
    """How far every world goes along both directions."""
    for w in range(directions.part_z.shape[0]):
        directions.free_z[w] = vec3()
        directions.free_d[w] = vec3()
        directions.all_z[w] = vec3()
        directions.keeps[w] = directions.trying[w]
    for n in range(directions.count[0]):
        add_products(pressing, motion, directions, directions.listed[n])
    for w in range(directions.part_z.shape[0]):
        choose_parts(directions, w)


@wp.func
def try_bodies(bodies: Bodies, motion: Motion, directions: Directions) -> None:
    """Velocities of the step, of worlds that try one; what the sweep left is put aside."""
    for n in range(directions.members[0]):
        i = directions.member[n]
        w = bodies.world[i]
        if directions.trying[w] == 1:
            directions.swept_velocity[i] = motion.velocity[i]
            directions.swept_spin[i] = motion.angular_velocity[i]
        if directions.keeps[w] == 1:
            a = directions.part_z[w]
            b = directions.part_d[w]
            start = directions.velocity[i]
            motion.velocity[i] = start + a * (motion.velocity[i] - start) + b * directions.moving[i]
            start = directions.angular_velocity[i]
            motion.angular_velocity[i] = start + a * (motion.angular_velocity[i] - start) + b * directions.turning[i]


@wp.func
def try_patch(bodies: Bodies, pressing: Pressing, motion: Motion, directions: Directions, k: int) -> None:
    """Impulses of the step at a patch; what is not allowed is taken from them and from the velocities."""
    w = pressing.patches.world[k]
    force = vec3()
    moment = vec3()
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        start = directions.impulse[c]
        swept = pressing.points.impulse[c]
        directions.swept[c] = swept
        if directions.keeps[w] == 1:
            wanted = start + directions.part_z[w] * (swept - start) + directions.part_d[w] * directions.along[c]
            p = allowed(wanted, pressing.patches.grip[k])
            pressing.points.impulse[c] = p
            off = p - wanted
            force += off
            moment += moment_at(pressing.points.place[c], off)
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    if wp.dot(force, force) + wp.dot(moment, moment) > real(0.0):
        apply(bodies, pressing, motion, k, world(n, t, force), world(n, t, moment))


@wp.func
def add_gain(pressing: Pressing, motion: Motion, directions: Directions, k: int) -> None:
    """Take what the step does at a patch from the gain of its world."""
    after = relative(pressing.patches, motion.velocity, motion.angular_velocity, k)
    before = relative(pressing.patches, directions.velocity, directions.angular_velocity, k)
    mean = Sliding()
    mean.u = real(0.5) * (after.u + before.u) + pressing.patches.drive[k]
    mean.w = real(0.5) * (after.w + before.w) + pressing.patches.spin[k]
    gain = real(0.0)
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        place = pressing.points.place[c]
        g = at_point(mean, place) + vec3(place[2], real(0.0), real(0.0))
        gain -= wp.dot(pressing.points.impulse[c] - directions.impulse[c], g)
    w = pressing.patches.world[k]
    directions.gain[w] = directions.gain[w] + gain


@wp.func
def settle(bodies: Bodies, pressing: Pressing, motion: Motion, rounds: Rounds, directions: Directions) -> None:
    """Keep the steps that are better than the sweep, and go back to the sweep where they are not."""
    for n in range(directions.count[0]):
        k = directions.listed[n]
        w = pressing.patches.world[k]
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            p = wp.where(directions.keeps[w] == 1, pressing.points.impulse[c], directions.swept[c])
            directions.along[c] = p - directions.impulse[c]
            directions.impulse[c] = p
            pressing.points.impulse[c] = p
    for n in range(directions.members[0]):
        i = directions.member[n]
        w = bodies.world[i]
        if directions.trying[w] == 1:
            v = wp.where(directions.keeps[w] == 1, motion.velocity[i], directions.swept_velocity[i])
            directions.moving[i] = v - directions.velocity[i]
            directions.velocity[i] = v
            motion.velocity[i] = v
            v = wp.where(directions.keeps[w] == 1, motion.angular_velocity[i], directions.swept_spin[i])
            directions.turning[i] = v - directions.angular_velocity[i]
            directions.angular_velocity[i] = v
            motion.angular_velocity[i] = v
            if wp.length_sq(directions.moving[i]) + wp.length_sq(directions.turning[i]) > real(0.0):
                pressing.weights.pushed[i] = rounds.turn[0]


@wp.func
def try_better(bodies: Bodies, active: Active, pressing: Pressing, motion: Motion, directions: Directions) -> None:
    """Try a better step than the last sweep of worlds that look for one."""
    list_parts(bodies, active, pressing, directions)
    find_parts(pressing, motion, directions)
    try_bodies(bodies, motion, directions)
    for n in range(directions.count[0]):
        try_patch(bodies, pressing, motion, directions, directions.listed[n])


@wp.func
def keep_better(bodies: Bodies, pressing: Pressing, motion: Motion, rounds: Rounds, directions: Directions) -> None:
    """Keep what was tried where it is better than the sweep."""
    for n in range(directions.count[0]):
        k = directions.listed[n]
        if directions.keeps[pressing.patches.world[k]] == 1:
            add_gain(pressing, motion, directions, k)
    for w in range(directions.keeps.shape[0]):
        if not directions.gain[w] >= real(0.0):
            directions.keeps[w] = 0
    settle(bodies, pressing, motion, rounds, directions)


@kernel
def go_on(
    bodies: Bodies, active: Active, pressing: Pressing, motion: Motion, rounds: Rounds, directions: Directions
) -> None:
    """Replace the last sweep of worlds that are still busy by a better step, on one thread."""
    for w in range(directions.trying.shape[0]):
        directions.trying[w] = rounds.busy[w]
    try_better(bodies, active, pressing, motion, directions)
    keep_better(bodies, pressing, motion, rounds, directions)


@kernel
def try_step(
    bodies: Bodies,
    active: Active,
    pressing: Pressing,
    motion: Motion,
    rounds: Rounds,
    directions: Directions,
    changed: wp.array[wp.int32],
) -> None:
    """Try a better step than the last sweeps of worlds that are still busy and the same problem, on one thread."""
    for w in range(directions.trying.shape[0]):
        directions.trying[w] = rounds.busy[w] * (1 - changed[w])
    try_better(bodies, active, pressing, motion, directions)


@kernel
def settle_step(bodies: Bodies, pressing: Pressing, motion: Motion, rounds: Rounds, directions: Directions) -> None:
    """What answers has answered to it: keep it where it is better than the sweeps, on one thread."""
    keep_better(bodies, pressing, motion, rounds, directions)
