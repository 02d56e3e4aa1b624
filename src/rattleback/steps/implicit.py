"""One implicit time step, as a table of contents.

    motion        velocities of all bodies and forces of hard rows by Newton's method, with all soft rows in its matrix
    advance       check that all is finite, take the prediction over, move the clock
    contacts      where the bodies touch now; nothing is done about it
    velocities    impulses at the end that make the velocities agree with the rows that hold

The integrator has no say: bodies without joints move by the same rule.
"""

from dataclasses import dataclass
from typing import Any

from rattleback.core import arrays
from rattleback.forces.servo_bounds import ServoBounds
from rattleback.model.contact_memory import Due, record_due
from rattleback.model.step_context import StepContext
from rattleback.problem.preview import Preview
from rattleback.problem.soft.newton import ImplicitMotion
from rattleback.steps.impulse import find_fault, forget, move_clock, remember, take_over


@dataclass(frozen=True)
class ImplicitStep:
    """The recipe of the implicit step.

    Attributes:
        motion: How all bodies move.
        joints: The rows that hold, with what fits velocities to them.
        contacts: How contacts are found; None where they are not.
        servos: What keeps servos from doing more than the step can follow; None without servos.
    """

    motion: ImplicitMotion
    joints: Preview
    contacts: Any = None
    servos: ServoBounds | None = None

    def record(self, context: StepContext) -> None:
        """Record one step."""
        program = context.program
        self._record_prologue(context)
        with program.stage("forces"):
            self.joints.record_start()
            if self.servos is not None:
                self.servos.record()
        with program.stage("predict"):
            context.share_bodies(forget, context.diagnostics)
            self.motion.record()
            self.motion.record_reactions(self.joints.reactions)
            self.joints.record_moved()
            self.joints.record_account()
        with program.stage("advance"):
            self._advance(context)
        if self.contacts is not None:
            with program.stage("contacts"):
                self._find(context)
        with program.stage("velocities"):
            self.joints.record_velocities()

    def _record_prologue(self, context: StepContext) -> None:
        """Make velocities that were written agree with the rows that hold; find the contacts of the state."""
        program, model = context.program, context.model
        due = arrays.allocate(Due, {"worlds": model.worlds, "flags": 1}, model.device)
        with program.prologue():
            record_due(program, context.state.contacts, context.stop, due)
            self.joints.record_prologue()
            if self.contacts is not None:
                with program.when(self.contacts.stale):
                    self._find(context)
                    self.contacts.record_fresh(program, context.stop)

    def _find(self, context: StepContext) -> None:
        self.contacts.record_contacts(context.program, context.stop)
        self.contacts.record_memory(context.program, context.stop)

    def _advance(self, context: StepContext) -> None:
        if self.contacts is not None:
            self.contacts.record_stops(context.program, context.stop)
        context.share_bodies(remember, context.diagnostics, context.worst)
        context.share_bodies(find_fault, context.predicted, context.stop)
        context.share_bodies(take_over, context.predicted, context.state.motion, context.stop)
        context.for_worlds(move_clock, context.state.clock, context.proposed, context.stop)
        if self.contacts is not None:
            self.contacts.record_end(context.program)
