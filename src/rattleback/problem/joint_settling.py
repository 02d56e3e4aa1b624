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
from rattleback.problem.corrections import FAR, MOST_TURN, Effort, Limits, Reactions, part_of
from rattleback.problem.joint_rows import Joints, Rows

# Displacements of joints after which they are where they can be.
MOST_SETTLINGS = wp.constant(8)


@kernel
def begin_ways(reactions: Reactions) -> None:
    """What displaced bodies before is nothing that joints carry."""
    j = wp.tid()
    reactions.impulse[j] = vec3()
    reactions.couple[j] = vec3()


@kernel
def begin_settling(effort: Effort, which: wp.array[wp.int32]) -> None:
    """Nothing is known of where the joints are in the worlds that are wanted; stops are as the loop has left them."""
    w = wp.tid()
    effort.going[w] = which[w]
    # The stops take zero for the beginning of a loop.
    effort.iterations[w] = 1
    effort.error[w] = real(0.0)
    effort.any_busy[0] = 0


@kernel
def begin_judging(effort: Effort) -> None:
    """No displacement has made anything better or worse."""
    w = wp.tid()
    effort.busy[w] = 0
    effort.before[w] = FAR


@kernel
def judge_settling(effort: Effort, limits: Limits) -> None:
    """Worlds go on where a joint is outside its tolerance; a displacement that made that worse is to be undone."""
    w = wp.tid()
    if effort.going[w] == 0:
        effort.undo[w] = 0
        return
    error = effort.error[w]
    worse = not (error <= effort.before[w])
    undo = worse and effort.busy[w] == 1
    effort.undo[w] = wp.where(undo, 1, 0)
    if undo:
        effort.iterations[w] = MOST_SETTLINGS + 1
    effort.before[w] = error
    off = error > wp.min(limits.share[w], limits.part) and not worse
    effort.busy[w] = wp.where(off and effort.iterations[w] <= MOST_SETTLINGS, 1, 0)
    effort.going[w] = effort.busy[w]
    effort.iterations[w] = effort.iterations[w] + 1
    effort.error[w] = real(0.0)
    effort.scale[w] = real(1.0)
    effort.turn[w] = real(0.0)
    if effort.busy[w] == 1:
        wp.atomic_max(effort.any_busy, 0, 1)


@kernel
def next_settling(bodies: Bodies, effort: Effort, ways: Motion, held: wp.array[wp.int32]) -> None:
    """None of the bodies with joints has been displaced yet."""
    i = held[wp.tid()]
    effort.any_busy[0] = 0
    ways.velocity[i] = vec3()
    ways.angular_velocity[i] = vec3()


@kernel
def want_ways(joints: Joints, rows: Rows, effort: Effort) -> None:
    """What a joint wants of the velocities over the step, as displacements."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = effort.time_step[joints.world[j]] * rows.wanted[r]


@kernel
def limit_ways(bodies: Bodies, effort: Effort, limits: Limits, ways: Motion, held: wp.array[wp.int32]) -> None:
    """How far a displacement would turn the bodies of a world, or move them in proportion to what a step may close."""
    i = held[wp.tid()]
    w = bodies.world[i]
    if effort.busy[w] == 1:
        part = wp.length(ways.velocity[i]) / (limits.speed * effort.time_step[w])
        turn = wp.max(wp.length(ways.angular_velocity[i]), MOST_TURN * part)
        wp.atomic_max(effort.turn, w, wp.min(turn, FAR))


@kernel
def displace(bodies: Bodies, effort: Effort, ways: Motion, motion: Motion, held: wp.array[wp.int32]) -> None:
    """Move the bodies with joints of busy worlds."""
    i = held[wp.tid()]
    if effort.busy[bodies.world[i]] == 1:
        part = part_of(effort, bodies.world[i])
        ways.velocity[i] = part * ways.velocity[i]
        ways.angular_velocity[i] = part * ways.angular_velocity[i]
        motion.position[i] = motion.position[i] + ways.velocity[i]
        q = quat_from_rotation_vector(ways.angular_velocity[i]) * motion.orientation[i]
        motion.orientation[i] = quat(wp.normalize(q))


@kernel
def take_back(bodies: Bodies, effort: Effort, ways: Motion, motion: Motion, held: wp.array[wp.int32]) -> None:
    """Move the bodies with joints back where that is to be undone."""
    i = held[wp.tid()]
    if effort.undo[bodies.world[i]] == 1:
        motion.position[i] = motion.position[i] - ways.velocity[i]
        q = quat_from_rotation_vector(-ways.angular_velocity[i]) * motion.orientation[i]
        motion.orientation[i] = quat(wp.normalize(q))
