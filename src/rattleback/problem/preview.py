"""The preview loop around every joint method: predict the end of the step, measure the joints there, correct, repeat.

    e(t + h) of every joint at the predicted motion;   wanted change of the rows' velocities  −e/h
    impulses at the start of the step that make it;    predict again, until |e| is within the tolerance

After the step the velocities are corrected the same way, with −ė of every row as the wanted change. Worlds in which
loaded joints are stiff beside the step take the directions of the impulses from its end, see ``stiffness``.

Reference: Bender, dissertation, §3.2.1 and §3.3 (eq. 3.13 and 3.14).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rattleback.core import arrays, host_read
from rattleback.model.state import Motion
from rattleback.model.step_context import StepContext, copy_motion
from rattleback.problem import best_so_far, corrections, joint_errors, joint_settling, joint_summary, stiffness, through
from rattleback.problem.bounded import Bounded
from rattleback.problem.corrections import JointStatus, Links, Reactions
from rattleback.problem.joint_answer import JointAnswer
from rattleback.problem.joint_breaks import JointBreaks
from rattleback.problem.joint_errors import JointErrors
from rattleback.problem.joint_rows import Inertias, JointRows, Levers, evaluate_rows
from rattleback.problem.joint_stops import JointStops
from rattleback.problem.kicked import record_kicked
from rattleback.problem.mechanisms import Mechanisms, WayBack
from rattleback.problem.one_sided_rows import CORRECTION, VELOCITIES


@dataclass(frozen=True)
class Preview:
    """The preview loop of a simulation.

    Attributes:
        context: Where the step is recorded.
        problem: The joints as rows.
        solver: The joint method, prepared for them.
        limits: Tolerances and the most corrections a step may take.
        errors: Errors of the joints.
        reactions: Their impulses in the last step.
        status: Status of the loops.
        links: Which joints hold each body.
        levers: Where the joints act.
        inertias: Inverse inertias of the bodies.
        flight: The motions of a step.
        everywhere: 1 for every world.
        stops: The limits of the joints.
        breaks: The breaking of the joints.
        mechanisms: What the joints connect.
    """

    context: StepContext
    problem: JointRows
    solver: Any
    limits: Any
    errors: JointErrors
    reactions: Reactions
    status: JointStatus
    links: Links
    levers: Levers
    inertias: Inertias
    flight: Any
    everywhere: Any
    stops: JointStops
    breaks: JointBreaks
    mechanisms: Mechanisms

    @cached_property
    def yielding(self) -> Bounded:
        """The rows that yield."""
        given = (self.limits, self.context, self.problem, self.solver, self.status)
        return Bounded(*given, (self.reactions, self.levers, self.stops))

    @cached_property
    def answer(self) -> JointAnswer:
        """Response of the joints to impulses from elsewhere."""
        return JointAnswer(self)

    @cached_property
    def forget(self) -> Callable[[], None]:
        """To be called when a call begins: the worst errors start anew."""
        worst = (getattr(self.errors, f"worst_{name}") for name in ("position", "orientation", "velocity"))
        return host_read.clearing(*worst, self.status.most_positions, self.status.failed)

    def take_over(self, old: "Preview") -> None:
        """Continue with the errors and reactions of another one of the same joints."""
        for name in ("errors", "status", "reactions", "inertias", "mechanisms"):
            arrays.copy_into(getattr(self, name), getattr(old, name))
        for part, was in ((self.breaks.watch, old.breaks.watch), (self.problem.joints, old.problem.joints)):
            arrays.copy_into(part, was)
        self.stops.take_over(old.stops)

    def summary(self, tolerances: Mapping[str, float]) -> dict[str, Any]:
        """What the report says of the joints: the worst errors, where, and why they are too large if they are."""
        return joint_summary.summary(self, tolerances)

    def record_prologue(self) -> None:
        """What each step leaves for the next, for the first one: the rows at the state, velocities that fit them.

        Those a step has left stay as they are, also where they do not fit, so that calls make no difference.
        """
        context, status, memory = self.context, self.status, self.context.state.contacts
        context.program.launch(joint_errors.begin_written, 1, memory, status)
        context.for_worlds(joint_errors.note_written, memory, status)
        with context.program.when(status.afresh):
            context.for_worlds(corrections.start, context.state.clock, status)
            self.stops.forget()
            self._evaluate_anew(self.everywhere)
        with context.program.when(status.any_written):
            through.record_written(self, status.written)
            self.yielding.leave_out(status.written)
            self.stops.forget_columns(status.written)
            self.correct_velocities(status.written)
            context.for_worlds(joint_errors.note_held, memory)

    def record_again(self) -> None:
        """A step is tried once more from its start: no stop acts, and rows and matrix are those of the state."""
        self.stops.forget()
        self._make_anew(self.status.stiff, self.status.any_stiff)

    def record_start(self) -> None:
        """The corrections start from the state."""
        context, problem = self.context, self.problem
        context.share_bodies(copy_motion, context.state.motion, context.start)
        context.for_worlds(corrections.start, context.state.clock, self.status)
        through.record_begin(self.solver, context.program)
        self.breaks.record_start()
        self._for_joints(corrections.rest, problem.fixed, problem.rows, self.status, self.limits, self.reactions)
        self.yielding.begin_step()

    def record_positions(
        self, predict: Callable[[], None], which: Any = None, hit: bool = False, answered: bool = False
    ) -> None:
        """Correct the velocities at the start until the joints hold at the end; the first prediction is there.

        Args:
            predict: Records a prediction.
            which: 1 for every world in which that is done; None for all.
            hit: Whether contacts may have hit bodies in this step.
            answered: Whether joints have answered to loads that would turn bodies far, see ``load_iteration``.
        """
        context, status, which = self.context, self.status, self.everywhere if which is None else which
        motions = [(motion, context.scratch(Motion)) for motion in (context.start, context.predicted)]
        kept = arrays.clone(self.reactions)
        self._begin(which)
        if not answered:
            record_kicked(self, predict)
        self._look(motions, kept)
        way_back = WayBack(self, which, hit)
        way_back.record_begin()
        with context.program.loop(status.any_busy, may_stop=True):
            with context.program.when(status.any_stiff):
                self.prepare_stiff(status.going)
            self._correct(context.start)
            predict()
            context.for_worlds(corrections.lower, status)
            with context.program.when(status.any_suspect):
                self._find_stiff(predict, hit)
            self._look(motions, kept)
        with context.program.when(status.any_undo):
            self._undo(motions, kept)
        way_back.record_end()
        with context.program.when(status.any_limited):
            context.for_worlds(corrections.loosen, status)
        context.for_worlds(corrections.note_iterations, status)

    def _begin(self, which: Any) -> None:
        """Begin the corrections of some worlds; drives act at their start."""
        rows = through.rows_of(self.solver, self.problem)
        self.context.for_worlds(corrections.begin, self.status, which, min(1, rows))
        if self.problem.row_count:
            through.record_drives(self, self.context.start, which)

    def record_pull(self) -> None:
        """Record that the pull that closes torn worlds leaves no velocity, now that the end of the step is known."""
        context, status = self.context, self.status
        with context.program.when(status.any_torn):
            context.for_bodies(corrections.drop_pull, self.links, self.flight, context.loads, status)

    def record_moved(self) -> None:
        """Record where the joints are, as something else may have moved bodies since they were held."""
        self.context.for_worlds(joint_settling.begin_settling, self.status, self.everywhere)
        self.measure_end()

    def record_account(self) -> None:
        """Record what the report says of the positions the step ends with."""
        through.record_end(self.solver, self.context.program, self.status, self.reactions)
        self._for_joints(joint_errors.account_positions, self.problem.joints, self.errors, self.limits, self.status)

    def measure_end(self) -> None:
        """Record the errors of joints and of stops that act at the end of the step; no other stop takes effect."""
        self._measure_positions()
        self.stops.measure_positions(may_look=False)

    def _look(self, motions: list[tuple[Motion, Motion]], kept: Reactions) -> None:
        """Measure the joints at the end of the step; store the motion that is good enough and may be improved."""
        context, status = self.context, self.status
        self._measure_positions()
        self.yielding.switch(self._measure_positions)
        self.stops.measure_positions()
        context.for_worlds(corrections.decide, status, self.limits)
        with context.program.when(status.any_keep):
            for both in motions:
                context.for_bodies(best_so_far.keep_motion, status, *both)
            self._for_joints(best_so_far.keep_reactions, self.problem.joints, status, self.reactions, kept)

    def _undo(self, motions: list[tuple[Motion, Motion]], kept: Reactions) -> None:
        """Restore the stored motion where it was not improved."""
        context, status = self.context, self.status
        for motion, copy in motions:
            context.for_bodies(best_so_far.undo_motion, status, copy, motion)
        self._for_joints(best_so_far.undo_reactions, self.problem.joints, status, kept, self.reactions)
        context.for_worlds(best_so_far.measure_undone, status)
        self.measure_end()

    def record_velocities(self, agree: Callable[[Callable[[Any], None]], None] | None = None) -> None:
        """Correct the velocities of the state until they agree with the joints; leave its rows for the next step.

        Args:
            agree: Records what else has to agree, with what corrects the joints again after it; None for nothing.
        """
        if agree is None:
            self._begin_end()
            self._go_on()
            self.context.for_worlds(joint_errors.note_settled, self.context.state.contacts)
            self._end_velocities()
        else:
            self._record_alternation(agree, rest=False)

    def record_rest(self, agree: Callable[[Callable[[Any], None]], None]) -> None:
        """Record the same for a step whose contacts had not fitted their buffer, now that they are known."""
        self._record_alternation(agree, rest=True)

    def _record_alternation(self, agree: Callable[[Callable[[Any], None]], None], rest: bool) -> None:
        program, status = self.context.program, self.status
        program.launch(joint_errors.find_arrived, 1, status, self.context.stop, int(rest))
        self.context.for_worlds(corrections.lower, status)
        with program.when(status.arrived):
            self._begin_end()
        self._go_on()
        with program.when(status.arrived):
            self._end_stiffness()
            agree(self.correct_velocities)
            self._end_velocities()

    def _end_stiffness(self) -> None:
        """From now on bodies respond to joints and contacts with one inertia; else both would drive each other on."""
        with self.context.program.when(self.status.any_stiff):
            self._evaluate_anew(self.status.stiff)
            self.context.for_worlds(corrections.end_stiffness, self.status)

    def _begin_end(self) -> None:
        """Rows at the end of the step, and by how much its velocities are off."""
        context, status, motion = self.context, self.status, self.context.state.motion
        context.for_bodies(stiffness.weigh, motion, self.inertias, self.everywhere)
        with context.program.when(status.any_stiff):
            given = (self.problem.joints, self.links, motion, self.reactions, self.inertias, status)
            context.for_bodies(stiffness.relax, *given)
            context.for_bodies(stiffness.settle, self.inertias, status)
        self._evaluate(motion, self.everywhere, at_end=True)
        self.yielding.begin_half(second=True)
        self.stops.begin_velocities()
        self._begin_velocities(self.everywhere)

    def _end_velocities(self) -> None:
        """The velocities are done: account for them, and make rows for the next step where these are not."""
        context, joints = self.context, self.problem.joints
        self._for_joints(joint_errors.account_velocities, joints, self.errors, self.limits, self.status)
        self._for_joints(stiffness.note_loads, joints, self.reactions, context.state.joints, context.stop)
        joint_errors.record_turns(context.program, joints, context.state.motion, context.state.joints)
        self.stops.forget()
        self._make_anew(*self.breaks.record_end(self.status.stiff, self.status.any_stiff))

    def _make_anew(self, which: Any, any_of_them: Any) -> None:
        """Rows and matrix for the next step, in the worlds where ``which`` is 1."""
        with self.context.program.when(any_of_them):
            self._evaluate_anew(which)
            self.breaks.record_made_anew()

    def correct_velocities(self, which: Any) -> None:
        """Record impulses that make velocities of the state agree with the joints, in worlds where ``which`` is 1."""
        self._begin_velocities(which)
        self._go_on()

    def _begin_velocities(self, which: Any) -> None:
        self.context.for_worlds(corrections.begin, self.status, which, 0)
        self._measure_velocities()

    def _go_on(self) -> None:
        """Correct velocities while they are outside the tolerance."""
        context = self.context
        with context.program.loop(self.status.any_busy, may_stop=True):
            self._correct(context.state.motion)
            with context.program.when(self.status.any_stiff):
                acting = (self.links, self.flight, self.levers, self.reactions, self.inertias, self.status)
                context.for_bodies(stiffness.lean_back, self.problem.joints, *acting)
            context.for_worlds(corrections.lower, self.status)
            self._measure_velocities()

    def _evaluate_anew(self, which: Any) -> None:
        """The rows at the state, and the solver's preparation, without any stiffness."""
        motion = self.context.state.motion
        self.context.for_bodies(stiffness.ease_off, self.inertias, which)
        self.context.for_bodies(stiffness.weigh, motion, self.inertias, which)
        self._evaluate(motion, which)

    def _evaluate(self, motion: Motion, which: Any, at_end: bool = False) -> None:
        """The rows at a motion and the solver's preparation for them."""
        self._evaluate_rows(motion, which)
        through.record_factor(self.solver, self.context.program, motion, which, at_end)
        self.solver.record_preparation(self.context.program, which)
        self.stops.forget_columns(which)

    def _evaluate_rows(self, motion: Motion, which: Any) -> None:
        problem, remembered = self.problem, self.context.state.joints
        parts = (motion, remembered, self.inertias, problem.rows, self.levers, which)
        self._for_joints(evaluate_rows, problem.fixed, problem.definitions, *parts)
        self.yielding.ease(which)
        self.yielding.note_rotors(self.links, self.inertias, which)
        self.stops.evaluate(motion, which)

    def _find_stiff(self, predict: Callable[[], None], hit: bool) -> None:
        """Find bodies that are stiff beside the step; where there are, evaluate the rows of the end of the step."""
        if through.is_through_trees(self.solver):
            return
        context, joints, status = self.context, self.problem.joints, self.status
        loaded = (self.reactions, self.inertias, status)
        remembered = context.state.joints
        context.for_bodies(stiffness.find_lasting, self.links, *loaded, self.limits, remembered, int(hit))
        context.for_bodies(stiffness.find_stiff, joints, self.links, context.predicted, *loaded, self.limits)
        context.for_worlds(stiffness.find_turned, status, status.going)
        with context.program.when(status.any_fresh):
            context.for_bodies(stiffness.start_anew, self.flight, status)
            predict()
        with context.program.when(status.any_stiff):
            self.stops.set_aside(-1)
            self._evaluate_rows(context.predicted, status.turned)
            turned = (self.problem.fixed, self.problem.rows, self.levers, status, self.reactions)
            self._for_joints(stiffness.hold_directions, *turned)
            self.stops.set_aside(1)
            context.for_bodies(stiffness.soften, joints, self.links, self.flight, *loaded, self.limits)

    def prepare_stiff(self, which: Any) -> None:
        """Record the matrix of the end of the step, in those worlds where ``which`` is 1 that are stiff."""
        problem, status = self.problem, self.status
        self.context.for_worlds(stiffness.find_turned, status, which)
        self._for_joints(stiffness.respond_anew, problem.joints, self.inertias, problem.rows, status)
        self.solver.record_preparation(self.context.program, status.turned)
        self.stops.forget_old_columns()

    def _correct(self, motion: Motion) -> None:
        """Find impulses for the wanted change and apply them to the velocities of a motion."""
        through.record_fresh(self)
        self.solver.record_solution(self.context.program)
        self.stops.solve(motion, CORRECTION if motion is self.context.start else VELOCITIES, shifted=True)
        self._apply(motion)
        self.stops.add_totals()

    def correct_by_rates(self, motion: Motion) -> None:
        """Record the same before the loop of a step, where nothing is known of limits yet."""
        self.solver.record_solution(self.context.program)
        self._apply(motion)

    def _apply(self, motion: Motion) -> None:
        """Apply the impulses that were found."""
        context, joints, rows, status = self.context, self.problem.joints, self.problem.rows, self.status
        acting = (self.links, self.levers, self.reactions, self.inertias, status)
        self._for_joints(corrections.find_reactions, joints, rows, self.levers, status, self.reactions)
        with context.program.when(status.any_limited):
            context.for_bodies(corrections.limit_turn, *acting, self.limits)
            self._for_joints(corrections.add_reactions, joints, self.levers, status, self.reactions)
        through.record_note(self.solver, context.program, motion, status.busy)
        context.for_bodies(corrections.apply_impulses, *acting, motion)
        through.record_carried(self.solver, context.program, motion, status.busy, self.reactions)

    def _measure_positions(self) -> None:
        problem, parts = self.problem, (self.problem.rows, self.errors, self.status)
        given = (problem.fixed, problem.definitions, self.flight, self.context.state.joints, self.limits, *parts)
        self._for_joints(joint_errors.measure_positions, *given)
        self.yielding.measure(*given)

    def _measure_velocities(self) -> None:
        self._measure_rates()
        self.yielding.switch(self._measure_rates, second=True)
        self.stops.measure_velocities()
        self.context.for_worlds(corrections.decide, self.status, self.limits)

    def _measure_rates(self) -> None:
        problem, motion = self.problem, self.context.state.motion
        self.yielding.note()
        given = (problem.definitions, motion, self.limits, problem.rows, self.errors, self.status)
        self._for_joints(joint_errors.measure_velocities, problem.fixed, *given)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.problem.joint_count, *inputs)
