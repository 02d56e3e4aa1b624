"""The pass of shock propagation: patches from the ground up, with all that is below standing still."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import solve_twist
from rattleback.solvers.contacts.kernels.twist import make_twist, push_body
from rattleback.solvers.contacts.problem.contact_graph import LOOSE, Graph
from rattleback.solvers.contacts.problem.manifolds import Patches, Pressing, answer, twist_of, world
from rattleback.solvers.contacts.problem.status import Rounds

# Sweeps over the patches of one level.
ROUNDS = 4


@wp.func
def stands(graph: Graph, body: int, level: int) -> bool:
    """Whether a body stands still while the patches above a level are solved."""
    return graph.level[body] <= level


@wp.func
def copy_patch(patches: Patches, k: int, to: int) -> None:
    """What a patch is, but not how it answers, to a spare row."""
    patches.first[to] = patches.first[k]
    patches.count[to] = patches.count[k]
    patches.flat[to] = patches.flat[k]
    patches.whole[to] = patches.whole[k]
    patches.normal[to] = patches.normal[k]
    patches.tangent[to] = patches.tangent[k]
    patches.spread[to] = patches.spread[k]
    patches.couple[to] = patches.couple[k]
    patches.grip[to] = patches.grip[k]
    patches.rolling[to] = patches.rolling[k]
    patches.spinning[to] = patches.spinning[k]


@wp.func
def solve_above(bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, k: int, level: int) -> None:
    """Correct the velocities of a patch; bodies that stand do not answer."""
    a = pressing.patches.body_a[k]
    b = pressing.patches.body_b[k]
    share_a = wp.where(stands(graph, a, level), real(0.0), real(1.0))
    share_b = wp.where(stands(graph, b, level), real(0.0), real(1.0))
    spare = pressing.patches.first.shape[0] - 1
    copy_patch(pressing.patches, k, spare)
    answer(bodies, pressing, k, spare, share_a, share_b)
    u, w = twist_of(pressing.patches, motion, k)
    twist = make_twist(u + pressing.patches.drive[k], w + pressing.patches.spin[k])
    twist = solve_twist(pressing.patches, pressing.points, spare, twist)
    pressing.patches.couple[k] = pressing.patches.couple[spare]
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    f = world(n, t, vec3(twist.push[0], twist.rub[0], twist.rub[1]))
    m = world(n, t, vec3(twist.rub[2], twist.push[1], twist.push[2]))
    if share_a > real(0.0):
        push_body(bodies, pressing.weights, motion, a, pressing.patches.arm_a[k], f, m)
    else:
        pressing.weights.withheld[a] = pressing.weights.withheld[a] - f
    if share_b > real(0.0):
        push_body(bodies, pressing.weights, motion, b, pressing.patches.arm_b[k], -f, -m)
    else:
        pressing.weights.withheld[b] = pressing.weights.withheld[b] + f


@wp.func
def is_next(bodies: Bodies, pressing: Pressing, graph: Graph, k: int, level: int) -> bool:
    """Whether the higher body of a patch is one above a level, or loose where that comes last."""
    high = wp.max(graph.level[pressing.patches.body_a[k]], graph.level[pressing.patches.body_b[k]])
    return high == level + 1 or (high == LOOSE and level + 1 == graph.levels[0])


@kernel
def propagate(
    bodies: Bodies,
    pressing: Pressing,
    graph: Graph,
    motion: Motion,
    rounds: Rounds,
    wanted: wp.array[wp.int32],
    tolerance: real,
) -> None:
    """Go through the levels of wanted worlds that are outside their tolerance, on one thread."""
    for level in range(graph.levels[0]):
        first = graph.place[level]
        end = graph.place[wp.min(level + 2, graph.levels[0])]
        for _round in range(ROUNDS):
            for k in range(first, end):
                w = pressing.patches.world[k]
                off = wp.max(rounds.along[w], rounds.across[w]) > tolerance
                if off and wanted[w] == 1 and is_next(bodies, pressing, graph, k, level):
                    solve_above(bodies, pressing, graph, motion, k, level)
