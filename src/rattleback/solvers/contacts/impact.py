"""Collisions with restitution: resolved at once, before resting contacts are stopped.

    while anything collides:
        list the patches that collide              (or, simultaneously, all that touch then)
        newton      impulses p ≥ 0 with   u_n' ≥ −e u_n,   complementary; friction |p_t| ≤ μ p_n in the same sweeps
        poisson     impulses p_c ≥ 0 that stop the points, then e p_c more
        stronge     the same in slices, until e² of the work of compression has come back

Where there are joints, they are corrected after every sweep. Impulses of collisions are not remembered. A round that
has used up its sweeps, twenty for each of ``max_sweeps``, is left as it is, and what still collides is part of the
next. In sequence, on one thread and without joints, where sweeps are few a round has no more than ``max_sweeps``: what
a hundred bodies do that strike each other at once is found sooner by another round than by thirty sweeps.

After ``MOST_ROUNDS``, or when the ``BUDGET`` of sweeps and corrections of joints is used up, what still collides is
stopped by the resting contacts. The report gives the velocity that was still to be changed.

Newton's law is the plainest; with friction and several points it may create energy. Poisson's may as well, less often;
Stronge's never does, and costs about a hundred times as much. Without friction they agree.

Reference: Bender, dissertation, §5.2 and §5.4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.model.bench import copy_velocities
from rattleback.model.state import Motion
from rattleback.solvers.contacts import collision_round, collisions, expansion
from rattleback.solvers.contacts.account import note_blows, note_slice
from rattleback.solvers.contacts.collisions import Collisions, Courses
from rattleback.solvers.contacts.conjugate import begin_directions, go_on
from rattleback.solvers.contacts.expansion import Works
from rattleback.solvers.contacts.resting import begin_end
from rattleback.solvers.contacts.rounds import begin_rounds, judge, next_sweep
from rattleback.solvers.contacts.sweeper import FEW, Turn

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.solvers.contacts.impulse import Impulse
    from rattleback.solvers.contacts.resting import Footing
    from rattleback.solvers.contacts.sweeper import Sweeper

RESTITUTIONS = ("newton", "poisson", "stronge")
ORDERS = ("sequential", "simultaneous")
# Most rounds of collisions at one moment, most sweeps of one of them, at all and for each that resting contacts may
# have, and most sweeps and corrections of joints of all rounds.
MOST_ROUNDS = 200
MOST_SWEEPS, SWEEPS_FOR_EACH = 1000, 20
BUDGET = 20_000
# Sweeps of a round at least, where there are few: after one alone a block of 64 cubes that lands keeps a tenth too much
# energy.
FEWEST = 2
# A tolerance of which every change is more than a part, so that no patch is quiet [m/s].
NEVER = -1.0


@kernel
def lower(flag: wp.array[wp.int32]) -> None:
    """A flag goes down."""
    flag[0] = 0


class Impacts:
    """The collisions in the steps of a model.

    Args:
        method: How: the law, what is resolved together, and how many sweeps there may be.
        bench: What the step works on.
        ground: What the patches are made from.
        sweeper: Their sweeps.
    """

    def __init__(self, method: Impulse, bench: Bench, ground: Footing, sweeper: Sweeper) -> None:
        self.restitution, self.together = method.restitution, int(method.impact == "simultaneous")
        self.most_sweeps = min(MOST_SWEEPS, SWEEPS_FOR_EACH * method.max_sweeps)
        self.most_alone = max(FEWEST, method.max_sweeps) if method.max_sweeps <= FEW else self.most_sweeps
        self.bench, self.ground, self.sweeper = bench, ground, sweeper
        model, self.room = bench.model, len(ground.contacts.part)
        counts = {"contacts": self.room, "bodies": model.count, "worlds": model.worlds, "flags": 1}
        self.collisions = arrays.allocate(Collisions, counts, model.device)
        self.works = arrays.allocate(Works, counts, model.device)
        self.kept, self.unloaded, self.loaded = (bench.scratch(Motion) for _ in range(3))
        # What is listed is swept without notice of when.
        self.never = wp.full(1, -1, dtype=wp.int32, device=model.device)
        self.answers = wp.zeros(model.worlds, dtype=wp.int32, device=model.device)

    @property
    def in_order(self) -> bool:
        """Whether patches are solved in the order of the contact graph, on one thread."""
        return self.sweeper.palette is None

    def count_answers(self, answers: Any) -> None:
        """Let corrections of joints count from now on, those of the last sweep of every world."""
        self.answers = answers

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
            bench.share_bodies(collision_round.take_loads_off, courses)
            self._go_on(courses, correct)
            if self.in_order and correct is None:
                given = (bench.model.bodies, self.ground, self.sweeper.graph, self.sweeper.pressing, courses)
                program.launch(collision_round.put_loads_on, 1, *given, bench.state.clock, taken, self.collisions)
            else:
                self._load(taken, which)

    def record_unloaded(self, correct: Turn | None, which: Any) -> None:
        """Record what resolves the collisions of a state that has its loads already, or none; see ``record``."""
        courses = Courses()
        courses.now = courses.unloaded = courses.loaded = self.bench.state.motion
        self._begin(courses, which)
        with self.bench.program.when(self.collisions.any_colliding):
            if self.together:
                self._for_patches(collision_round.empty, self.sweeper.graph, self.sweeper.pressing)
            self._go_on(courses, correct)

    def _begin(self, courses: Courses, which: Any) -> None:
        """Look for collisions everywhere in some worlds."""
        self.bench.for_worlds(collisions.begin_collisions, self.collisions, which)
        self._find(courses, everywhere=True)

    def _go_on(self, courses: Courses, correct: Turn | None) -> None:
        """Rounds of collisions, until there are none."""
        bench, found = self.bench, self.collisions
        with bench.program.loop(found.any_colliding):
            self._resolve_round(correct)
            bench.for_worlds(collision_round.next_round, found, self.sweeper.rounds, MOST_ROUNDS, BUDGET)
            # Joints move bodies that are not listed.
            self._find(courses, everywhere=correct is not None)

    def _courses(self, before: bool = False) -> Courses:
        """The velocities that matter at the moment; before it those of the state are the ones with loads."""
        courses, motion = Courses(), self.bench.state.motion
        courses.unloaded = self.unloaded
        courses.now, courses.loaded = (self.unloaded, motion) if before else (motion, self.loaded)
        return courses

    def _load(self, taken: Any, which: Any) -> None:
        """Give all resting contacts of some worlds their loads."""
        sweeper, motion, clock = self.sweeper, self.bench.state.motion, self.bench.state.clock
        given = (self.ground, sweeper.graph, sweeper.pressing, motion, clock, taken, which)
        self._for_patches(begin_end, *given)
        sweeper.push(motion, which)

    def _find(self, courses: Courses, everywhere: bool) -> None:
        sweeper = self.sweeper
        given = (self.ground, sweeper.graph, sweeper.pressing, courses, self.bench.state.clock, self.collisions)
        if self.in_order and not everywhere and not self.together:
            self.bench.program.launch(collisions.find_near_collisions, 1, *given)
            return
        scope = int(collisions.EVERYWHERE if everywhere else collisions.NEARBY)
        self._for_patches(collisions.find_collisions, *given, int(collisions.TOGETHER) if self.together else scope)

    def _resolve_round(self, correct: Turn | None) -> None:
        """The collisions of a round."""
        program, found, motion = self.bench.program, self.collisions, self.bench.state.motion
        pressing, newton = self.sweeper.pressing, int(self.restitution == "newton")
        program.launch(
            collisions.list_patches, 1, self.sweeper.bodies, self.sweeper.graph, pressing, found, self.together
        )
        self._for_patches(collision_round.aim, self.ground, pressing, motion, found, newton, self.together)
        parts = (self.bench.model.bodies, pressing, motion, found)
        if self.restitution == "stronge":
            self._slice(parts, correct)
            return
        if self.in_order and correct is None and not self.together:
            ends = (self.ground.limits.speed, self.most_alone, BUDGET)
            program.launch(begin_rounds, self.sweeper.worlds, self.sweeper.rounds, found.colliding, 0)
            program.launch(collision_round.resolve_listed, 1, *parts, self.sweeper.rounds, *ends)
        else:
            # Joints move bodies between sweeps: no patch is quiet then.
            given = (*parts, self.sweeper.rounds, self.ground.limits.speed if correct is None else NEVER)
            self._sweep(collision_round.sweep_listed, given, found.colliding, correct)
        program.launch(note_blows, 1, self.ground, pressing, found)
        if self.restitution == "poisson":
            program.launch(expansion.expand, 1, *parts)
            self._sweep(expansion.grip_listed, (*parts, self.sweeper.rounds), found.colliding, correct)
            program.launch(note_blows, 1, self.ground, pressing, found)

    def _slice(self, parts: tuple[Any, ...], correct: Turn | None) -> None:
        """The impacts of a round, followed slice by slice."""
        bench, program, works, motion = self.bench, self.bench.program, self.works, self.bench.state.motion
        bodies, *rest = parts
        bench.for_worlds(expansion.begin_works, self.collisions, works)
        with program.loop(works.any_going):
            bench.share_bodies(copy_velocities, motion, self.kept)
            program.launch(expansion.begin_slice, 1, bodies, self.ground.limits, *rest, works)
            self._sweep(expansion.sweep_slice, (*parts, self.sweeper.rounds, works), works.going, correct)
            program.launch(expansion.measure_slice, 1, *rest, works)
            program.launch(lower, 1, works.any_going)
            bench.for_worlds(expansion.end_slice, works, self.collisions, BUDGET)
            program.launch(note_slice, 1, self.ground, self.sweeper.pressing, self.collisions, works)
            bench.for_bodies(expansion.take_part, works, self.kept, motion)

    def _sweep(self, kernel: Any, given: tuple[Any, ...], wanted: Any, correct: Turn | None) -> None:
        """Sweeps with a kernel, each followed by a correction of the joints, until both are within tolerance."""
        program, sweeper, rounds = self.bench.program, self.sweeper, self.sweeper.rounds
        swept = (sweeper.bodies, sweeper.graph, sweeper.pressing, self.bench.state.motion)
        # Few patches alone need few sweeps, and conjugate directions look at all patches. What joints do in between is
        # not what they count on.
        conjugate = self.together and correct is None
        program.launch(begin_rounds, sweeper.worlds, rounds, wanted, 0)
        if correct is not None:
            # Sweeps answer to what points push only where joints fit at their beginning.
            correct(rounds.busy)
        if conjugate:
            program.launch(begin_directions, 1, *swept, sweeper.directions, self.never, sweeper.everywhere)
        with program.loop(rounds.any_busy):
            program.launch(next_sweep, sweeper.worlds, rounds)
            program.launch(kernel, 1, *given)
            if correct is not None:
                correct(rounds.busy)
            ends = (self.ground.limits.speed, self.most_sweeps)
            program.launch(collision_round.spend, sweeper.worlds, rounds, self.collisions, self.answers, *ends, BUDGET)
            program.launch(judge, sweeper.worlds, rounds, *ends, 1)
            if conjugate:
                with program.when(rounds.any_busy):
                    program.launch(go_on, 1, *swept, rounds, sweeper.directions)

    def _for_patches(self, kernel: Any, *inputs: Any) -> None:
        self.bench.program.share(kernel, self.room, *inputs)
