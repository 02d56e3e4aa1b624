"""The kernels that measure: errors of the joints at a motion, and the change of velocity that would take them away."""

from typing import Any

import warp as wp

from rattleback.constraints.coupling import counted, measured
from rattleback.constraints.row import error_of
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.quat import rotate_back
from rattleback.model.contact_memory import ADVANCED, HELD, SETTLED, WRITTEN, ContactMemory
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Motion
from rattleback.problem.corrections import FAR, Flight, JointStatus, Limits
from rattleback.problem.joint_rows import (
    Joints,
    RowDefinitions,
    Rows,
    counted_frames_of,
    definition_of,
    frames_of,
    is_folded,
    row_velocity,
    unfolded,
    way_of,
)


@group(axis="joints")
class JointErrors:
    """Errors of the joints: at this moment, and the worst at the end of a step since the call began."""

    position: real = field("m", "position error now")
    orientation: real = field("rad", "orientation error now")
    velocity: real = field("m/s or rad/s", "velocity error now")
    worst_position: real = field("m", "largest position error a step has left")
    worst_orientation: real = field("rad", "largest orientation error a step has left")
    worst_velocity: real = field("m/s or rad/s", "largest velocity error a step has left")


@wp.func
def error_beside_goal(joints: Joints, definitions: RowDefinitions, limits: Limits, rows: Rows, h: real, j: int) -> real:
    """How far a joint that is still closing is from where it should be, in units of the tolerance."""
    lengths = real(0.0)
    angles = real(0.0)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        e = h * rows.wanted[r]
        if definitions.is_length[r] == 1:
            lengths += e * e
        else:
            angles += e * e
    return wp.max(wp.sqrt(lengths) / limits.position, wp.sqrt(angles) / limits.orientation)


@wp.func
def let_be(joints: Joints, rows: Rows, errors: JointErrors, j: int) -> None:
    """A broken joint wants nothing and has no error."""
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = real(0.0)
    errors.position[j] = real(0.0)
    errors.orientation[j] = real(0.0)
    errors.velocity[j] = real(0.0)


@kernel
def measure_positions(
    joints: Joints,
    definitions: RowDefinitions,
    flight: Flight,
    remembered: JointState,
    limits: Limits,
    rows: Rows,
    errors: JointErrors,
    status: JointStatus,
) -> None:
    """Errors of a joint at the predicted motion, and the change of velocity that closes them, where a loop is on.

    Rows that yield are measured by ``yielding_errors``.
    """
    j = wp.tid()
    w = joints.world[j]
    if status.going[w] == 0:
        return
    if joints.broken[j] != 0:
        let_be(joints, rows, errors, j)
        return
    h = status.time_step[w]
    lengths = real(0.0)
    angles = real(0.0)
    far = real(0.0)
    if joints.ball[j] == 1:
        way = way_of(joints, flight.end, j)
        lengths = wp.dot(way, way)
        for r in range(joints.first[j], joints.first[j] + 3):
            rows.wanted[r] = (rows.goal[r] - wp.dot(rows.linear[r], way)) / h
            far = wp.max(far, wp.abs(rows.goal[r]))
    else:
        frames = counted_frames_of(joints, flight.end, remembered, j)
        local = rotate_back(frames.turn_a, frames.way)
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            if rows.compliance[r] > real(0.0):
                continue
            e = real(0.0)
            if definitions.is_velocity[r] == 1:
                rate = row_velocity(joints, rows, flight.start, j, r) + row_velocity(joints, rows, flight.end, j, r)
                e = h * (real(0.5) * rate - definitions.rate[r])
            else:
                definition = definition_of(definitions, r)
                e = error_of(definition, frames, local)
                if is_folded(joints, definition, frames, j):
                    e = unfolded(definition, frames, e)
            rows.wanted[r] = (rows.goal[r] - e) / h
            far = wp.max(far, wp.abs(rows.goal[r]))
            if definitions.is_length[r] == 1:
                lengths += e * e
            else:
                angles += e * e
    errors.position[j] = wp.sqrt(lengths)
    errors.orientation[j] = wp.sqrt(angles)
    error = wp.max(errors.position[j] / limits.position, errors.orientation[j] / limits.orientation)
    if far > real(0.0):
        error = error_beside_goal(joints, definitions, limits, rows, h, j)
    wp.atomic_max(status.error, w, wp.min(error, FAR))
    if not (error <= wp.min(limits.share[w], limits.part)):
        wp.atomic_max(status.busy, w, 1)


@kernel
def measure_velocities(
    joints: Joints,
    definitions: RowDefinitions,
    motion: Motion,
    limits: Limits,
    rows: Rows,
    errors: JointErrors,
    status: JointStatus,
) -> None:
    """Velocity error of a joint, and the change that would take it away, where a loop is on."""
    j = wp.tid()
    if status.going[joints.world[j]] == 0:
        return
    if joints.broken[j] != 0:
        let_be(joints, rows, errors, j)
        return
    square = real(0.0)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rate = row_velocity(joints, rows, motion, j, r)
        if rows.compliance[r] > real(0.0):
            rate += rows.yielded[r] - rows.steady[r]
            rate = wp.where(status.eased[joints.world[j]] > real(0.0), rate, real(0.0))
        else:
            rate -= definitions.rate[r]
        rows.wanted[r] = -rate
        square += rate * rate
    errors.velocity[j] = wp.sqrt(square)
    if not (errors.velocity[j] <= limits.velocity):
        wp.atomic_max(status.busy, joints.world[j], 1)


@kernel
def begin_written(memory: ContactMemory, status: JointStatus) -> None:
    """No velocities are known to be written; all worlds have taken a step whose contacts did not fit, or none has."""
    status.any_written[0] = 0
    status.afresh[0] = wp.where(memory.pending[0] == ADVANCED, 0, 1)


@kernel
def note_written(memory: ContactMemory, status: JointStatus) -> None:
    """Velocities that were written have to be made fit the joints; those a step has left are as good as it gets."""
    w = wp.tid()
    status.written[w] = wp.where(memory.pending[w] == WRITTEN, 1, 0)
    if status.written[w] == 1:
        status.any_written[0] = 1


@kernel
def find_arrived(status: JointStatus, stop: wp.array[wp.int32], rest: int) -> None:
    """Whether a step is at its end, with contacts that fit their buffer; or is now, where its rest is made up for."""
    status.arrived[0] = wp.where(stop[0] == 0 and rest * status.afresh[0] == 0, 1, 0)


@kernel
def note_held(memory: ContactMemory) -> None:
    """They fit now, which is not to be done again where contacts are then found not to fit their buffer."""
    w = wp.tid()
    if memory.pending[w] == WRITTEN:
        memory.pending[w] = HELD


@kernel
def note_settled(memory: ContactMemory) -> None:
    """The velocities of the state are those that a step has left."""
    memory.pending[wp.tid()] = SETTLED


@kernel
def count_turns(joints: Joints, motion: Motion, remembered: JointState, lanes: int) -> None:
    """The angles of joints go on from where they were, over full turns too."""
    for j in range(wp.tid(), joints.counts.shape[0], lanes):
        if joints.counts[j] == 1:
            first, second = measured(joints.coupling[j], frames_of(joints, motion, j))
            remembered.angle[j] = counted(first, remembered.angle[j])
            remembered.other_angle[j] = counted(second, remembered.other_angle[j])


def record_turns(program: Any, joints: Joints, motion: Motion, remembered: JointState) -> None:
    """Record that the angles of joints go on, where any is counted."""
    if joints.counts.numpy().any():
        program.share(count_turns, len(joints.counts), joints, motion, remembered)


@kernel
def account_positions(joints: Joints, errors: JointErrors, limits: Limits, status: JointStatus) -> None:
    """The position errors the step leaves, for the report."""
    j = wp.tid()
    errors.worst_position[j] = wp.max(errors.worst_position[j], errors.position[j])
    errors.worst_orientation[j] = wp.max(errors.worst_orientation[j], errors.orientation[j])
    if errors.position[j] > limits.position or errors.orientation[j] > limits.orientation:
        status.failed[joints.world[j]] = 1


@kernel
def account_velocities(joints: Joints, errors: JointErrors, limits: Limits, status: JointStatus) -> None:
    """The velocity errors the step leaves, for the report."""
    j = wp.tid()
    errors.worst_velocity[j] = wp.max(errors.worst_velocity[j], errors.velocity[j])
    if errors.velocity[j] > limits.velocity:
        status.failed[joints.world[j]] = 1
