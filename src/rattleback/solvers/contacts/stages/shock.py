"""The pass of shock propagation: manifolds from the ground up, with infinite mass below each level."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import solve_block
from rattleback.solvers.contacts.kernels.twist import apply_to_body, make_twist
from rattleback.solvers.contacts.problem.contact_graph import UNSUPPORTED, Graph
from rattleback.solvers.contacts.problem.manifolds import (
    ContactSystem,
    Manifolds,
    find_effective_mass,
    to_world,
    twist_of,
)
from rattleback.solvers.contacts.problem.status import SolverStatus

# Sweeps over the manifolds of one level.
LEVEL_SWEEPS = 4


@wp.func
def is_fixed(graph: Graph, body: int, level: int) -> bool:
    """Whether a body has infinite mass while the manifolds above a level are solved."""
    return graph.level[body] <= level


@wp.func
def copy_manifold(manifolds: Manifolds, k: int, to: int) -> None:
    """Copy a manifold to a spare row, without its effective mass."""
    manifolds.first[to] = manifolds.first[k]
    manifolds.count[to] = manifolds.count[k]
    manifolds.flat[to] = manifolds.flat[k]
    manifolds.as_block[to] = manifolds.as_block[k]
    manifolds.normal[to] = manifolds.normal[k]
    manifolds.tangent[to] = manifolds.tangent[k]
    manifolds.inverse_moments[to] = manifolds.inverse_moments[k]
    manifolds.resisting_moment[to] = manifolds.resisting_moment[k]
    manifolds.friction[to] = manifolds.friction[k]
    manifolds.rolling[to] = manifolds.rolling[k]
    manifolds.spinning[to] = manifolds.spinning[k]


@wp.func
def solve_above(bodies: Bodies, system: ContactSystem, graph: Graph, motion: Motion, k: int, level: int) -> None:
    """Correct the velocities of a manifold; bodies of the level and below do not respond."""
    a = system.manifolds.body_a[k]
    b = system.manifolds.body_b[k]
    share_a = wp.where(is_fixed(graph, a, level), real(0.0), real(1.0))
    share_b = wp.where(is_fixed(graph, b, level), real(0.0), real(1.0))
    spare = system.manifolds.first.shape[0] - 1
    copy_manifold(system.manifolds, k, spare)
    find_effective_mass(bodies, system, k, spare, share_a, share_b)
    u, w = twist_of(system.manifolds, motion, k)
    twist = make_twist(u + system.manifolds.bias[k], w + system.manifolds.angular_bias[k])
    twist = solve_block(system.manifolds, system.points, spare, twist)
    system.manifolds.resisting_moment[k] = system.manifolds.resisting_moment[spare]
    n = system.manifolds.normal[k]
    t = system.manifolds.tangent[k]
    f = to_world(n, t, vec3(twist.normal_impulse[0], twist.tangent_impulse[0], twist.tangent_impulse[1]))
    m = to_world(n, t, vec3(twist.tangent_impulse[2], twist.normal_impulse[1], twist.normal_impulse[2]))
    if share_a > real(0.0):
        apply_to_body(bodies, system.inertias, motion, a, system.manifolds.arm_a[k], f, m)
    else:
        system.inertias.withheld[a] = system.inertias.withheld[a] - f
    if share_b > real(0.0):
        apply_to_body(bodies, system.inertias, motion, b, system.manifolds.arm_b[k], -f, -m)
    else:
        system.inertias.withheld[b] = system.inertias.withheld[b] + f


@wp.func
def is_above(bodies: Bodies, system: ContactSystem, graph: Graph, k: int, level: int) -> bool:
    """Whether the upper body of a manifold is one level above, or unsupported where that comes last."""
    high = wp.max(graph.level[system.manifolds.body_a[k]], graph.level[system.manifolds.body_b[k]])
    return high == level + 1 or (high == UNSUPPORTED and level + 1 == graph.levels[0])


@kernel
def propagate_shock(
    bodies: Bodies,
    system: ContactSystem,
    graph: Graph,
    motion: Motion,
    status: SolverStatus,
    wanted: wp.array[wp.int32],
    tolerance: wp.array[real],
) -> None:
    """Pass through the levels of selected worlds that are outside their tolerance, on one thread."""
    for level in range(graph.levels[0]):
        first = graph.first_manifold[level]
        end = graph.first_manifold[wp.min(level + 2, graph.levels[0])]
        for _round in range(LEVEL_SWEEPS):
            for k in range(first, end):
                w = system.manifolds.world[k]
                off = wp.max(status.normal_residual[w], status.tangential_residual[w]) > tolerance[w]
                if off and wanted[w] == 1 and is_above(bodies, system, graph, k, level):
                    solve_above(bodies, system, graph, motion, k, level)
