"""The iteration that first-order solvers share: trial, response, products, decision, residual, best impulses kept.

    y = p + β (p − p'),   g = u + β (u − u')        extrapolated impulses and velocities; W is linear
    t = P(y − τ ρ ĝ),     d = t − y                 trial; ĝ = g + μ |g_t| n under ``coulomb``, ĝ = g under ``cone``
    v ← v + M⁻¹ Jᵀ (t − t'),   joints answer        bodies have the last trial; so u at t costs one product with W
    p ← p + λ (t − p),    u ← u + λ (u(t) − u)      λ, τ and β of the next trial by the method

p' and u' those before; ρ = 3 / tr K of a point; τ a step length of the world. Products over points decide about τ, β
and λ, see ``apgd`` and ``bb``: d·W d, d·d/ρ, (y − t)·(t − p)/ρ, d·ĝ and ρ (W d)². Resisting moments are rows as points
are. The residual is |p − P(p − ρ û)| / ρ, along the normal and across; the best impulses are kept and come back where
the last are worse.

Cost: about three sweeps of ``pgs`` an iteration on a CPU; all of it in parallel on a GPU but for products, which are
summed in a fixed order. Positions are corrected by Gauss–Seidel sweeps: their friction has no limit.

Reference: Mazhar, Heyn, Negrut, Tasora (2015), §3; Acary, Brogliato, §13.2, for the residual.
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.by_law import block_correction
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.status import ANY_RESIDUAL, SolverStatus, begin_sweep, check_convergence
from rattleback.solvers.contacts.problem.world_sums import WorldSums
from rattleback.solvers.contacts.solvers.descent_rows import (
    Descent,
    Pushes,
    Rows,
    Steps,
    accept_trial,
    begin_rows,
    keep_impulses,
    measure_trial,
    push_colour,
    push_in_order,
    try_step,
)
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import begin, iterate

# First step length, as a part of ρ: a body has about so many points.
FIRST_STEP = wp.constant(real(0.25))


@kernel
def copy_busy(status: SolverStatus, had: wp.array[wp.int32]) -> None:
    """Which worlds have the iteration."""
    had[wp.tid()] = status.busy[wp.tid()]


@kernel
def begin_steps(status: SolverStatus, steps: Steps) -> None:
    """Active worlds begin with a plain step."""
    w = wp.tid()
    if status.busy[w] == 1:
        steps.step[w] = FIRST_STEP
        steps.momentum[w] = real(0.0)
        steps.weight[w] = real(1.0)
        steps.part[w] = real(1.0)
        steps.best_normal[w] = ANY_RESIDUAL
        steps.best_tangential[w] = ANY_RESIDUAL


@kernel
def note_best(status: SolverStatus, steps: Steps, which: wp.array[wp.int32]) -> None:
    """Whether the impulses of an iteration are the best so far, in worlds that had it."""
    w = wp.tid()
    if which[w] == 0:
        return
    worst = wp.max(status.normal_residual[w], status.tangential_residual[w])
    better = worst < wp.max(steps.best_normal[w], steps.best_tangential[w])
    steps.improved[w] = wp.where(better, 1, 0)
    if better:
        steps.best_normal[w] = status.normal_residual[w]
        steps.best_tangential[w] = status.tangential_residual[w]


@kernel
def choose_kept(status: SolverStatus, steps: Steps, which: wp.array[wp.int32]) -> None:
    """In which worlds bodies have to get other impulses than those of the last trial, on one thread."""
    steps.any_restored[0] = 0
    for w in range(steps.restored.shape[0]):
        steps.restored[w] = 0
        if which[w] == 1:
            best = wp.max(steps.best_normal[w], steps.best_tangential[w])
            worse = wp.max(status.normal_residual[w], status.tangential_residual[w]) > best
            if worse:
                status.normal_residual[w] = steps.best_normal[w]
                status.tangential_residual[w] = steps.best_tangential[w]
            if worse or steps.part[w] != real(1.0):
                steps.restored[w] = 1
                steps.any_restored[0] = 1
            steps.improved[w] = wp.where(worse, 0, 1)


class FirstOrder:
    """Records the iterations of a first-order solver; see ``core.protocols.BoundContactSolver``.

    Args:
        problem: The problem.
        decide: Kernel (status, steps) of all worlds: λ of the trial, and τ and β of the next.
    """

    def __init__(self, problem: ContactProblem, decide: Any) -> None:
        self.problem, self.decide = problem, decide
        counts = {"rows": 2 * problem.room + 1, "contacts": problem.room, "worlds": problem.worlds, "flags": 1}
        device = problem.bodies.world.device
        self.descent: Any = Descent()
        kinds: tuple[type[Any], ...] = (Rows, Pushes, Steps)
        rows, pushes, steps = (arrays.allocate(kind, counts, device) for kind in kinds)
        self.descent.rows, self.descent.pushes, self.descent.steps = rows, pushes, steps
        self.descent.room, self.descent.shifted = problem.room, int(problem.law == "coulomb")
        self.steps, self.had = steps, wp.zeros(problem.worlds, dtype=wp.int32, device=device)
        self.sums = WorldSums(problem, ((pushes.first, steps.first), (pushes.second, steps.second)))
        self.of_positions = Sweeps(problem, drivers(block_correction("coulomb")))

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        problem, status, program = self.problem, self.problem.status, self.problem.program
        if goal.posed == "positions":
            iterate(problem, lambda: self.of_positions.record(motion, goal), motion, goal, which, response)
            return
        if response is not None:
            response.note(motion, which)
        begin(problem, goal, which)
        self._begin(motion, goal)
        with program.loop(status.any_busy, may_stop=True):
            program.launch(copy_busy, problem.worlds, status, self.had)
            program.launch(begin_sweep, problem.worlds, status)
            self._iterate(motion, response)
            program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps, 1)
            program.launch(note_best, problem.worlds, status, self.steps, self.had)
        self._end(motion, which, response)

    def _begin(self, motion: Motion, goal: Goal) -> None:
        problem, status, program = self.problem, self.problem.status, self.problem.program
        program.launch(copy_busy, problem.worlds, status, self.had)
        program.launch(begin_steps, problem.worlds, status, self.steps)
        program.launch(begin_sweep, problem.worlds, status)
        given = (problem.graph, problem.system, problem.active, motion, status, self.descent)
        problem.for_manifolds(begin_rows, *given)
        self.sums.record_ranges()
        program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps, 1)
        program.launch(note_best, problem.worlds, status, self.steps, self.had)

    def _iterate(self, motion: Motion, response: Any) -> None:
        """One iteration of the worlds that are active."""
        problem, status, parts = self.problem, self.problem.status, (self.problem.system, self.problem.active)
        problem.for_manifolds(try_step, problem.graph, *parts, status, self.descent)
        self._push(motion)
        if response is not None:
            response.answer(motion, status.busy)
        problem.for_manifolds(measure_trial, problem.graph, *parts, motion, status, self.descent)
        self.sums.record()
        problem.program.launch(self.decide, problem.worlds, status, self.steps)
        problem.for_manifolds(accept_trial, problem.graph, *parts, status, self.descent)

    def _end(self, motion: Motion, which: Any, response: Any) -> None:
        """The best impulses, with the velocities that belong to them."""
        problem, program, steps = self.problem, self.problem.program, self.steps
        program.launch(choose_kept, 1, problem.status, steps, which)
        problem.for_manifolds(keep_impulses, problem.graph, problem.system, problem.active, which, self.descent)
        with program.when(steps.any_restored):
            self._push(motion)
            if response is not None:
                response.answer(motion, steps.restored)

    def _push(self, motion: Motion) -> None:
        problem, pushes = self.problem, self.descent.pushes
        if problem.colour_driver is None:
            given = (problem.bodies, problem.system, problem.graph, motion, pushes)
            problem.program.launch(push_in_order, 1, *given)
        else:
            problem.colour_driver.by_colour(push_colour, motion, pushes)
