"""Effective masses of manifolds through trees: which bodies touch, and how manifolds of those answer.

    K = Σ ±T_i R_ij T_jᵀ        over both bodies of a manifold,   T_i = [ 1  −r_iˣ ;  0  1 ]

R_ij blocks of M⁻¹, see ``reduced.midpoint.touching``, r_i arm from the centre of mass of body i to the manifold; K as
in ``problem.manifolds``. A little of what the bodies answer alone is added, as joints may leave a point no way to move.

    a detection: the bodies of trees that touch;   when their answers are known: K of every manifold
Cost: a pass over the manifolds.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, real
from rattleback.model.model import Bodies
from rattleback.reduced.midpoint.touching import Touching
from rattleback.solvers.contacts.coupling.body_answers import answer_between
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, store_blocks

# How much is known of the touching bodies of a world: their answers; effective masses by these, too.
ANSWERED, WEIGHED = (wp.constant(k) for k in (1, 2))


@kernel
def mark_touching(system: ContactSystem, graph: Graph, touching: Touching) -> None:
    """The bodies of trees that touch anything, on one thread; how they answer is not known yet."""
    for i in range(touching.place.shape[0]):
        touching.place[i] = wp.min(touching.place[i], -1)
    for w in range(touching.fresh.shape[0]):
        touching.fresh[w] = 0
    for k in range(graph.total[0]):
        a = system.manifolds.body_a[k]
        b = system.manifolds.body_b[k]
        if touching.place[a] == -1:
            touching.place[a] = 0
        if touching.place[b] == -1:
            touching.place[b] = 0


@wp.func
def find_mass_through(bodies: Bodies, system: ContactSystem, touching: Touching, k: int) -> None:
    """Effective mass of a manifold in its own axes, through the trees."""
    own = system.manifolds
    n = own.normal[k]
    t = own.tangent[k]
    axes = wp.matrix_from_cols(n, t, wp.cross(n, t))
    linear = mat33()
    coupling = mat33()
    angular = mat33()
    for one in range(2):
        i = wp.where(one == 0, own.body_a[k], own.body_b[k])
        arm_i = wp.skew(wp.where(one == 0, own.arm_a[k], own.arm_b[k]))
        for two in range(2):
            j = wp.where(two == 0, own.body_a[k], own.body_b[k])
            if bodies.inverse_mass[i] > real(0.0) and bodies.inverse_mass[j] > real(0.0):
                arm_j = wp.skew(wp.where(two == 0, own.arm_a[k], own.arm_b[k]))
                r = answer_between(bodies, system, touching, i, j)
                sign = wp.where(one == two, real(1.0), real(-1.0))
                by_push = r.turn_push + r.turn_twist * arm_j
                linear += sign * (r.way_push + r.way_twist * arm_j - arm_i * by_push)
                coupling += sign * by_push
                angular += sign * r.turn_twist
    back = wp.transpose(axes)
    store_blocks(own, back * linear * axes, back * coupling * axes, back * angular * axes, k, k)


@kernel
def weigh_through(
    bodies: Bodies, alone: ContactSystem, system: ContactSystem, graph: Graph, touching: Touching
) -> None:
    """Effective masses through the trees, in worlds whose bodies have just been found to answer so, on one thread."""
    for k in range(graph.total[0]):
        w = system.manifolds.world[k]
        if touching.fresh[w] == ANSWERED and touching.count[w] >= 0:
            system.manifolds.flat[k] = alone.manifolds.flat[k]
            find_mass_through(bodies, system, touching, k)
    for w in range(touching.fresh.shape[0]):
        touching.fresh[w] = wp.where(touching.fresh[w] == ANSWERED, WEIGHED, touching.fresh[w])
