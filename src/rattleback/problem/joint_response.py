"""What joints make of a change of velocities: the part of it that they leave.

    J M⁻¹ Jᵀ λ = −J d,    y = d + M⁻¹ Jᵀ λ

d change of the velocities of free bodies, y what is left of it in the mechanism, J and its factor those of the step.
Rows that yield answer to d alone; what they have done so far is left aside, and so is what joints carry. Stops that act
in the step are rows like others here.

Cost: a substitution in the factor of the joints.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.state import Motion
from rattleback.problem import corrections, joint_settling, through
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_answer import apply_answer
from rattleback.problem.joint_rows import Joints, Rows, row_velocity
from rattleback.problem.one_sided_rows import PUSH

if TYPE_CHECKING:
    from rattleback.problem.preview import Preview


@group(axis="worlds")
class Lent:
    """What the loop of a world goes on with, while the joints answer to something else."""

    busy: wp.int32 = field("1", "1 while a joint of the world is outside its tolerance")
    suspect: wp.int32 = field("1", "1 when a joint carries so much that its bodies may be stiff")
    scale: real = field("1", "part of a correction that is applied")
    any_suspect: wp.int32 = field("1", "1 when any world is suspected", axis="flags")


@kernel
def lend(status: JointStatus, lent: Lent, which: wp.array[wp.int32]) -> None:
    """The worlds that are asked answer, and to all of it."""
    w = wp.tid()
    lent.busy[w] = status.busy[w]
    lent.suspect[w] = status.suspect[w]
    lent.scale[w] = status.scale[w]
    lent.any_suspect[0] = status.any_suspect[0]
    status.busy[w] = which[w]
    status.scale[w] = real(1.0)
    status.turn[w] = real(0.0)


@kernel
def give_back(status: JointStatus, lent: Lent) -> None:
    """The loop goes on as it was."""
    w = wp.tid()
    status.busy[w] = lent.busy[w]
    status.suspect[w] = lent.suspect[w]
    status.scale[w] = lent.scale[w]
    status.any_suspect[0] = lent.any_suspect[0]


@kernel
def want_rest(joints: Joints, rows: Rows, response: Motion) -> None:
    """The change that leaves the rows of a joint no velocity."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = -row_velocity(joints, rows, response, j, r)


class JointResponse:
    """Records what the joints of a simulation make of changes of velocities.

    Attributes:
        held: Rows of the bodies that have joints, world by world.

    Args:
        preview: Their preview loop.
    """

    def __init__(self, preview: "Preview") -> None:
        self.preview, model = preview, preview.problem.model
        held = np.flatnonzero(preview.links.count.numpy()).astype(np.int32)
        self.held = wp.array(held, dtype=wp.int32, device=model.device)
        self.unseen = arrays.clone(preview.reactions)
        self.lent = arrays.allocate(Lent, {"worlds": model.worlds, "flags": 1}, model.device)

    def leave(self, response: Motion, which: Any) -> None:
        """Record what joints leave of a change, in place, in the worlds where ``which`` is 1."""
        self._for_joints(joint_settling.begin_displacements, self.unseen)
        self._answer(response, response, which, self.unseen)
        self._end()

    def push(self, response: Motion, motion: Motion, which: Any) -> None:
        """Record the impulses with which joints answer to a change, as theirs, on the velocities of a motion."""
        self._answer(response, motion, which, self.preview.reactions)
        self.preview.stops.add_totals()
        self._end()

    def _end(self) -> None:
        self.preview.context.for_worlds(give_back, self.preview.status, self.lent)

    def _answer(self, response: Motion, motion: Motion, which: Any, reactions: Reactions) -> None:
        preview = self.preview
        context = self.preview.context
        problem = self.preview.problem
        status = self.preview.status
        context.for_worlds(lend, status, self.lent, which)
        through.record_change(preview.solver, context.program, response, which)
        self._for_joints(want_rest, problem.fixed, problem.rows, response)
        preview.solver.record_solution(context.program)
        preview.stops.solve(response, PUSH)
        given = (problem.joints, problem.rows, preview.levers, status, reactions)
        self._for_joints(corrections.find_reactions, *given)
        acting = (preview.links, preview.levers, reactions, preview.inertias, status, motion, self.held)
        through.record_note(preview.solver, context.program, motion, which, displaces=True)
        context.program.launch(apply_answer, len(self.held), context.model.bodies, *acting)
        through.record_displacements(preview.solver, context.program, motion, which)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.preview.context.program.launch(kernel, self.preview.problem.joint_count, *inputs)
