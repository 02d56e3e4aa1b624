"""Impacts with restitution: resolved at once, before resting contacts are stopped.

    while anything collides:
        the manifolds that collide take part       (or, simultaneously, all that touch then)
        newton      impulses p ≥ 0 with   u_n' ≥ −e u_n,   complementary; friction |p_t| ≤ μ p_n in the same problem
        poisson     impulses p_c ≥ 0 that stop the points, then e p_c more
        stronge     the same in slices, until e² of the work of compression has come back

An impact is a contact problem with other targets, and any solver finds its impulses; the slices of Stronge's law and
the friction of expansions have sweeps of their own. Where there are joints, they answer to
every sweep and are corrected in turn with the solver. Impulses
of impacts are no warm start. A round has as many sweeps as the solver may take; what still collides after it is part of
the next.

After ``MOST_ROUNDS``, or when the ``BUDGET`` of sweeps and corrections of joints is used up, what still collides is
stopped by the resting contacts. The report gives the velocity that was still to be changed.

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
from rattleback.model.bench import copy_velocities
from rattleback.model.state import Motion
from rattleback.solvers.contacts.coupling.alternation import Turn, alternate
from rattleback.solvers.contacts.coupling.joint_response import JointResponse
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.restitution import expansion, impact_round, search
from rattleback.solvers.contacts.restitution.expansion import Works
from rattleback.solvers.contacts.restitution.search import Collisions, Courses
from rattleback.solvers.contacts.schemes.targets import begin_end
from rattleback.solvers.contacts.solvers.iteration import iterate
from rattleback.solvers.contacts.stages.impulse_account import note_blows, note_slice

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.solvers.contacts.schemes.impulse import Impulse
    from rattleback.solvers.contacts.schemes.inputs import Footing

RESTITUTIONS = ("newton", "poisson", "stronge")
ORDERS = ("sequential", "simultaneous")
# Most rounds of impacts at one moment, and most sweeps and corrections of joints of all of them.
MOST_ROUNDS = 200
BUDGET = 20_000
# Part of the tolerance to which an impact is solved: what it leaves stays, as no later step looks at it again.
PRECISION = 0.1
# Most corrections of joints of a round.
MOST_TURNS = 100


@kernel
def lower(flag: wp.array[wp.int32]) -> None:
    """A flag goes down."""
    flag[0] = 0


class Impacts:
    """The impacts in the steps of a model.

    Args:
        method: The scheme: the law of restitution, and what is resolved together.
        bench: What the step works on.
        ground: What the manifolds are made from.
        problem: Their contact problem.
        solver: What solves it.
    """

    def __init__(self, method: Impulse, bench: Bench, ground: Footing, problem: ContactProblem, solver: Any) -> None:
        self.restitution, self.together = method.restitution, int(method.impact == "simultaneous")
        self.bench, self.ground, self.problem, self.solver = bench, ground, problem, solver
        self.goal = Goal(PRECISION * ground.limits.speed, method.solver.sweeps)
        model = bench.model
        counts = {"contacts": problem.room, "bodies": model.count, "worlds": model.worlds, "flags": 1}
        self.collisions = arrays.allocate(Collisions, counts, model.device)
        self.works = arrays.allocate(Works, counts, model.device)
        self.kept, self.unloaded, self.loaded = (bench.scratch(Motion) for _ in range(3))
        self.response: JointResponse | None = None

    def record(self, taken: Any, correct: Turn | None, which: Any) -> None:
        """Record what resolves the collisions of the state, and gives resting contacts their loads.

        Args:
            taken: Length of the step that was taken, for every world [s].
            correct: Records what makes velocities fit the joints, in the worlds that it is given; None without joints.
            which: 1 for every world in which that is done.
        """
        bench, program = self.bench, self.bench.program
        courses = self._courses()
        bench.share_bodies(copy_velocities, bench.state.motion, self.unloaded)
        self._load(taken, which)
        self._begin(self._courses(before=True), which)
        with program.when(self.collisions.any_colliding):
            bench.share_bodies(impact_round.take_loads_off, courses)
            self._go_on(courses, correct)
            if self.problem.palette is None and correct is None:
                given = (bench.model.bodies, self.ground, self.problem.graph, self.problem.pressing, courses)
                program.launch(impact_round.put_loads_on, 1, *given, bench.state.clock, taken, self.collisions)
            else:
                self._load(taken, which)

    def record_unloaded(self, correct: Turn | None, which: Any) -> None:
        """Record what resolves the collisions of a state that has its loads already, or none; see ``record``."""
        courses = Courses()
        courses.now = courses.unloaded = courses.loaded = self.bench.state.motion
        self._begin(courses, which)
        with self.bench.program.when(self.collisions.any_colliding):
            if self.together:
                self.problem.for_manifolds(impact_round.empty, self.problem.graph, self.problem.pressing)
            self._go_on(courses, correct)

    def _begin(self, courses: Courses, which: Any) -> None:
        """Look for collisions everywhere in some worlds."""
        self.bench.for_worlds(search.begin_collisions, self.collisions, which)
        self._find(courses, everywhere=True)

    def _go_on(self, courses: Courses, correct: Turn | None) -> None:
        """Rounds of impacts, until there are none; then every manifold takes part again."""
        bench, found, problem = self.bench, self.collisions, self.problem
        with bench.program.loop(found.any_colliding):
            self._resolve_round(correct)
            bench.for_worlds(impact_round.next_round, found, problem.status, MOST_ROUNDS, BUDGET)
            # Joints move bodies that do not take part.
            self._find(courses, everywhere=correct is not None)
        problem.record_all_active()

    def _courses(self, before: bool = False) -> Courses:
        """The velocities that matter at the moment; before it those of the state are the ones with loads."""
        courses, motion = Courses(), self.bench.state.motion
        courses.unloaded = self.unloaded
        courses.now, courses.loaded = (self.unloaded, motion) if before else (motion, self.loaded)
        return courses

    def _load(self, taken: Any, which: Any) -> None:
        """Give all resting contacts of some worlds their loads."""
        problem, motion, clock = self.problem, self.bench.state.motion, self.bench.state.clock
        given = (self.ground, problem.graph, problem.pressing, motion, clock, taken, which)
        problem.for_manifolds(begin_end, *given)
        problem.record_push(motion, which)

    def _find(self, courses: Courses, everywhere: bool) -> None:
        problem = self.problem
        given = (self.ground, problem.graph, problem.pressing, courses, self.bench.state.clock, self.collisions)
        if problem.palette is None and not everywhere and not self.together:
            problem.program.launch(search.find_near_collisions, 1, *given, problem.active)
            return
        scope = int(search.EVERYWHERE if everywhere else search.NEARBY)
        problem.for_manifolds(search.find_collisions, *given, int(search.TOGETHER) if self.together else scope)

    def _resolve_round(self, correct: Turn | None) -> None:
        """The impacts of a round."""
        problem, found, motion = self.problem, self.collisions, self.bench.state.motion
        program, active = problem.program, problem.active
        listed = (problem.bodies, problem.graph, problem.pressing, found, active, self.together)
        program.launch(search.list_patches, 1, *listed)
        newton = int(self.restitution == "newton")
        given = (self.ground, problem.pressing, motion, found, active, newton, self.together)
        problem.for_manifolds(impact_round.aim, *given)
        parts = (problem.bodies, problem.pressing, motion, found, active)
        if self.restitution == "stronge":
            self._slice(parts, correct)
            return
        self._alternate(lambda which: self._solve(motion, which), correct, found.colliding)
        program.launch(note_blows, 1, self.ground, problem.pressing, active)
        if self.restitution == "poisson":
            program.launch(expansion.expand, 1, *parts)
            self._iterate(expansion.grip_listed, (*parts, problem.status), found.colliding, correct)
            program.launch(note_blows, 1, self.ground, problem.pressing, active)

    def _alternate(self, solve: Turn, correct: Turn | None, which: Any) -> None:
        """A solution, in turn with what corrects the joints, where there are any."""
        if correct is None:
            solve(which)
        else:
            correct(which)
            turns = (solve, lambda some: self._correct(correct, some))
            alternate(self.problem, turns, (self.goal.tolerance, MOST_TURNS), which)

    def _correct(self, correct: Turn, which: Any) -> None:
        """A correction of the joints; where the budget is used up, it is the last."""
        correct(which)
        if self.response is not None:
            program, answers = self.problem.program, self.response.joints.preview.effort.iterations
            spent = (self.problem.status, self.collisions, answers, BUDGET)
            program.launch(impact_round.spend_answers, self.problem.worlds, *spent)

    def _solve(self, motion: Motion, which: Any) -> None:
        """The impulses of the round, by the solver."""
        self.solver.record(motion, self.goal, which, self.response)
        self._spend(which)

    def _slice(self, parts: tuple[Any, ...], correct: Turn | None) -> None:
        """The impacts of a round, followed slice by slice."""
        bench, program, works, motion = self.bench, self.bench.program, self.works, self.bench.state.motion
        bodies, *rest = parts
        bench.for_worlds(expansion.begin_works, self.collisions, works)
        with program.loop(works.any_going):
            bench.share_bodies(copy_velocities, motion, self.kept)
            program.launch(expansion.begin_slice, 1, bodies, self.ground.limits, *rest, works)
            given = (*parts, self.problem.status, works)
            self._iterate(expansion.sweep_slice, given, works.going, correct)
            program.launch(expansion.measure_slice, 1, *rest, works)
            program.launch(lower, 1, works.any_going)
            bench.for_worlds(expansion.end_slice, works, self.collisions, BUDGET)
            program.launch(note_slice, 1, self.ground, self.problem.pressing, self.problem.active, works)
            bench.for_bodies(expansion.take_part, works, self.kept, motion)

    def _iterate(self, kernel: Any, given: tuple[Any, ...], which: Any, correct: Turn | None) -> None:
        """Sweeps with a kernel, on one thread, each with the answer of the joints."""
        sweep = partial(self.problem.program.launch, kernel, 1, *given)

        def solve(some: Any) -> None:
            iterate(self.problem, sweep, self.bench.state.motion, self.goal, some, self.response)
            self._spend(some)

        self._alternate(solve, correct, which)

    def _spend(self, which: Any) -> None:
        """Count the sweeps."""
        problem = self.problem
        problem.program.launch(impact_round.spend_sweeps, problem.worlds, problem.status, self.collisions, which)
