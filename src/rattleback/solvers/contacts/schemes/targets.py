"""Resting contacts as joints that only push: what their patches want at the start of a step and at its end.

    start of the step   ½ h F on every point, then impulses p with   (D + h J M⁻¹ Jᵀ p) / h  stopped or separating
    end of the step     ½ h F on every point, then impulses with     J v                     stopped or separating

D way of A against B at a patch over the predicted step, F force of the point, 2 p / h after the step. A body at rest
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
    Pressing,
    answer,
    between,
    local,
    place_points,
    twist_of,
    world,
)
from rattleback.solvers.contacts.problem.status import Rounds
from rattleback.solvers.contacts.schemes.displacements import (
    HALF,
    ZERO,
    Departures,
    Flights,
    Ways,
    begin_remainders,
    extent_of,
    keep_remainders,
    note_departures,
    part_expected,
    recall_remainders,
    way_of,
)
from rattleback.solvers.contacts.schemes.inputs import Footing
from rattleback.solvers.contacts.stages.impulse_sums import add_impulse, give_patch, keep_impulse, recall_impulses

# Part of the tolerance up to which a velocity that is off is no blow.
SLIGHT = wp.constant(real(0.1))
# How many times longer than the last one a step may be in which forces that few sweeps have left go on.
LONGER = wp.constant(real(2.0))


@wp.func
def belt(surfaces: Surfaces, motion: Motion, a: int, b: int, n: vec3) -> vec3:
    """Velocity of the surface of A against that of B beside the bodies' own, across the normal."""
    va = surfaces.velocity[a]
    vb = surfaces.velocity[b]
    if wp.dot(va, va) + wp.dot(vb, vb) == ZERO:
        return vec3()
    u = rotate(motion.orientation[a], va) - rotate(motion.orientation[b], vb)
    return u - wp.dot(u, n) * n


@wp.func
def recall_points(ground: Footing, pressing: Pressing, k: int) -> None:
    """What the points of a patch remember."""
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    for i in range(pressing.patches.count[k]):
        former = ground.contacts.previous[pressing.patches.contact[k] + i]
        force = vec3()
        slip = vec3()
        if former >= 0:
            force = ground.memory.load[former]
            slip = ground.memory.slip[former]
        pressing.points.load[pressing.patches.first[k] + i] = local(n, t, force)
        pressing.points.slip[pressing.patches.first[k] + i] = slip - wp.dot(slip, n) * n


@kernel
def prepare_patches(
    bodies: Bodies,
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    motion: Motion,
    departures: Departures,
    loaded: int,
    lanes: int,
) -> None:
    """Where a patch is, how it answers, what its surfaces are, and what its points remember.

    What is remembered is in the rows of the contacts already where these were carried along; where the end of the step
    is not to be loaded, nobody else asks for it.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        a = pressing.patches.body_a[k]
        b = pressing.patches.body_b[k]
        if graph.kept[0] * ground.contacts.rests[pressing.patches.contact[k]] == 0:
            middle = place_points(ground.contacts, pressing.patches, pressing.points, k, ground.limits.depth)
            pressing.patches.arm_a[k] = middle - motion.position[a]
            pressing.patches.arm_b[k] = middle - motion.position[b]
            answer(bodies, pressing, k, k, real(1.0), real(1.0))
        found = combine(ground.surfaces, ground.rules, a, b)
        pressing.patches.static_friction[k] = found.static_friction
        pressing.patches.dynamic_friction[k] = found.dynamic_friction
        pressing.patches.restitution[k] = found.restitution
        pressing.patches.rolling[k] = found.rolling
        pressing.patches.spinning[k] = found.spinning
        if loaded == 1 or ground.contacts.carried[0] == 0:
            recall_points(ground, pressing, k)
        recall_impulses(ground.contacts, ground.memory, pressing, k)
        recall_remainders(ground.contacts, ground.memory, pressing, departures, k)


@wp.func
def allow(ground: Footing, pressing: Pressing, k: int, h: real) -> None:
    """Points that do not touch yet may come closer by their distance."""
    pressing.patches.whole[k] = pressing.patches.flat[k]
    first = pressing.patches.first[k]
    rate = real(1.0) / h
    for i in range(pressing.patches.count[k]):
        gap = ground.contacts.separation[pressing.patches.contact[k] + i]
        wanted = wp.where(gap > ground.limits.depth, rate * (gap - HALF * ground.limits.depth), ZERO)
        place = pressing.points.place[first + i]
        pressing.points.place[first + i] = vec3(place[0], place[1], wanted)


@wp.func
def begin_patch(ground: Footing, pressing: Pressing, motion: Motion, k: int, h: real) -> vec3:
    """The points of a patch begin with half of the load they had; returns how its surfaces move beside its bodies."""
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        pressing.points.impulse[c] = HALF * h * pressing.points.load[c]
    pressing.patches.couple[k] = vec3()
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    slide = local(n, t, belt(ground.surfaces, motion, pressing.patches.body_a[k], pressing.patches.body_b[k], n))
    static = pressing.patches.static_friction[k]
    dynamic = pressing.patches.dynamic_friction[k]
    pressing.patches.grip[k] = dynamic
    if static != dynamic:
        u, _w = twist_of(pressing.patches, motion, k)
        u += slide
        slow = u[1] * u[1] + u[2] * u[2] < ground.limits.slow * ground.limits.slow
        pressing.patches.grip[k] = wp.where(slow, static, dynamic)
    return slide


@kernel
def begin_start(ground: Footing, graph: Graph, pressing: Pressing, motion: Motion, clock: Clock, lanes: int) -> None:
    """The step begins: every point pushes with half of the load it had."""
    for k in range(wp.tid(), graph.total[0], lanes):
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        for i in range(pressing.patches.count[k]):
            row = pressing.patches.contact[k] + i
            c = pressing.patches.first[k] + i
            pressing.points.load[c] = local(n, t, ground.memory.load[row])
            pressing.points.slip[c] = ground.memory.slip[row]
        begin_remainders(ground.memory, pressing, k)
        begin_patch(ground, pressing, motion, k, real(clock.time_step[pressing.patches.world[k]]))


@wp.func
def end_patch(
    ground: Footing, pressing: Pressing, motion: Motion, clock: Clock, taken: wp.array[wp.float64], k: int
) -> None:
    """The points of a patch push with half of their load over the step; after velocities were written, with nothing."""
    world = pressing.patches.world[k]
    lasted = wp.where(ground.memory.pending[world] == ADVANCED, real(taken[world]), ZERO)
    slide = begin_patch(ground, pressing, motion, k, lasted)
    allow(ground, pressing, k, real(clock.time_step[world]))
    pressing.patches.drive[k] = slide
    pressing.patches.spin[k] = vec3()


@kernel
def begin_end(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    motion: Motion,
    clock: Clock,
    taken: wp.array[wp.float64],
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """The step is taken: what the points push with at its end, in the worlds that are wanted."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[pressing.patches.world[k]] == 1:
            end_patch(ground, pressing, motion, clock, taken, k)


@kernel
def begin_way(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    flights: Flights,
    clock: Clock,
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """What a patch of a wanted world wants at the start: to be stopped, or to separate, over the predicted step."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[pressing.patches.world[k]] == 0:
            continue
        u, w = between(pressing.patches, flights.ways.gain, flights.ways.spin, k)
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        slide = belt(ground.surfaces, flights.start, pressing.patches.body_a[k], pressing.patches.body_b[k], n)
        h = real(clock.time_step[pressing.patches.world[k]])
        pressing.patches.drive[k] = u + local(n, t, slide)
        pressing.patches.spin[k] = w
        allow(ground, pressing, k, h)
        if pressing.patches.extent[k] == ZERO:
            continue
        d, _turn = way_of(pressing, flights.ways, k)
        rate = part_expected(pressing, k, extent_of(pressing, flights.ways, k, d)) / h
        pressing.patches.drive[k] = pressing.patches.drive[k] + rate * pressing.patches.remainder[k]
        for c in range(pressing.patches.first[k], pressing.patches.first[k] + pressing.patches.count[k]):
            pressing.points.place[c] = pressing.points.place[c] + vec3(ZERO, ZERO, rate * pressing.points.lift[c])


@kernel
def note_length(
    clock: Clock, impulses: BodyImpulses, substeps: int, taken: wp.array[wp.float64], departures: Departures
) -> None:
    """How long the step is that was predicted last; one that is cut short is shorter than the next.

    Whether a whole step begins with it, not a sub-step of one or a step whose first impulses are there already.
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
def sticks(p: vec3, mu: real) -> bool:
    """Whether a point with an impulse and a friction sticks; at the limit of its friction it slides."""
    return p[1] * p[1] + p[2] * p[2] < real(0.999) * mu * mu * p[0] * p[0]


@kernel
def end_start(graph: Graph, pressing: Pressing, clock: Clock, which: wp.array[wp.int32], lanes: int) -> None:
    """The impulses at the start are found: the load of every point of the wanted worlds, and whether it sticks."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[pressing.patches.world[k]] == 0:
            continue
        h = real(clock.time_step[pressing.patches.world[k]])
        mu = pressing.patches.grip[k]
        first = pressing.patches.first[k]
        for c in range(first, first + pressing.patches.count[k]):
            p = pressing.points.impulse[c]
            pressing.points.load[c] = (real(2.0) / h) * p
            pressing.points.acted[c] = p
            pressing.points.sticks[c] = wp.where(sticks(p, mu), 1, 0)


@kernel
def keep_forces(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    ways: Ways,
    departures: Departures,
    stop: wp.array[wp.int32],
    lanes: int,
) -> None:
    """The step is taken: what the points carry from now on, how far those that stick have crept, and where all were."""
    if stop[0] != 0:
        return
    for w in range(wp.tid(), ground.memory.pending.shape[0], lanes):
        ground.memory.pending[w] = ADVANCED
        ground.impulses.duration[w] = departures.duration[w]
    if ground.adds == 1:
        for j in range(ground.bodies.world.shape[0]):
            if departures.afresh[ground.bodies.world[j]] == 1:
                ground.impulses.impulse[j] = vec3()
    for k in range(wp.tid(), graph.total[0], lanes):
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        d, turn = way_of(pressing, ways, k)
        extent = extent_of(pressing, ways, k, d)
        note_departures(ground.contacts, pressing, ways, departures, k, extent)
        if pressing.patches.extent[k] > ZERO:
            d += part_expected(pressing, k, extent) * pressing.patches.remainder[k]
        afresh = departures.afresh[pressing.patches.world[k]] == 1
        total = vec3()
        for i in range(pressing.patches.count[k]):
            c = pressing.patches.first[k] + i
            row = pressing.patches.contact[k] + i
            ground.memory.load[row] = world(n, t, pressing.points.load[c])
            p = world(n, t, pressing.points.acted[c])
            total += p
            if not afresh:
                p += ground.memory.impulse[row]
            ground.memory.impulse[row] = p
            crept = vec3()
            if pressing.points.sticks[c] == 1:
                place = pressing.points.place[c]
                moved = vec3(ZERO, d[1] - place[1] * turn[0], d[2] + place[0] * turn[0])
                crept = pressing.points.slip[c] + world(n, t, moved)
            ground.memory.slip[row] = crept
        if ground.adds == 1:
            give_patch(ground.bodies, ground.impulses, pressing, k, total)


@kernel
def keep_points(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    rounds: Rounds,
    clock: Clock,
    taken: wp.array[wp.float64],
    which: wp.array[wp.int32],
    lanes: int,
) -> None:
    """What the points of the wanted worlds remember, by the rows of the contacts found last.

    A load that the end of the step did not need as its start did was a blow, and does not go on. Where sweeps have met
    the tolerance, what is off by a little is none: to take only what is less would lose some load in each step. Where
    they have not, and the step was cut short, an impulse goes on that is not much larger, and not a force.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        w = pressing.patches.world[k]
        if which[w] == 0:
            continue
        stepped = ground.memory.pending[w] == ADVANCED
        half = HALF * real(taken[w])
        met = wp.max(rounds.along[w], rounds.across[w]) <= ground.limits.speed
        slight = wp.where(met, SLIGHT * ground.limits.speed / pressing.patches.rise[k][0, 0], ZERO)
        part = real(1.0)
        if stepped and not met:
            part = wp.min(part, LONGER * real(taken[w]) / real(clock.time_step[w]))
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        total = vec3()
        for i in range(pressing.patches.count[k]):
            c = pressing.patches.first[k] + i
            force = pressing.points.load[c]
            pushed = half * force[0]
            if stepped and pressing.points.impulse[c][0] < pushed - slight:
                force = (pressing.points.impulse[c][0] / pushed) * force
            ground.memory.load[pressing.patches.contact[k] + i] = part * world(n, t, force)
            ground.memory.slip[pressing.patches.contact[k] + i] = pressing.points.slip[c]
            p = world(n, t, pressing.points.impulse[c])
            add_impulse(ground.contacts, ground.memory, pressing, k, i, p)
            keep_impulse(ground.contacts, ground.memory, pressing, k, i)
            total += p
        keep_remainders(ground.memory, pressing, k)
        if ground.adds == 1:
            give_patch(ground.bodies, ground.impulses, pressing, k, total)


@kernel
def note_settled(memory: ContactMemory, which: wp.array[wp.int32]) -> None:
    """The velocities of the wanted worlds fit their contacts."""
    w = wp.tid()
    if which[w] == 1:
        memory.pending[w] = SETTLED
