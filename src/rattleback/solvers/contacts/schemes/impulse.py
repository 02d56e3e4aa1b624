"""The impulse scheme: contacts are solved at either end of a step, warm-started, as joints that only push.

    at the end of a step      impacts rebound; resting points are stopped:   J v  stopped or separating
    at the start of the next  impulses with   (D + h J M⁻¹ Jᵀ p) / h  stopped or separating,   D the predicted way

Half of the load of a point acts at either end, so that a body at rest neither sinks nor keeps a speed. Solutions start
with the forces of the last step and end when every contact is within its tolerances, or when the sweeps of the solver
are used up, and the report says so.

Cost: two solutions a step. At rest one or two sweeps do; a tall stack that has to find its load takes tens, once.

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
    from rattleback.model.bench import Bench
    from rattleback.model.contacts import Contacts
    from rattleback.solvers.contacts.coupling.alternation import Turn
    from rattleback.solvers.contacts.coupling.ties import Ties


@sealed
@dataclass(frozen=True)
class Impulse:
    """Contacts by impulses at either end of a step.

    Attributes:
        solver: What solves its problems, by name or as an object, such as ``rb.contacts.BlockGaussSeidel(sweeps=20)``.
        sweeps_between: Most sweeps, with joints that answer to each, after which the step is predicted again.
        exchanges: Most times that contacts and joints take turns at either end of a step.
        restitution: Law of impacts: ``"newton"``, ``"poisson"`` or ``"stronge"``.
        impact: What is resolved together: ``"sequential"``, the impacts of a moment and then those they cause, or
            ``"simultaneous"``, all that touch at once.
        load_propagation: Whether bodies that stand send their momentum to their supports in one pass before sweeps.
        energy_limiter: Whether impulses of unfinished sweeps are scaled so that they add no energy.
    """

    solver: Any = field(default_factory=DEFAULT)
    sweeps_between: int = 50
    exchanges: int = 3
    restitution: str = "newton"
    impact: str = "sequential"
    load_propagation: bool = True
    energy_limiter: bool = True

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_scheme(self)

    def bind(
        self, bench: Bench, contacts: Contacts, tolerances: tuple[float, float, float], distance: float
    ) -> ContactSteps:
        """The scheme on a model.

        Args:
            bench: What the step works on.
            contacts: Where contacts are found.
            tolerances: Depth [m] and speed [m/s] that contacts may be off, and the speed that sweeps go on to [m/s].
            distance: Contact distance [m].
        """
        return ContactSteps(self, BothEnds, (bench, contacts, limits_of(bench, tolerances, distance)))


class BothEnds:
    """What the impulse scheme does at either end of a step.

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

    def record_start_found(self, ties: Ties | None) -> None:
        """Record what follows when the impulses at the start are found."""
        del ties
        self.keep_start(self.steps.problem.everywhere)

    def keep_start(self, which: Any) -> None:
        """Record that twice the impulse at the start is the load of a point."""
        problem = self.steps.problem
        clock = self.steps.bench.state.clock
        problem.for_manifolds(targets.end_start, problem.graph, problem.pressing, clock, which)

    def record_end(self, correct: Turn | None, some: Ties | None) -> None:
        """Record impacts and the velocity correction, in worlds that are due."""
        steps = self.steps
        self._begin_end(correct, steps.due.which)
        steps.worlds.where_loose(some, partial(steps.solve, steps.bench.state.motion), steps.due.which)
        if correct is not None:
            steps.worlds.where_tied(some, partial(self._alternate, correct))

    def end_tied(self, correct: Turn, which: Any) -> None:
        """Record the same in worlds where joints hold what touches, for schemes that do otherwise elsewhere."""
        self._begin_end(correct, which)
        self._alternate(correct, which)

    def _alternate(self, correct: Turn, which: Any) -> None:
        self.steps.alternate((self._stop, correct), which)

    def _stop(self, which: Any) -> None:
        steps = self.steps
        steps.solve(steps.bench.state.motion, which, steps.turn, steps.response)

    def _begin_end(self, correct: Turn | None, which: Any) -> None:
        steps, motion = self.steps, self.steps.bench.state.motion
        steps.impacts.record(steps.taken, correct, which)
        if steps.easer is not None and steps.ends.limits_energy:
            steps.easer.ease_end(steps.impacts.unloaded, motion)
        if steps.standing is not None:
            steps.standing.stop(motion, which)

    def record_memory(self, some: Ties | None) -> None:
        """Record what the points of worlds that are due remember."""
        del some
        self.keep_points(self.steps.due.which)

    def keep_points(self, which: Any) -> None:
        """Record what the points of some worlds remember."""
        steps, problem = self.steps, self.steps.problem
        lengths = (steps.bench.state.clock, steps.taken)
        given = (steps.ground, problem.graph, problem.pressing, problem.status, *lengths, which)
        problem.for_manifolds(targets.keep_points, *given)
        steps.account.record_end(which)
