"""Resting contacts as joints that only push: what their manifolds want at the start of a step and at its end.

    start of the step   ½ h F on every point, then impulses p with   (D + h J M⁻¹ Jᵀ p) / h  stopped or separating
    end of the step     ½ h F on every point, then impulses with     J v                     stopped or separating

D way of A against B at a manifold over the predicted step, F force of the point, 2 p / h after the step. A body at rest
gets one half of its load before it falls and one half after, so that it neither sinks nor keeps a speed, and one that
slides is braked along the exact parabola. Points closer than the tolerance count as touching; farther ones may come
closer by their distance.

Reference: Bender, dissertation, §5.3.1 and §5.3.3; the halves make it of second order.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate
from rattleback.model.body_impulses import BodyImpulses
from rattleback.model.contact_memory import ADVANCED, SETTLED, ContactMemory
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.surfaces import Surfaces, combine
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import (
    ContactSystem,
    find_effective_mass,
    place_points,
    relative_motion,
    to_manifold,
    to_world,
    twist_of,
)
from rattleback.solvers.contacts.problem.status import SolverStatus
from rattleback.solvers.contacts.schemes.displacements import (
    HALF,
    ZERO,
    Departures,
    Displacements,
    Prediction,
    begin_remainders,
    displacement_of,
    extent_of,
    keep_remainders,
    note_departures,
    part_expected,
    recall_remainders,
)
from rattleback.solvers.contacts.schemes.inputs import ContactInputs
from rattleback.solvers.contacts.stages.impulse_sums import add_impulse, give_manifold, keep_impulse, recall_impulses

# Part of the tolerance up to which an impulse that is missing at the end of a step is no impact.
IMPACT_FRACTION = wp.constant(real(0.1))


@wp.func
def surface_velocity(surfaces: Surfaces, motion: Motion, a: int, b: int, n: vec3) -> vec3:
    """Velocity of the surface of A against that of B relative to the bodies, across the normal."""
    va = surfaces.velocity[a]
    vb = surfaces.velocity[b]
    if wp.dot(va, va) + wp.dot(vb, vb) == ZERO:
        return vec3()
    u = rotate(motion.orientation[a], va) - rotate(motion.orientation[b], vb)
    return u - wp.dot(u, n) * n


@wp.func
def recall_forces(inputs: ContactInputs, system: ContactSystem, k: int) -> None:
    """Loads and slips of the points of a manifold, from the memory."""
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    for i in range(system.manifolds.count[k]):
        former = inputs.contacts.previous[system.manifolds.contact[k] + i]
        force = vec3()
        slip = vec3()
        if former >= 0:
            force = inputs.memory.load[former]
            slip = inputs.memory.slip[former]
        system.points.load[system.manifolds.first[k] + i] = to_manifold(n, t, force)
        system.points.slip[system.manifolds.first[k] + i] = slip - wp.dot(slip, n) * n


@kernel
def prepare_manifolds(
    bodies: Bodies,
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    motion: Motion,
    departures: Departures,
    loaded: int,
    lanes: int,
) -> None:
    """Geometry, effective mass, surface and warm start of every manifold.

    The memory of updated contacts is in their rows already: it is read here only where the end of the step has loads.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        a = system.manifolds.body_a[k]
        b = system.manifolds.body_b[k]
        w = system.manifolds.world[k]
        if graph.reused[0] * inputs.contacts.rests[system.manifolds.contact[k]] == 0:
            middle = place_points(inputs.contacts, system.manifolds, system.points, k, inputs.limits.depth[w])
            system.manifolds.arm_a[k] = middle - motion.position[a]
            system.manifolds.arm_b[k] = middle - motion.position[b]
            find_effective_mass(bodies, system, k, k, real(1.0), real(1.0))
        found = combine(inputs.surfaces, inputs.rules, a, b)
        system.manifolds.static_friction[k] = found.static_friction
        system.manifolds.dynamic_friction[k] = found.dynamic_friction
        system.manifolds.restitution[k] = found.restitution
        system.manifolds.rolling[k] = found.rolling
        system.manifolds.spinning[k] = found.spinning
        if inputs.limits.frictionless == 1:
            system.manifolds.static_friction[k] = ZERO
            system.manifolds.dynamic_friction[k] = ZERO
            system.manifolds.rolling[k] = ZERO
            system.manifolds.spinning[k] = ZERO
        if loaded == 1 or inputs.contacts.carried[0] == 0:
            recall_forces(inputs, system, k)
        recall_impulses(inputs.contacts, inputs.memory, system, k)
        recall_remainders(inputs.contacts, inputs.memory, system, departures, k)


@wp.func
def set_gap_bias(inputs: ContactInputs, system: ContactSystem, k: int, h: real) -> None:
    """Bias of points that do not touch yet: they may approach by their gap."""
    system.manifolds.as_block[k] = system.manifolds.flat[k]
    first = system.manifolds.first[k]
    rate = real(1.0) / h
    depth = inputs.limits.depth[system.manifolds.world[k]]
    for i in range(system.manifolds.count[k]):
        gap = inputs.contacts.separation[system.manifolds.contact[k] + i]
        target = wp.where(gap > depth, rate * (gap - HALF * depth), ZERO)
        place = system.points.place[first + i]
        system.points.place[first + i] = vec3(place[0], place[1], target)


@wp.func
def begin_manifold(inputs: ContactInputs, system: ContactSystem, motion: Motion, k: int, h: real) -> vec3:
    """Half of the load as first impulse of every point; friction in force; returns the surface velocity."""
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        system.points.impulse[c] = HALF * h * system.points.load[c]
    system.manifolds.resisting_moment[k] = vec3()
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    slide = to_manifold(
        n, t, surface_velocity(inputs.surfaces, motion, system.manifolds.body_a[k], system.manifolds.body_b[k], n)
    )
    static = system.manifolds.static_friction[k]
    dynamic = system.manifolds.dynamic_friction[k]
    system.manifolds.friction[k] = dynamic
    if static != dynamic:
        u, _w = twist_of(system.manifolds, motion, k)
        u += slide
        least = inputs.limits.slow[system.manifolds.world[k]]
        slow = u[1] * u[1] + u[2] * u[2] < least * least
        system.manifolds.friction[k] = wp.where(slow, static, dynamic)
    return slide


@kernel
def set_start_loads(
    inputs: ContactInputs, graph: Graph, system: ContactSystem, motion: Motion, clock: Clock, lanes: int
) -> None:
    """The step begins: half of the load of every point."""
    for k in range(wp.tid(), graph.total[0], lanes):
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        for i in range(system.manifolds.count[k]):
            row = system.manifolds.contact[k] + i
            c = system.manifolds.first[k] + i
            system.points.load[c] = to_manifold(n, t, inputs.memory.load[row])
            system.points.slip[c] = inputs.memory.slip[row]
        begin_remainders(inputs.memory, system, k)
        begin_manifold(inputs, system, motion, k, real(clock.time_step[system.manifolds.world[k]]))


@wp.func
def set_manifold_end_targets(
    inputs: ContactInputs, system: ContactSystem, motion: Motion, clock: Clock, taken: wp.array[wp.float64], k: int
) -> None:
    """Targets of a manifold at the end of the step: half of the loads, none after a write; approach by gaps."""
    world = system.manifolds.world[k]
    step_length = wp.where(inputs.memory.pending[world] == ADVANCED, real(taken[world]), ZERO)
    slide = begin_manifold(inputs, system, motion, k, step_length)
    set_gap_bias(inputs, system, k, real(clock.time_step[world]))
    system.manifolds.bias[k] = slide
    system.manifolds.angular_bias[k] = vec3()


@kernel
def set_end_targets(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    motion: Motion,
    clock: Clock,
    taken: wp.array[wp.float64],
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """Targets at the end of the step, in selected worlds."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 1:
            set_manifold_end_targets(inputs, system, motion, clock, taken, k)


@kernel
def set_start_targets(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    prediction: Prediction,
    clock: Clock,
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """Targets at the start, in selected worlds: stop or separate over the predicted step, with the remainder."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 0:
            continue
        u, w = relative_motion(
            system.manifolds, prediction.displacements.velocity_gain, prediction.displacements.angular_gain, k
        )
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        slide = surface_velocity(
            inputs.surfaces, prediction.start, system.manifolds.body_a[k], system.manifolds.body_b[k], n
        )
        h = real(clock.time_step[system.manifolds.world[k]])
        system.manifolds.bias[k] = u + to_manifold(n, t, slide)
        system.manifolds.angular_bias[k] = w
        set_gap_bias(inputs, system, k, h)
        if system.manifolds.extent[k] == ZERO:
            continue
        d, _turn = displacement_of(system, prediction.displacements, k)
        rate = part_expected(system, k, extent_of(system, prediction.displacements, k, d)) / h
        system.manifolds.bias[k] = system.manifolds.bias[k] + rate * system.manifolds.remainder[k]
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            system.points.place[c] = system.points.place[c] + vec3(ZERO, ZERO, rate * system.points.lift[c])


@kernel
def record_step_length(
    clock: Clock, impulses: BodyImpulses, substeps: int, taken: wp.array[wp.float64], departures: Departures
) -> None:
    """Length of the predicted step; one that was cut short is shorter than the next.

    Stores whether a whole step begins with it, not a sub-step, or a step that had its first impulses already.
    """
    w = wp.tid()
    taken[w] = clock.time_step[w]
    before = impulses.duration[w]
    departures.afresh[w] = 0
    if clock.steps[w] % wp.int64(substeps) == wp.int64(0) and before > wp.float64(0.0):
        departures.afresh[w] = 1
        before = wp.float64(0.0)
    departures.duration[w] = before + taken[w]


@wp.func
def is_sticking(p: vec3, mu: real) -> bool:
    """Whether a point sticks; at its Coulomb limit it slides."""
    return p[1] * p[1] + p[2] * p[2] < real(0.999) * mu * mu * p[0] * p[0]


@kernel
def record_start_loads(
    graph: Graph, system: ContactSystem, clock: Clock, which: wp.array[wp.int32], lanes: int
) -> None:
    """The impulses at the start are found: load of every point of selected worlds, and whether it sticks."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 0:
            continue
        h = real(clock.time_step[system.manifolds.world[k]])
        mu = system.manifolds.friction[k]
        first = system.manifolds.first[k]
        for c in range(first, first + system.manifolds.count[k]):
            p = system.points.impulse[c]
            system.points.load[c] = (real(2.0) / h) * p
            system.points.acted[c] = p
            system.points.sticking[c] = wp.where(is_sticking(p, mu), 1, 0)


@kernel
def store_forces(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    displacements: Displacements,
    departures: Departures,
    stop: wp.array[wp.int32],
    lanes: int,
) -> None:
    """The step is taken: store loads, impulses, slips of sticking points, and departures."""
    if stop[0] != 0:
        return
    for w in range(wp.tid(), inputs.memory.pending.shape[0], lanes):
        inputs.memory.pending[w] = ADVANCED
        inputs.impulses.duration[w] = departures.duration[w]
    if inputs.adds == 1:
        for j in range(inputs.bodies.world.shape[0]):
            if departures.afresh[inputs.bodies.world[j]] == 1:
                inputs.impulses.impulse[j] = vec3()
    for k in range(wp.tid(), graph.total[0], lanes):
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        d, turn = displacement_of(system, displacements, k)
        extent = extent_of(system, displacements, k, d)
        note_departures(inputs.contacts, system, displacements, departures, k, extent)
        if system.manifolds.extent[k] > ZERO:
            d += part_expected(system, k, extent) * system.manifolds.remainder[k]
        afresh = departures.afresh[system.manifolds.world[k]] == 1
        total = vec3()
        for i in range(system.manifolds.count[k]):
            c = system.manifolds.first[k] + i
            row = system.manifolds.contact[k] + i
            inputs.memory.load[row] = to_world(n, t, system.points.load[c])
            p = to_world(n, t, system.points.acted[c])
            total += p
            if not afresh:
                p += inputs.memory.impulse[row]
            inputs.memory.impulse[row] = p
            creep = vec3()
            if system.points.sticking[c] == 1:
                place = system.points.place[c]
                moved = vec3(ZERO, d[1] - place[1] * turn[0], d[2] + place[0] * turn[0])
                creep = system.points.slip[c] + to_world(n, t, moved)
            inputs.memory.slip[row] = creep
        if inputs.adds == 1:
            give_manifold(inputs.bodies, inputs.impulses, system, k, total)


@kernel
def store_points(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    status: SolverStatus,
    taken: wp.array[wp.float64],
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """Store loads, slips and impulses of the points of selected worlds, by the rows of the contacts found last.

    A load that the end of the step needed less than its start was an impact, and is reduced to what the end needed.
    Where sweeps met the tolerance, a small difference is none: otherwise loads would decay.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        w = system.manifolds.world[k]
        if which[w] == 0:
            continue
        stepped = inputs.memory.pending[w] == ADVANCED
        half = HALF * real(taken[w])
        met = wp.max(status.normal_residual[w], status.tangential_residual[w]) <= inputs.limits.speed[w]
        slight = wp.where(met, IMPACT_FRACTION * inputs.limits.speed[w] / system.manifolds.block_nn[k][0, 0], ZERO)
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        total = vec3()
        for i in range(system.manifolds.count[k]):
            c = system.manifolds.first[k] + i
            force = system.points.load[c]
            pushed = half * force[0]
            if stepped and system.points.impulse[c][0] < pushed - slight:
                force = (system.points.impulse[c][0] / pushed) * force
            inputs.memory.load[system.manifolds.contact[k] + i] = to_world(n, t, force)
            inputs.memory.slip[system.manifolds.contact[k] + i] = system.points.slip[c]
            p = to_world(n, t, system.points.impulse[c])
            add_impulse(inputs.contacts, inputs.memory, system, k, i, p)
            keep_impulse(inputs.contacts, inputs.memory, system, k, i)
            total += p
        keep_remainders(inputs.memory, system, k)
        if inputs.adds == 1:
            give_manifold(inputs.bodies, inputs.impulses, system, k, total)


@kernel
def mark_settled(memory: ContactMemory, which: wp.array[wp.int32]) -> None:
    """The velocities of selected worlds fit their contacts."""
    w = wp.tid()
    if which[w] == 1:
        memory.pending[w] = SETTLED
