"""Moving bodies apart that have come to overlap, and back that have crept, without giving them any speed.

    displacements x with   n · (J x) ≥ goal − gap,   the smallest in the metric of the masses
    goal = gap + share (−½ tolerance − gap)          where a gap is below −tolerance, at most so fast

Velocities that stop contacts to within a tolerance let bodies sink and creep by a little in each step. A share of what
is beyond the tolerance is put right in the step, by the arithmetic of impulses with displacements for velocities.
Fast corrections would lift bodies as fast as they sink and so feed energy to a pile; slow ones let it come to rest. One
sweep does for overlaps near the tolerance. Wedged bodies, as in the mouth of a funnel, are moved apart by it only for
their neighbours to push them back, and sink deeper; so it goes on while it moves them by more than the tolerance.
Patches whose points are all above their goals are marked as swept: they want nothing until a neighbour is moved.

Reference: Guendelman, Bridson, Fedkiw (2003), §7; Cline, Pai (2003), post-stabilisation.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Pressing, Weights, local
from rattleback.solvers.contacts.schemes.displacements import Ways, extent_of, part_expected, way_of
from rattleback.solvers.contacts.schemes.inputs import Footing

# Friction of a patch that sticks while it is moved back.
STUCK = wp.constant(real(1e9))
# The most a body is turned by one projection [rad].
MOST_TURN = wp.constant(real(0.5))


@kernel
def begin_projection(
    bodies: Bodies, weights: Weights, shift: Motion, wanted: wp.array[wp.int32], flag: wp.array[wp.int32], lanes: int
) -> None:
    """Nothing has been moved."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        weights.pushed[i] = 0
        shift.velocity[i] = vec3()
        shift.angular_velocity[i] = vec3()
    if wp.tid() == 0:
        flag[0] = 0
        for w in range(wanted.shape[0]):
            wanted[w] = 0


@kernel
def measure_overlap(
    ground: Footing,
    graph: Graph,
    pressing: Pressing,
    ways: Ways,
    clock: Clock,
    wanted: wp.array[wp.int32],
    flag: wp.array[wp.int32],
    lanes: int,
) -> None:
    """How far the points of a patch overlap and have crept at the end of the step, and what is to be done about it."""
    for k in range(wp.tid(), graph.total[0], lanes):
        limits = ground.limits
        zero = real(0.0)
        h = real(clock.time_step[pressing.patches.world[k]])
        d, turn = way_of(pressing, ways, k)
        part = zero
        if pressing.patches.extent[k] > zero:
            part = part_expected(pressing, k, extent_of(pressing, ways, k, d))
            d += part * pressing.patches.remainder[k]
        n = pressing.patches.normal[k]
        t = pressing.patches.tangent[k]
        count = pressing.patches.count[k]
        crept = vec3()
        sticks = bool(True)
        off = bool(False)
        pressing.patches.swept[k] = 1
        for i in range(count):
            c = pressing.patches.first[k] + i
            place = pressing.points.place[c]
            before = ground.contacts.separation[pressing.patches.contact[k] + i]
            gap = before + d[0] + turn[1] * place[1] - turn[2] * place[0]
            gap += part * pressing.points.lift[c]
            goal = -real(0.5) * limits.depth
            if gap < -limits.depth:
                off = True
                goal = wp.min(gap + limits.share * (goal - gap), before + limits.recovery * h)
            if gap < goal:
                pressing.patches.swept[k] = 0
            pressing.points.place[c] = vec3(place[0], place[1], gap - goal)
            pressing.points.impulse[c] = vec3()
            sticks = sticks and pressing.points.sticks[c] == 1
            crept += local(n, t, pressing.points.slip[c]) + vec3(
                zero, d[1] - place[1] * turn[0], d[2] + place[0] * turn[0]
            )
        crept = vec3(zero, crept[1], crept[2]) / real(count)
        if sticks and wp.length(crept) > limits.depth:
            off = True
        crept *= wp.min(limits.recovery * h / wp.max(wp.length(crept), limits.depth), real(1.0))
        pressing.patches.drive[k] = limits.share * crept
        pressing.patches.spin[k] = vec3()
        pressing.patches.couple[k] = vec3()
        pressing.patches.whole[k] = 0
        pressing.patches.grip[k] = wp.where(sticks, STUCK, zero)
        if off:
            wanted[pressing.patches.world[k]] = 1
            flag[0] = 1


@kernel
def move_apart(
    bodies: Bodies, shift: Motion, motion: Motion, clock: Clock, wanted: wp.array[wp.int32], most: real, lanes: int
) -> None:
    """Move the bodies of the worlds that want it by their displacements, no faster than ``most`` [m/s]."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        d = shift.velocity[i]
        turn = shift.angular_velocity[i]
        far = wp.max(wp.length(d) / (most * real(clock.time_step[bodies.world[i]])), wp.length(turn) / MOST_TURN)
        part = real(1.0) / wp.max(far, real(1.0))
        d *= part
        turn *= part
        moves = wp.dot(d, d) + wp.dot(turn, turn) > real(0.0)
        if moves and bodies.inverse_mass[i] > real(0.0) and wanted[bodies.world[i]] == 1:
            motion.position[i] = motion.position[i] + d
            q = quat_from_rotation_vector(turn) * motion.orientation[i]
            motion.orientation[i] = quat(wp.normalize(q))
