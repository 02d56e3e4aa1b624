"""Time stepping: contacts are solved once a step, where impulses solve them at either end of it.

    v⁺ = v + h M⁻¹ f + M⁻¹ Jᵀ p,      0 ≤ p_n  ⟂  u_n + Φ / h ≥ 0,      |p_t| ≤ μ p_n against the slip

v⁺ mean velocities over the step, u those of A against B at a point, Φ its distance. A point that touches is stopped or
separates, one that does not touch yet may come closer by its distance. Collisions rebound at the end of the step, as
they do by impulses; so what is solved here rests, slides or lands.

    start of the step   ½ h F, then what is missing to p
    end of the step     ½ h F again, no more than p; what stands is stopped; collisions
    F ← ½ F + p / h

F is the load of a point. One half acts before the step and one half after it, so that a body at rest neither sinks nor
keeps a speed, and one that slides follows the exact parabola. What p is beside the load put velocities right that were
off at the end of the last step. Were F all of 2 p / h, the next end would be off by as much the other way, for ever; so
it is the mean of that and what it was. F grows in a step at most by what changes a velocity by the speed from which
bodies rebound: what is more was an impact, and does not go on.

Cost: half of the sweeps of impulses, and a fifth to a quarter less in all where much moves. Use it there, and with
short steps. At the end of a step no sweeps make velocities fit: they do where loads stay what they were. Few sweeps
leave overlaps, and to move bodies apart lifts them. Where a joint holds anything that touches, both ends are solved, as
by impulses.

Reference: Moreau (1988), Unilateral contact and dry friction in finite freedom dynamics; Stewart, Trinkle (1996), An
implicit time-stepping scheme; the halves are derived here.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.core.sealed import sealed
from rattleback.model.state import Clock
from rattleback.solvers.contacts.coupling.alternation import WorldStage
from rattleback.solvers.contacts.coupling.ties import JointedWorlds
from rattleback.solvers.contacts.kernels.twist import TINY
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, to_world
from rattleback.solvers.contacts.problem.status import SolverStatus, copy_status
from rattleback.solvers.contacts.schemes.contact_steps import ContactSteps
from rattleback.solvers.contacts.schemes.displacements import HALF, ZERO, keep_remainders
from rattleback.solvers.contacts.schemes.impulse import BothEnds
from rattleback.solvers.contacts.schemes.inputs import ContactInputs, ContactLimits
from rattleback.solvers.contacts.schemes.settings import DEFAULT, Tolerances, check_scheme, limits_of
from rattleback.solvers.contacts.schemes.targets import is_sticking
from rattleback.solvers.contacts.stages.impulse_account import note_pushes
from rattleback.solvers.contacts.stages.impulse_sums import keep_impulse

if TYPE_CHECKING:
    from rattleback.model.contacts import Contacts
    from rattleback.model.step_context import StepContext


@wp.func
def ratio(portion: real, whole: real) -> real:
    """The part that some is of a whole; none where there is nothing."""
    return wp.where(whole > ZERO, portion / wp.max(whole, TINY), ZERO)


@kernel
def record_stepped_loads(
    graph: Graph, system: ContactSystem, limits: ContactLimits, clock: Clock, which: wp.array[wp.int32], lanes: int
) -> None:
    """The impulses at the start are found: the loads of wanted worlds from now on, and what their points end with."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 0:
            continue
        h = real(clock.time_step[system.manifolds.world[k]])
        more = limits.rebound / system.manifolds.block_nn[k][0, 0]
        all_pushed = ZERO
        all_kept = ZERO
        first = system.manifolds.first[k]
        for c in range(first, first + system.manifolds.count[k]):
            p = system.points.impulse[c]
            half = HALF * h * system.points.load[c]
            grown = wp.min(p[0], half[0] + HALF * more)
            kept = wp.min(p[0], half[0])
            system.points.acted[c] = p
            system.points.load[c] = (real(1.0) / h) * (half + ratio(grown, p[0]) * p)
            # What slides rubs as it did just now; what sticks as its load has it, which does not swing.
            system.points.impulse[c] = ratio(kept, p[0]) * p
            system.points.sticking[c] = 0
            if is_sticking(p, system.manifolds.friction[k]):
                system.points.impulse[c] = ratio(kept, half[0]) * half
                system.points.sticking[c] = 1
            all_pushed += p[0]
            all_kept += kept
        system.manifolds.resisting_moment[k] = ratio(all_kept, all_pushed) * system.manifolds.resisting_moment[k]


@kernel
def store_loads(
    inputs: ContactInputs, graph: Graph, system: ContactSystem, which: wp.array[wp.int32], lanes: int
) -> None:
    """What the points of the worlds that are wanted remember, by the rows of the contacts found last.

    Contacts that were carried along are in the rows they were in, and so is what is remembered of them.
    """
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 0:
            continue
        keep_remainders(inputs.memory, system, k)
        for i in range(system.manifolds.count[k]):
            keep_impulse(inputs.contacts, inputs.memory, system, k, i)
        if inputs.contacts.carried[0] == 1:
            continue
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        for i in range(system.manifolds.count[k]):
            c = system.manifolds.first[k] + i
            row = system.manifolds.contact[k] + i
            inputs.memory.load[row] = to_world(n, t, system.points.load[c])
            inputs.memory.slip[row] = system.points.slip[c]


@sealed
@dataclass(frozen=True)
class TimeStepping:
    """Contacts that are solved once a step; the settings of ``Impulse``, without its energy limiter.

    Attributes:
        solver: What solves its problems, by name or as an object.
        sweeps_between: Most sweeps, with joints that answer to each, after which the step is predicted again.
        exchanges: Most times that contacts and joints take turns at either end of a step.
        restitution: Law of impacts: ``"newton"``, ``"poisson"`` or ``"stronge"``.
        impact: ``"sequential"`` or ``"simultaneous"``.
        load_propagation: Whether bodies that stand send their momentum to their supports in one pass before sweeps.
    """

    solver: Any = field(default_factory=DEFAULT)
    sweeps_between: int = 50
    exchanges: int = 3
    restitution: str = "newton"
    impact: str = "sequential"
    load_propagation: bool = True

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = True
    energy_limiter: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_scheme(self)

    def bind(
        self, context: "StepContext", contacts: "Contacts", tolerances: Tolerances, distance: float
    ) -> ContactSteps:
        """The scheme on a model; see ``Impulse.bind``."""
        return ContactSteps(self, OnceAStep, (context, contacts, limits_of(context, tolerances, distance)))


class OnceAStep:
    """What time stepping does at either end of a step; where joints hold what touches, what impulses do.

    Args:
        steps: The contact problems of the step.
    """

    limits_energy = False

    def __init__(self, steps: ContactSteps) -> None:
        self.steps, self.both = steps, BothEnds(steps)
        model = steps.context.model
        self.solved = arrays.allocate(SolverStatus, {"worlds": model.worlds, "flags": 1}, model.device)
        # Points may push with half of their load at the end of the step, as those with joints do.
        self.loads_end = bool(model.scene.joints)

    def record_start_found(self, jointed_worlds: "JointedWorlds | None") -> None:
        """Record what follows when the impulses at the start are found."""
        self.steps.worlds.where_free(jointed_worlds, self._record_free_start)
        self.steps.worlds.where_jointed(jointed_worlds, self.both.keep_start)

    def _record_free_start(self, which: Any) -> None:
        steps, problem, predicted = self.steps, self.steps.problem, self.steps.context.predicted
        given = (problem.graph, problem.system, steps.limits, steps.context.state.clock, which)
        problem.for_manifolds(record_stepped_loads, *given)
        problem.record_push(predicted, which)
        if steps.load_propagation is not None:
            steps.load_propagation.remove_velocity(predicted, which)
        problem.for_manifolds(note_pushes, problem.graph, problem.system, which)
        self._copy_solved_status(which)

    def _copy_solved_status(self, which: Any) -> None:
        self.steps.context.for_worlds(copy_status, self.steps.problem.status, which, self.solved)

    def record_end(self, correct: "WorldStage | None", selected: "JointedWorlds | None") -> None:
        """Record impacts at the velocities of the state; where joints hold what touches, all that impulses do."""
        steps = self.steps
        steps.worlds.where_free(selected, partial(steps.impacts.record_unloaded, correct), steps.due.which)
        if correct is not None:
            steps.worlds.where_jointed(selected, partial(self._end_jointed, correct))

    def _end_jointed(self, correct: WorldStage, which: Any) -> None:
        self.both.end_jointed(correct, which)
        self._copy_solved_status(which)

    def record_memory(self, selected: "JointedWorlds | None") -> None:
        """Record what the points remember."""
        steps, problem = self.steps, self.steps.problem
        kept = (steps.inputs, problem.graph, problem.system)
        steps.worlds.where_free(
            selected, lambda which: problem.for_manifolds(store_loads, *kept, which), steps.due.which
        )
        steps.worlds.where_jointed(selected, self.both.keep_points)
