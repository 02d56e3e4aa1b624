"""Shock propagation: after some sweeps one pass through the contact graph, from the ground up.

    for every level from the ground up: sweeps over the manifolds between it and the next, in which the bodies of the
    level, and those below, have infinite mass

A stack that needs many sweeps, since its loads have to travel through all of it, is stopped in one pass. The impulses
do not act on the levels below, so momentum is not conserved, and a load does not tip or push the bodies that carry it:
accuracy depends on the sweeps before. Only worlds that those leave outside their tolerance are solved so.

Cost: ``LEVEL_SWEEPS`` sweeps. Use it for walls and heaps that have to look right at once, not where forces are read.

Reference: Bender, dissertation, §5.2.4 and §5.3.2; Guendelman, Bridson, Fedkiw (2003), §7.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rattleback.core import checks
from rattleback.core.errors import InputError, listing
from rattleback.core.sealed import sealed
from rattleback.solvers.contacts.kernels.laws import USUAL_LAWS
from rattleback.solvers.contacts.schemes.impulse import Impulse
from rattleback.solvers.contacts.stages.shock import propagate_shock

if TYPE_CHECKING:
    from rattleback.model.contacts import Contacts
    from rattleback.model.state import Motion
    from rattleback.model.step_context import StepContext
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
    from rattleback.solvers.contacts.problem.goal import Goal
    from rattleback.solvers.contacts.schemes.contact_steps import ContactSteps
    from rattleback.solvers.contacts.schemes.settings import Tolerances


@sealed
@dataclass(frozen=True)
class ShockPropagation:
    """A scheme whose solutions end with a pass in which lower levels have infinite mass.

    Attributes:
        inner: The scheme; the sweeps of its solver are those of ``after``.
        after: Sweeps before the pass, of every solution.
    """

    inner: Any = field(default_factory=Impulse)
    after: int = 10

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not hasattr(self.inner, "solver"):
            raise InputError(
                f"The inner of ShockPropagation is {self.inner!r}; it must be a scheme that has a solver, as Impulse()."
            )
        checks.count(self.after, "after of ShockPropagation")
        if (law := getattr(self.inner, "law", "coulomb")) not in WithShocks.laws:
            raise InputError(
                f"The pass of ShockPropagation knows Coulomb's law; its inner has law={law!r}. It takes "
                f"{listing(list(WithShocks.laws))}."
            )

    def bind(self, context: StepContext, contacts: Contacts, tolerances: Tolerances, distance: float) -> ContactSteps:
        """The scheme on a model; see ``Impulse.bind``."""
        solver = WithShocks(replace(self.inner.solver, sweeps=self.after))
        return replace(self.inner, solver=solver).bind(context, contacts, tolerances, distance)


@dataclass(frozen=True)
class WithShocks:
    """A solver whose solutions end with a pass through the contact graph.

    Attributes:
        inner: The solver before it.
    """

    inner: Any

    in_order: ClassVar[bool] = True
    withholds: ClassVar[bool] = True
    laws: ClassVar[tuple[str, ...]] = USUAL_LAWS

    @property
    def sweeps(self) -> int:
        """Most sweeps before the pass."""
        return int(self.inner.sweeps)

    def bind(self, problem: ContactProblem) -> BoundShocks:
        """The solver of a problem."""
        return BoundShocks(self.inner.bind(problem), problem)


class BoundShocks:
    """Records solutions and the pass after them; see ``core.protocols.BoundContactSolver``."""

    def __init__(self, inner: Any, problem: ContactProblem) -> None:
        self.inner, self.problem = inner, problem

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        problem = self.problem
        self.inner.record(motion, goal, which, response)
        given = (problem.bodies, problem.system, problem.graph, motion, problem.status, which, goal.tolerance)
        problem.program.launch(propagate_shock, 1, *given)
