"""What joints answer at once when something else pushes their bodies: the rates of their rows stay as they were.

    J M⁻¹ Jᵀ λ = u − J v,    v ← v + M⁻¹ Jᵀ λ

u rates of the rows when all was well, v velocities after the push, J and its factor those of the step. One substitution
in the factor and no prediction: what is left is of second order, and for the preview loop. Stops that act in the step
are rows like others here, whether they push or pull; the loop decides about them. Worlds that are open, where
corrections must not go too far, do not answer and wait for the loop. In stiff worlds J, M̃ in the place of M and the
factor are those that the loop has ended with; where it has ended with joints that are off, they do not answer.

    note the rates; after every push: what is wanted, the impulses for it, what they do to the bodies
Cost: a quarter of a correction of the preview loop.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.quat import rotate
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem import corrections, joint_settling, joint_steps, through
from rattleback.problem.corrections import JointStatus, Links, Reactions, pushed_by
from rattleback.problem.joint_rows import Inertias, Joints, Levers, RowDefinitions, Rows
from rattleback.problem.one_sided_rows import ANSWER, DISPLACEMENTS, VELOCITIES
from rattleback.problem.yielding import eased_velocity

if TYPE_CHECKING:
    from rattleback.problem.preview import Preview


@kernel
def note_rates(joints: Joints, rows: Rows, motion: Motion, rates: wp.array[real]) -> None:
    """The rates of the rows of a joint are as they should be."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rates[r] = eased_velocity(joints, rows, motion, j, r)


@kernel
def note_targets(joints: Joints, definitions: RowDefinitions, rows: Rows, rates: wp.array[real]) -> None:
    """The rates that the rows of a joint are to have."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rates[r] = wp.where(rows.compliance[r] > real(0.0), rows.steady[r], definitions.rate[r])


@kernel
def find_settled(status: JointStatus, which: wp.array[wp.int32], settled: wp.array[wp.int32]) -> None:
    """Which of the wanted worlds are stiff and answer: those whose joints the last loop has put together."""
    w = wp.tid()
    settled[w] = wp.where(status.before[w] <= real(1.0), which[w] * status.stiff[w], 0)


@kernel
def forget_settled(settled: wp.array[wp.int32]) -> None:
    """A step begins: no loop has put the joints of a world together in it."""
    settled[wp.tid()] = 0


@kernel
def begin_answer(status: JointStatus, which: wp.array[wp.int32], settled: wp.array[wp.int32], careful: int) -> None:
    """The worlds that are asked answer, but for those where what corrections find is not good for more than one."""
    w = wp.tid()
    wild = status.limited[w] == 1 or (status.stiff[w] == 1 and settled[w] == 0)
    status.busy[w] = wp.where(careful == 1 and wild, 0, which[w])
    status.scale[w] = real(1.0)
    status.turn[w] = real(0.0)


@kernel
def want_rates(joints: Joints, rows: Rows, motion: Motion, rates: wp.array[real]) -> None:
    """The change that gives the rows of a joint their rates back."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = rates[r] - eased_velocity(joints, rows, motion, j, r)


@kernel
def apply_answer(
    bodies: Bodies,
    links: Links,
    levers: Levers,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    motion: Motion,
    held: wp.array[wp.int32],
) -> None:
    """Every body with joints adds up what they do to it; in stiff worlds it turns as at the end of the step."""
    i = held[wp.tid()]
    w = bodies.world[i]
    if status.busy[w] == 1:
        push, turning = pushed_by(links, levers, reactions, i)
        spin = inertias.inverse[i] * turning
        if status.stiff[w] == 1:
            spin = rotate(inertias.back[i], spin)
        motion.velocity[i] = motion.velocity[i] + bodies.inverse_mass[i] * push
        motion.angular_velocity[i] = motion.angular_velocity[i] + spin


@kernel
def apply_ways(
    bodies: Bodies,
    links: Links,
    levers: Levers,
    reactions: Reactions,
    inertias: Inertias,
    status: JointStatus,
    ways: Motion,
    held: wp.array[wp.int32],
) -> None:
    """The same for displacements at the end of the step."""
    i = held[wp.tid()]
    if status.busy[bodies.world[i]] == 1:
        push, turning = pushed_by(links, levers, reactions, i)
        ways.velocity[i] = ways.velocity[i] + bodies.inverse_mass[i] * push
        ways.angular_velocity[i] = ways.angular_velocity[i] + inertias.inverse[i] * turning


class JointAnswer:
    """Records the answers of the joints of a simulation.

    Attributes:
        held: Rows of the bodies that have joints.

    Args:
        preview: Their preview loop.
    """

    def __init__(self, preview: "Preview") -> None:
        self.preview = preview
        problem = preview.problem
        self.rates = wp.zeros(max(problem.row_count, 1), dtype=real, device=problem.model.device)
        sizes = {"joints": problem.joint_count, "stops": preview.stops.count}
        self.steps = arrays.allocate(joint_steps.Steps, sizes, problem.model.device)
        self.settled = wp.zeros(problem.model.worlds, dtype=wp.int32, device=problem.model.device)
        held = np.flatnonzero(preview.links.count.numpy()).astype(np.int32)
        self.held = wp.array(held, dtype=wp.int32, device=problem.model.device)
        self.unseen, self.displacements = arrays.clone(preview.reactions), preview.context.scratch(Motion)

    def begin(self) -> None:
        """Record that a step begins."""
        self.preview.context.for_worlds(forget_settled, self.settled)

    @property
    def trees(self) -> Any:
        """How bodies that touch answer to each other where trees hold all joints but for stops; else None."""
        solver = self.preview.solver
        return solver.through.answers if through.is_through_trees(solver) and not solver.count else None

    @property
    def is_driven(self) -> bool:
        """Whether a freedom of trees has armature, friction or a servo, which answer to every impulse once."""
        return through.is_driven(self.preview.solver)

    def keep_drives(self) -> None:
        """Record what drives, friction and servos have done so far, to come back to it."""
        through.record_directions(self.preview.solver, self.preview.context.program, self.preview.everywhere)

    def restore_drives(self) -> None:
        """Record that they have done as much as then."""
        through.record_restored(self.preview.solver, self.preview.context.program)

    @property
    def _has_rows(self) -> bool:
        """Whether there are rows to answer with beside trees that hold all joints."""
        return bool(self.preview.problem.row_count) or not through.is_through_trees(self.preview.solver)

    def note(self, motion: Motion, which: Any, displaces: bool = False) -> None:
        """Record which rates of the rows are well: for the velocities of the state those of the joints, else as now.

        Args:
            motion: The velocities, or displacements in their place.
            which: 1 for every world that is asked.
            displaces: Whether they are displacements.
        """
        problem = self.preview.problem
        through.record_drives(self.preview, motion, which, displaces)
        if self.trees is not None:
            return
        if motion is self.preview.context.state.motion:
            self._for_joints(note_targets, problem.fixed, problem.definitions, problem.rows, self.rates)
        else:
            self.preview.yielding.note()
            self._for_joints(note_rates, problem.fixed, problem.rows, motion, self.rates)

    def respond(self, motion: Motion, which: Any) -> None:
        """Record the answer of joints and stops to what has changed the velocities of a motion since.

        Args:
            motion: The velocities.
            which: 1 for every world that is asked.
        """
        preview = self.preview
        preview.context.for_worlds(begin_answer, preview.status, which, self.settled, 1)
        given = (preview.solver, preview.context.program, motion, which, preview.reactions)
        through.record_carried(*given)
        if self._has_rows:
            self._want(motion)
            at_end = motion is preview.context.state.motion
            acting = self._solve(preview.reactions, motion, VELOCITIES if at_end else ANSWER)
            through.record_note(preview.solver, preview.context.program, motion, which)
            self._for_held(apply_answer, *acting, motion)
            through.record_carried(*given)
        preview.stops.add_totals()

    def respond_trees(self, motion: Motion, which: Any) -> None:
        """Record the answer of trees alone, where no stop is hit."""
        preview = self.preview
        through.record_carried(preview.solver, preview.context.program, motion, which, preview.reactions)

    def displace_trees(self, displacements: Motion, which: Any) -> None:
        """Record the same for displacements."""
        preview = self.preview
        through.record_displacements(preview.solver, preview.context.program, displacements, which)

    def prepare_stiff(self, which: Any) -> None:
        """Record the factor that belongs to the last rows, in the stiff ones of some worlds that are to answer.

        Args:
            which: 1 for every world that is asked.
        """
        self.preview.context.for_worlds(find_settled, self.preview.status, which, self.settled)
        self.preview.prepare_stiff(self.settled)

    def respond_displacements(self, displacements: Motion, which: Any) -> None:
        """Record the same for displacements, where velocities stand for ways; they are nothing that joints carry."""
        preview = self.preview
        preview.context.for_worlds(begin_answer, preview.status, which, self.settled, 0)
        through.record_displacements(preview.solver, preview.context.program, displacements, which)
        if self._has_rows:
            self._want(displacements)
            self._respond_displacements(displacements)

    def begin_steps(self, motion: Motion, which: Any) -> None:
        """Record that steps along conjugate directions begin here, in the worlds where ``which`` is 1."""
        preview, joints = self.preview, self.preview.problem.joints
        self._for_joints(joint_steps.begin_steps, joints, preview.reactions, self.steps, which)
        through.record_directions(preview.solver, preview.context.program, which)
        given = (joints, preview.stops.system.stops, self.steps, which)
        preview.context.program.launch(joint_steps.begin_totals, preview.stops.count, *given)
        self.note_rates(motion, swept=0)

    def note_rates(self, motion: Motion, swept: int) -> None:
        """Record the rates of the stops before a sweep (0) or after the answer to it (1)."""
        stops = self.preview.stops
        given = (stops.system, motion, self.steps, swept)
        self.preview.context.program.launch(joint_steps.note_rates, stops.count, *given)

    def add_gain(self, motion: Motion, gain: Any) -> None:
        """Record what the stops do to the gain of a step, by worlds."""
        stops = self.preview.stops
        if stops.count:
            given = (stops.system, stops.groups, motion, self.steps, gain)
            self.preview.context.for_worlds(joint_steps.add_gain, *given)

    def try_step(self, parts: tuple[Any, Any, Any]) -> None:
        """Record what a step along conjugate directions, instead of the last answers, means for the joints.

        Args:
            parts: By worlds: whether it is tried, and its parts along the last answers and along the step before.
        """
        self._for_steps(joint_steps.try_step, joint_steps.try_total, parts)
        through.record_try(self.preview.solver, self.preview.context.program, parts)

    def settle_step(self, motion: Motion, verdict: tuple[Any, Any]) -> None:
        """Record that it is kept or not.

        Args:
            motion: The velocities after it.
            verdict: By worlds: whether it is active, and whether it accepts the step.
        """
        self._for_steps(joint_steps.settle_step, joint_steps.settle_total, verdict)
        through.record_settle(self.preview.solver, self.preview.context.program, verdict)
        self.note_rates(motion, swept=0)

    def _for_steps(self, kernel: Any, for_stops: Any, given: tuple[Any, ...]) -> None:
        preview, joints = self.preview, self.preview.problem.joints
        self._for_joints(kernel, joints, preview.reactions, self.steps, *given)
        stops = preview.stops
        preview.context.program.launch(for_stops, stops.count, joints, stops.system.stops, self.steps, *given)

    def settle(self, motion: Motion, which: Any) -> None:
        """Record displacements that put joints together at a motion, at the end of the step, where ``which`` is 1.

        The last one is taken back where it has put them farther apart.
        """
        preview, context, status = self.preview, self.preview.context, self.preview.status
        through.record_restore(preview.solver, context.program, motion, which)
        context.for_worlds(joint_settling.begin_settling, status, which)
        context.for_worlds(joint_settling.begin_judging, status)
        preview.measure_end()
        context.for_worlds(joint_settling.judge_settling, status, preview.limits)
        with context.program.loop(status.any_busy, may_stop=True):
            self._for_held(joint_settling.next_settling, status, self.displacements)
            self._for_joints(joint_settling.want_displacements, preview.problem.fixed, preview.problem.rows, status)
            self._respond_displacements(self.displacements)
            self._for_held(joint_settling.limit_displacements, status, preview.limits, self.displacements)
            self._for_held(joint_settling.displace, status, self.displacements, motion)
            through.record_restore(preview.solver, context.program, motion, status.busy)
            preview.measure_end()
            context.for_worlds(joint_settling.judge_settling, status, preview.limits)
            self._for_held(joint_settling.take_back, status, self.displacements, motion)

    def _respond_displacements(self, displacements: Motion) -> None:
        preview = self.preview
        given = (preview.solver, preview.context.program, displacements, preview.status.busy)
        self._for_joints(joint_settling.begin_displacements, self.unseen)
        acting = self._solve(self.unseen, displacements, DISPLACEMENTS)
        through.record_note(*given, displaces=True)
        self._for_held(apply_ways, *acting, displacements)
        through.record_displacements(*given)

    def _want(self, motion: Motion) -> None:
        problem = self.preview.problem
        self.preview.yielding.note()
        self._for_joints(want_rates, problem.fixed, problem.rows, motion, self.rates)

    def _solve(self, reactions: Reactions, motion: Motion, mode: int) -> tuple[Any, ...]:
        """Impulses for what is wanted, with those of the stops; what kernels that apply them need."""
        preview, problem = self.preview, self.preview.problem
        through.record_fresh(preview)
        preview.solver.record_solution(preview.context.program)
        preview.stops.solve(motion, mode)
        given = (problem.joints, problem.rows, preview.levers, preview.status, reactions)
        self._for_joints(corrections.find_reactions, *given)
        return preview.links, preview.levers, reactions, preview.inertias, preview.status

    def _for_held(self, kernel: Any, *inputs: Any) -> None:
        context = self.preview.context
        context.program.launch(kernel, len(self.held), context.model.bodies, *inputs, self.held)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.preview.context.program.launch(kernel, self.preview.problem.joint_count, *inputs)
