"""Position correction: removes penetration, and creep of sticking points, without changing a velocity.

    displacements x with   n · (J x) ≥ goal − gap,   the smallest in the metric of the masses
    goal = gap + share (−½ tolerance − gap)          where a gap is below −tolerance, at most so fast

Velocities that stop contacts to within a tolerance let bodies sink and creep by a little in each step. A share of the
excess is removed in the step, by the arithmetic of impulses with displacements for velocities. A larger share would
lift bodies as fast as they sink and so feed energy to a pile; a smaller one lets it come to rest. Wedged bodies, as in
the mouth of a funnel or low in a stack, are pushed back by their neighbours and would sink deeper, so sweeps continue
while they move a body by more than a tenth of the tolerance. Manifolds whose points are all above their goals are
marked as swept: they are skipped until a neighbour is moved.

Reference: Guendelman, Bridson, Fedkiw (2003), §7; Cline, Pai (2003), post-stabilisation.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import BodyInertias, ContactSystem, to_manifold
from rattleback.solvers.contacts.schemes.displacements import Displacements, displacement_of, extent_of, part_expected
from rattleback.solvers.contacts.schemes.inputs import ContactInputs

# Friction of a manifold that sticks while it is moved back.
STICKING_FRICTION = wp.constant(real(1e9))
# The most a body is turned by one projection [rad].
MAX_TURN = wp.constant(real(0.5))


@kernel
def begin_projection(
    bodies: Bodies,
    inertias: BodyInertias,
    shift: Motion,
    wanted: wp.array[wp.int32],
    flag: wp.array[wp.int32],
    lanes: int,
) -> None:
    """No body has been displaced, and no world is selected."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        inertias.last_push[i] = 0
        shift.velocity[i] = vec3()
        shift.angular_velocity[i] = vec3()
    if wp.tid() == 0:
        flag[0] = 0
        for w in range(wanted.shape[0]):
            wanted[w] = 0


@kernel
def measure_penetration(
    inputs: ContactInputs,
    graph: Graph,
    system: ContactSystem,
    displacements: Displacements,
    clock: Clock,
    wanted: wp.array[wp.int32],
    flag: wp.array[wp.int32],
    lanes: int,
) -> None:
    """Penetration and creep of a manifold at the end of the step, their bias, and the worlds that need it."""
    for k in range(wp.tid(), graph.total[0], lanes):
        limits = inputs.limits
        depth = limits.depth[system.manifolds.world[k]]
        zero = real(0.0)
        h = real(clock.time_step[system.manifolds.world[k]])
        d, turn = displacement_of(system, displacements, k)
        part = zero
        if system.manifolds.extent[k] > zero:
            part = part_expected(system, k, extent_of(system, displacements, k, d))
            d += part * system.manifolds.remainder[k]
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        count = system.manifolds.count[k]
        creep = vec3()
        sticks = bool(True)
        off = bool(False)
        system.manifolds.last_sweep[k] = 1
        for i in range(count):
            c = system.manifolds.first[k] + i
            place = system.points.place[c]
            before = inputs.contacts.separation[system.manifolds.contact[k] + i]
            gap = before + d[0] + turn[1] * place[1] - turn[2] * place[0]
            if part > zero:
                gap += part * system.points.lift[c]
            goal = -real(0.5) * depth
            if gap < -depth:
                off = True
                goal = wp.min(gap + limits.correction_share * (goal - gap), before + limits.correction_speed * h)
            if gap < goal:
                system.manifolds.last_sweep[k] = 0
            system.points.place[c] = vec3(place[0], place[1], gap - goal)
            system.points.impulse[c] = vec3()
            sticks = sticks and system.points.sticking[c] == 1
            creep += to_manifold(n, t, system.points.slip[c]) + vec3(
                zero, d[1] - place[1] * turn[0], d[2] + place[0] * turn[0]
            )
        creep = vec3(zero, creep[1], creep[2]) / real(count)
        if sticks and wp.length(creep) > depth:
            off = True
        creep *= wp.min(limits.correction_speed * h / wp.max(wp.length(creep), depth), real(1.0))
        system.manifolds.bias[k] = limits.correction_share * creep
        system.manifolds.angular_bias[k] = vec3()
        system.manifolds.resisting_moment[k] = vec3()
        system.manifolds.as_block[k] = 0
        system.manifolds.friction[k] = wp.where(sticks, STICKING_FRICTION, zero)
        if off:
            wanted[system.manifolds.world[k]] = 1
            flag[0] = 1


@kernel
def apply_correction(bodies: Bodies, shift: Motion, motion: Motion, wanted: wp.array[wp.int32], lanes: int) -> None:
    """Displace the bodies of selected worlds."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        d = shift.velocity[i]
        turn = shift.angular_velocity[i]
        part = real(1.0) / wp.max(wp.length(turn) / MAX_TURN, real(1.0))
        d *= part
        turn *= part
        moves = wp.dot(d, d) + wp.dot(turn, turn) > real(0.0)
        if moves and bodies.inverse_mass[i] > real(0.0) and wanted[bodies.world[i]] == 1:
            motion.position[i] = motion.position[i] + d
            q = quat_from_rotation_vector(turn) * motion.orientation[i]
            motion.orientation[i] = quat(wp.normalize(q))
