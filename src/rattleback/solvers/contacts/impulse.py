"""Contacts by impulses: rebounds at once, resting contacts as joints that push, friction, all warm-started.

    at the end of a step      contacts are found; collisions rebound; resting points are stopped
    at the start of the next  resting points get impulses that keep them apart over the whole step, as joints do
    before it is taken        what still overlaps is moved apart a little

Each is a few sweeps of block Gauss–Seidel over the patches, from the ground up, starting with the forces of the last
step; they end when every contact is within its tolerances, or when ``max_sweeps`` are used up, and the report says so.

Cost: linear in the contacts for each sweep. At rest one or two sweeps do; a tall stack that has to find its load takes
tens to hundreds, once.

Reference: Bender, dissertation, chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import warp as wp

from rattleback.core import arrays, checks, glance
from rattleback.core.sealed import sealed
from rattleback.model.contact_memory import Due, MovedLoads, record_due, record_moved_loads, remember
from rattleback.model.state import Motion
from rattleback.solvers.contacts import projection, resting
from rattleback.solvers.contacts.account import Account
from rattleback.solvers.contacts.colours import make_palette
from rattleback.solvers.contacts.contact_errors import ContactErrors, record_errors, summary
from rattleback.solvers.contacts.contact_graph import LEVELS, SHELVES, Graph, find_levels, gather_patches, order_patches
from rattleback.solvers.contacts.easing import Easer
from rattleback.solvers.contacts.exchange import Exchange
from rattleback.solvers.contacts.impact import ORDERS, RESTITUTIONS, Impacts
from rattleback.solvers.contacts.patch import Patches, PatchPoints, Pressing, Weights, weigh
from rattleback.solvers.contacts.resting import ContactLimits, Footing
from rattleback.solvers.contacts.rounds import Rounds
from rattleback.solvers.contacts.standing import Ground
from rattleback.solvers.contacts.sweeper import Sweeper, Turn
from rattleback.solvers.contacts.ties import Ties, record_choice
from rattleback.solvers.contacts.ways import Departures, Flights, Ways, find_ways, take_over_departures

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.model.contacts import Contacts
    from rattleback.problem.joint_answer import JointAnswer

# The part of an overlap beyond its tolerance that is put right in one step, and how fast at most [m/s].
SHARE, RECOVERY = 0.4, 1.0
# How much faster than its contacts a body may be moved by that, at the end of levers and with others hanging on it.
LEVERAGE = 10.0
# Most sweeps that move bodies apart in a step, on one thread and in parallel, and the part of the tolerance to which
# they do; where joints answer, a body alone moves too little.
PROJECTIONS, PARALLEL_PROJECTIONS, JOINTED_PROJECTIONS = 20, 3, 10
NEAR, JOINTED_NEAR = 1.0, 0.1


@sealed
@dataclass(frozen=True)
class Impulse:
    """How contacts are resolved.

    Attributes:
        max_sweeps: Most sweeps at either end of a step. A round of collisions has up to twenty for each of them; of ten
            or fewer, in sequence on the CPU and without joints, as many, but two at least.
        sweeps_between: Most sweeps, with joints that answer to each, after which the step is predicted again.
        exchanges: Most times that is done at either end of a step.
        restitution: Law of collisions: ``"newton"``, ``"poisson"`` or ``"stronge"``.
        impact: What is resolved together: ``"sequential"``, the collisions of a moment and then those they cause, or
            ``"simultaneous"``, all that touch at once.
    """

    max_sweeps: int = 50
    sweeps_between: int = 50
    exchanges: int = 3
    restitution: str = "newton"
    impact: str = "sequential"

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        own = type(self).__name__
        for name in ("max_sweeps", "sweeps_between", "exchanges"):
            checks.count(getattr(self, name), f"{name} of {own}")
        checks.one_of(self.restitution, RESTITUTIONS, f"restitution of {own}")
        checks.one_of(self.impact, ORDERS, f"impact of {own}")

    def bind(
        self, bench: Bench, contacts: Contacts, tolerances: tuple[float, float], distance: float
    ) -> ContactImpulses:
        """The method on a model.

        Args:
            bench: What the step works on.
            contacts: Where contacts are found.
            tolerances: Depth [m] and speed [m/s] that contacts may be off.
            distance: Contact distance [m].
        """
        return ContactImpulses(self, bench, contacts, self.limits(bench, tolerances, distance))

    @staticmethod
    def limits(bench: Bench, tolerances: tuple[float, float], distance: float) -> ContactLimits:
        """What contacts aim at; see ``bind``."""
        limits = ContactLimits()
        limits.depth, limits.speed = tolerances
        limits.rebound = math.sqrt(2.0 * math.hypot(*bench.model.scene.gravity) * distance)
        limits.slow = 0.1 * limits.rebound
        return limits


class ContactImpulses:
    """Contacts by impulses in the steps of a model.

    Args:
        method: How.
        bench: What the step works on.
        contacts: Where contacts are found.
        limits: What they aim at.
    """

    def __init__(self, method: Impulse, bench: Bench, contacts: Contacts, limits: ContactLimits) -> None:
        self.method, self.bench, self.contacts, self.limits = method, bench, contacts, limits
        model, room = bench.model, len(contacts.part)
        counts = {"contacts": room, "ends": 2 * room, "bodies": model.count, "worlds": model.worlds}
        counts |= {"shelves": SHELVES * LEVELS + 1, "one": 1, "flags": 1}
        kinds: tuple[Any, ...] = (Patches, PatchPoints, Weights, Graph, Rounds, Motion, ContactErrors, Ways, Departures)
        made = [arrays.allocate(kind, counts, model.device) for kind in kinds]
        # One more patch than there can be, for those who solve one with other masses.
        made[0] = arrays.allocate(Patches, {"contacts": room + 1}, model.device)
        patches, points, weights, graph, rounds, self.shift, self.errors, ways, self.departures = made
        self.pressing, self.graph, self.rounds, self.solved = Pressing(), graph, rounds, rounds
        self.pressing.patches, self.pressing.points, self.pressing.weights = patches, points, weights
        self.ground = Footing()
        self.ground.contacts, self.ground.memory = contacts, bench.state.contacts
        self.ground.surfaces, self.ground.rules, self.ground.limits = model.surfaces, model.rules, limits
        self.flights = Flights()
        self.flights.start, self.flights.end, self.flights.ways = bench.start, bench.predicted, ways
        self.palette = None if model.device.is_cpu else make_palette(bench, self.pressing, graph, counts)
        self.sweeper = Sweeper(bench.program, model.bodies, self.pressing, graph, rounds, self.palette)
        self.footing = Ground(bench, self.pressing, graph, limits)
        self._calm_sweeps()
        self.impacts = Impacts(method, bench, self.ground, self.sweeper)
        self.exchange: Exchange | None = None
        self.moved = arrays.allocate(MovedLoads, counts, model.device)
        self._part_worlds(counts)

    def _part_worlds(self, counts: dict[str, int]) -> None:
        """What is known of every world: how long its step was, and whether it overlaps, is due, tied or loose."""
        device, worlds = self.bench.model.device, counts["worlds"]
        self.taken = wp.zeros(worlds, dtype=wp.float64, device=device)
        self.overlapping, self.any_overlapping = (wp.zeros(n, dtype=wp.int32, device=device) for n in (worlds, 1))
        self.due: Any = arrays.allocate(Due, counts, device)
        # Those of the worlds that are due, or overlap.
        self.some: Any = arrays.allocate(Ties, counts, device)
        ground, state = self.ground, self.bench.state
        ground.bodies, ground.impulses, ground.adds = self.bench.model.bodies, state.impulses, int(device.is_cpu)
        self.account = Account(self.bench, self.ground, self.pressing, self.graph, self.palette)

    def _calm_sweeps(self) -> None:
        """On one thread sweeps create no energy, and go on where hardly anything moves."""
        if self.bench.model.device.is_cpu:
            given = (self.bench, self.pressing, self.graph, self.rounds, self.footing.standing.alone)
            self.sweeper.easer, self.sweeper.state = Easer(*given), self.bench.state.motion

    @property
    def _loads_end(self) -> bool:
        """Whether points push with half of their load at the end of the step."""
        return True

    def meet(self, answer: JointAnswer) -> None:
        """Let joints answer to every sweep from now on."""
        self.exchange = Exchange(self.sweeper, answer, self.footing.standing.alone)
        self.impacts.count_answers(answer.preview.effort.iterations)

    def propagate(self) -> None:
        """End sweeps that leave contacts outside their tolerance with a pass of shock propagation."""
        self.palette = self.sweeper.palette = self.account.palette = None
        self.sweeper.shocks = self.account.shocks = True

    def record_patches(self) -> None:
        """Record what makes patches of the contacts found."""
        program, bench, graph = self.bench.program, self.bench, self.graph
        bodies, motion = bench.model.bodies, bench.state.motion
        if self.palette is None:
            program.launch(gather_patches, 1, self.contacts, graph, bench.stop)
            program.launch(find_levels, 1, bodies, self.contacts, graph)
            shelves = 1 if bench.model.scene.joints else int(SHELVES)
            program.launch(order_patches, 1, bodies, self.contacts, graph, self.pressing.patches, shelves)
        else:
            self.palette.record_patches(self.contacts, bench.stop)
        bench.share_bodies(weigh, motion, self.pressing.weights)
        given = (bodies, self.ground, graph, self.pressing, motion, self.departures)
        self._for_patches(resting.prepare_patches, *given, int(self._loads_end))
        if self.exchange is not None:
            self.exchange.softness.harden()
        if bench.model.scene.joints:
            self.footing.record_look()

    def record_start(self) -> None:
        """Record the half of the loads that acts at the start of the step, whose motion is there.

        Where joints hold what touches, loads wait until the joints can answer to them: on a foot alone, what a man's
        weight or a blow on a stop has left is far too much.
        """
        bench = self.bench
        given = (self.ground, self.graph, self.pressing, bench.state.motion, bench.state.clock)
        self._for_patches(resting.begin_start, *given)
        self.account.begin()
        if self.exchange is not None:
            self.exchange.begin()
        push = partial(self.sweeper.push_loads, bench.start)
        self._where_loose(None if self.exchange is None else self.footing.ties, push)

    def record_positions(self, predict: Callable[[], None], hold: Turn | None = None) -> None:
        """Record the impulses at the start that keep contacts apart at the end; the first prediction is there.

        Args:
            predict: Records a prediction.
            hold: Records what holds joints over the predicted step, in worlds that it is given; None without joints.
        """
        ties = self.footing.ties if hold is not None else None
        self._where_loose(ties, partial(self._press, predict, self.sweeper.sweep, self.method.max_sweeps))
        if hold is not None:
            self._where_tied(ties, lambda which: self._press_tied(predict, hold, which))
        self._end_start()
        given = (self.bench.state.impulses, self.bench.substeps, self.taken, self.departures)
        self.bench.for_worlds(resting.note_length, self.bench.state.clock, *given)

    def _press_tied(self, predict: Callable[[], None], hold: Turn, which: Any) -> None:
        """Record the same where joints hold what touches, which answer to the loads of the last step first."""
        if self.exchange is not None:
            self.exchange.push_loads(self.bench.start, which)
            predict()
            hold = partial(self.exchange.hold, hold)
        self._exchange((partial(self._press, predict, self._sweep, self._turn), hold), which)

    def _end_start(self) -> None:
        """Record what follows when the impulses at the start are found."""
        self._keep_loads(self.sweeper.everywhere)

    def _keep_loads(self, which: Any) -> None:
        self._for_patches(resting.end_start, self.graph, self.pressing, self.bench.state.clock, which)

    def _split(self, which: Any) -> Ties | None:
        """Record which of some worlds are tied and which loose; None where there are no joints."""
        if self.exchange is None:
            return None
        record_choice(self.bench.program, self.footing.ties, which, self.some)
        return self.some

    def _where_loose(self, ties: Ties | None, record: Turn, which: Any = None) -> None:
        """Record something for worlds in which no joint holds anything that touches; without joints, for ``which``."""
        if ties is None:
            record(self.sweeper.everywhere if which is None else which)
            return
        with self.bench.program.when(ties.any_loose):
            record(ties.loose)

    def _where_tied(self, ties: Ties | None, record: Turn) -> None:
        """Record something for worlds in which a joint does."""
        if ties is not None:
            with self.bench.program.when(ties.any_tied):
                record(ties.tied)

    def _press(self, predict: Callable[[], None], sweep: Callable[..., None], most: int, which: Any) -> None:
        bench = self.bench
        given = (self.ground, self.graph, self.pressing, self.flights, bench.state.clock)
        bench.share_bodies(find_ways, self.flights, bench.state.clock)
        self._for_patches(resting.begin_way, *given, which)
        self.footing.stay(self.flights, which)
        sweep(bench.start, self.limits.speed, most, which)
        predict()

    def _sweep(self, motion: Motion, tolerance: float, most: int, which: Any = None, counts: bool = True) -> None:
        if self.exchange is None:
            self.sweeper.sweep(motion, tolerance, most, which)
        else:
            self.exchange.sweep(motion, tolerance, most, which, counts)

    def _exchange(self, turns: tuple[Turn, Turn], which: Any) -> None:
        self.sweeper.exchange(turns, self.limits.speed, self.method.exchanges, which)

    @property
    def _turn(self) -> int:
        """Most sweeps until joints have their turn."""
        return min(self.method.sweeps_between, self.method.max_sweeps)

    def record_projection(self, steps: int) -> None:
        """Record what moves overlapping bodies apart at the end of the step.

        Args:
            steps: How many steps it is done for at once.
        """
        bench, program = self.bench, self.bench.program
        limits = self.ground.limits
        limits.share, limits.recovery = 1.0 - (1.0 - SHARE) ** steps, RECOVERY * steps
        flags = (self.overlapping, self.any_overlapping)
        bench.share_bodies(projection.begin_projection, self.pressing.weights, self.shift, *flags)
        given = (self.ground, self.graph, self.pressing, self.flights.ways, bench.state.clock)
        bench.share_bodies(find_ways, self.flights, bench.state.clock)
        self._for_patches(projection.measure_overlap, *given, *flags)
        with program.when(self.any_overlapping):
            some = self._split(self.overlapping)
            self._where_loose(some, self._move_loose, self.overlapping)
            self._where_tied(some, self._move_tied)

    def _move(self, which: Any) -> None:
        bench = self.bench
        moved = (self.shift, bench.predicted, bench.state.clock, which, LEVERAGE * self.ground.limits.recovery)
        bench.share_bodies(projection.move_apart, *moved)

    def _move_loose(self, which: Any) -> None:
        most = PROJECTIONS if self.palette is None else PARALLEL_PROJECTIONS
        self.sweeper.sweep_marked(self.shift, NEAR * self.limits.depth, most, which)
        self._move(which)

    def _move_tied(self, which: Any) -> None:
        if self.exchange is not None:
            self._sweep(self.shift, JOINTED_NEAR * self.limits.depth, JOINTED_PROJECTIONS, which, counts=False)
            self._move(which)
            self.exchange.answer.settle(self.bench.predicted, which)

    def record_taken(self) -> None:
        """Record what is kept when the step is taken."""
        given = (self.ground, self.graph, self.pressing, self.flights.ways, self.departures, self.bench.stop)
        self.bench.share_bodies(find_ways, self.flights, self.bench.state.clock)
        self._for_patches(resting.keep_forces, *given)
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
            self._end(correct, self._split(due.which))
            record_moved_loads(bench.program, (bench.model.bodies, self.contacts, memory, due), self.moved)
            rows = max(len(self.contacts.part), len(memory.first))
            bench.program.share(remember, rows, self.contacts, memory, bench.stop)
            self._keep(self.some)
            bench.for_worlds(resting.note_settled, memory, due.which)

    def _end(self, correct: Turn | None, some: Ties | None) -> None:
        """Record the collisions at the end of the step and the sweeps after them, in worlds that are due."""
        which, motion = self.due.which, self.bench.state.motion
        self._begin_end(correct, which)
        sweep = partial(self.sweeper.sweep, motion, self.limits.speed, self.method.max_sweeps)
        self._where_loose(some, sweep, which)
        if correct is not None:
            self._where_tied(some, lambda tied: self._exchange((self._stop, correct), tied))

    def _begin_end(self, correct: Turn | None, which: Any) -> None:
        motion = self.bench.state.motion
        self.impacts.record(self.taken, correct, which)
        if self.sweeper.easer is not None:
            self.sweeper.easer.ease_end(self.impacts.unloaded, motion)
        self.footing.stop(motion, which)

    def _keep(self, some: Ties) -> None:
        """Record what the points of worlds that are due remember."""
        self._keep_points(self.due.which)

    def _keep_points(self, which: Any) -> None:
        lengths = (self.bench.state.clock, self.taken)
        self._for_patches(resting.keep_points, self.ground, self.graph, self.pressing, self.rounds, *lengths, which)
        self.account.record_end(which)

    def _stop(self, which: Any) -> None:
        self._sweep(self.bench.state.motion, self.limits.speed, self._turn, which)

    def record_errors(self) -> None:
        """Record what finds out how far contacts are off after the step."""
        bench = self.bench
        given = (bench.model.bodies, self.contacts, self.errors, bench.stop)
        ends = (self.solved, self.impacts.collisions.left)
        record_errors(bench.program, bench.model.worlds, given, ends, self.limits)

    @cached_property
    def forget(self) -> Callable[[], None]:
        """To be called when a call begins: the worst errors start anew."""
        return glance.clearing(*(array for _, array in arrays.each(self.errors)))

    def take_over(self, old: ContactImpulses) -> None:
        """Go on with what another one of the same model has seen."""
        arrays.copy_into(self.errors, old.errors)
        wp.copy(self.taken, old.taken)
        take_over_departures(self.departures, old.departures)
        wp.copy(self.impacts.collisions.left, old.impacts.collisions.left)

    def summary(self) -> dict[str, Any]:
        """What the report says of the contacts: the worst errors, where, and why they are too large if they are."""
        return summary(self.errors, self.bench.model, self.limits)

    def _for_patches(self, kernel: Any, *inputs: Any) -> None:
        self.bench.program.share(kernel, len(self.contacts.part), *inputs)
