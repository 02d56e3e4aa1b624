"""Rows that yield: dampers that pull a velocity to its target, solved with all else that acts on the bodies.

    λ = h/2 · c (rate − u)   for either half of a step:   u + s λ = rate,   s = 2 / (h c)

c damping of the row, h length of the step, λ the impulse of the half. In the first, u is the mean of the row's velocity
over the step, predicted with λ at its start; in the second it is the velocity the step ends with. s stands on the
diagonal of the matrix of the joints, and s λ beside u wherever a row is measured. So a row that yields is like any
other to a joint method, stable for every c and h; with c → ∞ it holds as the others do, and under a steady load the
velocity is off by the load over c. A free body of mass m comes nearer to its target by 1/(1 + h c/(2 m))² in each step,
where exp(−h c/m) is exact: of first order, without overshoot.

λ is what the joint has done along the row since the half began. Velocities that are written are made fit the other rows
before a step begins; that takes no time, so rows that yield are left out there, by a compliance that is large beside
what the bodies yield.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.state import Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_rows import JointRows, Joints, RowDefinitions, Rows, row_velocity

# Compliance of a row that is left out, beside what its bodies yield.
LEFT_OUT = wp.constant(real(1e9))


@wp.func
def done_along(rows: Rows, reactions: Reactions, j: int, r: int) -> real:
    """Impulse of a joint along one of its rows, which are perpendicular to each other."""
    if wp.length_sq(rows.linear[r]) > real(0.0):
        return wp.dot(reactions.impulse[j], rows.linear[r])
    return wp.dot(reactions.couple[j], rows.angular_b[r])


@kernel
def ease(
    joints: Joints, definitions: RowDefinitions, rows: Rows, status: JointStatus, which: wp.array[wp.int32]
) -> None:
    """The compliance of the rows of a joint, in the worlds that are wanted."""
    j = wp.tid()
    w = joints.world[j]
    if which[w] == 0:
        return
    h = status.time_step[w]
    status.eased[w] = h
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        c = definitions.damping[r]
        rows.compliance[r] = real(0.0)
        if c > real(0.0) and joints.broken[j] == 0:
            rows.compliance[r] = real(2.0) / (h * c)


@kernel
def leave_out(
    joints: Joints, definitions: RowDefinitions, rows: Rows, status: JointStatus, which: wp.array[wp.int32]
) -> None:
    """Let the rows of a joint that yield do nothing, in the worlds that are wanted."""
    j = wp.tid()
    if which[joints.world[j]] == 0:
        return
    status.eased[joints.world[j]] = real(0.0)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if definitions.damping[r] > real(0.0):
            mass = (joints.inverse_mass_a[j] + joints.inverse_mass_b[j]) * wp.length_sq(rows.linear[r])
            spin = wp.dot(rows.angular_a[r], rows.spin_a[r]) + wp.dot(rows.angular_b[r], rows.spin_b[r])
            rows.compliance[r] = LEFT_OUT * (mass + spin)


@kernel
def find_stale(status: JointStatus, stale: wp.array[wp.int32], any_stale: wp.array[wp.int32]) -> None:
    """Whether the compliance of the rows is that of another step."""
    w = wp.tid()
    stale[w] = wp.where(status.eased[w] == status.time_step[w], 0, 1)
    if stale[w] == 1:
        any_stale[0] = 1


@kernel
def begin_half(joints: Joints, rows: Rows, reactions: Reactions, any_stale: wp.array[wp.int32]) -> None:
    """A half of the step begins."""
    j = wp.tid()
    any_stale[0] = 0
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.begun[r] = done_along(rows, reactions, j, r)
        rows.yielded[r] = real(0.0)


@kernel
def note_yielded(joints: Joints, rows: Rows, reactions: Reactions) -> None:
    """How far the rows of a joint have yielded by what it has done since."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if rows.compliance[r] > real(0.0):
            rows.yielded[r] = rows.compliance[r] * (done_along(rows, reactions, j, r) - rows.begun[r])


@wp.func
def eased_velocity(joints: Joints, rows: Rows, motion: Motion, j: int, r: int) -> real:
    """ė of a row, with what it has yielded."""
    rate = row_velocity(joints, rows, motion, j, r)
    if rows.compliance[r] > real(0.0):
        rate += rows.yielded[r]
    return rate


class Yielding:
    """Records what rows that yield need; nothing where none does.

    Args:
        context: Where the step is recorded.
        problem: The joints as rows.
        solver: The joint method, prepared for them.
        reactions: What they do.
        status: How the loops go.
    """

    def __init__(
        self, context: StepContext, problem: JointRows, solver: Any, reactions: Reactions, status: JointStatus
    ) -> None:
        self.context, self.problem, self.solver = context, problem, solver
        self.reactions, self.status = reactions, status
        self.some = bool(problem.definitions.damping.numpy().any())
        worlds, device = problem.model.worlds, problem.model.device
        self.stale, self.any_stale = (wp.zeros(n, dtype=wp.int32, device=device) for n in (worlds, 1))

    def ease(self, which: Any) -> None:
        """Record the compliance of the rows, which have been evaluated, in the worlds where ``which`` is 1."""
        problem = self.problem
        self._for_joints(ease, problem.joints, problem.definitions, problem.rows, self.status, which)

    def leave_out(self, which: Any) -> None:
        """Record that the rows do nothing until the step begins, in the worlds where ``which`` is 1."""
        if self.some:
            problem = self.problem
            self._for_joints(leave_out, problem.joints, problem.definitions, problem.rows, self.status, which)
            self.solver.record_preparation(self.context.program, which)
            self.begin_half()

    def begin_step(self) -> None:
        """Record that a step begins, maybe of another length than the last one."""
        if self.some:
            self.context.for_worlds(find_stale, self.status, self.stale, self.any_stale)
            with self.context.program.when(self.any_stale):
                self.ease(self.stale)
                self.solver.record_preparation(self.context.program, self.stale)
            self.begin_half()

    def begin_half(self) -> None:
        """Record that a half of the step begins."""
        self._for_joints(begin_half, self.problem.joints, self.problem.rows, self.reactions, self.any_stale)

    def note(self) -> None:
        """Record how far the rows have yielded, before they are measured."""
        self._for_joints(note_yielded, self.problem.joints, self.problem.rows, self.reactions)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        if self.some:
            self.context.program.launch(kernel, self.problem.joint_count, *inputs)
