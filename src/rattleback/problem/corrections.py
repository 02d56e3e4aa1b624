"""The kernels of the preview loop: errors of the joints, the impulses applied, and who has to go on.

Each joint measures its rows at a motion and says what change of velocity would close them; each body adds up what its
joints do to it, in a fixed order; each world goes on while one of its joints is outside its tolerance.
"""

import math

import warp as wp

from rattleback.constraints.row import error_of
from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate_back
from rattleback.model.bench import move
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, JointState, Motion
from rattleback.problem.joint_rows import Joints, Letters, Rows, frames_of, letter_of, row_velocity

TURN = wp.constant(real(2.0 * math.pi))
# Larger than any error that means something.
FAR = wp.constant(real(1e30))
LEAST_SCALE = wp.constant(real(1.0 / 32.0))


@group(axis="joints")
class JointErrors:
    """Errors of the joints: at this moment, and the worst at the end of a step since the call began."""

    position: real = field("m", "position error now")
    orientation: real = field("rad", "orientation error now")
    velocity: real = field("m/s or rad/s", "velocity error now")
    worst_position: real = field("m", "largest position error a step has left")
    worst_orientation: real = field("rad", "largest orientation error a step has left")
    worst_velocity: real = field("m/s or rad/s", "largest velocity error a step has left")


@group(axis="joints")
class Reactions:
    """What the joints did to B in the last step."""

    impulse: vec3 = field("N s", "impulse on B")
    turning: vec3 = field("N m s", "angular impulse on B about its centre of mass")


@group(axis="worlds")
class Effort:
    """How the preview loop of each world goes."""

    busy: wp.int32 = field("1", "1 while a joint of the world is outside its tolerance")
    iterations: wp.int32 = field("1", "corrections made in this loop")
    most_positions: wp.int32 = field("1", "most joint corrections one step needed")
    failed: wp.int32 = field("1", "1 when a loop ended with a joint outside its tolerance")
    error: real = field("1", "largest error of its joints, in units of the tolerance")
    before: real = field("1", "the same before the last correction")
    scale: real = field("1", "part of a correction that is applied; less than one after one that made things worse")
    keep: wp.int32 = field("1", "1 when this is the best within the tolerance so far")
    undo: wp.int32 = field("1", "1 when a correction beyond the tolerance made things worse")


@wp.struct
class Limits:
    """What the loop aims at, how long it may take, and which part of the tolerances each world may use up."""

    position: real
    orientation: real
    velocity: real
    most: wp.int32
    share: wp.array[real]


@group(axis="bodies")
class Links:
    """Which joints hold each body: a stretch of ``Ends``."""

    first: wp.int32 = field("1", "its first end")
    count: wp.int32 = field("1", "number of its ends")


@group(axis="ends")
class Ends:
    """Ends of joints, body by body."""

    joint: wp.int32 = field("1", "the joint")
    is_b: wp.int32 = field("1", "1 where the body is B of the joint, 0 where it is A")


@wp.kernel(enable_backward=False)
def begin(effort: Effort, any_busy: wp.array[wp.int32]) -> None:
    """A loop begins: no world is known to be busy."""
    w = wp.tid()
    effort.busy[w] = 0
    effort.iterations[w] = 0
    effort.error[w] = real(0.0)
    effort.before[w] = FAR
    effort.scale[w] = real(1.0)
    effort.keep[w] = 0
    effort.undo[w] = 0
    any_busy[0] = 0


@wp.kernel(enable_backward=False)
def measure_positions(
    joints: Joints,
    letters: Letters,
    motion: Motion,
    clock: Clock,
    limits: Limits,
    rows: Rows,
    errors: JointErrors,
    effort: Effort,
) -> None:
    """Errors of a joint at the predicted motion, and the change of velocity that would close them."""
    j = wp.tid()
    w = joints.world[j]
    frames = frames_of(joints, motion, j)
    local = rotate_back(frames.turn_a, frames.way)
    lengths = real(0.0)
    angles = real(0.0)
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        e = error_of(letter_of(letters, r), frames, local)
        rows.wanted[r] = -e / real(clock.time_step[w])
        if letters.is_length[r] == 1:
            lengths += e * e
        else:
            angles += e * e
    errors.position[j] = wp.sqrt(lengths)
    errors.orientation[j] = wp.sqrt(angles)
    most = limits.share[w]
    error = wp.max(errors.position[j] / limits.position, errors.orientation[j] / limits.orientation)
    wp.atomic_max(effort.error, w, wp.min(error, FAR))
    if not (errors.position[j] <= most * limits.position and errors.orientation[j] <= most * limits.orientation):
        wp.atomic_max(effort.busy, w, 1)


@wp.kernel(enable_backward=False)
def measure_velocities(
    joints: Joints, motion: Motion, limits: Limits, rows: Rows, errors: JointErrors, effort: Effort
) -> None:
    """Velocity error of a joint, and the change that would take it away."""
    j = wp.tid()
    square = real(0.0)
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        rate = row_velocity(joints, rows, motion, j, r)
        rows.wanted[r] = -rate
        square += rate * rate
    errors.velocity[j] = wp.sqrt(square)
    if not (errors.velocity[j] <= limits.velocity):
        wp.atomic_max(effort.busy, joints.world[j], 1)


@wp.kernel(enable_backward=False)
def apply_impulses(
    bodies: Bodies, joints: Joints, links: Links, ends: Ends, rows: Rows, effort: Effort, motion: Motion
) -> None:
    """Every body adds up what its joints do to it, in a fixed order, in worlds that are still busy."""
    i = wp.tid()
    world = bodies.world[i]
    if effort.busy[world] == 0:
        return
    scale = effort.scale[world]
    v = motion.velocity[i]
    w = motion.angular_velocity[i]
    for k in range(links.first[i], links.first[i] + links.count[i]):
        j = ends.joint[k]
        for m in range(joints.count[j]):
            r = joints.first[j] + m
            p = scale * rows.impulse[r]
            if ends.is_b[k] == 1:
                v += p * rows.move_b[r]
                w += p * rows.spin_b[r]
            else:
                v += p * rows.move_a[r]
                w += p * rows.spin_a[r]
    motion.velocity[i] = v
    motion.angular_velocity[i] = w


@wp.kernel(enable_backward=False)
def rest(reactions: Reactions) -> None:
    """A step begins: no joint has done anything yet."""
    j = wp.tid()
    reactions.impulse[j] = vec3()
    reactions.turning[j] = vec3()


@wp.kernel(enable_backward=False)
def add_reactions(joints: Joints, rows: Rows, effort: Effort, reactions: Reactions) -> None:
    """What a correction does to B."""
    j = wp.tid()
    if effort.busy[joints.world[j]] == 0:
        return
    scale = effort.scale[joints.world[j]]
    p = reactions.impulse[j]
    turning = reactions.turning[j]
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        p += scale * rows.impulse[r] * rows.linear_b[r]
        turning += scale * rows.impulse[r] * rows.angular_b[r]
    reactions.impulse[j] = p
    reactions.turning[j] = turning


@wp.kernel(enable_backward=False)
def count_turns(joints: Joints, motion: Motion, remembered: JointState) -> None:
    """The angle about the z axis goes on from where it was, over full turns too."""
    j = wp.tid()
    frames = frames_of(joints, motion, j)
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    raw = real(2.0) * wp.atan2(r[2], r[3])
    change = raw - remembered.angle[j]
    remembered.angle[j] = remembered.angle[j] + change - TURN * wp.round(change / TURN)


@wp.kernel(enable_backward=False)
def lower(effort: Effort, any_busy: wp.array[wp.int32]) -> None:
    """A correction is done; who is still outside its tolerance will say so."""
    w = wp.tid()
    effort.iterations[w] = effort.iterations[w] + effort.busy[w]
    effort.busy[w] = 0
    any_busy[0] = 0


@wp.kernel(enable_backward=False)
def decide(
    effort: Effort, limits: Limits, least: int, any_busy: wp.array[wp.int32], any_undo: wp.array[wp.int32]
) -> None:
    """Go on while a joint is outside its tolerance and the world has corrections left; brake when things got worse.

    At least ``least`` corrections are made: a joint that is within its tolerance without any still carries its load. A
    correction made to be better than the tolerance is undone when it made things worse.
    """
    w = wp.tid()
    worse = effort.error[w] > effort.before[w]
    one = real(1.0)
    effort.keep[w] = wp.where(effort.busy[w] == 1 and effort.error[w] <= one and not worse, 1, 0)
    if worse and effort.before[w] <= one and effort.iterations[w] > least:
        effort.undo[w] = 1
        effort.busy[w] = 0
        effort.before[w] = one
        wp.atomic_max(any_undo, 0, 1)
    if effort.iterations[w] < least:
        effort.busy[w] = 1
    if worse:
        effort.scale[w] = wp.max(real(0.5) * effort.scale[w], LEAST_SCALE)
    else:
        effort.scale[w] = wp.min(real(2.0) * effort.scale[w], real(1.0))
    effort.before[w] = effort.error[w]
    effort.error[w] = real(0.0)
    if effort.iterations[w] >= limits.most:
        effort.failed[w] = wp.max(effort.failed[w], effort.busy[w])
        effort.busy[w] = 0
    if effort.busy[w] == 1:
        wp.atomic_max(any_busy, 0, 1)


@wp.kernel(enable_backward=False)
def keep_motion(bodies: Bodies, effort: Effort, motion: Motion, kept: Motion) -> None:
    """Keep the motion of worlds that are within their tolerance and go on all the same."""
    i = wp.tid()
    if effort.keep[bodies.world[i]] == 1:
        move(motion, kept, i)


@wp.kernel(enable_backward=False)
def undo_motion(bodies: Bodies, effort: Effort, kept: Motion, motion: Motion) -> None:
    """Go back to the motion that was kept."""
    i = wp.tid()
    if effort.undo[bodies.world[i]] == 1:
        move(kept, motion, i)


@wp.kernel(enable_backward=False)
def keep_reactions(joints: Joints, effort: Effort, reactions: Reactions, kept: Reactions) -> None:
    """Keep what the joints of such worlds have done so far."""
    j = wp.tid()
    if effort.keep[joints.world[j]] == 1:
        kept.impulse[j] = reactions.impulse[j]
        kept.turning[j] = reactions.turning[j]


@wp.kernel(enable_backward=False)
def undo_reactions(joints: Joints, effort: Effort, kept: Reactions, reactions: Reactions) -> None:
    """Go back to what was kept."""
    j = wp.tid()
    if effort.undo[joints.world[j]] == 1:
        reactions.impulse[j] = kept.impulse[j]
        reactions.turning[j] = kept.turning[j]


@wp.kernel(enable_backward=False)
def undone(any_undo: wp.array[wp.int32]) -> None:
    """Nothing is left to be undone."""
    any_undo[0] = 0


@wp.kernel(enable_backward=False)
def account_positions(joints: Joints, errors: JointErrors, effort: Effort) -> None:
    """The position errors the step leaves, for the report."""
    j = wp.tid()
    errors.worst_position[j] = wp.max(errors.worst_position[j], errors.position[j])
    errors.worst_orientation[j] = wp.max(errors.worst_orientation[j], errors.orientation[j])
    w = joints.world[j]
    wp.atomic_max(effort.most_positions, w, effort.iterations[w])


@wp.kernel(enable_backward=False)
def account_velocities(errors: JointErrors) -> None:
    """The velocity errors the step leaves, for the report."""
    j = wp.tid()
    errors.worst_velocity[j] = wp.max(errors.worst_velocity[j], errors.velocity[j])
