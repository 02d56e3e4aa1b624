"""Shows the contact problem that a step poses first, before any solver has touched it.

    at the start of the step, for a world:   W, q, μ and the bodies of its points, see ``problem.assembled``

A solver is wrapped: before it solves the first problem of the start of a step, the problem is read to the host. The
step is interrupted for that; all else is as it would be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rattleback.solvers.contacts.problem.assembled import assemble
from rattleback.solvers.contacts.schemes.settings import laws_of

if TYPE_CHECKING:
    from rattleback.model.state import Motion
    from rattleback.solvers.contacts.problem.assembled import AssembledContacts
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
    from rattleback.solvers.contacts.problem.goal import Goal


class Sight:
    """What was seen of the first problem.

    Attributes:
        found: The problem of the world; None where it poses none.

    Args:
        world: Which world.
    """

    def __init__(self, world: int) -> None:
        self.world = world
        self.found: AssembledContacts | None = None

    def see(self, problem: ContactProblem, motion: Motion, response: Any, which: Any) -> None:
        """See a problem, if it is the first of the world."""
        if self.found is None and which.numpy()[self.world] == 1:
            self.found = assemble(problem, motion, response, self.world)


@dataclass(frozen=True)
class Watched:
    """A solver whose first problem is seen.

    Attributes:
        inner: The solver.
        sight: Where the problem goes.
    """

    inner: Any
    sight: Sight

    @property
    def sweeps(self) -> int:
        """Most sweeps of the solver."""
        return int(self.inner.sweeps)

    @property
    def in_order(self) -> bool:
        """Whether the solver needs the contact graph."""
        return bool(getattr(self.inner, "in_order", False))

    @property
    def laws(self) -> tuple[str, ...]:
        """Laws of friction of the solver."""
        return laws_of(self.inner)

    def bind(self, problem: ContactProblem) -> BoundWatched:
        """The solver of a problem."""
        return BoundWatched(self.inner.bind(problem), problem, self.sight)


class BoundWatched:
    """Records the look and the solution; see ``core.protocols.BoundContactSolver``."""

    def __init__(self, inner: Any, problem: ContactProblem, sight: Sight) -> None:
        self.inner, self.problem, self.sight = inner, problem, sight

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        if goal.posed == "start":
            self.problem.program.call(partial(self.sight.see, self.problem, motion, response, which))
        self.inner.record(motion, goal, which, response)


def watched(scheme: Any, sight: Sight) -> Any:
    """A scheme, or the one inside it, whose first problem is seen."""
    if hasattr(scheme, "solver"):
        return replace(scheme, solver=Watched(scheme.solver, sight))
    return replace(scheme, inner=watched(scheme.inner, sight))
