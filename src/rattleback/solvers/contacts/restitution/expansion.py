"""Poisson's and Stronge's hypotheses: how much of the impulse, or of the work, of compression comes back.

    compression   impulses p_c that stop the points,   W_c their work along the normals, W_c < 0
    Poisson       every point gets e p_c more
    Stronge       it gets λ e p_c more, with λ where   Σ W_r + max(W_t, 0) = Σ e² |W_c|

W_r work of expansion along the normals, W_t work of friction, sums over the points of a world that take part. Friction
has its own cone in every phase, |p_t| ≤ μ p_n, and does not give back what it took while the bodies were compressed.

For Stronge's hypothesis the impact is followed in slices: of the approach while it is compressed, of λ while it
expands. Over a slice velocities go on a straight line, so its works are exact, and so is the part of the last slice
that is taken. Friction follows the slip at the end of every slice, where it may turn around or stop. What it gains by
that is taken off what may come back: the energy after the impact is never above  E − Σ (1 − e²) |W_c|.

Reference: Bender, dissertation, §5.1.3 and §5.2.2 (there W_r would be −(1 − e²) W_c, which is what is lost); Stronge,
Proc. R. Soc. A 431 (1990); Routh, Dynamics of a System of Rigid Bodies (slip during impact).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3, vec4
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import push_patch, solve_patch
from rattleback.solvers.contacts.kernels.friction import grip_points
from rattleback.solvers.contacts.kernels.twist import TINY, apply_twist, make_twist
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import Pressing, twist_of
from rattleback.solvers.contacts.problem.status import Rounds, note_residual
from rattleback.solvers.contacts.restitution.search import COLLIDES, ZERO, Collisions, velocity_of
from rattleback.solvers.contacts.schemes.inputs import ContactLimits

HALF = wp.constant(real(0.5))
# Slices of the approach and of λ = 1, and the most slices of the expansion, after which nothing more comes back.
SLICES = wp.constant(64)
MOST_SLICES = wp.constant(256)
# Phases of an impact.
COMPRESSING = wp.constant(1)
EXPANDING = wp.constant(2)


@group(axis="worlds")
class Works:
    """How far the impacts of each world have gone, and the work of their impulses."""

    before: vec3 = field("m/s", "velocity of a point at the beginning of the slice, axes of its patch", axis="contacts")
    going: wp.int32 = field("1", "1 while the impact goes on")
    phase: wp.int32 = field("1", "1 compressing, 2 expanding")
    slices: wp.int32 = field("1", "slices done in the phase")
    back: real = field("J", "work that may come back")
    friction: real = field("J", "work of friction so far")
    work: vec4 = field("J", "work in the slice along the normals by its part f and by f², and the same of friction")
    part: real = field("1", "part of the slice that is taken")
    change: real = field("m/s", "largest change of a velocity along a normal in the slice")
    any_going: wp.int32 = field("1", "1 while any impact goes on", axis="flags")


@wp.func
def grip_patch(bodies: Bodies, pressing: Pressing, motion: Motion, k: int) -> real:
    """Correct the velocities of a patch across its normal; returns the largest change."""
    u, w = twist_of(pressing.patches, motion, k)
    twist = make_twist(u + pressing.patches.drive[k], w)
    twist = grip_points(pressing.patches, pressing.points, k, twist)
    apply_twist(bodies, pressing, motion, k, twist)
    return wp.sqrt(twist.across)


@kernel
def expand(bodies: Bodies, pressing: Pressing, motion: Motion, collisions: Collisions, active: Active) -> None:
    """Every point gets e times its impulse of compression more, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            pushed = pressing.patches.restitution[k] * pressing.points.impulse[c][0]
            pressing.points.impulse[c] = vec3(pushed, ZERO, ZERO)
        pressing.patches.couple[k] = vec3()
        push_patch(bodies, pressing, motion, k)


@kernel
def grip_listed(
    bodies: Bodies, pressing: Pressing, motion: Motion, collisions: Collisions, active: Active, rounds: Rounds
) -> None:
    """One sweep of friction over the patches of the round in busy worlds, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        w = pressing.patches.world[k]
        if rounds.busy[w] == 1:
            rounds.across[w] = wp.max(rounds.across[w], grip_patch(bodies, pressing, motion, k))


@kernel
def begin_works(collisions: Collisions, works: Works) -> None:
    """The impacts of the round begin."""
    w = wp.tid()
    works.going[w] = collisions.colliding[w]
    works.phase[w] = COMPRESSING
    works.slices[w] = 0
    works.back[w] = ZERO
    works.friction[w] = ZERO
    works.part[w] = real(1.0)
    works.any_going[0] = 1


@wp.func
def aim_slice(
    limits: ContactLimits, pressing: Pressing, motion: Motion, collisions: Collisions, works: Works, k: int
) -> None:
    """What the points of a patch want in a slice, beginning with the impulses of the one before."""
    w = pressing.patches.world[k]
    u, turning = twist_of(pressing.patches, motion, k)
    u += pressing.patches.drive[k]
    slow = u[1] * u[1] + u[2] * u[2] < limits.slow * limits.slow
    mu = wp.where(slow, pressing.patches.static_friction[k], pressing.patches.dynamic_friction[k])
    pressing.patches.grip[k] = mu
    pressing.patches.couple[k] = vec3()
    pressing.patches.whole[k] = 0
    left = real(1.0) - real(works.slices[w] + 1) / real(SLICES)
    more = pressing.patches.restitution[k] / real(SLICES)
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        works.before[c] = velocity_of(pressing, c, u, turning)
        if works.phase[w] == EXPANDING:
            p = pressing.points.impulse[c]
            pushed = more * collisions.pressed[c]
            part = wp.min(real(1.0), mu * pushed / wp.max(wp.sqrt(p[1] * p[1] + p[2] * p[2]), TINY))
            pressing.points.impulse[c] = vec3(pushed, part * p[1], part * p[2])
        elif collisions.point[c] == COLLIDES:
            place = pressing.points.place[c]
            pressing.points.place[c] = vec3(place[0], place[1], -left * collisions.velocity[c][0])


@kernel
def begin_slice(
    bodies: Bodies,
    limits: ContactLimits,
    pressing: Pressing,
    motion: Motion,
    collisions: Collisions,
    active: Active,
    works: Works,
) -> None:
    """A slice begins with the impulses of the one before, on one thread."""
    for i in range(active.count[0]):
        if works.going[pressing.patches.world[active.listed[i]]] == 1:
            aim_slice(limits, pressing, motion, collisions, works, active.listed[i])
    for i in range(active.count[0]):
        if works.going[pressing.patches.world[active.listed[i]]] == 1:
            push_patch(bodies, pressing, motion, active.listed[i])


@kernel
def sweep_slice(
    bodies: Bodies,
    pressing: Pressing,
    motion: Motion,
    collisions: Collisions,
    active: Active,
    rounds: Rounds,
    works: Works,
) -> None:
    """One sweep over the patches of a slice in busy worlds, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        w = pressing.patches.world[k]
        if rounds.busy[w] == 1:
            along = ZERO
            across = ZERO
            if works.phase[w] == COMPRESSING:
                along, across = solve_patch(bodies, pressing, motion, k)
            else:
                across = grip_patch(bodies, pressing, motion, k)
            note_residual(rounds, w, along, across)


@kernel
def measure_slice(pressing: Pressing, motion: Motion, collisions: Collisions, active: Active, works: Works) -> None:
    """The works of a slice, on one thread."""
    for w in range(works.work.shape[0]):
        works.work[w] = vec4()
        works.change[w] = ZERO
    for i in range(active.count[0]):
        k = active.listed[i]
        w = pressing.patches.world[k]
        if works.going[w] == 1:
            u, turning = twist_of(pressing.patches, motion, k)
            u += pressing.patches.drive[k]
            e = pressing.patches.restitution[k]
            work = vec4()
            first = pressing.patches.first[k]
            for c in range(first, first + pressing.patches.count[k]):
                before = works.before[c]
                change = HALF * (velocity_of(pressing, c, u, turning) - before)
                works.change[w] = wp.max(works.change[w], real(2.0) * wp.abs(change[0]))
                p = pressing.points.impulse[c]
                work += vec4(
                    p[0] * before[0],
                    p[0] * change[0],
                    p[1] * before[1] + p[2] * before[2],
                    p[1] * change[1] + p[2] * change[2],
                )
                if works.phase[w] == COMPRESSING:
                    collisions.pressed[c] = collisions.pressed[c] + p[0]
            if works.phase[w] == COMPRESSING:
                works.back[w] = works.back[w] - e * e * (work[0] + work[1])
            works.work[w] = works.work[w] + work


@wp.func
def part_to_take(work: vec4, left: real) -> real:
    """The part f of a slice with  a f + b f² = left,  at most 1; what friction gains counts as well."""
    a = work[0]
    b = work[1]
    if work[2] + work[3] > ZERO:
        a += work[2]
        b += work[3]
    if a + b < left:
        return real(1.0)
    if left <= ZERO:
        return ZERO
    return real(2.0) * left / (a + wp.sqrt(wp.max(a * a + real(4.0) * b * left, ZERO)))


@kernel
def end_slice(works: Works, collisions: Collisions, budget: int) -> None:
    """A slice is done: go on with the next one, until all that may come back has, or the budget ends."""
    w = wp.tid()
    # Of worlds whose impact has ended nothing is taken any more.
    works.part[w] = real(works.going[w])
    if works.going[w] == 0:
        return
    work = works.work[w]
    works.slices[w] = works.slices[w] + 1
    if works.phase[w] == EXPANDING:
        left = works.back[w] - wp.max(works.friction[w], ZERO)
        part = part_to_take(work, left)
        works.part[w] = part
        works.back[w] = works.back[w] - work[0] - work[1]
        if part < real(1.0) or works.slices[w] == MOST_SLICES:
            works.going[w] = 0
    elif works.slices[w] == SLICES:
        works.phase[w] = EXPANDING
        works.slices[w] = 0
    works.friction[w] = works.friction[w] + work[2] + work[3]
    if works.going[w] == 1 and collisions.spent[w] >= budget:
        works.going[w] = 0
        slices = wp.where(works.phase[w] == EXPANDING, 1, SLICES - works.slices[w])
        collisions.left[w] = wp.max(collisions.left[w], real(slices) * works.change[w])
    if works.going[w] == 1:
        works.any_going[0] = 1


@kernel
def take_part(bodies: Bodies, works: Works, kept: Motion, motion: Motion) -> None:
    """The last slice of a world is taken only in part."""
    i = wp.tid()
    part = works.part[bodies.world[i]]
    if part < real(1.0):
        v = kept.velocity[i]
        w = kept.angular_velocity[i]
        motion.velocity[i] = v + part * (motion.velocity[i] - v)
        motion.angular_velocity[i] = w + part * (motion.angular_velocity[i] - w)
