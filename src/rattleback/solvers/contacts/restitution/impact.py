"""Impacts with restitution: resolved at once, before resting contacts are stopped.

    while any point collides:
        manifolds that collide take part           (or, simultaneously, all that touch then)
        newton      impulses p ≥ 0 with   u_n' ≥ −e u_n,   complementary; friction |p_t| ≤ μ p_n in the same problem
        poisson     impulses p_c ≥ 0 that stop the points, then e p_c more
        stronge     the same in slices, until e² of the work of compression has come back

An impact is a contact problem with other targets, and any solver finds its impulses; the slices of Stronge's law and
the friction of expansions have sweeps of their own. Joints answer to every sweep
and are corrected in alternation with the solver. Impulses of impacts are no warm start. A round has at most as many
sweeps as the solver; points that still collide are part of the next.

After ``MAX_ROUNDS``, or when the ``BUDGET`` of sweeps and corrections of joints is used up, the resting contacts stop
points that still collide. The report gives the largest velocity that was left to change.

Newton's law is the plainest; with friction and several points it may create energy. Poisson's may as well, less often;
Stronge's never does, and costs about a hundred times as much. Without friction they agree.

Reference: Bender, dissertation, §5.2 and §5.4.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.model.state import Motion
from rattleback.model.step_context import copy_velocities
from rattleback.solvers.contacts.coupling.alternation import WorldStage, alternate
from rattleback.solvers.contacts.coupling.joint_response import JointResponse
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal, part_of
from rattleback.solvers.contacts.restitution import expansion, impact_round, search
from rattleback.solvers.contacts.restitution.expansion import ImpactWork
from rattleback.solvers.contacts.restitution.search import ImpactPoints, ImpactVelocities
from rattleback.solvers.contacts.schemes.targets import set_end_targets
from rattleback.solvers.contacts.solvers.iteration import iterate
from rattleback.solvers.contacts.stages.impulse_account import note_blows, note_slice

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext
    from rattleback.solvers.contacts.schemes.impulse import Impulse
    from rattleback.solvers.contacts.schemes.inputs import ContactInputs

RESTITUTIONS = ("newton", "poisson", "stronge")
ORDERS = ("sequential", "simultaneous")
# Most rounds of impacts at one moment, and most sweeps and corrections of joints of all of them.
MAX_ROUNDS = 200
BUDGET = 20_000
# Part of the tolerance to which an impact is solved: no later step corrects the error that it leaves.
PRECISION = 0.1
# Most corrections of joints of a round.
MAX_TURNS = 100


@kernel
def clear_flag(flag: wp.array[wp.int32]) -> None:
    """Clear a flag."""
    flag[0] = 0


class Impacts:
    """The impacts in the steps of a model.

    Args:
        method: The scheme: the law of restitution, and what is resolved together.
        context: What the step works on.
        inputs: What the manifolds are made from.
        problem: Their contact problem.
        solver: What solves it.
    """

    def __init__(
        self, method: Impulse, context: StepContext, inputs: ContactInputs, problem: ContactProblem, solver: Any
    ) -> None:
        self.restitution, self.simultaneous = method.restitution, int(method.impact == "simultaneous")
        self.context, self.inputs, self.problem, self.solver = context, inputs, problem, solver
        self.goal = Goal(part_of(inputs.limits.speed, PRECISION), method.solver.sweeps, posed="impact")
        model = context.model
        counts = {"contacts": problem.room, "bodies": model.count, "worlds": model.worlds, "flags": 1}
        self.points = arrays.allocate(ImpactPoints, counts, model.device)
        self.impact_work = arrays.allocate(ImpactWork, counts, model.device)
        self.kept, self.unloaded, self.loaded = (context.scratch(Motion) for _ in range(3))
        self.response: JointResponse | None = None

    def record(self, taken: Any, correct: WorldStage | None, which: Any) -> None:
        """Record the impacts of the state, and the loads of resting contacts.

        Args:
            taken: Length of the step that was taken, for every world [s].
            correct: Records what makes velocities fit the joints, in the worlds that it is given; None without joints.
            which: 1 for every world in which that is done.
        """
        context, program = self.context, self.context.program
        velocities = self._velocities()
        context.share_bodies(copy_velocities, context.state.motion, self.unloaded)
        self._apply_loads(taken, which)
        self._begin(self._velocities(before=True), which)
        with program.when(self.points.any_colliding):
            context.share_bodies(impact_round.remove_loads, velocities)
            if self.response is not None:
                self.response.take_back()
            self._resolve_rounds(velocities, correct)
            if self.problem.colour_driver is None and correct is None:
                given = (context.model.bodies, self.inputs, self.problem.graph, self.problem.system, velocities)
                program.launch(impact_round.restore_loads, 1, *given, context.state.clock, taken, self.points)
            else:
                self._apply_loads(taken, which)

    def record_unloaded(self, correct: WorldStage | None, which: Any) -> None:
        """Record the impacts of a state that has its loads already, or none; see ``record``."""
        velocities = ImpactVelocities()
        velocities.now = velocities.unloaded = velocities.loaded = self.context.state.motion
        self._begin(velocities, which)
        with self.context.program.when(self.points.any_colliding):
            if self.simultaneous:
                self.problem.for_manifolds(impact_round.clear_impulses, self.problem.graph, self.problem.system)
            self._resolve_rounds(velocities, correct)

    def _begin(self, velocities: ImpactVelocities, which: Any) -> None:
        """Search all manifolds of selected worlds."""
        self.context.for_worlds(search.begin_impacts, self.points, which)
        self._find(velocities, everywhere=True)

    def _resolve_rounds(self, velocities: ImpactVelocities, correct: WorldStage | None) -> None:
        """Rounds of impacts, until there are none; then every manifold takes part again."""
        context, found, problem = self.context, self.points, self.problem
        with context.program.loop(found.any_colliding):
            self._resolve_round(correct)
            context.for_worlds(impact_round.end_round, found, problem.status, MAX_ROUNDS, BUDGET)
            # Joints move bodies that do not take part.
            self._find(velocities, everywhere=correct is not None)
        problem.record_all_active()

    def _velocities(self, before: bool = False) -> ImpactVelocities:
        """The velocities of a search; before the impacts those of the state are the ones with loads."""
        velocities, motion = ImpactVelocities(), self.context.state.motion
        velocities.unloaded = self.unloaded
        velocities.now, velocities.loaded = (self.unloaded, motion) if before else (motion, self.loaded)
        return velocities

    def _apply_loads(self, taken: Any, which: Any) -> None:
        """Apply the loads of all resting contacts of selected worlds."""
        problem, motion, clock = self.problem, self.context.state.motion, self.context.state.clock
        given = (self.inputs, problem.graph, problem.system, motion, clock, taken, which)
        problem.for_manifolds(set_end_targets, *given)
        if self.response is None:
            problem.record_push(motion, which)
        else:
            self.response.push(motion, which)

    def _find(self, velocities: ImpactVelocities, everywhere: bool) -> None:
        problem = self.problem
        given = (self.inputs, problem.graph, problem.system, velocities, self.context.state.clock, self.points)
        if problem.colour_driver is None and not everywhere and not self.simultaneous:
            problem.program.launch(search.find_near_impacts, 1, *given, problem.active)
            return
        scope = int(search.EVERYWHERE if everywhere else search.NEARBY)
        problem.for_manifolds(search.find_impacts, *given, int(search.SIMULTANEOUS) if self.simultaneous else scope)

    def _resolve_round(self, correct: WorldStage | None) -> None:
        """Solve the impacts of a round."""
        problem, found, motion = self.problem, self.points, self.context.state.motion
        program, active = problem.program, problem.active
        listed = (problem.bodies, problem.graph, problem.system, found, active, self.simultaneous)
        program.launch(search.list_manifolds, 1, *listed)
        newton = int(self.restitution == "newton")
        given = (self.inputs, problem.system, motion, found, active, newton, self.simultaneous)
        problem.for_manifolds(impact_round.set_impact_targets, *given)
        parts = (problem.bodies, problem.system, motion, found, active)
        if self.restitution == "stronge":
            self._slice(parts, correct)
            return
        self._alternate(lambda which: self._solve(motion, which), correct, found.colliding)
        program.launch(note_blows, 1, self.inputs, problem.system, active)
        if self.restitution == "poisson":
            program.launch(expansion.apply_restitution, 1, *parts)
            self._iterate(expansion.sweep_friction, (*parts, problem.status), found.colliding, correct)
            program.launch(note_blows, 1, self.inputs, problem.system, active)

    def _alternate(self, solve: WorldStage, correct: WorldStage | None, which: Any) -> None:
        """A solution, in alternation with corrections of the joints, where there are any."""
        if correct is None:
            solve(which)
        else:
            correct(which)
            stages = (solve, lambda selected: self._correct(correct, selected))
            alternate(self.problem, stages, (self.goal.tolerance, MAX_TURNS), which)

    def _correct(self, correct: WorldStage, which: Any) -> None:
        """A correction of the joints; the last one where the budget is used up."""
        correct(which)
        if self.response is not None:
            program, joint_iterations = self.problem.program, self.response.joints.preview.status.iterations
            spent = (self.problem.status, self.points, joint_iterations, BUDGET)
            program.launch(impact_round.add_joint_costs, self.problem.worlds, *spent)

    def _solve(self, motion: Motion, which: Any) -> None:
        """The impulses of the round, by the solver."""
        self.solver.record(motion, self.goal, which, self.response)
        self._spend(which)

    def _slice(self, parts: tuple[Any, ...], correct: WorldStage | None) -> None:
        """Solve the impacts of a round in slices."""
        context = self.context
        program = self.context.program
        impact_work = self.impact_work
        motion = self.context.state.motion
        bodies, *rest = parts
        context.for_worlds(expansion.begin_impact_work, self.points, impact_work)
        with program.loop(impact_work.any_active):
            context.share_bodies(copy_velocities, motion, self.kept)
            program.launch(expansion.begin_slice, 1, bodies, self.inputs.limits, *rest, impact_work)
            given = (*parts, self.problem.status, impact_work)
            self._iterate(expansion.sweep_slice, given, impact_work.active, correct)
            program.launch(expansion.measure_slice, 1, *rest, impact_work)
            program.launch(clear_flag, 1, impact_work.any_active)
            context.for_worlds(expansion.end_slice, impact_work, self.points, BUDGET)
            program.launch(note_slice, 1, self.inputs, self.problem.system, self.problem.active, impact_work)
            context.for_bodies(expansion.take_fraction, impact_work, self.kept, motion)

    def _iterate(self, kernel: Any, given: tuple[Any, ...], which: Any, correct: WorldStage | None) -> None:
        """Sweeps with a kernel, on one thread, each with the answer of the joints."""
        sweep = partial(self.problem.program.launch, kernel, 1, *given)

        def solve(selected: Any) -> None:
            iterate(self.problem, sweep, self.context.state.motion, self.goal, selected, self.response)
            self._spend(selected)

        self._alternate(solve, correct, which)

    def _spend(self, which: Any) -> None:
        """Count the sweeps."""
        problem = self.problem
        problem.program.launch(impact_round.add_sweep_costs, problem.worlds, problem.status, self.points, which)
