"""One time step of high order, as a table of contents.

    fit        what was written: poses and velocities that agree with the joints, in the first step of a call
    start      rows of the joints and loads where the step begins; which rows take part
    runs       symmetric steps of parts of the step, from the same start: positions, loads, velocities, over and over
    combine    the weighted sum of the runs, projected on the joints; the error of the step
    advance    check that all is finite, take it over, move the clock
    account    errors and reactions of the joints, for the report

With a tolerance, start, runs and combination are repeated with sub-steps whose length the error decides, until the end
of the step is reached in every world; the length of the next sub-step is part of the state.

Runs are independent of each other. They go one after the other in the launches of all worlds: a CPU has one thread
for them, and a GPU is filled by worlds.

Reference: Bender, dissertation, §3.4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.integrators.rk45 import Control, begin, decide, lower, propose, settle
from rattleback.maths.quat import rotate
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Diagnostics, Moment, StepContext, copy_motion
from rattleback.problem.by_forces.account import JointAccount
from rattleback.problem.corrections import Reactions
from rattleback.problem.joint_rows import Joints
from rattleback.problem.preview import Preview
from rattleback.steps.impulse import find_fault, forget, move_clock, remember, take_over
from rattleback.steps.symmetric import velocities
from rattleback.steps.symmetric.course import Course, Increments
from rattleback.steps.symmetric.mechanism import Mechanism, Node, System, make_mechanism, make_node, make_system
from rattleback.steps.symmetric.positions import take_positions
from rattleback.steps.symmetric.projection import fit_written, project
from rattleback.steps.symmetric.rank import count_independent
from rattleback.steps.symmetric.runs import Results, begin_run, begin_step, combine, end_run
from rattleback.steps.symmetric.scheme import Scheme
from rattleback.steps.symmetric.turns import Turns, keep_turns, note_turns, take_turns_back

# What ``Diagnostics.trouble`` says where the impulses of the joints were not found.
JOINTS_LOST = wp.constant(3)
FORCES_LOST = wp.constant(2)
# Errors of the rows inside a step beside the tolerance of the step.
INNER = 1e-3


@kernel
def note_error(m: Mechanism, system: System, control: Control, diagnostics: Diagnostics) -> None:
    """The error of a step of fixed length, and what went wrong in it."""
    w = wp.tid()
    trouble = int(0)
    if system.trouble[w] == 1:
        trouble = JOINTS_LOST
    if system.trouble[w] == 2:
        trouble = FORCES_LOST
    for i in range(w * m.body_count, (w + 1) * m.body_count):
        diagnostics.integration_error[i] = wp.where(trouble == 0, control.error[w], real(0.0))
        diagnostics.iterations[i] = system.iterations[w]
        diagnostics.trouble[i] = trouble
    control.error[w] = real(0.0)


@kernel
def rest(reactions: Reactions) -> None:
    """A sub-step begins: no joint has done anything in it."""
    j = wp.tid()
    reactions.last_impulse[j] = vec3()
    reactions.last_couple[j] = vec3()


@kernel
def carry(m: Mechanism, orientation: wp.array[quat], node: Node, reactions: Reactions) -> None:
    """Add what a joint did at a pose of the finest run."""
    j = wp.tid()
    p = vec3()
    turning = vec3()
    for r in range(m.joints.first[j], m.joints.first[j] + m.joints.count[j]):
        p += node.impulse[r] * node.linear[r]
        turning += node.impulse[r] * node.angular_b[r]
    lever = vec3()
    b = m.joints.body_b[j]
    if b >= 0:
        lever = rotate(orientation[b], m.joints.anchor_b[j])
    reactions.last_impulse[j] = reactions.last_impulse[j] + p
    reactions.last_couple[j] = reactions.last_couple[j] + turning - wp.cross(lever, p)


@kernel
def keep_carried(joints: Joints, control: Control, always: int, reactions: Reactions) -> None:
    """What joints did in a sub-step that was accepted belongs to the step."""
    j = wp.tid()
    if always == 1 or control.accepted[joints.world[j]] == 1:
        reactions.impulse[j] = reactions.impulse[j] + reactions.last_impulse[j]
        reactions.couple[j] = reactions.couple[j] + reactions.last_couple[j]


@dataclass(frozen=True)
class SymmetricStep:
    """The recipe of steps of high order.

    Attributes:
        context: What the step works on.
        scheme: How a step is made of symmetric ones.
        tolerance: Largest error of a sub-step; None for steps of fixed length.
        max_substeps: Sub-steps one step may take.
        preview: The joints; None without.
    """

    context: StepContext
    scheme: Scheme
    tolerance: float | None
    max_substeps: int
    preview: Preview | None = None

    @cached_property
    def mechanism(self) -> Any:
        """Bodies and joints, with the rank of the rows."""
        model, preview = self.context.model, self.preview
        m = make_mechanism(None if preview is None else preview.problem, model)
        if preview is not None:
            m.rank = count_independent(m, model)
        return m

    @cached_property
    def system(self) -> Any:
        """The equations of the joints."""
        return make_system(self.mechanism, self.context.model)

    @cached_property
    def course(self) -> Any:
        """The run under way."""
        context, course = self.context, Course()
        course.now, course.since = context.scratch(Motion), context.scratch(Increments)
        course.angles = context.state.joints
        return course

    @cached_property
    def nodes(self) -> list[Any]:
        """Rows at the start of the step, and at the last two poses of a run."""
        return [make_node(self.mechanism, self.context.model) for _ in range(3)]

    @cached_property
    def turns(self) -> tuple[Any, Any]:
        """Angles of the joints where the step began, and where its sub-step did."""
        counts = {"joints": len(self.mechanism.joints.world)}
        before, turns = (arrays.allocate(Turns, counts, self.context.model.device) for _ in range(2))
        return before, turns

    @cached_property
    def reactions(self) -> Any:
        """What the joints did in the sub-step under way, and in the step so far."""
        return None if self.preview is None else self.preview.reactions

    def record_reactions(self, reactions: Reactions) -> None:
        """They are there already."""

    def summary(self, said: dict[str, Any]) -> dict[str, Any]:
        """What the report says of the joints, from what it says where other steps hold them."""
        m = self.mechanism
        if self.preview is None or m.rank == m.row_count:
            return said
        kept = np.array(self.system.kept.numpy()).reshape(-1, m.row_count)
        owner = np.repeat(np.arange(m.joint_count), self.preview.problem.counts)
        left: Any = np.unique(owner[(kept == 0).any(axis=0)]) if kept.any() else []
        names = tuple(self.preview.problem.names[j] for j in left)
        return {**said, "redundant_rows": int(m.row_count - m.rank), "redundant_joints": names}

    def record(self, context: StepContext) -> None:
        """Record one step."""
        program, control = context.program, context.scratch(Control)
        account = None if self.preview is None else JointAccount(self.preview, self)  # type: ignore[arg-type]
        with program.prologue():
            self._record_fit(context)
        with program.stage("forces"):
            if account is not None:
                account.record_start()
            context.share_bodies(forget, context.diagnostics)
        with program.stage("runs"):
            self._for_joints(note_turns, context.state.joints, *self.turns)
            if self.tolerance is None:
                self._record_whole(context, control)
            else:
                self._record_substeps(context, control)
        with program.stage("advance"):
            context.share_bodies(remember, context.diagnostics, context.worst)
            context.share_bodies(find_fault, context.predicted, context.stop)
            context.share_bodies(take_over, context.predicted, context.state.motion, context.stop)
            context.for_worlds(move_clock, context.state.clock, context.proposed, context.stop)
            self._for_joints(take_turns_back, self.turns[0], context.state.joints, context.stop)
        if account is not None:
            with program.stage("joints"):
                account.record_rows()
                account.record_end()

    def _record_fit(self, context: StepContext) -> None:
        """Make what was written agree with the joints."""
        state = context.state
        if self.preview is not None:
            self._begin(context, state.motion, state.clock)
            given = (self.mechanism, self.system, self.course, self.nodes[0])
            context.for_worlds(fit_written, *given, state.motion, state.contacts)

    def _record_whole(self, context: StepContext, control: Any) -> None:
        """One step of the length of the clock."""
        self._record_trial(context, context.state.motion, context.state.clock, control, context.predicted)
        context.for_worlds(note_error, self.mechanism, self.system, control, context.diagnostics)
        self._keep(control, 1)

    def _record_substeps(self, context: StepContext, control: Any) -> None:
        """Sub-steps until the end of the step is reached in every world."""
        clock, sub, trial = context.state.clock, context.scratch(Clock), context.scratch(Motion)
        current = context.predicted
        busy = wp.zeros(1, dtype=wp.int32, device=context.model.device)
        context.for_worlds(begin, clock, sub, control, busy)
        context.share_bodies(copy_motion, context.state.motion, current)
        limits = (float(self.tolerance or 0.0), 1.0 / self.scheme.power, self.max_substeps)
        with context.program.loop(busy):
            self._record_trial(context, current, sub, control, trial)
            context.program.launch(lower, 1, busy)
            context.for_worlds(decide, clock, sub, control, *limits, busy)
            context.for_bodies(settle, trial, current, control, context.diagnostics)
            self._keep(control, 0)
            context.for_worlds(propose, clock, control, context.proposed)

    def _keep(self, control: Any, always: int) -> None:
        """Keep what joints did, and their angles, where a sub-step was accepted, or always."""
        joints = self.mechanism.joints
        if self.preview is not None:
            self._for_joints(keep_carried, joints, control, always, self.reactions)
            self._for_joints(keep_turns, joints, control, always, self.context.state.joints, self.turns[1])

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, len(self.mechanism.joints.world), *inputs)

    def _begin(self, context: StepContext, motion: Motion, clock: Clock) -> None:
        inner = INNER * (self.tolerance or 0.0)
        given = (self.mechanism, self.system, self.course, motion, self.nodes[0])
        context.for_worlds(begin_step, *given, clock, inner)

    def _record_trial(self, context: StepContext, motion: Motion, clock: Clock, control: Any, end: Motion) -> None:
        """All runs from a motion, and their combination."""
        scheme, count = self.scheme, context.model.count
        m, system, course, turns = self.mechanism, self.system, self.course, self.turns[1]
        given, loads = context.scratch(Loads), context.scratch(Loads)
        results: Any = arrays.allocate(Results, {"results": len(scheme.runs) * count}, context.model.device)
        self._begin(context, motion, clock)
        context.evaluate(Moment(motion, clock), given)
        for number, run in enumerate(scheme.runs):
            context.for_worlds(begin_run, m, system, course, turns, given, loads)
            self._record_run(context, run, clock, loads, carries=number == len(scheme.runs) - 1)
            context.for_worlds(end_run, m, system, course, results, number * count)
        weights, difference = (
            wp.array(np.array(values, numpy_real), dtype=real, device=context.model.device)
            for values in (scheme.weights, scheme.difference)
        )
        context.for_worlds(combine, m, system, course, results, weights, difference, control)
        context.for_worlds(project, m, system, course, self.nodes[1], end)

    def _record_run(
        self, context: StepContext, run: tuple[float, ...], clock: Clock, loads: Loads, carries: bool
    ) -> None:
        """Symmetric steps one after the other."""
        m, system, course = self.mechanism, self.system, self.course
        first, done = self.nodes[0], 0.0
        note = self._carrier(context) if carries and self.preview is not None else _nothing
        for number, part in enumerate(run):
            last, done = self.nodes[1 + number % 2], done + part
            context.for_worlds(take_positions, m, system, course, loads, first, last, clock, part)
            note(first, course.since.heading)
            moment = Moment(course.now, clock, done)
            if context.velocity_dependent:
                self._record_agreement(context, moment, loads, last, part)
            else:
                context.evaluate(moment, loads)
                context.for_worlds(velocities.take_velocities, m, system, course, loads, last, clock, part)
            note(last, course.now.orientation)
            first = last

    def _record_agreement(self, context: StepContext, moment: Moment, loads: Loads, last: Any, part: float) -> None:
        """Velocities at the end and the loads that depend on them."""
        m, system, course, clock = self.mechanism, self.system, self.course, moment.clock
        agree, found = wp.zeros(1, dtype=wp.int32, device=context.model.device), context.scratch(Loads)
        context.for_worlds(velocities.take_velocities, m, system, course, loads, last, clock, part)
        context.for_worlds(velocities.begin_rounds, system, agree)
        with context.program.loop(agree):
            context.evaluate(moment, found)
            context.program.launch(velocities.lower, 1, agree)
            context.for_bodies(velocities.take_found, system, found, loads)
            given = (m, system, course, loads, last, clock, part, agree)
            context.for_worlds(velocities.agree_velocities, *given)

    def _carrier(self, context: StepContext) -> Callable[[Any, Any], None]:
        """Records what joints do at a node; from now on they have done nothing."""
        self._for_joints(rest, self.reactions)

        def note(node: Any, orientation: Any) -> None:
            self._for_joints(carry, self.mechanism, orientation, node, self.reactions)

        return note


def _nothing(node: Any, orientation: Any) -> None:
    """Only the finest run tells what joints carry."""


def make_symmetric_step(context: StepContext, step: Any, preview: Preview | None) -> SymmetricStep | None:
    """The recipe of a step as the user chose it; None where it has no scheme.

    Args:
        context: What it works on.
        step: The step.
        preview: The joints; None without.
    """
    if (scheme := step.scheme()) is None:
        return None
    return SymmetricStep(context, scheme, step.tolerance, step.max_substeps, preview)
