"""Energy limiter: the impulses of an island are scaled so that its contacts create no energy.

    s = min(1, −2 p·u / p·A p)   where   p·u + ½ p·A p > 0      over the points of an island

p impulses after the last sweep, A p the velocities that they change at the points, u the velocities of the points
without p, averaged over the time that p acts. p·A p is the sum of  P·P/m + L·I⁻¹ L  over the bodies, P and L the
momenta that p gives to one of mass m and inertia I. p·u + ½ p·A p is the energy that the contacts add; each sweep
lowers it. It is zero for p = 0, and positive for a warm start that is much too large, as after an impact; few sweeps
leave some of that. With s p it is zero, and s p stays in the friction cone. Islands are moving bodies that touch, over
any number of others. Islands in which a joint holds a body are skipped: their loads look like impacts without the
response of the joints.

It runs after sweeps that end outside their tolerance, and when start loads change a velocity by much more than gravity
does in a step; otherwise it is one pass over every body. Forces such as springs count as they are at the start of the
step, so bodies that a spring presses together keep their loads.

Cost: a third of a sweep, on one thread; islands are found once for the manifolds of a step. Not on CUDA: sums over
islands in a fixed order would take longer than the sweeps that they spare.

Reference: Tarjan (1975), disjoint sets.
"""

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.model.step_context import Moment
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import (
    BodyInertias,
    ContactSystem,
    Manifolds,
    to_world,
    twist_of,
    wrench_of,
)
from rattleback.solvers.contacts.problem.status import SolverStatus, set_busy

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem

ZERO = wp.constant(real(0.0))
# Half loads at rest change a velocity by half of what gravity does in a step; stored impacts by much more.
IMPACT_MULTIPLE = wp.constant(real(4.0))


@group(axis="bodies")
class ContactEnergy:
    """Islands of bodies, and the energy of the impulses in each."""

    root: wp.int32 = field("1", "first body of its island")
    momentum: vec3 = field("N s", "momentum that the impulses give to a body")
    angular_momentum: vec3 = field("N m s", "angular momentum that they give to it")
    work: real = field("J", "p·(u + A p) of the island, at its first body")
    response: real = field("J", "p·A p of the island")
    jointed: wp.int32 = field("1", "1 where a joint holds a body of the island")
    scale: real = field("1", "multiple of the impulses of the island that adds no energy")
    gather_count: wp.int32 = field("1", "number of the manifolds that the islands are of", axis="flags")


@wp.func
def root_of(energy: ContactEnergy, i: int) -> int:
    """First body of an island while islands are joined; bodies on the way to it come closer."""
    while energy.root[i] != i:
        energy.root[i] = energy.root[energy.root[i]]
        i = energy.root[i]
    return i


@wp.func
def moving_body(bodies: Bodies, manifolds: Manifolds, k: int) -> int:
    """A body of a manifold that moves."""
    return wp.where(bodies.inverse_mass[manifolds.body_a[k]] > ZERO, manifolds.body_a[k], manifolds.body_b[k])


@wp.func
def join_islands(bodies: Bodies, graph: Graph, system: ContactSystem, energy: ContactEnergy) -> None:
    """Join the bodies that touch."""
    for i in range(bodies.world.shape[0]):
        energy.root[i] = i
    for k in range(graph.total[0]):
        a = system.manifolds.body_a[k]
        b = system.manifolds.body_b[k]
        if bodies.inverse_mass[a] > ZERO and bodies.inverse_mass[b] > ZERO:
            first = root_of(energy, a)
            second = root_of(energy, b)
            energy.root[wp.max(first, second)] = wp.min(first, second)
    # The root of a body is never behind it, so that those before it know the first body of their island already.
    for i in range(bodies.world.shape[0]):
        energy.root[i] = energy.root[energy.root[i]]


@wp.func
def add_work(bodies: Bodies, system: ContactSystem, motion: Motion, energy: ContactEnergy, k: int) -> None:
    """Add the momenta that the impulses of a manifold give to its bodies, and their work to its island."""
    manifolds = system.manifolds
    force, moment = wrench_of(system, k)
    if wp.dot(force, force) + wp.dot(moment, moment) == ZERO:
        return
    u, w = twist_of(manifolds, motion, k)
    work = wp.dot(force, u + manifolds.bias[k]) + wp.dot(moment, w + manifolds.angular_bias[k])
    for c in range(manifolds.first[k], manifolds.first[k] + manifolds.count[k]):
        work += system.points.impulse[c][0] * system.points.place[c][2]
    i = energy.root[moving_body(bodies, manifolds, k)]
    energy.work[i] = energy.work[i] + work
    n = manifolds.normal[k]
    t = manifolds.tangent[k]
    force = to_world(n, t, force)
    moment = to_world(n, t, moment)
    a = manifolds.body_a[k]
    b = manifolds.body_b[k]
    energy.momentum[a] = energy.momentum[a] + force
    energy.angular_momentum[a] = energy.angular_momentum[a] + moment + wp.cross(manifolds.arm_a[k], force)
    energy.momentum[b] = energy.momentum[b] - force
    energy.angular_momentum[b] = energy.angular_momentum[b] - moment - wp.cross(manifolds.arm_b[k], force)


@wp.func
def add_response(
    bodies: Bodies, inertias: BodyInertias, energy: ContactEnergy, unjointed: wp.array[wp.int32], i: int
) -> None:
    """Add p·A p of a body to its island."""
    if bodies.inverse_mass[i] > ZERO:
        p = energy.momentum[i]
        turn = energy.angular_momentum[i]
        response = bodies.inverse_mass[i] * wp.dot(p, p) + wp.dot(turn, inertias.inverse_inertia[i] * turn)
        first = energy.root[i]
        energy.response[first] = energy.response[first] + response
        if unjointed[i] == 0:
            energy.jointed[first] = 1


@wp.func
def energy_scale(energy: ContactEnergy, i: int) -> real:
    """The multiple s of the impulses of an island that adds no energy."""
    response = energy.response[i]
    without = energy.work[i] - response
    if without + real(0.5) * response <= ZERO or response <= ZERO or energy.jointed[i] == 1:
        return real(1.0)
    return wp.clamp(-real(2.0) * without / response, ZERO, real(1.0))


@wp.func
def scale_manifold(system: ContactSystem, k: int, s: real) -> None:
    """Multiply the impulses of a manifold, and its loads."""
    system.manifolds.resisting_moment[k] = s * system.manifolds.resisting_moment[k]
    for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
        system.points.impulse[c] = s * system.points.impulse[c]
        system.points.load[c] = s * system.points.load[c]


@kernel
def find_unconverged(status: SolverStatus, wanted: wp.array[wp.int32], tolerance: wp.array[real]) -> None:
    """Select the worlds whose sweeps have ended outside their tolerance."""
    w = wp.tid()
    worst = wp.max(status.normal_residual[w], status.tangential_residual[w])
    set_busy(status, w, wanted[w] == 1 and worst > tolerance[w])


@kernel
def begin_impact_search(status: SolverStatus) -> None:
    """No world is selected."""
    status.busy[wp.tid()] = 0
    status.any_busy[0] = 0


@kernel
def find_impact_loads(
    bodies: Bodies,
    before: Motion,
    after: Motion,
    clock: Clock,
    gravity: wp.array[real],
    status: SolverStatus,
    lanes: int,
) -> None:
    """Select the worlds in which start loads change a velocity so much that they may be impacts."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        w = bodies.world[i]
        threshold = IMPACT_MULTIPLE * real(clock.time_step[w]) * gravity[w]
        v = after.velocity[i] - before.velocity[i]
        if wp.dot(v, v) > threshold * threshold:
            status.busy[w] = 1
            status.any_busy[0] = 1


@kernel
def mask_wanted(status: SolverStatus, wanted: wp.array[wp.int32]) -> None:
    """Keep the selection in some worlds only."""
    status.busy[wp.tid()] = status.busy[wp.tid()] * wanted[wp.tid()]


@kernel
def find_force_gain(bodies: Bodies, loads: Loads, inertias: BodyInertias, clock: Clock, force_gain: Motion) -> None:
    """Change of the mean velocity of a body over a step by forces."""
    i = wp.tid()
    half = real(0.5) * real(clock.time_step[bodies.world[i]])
    force_gain.velocity[i] = half * bodies.inverse_mass[i] * loads.force[i]
    force_gain.angular_velocity[i] = vec3()
    if bodies.inverse_mass[i] > ZERO:
        force_gain.angular_velocity[i] = half * (inertias.inverse_inertia[i] * loads.torque[i])


@kernel
def set_force_bias(graph: Graph, system: ContactSystem, force_gain: Motion, lanes: int) -> None:
    """That change at a manifold, as its bias, before the step is predicted."""
    for k in range(wp.tid(), graph.total[0], lanes):
        u, w = twist_of(system.manifolds, force_gain, k)
        system.manifolds.bias[k] = u
        system.manifolds.angular_bias[k] = w
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            place = system.points.place[c]
            system.points.place[c] = vec3(place[0], place[1], ZERO)


@kernel
def limit_energy(
    bodies: Bodies,
    graph: Graph,
    system: ContactSystem,
    motion: Motion,
    status: SolverStatus,
    energy: ContactEnergy,
    unjointed: wp.array[wp.int32],
) -> None:
    """Scale the impulses of islands of selected worlds where they create energy, on one thread."""
    if energy.gather_count[0] != graph.gather_count[0]:
        join_islands(bodies, graph, system, energy)
        energy.gather_count[0] = graph.gather_count[0]
    for i in range(bodies.world.shape[0]):
        energy.momentum[i] = vec3()
        energy.angular_momentum[i] = vec3()
        energy.work[i] = ZERO
        energy.response[i] = ZERO
        energy.jointed[i] = 0
    for k in range(graph.total[0]):
        if status.busy[system.manifolds.world[k]] == 1:
            add_work(bodies, system, motion, energy, k)
    for i in range(bodies.world.shape[0]):
        add_response(bodies, system.inertias, energy, unjointed, i)
    limited = bool(False)
    for i in range(bodies.world.shape[0]):
        energy.scale[i] = energy_scale(energy, i)
        if energy.scale[i] < real(1.0):
            limited = True
    if not limited:
        return
    for k in range(graph.total[0]):
        s = energy.scale[energy.root[moving_body(bodies, system.manifolds, k)]]
        if s < real(1.0):
            scale_manifold(system, k, s)
    for i in range(bodies.world.shape[0]):
        less = real(1.0) - energy.scale[energy.root[i]]
        if less > ZERO:
            turn = system.inertias.inverse_inertia[i] * energy.angular_momentum[i]
            motion.velocity[i] = motion.velocity[i] - less * (bodies.inverse_mass[i] * energy.momentum[i])
            motion.angular_velocity[i] = motion.angular_velocity[i] - less * turn


class EnergyLimiter:
    """Records the energy limiter of a model.

    Args:
        context: What the step works on.
        problem: The contact problem.
        unjointed: 1 for every body without joints.
    """

    def __init__(self, context: "StepContext", problem: "ContactProblem", unjointed: Any) -> None:
        self.context, self.unjointed = context, unjointed
        self.system, self.graph, self.status = problem.system, problem.graph, problem.status
        self.energy = arrays.allocate(ContactEnergy, {"bodies": context.model.count, "flags": 1}, context.model.device)
        self.force_gain, self.loads = context.scratch(Motion), context.scratch(Loads)
        self.gravity = context.model.world_numbers(context.model.gravity)

    def limit_energy_unconverged(self, motion: Motion, wanted: Any, tolerance: Any) -> None:
        """Record the limit of impulses in worlds whose sweeps have ended outside their tolerance.

        Args:
            motion: The velocities that they act on.
            wanted: 1 for every world that was swept.
            tolerance: Largest residual in every world [m/s], on the device.
        """
        context = self.context
        context.for_worlds(find_unconverged, self.status, wanted, tolerance)
        with context.program.when(self.status.any_busy):
            self._limit_energy(motion)

    def limit_energy_start(self, motion: Motion, wanted: Any) -> None:
        """Record the limit of the loads at the start of a step, in selected worlds, where they may be impacts."""
        context, room = self.context, len(self.system.points.impulse)
        now = Moment(context.state.motion, context.state.clock)
        self._find_impact_loads(now.motion, motion)
        context.for_worlds(mask_wanted, self.status, wanted)
        with context.program.when(self.status.any_busy):
            context.evaluate(now, self.loads)
            context.for_bodies(find_force_gain, self.loads, self.system.inertias, now.clock, self.force_gain)
            context.program.share(set_force_bias, room, self.graph, self.system, self.force_gain)
            self._limit_energy(motion)

    def limit_energy_end(self, before: Motion, motion: Motion) -> None:
        """Record the limit of the loads at its end; ``before`` has the velocities without them."""
        self._find_impact_loads(before, motion)
        with self.context.program.when(self.status.any_busy):
            self._limit_energy(motion)

    def _find_impact_loads(self, before: Motion, after: Motion) -> None:
        context = self.context
        context.for_worlds(begin_impact_search, self.status)
        context.share_bodies(find_impact_loads, before, after, context.state.clock, self.gravity, self.status)

    def _limit_energy(self, motion: Motion) -> None:
        context = self.context
        given = (context.model.bodies, self.graph, self.system, motion, self.status)
        context.program.launch(limit_energy, 1, *given, self.energy, self.unjointed)
