"""One implicit time step, as a table of contents.

    motion        velocities of all bodies and forces of hard rows by Newton's method, with all soft rows in its matrix
    advance       check that all is finite, take the prediction over, move the clock
    contacts      where the bodies touch now; nothing is done about it
    velocities    impulses at the end that make the velocities agree with the rows that hold

The integrator has no say: bodies without joints move by the same rule.
"""

from dataclasses import dataclass
from typing import Any

from rattleback.forces.servo_bounds import ServoBounds
from rattleback.model.step_context import StepContext
from rattleback.problem.preview import Preview
from rattleback.problem.soft.newton import ImplicitMotion
from rattleback.steps.impulse import forget
from rattleback.steps.unresolved import record_advance, record_prologue


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
        record_prologue(context, self.joints, self.contacts)
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
        record_advance(context, self.contacts)
        with program.stage("velocities"):
            self.joints.record_velocities()
