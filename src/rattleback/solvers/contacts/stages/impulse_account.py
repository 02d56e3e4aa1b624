"""The account of contact impulses: their sum over a step, for every contact point and every body.

    J = p(start) + Σ p(collisions) + p(end),      F = J / h

p(start) the impulses before the step is taken, with half of the load; p(end) those after it; between them the impacts
at the end of the step, round by round. Over h the momentum of a body changes by J and by forces and joints; F is what
users read. The load of a point is not F: it is the force that the next step begins with.

    end of the start      points: acted ← p
    step is taken         contacts: J ← acted, bodies: J ← Σ acted; within sub-steps, J ← J + …
    contacts are found    a point takes over J of the point it matches; of lost points only the bodies keep it
    impacts               J ← J + p after each round
    end                   J ← J + p

Impulses that fit velocities that were written count with the step that follows. Bodies add up manifold by manifold in
the order of the sweeps: on one thread, on CUDA colour by colour. Static bodies have none: manifolds of one colour share
them.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.body_impulses import BodyImpulses
from rattleback.model.contact_memory import ADVANCED, ContactMemory
from rattleback.model.model import Bodies
from rattleback.model.step_context import StepContext
from rattleback.solvers.contacts.problem.colouring import Colouring
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.manifolds import BodyInertias, ContactSystem, to_world
from rattleback.solvers.contacts.restitution.expansion import ImpactWork
from rattleback.solvers.contacts.schemes.inputs import ContactInputs
from rattleback.solvers.contacts.stages.impulse_sums import add_impulse, give_manifold


@wp.func
def add_manifold(inputs: ContactInputs, system: ContactSystem, k: int, start: int) -> None:
    """Add the impulses of a manifold, before the step is taken or at its end, to its bodies."""
    p = vec3()
    first = system.manifolds.first[k]
    for c in range(first, first + system.manifolds.count[k]):
        p += wp.where(start == 1, system.points.acted[c], system.points.impulse[c])
    p = to_world(system.manifolds.normal[k], system.manifolds.tangent[k], p)
    give_manifold(inputs.bodies, inputs.impulses, system, k, p)


@kernel
def add_in_order(
    inputs: ContactInputs,
    system: ContactSystem,
    graph: Graph,
    which: wp.array[wp.int32],
    stop: wp.array[wp.int32],
    start: int,
) -> None:
    """Add the impulses of the points to the bodies of selected worlds, on one thread."""
    if stop[0] == 0:
        for k in range(graph.total[0]):
            if which[system.manifolds.world[k]] == 1:
                add_manifold(inputs, system, k, start)


@kernel
def add_colour(
    inputs: ContactInputs,
    system: ContactSystem,
    colouring: Colouring,
    which: wp.array[wp.int32],
    stop: wp.array[wp.int32],
    start: int,
    colour: int,
    threads: int,
) -> None:
    """The same for the manifolds of a colour, in parallel."""
    if stop[0] == 0:
        place = colouring.first[colour] + wp.tid()
        while place < colouring.first[colour + 1]:
            k = colouring.order[place]
            if which[system.manifolds.world[k]] == 1:
                add_manifold(inputs, system, k, start)
            place += threads


@kernel
def begin_withheld(inertias: BodyInertias) -> None:
    """Nothing has been withheld from any body."""
    inertias.withheld[wp.tid()] = vec3()


@kernel
def add_withheld(bodies: Bodies, inertias: BodyInertias, impulses: BodyImpulses, stop: wp.array[wp.int32]) -> None:
    """Subtract impulses that shock propagation withheld from bodies of lower levels."""
    i = wp.tid()
    if stop[0] == 0 and bodies.inverse_mass[i] > real(0.0):
        impulses.impulse[i] = impulses.impulse[i] + inertias.withheld[i]
    inertias.withheld[i] = vec3()


@kernel
def begin_bodies(
    bodies: Bodies, impulses: BodyImpulses, afresh: wp.array[wp.int32], stop: wp.array[wp.int32], lanes: int
) -> None:
    """The bodies have no impulse in the step yet."""
    if stop[0] == 0:
        for i in range(wp.tid(), bodies.world.shape[0], lanes):
            if afresh[bodies.world[i]] == 1:
                impulses.impulse[i] = vec3()


@kernel
def find_written(memory: ContactMemory, which: wp.array[wp.int32], written: wp.array[wp.int32]) -> None:
    """Selected worlds whose velocities fit contacts after a write: those impulses belong to the next step."""
    w = wp.tid()
    written[w] = wp.where(which[w] == 1 and memory.pending[w] != ADVANCED, 1, 0)


@kernel
def begin_written(impulses: BodyImpulses, written: wp.array[wp.int32]) -> None:
    """No time has passed in that step yet."""
    w = wp.tid()
    if written[w] == 1:
        impulses.duration[w] = wp.float64(0.0)


@wp.func
def note_manifold(inputs: ContactInputs, system: ContactSystem, k: int, part: real) -> None:
    """Add impulses of an impact to the points of a manifold."""
    total = vec3()
    for i in range(system.manifolds.count[k]):
        p = part * system.points.impulse[system.manifolds.first[k] + i]
        p = to_world(system.manifolds.normal[k], system.manifolds.tangent[k], p)
        add_impulse(inputs.contacts, inputs.memory, system, k, i, p)
        total += p
    give_manifold(inputs.bodies, inputs.impulses, system, k, total)


@kernel
def note_blows(inputs: ContactInputs, system: ContactSystem, active: Active) -> None:
    """Add the impulses of an impact round, or of a phase of it, on one thread."""
    for i in range(active.count[0]):
        note_manifold(inputs, system, active.listed[i], real(1.0))


@kernel
def note_slice(inputs: ContactInputs, system: ContactSystem, active: Active, impact_work: ImpactWork) -> None:
    """Add the impulses of a slice of an impact, as far as it is taken, on one thread."""
    for i in range(active.count[0]):
        k = active.listed[i]
        note_manifold(inputs, system, k, impact_work.fraction[system.manifolds.world[k]])


@kernel
def note_pushes(graph: Graph, system: ContactSystem, which: wp.array[wp.int32], lanes: int) -> None:
    """Add the impulses of the points of selected worlds once more."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 1:
            first = system.manifolds.first[k]
            for c in range(first, first + system.manifolds.count[k]):
                system.points.acted[c] = system.points.acted[c] + system.points.impulse[c]


class Account:
    """Records the account of the impulses of a model.

    Args:
        context: What the step works on.
        inputs: What the manifolds are made from; where it adds up bodies itself, on one thread, that is not done here.
        problem: The contact problem.
        shocks: Whether passes of shock propagation keep impulses from bodies.
    """

    def __init__(self, context: StepContext, inputs: ContactInputs, problem: ContactProblem, shocks: bool) -> None:
        self.context, self.ground, self.problem, self.shocks = context, inputs, problem, shocks
        self.impulses, self.system, self.everywhere = context.state.impulses, problem.system, problem.everywhere
        self.written = wp.zeros(context.model.worlds, dtype=wp.int32, device=context.model.device)

    def begin(self) -> None:
        """Record that a step begins, or begins again from its start."""
        if self.shocks:
            self.context.program.launch(begin_withheld, self.context.model.count, self.system.inertias)

    def record_taken(self, afresh: Any) -> None:
        """Record that the step is taken, with what the points have done before it.

        Args:
            afresh: 1 for every world in which a whole step begins.
        """
        if not self.ground.adds:
            self.context.share_bodies(begin_bodies, self.impulses, afresh, self.context.stop)
        self._add(self.everywhere, start=1)

    def record_end(self, which: Any) -> None:
        """Record the impulses of selected worlds at the end of the step, without impacts."""
        self._add(which, start=0)

    def record_written(self, due: Any) -> None:
        """Record that nothing has acted in due worlds that were written to."""
        context = self.context
        with context.program.when(due.any_written):
            context.for_worlds(find_written, context.state.contacts, due.which, self.written)
            context.share_bodies(begin_bodies, self.impulses, self.written, context.stop)
            context.for_worlds(begin_written, self.impulses, self.written)

    def _add(self, which: Any, start: int) -> None:
        context, given = self.context, (which, self.context.stop, start)
        if self.problem.colour_driver is not None and not self.ground.adds:
            self.problem.colour_driver.by_colour(add_colour, *given, first=self.ground)
        elif not self.ground.adds:
            context.program.launch(add_in_order, 1, self.ground, self.system, self.problem.graph, *given)
        if self.shocks:
            context.for_bodies(add_withheld, self.system.inertias, self.impulses, context.stop)
