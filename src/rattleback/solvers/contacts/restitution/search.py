"""Collisions: the contact points that collide at this moment, and the manifolds that are resolved together.

    a point collides where   u_n < −ε,   u_n + l < −ε,   gap < tolerance + 5/4 h |u_n|,   e > 0       ε = √(2 g d)

u_n velocity of A against B along the normal, l the change of it by the loads of resting contacts, h time step, d
contact distance, e restitution of the manifold. A body that falls through the contact distance from rest reaches ε, so
slower points rest. A point with a larger gap does not close it in the coming step: within the contact distance the fall
adds less than a fifth to h u_n. So no resting contact brakes a point before its impact.

Both velocities are tested, for two reasons. At the end of a step resting bodies lack half of their load, so without
loads they approach with ½ g h. The load of a body that was stopped within the step is as large as an impact, so with
loads it would rebound from that. Impacts are therefore resolved without loads.

``sequential`` resolves the manifolds that collide at a moment, then those that collide after it, as a shock travels
through a row of balls. ``simultaneous`` resolves all that touch at once, as if bodies were equally stiff, and then the
collisions that follow.

Cost: one pass over every manifold with restitution where nothing collides; in later rounds only over those near
collisions, which on one thread the contact graph knows.

Reference: Bender, dissertation, §5.1.1 and §5.1.2; the tolerance is Mirtich's.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, twist_of
from rattleback.solvers.contacts.schemes.inputs import ContactInputs

ZERO = wp.constant(real(0.0))
# State of a manifold at a moment: apart, touching, or colliding.
TOUCHES = wp.constant(1)
COLLIDES = wp.constant(2)
# Scope of a search: manifolds near the last list; all; all, with those that touch taking part.
NEARBY, EVERYWHERE, SIMULTANEOUS = wp.constant(0), wp.constant(1), wp.constant(2)


@group(axis="contacts")
class ImpactPoints:
    """The collisions of a moment. A round resolves those that one search finds."""

    state: wp.int32 = field("1", "2 where a manifold collides, 1 where it touches, else 0")
    point: wp.int32 = field("1", "state of a point, as that of a manifold")
    velocity: vec3 = field("m/s", "velocity of a point before the round, axes of its manifold")
    last_classified: wp.int32 = field("1", "last list after which a manifold was classified")
    compression_impulse: real = field("N s", "impulse of compression of a point along the normal")
    pending: wp.int32 = field("1", "1 where a world is to be searched", axis="worlds")
    colliding: wp.int32 = field("1", "1 where something collides in a world", axis="worlds")
    rounds: wp.int32 = field("1", "rounds done", axis="worlds")
    cost: wp.int32 = field("1", "sweeps and corrections of joints done in all rounds of the moment", axis="worlds")
    unresolved: real = field(
        "m/s", "largest velocity left to change when the budget ended, since the last report", axis="worlds"
    )
    last_round: wp.int32 = field("1", "last list that a body was on", axis="bodies")
    list_count: wp.int32 = field("1", "lists made so far", axis="flags")
    lists_before: wp.int32 = field("1", "lists made before the moment", axis="flags")
    any_colliding: wp.int32 = field("1", "1 where something collides in any world", axis="flags")


@wp.struct
class ImpactVelocities:
    """Velocities now, and those before the moment without and with the loads of resting contacts."""

    now: Motion
    unloaded: Motion
    loaded: Motion


@kernel
def begin_impacts(impact_points: ImpactPoints, which: wp.array[wp.int32]) -> None:
    """Selected worlds are to be searched."""
    w = wp.tid()
    impact_points.pending[w] = which[w]
    impact_points.colliding[w] = 0
    impact_points.rounds[w] = 0
    impact_points.cost[w] = 0
    impact_points.any_colliding[0] = 0
    impact_points.lists_before[0] = impact_points.list_count[0]


@wp.func
def point_velocity(system: ContactSystem, c: int, u: vec3, w: vec3) -> vec3:
    """Velocity of A against B at a point of a manifold that has the twist (u, ω), in the axes of the manifold."""
    place = system.points.place[c]
    return u + vec3(w[1] * place[1] - w[2] * place[0], -w[0] * place[1], w[0] * place[0])


@wp.func
def load_velocity(system: ContactSystem, velocities: ImpactVelocities, k: int, c: int) -> real:
    """Change of the normal velocity of a point by the loads of resting contacts."""
    u, w = twist_of(system.manifolds, velocities.unloaded, k)
    v, r = twist_of(system.manifolds, velocities.loaded, k)
    return point_velocity(system, c, v, r)[0] - point_velocity(system, c, u, w)[0]


@wp.func
def classify_point(
    inputs: ContactInputs, system: ContactSystem, velocities: ImpactVelocities, k: int, i: int, u_n: real, h: real
) -> int:
    """Whether a point of a manifold collides, touches, or neither."""
    limits = inputs.limits
    world = system.manifolds.world[k]
    gap = inputs.contacts.separation[system.manifolds.contact[k] + i]
    if gap >= limits.depth[world] + real(1.25) * h * wp.max(-u_n, ZERO):
        return 0
    fastest = -wp.max(limits.rebound[world], limits.speed[world])
    if u_n >= fastest or system.manifolds.restitution[k] == ZERO:
        return TOUCHES
    loaded = load_velocity(system, velocities, k, system.manifolds.first[k] + i)
    return wp.where(u_n + wp.max(loaded, ZERO) < fastest, COLLIDES, TOUCHES)


@wp.func
def is_fast(inputs: ContactInputs, system: ContactSystem, k: int, u: vec3, w: vec3) -> bool:
    """Whether a point of a manifold with a twist approaches so fast that it may collide."""
    first = system.manifolds.first[k]
    fastest = ZERO
    for c in range(first, first + system.manifolds.count[k]):
        fastest = wp.min(fastest, point_velocity(system, c, u, w)[0])
    world = system.manifolds.world[k]
    return fastest < -wp.max(inputs.limits.rebound[world], inputs.limits.speed[world])


@wp.func
def classify_manifold(
    inputs: ContactInputs,
    system: ContactSystem,
    velocities: ImpactVelocities,
    clock: Clock,
    impact_points: ImpactPoints,
    k: int,
    scope: int,
) -> None:
    """State of a manifold; without restitution it matters only where all that touch take part."""
    impact_points.state[k] = 0
    world = system.manifolds.world[k]
    sequential = scope != SIMULTANEOUS
    if impact_points.pending[world] == 0 or (sequential and system.manifolds.restitution[k] == ZERO):
        return
    u, w = twist_of(system.manifolds, velocities.now, k)
    if sequential and not is_fast(inputs, system, k, u, w):
        return
    h = real(clock.time_step[world])
    most = int(0)
    for i in range(system.manifolds.count[k]):
        c = system.manifolds.first[k] + i
        velocity = point_velocity(system, c, u, w)
        state = classify_point(inputs, system, velocities, k, i, velocity[0], h)
        impact_points.point[c] = state
        impact_points.velocity[c] = velocity
        most = wp.max(most, state)
    impact_points.state[k] = most
    if most == COLLIDES:
        impact_points.colliding[world] = 1
        impact_points.any_colliding[0] = 1


@wp.func
def is_near_round(system: ContactSystem, impact_points: ImpactPoints, k: int) -> bool:
    """Whether a body of a manifold was on the last list."""
    last = impact_points.list_count[0]
    a = impact_points.last_round[system.manifolds.body_a[k]]
    return a == last or impact_points.last_round[system.manifolds.body_b[k]] == last


@kernel
def find_impacts(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    velocities: ImpactVelocities,
    clock: Clock,
    impact_points: ImpactPoints,
    scope: int,
    lanes: int,
) -> None:
    """State of every manifold.

    Near the last list only manifolds with a body on it are classified: all others keep their state.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        if scope != NEARBY or is_near_round(system, impact_points, k):
            classify_manifold(inputs, system, velocities, clock, impact_points, k, scope)


@kernel
def find_near_impacts(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    velocities: ImpactVelocities,
    clock: Clock,
    impact_points: ImpactPoints,
    active: Active,
) -> None:
    """State of the manifolds near the last list, which the contact graph knows, on one thread."""
    last = impact_points.list_count[0]
    for i in range(2 * active.count[0]):
        k = active.listed[i >> 1]
        body = wp.where((i & 1) == 0, system.manifolds.body_a[k], system.manifolds.body_b[k])
        if impact_points.last_round[body] == last:
            end = graph.head[body]
            while end >= 0:
                near = graph.solve_row[end >> 1]
                if impact_points.last_classified[near] != last:
                    impact_points.last_classified[near] = last
                    classify_manifold(inputs, system, velocities, clock, impact_points, near, NEARBY)
                end = graph.next_end[end]


@wp.func
def mark_struck(bodies: Bodies, impact_points: ImpactPoints, i: int) -> None:
    """Put a body on the list; static ones do not change."""
    if bodies.inverse_mass[i] > ZERO:
        impact_points.last_round[i] = impact_points.list_count[0]


@kernel
def list_manifolds(
    bodies: Bodies, graph: Graph, system: ContactSystem, impact_points: ImpactPoints, active: Active, together: int
) -> None:
    """List the manifolds of the round: those that collide, or all that touch in worlds with a collision."""
    count = int(0)
    impact_points.list_count[0] = impact_points.list_count[0] + 1
    for k in range(graph.total[0]):
        state = impact_points.state[k]
        if state == TOUCHES:
            state = together * impact_points.colliding[system.manifolds.world[k]]
        # Branchless: the branch is unpredictable.
        active.listed[count] = k
        active.marked[k] = wp.where(state > 0, 1, 0)
        count += active.marked[k]
    active.count[0] = count
    for i in range(count):
        k = active.listed[i]
        mark_struck(bodies, impact_points, system.manifolds.body_a[k])
        mark_struck(bodies, impact_points, system.manifolds.body_b[k])
