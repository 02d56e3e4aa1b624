"""One time step, as a table of contents.

    forces             the loads, where the integrator evaluates them
    predict            where every body would be at the end of the step
    joints             impulses at the start that make the joints hold at the end, predicting again each time
    contact impulses   the same for contacts, which only push, in alternation with the joints
    advance            stop fast bodies at what they hit, check that all is finite, take the prediction over, move the
                       clock
    contacts           where the bodies touch now
    velocities         impulses at the end that make the velocities agree with the joints and the contacts

Where bodies may sleep, a stage before all others decides which do; where all sleep only the clock moves.
With a contact time, prediction and joints are repeated with shorter steps until bodies that meet just touch.
The rows of the joints and their factor, and the contacts, at the end of one step serve the next, which starts from the
same poses; the first step of a call finds them made by the prologue.

Reference: Bender, dissertation, section 3.1.2 and §3.3.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.protocols import Integrator
from rattleback.forces.servo_bounds import ServoBounds
from rattleback.model.contact_memory import Due, forget_loads, record_due
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import Diagnostics, StepContext, copy_motion, copy_velocities, move
from rattleback.problem.held_velocities import HeldVelocities
from rattleback.problem.preview import Preview
from rattleback.steps.energy_limit import EnergyLimit
from rattleback.steps.energy_watch import EnergyWatch
from rattleback.steps.sleeping import Sleeping

# A body that moves faster than light [m/s] has diverged long before its numbers do.
LIGHT = wp.constant(real(299_792_458.0))
# So has one that turns faster than this [rad/s], whose square is a number in single precision, too.
WHIRL = wp.constant(real(1e15))


@wp.func
def is_at_fault(predicted: Motion, i: int) -> bool:
    """Whether a body is not finite or too fast."""
    q = predicted.orientation[i]
    # A sum is finite only if all its terms are.
    v = predicted.position[i] + predicted.velocity[i] + predicted.angular_velocity[i] + vec3(q[0], q[1], q[2])
    fast = wp.length(predicted.velocity[i]) < LIGHT and wp.length(predicted.angular_velocity[i]) < WHIRL
    return not (wp.isfinite(v[0] + v[1] + v[2] + q[3]) and fast)


@wp.func
def note_worst(diagnostics: Diagnostics, worst: Diagnostics, i: int) -> None:
    """Add the diagnostics of a body to the worst of the call."""
    worst.integration_error[i] = wp.max(worst.integration_error[i], diagnostics.integration_error[i])
    worst.iterations[i] = wp.max(worst.iterations[i], diagnostics.iterations[i])
    worst.trouble[i] = wp.max(worst.trouble[i], diagnostics.trouble[i])


@kernel
def find_fault(bodies: Bodies, predicted: Motion, stop: wp.array[wp.int32], lanes: int) -> None:
    """Raise the stop flag for a body that is not finite or too fast; the first one gives the largest number."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        if is_at_fault(predicted, i):
            wp.atomic_max(stop, 0, bodies.world.shape[0] - i)


@kernel
def find_unfit(bodies: Bodies, motion: Motion, stop: wp.array[wp.int32], unfit: wp.array[wp.int32], lanes: int) -> None:
    """Note a body whose velocities are not finite now that they were fitted; the first one gives the largest number."""
    if stop[0] == 0:
        for i in range(wp.tid(), bodies.world.shape[0], lanes):
            if not (wp.isfinite(motion.velocity[i]) and wp.isfinite(motion.angular_velocity[i])):
                wp.atomic_max(unfit, 0, bodies.world.shape[0] - i)


@kernel
def raise_unfit(bodies: Bodies, unfit: wp.array[wp.int32], stop: wp.array[wp.int32]) -> None:
    """Raise the stop flag for a body whose velocities could not be fitted: by more than there are bodies."""
    stop[0] = bodies.world.shape[0] + unfit[0]
    unfit[0] = 0


@kernel
def forget(bodies: Bodies, diagnostics: Diagnostics, lanes: int) -> None:
    """A prediction begins: the diagnostics of the integrator are cleared."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        diagnostics.integration_error[i] = real(0.0)
        diagnostics.iterations[i] = 0
        diagnostics.trouble[i] = 0


@kernel
def remember(bodies: Bodies, diagnostics: Diagnostics, worst: Diagnostics, lanes: int) -> None:
    """Add the diagnostics of the prediction that is taken over to the worst of the call."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        # Where corrections have diverged, the prediction that this is of has been set aside.
        if wp.isfinite(diagnostics.integration_error[i]):
            note_worst(diagnostics, worst, i)


@kernel
def take_over(bodies: Bodies, predicted: Motion, motion: Motion, stop: wp.array[wp.int32], lanes: int) -> None:
    """The prediction becomes the state, unless a body of it is not finite."""
    if stop[0] == 0:
        for i in range(wp.tid(), bodies.world.shape[0], lanes):
            move(predicted, motion, i)


@kernel
def move_clock(clock: Clock, proposed: wp.array[wp.float64], stop: wp.array[wp.int32]) -> None:
    """Advance time by one step."""
    w = wp.tid()
    if stop[0] == 0:
        clock.time[w] = clock.time[w] + clock.time_step[w]
        clock.steps[w] = clock.steps[w] + wp.int64(1)
        clock.substep[w] = proposed[w]


@dataclass(frozen=True)
class ImpulseStep:
    """The recipe of the impulse-based method.

    Attributes:
        integrator: How free bodies move.
        joints: How joints are held; None without joints.
        contacts: How contacts are found, a ``collision.stages.ContactStages``; None where they are not.
        impulses: How they are resolved, a bound scheme of ``solvers.contacts``; None where they are not.
        sleep: How bodies fall asleep and wake; None where they do not.
        energy: What keeps joints and contacts from adding energy, or tells that they do; None where nothing does.
        velocities: What forces see of the velocities of jointed bodies; None where that does not matter.
        servos: What keeps servos from doing more than the step can follow; None without servos.
    """

    integrator: Integrator
    joints: Preview | None = None
    contacts: Any = None
    impulses: Any = None
    sleep: Sleeping | None = None
    energy: EnergyLimit | EnergyWatch | None = None
    velocities: HeldVelocities | None = None
    servos: ServoBounds | None = None

    def record(self, context: StepContext) -> None:
        """Record one step."""
        program, contacts = context.program, self.contacts
        if self.joints is not None and self.impulses is not None:
            self.impulses.couple_joints(self.joints.answer)
        self._record_before(context)
        with program.stage("forces"):
            if self.energy is not None:
                self.energy.record_start()
            self._start(context)
            self._begin_forces(context)
        if contacts is not None and contacts.shortens:
            with program.stage("contact time"):
                contacts.record_search(program, context.stop, lambda: self._try(context))
        else:
            self._predict_and_hold(context)
        with program.stage("advance"):
            if contacts is not None:
                contacts.record_stops(program, context.stop)
            self._account()
            self._advance(context)
        if contacts is not None:
            with program.stage("contacts"):
                self._find(context)
        with program.stage("velocities"):
            self._record_velocities(context)

    def _record_before(self, context: StepContext) -> None:
        """Record the prologue, and the stage of sleep."""
        program, model = context.program, context.model
        due = arrays.allocate(Due, {"worlds": model.worlds, "flags": 1}, model.device)
        with program.prologue():
            if self.sleep is not None:
                self.sleep.record_opening()
            record_due(program, context.state.contacts, context.stop, due)
            with program.when(due.any_due):
                context.share_bodies(copy_motion, context.state.motion, context.predicted)
            if self.joints is not None:
                self.joints.record_prologue()
            if self.energy is not None:
                self.energy.record_written()
            if self.contacts is not None:
                self._record_prologue(context)
            if self.impulses is not None:
                # A step whose contacts had not fitted their buffer ends here.
                with program.when(due.any_advanced):
                    self.impulses.record_errors()
                    if self.joints is None and self.energy is not None:
                        self.energy.record_end()
            with program.when(due.any_due):
                self._record_check(context)
        if self.sleep is not None:
            with program.stage("sleep"):
                self.sleep.record_start(lambda: self._find(context), lambda: self._sort(context), self._fit)

    def _record_check(self, context: StepContext) -> None:
        """Stop where velocities that fit joints and contacts are not finite; the prediction has those before."""
        unfit, memory = wp.zeros(1, dtype=wp.int32, device=context.model.device), context.state.contacts
        context.share_bodies(find_unfit, context.state.motion, context.stop, unfit)
        with context.program.when(unfit):
            context.share_bodies(copy_velocities, context.predicted, context.state.motion)
            context.program.share(forget_loads, max(1, len(memory.load)), memory)
            context.program.launch(raise_unfit, 1, context.model.bodies, unfit, context.stop)

    def _record_velocities(self, context: StepContext) -> None:
        """Make velocities agree with joints and contacts at the end of the step."""
        if self.joints is not None:
            self.joints.record_velocities(None if self.impulses is None else self.impulses.record_velocities)
        elif self.impulses is not None:
            self.impulses.record_velocities()
        if self.impulses is not None:
            self.impulses.record_errors()
        if self.energy is not None:
            self.energy.record_end()
        if self.joints is not None or self.impulses is not None:
            self._record_check(context)

    def _record_prologue(self, context: StepContext) -> None:
        """Find the contacts of the state where they are not known, and make velocities fit them where they do not."""
        with context.program.when(self.contacts.stale):
            self._find(context)
            self.contacts.record_fresh(context.program, context.stop)
        if self.joints is None or self.impulses is None:
            self._fit()
            return
        with context.program.when(self.joints.status.afresh):
            self._fit()
        self.joints.record_rest(self.impulses.record_velocities)
        if self.energy is not None:
            with context.program.when(self.joints.status.arrived):
                self.energy.record_end()

    def _fit(self) -> None:
        """Make velocities fit the contacts, in worlds where they do not."""
        if self.impulses is not None:
            self.impulses.record_velocities(None if self.joints is None else self.joints.correct_velocities)

    def _find(self, context: StepContext) -> None:
        """Find contacts and prepare them."""

        def find() -> None:
            self.contacts.record_contacts(context.program, context.stop)

        if self.sleep is not None:
            self.sleep.record_contacts(find, lambda: self._sort(context))
        else:
            find()
            self._sort(context)

    def _sort(self, context: StepContext) -> None:
        """Prepare the contacts found."""
        if self.impulses is None:
            self.contacts.record_memory(context.program, context.stop)
        else:
            self.impulses.record_manifolds()

    def _start(self, context: StepContext) -> None:
        if self.joints is not None:
            self.joints.record_start()
            if self.impulses is not None:
                self.joints.answer.begin()
        elif self.impulses is not None:
            context.share_bodies(copy_motion, context.state.motion, context.start)
        if self.impulses is not None:
            self.impulses.record_start()

    def _begin_forces(self, context: StepContext) -> None:
        if self.servos is not None:
            self.servos.record()
        if self.velocities is None:
            self.integrator.record_forces(context)
        else:
            self.velocities.record_start()

    def _predict_and_hold(self, context: StepContext) -> None:
        with context.program.stage("predict"):
            self._predict_first(context)
        if self.joints is not None:
            with context.program.stage("joints"):
                self._hold(context, self.joints)
        if self.impulses is not None:
            with context.program.stage("contact impulses"):
                self._solve_contacts(context)
        elif self.energy is not None:
            self.energy.record_work()
        if self.joints is not None:
            with context.program.stage("joints" if self.impulses is None else "contact impulses"):
                self.joints.record_pull()

    def _hold(self, context: StepContext, joints: Preview) -> None:
        """Make the joints hold at the end of the step; forces that depend on velocity see the resulting velocities."""
        velocities = self.velocities
        if velocities is None:
            joints.record_positions(lambda: self._predict(context))
            return

        def predict() -> None:
            velocities.record_correction()
            self._predict(context)
            velocities.record_prediction()

        velocities.record_prediction()
        joints.record_positions(predict, answered=True)

    def _solve_contacts(self, context: StepContext) -> None:
        """Keep contacts apart, and joints together with them."""
        joints = self.joints
        hold = None if joints is None else partial(joints.record_positions, lambda: self._predict(context), hit=True)
        self.impulses.record_positions(lambda: self._predict(context), hold)
        if self.energy is not None:
            self.energy.record_work()
        with self.contacts.before_detection(context.program):
            self.impulses.record_projection(self.contacts.every)

    def _account(self) -> None:
        """Account for where the joints are, once bodies have gone their way."""
        if self.energy is not None:
            self.energy.record_hold()
        if self.joints is None:
            return
        if self.contacts is not None:
            self.joints.record_moved()
        elif self.energy is not None:
            with self.energy.when_held():
                self.joints.record_moved()
        self.joints.record_account()

    def _try(self, context: StepContext) -> None:
        """A step of another length, from the same start; worlds that are done do the same once more."""
        if self.joints is not None:
            self.joints.record_again()
        if hasattr(self.integrator, "record_anew"):
            self.integrator.record_anew(context)
        self._start(context)
        if self.velocities is not None:
            self.velocities.record_start()
        self._predict_first(context)
        if self.joints is not None:
            self._hold(context, self.joints)
        if self.impulses is not None:
            self._solve_contacts(context)
        elif self.energy is not None:
            self.energy.record_work()
        if self.joints is not None:
            self.joints.record_pull()

    def _predict_first(self, context: StepContext) -> None:
        """Predict the step from where it begins."""
        self._predict(context)
        if self.energy is not None:
            self.energy.record_loads()

    def _predict(self, context: StepContext) -> None:
        context.share_bodies(forget, context.diagnostics)
        self.integrator.record_prediction(context)
        if self.sleep is not None:
            self.sleep.record_stay()

    def record_idle_clock(self, context: StepContext) -> None:
        """Record that time advances by one step without a prediction, so that nothing new is proposed for sub-steps."""
        context.for_worlds(move_clock, context.state.clock, context.state.clock.substep, context.stop)

    def _advance(self, context: StepContext) -> None:
        if self.velocities is not None:
            self.velocities.record_end()
        if self.sleep is not None:
            self.sleep.record_stay()
        context.share_bodies(remember, context.diagnostics, context.worst)
        context.share_bodies(find_fault, context.predicted, context.stop)
        if hasattr(self.integrator, "record_gains"):
            self.integrator.record_gains(context)
        context.share_bodies(take_over, context.predicted, context.state.motion, context.stop)
        context.for_worlds(move_clock, context.state.clock, context.proposed, context.stop)
        if self.contacts is not None:
            self.contacts.record_end(context.program)
        if self.impulses is not None:
            self.impulses.record_taken()
