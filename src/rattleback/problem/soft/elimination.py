"""The elimination of Newton's system of an implicit step, and what its solution changes.

    A = L U,   block by block in the order of ``layout``;   L y = b,   U x = y

    for each node in order: the inverse of its block; the blocks below it times that; products taken from later blocks
Rows that others imply, as in closed loops, are found once a step, at the pose it starts from where joints are closed:
there the block of a joint loses those of its rows of which elimination leaves no more than rounding.

Cost: linear in the number of bodies and joints on a tree; a thread a world.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real
from rattleback.maths.small_solve import inverse6, mat66
from rattleback.model.model import Bodies
from rattleback.problem.joint_rows import Joints, RowDefinitions
from rattleback.problem.soft.system import SIX, Search, System, spin_of
from rattleback.problem.yielding import is_yielding

# The most a body turns by one iteration [rad].
MOST_TURN = wp.constant(real(1.0))
# A row is implied by others where elimination leaves this part of what it responds with alone.
REDUNDANT = wp.constant(real(epsilon**0.5))


@wp.func
def factor(system: System, base: int) -> None:
    """A = L U, with inverses of the blocks on the diagonal and L D⁻¹ below it."""
    order = system.order
    for c in range(system.nodes):
        own = base + order.diagonal[c]
        inverse = inverse6(system.unknowns.value[own], SIX)
        system.unknowns.value[own] = inverse
        for n in range(order.first[c], order.first[c] + order.count[c]):
            low = base + order.lower[n]
            system.unknowns.value[low] = system.unknowns.value[low] * inverse
        for n in range(order.first_product[c], order.first_product[c] + order.products[c]):
            target = base + order.target[n]
            product = system.unknowns.value[base + order.left[n]] * system.unknowns.value[base + order.right[n]]
            system.unknowns.value[target] = system.unknowns.value[target] - product


@wp.func
def substitute(system: System, base: int, first: int) -> None:
    """The solution in the place of the right-hand side."""
    order = system.order
    for c in range(system.nodes):
        y = system.unknowns.right[first + c]
        for n in range(order.first[c], order.first[c] + order.count[c]):
            k = first + order.later[n]
            system.unknowns.right[k] = system.unknowns.right[k] - system.unknowns.value[base + order.lower[n]] * y
    for m in range(system.nodes):
        c = system.nodes - 1 - m
        y = system.unknowns.right[first + c]
        for n in range(order.first[c], order.first[c] + order.count[c]):
            y -= system.unknowns.value[base + order.upper[n]] * system.unknowns.right[first + order.later[n]]
        system.unknowns.right[first + c] = system.unknowns.value[base + order.diagonal[c]] * y


@wp.func
def ranked_inverse(a: mat66, joints: Joints, search: Search, j: int) -> mat66:
    """The inverse of a joint's block without its rows that others imply, which it marks; largest pivots first."""
    x = wp.identity(n=6, dtype=real)
    first = joints.first[j]
    count = int(joints.count[j])
    done = int(0)
    for _turn in range(count):
        best = int(-1)
        most = REDUNDANT
        for k in range(count):
            if (done >> k) & 1 == 0 and search.size[first + k] > real(0.0) and a[k, k] > most * search.size[first + k]:
                best = k
                most = a[k, k] / search.size[first + k]
        if best < 0:
            break
        done = done | (1 << best)
        part = real(1.0) / a[best, best]
        for m in range(SIX):
            a[best, m] = part * a[best, m]
            x[best, m] = part * x[best, m]
        for i in range(SIX):
            f = a[i, best]
            if i != best:
                for m in range(SIX):
                    a[i, m] = a[i, m] - f * a[best, m]
                    x[i, m] = x[i, m] - f * x[best, m]
    for k in range(count):
        if (done >> k) & 1 == 0 and search.size[first + k] > real(0.0):
            search.dropped[first + k] = 1
            for m in range(SIX):
                x[k, m] = real(0.0)
                x[m, k] = real(0.0)
    return x


@kernel
def find_rank(joints: Joints, system: System, search: Search) -> None:
    """Mark the rows of a world that others imply."""
    w = wp.tid()
    base = w * system.blocks
    order = system.order
    for c in range(system.nodes):
        own = base + order.diagonal[c]
        inverse = mat66()
        if order.joint[c] >= 0:
            inverse = ranked_inverse(system.unknowns.value[own], joints, search, w * system.joints + order.joint[c])
        else:
            inverse = inverse6(system.unknowns.value[own], SIX)
        for n in range(order.first[c], order.first[c] + order.count[c]):
            low = base + order.lower[n]
            system.unknowns.value[low] = system.unknowns.value[low] * inverse
        for n in range(order.first_product[c], order.first_product[c] + order.products[c]):
            target = base + order.target[n]
            product = system.unknowns.value[base + order.left[n]] * system.unknowns.value[base + order.right[n]]
            system.unknowns.value[target] = system.unknowns.value[target] - product


@kernel
def solve(system: System, search: Search) -> None:
    """The change of a world by one iteration."""
    w = wp.tid()
    if search.busy[w] == 1:
        factor(system, w * system.blocks)
        substitute(system, w * system.blocks, w * system.nodes)


@kernel
def limit(bodies: Bodies, system: System, search: Search, scale: wp.array[real]) -> None:
    """The part of the change of a world that is taken: so much that no body turns by too much."""
    w = wp.tid()
    most = MOST_TURN
    for i in range(w * system.bodies, (w + 1) * system.bodies):
        node = system.body_node[i % system.bodies]
        if node >= 0:
            most = wp.max(most, search.step[w] * wp.length(spin_of(system.unknowns.right[w * system.nodes + node])))
    scale[w] = MOST_TURN / most


@kernel
def take_change(bodies: Bodies, system: System, search: Search, scale: wp.array[real]) -> None:
    """A body takes its change."""
    i = wp.tid()
    w = bodies.world[i]
    node = system.body_node[i % system.bodies]
    if search.busy[w] == 1 and node >= 0:
        x = system.unknowns.right[w * system.nodes + node]
        u = search.u[i] + scale[w] * x
        search.u[i] = u
        search.change[i] = wp.length(x) / (real(1.0) + wp.length(u))


@kernel
def take_forces(
    joints: Joints, definitions: RowDefinitions, system: System, search: Search, scale: wp.array[real]
) -> None:
    """The rows of a joint that hold take theirs."""
    j = wp.tid()
    w = joints.world[j]
    node = system.places.node[j % system.joints]
    if search.busy[w] == 0 or node < 0:
        return
    x = system.unknowns.right[w * system.nodes + node]
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        if joints.broken[j] == 0 and not is_yielding(definitions, r):
            search.force[r] = search.force[r] + scale[w] * x[k]
