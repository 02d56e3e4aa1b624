"""One time step with joints held by forces, as a table of contents.

    forces        the loads, where the integrator evaluates them, and with them the forces of the joints
    predict       where every body is at the end of the step
    joints        what stabilises: bodies projected on their joints, or impulses at the start, predicting again
    advance       check that all is finite, take the prediction over, move the clock
    contacts      where the bodies touch now; nothing is done about it
    velocities    velocities projected, or corrected by impulses; errors and reactions for the report

The integrator integrates M V̇ = F + Jᵀ λ as if the forces of the joints were any other force that depends on poses and
velocities, so that the order is the integrator's, and each of its stages solves for λ once.

Reference: Bender, dissertation, §2.1.1, §2.1.3 and §3.5.
"""

from dataclasses import dataclass
from typing import Any

from rattleback.core.protocols import Integrator
from rattleback.forces.servo_bounds import ServoBounds
from rattleback.model.step_context import StepContext, copy_motion
from rattleback.problem.by_forces.account import JointAccount
from rattleback.problem.by_forces.joint_forces import JointForces
from rattleback.problem.by_forces.projection import JointProjection
from rattleback.problem.preview import Preview
from rattleback.steps.impulse import forget
from rattleback.steps.unresolved import record_advance, record_prologue


@dataclass(frozen=True)
class AccelerationStep:
    """The recipe of methods that hold joints by forces.

    Attributes:
        integrator: How bodies move under all forces.
        forces: The forces of the joints.
        joints: The joints, with the impulse method that fits velocities which were written, and that stabilises.
        contacts: How contacts are found; None where they are not.
        servos: What keeps servos from doing more than the step can follow; None without servos.
    """

    integrator: Integrator
    forces: JointForces
    joints: Preview
    contacts: Any = None
    servos: ServoBounds | None = None

    def record(self, context: StepContext) -> None:
        """Record one step."""
        program, account = context.program, JointAccount(self.joints, self.forces)
        projection = JointProjection(self.joints) if self._stabilisation == "projection" else None
        record_prologue(context, self.joints, self.contacts)
        with program.stage("forces"):
            context.share_bodies(copy_motion, context.state.motion, context.start)
            account.record_start()
            if self.servos is not None:
                self.servos.record()
            self.forces.record_start()
            self.integrator.record_forces(context)
        with program.stage("predict"):
            self._predict(context)
        with program.stage("joints"):
            self._record_positions(context, projection)
        record_advance(context, self.contacts)
        with program.stage("velocities"):
            self._record_velocities(account, projection)

    @property
    def _stabilisation(self) -> str:
        stabilisation: str = self.forces.method.stabilisation
        return stabilisation

    def _record_positions(self, context: StepContext, projection: JointProjection | None) -> None:
        """What stabilises the positions."""
        if projection is not None:
            projection.record_positions()
        elif self._stabilisation == "impulses":
            self.joints.record_start()
            self.joints.record_positions(lambda: self._predict(context))
            self.joints.record_pull()
            self.joints.record_account()

    def _record_velocities(self, account: JointAccount, projection: JointProjection | None) -> None:
        """What becomes of the velocities, and what the report says of the joints."""
        if self._stabilisation == "impulses":
            self.joints.record_velocities()
            self.forces.record_reactions(self.joints.reactions)
            return
        account.record_rows()
        if projection is not None:
            projection.record_velocities()
        elif self.servos is not None:
            self.joints.solver.record_preparation(self.joints.context.program, self.joints.everywhere)
        account.record_end()

    def _predict(self, context: StepContext) -> None:
        context.share_bodies(forget, context.diagnostics)
        self.integrator.record_prediction(context)
