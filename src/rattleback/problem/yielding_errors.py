"""What rows that yield are off by at the end of a step, measured beside the rows that hold.

    h (u + s λ),   u the law of ``yielding``

It has a launch of its own, for most joints have no such row, and the loop of corrections measures often.
"""

import warp as wp

from rattleback.constraints.row import row_of
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.joint_memory import JointState
from rattleback.problem.corrections import FAR, Flight, JointStatus, Limits
from rattleback.problem.joint_errors import JointErrors
from rattleback.problem.joint_rows import (
    Joints,
    RowDefinitions,
    Rows,
    counted_frames_of,
    definition_of,
    row_velocity,
)


@wp.func
def law_of_step(rows: Rows, r: int, rate: real, end: real, target: real) -> real:
    """The u of a row over the step: p (e₁ − q) + b (ē − r) + a (ē − u₀), with its compliance."""
    pull = rows.pull[r] * (end - rows.aim[r]) + rows.brake[r] * (rate - target)
    return pull + rows.carry[r] * (rate - rows.rate[r]) + rows.yielded[r] + rows.push[r]


@kernel
def measure_yielding(
    joints: Joints,
    definitions: RowDefinitions,
    flight: Flight,
    remembered: JointState,
    limits: Limits,
    rows: Rows,
    errors: JointErrors,
    status: JointStatus,
) -> None:
    """Errors of the rows of a joint that yield, added to those of the others, and what closes them."""
    j = wp.tid()
    w = joints.world[j]
    if status.going[w] == 0 or joints.broken[j] != 0:
        return
    frames = counted_frames_of(joints, flight.end, remembered, j)
    h = status.time_step[w]
    lengths = errors.position[j] * errors.position[j]
    angles = errors.orientation[j] * errors.orientation[j]
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if rows.compliance[r] == real(0.0):
            continue
        rows.end[r] = real(0.0)
        if definitions.is_velocity[r] == 0:
            rows.end[r] = row_of(definition_of(definitions, r), frames).error
        rows.sent[r] = row_velocity(joints, rows, flight.start, j, r)
        rows.mean[r] = real(0.5) * (rows.sent[r] + row_velocity(joints, rows, flight.end, j, r))
        off = law_of_step(rows, r, rows.mean[r], rows.end[r], definitions.rate[r])
        rows.wanted[r] = -off
        if definitions.is_length[r] == 1:
            lengths += h * h * off * off
        else:
            angles += h * h * off * off
    errors.position[j] = wp.sqrt(lengths)
    errors.orientation[j] = wp.sqrt(angles)
    error = wp.max(errors.position[j] / limits.position, errors.orientation[j] / limits.orientation)
    if status.open[w] == 1:
        return
    wp.atomic_max(status.error, w, wp.min(error, FAR))
    if not (error <= wp.min(limits.share[w], limits.part)):
        wp.atomic_max(status.busy, w, 1)
