"""Contacts and joints together: sweeps over the contacts in which the joints answer to each of them.

    sweep the patches; the joints take back what that did to their rows; again, until the residual is small
    then, sooner where it is bodies with joints that are off, along conjugate directions: forth, answer, back, answer,
    the best step in the plane of this and the last step

A point sees only the two bodies it touches. A foot that carries a man stops at once, and the man pushes it on: without
conjugate directions it takes as many rounds as he is heavier than his foot. With the answers in it, a sweep is a step
in the contacts alone, with masses as the joints make them, so that the directions are those of that problem.

What moves overlapping bodies apart is a matter of few sweeps but for bodies with joints, of which one alone moves too
little: after two sweeps only their patches are swept.

Cost: for each sweep a substitution in the factor of the joints beside the sweep itself.
"""

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.conjugate import Directions, begin_directions, keep_better, try_better
from rattleback.solvers.contacts.contact_graph import Graph
from rattleback.solvers.contacts.patch import SET_ASIDE, Pressing
from rattleback.solvers.contacts.rounds import Rounds, judge, judge_plain, reopen
from rattleback.solvers.contacts.shock import propagate
from rattleback.solvers.contacts.softness import Softness

if TYPE_CHECKING:
    from rattleback.problem.joint_answer import JointAnswer
    from rattleback.solvers.contacts.sweeper import Sweeper, Turn

# Sweeps that move bodies apart that have no joints.
FREELY = wp.constant(2)


@kernel
def note_answer(bodies: Bodies, pressing: Pressing, rounds: Rounds, held: wp.array[wp.int32]) -> None:
    """Joints have pushed a body that has some: its patches are not quiet."""
    i = held[wp.tid()]
    if bodies.inverse_mass[i] > real(0.0) and rounds.busy[bodies.world[i]] == 1:
        pressing.weights.pushed[i] = rounds.turn[0]


@kernel
def set_aside(graph: Graph, pressing: Pressing, rounds: Rounds, alone: wp.array[wp.int32], lanes: int) -> None:
    """After ``FREELY`` sweeps, patches of bodies without joints are quiet until the next sweeps begin."""
    if rounds.turn[0] == FREELY:
        for k in range(wp.tid(), graph.total[0], lanes):
            if alone[pressing.patches.body_a[k]] == 1 and alone[pressing.patches.body_b[k]] == 1:
                pressing.patches.swept[k] = SET_ASIDE


@kernel
def try_step(
    bodies: Bodies,
    graph: Graph,
    pressing: Pressing,
    motion: Motion,
    rounds: Rounds,
    directions: Directions,
    changed: wp.array[wp.int32],
) -> None:
    """Try a better step than the last sweeps of worlds that are still busy and the same problem, on one thread."""
    for w in range(directions.trying.shape[0]):
        directions.trying[w] = rounds.busy[w] * (1 - changed[w])
    try_better(bodies, graph, pressing, motion, directions)


@kernel
def settle_step(bodies: Bodies, pressing: Pressing, motion: Motion, rounds: Rounds, directions: Directions) -> None:
    """Joints have answered to it: keep it where it is better than the sweeps, on one thread."""
    keep_better(bodies, pressing, motion, rounds, directions)


class Exchange:
    """Records sweeps over the patches of a model in which its joints answer.

    Args:
        sweeper: What sweeps without them.
        answer: What the joints do.
        alone: 1 for every body without joints.
    """

    def __init__(self, sweeper: "Sweeper", answer: "JointAnswer", alone: Any) -> None:
        self.sweeper, self.answer, self.alone = sweeper, answer, alone
        self.swept = (sweeper.bodies, sweeper.graph, sweeper.pressing)
        self.softness = Softness(sweeper, answer.preview)

    def begin(self) -> None:
        """Record that a step begins: contacts have pushed nothing yet."""
        self.softness.harden()
        self.softness.begin_pushes(self.sweeper.everywhere)

    def hold(self, hold: "Turn", which: Any) -> None:
        """Record joints at the start of the step, which are told what contacts have done there.

        Args:
            hold: Records what holds them, in the worlds that it is given.
            which: 1 for every world in which that is done.
        """
        self.softness.note_pushes(which)
        hold(which)

    def push_loads(self, motion: Motion, wanted: Any) -> None:
        """Record the loads of the last step at the start of the next, and what the joints answer to them."""
        self.answer.note(motion)
        self.sweeper.push_loads(motion, wanted)
        self.answer.give(motion, wanted)

    def sweep(self, motion: Motion, tolerance: float, most: int, wanted: Any, counts: bool = True) -> None:
        """Record sweeps over a motion in which joints hold, until the residual is within a tolerance.

        Args:
            motion: Whose velocities are corrected.
            tolerance: Largest residual [m/s].
            most: Most sweeps.
            wanted: 1 for every world that is to be swept.
            counts: Whether velocities are meant; otherwise they stand for displacements.
        """
        sweeper, rounds = self.sweeper, self.sweeper.rounds
        program, worlds = sweeper.program, sweeper.worlds
        plain = sweeper.plain(most)
        with program.when(self.answer.preview.effort.any_stiff):
            self.answer.prepare_stiff(wanted)
            self.softness.harden()
            self.softness.soften()
        self.answer.note(motion)
        sweeper.begin(tolerance, wanted, counts)
        with program.loop(rounds.any_busy, may_stop=True):
            self._sweep_once(motion, tolerance, most, counts)
            program.launch(judge_plain, worlds, rounds, tolerance, *plain)
        if plain[1] < most - 1:
            program.launch(reopen, worlds, rounds, wanted, tolerance, most)
            with program.when(rounds.any_busy):
                self._sweep_on(motion, tolerance, most, counts)
        if sweeper.shocks and most > 1:
            swept = (sweeper.bodies, sweeper.pressing, sweeper.graph, motion)
            program.launch(propagate, 1, *swept, rounds, wanted, tolerance)

    def _sweep_once(self, motion: Motion, tolerance: float, most: int, counts: bool) -> None:
        sweeper, rounds = self.sweeper, self.sweeper.rounds
        sweeper.sweep_once(motion, tolerance, most)
        self._answer(motion, counts)
        if not counts:
            room = len(sweeper.pressing.points.impulse)
            sweeper.program.share(set_aside, room, sweeper.graph, sweeper.pressing, rounds, self.alone)

    def _answer(self, motion: Motion, counts: bool, tried: bool = False) -> None:
        """The answer to a sweep, or to a step that is tried."""
        sweeper, rounds = self.sweeper, self.sweeper.rounds
        which = sweeper.directions.trying if tried else rounds.busy
        if counts:
            self.answer.give(motion, which, may_let_go=not tried)
        else:
            self.answer.give_ways(motion, which)
        held = self.answer.held
        sweeper.program.launch(note_answer, len(held), sweeper.bodies, sweeper.pressing, rounds, held)

    def _sweep_on(self, motion: Motion, tolerance: float, most: int, counts: bool) -> None:
        """Sweeps back and forth along conjugate directions; going on takes one each way."""
        sweeper, rounds, program = self.sweeper, self.sweeper.rounds, self.sweeper.program
        self._begin_directions(motion, sweeper.everywhere)
        with program.loop(rounds.any_busy, may_stop=True):
            self._sweep_once(motion, tolerance, most, counts)
            program.launch(judge, sweeper.worlds, rounds, tolerance, most, 2)
            with program.when(rounds.any_busy):
                sweeper.sweep_back(motion, tolerance, most)
                self._answer(motion, counts)
                self._go_on(motion, counts)
                with program.when(self.answer.steps.any_changed):
                    self._begin_directions(motion, self.answer.steps.changed)

    def _begin_directions(self, motion: Motion, which: Any) -> None:
        sweeper = self.sweeper
        begun = (sweeper.directions, sweeper.rounds.turn, which)
        sweeper.program.launch(begin_directions, 1, *self.swept, motion, *begun)
        self.answer.begin_steps(which)

    def _go_on(self, motion: Motion, counts: bool) -> None:
        """A step along conjugate directions, with the answer to what it had to take back."""
        sweeper, rounds, directions = self.sweeper, self.sweeper.rounds, self.sweeper.directions
        tried = (sweeper.pressing, motion, rounds, directions)
        sweeper.program.launch(try_step, 1, sweeper.bodies, sweeper.graph, *tried, self.answer.steps.changed)
        self.answer.try_step((directions.keeps, directions.part_z, directions.part_d))
        self._answer(motion, counts, tried=True)
        sweeper.program.launch(settle_step, 1, sweeper.bodies, *tried)
        self.answer.settle_step((directions.trying, directions.keeps))
