"""Time stepping: contacts are solved once a step, where impulses solve them at either end of it.

    v⁺ = v + h M⁻¹ f + M⁻¹ Jᵀ p,      0 ≤ p_n  ⟂  u_n + Φ / h ≥ 0,      |p_t| ≤ μ p_n against the slip

v⁺ mean velocities over the step, u those of A against B at a point, Φ its distance. A point that touches is stopped or
separates, one that does not touch yet may approach by its gap. Impacts are resolved at the end of the step, as in the
impulse scheme; so points solved here rest, slide or land.

    start of the step   ½ h F, then the rest of p
    end of the step     ½ h F again, no more than p; load propagation; impacts
    F ← ½ F + p / h

F is the load of a point. One half acts before the step and one half after it, so that a body at rest neither sinks nor
keeps a speed, and one that slides follows the exact parabola. The part of p beyond the load corrects the
error of velocities at the end of the last step. With F = 2 p / h the next end would have the opposite error, for ever;
so F is the mean of that and its last value. F grows in a step at most by what changes a velocity by the rebound speed:
more was an impact, and is no load.

Cost: half of the sweeps of impulses, and a fifth to a quarter less in all where much moves. Use it there, and with
short steps. At the end of a step no sweeps correct velocities: they fit where loads stay constant. Few sweeps leave
penetrations, and correcting those lifts bodies. Where a joint holds a body that touches something, both ends are
solved, as in the impulse scheme.

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
    """Quotient of two numbers; zero where the divisor is zero."""
    return wp.where(whole > ZERO, portion / wp.max(whole, TINY), ZERO)


@kernel
def record_stepped_loads(
    graph: Graph, system: ContactSystem, limits: ContactLimits, clock: Clock, which: wp.array[wp.int32], lanes: int
) -> None:
    """The impulses at the start are found: loads of selected worlds, and the impulses of their points at the end."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 0:
            continue
        h = real(clock.time_step[system.manifolds.world[k]])
        more = limits.rebound[system.manifolds.world[k]] / system.manifolds.block_nn[k][0, 0]
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
            # A sliding point has the friction of p; a sticking one that of its load, which does not oscillate.
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
    """Store the loads and impulses of the points of selected worlds, by the rows of the contacts found last.

    Updated contacts keep their rows, and so does their memory.
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
        law: Law of friction: ``"coulomb"``, its convex relaxation ``"cone"``, ``"pyramid"`` or ``"frictionless"``; see
            ``kernels.laws``.
        restitution: Law of impacts: ``"newton"``, ``"poisson"`` or ``"stronge"``.
        impact: ``"sequential"`` or ``"simultaneous"``.
        load_propagation: Whether supported bodies send their momentum to their supports in one pass before sweeps.
    """

    solver: Any = field(default_factory=DEFAULT)
    sweeps_between: int = 50
    exchanges: int = 3
    restitution: str = "newton"
    impact: str = "sequential"
    load_propagation: bool = True
    law: str = "coulomb"

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
        return ContactSteps(self, OnceAStep, (context, contacts, limits_of(context, tolerances, distance, self.law)))


class OnceAStep:
    """Time stepping at either end of a step; where joints hold bodies that touch, that of the impulse scheme.

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
        """Record the impacts of the state; where joints hold bodies that touch, the end of the impulse scheme."""
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
