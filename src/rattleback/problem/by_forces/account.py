"""The end of a step whose joints were held by forces: what they are off by, what they carried, and which break.

Errors are those of the state, of positions and of velocities, and nothing is done about them here; the report compares
them with the tolerances.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.state import Motion
from rattleback.problem import corrections, joint_errors, stiffness
from rattleback.problem.by_forces.joint_forces import JointForces
from rattleback.problem.by_forces.projection import record_rows
from rattleback.problem.corrections import JointStatus, Limits, Reactions
from rattleback.problem.joint_errors import JointErrors
from rattleback.problem.joint_rows import Joints, RowDefinitions, Rows, row_velocity
from rattleback.problem.preview import Preview


@kernel
def begin(joints: Joints, reactions: Reactions) -> None:
    """No joint has done anything yet in this step."""
    j = wp.tid()
    reactions.impulse[j] = vec3()
    reactions.couple[j] = vec3()


@kernel
def account(
    joints: Joints,
    definitions: RowDefinitions,
    motion: Motion,
    limits: Limits,
    rows: Rows,
    errors: JointErrors,
    status: JointStatus,
) -> None:
    """The errors of a joint at the end of the step, from its rows there."""
    j = wp.tid()
    lengths = real(0.0)
    angles = real(0.0)
    speeds = real(0.0)
    if joints.broken[j] == 0:
        for r in range(joints.first[j], joints.first[j] + joints.count[j]):
            rate = row_velocity(joints, rows, motion, j, r) - definitions.rate[r]
            speeds += rate * rate
            e = rows.error[r]
            if definitions.is_velocity[r] == 0:
                lengths += wp.where(definitions.is_length[r] == 1, e * e, real(0.0))
                angles += wp.where(definitions.is_length[r] == 1, real(0.0), e * e)
    errors.position[j] = wp.sqrt(lengths)
    errors.orientation[j] = wp.sqrt(angles)
    errors.velocity[j] = wp.sqrt(speeds)
    errors.worst_position[j] = wp.max(errors.worst_position[j], errors.position[j])
    errors.worst_orientation[j] = wp.max(errors.worst_orientation[j], errors.orientation[j])
    errors.worst_velocity[j] = wp.max(errors.worst_velocity[j], errors.velocity[j])
    held = errors.position[j] <= limits.position and errors.orientation[j] <= limits.orientation
    if not (held and errors.velocity[j] <= limits.velocity):
        status.failed[joints.world[j]] = 1


class JointAccount:
    """Records what a step has left of the joints.

    Args:
        preview: The joints.
        forces: What held them.
    """

    def __init__(self, preview: Preview, forces: JointForces) -> None:
        self.preview, self.forces, self.context = preview, forces, preview.context

    def record_start(self) -> None:
        """Record that a step begins."""
        preview, context = self.preview, self.context
        context.for_worlds(corrections.start, context.state.clock, preview.status)
        preview.breaks.record_start()
        context.program.launch(begin, preview.problem.joint_count, preview.problem.joints, preview.reactions)

    def record_rows(self) -> None:
        """Record the rows of the joints at the new state."""
        record_rows(self.preview, self.context.state.motion, self.preview.everywhere)

    def record_end(self) -> None:
        """Record the errors at the new state, the reactions of the step, and which joints break by them."""
        preview, context, problem = self.preview, self.context, self.preview.problem
        given = (problem.definitions, context.state.motion, preview.limits, problem.rows, preview.errors)
        self._for_joints(account, problem.joints, *given, preview.status)
        self.forces.record_reactions(preview.reactions)
        loads = (preview.reactions, context.state.joints, context.stop)
        self._for_joints(stiffness.note_loads, problem.joints, *loads)
        joint_errors.record_turns(context.program, problem.joints, context.state.motion, context.state.joints)
        preview.breaks.record_end(preview.everywhere, preview.status.any_busy)
        preview.breaks.record_made_anew()
        context.for_worlds(joint_errors.note_settled, context.state.contacts)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.preview.problem.joint_count, *inputs)
