"""Poisson's and Stronge's hypotheses: the part of the impulse, or of the work, of compression that is restored.

    compression   impulses p_c that stop the points,   W_c their work along the normals, W_c < 0
    Poisson       every point gets e p_c more
    Stronge       it gets λ e p_c more, with λ where   Σ W_r + max(W_t, 0) = Σ e² |W_c|

W_r work of expansion along the normals, W_t work of friction, sums over the points of a world that take part. Friction
has its own cone in every phase, |p_t| ≤ μ p_n; the impulse of compression is not reversed.

For Stronge's hypothesis the impact is followed in slices: of the approach while it is compressed, of λ while it
expands. Over a slice velocities change linearly, so its works are exact, and so is the part of the last slice
that is taken. Friction follows the slip at the end of every slice, where it may reverse or stop. Energy that it
adds by that is subtracted from the work to restore: the energy after the impact is never above  E − Σ (1 − e²) |W_c|.

Reference: Bender, dissertation, §5.1.3 and §5.2.2 (there W_r would be −(1 − e²) W_c, which is what is lost); Stronge,
Proc. R. Soc. A 431 (1990); Routh, Dynamics of a System of Rigid Bodies (slip during impact).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3, vec4
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import apply_impulses, solve_manifold
from rattleback.solvers.contacts.kernels.friction import solve_friction_points
from rattleback.solvers.contacts.kernels.twist import TINY, apply_twist, make_twist
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, twist_of
from rattleback.solvers.contacts.problem.status import SolverStatus, update_residual
from rattleback.solvers.contacts.restitution.search import COLLIDES, ZERO, ImpactPoints, point_velocity
from rattleback.solvers.contacts.schemes.inputs import ContactLimits

HALF = wp.constant(real(0.5))
# Slices of the approach and of λ = 1, and the most slices of the expansion, which then ends.
SLICES = wp.constant(64)
MAX_SLICES = wp.constant(256)
# Phases of an impact.
COMPRESSING = wp.constant(1)
EXPANDING = wp.constant(2)


@group(axis="worlds")
class ImpactWork:
    """Phase and slice of the impacts of each world, and the work of their impulses."""

    start_velocity: vec3 = field(
        "m/s", "velocity of a point at the beginning of the slice, axes of its manifold", axis="contacts"
    )
    active: wp.int32 = field("1", "1 while the impact lasts")
    phase: wp.int32 = field("1", "1 compressing, 2 expanding")
    slices: wp.int32 = field("1", "slices done in the phase")
    recoverable: real = field("J", "work left to restore")
    friction_work: real = field("J", "work of friction so far")
    work: vec4 = field("J", "work in the slice along the normals by its part f and by f², and the same of friction")
    fraction: real = field("1", "part of the slice that is taken")
    change: real = field("m/s", "largest change of a velocity along a normal in the slice")
    any_active: wp.int32 = field("1", "1 while any impact lasts", axis="flags")


@wp.func
def solve_manifold_friction(bodies: Bodies, system: ContactSystem, motion: Motion, k: int) -> real:
    """Correct the velocities of a manifold across its normal; returns the largest change."""
    u, w = twist_of(system.manifolds, motion, k)
    twist = make_twist(u + system.manifolds.bias[k], w)
    twist = solve_friction_points(system.manifolds, system.points, k, twist)
    apply_twist(bodies, system, motion, k, twist)
    return wp.sqrt(twist.tangential_residual_squared)


@kernel
def apply_restitution(
    bodies: Bodies, system: ContactSystem, motion: Motion, impact_points: ImpactPoints, active: Active
) -> None:
    """Add e times its impulse of compression to every point, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        first = system.manifolds.first[k]
        for c in range(first, first + system.manifolds.count[k]):
            pushed = system.manifolds.restitution[k] * system.points.impulse[c][0]
            system.points.impulse[c] = vec3(pushed, ZERO, ZERO)
        system.manifolds.resisting_moment[k] = vec3()
        apply_impulses(bodies, system, motion, k)


@kernel
def sweep_friction(
    bodies: Bodies,
    system: ContactSystem,
    motion: Motion,
    impact_points: ImpactPoints,
    active: Active,
    status: SolverStatus,
) -> None:
    """One sweep of friction over the manifolds of the round in active worlds, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        w = system.manifolds.world[k]
        if status.busy[w] == 1:
            status.tangential_residual[w] = wp.max(
                status.tangential_residual[w], solve_manifold_friction(bodies, system, motion, k)
            )


@kernel
def begin_impact_work(impact_points: ImpactPoints, impact_work: ImpactWork) -> None:
    """The impacts of the round begin."""
    w = wp.tid()
    impact_work.active[w] = impact_points.colliding[w]
    impact_work.phase[w] = COMPRESSING
    impact_work.slices[w] = 0
    impact_work.recoverable[w] = ZERO
    impact_work.friction_work[w] = ZERO
    impact_work.fraction[w] = real(1.0)
    impact_work.any_active[0] = 1


@wp.func
def set_slice_targets(
    limits: ContactLimits,
    system: ContactSystem,
    motion: Motion,
    impact_points: ImpactPoints,
    impact_work: ImpactWork,
    k: int,
) -> None:
    """Targets of the points of a manifold in a slice, warm-started with the impulses of the one before."""
    w = system.manifolds.world[k]
    u, turning = twist_of(system.manifolds, motion, k)
    u += system.manifolds.bias[k]
    slow = u[1] * u[1] + u[2] * u[2] < limits.slow[w] * limits.slow[w]
    mu = wp.where(slow, system.manifolds.static_friction[k], system.manifolds.dynamic_friction[k])
    system.manifolds.friction[k] = mu
    system.manifolds.resisting_moment[k] = vec3()
    system.manifolds.as_block[k] = 0
    left = real(1.0) - real(impact_work.slices[w] + 1) / real(SLICES)
    more = system.manifolds.restitution[k] / real(SLICES)
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        impact_work.start_velocity[c] = point_velocity(system, c, u, turning)
        if impact_work.phase[w] == EXPANDING:
            p = system.points.impulse[c]
            pushed = more * impact_points.compression_impulse[c]
            part = wp.min(real(1.0), mu * pushed / wp.max(wp.sqrt(p[1] * p[1] + p[2] * p[2]), TINY))
            system.points.impulse[c] = vec3(pushed, part * p[1], part * p[2])
        elif impact_points.point[c] == COLLIDES:
            place = system.points.place[c]
            system.points.place[c] = vec3(place[0], place[1], -left * impact_points.velocity[c][0])


@kernel
def begin_slice(
    bodies: Bodies,
    limits: ContactLimits,
    system: ContactSystem,
    motion: Motion,
    impact_points: ImpactPoints,
    active: Active,
    impact_work: ImpactWork,
) -> None:
    """A slice begins with the impulses of the one before, on one thread."""
    for i in range(active.count[0]):
        if impact_work.active[system.manifolds.world[active.listed[i]]] == 1:
            set_slice_targets(limits, system, motion, impact_points, impact_work, active.listed[i])
    for i in range(active.count[0]):
        if impact_work.active[system.manifolds.world[active.listed[i]]] == 1:
            apply_impulses(bodies, system, motion, active.listed[i])


@kernel
def sweep_slice(
    bodies: Bodies,
    system: ContactSystem,
    motion: Motion,
    impact_points: ImpactPoints,
    active: Active,
    status: SolverStatus,
    impact_work: ImpactWork,
) -> None:
    """One sweep over the manifolds of a slice in active worlds, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        w = system.manifolds.world[k]
        if status.busy[w] == 1:
            normal = ZERO
            tangential = ZERO
            if impact_work.phase[w] == COMPRESSING:
                normal, tangential = solve_manifold(bodies, system, motion, k)
            else:
                tangential = solve_manifold_friction(bodies, system, motion, k)
            update_residual(status, w, normal, tangential)


@kernel
def measure_slice(
    system: ContactSystem, motion: Motion, impact_points: ImpactPoints, active: Active, impact_work: ImpactWork
) -> None:
    """The works of a slice, on one thread."""
    for w in range(impact_work.work.shape[0]):
        impact_work.work[w] = vec4()
        impact_work.change[w] = ZERO
    for i in range(active.count[0]):
        k = active.listed[i]
        w = system.manifolds.world[k]
        if impact_work.active[w] == 1:
            u, turning = twist_of(system.manifolds, motion, k)
            u += system.manifolds.bias[k]
            e = system.manifolds.restitution[k]
            work = vec4()
            first = system.manifolds.first[k]
            for c in range(first, first + system.manifolds.count[k]):
                before = impact_work.start_velocity[c]
                change = HALF * (point_velocity(system, c, u, turning) - before)
                impact_work.change[w] = wp.max(impact_work.change[w], real(2.0) * wp.abs(change[0]))
                p = system.points.impulse[c]
                work += vec4(
                    p[0] * before[0],
                    p[0] * change[0],
                    p[1] * before[1] + p[2] * before[2],
                    p[1] * change[1] + p[2] * change[2],
                )
                if impact_work.phase[w] == COMPRESSING:
                    impact_points.compression_impulse[c] = impact_points.compression_impulse[c] + p[0]
            if impact_work.phase[w] == COMPRESSING:
                impact_work.recoverable[w] = impact_work.recoverable[w] - e * e * (work[0] + work[1])
            impact_work.work[w] = impact_work.work[w] + work


@wp.func
def slice_fraction(work: vec4, left: real) -> real:
    """The part f of a slice with  a f + b f² = left,  at most 1; work that friction adds counts as well."""
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
def end_slice(impact_work: ImpactWork, impact_points: ImpactPoints, budget: int) -> None:
    """A slice is done: continue until all work is restored, or the budget ends."""
    w = wp.tid()
    # Worlds without an impact take no more slices.
    impact_work.fraction[w] = real(impact_work.active[w])
    if impact_work.active[w] == 0:
        return
    work = impact_work.work[w]
    impact_work.slices[w] = impact_work.slices[w] + 1
    if impact_work.phase[w] == EXPANDING:
        left = impact_work.recoverable[w] - wp.max(impact_work.friction_work[w], ZERO)
        part = slice_fraction(work, left)
        impact_work.fraction[w] = part
        impact_work.recoverable[w] = impact_work.recoverable[w] - work[0] - work[1]
        if part < real(1.0) or impact_work.slices[w] == MAX_SLICES:
            impact_work.active[w] = 0
    elif impact_work.slices[w] == SLICES:
        impact_work.phase[w] = EXPANDING
        impact_work.slices[w] = 0
    impact_work.friction_work[w] = impact_work.friction_work[w] + work[2] + work[3]
    if impact_work.active[w] == 1 and impact_points.cost[w] >= budget:
        impact_work.active[w] = 0
        slices = wp.where(impact_work.phase[w] == EXPANDING, 1, SLICES - impact_work.slices[w])
        impact_points.unresolved[w] = wp.max(impact_points.unresolved[w], real(slices) * impact_work.change[w])
    if impact_work.active[w] == 1:
        impact_work.any_active[0] = 1


@kernel
def take_fraction(bodies: Bodies, impact_work: ImpactWork, kept: Motion, motion: Motion) -> None:
    """The last slice of a world is taken only in part."""
    i = wp.tid()
    part = impact_work.fraction[bodies.world[i]]
    if part < real(1.0):
        v = kept.velocity[i]
        w = kept.angular_velocity[i]
        motion.velocity[i] = v + part * (motion.velocity[i] - v)
        motion.angular_velocity[i] = w + part * (motion.angular_velocity[i] - w)
