"""Impact rounds: targets of the manifolds of a round, and the loads of resting contacts before and after.

    a round     list → targets → solution by the solver of the scheme → next search
    before      the loads of resting contacts are removed from all bodies
    after       they are applied again: on one thread only to bodies of the round, others get back their velocities

Cost: a sweep costs as many manifolds as are listed.

Reference: Bender, dissertation, §5.2.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.kernels.block import apply_impulses
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, to_manifold, twist_of
from rattleback.solvers.contacts.problem.status import SolverStatus
from rattleback.solvers.contacts.restitution.search import COLLIDES, TOUCHES, ZERO, ImpactPoints, ImpactVelocities
from rattleback.solvers.contacts.schemes.inputs import ContactInputs
from rattleback.solvers.contacts.schemes.targets import set_manifold_end_targets, surface_velocity

# Bias of points that take no part, so that they never push [m/s].
INACTIVE_BIAS = wp.constant(real(1e30))


@kernel
def remove_loads(bodies: Bodies, velocities: ImpactVelocities, lanes: int) -> None:
    """Remove the loads of resting contacts from the bodies, and store the velocities with them."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        velocities.loaded.velocity[i] = velocities.now.velocity[i]
        velocities.loaded.angular_velocity[i] = velocities.now.angular_velocity[i]
        velocities.now.velocity[i] = velocities.unloaded.velocity[i]
        velocities.now.angular_velocity[i] = velocities.unloaded.angular_velocity[i]


@kernel
def clear_impulses(graph: Graph, system: ContactSystem, lanes: int) -> None:
    """Clear impulses and biases of all manifolds, where those that take no part are classified, too."""
    for k in range(wp.tid(), graph.total[0], lanes):
        system.manifolds.resisting_moment[k] = vec3()
        system.manifolds.bias[k] = vec3()
        system.manifolds.angular_bias[k] = vec3()
        first = system.manifolds.first[k]
        for c in range(first, first + system.manifolds.count[k]):
            system.points.impulse[c] = vec3()


@kernel
def set_impact_targets(
    inputs: ContactInputs,
    system: ContactSystem,
    motion: Motion,
    impact_points: ImpactPoints,
    active: Active,
    newton: int,
    together: int,
    lanes: int,
) -> None:
    """Targets of the round: −e u_n by Newton's law, else to be stopped; touching points must not approach."""
    for i in range(wp.tid(), active.count[0], lanes):
        k = active.listed[i]
        e = wp.where(newton == 1, system.manifolds.restitution[k], ZERO)
        first = system.manifolds.first[k]
        alike = bool(True)
        for c in range(first, first + system.manifolds.count[k]):
            state = impact_points.point[c]
            target = wp.where(state == TOUCHES and together == 1, ZERO, INACTIVE_BIAS)
            if state == COLLIDES:
                target = e * impact_points.velocity[c][0]
            alike = alike and state == impact_points.state[k]
            place = system.points.place[c]
            system.points.place[c] = vec3(place[0], place[1], target)
            system.points.impulse[c] = vec3()
            impact_points.compression_impulse[c] = ZERO
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        slide = to_manifold(
            n, t, surface_velocity(inputs.surfaces, motion, system.manifolds.body_a[k], system.manifolds.body_b[k], n)
        )
        u, w = twist_of(system.manifolds, motion, k)
        sliding = wp.length(vec3(ZERO, u[1] + slide[1], u[2] + slide[2]))
        slow = sliding < inputs.limits.slow[system.manifolds.world[k]]
        system.manifolds.friction[k] = wp.where(
            slow, system.manifolds.static_friction[k], system.manifolds.dynamic_friction[k]
        )
        system.manifolds.resisting_moment[k] = vec3()
        system.manifolds.bias[k] = slide
        system.manifolds.angular_bias[k] = vec3()
        system.manifolds.as_block[k] = 0
        if alike and system.manifolds.flat[k] == 1:
            # All points have the same part of the manifold's own twist as target, so it can be solved as one block.
            part = wp.where(impact_points.state[k] == COLLIDES, e, ZERO)
            system.manifolds.as_block[k] = 1
            system.manifolds.bias[k] = slide + vec3(part * u[0], ZERO, ZERO)
            system.manifolds.angular_bias[k] = vec3(ZERO, part * w[1], part * w[2])
            for c in range(first, first + system.manifolds.count[k]):
                place = system.points.place[c]
                system.points.place[c] = vec3(place[0], place[1], ZERO)


@kernel
def add_joint_costs(
    status: SolverStatus, impact_points: ImpactPoints, joint_iterations: wp.array[wp.int32], budget: int
) -> None:
    """Count a correction of the joints; end where the budget is used up."""
    w = wp.tid()
    if status.exchanging[w] == 0:
        return
    impact_points.cost[w] = impact_points.cost[w] + joint_iterations[w]
    if impact_points.cost[w] >= budget:
        worst = wp.max(status.first_residual[w], wp.max(status.normal_residual[w], status.tangential_residual[w]))
        impact_points.unresolved[w] = wp.max(impact_points.unresolved[w], worst)
        status.exchanging[w] = 0


@kernel
def add_sweep_costs(status: SolverStatus, impact_points: ImpactPoints, which: wp.array[wp.int32]) -> None:
    """Count the sweeps of some worlds."""
    w = wp.tid()
    if which[w] == 1:
        impact_points.cost[w] = impact_points.cost[w] + status.sweeps[w]


@kernel
def end_round(impact_points: ImpactPoints, status: SolverStatus, most: int, budget: int) -> None:
    """A round is done: worlds with collisions are searched again, if there are rounds and budget left."""
    w = wp.tid()
    impact_points.rounds[w] = impact_points.rounds[w] + 1
    again = impact_points.colliding[w] == 1 and impact_points.rounds[w] < most and impact_points.cost[w] < budget
    if impact_points.colliding[w] == 1 and not again:
        impact_points.unresolved[w] = wp.max(impact_points.unresolved[w], status.first_residual[w])
    impact_points.pending[w] = wp.where(again, 1, 0)
    impact_points.colliding[w] = 0
    impact_points.any_colliding[0] = 0


@wp.func
def was_struck(system: ContactSystem, impact_points: ImpactPoints, k: int) -> bool:
    """Whether a body of a manifold was on a list of the moment."""
    former = impact_points.lists_before[0]
    a = impact_points.last_round[system.manifolds.body_a[k]]
    return a > former or impact_points.last_round[system.manifolds.body_b[k]] > former


@kernel
def restore_loads(
    bodies: Bodies,
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    velocities: ImpactVelocities,
    clock: Clock,
    taken: wp.array[wp.float64],
    impact_points: ImpactPoints,
) -> None:
    """Apply the loads of resting contacts to bodies of the rounds; others get their velocities with loads back."""
    for k in range(graph.total[0]):
        if was_struck(system, impact_points, k):
            set_manifold_end_targets(inputs, system, velocities.now, clock, taken, k)
    for k in range(graph.total[0]):
        if was_struck(system, impact_points, k):
            apply_impulses(bodies, system, velocities.now, k)
    for i in range(bodies.world.shape[0]):
        if impact_points.last_round[i] <= impact_points.lists_before[0]:
            velocities.now.velocity[i] = velocities.loaded.velocity[i]
            velocities.now.angular_velocity[i] = velocities.loaded.angular_velocity[i]
