"""The kernels that put joints together by displacements, which give their bodies no speed.

    J M⁻¹ Jᵀ λ = −e,    x ← x + M⁻¹ Jᵀ λ

e errors of the rows at the end of the step, x positions and turns there; J and its factor are those of the step.
Something that has moved bodies there, as what moves them apart that overlap, leaves e of second order, and one or two
displacements do. Where joints are so far apart that a displacement makes e larger, it is taken back and was the last.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import FAR, MOST_TURN, JointStatus, Limits, Reactions, part_of
from rattleback.problem.joint_rows import Joints, Rows

# Displacements of joints after which they are where they can be.
MOST_SETTLINGS = wp.constant(8)


@kernel
def begin_displacements(reactions: Reactions) -> None:
    """Displacements have no reactions in the joints: those are cleared."""
    j = wp.tid()
    reactions.impulse[j] = vec3()
    reactions.couple[j] = vec3()


@kernel
def begin_settling(status: JointStatus, which: wp.array[wp.int32]) -> None:
    """Settling begins in selected worlds; stops are as the loop has left them."""
    w = wp.tid()
    status.going[w] = which[w]
    # The stops take zero for the beginning of a loop.
    status.iterations[w] = 1
    status.error[w] = real(0.0)
    status.any_busy[0] = 0


@kernel
def begin_judging(status: JointStatus) -> None:
    """No displacement has changed an error yet."""
    w = wp.tid()
    status.busy[w] = 0
    status.before[w] = FAR


@kernel
def judge_settling(status: JointStatus, limits: Limits) -> None:
    """Worlds continue where a joint is outside its tolerance; a displacement that increased the error is undone."""
    w = wp.tid()
    if status.going[w] == 0:
        status.undo[w] = 0
        return
    error = status.error[w]
    worse = not (error <= status.before[w])
    undo = worse and status.busy[w] == 1
    status.undo[w] = wp.where(undo, 1, 0)
    if undo:
        status.iterations[w] = MOST_SETTLINGS + 1
    status.before[w] = error
    off = error > wp.min(limits.share[w], limits.part) and not worse
    status.busy[w] = wp.where(off and status.iterations[w] <= MOST_SETTLINGS, 1, 0)
    status.going[w] = status.busy[w]
    status.iterations[w] = status.iterations[w] + 1
    status.error[w] = real(0.0)
    status.scale[w] = real(1.0)
    status.turn[w] = real(0.0)
    if status.busy[w] == 1:
        wp.atomic_max(status.any_busy, 0, 1)


@kernel
def next_settling(bodies: Bodies, status: JointStatus, displacements: Motion, held: wp.array[wp.int32]) -> None:
    """The bodies with joints have no displacement yet."""
    i = held[wp.tid()]
    status.any_busy[0] = 0
    displacements.velocity[i] = vec3()
    displacements.angular_velocity[i] = vec3()


@kernel
def want_displacements(joints: Joints, rows: Rows, status: JointStatus) -> None:
    """The target of a joint for velocities over the step, as displacements."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = status.time_step[joints.world[j]] * rows.wanted[r]


@kernel
def limit_displacements(
    bodies: Bodies, status: JointStatus, limits: Limits, displacements: Motion, held: wp.array[wp.int32]
) -> None:
    """Limit the rotation of the bodies of a world by a displacement, and the translation in proportion."""
    i = held[wp.tid()]
    w = bodies.world[i]
    if status.busy[w] == 1:
        part = wp.length(displacements.velocity[i]) / (limits.speed * status.time_step[w])
        turn = wp.max(wp.length(displacements.angular_velocity[i]), MOST_TURN * part)
        wp.atomic_max(status.turn, w, wp.min(turn, FAR))


@kernel
def displace(
    bodies: Bodies, status: JointStatus, displacements: Motion, motion: Motion, held: wp.array[wp.int32]
) -> None:
    """Displace the bodies with joints of active worlds."""
    i = held[wp.tid()]
    if status.busy[bodies.world[i]] == 1:
        part = part_of(status, bodies.world[i])
        displacements.velocity[i] = part * displacements.velocity[i]
        displacements.angular_velocity[i] = part * displacements.angular_velocity[i]
        motion.position[i] = motion.position[i] + displacements.velocity[i]
        q = quat_from_rotation_vector(displacements.angular_velocity[i]) * motion.orientation[i]
        motion.orientation[i] = quat(wp.normalize(q))


@kernel
def take_back(
    bodies: Bodies, status: JointStatus, displacements: Motion, motion: Motion, held: wp.array[wp.int32]
) -> None:
    """Undo the last displacement where it is to be undone."""
    i = held[wp.tid()]
    if status.undo[bodies.world[i]] == 1:
        motion.position[i] = motion.position[i] - displacements.velocity[i]
        q = quat_from_rotation_vector(-displacements.angular_velocity[i]) * motion.orientation[i]
        motion.orientation[i] = quat(wp.normalize(q))
