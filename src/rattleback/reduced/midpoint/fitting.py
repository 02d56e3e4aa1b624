"""Velocities that fit the trees: of all that the joints allow, those with the same momentum along every freedom.

    Sᵀ M (S v − u) + E (v − v′) = p,      E = A + h/2 k

u velocities of bodies that need not fit, S motion subspaces, M masses and inertias of the bodies, A armature, k what
a servo loses per rate, v rates, v′ those with which the drives turn, p friction. The change is what impulses of the
joints make, and M⁻¹ of a mechanism is M⁻¹ of its bodies with this behind it.

    written velocities      v′ those that u has along the freedoms
    after impulses          v′ those of the last fit: impulses on bodies have not turned the drives yet
    change by impulses      v′ = 0
What friction holds keeps its rate, see ``holding``.

Cost: O(n), one factorisation for a pose and one substitution for each u. Reference: Featherstone, §7.3.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contact_memory import SETTLED, WRITTEN, ContactMemory
from rattleback.model.state import Motion
from rattleback.reduced.midpoint.balance import body_of
from rattleback.reduced.midpoint.holding import keep, slips
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.placing import SLIDE_LINK, move, take
from rattleback.reduced.midpoint.sweeps import change, factor, gather, is_single, set_inertia, set_subspace

# Velocities that were written and fit but for this many tolerances stay as they are.
SLACK = 10.0


# What drives turned with before: as bodies turn now; as they did when they last fitted; for displacements; not at all.
NEAREST, ONWARD, SHIFT, FROM_REST = wp.constant(0), wp.constant(1), wp.constant(2), wp.constant(3)
# How often friction may change over in a fit.
MOST_CHANGES = wp.constant(8)


@wp.func
def let_go(trees: Trees, w: int) -> None:
    """Neither friction nor servos act on impulses; drives have their armature."""
    step = trees.step
    count = int(trees.count)
    for k in range(w * count, w * count + count):
        step.grip[k] = 0
        step.extra[k] = trees.links.armature[k]
        step.most[k] = real(-1.0)
        step.most_lent[k] = real(-1.0)
        step.ahead[k] = real(0.0)
        step.due[k] = real(0.0)
        step.due_lent[k] = real(0.0)


@wp.func
def factor_again(trees: Trees, w: int) -> None:
    """The factor of a world at the poses it is at, after what holds or drives its freedoms has changed."""
    count = int(trees.count)
    for link in range(count):
        set_inertia(trees, link, w * count + link)
    for m in range(count):
        factor(trees, count - 1 - m, w * count + count - 1 - m)


@wp.func
def factor_at(trees: Trees, motion: Motion, w: int) -> None:
    """Coordinates, subspaces and factor of the trees of a world at the poses of a motion."""
    count = int(trees.count)
    for link in range(count):
        take(trees, motion, link, w)
        move(trees, link, w, real(0.0), 0)
        if is_single(trees.links.kind[link]):
            set_subspace(trees, link, w * count + link)
        set_inertia(trees, link, w * count + link)
    for m in range(count):
        factor(trees, count - 1 - m, w * count + count - 1 - m)


@wp.func
def carried_at(trees: Trees, link: int, k: int, x: vec3, how: int) -> tuple[vec3, vec3]:
    """Velocity of a point and angular velocity of what carries the tree of a link; none of displacements."""
    step = trees.step
    root = k - link + trees.links.root[link]
    if how == SHIFT or how == FROM_REST:
        return vec3(), vec3()
    spin = step.base_spin[root]
    return step.base_drift[root] + wp.cross(spin, x - step.base_way[root]), spin


@wp.func
def velocity_at(trees: Trees, motion: Motion, link: int, k: int, x: vec3) -> tuple[vec3, vec3]:
    """Velocity of a point of the body that a link ends in, and its angular velocity, by a motion that need not fit."""
    i = body_of(trees, link, k // int(trees.count))
    c = trees.step.x[k] + trees.step.frame[k] * trees.links.body_way[k]
    return motion.velocity[i] + wp.cross(motion.angular_velocity[i], x - c), motion.angular_velocity[i]


@wp.func
def rate_at(trees: Trees, motion: Motion, link: int, k: int, how: int) -> real:
    """The rate of a link that is the only one of its joint, by the velocities of its bodies."""
    step = trees.step
    x = step.x[k]
    v, w = velocity_at(trees, motion, link, k, x)
    p = trees.links.parent[link]
    drift = vec3()
    spin = vec3()
    if p >= 0:
        drift, spin = velocity_at(trees, motion, p, k - link + p, x)
    else:
        drift, spin = carried_at(trees, link, k, x, how)
    z = vec3(step.frame[k][0, 2], step.frame[k][1, 2], step.frame[k][2, 2])
    return wp.dot(z, wp.where(trees.links.kind[link] == SLIDE_LINK, v - drift, w - spin))


@wp.func
def recall(trees: Trees, motion: Motion, link: int, k: int, how: int) -> None:
    """The momentum of the drive of a link, and the rate that it keeps where friction holds it."""
    step = trees.step
    before = real(0.0)
    if how == NEAREST:
        if trees.links.armature[k] > real(0.0):
            before = rate_at(trees, motion, link, k, how)
    elif how != FROM_REST:
        before = step.kept[k][0]
    step.rest[k] = wp.where(step.most[k] >= real(0.0), real(0.0), before)
    step.drive[k] = -step.extra[k] * before
    if how == ONWARD:
        step.drive[k] = step.drive[k] - step.due[k] - step.due_lent[k]


@wp.func
def momenta(trees: Trees, motion: Motion, w: int, how: int) -> None:
    """The momenta of the bodies of a world, as what its links are short of."""
    step = trees.step
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        step.couple[k] = vec3()
        step.force[k] = vec3()
        if trees.driven == 1:
            recall(trees, motion, link, k, how)
        if trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            c = step.frame[k] * trees.links.body_way[k]
            v = motion.velocity[i]
            spin = motion.angular_velocity[i]
            if trees.carried == 1:
                drift, turn = carried_at(trees, link, k, step.x[k] + c, how)
                v -= drift
                spin -= turn
            f = -(trees.links.mass[k] * v)
            back = wp.transpose(step.frame[k])
            n = step.frame[k] * (trees.links.inertia[k] * (back * spin))
            step.couple[k] = wp.cross(c, f) - n
            step.force[k] = f


@wp.func
def solve(trees: Trees, motion: Motion, w: int, how: int) -> None:
    """Rates that fit, as what the last solution says."""
    count = int(trees.count)
    momenta(trees, motion, w, how)
    for m in range(count):
        gather(trees, count - 1 - m, w * count + count - 1 - m)
    for link in range(count):
        change(trees, link, w * count + link, real(0.0))


@wp.func
def velocity_of(trees: Trees, link: int, k: int, how: int) -> tuple[vec3, vec3]:
    """Velocity of the body of a link and its angular velocity, by the solution of the last sweep."""
    c = trees.step.frame[k] * trees.links.body_way[k]
    spin = trees.step.spin_rate[k]
    v = trees.step.drift_rate[k] + wp.cross(spin, c)
    if trees.carried == 1:
        drift, turn = carried_at(trees, link, k, trees.step.x[k] + c, how)
        v += drift
        spin += turn
    return v, spin


@wp.func
def largest_change(trees: Trees, motion: Motion, w: int, how: int) -> real:
    """By how much the last solution changes a velocity [m/s, rad/s]."""
    largest = real(0.0)
    for link in range(int(trees.count)):
        if trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            v, spin = velocity_of(trees, link, w * int(trees.count) + link, how)
            turned = wp.length(spin - motion.angular_velocity[i])
            largest = wp.max(largest, wp.max(turned, wp.length(v - motion.velocity[i])))
    return largest


@wp.func
def take_solution(trees: Trees, motion: Motion, w: int, how: int) -> None:
    """The velocities of a motion become those of the last solution."""
    for link in range(int(trees.count)):
        if trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            v, spin = velocity_of(trees, link, w * int(trees.count) + link, how)
            motion.velocity[i] = v
            motion.angular_velocity[i] = spin


@wp.func
def fit(trees: Trees, motion: Motion, w: int, how: int, least: real) -> None:
    """Make the velocities of a motion fit the trees of a world, at the poses of their factor.

    Where none of them changes by more than ``least`` [m/s, rad/s], all stay.
    """
    solve(trees, motion, w, how)
    if least < real(0.0) or largest_change(trees, motion, w, how) > least:
        take_solution(trees, motion, w, how)


@wp.func
def fit_driven(trees: Trees, motion: Motion, w: int, how: int) -> bool:
    """The same after impulses on bodies where freedoms are driven; whether friction or a servo changed over."""
    changes = int(-1)
    again = bool(True)
    while again:
        changes += 1
        solve(trees, motion, w, how)
        again = how == ONWARD and changes < MOST_CHANGES
        if again:
            again = slips(trees, w)
        if again:
            factor_again(trees, w)
    take_solution(trees, motion, w, how)
    for link in range(int(trees.count)):
        keep(trees, link, w * int(trees.count) + link, how == SHIFT)
    return changes > 0


@wp.func
def put_together(trees: Trees, motion: Motion, w: int) -> None:
    """Poses of a motion as the coordinates that are taken from them say; velocities stay."""
    count = int(trees.count)
    for link in range(count):
        take(trees, motion, link, w)
    for link in range(count):
        k = w * count + link
        move(trees, link, w, real(0.0), 0)
        if trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            c = trees.step.x[k] + trees.step.frame[k] * trees.links.body_way[k]
            motion.position[i] = trees.step.origin[k - link + trees.links.root[link]] + c
            motion.orientation[i] = wp.normalize(trees.step.q[k] * trees.links.body_turn[k])


@kernel
def fit_written(trees: Trees, memory: ContactMemory, motion: Motion, least: real) -> None:
    """Make velocities that were written fit the trees of a world, where they do not."""
    w = wp.tid()
    if memory.pending[w] == WRITTEN:
        let_go(trees, w)
        factor_at(trees, motion, w)
        fit(trees, motion, w, NEAREST, least)
        memory.pending[w] = SETTLED
