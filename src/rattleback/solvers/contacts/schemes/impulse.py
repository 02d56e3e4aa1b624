"""The impulse scheme: contacts are solved at either end of a step, warm-started, as joints that only push.

    at the end of a step      impacts; resting points:   J v  stopped or separating
    at the start of the next  (D + h J M⁻¹ Jᵀ p) / h  stopped or separating,   D the predicted displacement

Half of the load of a point acts at either end, so that a body at rest neither sinks nor keeps a speed. Solutions start
with the loads of the last step and end when every contact is within its tolerance, or with the sweeps of the solver,
which the report tells.

Cost: two solutions a step. At rest one or two sweeps are enough; a tall stack that has to find its load takes tens.

Reference: Bender, dissertation, chapter 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rattleback.core.sealed import sealed
from rattleback.solvers.contacts.schemes import targets
from rattleback.solvers.contacts.schemes.contact_steps import ContactSteps
from rattleback.solvers.contacts.schemes.settings import DEFAULT, check_scheme, limits_of

if TYPE_CHECKING:
    from rattleback.model.contacts import Contacts
    from rattleback.model.step_context import StepContext
    from rattleback.solvers.contacts.coupling.alternation import WorldStage
    from rattleback.solvers.contacts.coupling.ties import JointedWorlds
    from rattleback.solvers.contacts.schemes.settings import Tolerances


@sealed
@dataclass(frozen=True)
class Impulse:
    """Contacts by impulses at either end of a step.

    Attributes:
        solver: What solves its problems, by name or as an object, such as ``rb.contacts.BlockGaussSeidel(sweeps=20)``.
        sweeps_between: Most sweeps, with joints that answer to each, after which the step is predicted again.
        exchanges: Most times that contacts and joints take turns at either end of a step.
        law: Law of friction: ``"coulomb"``, its convex relaxation ``"cone"``, ``"pyramid"`` or ``"frictionless"``; see
            ``kernels.laws``.
        restitution: Law of impacts: ``"newton"``, ``"poisson"`` or ``"stronge"``.
        impact: ``"sequential"``, the impacts of a moment and then those they cause, or ``"simultaneous"``, all points
            that touch at once.
        load_propagation: Whether supported bodies send their momentum to their supports in one pass before sweeps.
        energy_limiter: Whether impulses of unfinished sweeps are scaled so that they add no energy.
    """

    solver: Any = field(default_factory=DEFAULT)
    sweeps_between: int = 50
    exchanges: int = 3
    restitution: str = "newton"
    impact: str = "sequential"
    load_propagation: bool = True
    energy_limiter: bool = True
    law: str = "coulomb"

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_scheme(self)

    def bind(self, context: StepContext, contacts: Contacts, tolerances: Tolerances, distance: float) -> ContactSteps:
        """The scheme on a model.

        Args:
            context: What the step works on.
            contacts: Where contacts are found.
            tolerances: Depth [m] and speed [m/s] above which a contact is reported, and those that are aimed at.
            distance: Contact distance [m].
        """
        return ContactSteps(self, BothEnds, (context, contacts, limits_of(context, tolerances, distance, self.law)))


class BothEnds:
    """The impulse scheme at either end of a step.

    Attributes:
        loads_end: Whether points push with half of their load at the end of the step.
        limits_energy: Whether the energy limiter looks after solutions.
        solved: How the sweeps went that the report tells of.

    Args:
        steps: The contact problems of the step.
    """

    loads_end, limits_energy = True, True

    def __init__(self, steps: ContactSteps) -> None:
        self.steps, self.solved = steps, steps.problem.status

    def record_start_found(self, jointed_worlds: JointedWorlds | None) -> None:
        """Record what follows the impulses at the start."""
        del jointed_worlds
        self.keep_start(self.steps.problem.everywhere)

    def keep_start(self, which: Any) -> None:
        """Record that twice the impulse at the start is the load of a point."""
        problem = self.steps.problem
        clock = self.steps.context.state.clock
        problem.for_manifolds(targets.record_start_loads, problem.graph, problem.system, clock, which)

    def record_end(self, correct: WorldStage | None, selected: JointedWorlds | None) -> None:
        """Record impacts and the velocity correction, in worlds that are due."""
        steps = self.steps
        self._begin_end(correct, steps.due.which)
        steps.worlds.where_free(selected, partial(steps.solve, steps.context.state.motion), steps.due.which)
        if correct is not None:
            steps.worlds.where_jointed(selected, partial(self._alternate, correct))

    def end_jointed(self, correct: WorldStage, which: Any) -> None:
        """Record the same where joints hold bodies that touch, for schemes that do otherwise elsewhere."""
        self._begin_end(correct, which)
        self._alternate(correct, which)

    def _alternate(self, correct: WorldStage, which: Any) -> None:
        self.steps.alternate((self._sweep_end, correct), which)

    def _sweep_end(self, which: Any) -> None:
        steps = self.steps
        steps.solve(steps.context.state.motion, which, steps.turn, steps.response)

    def _begin_end(self, correct: WorldStage | None, which: Any) -> None:
        steps, motion = self.steps, self.steps.context.state.motion
        steps.impacts.record(steps.taken, correct, which)
        if steps.energy_limiter is not None and steps.ends.limits_energy:
            steps.energy_limiter.limit_energy_end(steps.impacts.unloaded, motion)
        if steps.load_propagation is not None:
            steps.load_propagation.remove_velocity(motion, which)

    def record_memory(self, selected: JointedWorlds | None) -> None:
        """Record what the points of worlds that are due store."""
        del selected
        self.keep_points(self.steps.due.which)

    def keep_points(self, which: Any) -> None:
        """Record what the points of some worlds store."""
        steps, problem = self.steps, self.steps.problem
        given = (steps.inputs, problem.graph, problem.system, problem.status, steps.taken, which)
        problem.for_manifolds(targets.store_points, *given)
        steps.account.record_end(which)
