"""Block Gauss–Seidel: manifolds one after the other, each as one block where it can be, with conjugate acceleration.

    for every manifold in order:    (f, m) ← (f, m) − K⁻¹ (u, ω)        if every point then pushes and sticks
                                    point by point, see kernels.block    otherwise

(f, m) wrench of the manifold at its middle, (u, ω) the twist of A against B there with its bias, K its effective mass.
After ``PLAIN_SWEEPS`` sweeps the solver continues in pairs, forward and backward, along conjugate directions (see
``solvers.conjugate``): a tower then takes about as many sweeps as it is high, not the square of that. Where joints
answer or hardly anything moves they begin after ``EARLY_SWEEPS``.

Cost: on a CPU 0.05 to 0.15 µs a manifold and sweep; acceleration adds half of two sweeps to each pair. Sweeps skip
manifolds whose bodies nothing has pushed. Acceleration is done on one thread, so not on a GPU, and only under the laws
``coulomb`` and ``frictionless``.

When to use it: by default. Reference: Bender, dissertation, §5.2.1; Silcowitz-Hansen, Niebe, Erleben (2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from rattleback.core import arrays, checks
from rattleback.core.sealed import sealed
from rattleback.solvers.contacts.kernels.by_law import block_correction, block_twist
from rattleback.solvers.contacts.kernels.laws import LAWS, USUAL_LAWS
from rattleback.solvers.contacts.problem.status import (
    begin_sweep,
    check_convergence,
    check_plain_convergence,
    resume_unconverged,
)
from rattleback.solvers.contacts.solvers.conjugate import (
    ConjugateDirections,
    accelerate,
    accept_conjugate_step,
    begin_acceleration,
    try_conjugate_step,
)
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import begin, iterate
from rattleback.solvers.contacts.solvers.through_trees import ThroughTrees

if TYPE_CHECKING:
    from rattleback.model.state import Motion
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
    from rattleback.solvers.contacts.problem.goal import Goal

# Plain sweeps before acceleration pays, and where joints answer or hardly anything moves.
PLAIN_SWEEPS, EARLY_SWEEPS = 10, 3
ACCELERATIONS = ("conjugate", "none")


@sealed
@dataclass(frozen=True)
class BlockGaussSeidel:
    """Manifolds one after the other.

    Attributes:
        sweeps: Most sweeps of one problem.
        acceleration: ``"conjugate"`` directions, or ``"none"``.
    """

    sweeps: int = 50
    acceleration: str = "conjugate"

    laws: ClassVar[tuple[str, ...]] = LAWS

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.count(self.sweeps, "sweeps of BlockGaussSeidel")
        checks.one_of(self.acceleration, ACCELERATIONS, "acceleration of BlockGaussSeidel")

    def bind(self, problem: ContactProblem) -> BoundBlockGaussSeidel:
        """The solver of a problem."""
        return BoundBlockGaussSeidel(self, problem)


class BoundBlockGaussSeidel:
    """Records the sweeps; see ``core.protocols.BoundContactSolver``."""

    def __init__(self, method: BlockGaussSeidel, problem: ContactProblem) -> None:
        kernels = (drivers(block_correction(law)) for law in (problem.law, "coulomb"))
        self.problem, self.sweeps = problem, Sweeps(problem, *kernels)
        self.accelerates = method.acceleration != "none" and problem.colour_driver is None
        self.accelerates = self.accelerates and problem.law in USUAL_LAWS
        counts = {"contacts": problem.room, "bodies": len(problem.bodies.world), "worlds": problem.worlds, "flags": 1}
        self.directions = arrays.allocate(ConjugateDirections, counts, problem.bodies.world.device)
        self.swept = (problem.bodies, problem.active, problem.system)

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        if getattr(response, "answers", None) is None or self.problem.colour_driver is not None:
            self._record(motion, goal, which, response)
            return
        response.note(motion, which)
        self.through.record(motion, goal, which, response)
        with self.problem.program.when(self.through.any_other):
            self._record(motion, goal, self.through.others, response)

    @cached_property
    def through(self) -> ThroughTrees:
        """Sweeps that answer through trees themselves."""
        return ThroughTrees(self.problem, *(block_twist(law) for law in (self.problem.law, "coulomb")))

    def _record(self, motion: Motion, goal: Goal, which: Any, response: Any) -> None:
        """Record sweeps to which joints answer one by one."""
        problem, status = self.problem, self.problem.status
        plain, early = min(goal.sweeps, PLAIN_SWEEPS), min(goal.sweeps, EARLY_SWEEPS)
        accelerates = self.accelerates and early < goal.sweeps - 1 and getattr(response, "accelerates", True)
        if not accelerates:
            iterate(problem, lambda: self.sweeps.record(motion, goal), motion, goal, which, response)
            return
        if response is not None:
            response.note(motion, which)
        begin(problem, goal, which)
        with problem.program.loop(status.any_busy, may_stop=True):
            self._sweep(motion, goal, response)
            problem.program.launch(check_plain_convergence, problem.worlds, status, goal.tolerance, plain, early)
        problem.program.launch(resume_unconverged, problem.worlds, status, which, goal.tolerance, goal.sweeps)
        with problem.program.when(status.any_busy):
            self._accelerate(motion, goal, response)

    def _sweep(self, motion: Motion, goal: Goal, response: Any) -> None:
        """One sweep, and the answer to it."""
        self.problem.program.launch(begin_sweep, self.problem.worlds, self.problem.status)
        self.sweeps.record(motion, goal)
        if response is not None:
            response.answer(motion, self.problem.status.busy)

    def _accelerate(self, motion: Motion, goal: Goal, response: Any) -> None:
        """Sweeps forward and backward along conjugate directions, in active worlds."""
        problem, status, program = self.problem, self.problem.status, self.problem.program
        self._begin_directions(motion, problem.everywhere, response)
        with program.loop(status.any_busy, may_stop=True):
            self._sweep(motion, goal, response)
            program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps, 2)
            with program.when(status.any_busy):
                self.sweeps.record(motion, goal, backwards=True)
                if response is None:
                    program.launch(accelerate, 1, *self.swept, motion, status, self.directions)
                else:
                    response.answer(motion, status.busy)
                    self._go_on(motion, response)

    def _begin_directions(self, motion: Motion, which: Any, response: Any) -> None:
        """Conjugate directions begin anew."""
        problem = self.problem
        given = (*self.swept, motion, self.directions, problem.status.sweep, which)
        problem.program.launch(begin_acceleration, 1, *given)
        if response is not None:
            response.begin_steps(motion, which)

    def _go_on(self, motion: Motion, response: Any) -> None:
        """A step along conjugate directions, with the answer of the joints to its projection."""
        problem, directions = self.problem, self.directions
        tried = (problem.system, motion, problem.status, directions)
        parts = (directions.accepted, directions.scale_z, directions.scale_d)
        response.note_sweep(motion)
        problem.program.launch(try_conjugate_step, 1, problem.bodies, problem.active, *tried, response.hit)
        response.try_step(motion, directions.active, parts, directions.gain)
        problem.program.launch(accept_conjugate_step, 1, problem.bodies, *tried)
        response.settle_step(motion, (directions.active, directions.accepted))
