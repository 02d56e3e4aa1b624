"""Velocities that fit the trees: of all that the joints allow, those with the same momentum along every freedom.

    Sᵀ M (S v − u) + A (v − v_u) = 0

u velocities of bodies that need not fit, S motion subspaces, M masses and inertias of the bodies, A armature, v rates,
v_u those that u has along the freedoms. The change
is what impulses of the joints make, and M⁻¹ of a mechanism is M⁻¹ of its bodies with this behind it.

Cost: O(n), one factorisation for a pose and one substitution for each u. Reference: Featherstone, §7.3.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.contact_memory import SETTLED, WRITTEN, ContactMemory
from rattleback.model.state import Motion
from rattleback.reduced.midpoint.balance import body_of
from rattleback.reduced.midpoint.links import Trees
from rattleback.reduced.midpoint.placing import SLIDE_LINK, move, take
from rattleback.reduced.midpoint.sweeps import change, factor, gather, is_single, set_inertia, set_subspace

# Velocities that were written and fit but for this many tolerances stay as they are.
SLACK = 10.0


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
        trees.step.grip[w * count + link] = 0
    for m in range(count):
        factor(trees, count - 1 - m, w * count + count - 1 - m)


@wp.func
def velocity_at(trees: Trees, motion: Motion, link: int, k: int, x: vec3) -> tuple[vec3, vec3]:
    """Velocity of a point of the body that a link ends in, and its angular velocity, by a motion that need not fit."""
    i = body_of(trees, link, k // int(trees.count))
    c = trees.step.x[k] + trees.step.frame[k] * trees.links.body_way[link]
    return motion.velocity[i] + wp.cross(motion.angular_velocity[i], x - c), motion.angular_velocity[i]


@wp.func
def driven_momentum(trees: Trees, motion: Motion, link: int, k: int) -> real:
    """The momentum of the drive of a link, which is the only one of its joint."""
    step = trees.step
    x = step.x[k]
    v, w = velocity_at(trees, motion, link, k, x)
    p = trees.links.parent[link]
    if p >= 0:
        drift, spin = velocity_at(trees, motion, p, k - link + p, x)
        v -= drift
        w -= spin
    else:
        spin = step.base_spin[k]
        v -= step.base_drift[k] + wp.cross(spin, x - step.base_way[k])
        w -= spin
    z = vec3(step.frame[k][0, 2], step.frame[k][1, 2], step.frame[k][2, 2])
    along = wp.where(trees.links.kind[link] == SLIDE_LINK, v, w)
    return trees.links.armature[link] * wp.dot(z, along)


@wp.func
def momenta(trees: Trees, motion: Motion, w: int) -> None:
    """The momenta of the bodies of a world, as what its links are short of."""
    step = trees.step
    for link in range(int(trees.count)):
        k = w * int(trees.count) + link
        step.couple[k] = vec3()
        step.force[k] = vec3()
        step.drive[k] = real(0.0)
        if trees.links.armature[link] > real(0.0):
            step.drive[k] = -driven_momentum(trees, motion, link, k)
        if trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            f = -(trees.links.mass[link] * motion.velocity[i])
            c = step.frame[k] * trees.links.body_way[link]
            back = wp.transpose(step.frame[k])
            n = step.frame[k] * (trees.links.inertia[link] * (back * motion.angular_velocity[i]))
            step.couple[k] = wp.cross(c, f) - n
            step.force[k] = f


@wp.func
def velocity_of(trees: Trees, link: int, k: int) -> vec3:
    """Velocity of the body of a link, by the solution of the last sweep."""
    c = trees.step.frame[k] * trees.links.body_way[link]
    return trees.step.drift_rate[k] + wp.cross(trees.step.spin_rate[k], c)


@wp.func
def fit(trees: Trees, motion: Motion, w: int, least: real) -> None:
    """Make the velocities of a motion fit the trees of a world, at the poses of their factor.

    Where none of them changes by more than ``least`` [m/s, rad/s], all stay.
    """
    step = trees.step
    count = int(trees.count)
    momenta(trees, motion, w)
    for m in range(count):
        gather(trees, count - 1 - m, w * count + count - 1 - m)
    largest = real(0.0)
    for link in range(count):
        k = w * count + link
        change(trees, link, k, real(0.0))
        if least >= real(0.0) and trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            turned = wp.length(step.spin_rate[k] - motion.angular_velocity[i])
            largest = wp.max(largest, wp.max(turned, wp.length(velocity_of(trees, link, k) - motion.velocity[i])))
    if largest <= least:
        return
    for link in range(count):
        k = w * count + link
        if trees.links.body[link] >= 0:
            i = w * int(trees.body_count) + trees.links.body[link]
            motion.velocity[i] = velocity_of(trees, link, k)
            motion.angular_velocity[i] = step.spin_rate[k]


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
            c = trees.step.x[k] + trees.step.frame[k] * trees.links.body_way[link]
            motion.position[i] = trees.step.origin[k - link + trees.links.root[link]] + c
            motion.orientation[i] = wp.normalize(trees.step.q[k] * trees.links.body_turn[link])


@kernel
def fit_written(trees: Trees, memory: ContactMemory, motion: Motion, least: real) -> None:
    """Make velocities that were written fit the trees of a world, where they do not."""
    w = wp.tid()
    if memory.pending[w] == WRITTEN:
        factor_at(trees, motion, w)
        fit(trees, motion, w, least)
        memory.pending[w] = SETTLED
