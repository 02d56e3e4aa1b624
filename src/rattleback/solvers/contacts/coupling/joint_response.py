"""What joints answer to sweeps over the contacts: M⁻¹ of a contact problem goes through the mechanism.

    after every sweep:   v ← v + M⁻¹ J_jᵀ λ,   λ such that the rows of the joints keep their rates

A point sees only the two bodies it touches. A foot that carries a body stops at once, and the body pushes it on: with
the answers in it, a sweep is a step in the contacts alone, with effective masses as the joints make them, and
conjugate directions are those of that problem.

Cost: for each sweep a substitution in the factor of the joints beside the sweep itself.
"""

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.coupling.alternation import WorldStage
from rattleback.solvers.contacts.coupling.softness import Softness
from rattleback.solvers.contacts.problem.manifolds import ContactSystem
from rattleback.solvers.contacts.problem.status import SolverStatus

if TYPE_CHECKING:
    from rattleback.problem.joint_answer import JointAnswer
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem


@kernel
def mark_answered(bodies: Bodies, system: ContactSystem, status: SolverStatus, held: wp.array[wp.int32]) -> None:
    """Joints have pushed a body that has some: its manifolds are not quiet."""
    i = held[wp.tid()]
    if bodies.inverse_mass[i] > real(0.0) and status.busy[bodies.world[i]] == 1:
        system.inertias.last_push[i] = status.sweep[0]


class JointResponse:
    """Records what joints answer to changes of velocities, or of displacements in place of velocities.

    Attributes:
        accelerates: Whether a solver may take steps along conjugate directions with it.
        hit: 1 for every world in which stops of joints are hit in this step.
        softness: What contacts know of the stiffness of loaded joints.

    Args:
        problem: The contact problem.
        joints: What its joints answer.
        softness: See above.
        displaces: Whether velocities stand for displacements, which no joint remembers.
    """

    accelerates = True

    def __init__(
        self, problem: "ContactProblem", joints: "JointAnswer", softness: Softness, displaces: bool = False
    ) -> None:
        self.problem, self.joints, self.softness, self.displaces = problem, joints, softness, displaces
        self.hit = joints.preview.stops.status.held

    @property
    def answers(self) -> Any:
        """How bodies that touch answer to each other through trees; None where joints have rows beside stops, too."""
        return self.joints.trees

    @property
    def stops(self) -> Any:
        """The limits of the joints, a ``joint_stops.JointStops``."""
        return self.joints.preview.stops

    @property
    def has_stops(self) -> bool:
        """Whether any of the joints has limits."""
        return bool(self.joints.preview.stops.count)

    def of_displacements(self) -> "JointResponse":
        """The same for displacements."""
        return JointResponse(self.problem, self.joints, self.softness, displaces=True)

    def begin_step(self) -> None:
        """Record that a step begins: contacts have pushed nothing yet."""
        self.softness.harden()
        self.softness.begin_pushes(self.problem.everywhere)

    def hold(self, hold: WorldStage, which: Any) -> None:
        """Record what holds joints at the start of the step, which are told what contacts have done there.

        Args:
            hold: Records it, in the worlds that it is given.
            which: 1 for every world in which that is done.
        """
        self.softness.note_pushes(which)
        hold(which)

    def note(self, motion: Motion, which: Any) -> None:
        """Record that sweeps over a motion begin: the rates that rows of joints keep, and how stiff they are."""
        with self.problem.program.when(self.joints.preview.status.any_stiff):
            self.joints.prepare_stiff(which)
            self.softness.harden()
            self.softness.soften()
        self.joints.note(motion, which, self.displaces)

    def push(self, motion: Motion, which: Any) -> None:
        """Record the loads of all points on velocities that fit; drives of trees have to answer at once.

        Without drives the first sweep will do: what fits does not depend on how it came about.
        """
        driven = self.joints.is_driven
        if driven:
            self.joints.note(motion, which)
            self.joints.keep_drives()
        self.problem.record_push(motion, which)
        if driven:
            self.joints.respond(motion, which)

    def take_back(self) -> None:
        """Record that velocities are again as they were before the last loads, and with them what drives did."""
        self.joints.restore_drives()

    def answer(self, motion: Motion, which: Any) -> None:
        """Record the answer to a sweep, in the worlds where ``which`` is 1.

        Args:
            motion: Whose velocities the sweep has changed.
            which: 1 for every world that answers.
        """
        if self.displaces:
            self.joints.respond_displacements(motion, which)
        else:
            self.joints.respond(motion, which)
        problem, held = self.problem, self.joints.held
        problem.program.launch(mark_answered, len(held), problem.bodies, problem.system, problem.status, held)

    def answer_trees(self, motion: Motion, which: Any) -> None:
        """Record the answer of trees alone, in the worlds where ``which`` is 1; no stop is hit there."""
        if self.displaces:
            self.joints.displace_trees(motion, which)
        else:
            self.joints.respond_trees(motion, which)

    def begin_steps(self, motion: Motion, which: Any) -> None:
        """Record that conjugate directions begin."""
        self.joints.begin_steps(motion, which)

    def note_sweep(self, motion: Motion) -> None:
        """Record that a sweep and the answer to it are done, before a step along conjugate directions is tried."""
        self.joints.note_rates(motion, swept=1)

    def try_step(self, motion: Motion, which: Any, parts: tuple[Any, Any, Any], gain: Any) -> None:
        """Record what such a step means for the joints, and for its gain; see ``JointAnswer.try_step``."""
        self.joints.try_step(parts)
        self.answer(motion, which)
        self.joints.add_gain(motion, gain)

    def settle_step(self, motion: Motion, verdict: tuple[Any, Any]) -> None:
        """Record whether it is kept; see ``JointAnswer.settle_step``."""
        self.joints.settle_step(motion, verdict)
