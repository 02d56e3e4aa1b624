"""The contact problems of a step, which its schemes share: when they are posed, with which targets, in which order.

    at the end of a step      contacts are found; impacts rebound; what the scheme wants of the velocities there
    at the start of the next  impulses that keep contacts apart over the whole step
    before it is taken        position correction: what still overlaps is moved apart a little

A scheme says in ``ends`` what happens at either end; the solver is the one of the scheme. Load propagation goes ahead
of the solver, the energy limiter after it. Where a joint holds anything that touches, contacts and joints alternate,
and joints answer to every sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays, glance
from rattleback.model.contact_memory import Due, MovedLoads, record_due, record_moved_loads, remember
from rattleback.model.state import Motion
from rattleback.solvers.contacts.coupling.alternation import Turn, alternate
from rattleback.solvers.contacts.coupling.joint_response import JointResponse
from rattleback.solvers.contacts.coupling.softness import Softness
from rattleback.solvers.contacts.coupling.ties import TiedWorlds
from rattleback.solvers.contacts.problem.contact_graph import find_levels, gather_patches, order_patches
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem, is_parallel
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import weigh
from rattleback.solvers.contacts.restitution.impact import Impacts
from rattleback.solvers.contacts.schemes import position_correction, targets
from rattleback.solvers.contacts.schemes.displacements import (
    Departures,
    Flights,
    Ways,
    find_ways,
    take_over_departures,
)
from rattleback.solvers.contacts.schemes.errors import ContactErrors, record_errors, summary
from rattleback.solvers.contacts.schemes.inputs import ContactLimits, Footing
from rattleback.solvers.contacts.stages.energy_limiter import Easer
from rattleback.solvers.contacts.stages.impulse_account import Account
from rattleback.solvers.contacts.stages.load_propagation import Ground

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.model.contacts import Contacts
    from rattleback.problem.joint_answer import JointAnswer

# The part of an overlap beyond its tolerance that is put right in one step, and how fast at most [m/s].
SHARE, RECOVERY = 0.4, 1.0
# How much faster than its contacts a body may be moved by that, at the end of levers and with others hanging on it.
LEVERAGE = 10.0
# Most sweeps that move bodies apart in a step, in order and by colour, and the part of the tolerance to which they do;
# where joints answer, a body alone moves too little.
PROJECTIONS, PARALLEL_PROJECTIONS, JOINTED_PROJECTIONS = 20, 3, 10
NEAR, JOINTED_NEAR = 1.0, 0.1


class ContactSteps:
    """The contact problems in the steps of a model.

    Attributes:
        problem: The contact problem.
        solver: What solves it.
        ends: What the scheme does at either end of a step.
        worlds: In which worlds joints hold anything that touches.

    Args:
        method: The scheme with its settings.
        ends: Makes what it does at either end of a step, of this.
        given: What the step works on, where contacts are found, and what they aim at.
    """

    def __init__(self, method: Any, ends: Callable[[ContactSteps], Any], given: tuple[Bench, Contacts, ContactLimits]):
        self.method, (self.bench, self.contacts, self.limits) = method, given
        bench, model, room = self.bench, self.bench.model, len(self.contacts.part)
        self.problem = ContactProblem(bench, room, getattr(method.solver, "in_order", False))
        self.solver, self.worlds = method.solver.bind(self.problem), TiedWorlds(bench, self.problem)
        counts = {"contacts": room, "bodies": model.count, "worlds": model.worlds, "flags": 1}
        kinds: tuple[type[Any], ...] = (Motion, ContactErrors, Ways, MovedLoads, Due, Departures)
        made = (arrays.allocate(kind, counts, model.device) for kind in kinds)
        self.shift, self.errors, ways, self.moved, self.due, self.departures = made
        self.ground, self.flights = Footing(), Flights()
        self.ground.contacts, self.ground.memory = self.contacts, bench.state.contacts
        self.ground.surfaces, self.ground.rules, self.ground.limits = model.surfaces, model.rules, self.limits
        self.ground.bodies, self.ground.impulses = model.bodies, bench.state.impulses
        self.ground.adds = int(not is_parallel(model.device))
        self.flights.start, self.flights.end, self.flights.ways = bench.start, bench.predicted, ways
        self.taken = wp.zeros(model.worlds, dtype=wp.float64, device=model.device)
        self.overlapping, self.any_overlapping = (
            wp.zeros(n, dtype=wp.int32, device=model.device) for n in (model.worlds, 1)
        )
        self._make_stages()
        self.impacts = Impacts(method, bench, self.ground, self.problem, self.solver)
        self.response: JointResponse | None = None
        self.ends = ends(self)

    def _make_stages(self) -> None:
        """The stages around the solver that are switched on; they go in order, so not where it goes by colour."""
        given, alone, method = (self.bench, self.problem), self.worlds.alone, self.method
        in_order = self.problem.palette is None
        self.standing = Ground(*given, self.limits, alone) if in_order and method.load_propagation else None
        self.easer = Easer(*given, alone) if in_order and method.energy_limiter else None
        self.calm = self.bench.state.motion if in_order else None
        shocks = getattr(method.solver, "withholds", False)
        self.account = Account(self.bench, self.ground, self.problem, shocks)

    def meet(self, answer: JointAnswer) -> None:
        """Let joints answer to every sweep from now on."""
        softness = Softness(self.problem, answer.preview)
        self.response = self.impacts.response = JointResponse(self.problem, answer, softness)
        self.worlds.jointed = True

    def solve(self, motion: Motion, which: Any, most: int | None = None, response: Any = None) -> None:
        """Record what solves the problem for the velocities of a motion, and limits what unfinished sweeps add.

        Args:
            motion: Whose velocities are corrected.
            which: 1 for every world that is solved.
            most: Most sweeps; None for those of the solver.
            response: What joints answer; None where they have nothing that touches.
        """
        goal = Goal(self.limits.speed, most or self.method.solver.sweeps, self.calm)
        self.solver.record(motion, goal, which, response)
        if response is None and self.easer is not None and self.ends.limits_energy:
            self.easer.ease_left(motion, which, goal.tolerance)

    def record_patches(self) -> None:
        """Record what makes a problem of the contacts found."""
        program, bench, problem = self.bench.program, self.bench, self.problem
        bodies, motion, graph = bench.model.bodies, bench.state.motion, self.problem.graph
        if problem.palette is None:
            program.launch(gather_patches, 1, self.contacts, graph, bench.stop)
            program.launch(find_levels, 1, bodies, self.contacts, graph)
            program.launch(order_patches, 1, bodies, self.contacts, graph, problem.pressing.patches)
        else:
            problem.palette.record_patches(self.contacts, bench.stop)
        problem.record_all_active()
        bench.share_bodies(weigh, motion, problem.pressing.weights)
        given = (bodies, self.ground, graph, problem.pressing, motion, self.departures)
        problem.for_manifolds(targets.prepare_patches, *given, int(self.ends.loads_end))
        if self.response is not None:
            self.response.softness.harden()
        if bench.model.scene.joints:
            self.worlds.record_look()

    def record_start(self) -> None:
        """Record the half of the loads that acts at the start of the step, whose motion is there.

        Where joints hold what touches, loads wait until the joints can answer to them: on a foot alone, what a man's
        weight or a blow on a stop has left is far too much.
        """
        bench, problem = self.bench, self.problem
        given = (self.ground, problem.graph, problem.pressing, bench.state.motion, bench.state.clock)
        problem.for_manifolds(targets.begin_start, *given)
        self.account.begin()
        if self.response is not None:
            self.response.begin_step()
        self.worlds.where_loose(self.worlds.ties if self.worlds.jointed else None, self._push_loads)

    def _push_loads(self, which: Any) -> None:
        """The loads of the last step, eased where they may be blows."""
        self.problem.record_push(self.bench.start, which)
        if self.easer is not None and self.ends.limits_energy:
            self.easer.ease_start(self.bench.start, which)

    def record_positions(self, predict: Callable[[], None], hold: Turn | None = None) -> None:
        """Record the impulses at the start that keep contacts apart at the end; the first prediction is there.

        Args:
            predict: Records a prediction.
            hold: Records what holds joints over the predicted step, in worlds that it is given; None without joints.
        """
        ties = self.worlds.ties if hold is not None else None
        self.worlds.where_loose(ties, partial(self._press, predict, None, None))
        if hold is not None:
            self.worlds.where_tied(ties, lambda which: self._press_tied(predict, hold, which))
        self.ends.record_start_found(ties)
        given = (self.bench.state.impulses, self.bench.substeps, self.taken, self.departures)
        self.bench.for_worlds(targets.note_length, self.bench.state.clock, *given)

    def _press_tied(self, predict: Callable[[], None], hold: Turn, which: Any) -> None:
        """Record the same where joints hold what touches, which answer to the loads of the last step first."""
        start, response = self.bench.start, self.response
        if response is not None:
            response.joints.note(start)
            self.problem.record_push(start, which)
            response.joints.give(start, which)
            predict()
            hold = partial(response.hold, hold)
        self.alternate((partial(self._press, predict, self.turn, response), hold), which)

    def _press(self, predict: Callable[[], None], most: int | None, response: Any, which: Any) -> None:
        bench, problem = self.bench, self.problem
        given = (self.ground, problem.graph, problem.pressing, self.flights, bench.state.clock)
        bench.share_bodies(find_ways, self.flights, bench.state.clock)
        problem.for_manifolds(targets.begin_way, *given, which)
        if self.standing is not None:
            self.standing.stay(self.flights, which)
        self.solve(bench.start, which, most, response)
        predict()

    def alternate(self, turns: tuple[Turn, Turn], which: Any) -> None:
        """Record contacts and joints in turn."""
        alternate(self.problem, turns, (self.limits.speed, self.method.exchanges), which)

    @property
    def turn(self) -> int:
        """Most sweeps until joints have their turn."""
        return int(min(self.method.sweeps_between, self.method.solver.sweeps))

    def record_projection(self, steps: int) -> None:
        """Record what moves overlapping bodies apart at the end of the step.

        Args:
            steps: How many steps it is done for at once.
        """
        bench, program, problem, limits = self.bench, self.bench.program, self.problem, self.ground.limits
        limits.share, limits.recovery = 1.0 - (1.0 - SHARE) ** steps, RECOVERY * steps
        flags = (self.overlapping, self.any_overlapping)
        bench.share_bodies(position_correction.begin_projection, problem.pressing.weights, self.shift, *flags)
        given = (self.ground, problem.graph, problem.pressing, self.flights.ways, bench.state.clock)
        bench.share_bodies(find_ways, self.flights, bench.state.clock)
        problem.for_manifolds(position_correction.measure_overlap, *given, *flags)
        with program.when(self.any_overlapping):
            some = self.worlds.choose(self.overlapping)
            self.worlds.where_loose(some, self._move_loose, self.overlapping)
            self.worlds.where_tied(some, self._move_tied)

    def _move(self, which: Any) -> None:
        bench = self.bench
        moved = (self.shift, bench.predicted, bench.state.clock, which, LEVERAGE * self.ground.limits.recovery)
        bench.share_bodies(position_correction.move_apart, *moved)

    def _move_loose(self, which: Any) -> None:
        most = PROJECTIONS if self.problem.palette is None else PARALLEL_PROJECTIONS
        self.solver.record(self.shift, Goal(NEAR * self.limits.depth, most, marked=True), which)
        self._move(which)

    def _move_tied(self, which: Any) -> None:
        if self.response is not None:
            goal = Goal(JOINTED_NEAR * self.limits.depth, JOINTED_PROJECTIONS)
            self.solver.record(self.shift, goal, which, self.response.of_displacements())
            self._move(which)
            self.response.joints.settle(self.bench.predicted, which)

    def record_taken(self) -> None:
        """Record what is kept when the step is taken."""
        problem = self.problem
        given = (self.ground, problem.graph, problem.pressing, self.flights.ways, self.departures, self.bench.stop)
        self.bench.share_bodies(find_ways, self.flights, self.bench.state.clock)
        problem.for_manifolds(targets.keep_forces, *given)
        self.account.record_taken(self.departures.afresh)

    def record_velocities(self, correct: Turn | None = None) -> None:
        """Record what makes the velocities of the state fit the contacts found, and remember them.

        Args:
            correct: Records what makes them fit the joints, in the worlds that it is given; None without joints.
        """
        bench, memory, due = self.bench, self.ground.memory, self.due
        record_due(bench.program, memory, bench.stop, due)
        with bench.program.when(due.any_due):
            self.account.record_written(due)
            some = self.worlds.choose(due.which)
            self.ends.record_end(correct, some)
            record_moved_loads(bench.program, (bench.model.bodies, self.contacts, memory, due), self.moved)
            rows = max(len(self.contacts.part), len(memory.first))
            bench.program.share(remember, rows, self.contacts, memory, bench.stop)
            self.ends.record_memory(some)
            bench.for_worlds(targets.note_settled, memory, due.which)

    def record_errors(self) -> None:
        """Record what finds out how far contacts are off after the step."""
        bench = self.bench
        given = (bench.model.bodies, self.contacts, self.errors, bench.stop)
        ends = (self.ends.solved, self.impacts.collisions.left)
        record_errors(bench.program, bench.model.worlds, given, ends, self.limits)

    @cached_property
    def forget(self) -> Callable[[], None]:
        """To be called when a call begins: the worst errors start anew."""
        return glance.clearing(*(array for _, array in arrays.each(self.errors)))

    def take_over(self, old: ContactSteps) -> None:
        """Go on with what another one of the same model has seen."""
        arrays.copy_into(self.errors, old.errors)
        wp.copy(self.taken, old.taken)
        take_over_departures(self.departures, old.departures)
        wp.copy(self.impacts.collisions.left, old.impacts.collisions.left)

    def summary(self) -> dict[str, Any]:
        """What the report says of the contacts: the worst errors, where, and why they are too large if they are."""
        most, name = self.method.solver.sweeps, "after" if self.account.shocks else "sweeps"
        turn = most if self.response is None else self.turn
        return summary(self.errors, self.bench.model, self.limits, (turn, self.method.exchanges, most, name))
