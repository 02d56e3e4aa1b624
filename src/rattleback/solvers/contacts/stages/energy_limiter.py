"""Easing loads that fit no more: impulses of an island are scaled so that its contacts create no energy.

    s = min(1, −2 p·u / p·A p)   where   p·u + ½ p·A p > 0      over the points of an island

p impulses after the last sweep, A p what they change at the points, u velocities that the points would have without p,
in the mean over what p acts on. p·A p is the sum of  P·P/m + L·I⁻¹ L  over the bodies, P and L the momenta p gives to
one of mass m and inertia I. p·u + ½ p·A p is what the contacts add to the energy; sweeps lower it from where they
begin. It is zero for p = 0, and above zero where last loads are much too large, as after a blow, and few sweeps leave
some of that. With s p it is zero again, and s p stays in the cone of friction.
Islands are bodies that move and touch each other, over any number of others. Those in which a joint holds a body are
let be: a foot carries what hangs on it, and its loads look like blows without what the joints answer.

Done after sweeps that end outside their tolerance, and when loads are pushed that change a velocity by much more than
gravity does in a step; else it is one look at every body. Forces such as springs count as they are at the start of the
step, so that what they press keeps its loads. Cost: a third of a sweep, on one thread; islands are looked for once for
the patches of a step. Where sweeps go colour by colour, on CUDA, loads are left as they are: sums over islands in a
fixed order would take longer than the sweeps that they spare.

Reference: Tarjan (1975), disjoint sets.
"""

import math
from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.bench import Moment
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Loads, Motion
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Patches, Pressing, Weights, twist_of, world, wrench_of
from rattleback.solvers.contacts.problem.status import Rounds, open_world

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem

ZERO = wp.constant(real(0.0))
# Loads at rest change a velocity by half of what gravity does in a step; blows that were remembered by much more.
MUCH = wp.constant(real(4.0))


@group(axis="bodies")
class Easing:
    """Islands of bodies, and what the impulses do in each."""

    root: wp.int32 = field("1", "first body of its island")
    momentum: vec3 = field("N s", "what the impulses give to a body")
    spin: vec3 = field("N m s", "the same of its angular momentum")
    work: real = field("J", "p·(u + A p) of the island, at its first body")
    answer: real = field("J", "p·A p of the island")
    held: wp.int32 = field("1", "1 where a joint holds a body of the island")
    part: real = field("1", "multiple of the impulses of the island that adds no energy")
    gathered: wp.int32 = field("1", "number of the patches that the islands are of", axis="flags")


@wp.func
def root_of(easing: Easing, i: int) -> int:
    """First body of an island while it is looked for; bodies on the way to it come closer."""
    while easing.root[i] != i:
        easing.root[i] = easing.root[easing.root[i]]
        i = easing.root[i]
    return i


@wp.func
def mover(bodies: Bodies, patches: Patches, k: int) -> int:
    """A body of a patch that moves."""
    return wp.where(bodies.inverse_mass[patches.body_a[k]] > ZERO, patches.body_a[k], patches.body_b[k])


@wp.func
def find_islands(bodies: Bodies, graph: Graph, pressing: Pressing, easing: Easing) -> None:
    """Join the bodies that touch."""
    for i in range(bodies.world.shape[0]):
        easing.root[i] = i
    for k in range(graph.total[0]):
        a = pressing.patches.body_a[k]
        b = pressing.patches.body_b[k]
        if bodies.inverse_mass[a] > ZERO and bodies.inverse_mass[b] > ZERO:
            first = root_of(easing, a)
            second = root_of(easing, b)
            easing.root[wp.max(first, second)] = wp.min(first, second)
    # The root of a body is never behind it, so that those before it know the first body of their island already.
    for i in range(bodies.world.shape[0]):
        easing.root[i] = easing.root[easing.root[i]]


@wp.func
def add_work(bodies: Bodies, pressing: Pressing, motion: Motion, easing: Easing, k: int) -> None:
    """Add what the impulses of a patch give to its bodies, and their work to that of its island."""
    patches = pressing.patches
    force, moment = wrench_of(pressing, k)
    if wp.dot(force, force) + wp.dot(moment, moment) == ZERO:
        return
    u, w = twist_of(patches, motion, k)
    work = wp.dot(force, u + patches.drive[k]) + wp.dot(moment, w + patches.spin[k])
    for c in range(patches.first[k], patches.first[k] + patches.count[k]):
        work += pressing.points.impulse[c][0] * pressing.points.place[c][2]
    i = easing.root[mover(bodies, patches, k)]
    easing.work[i] = easing.work[i] + work
    n = patches.normal[k]
    t = patches.tangent[k]
    force = world(n, t, force)
    moment = world(n, t, moment)
    a = patches.body_a[k]
    b = patches.body_b[k]
    easing.momentum[a] = easing.momentum[a] + force
    easing.spin[a] = easing.spin[a] + moment + wp.cross(patches.arm_a[k], force)
    easing.momentum[b] = easing.momentum[b] - force
    easing.spin[b] = easing.spin[b] - moment - wp.cross(patches.arm_b[k], force)


@wp.func
def add_answer(bodies: Bodies, weights: Weights, easing: Easing, alone: wp.array[wp.int32], i: int) -> None:
    """Add what the impulses on a body do to its velocities to what they do in its island."""
    if bodies.inverse_mass[i] > ZERO:
        p = easing.momentum[i]
        turn = easing.spin[i]
        answer = bodies.inverse_mass[i] * wp.dot(p, p) + wp.dot(turn, weights.inverse_inertia[i] * turn)
        first = easing.root[i]
        easing.answer[first] = easing.answer[first] + answer
        if alone[i] == 0:
            easing.held[first] = 1


@wp.func
def part_of(easing: Easing, i: int) -> real:
    """The multiple s of the impulses of an island that adds no energy."""
    answer = easing.answer[i]
    without = easing.work[i] - answer
    if without + real(0.5) * answer <= ZERO or answer <= ZERO or easing.held[i] == 1:
        return real(1.0)
    return wp.clamp(-real(2.0) * without / answer, ZERO, real(1.0))


@wp.func
def scale_patch(pressing: Pressing, k: int, s: real) -> None:
    """Multiply the impulses of a patch, and the loads that they are of."""
    pressing.patches.couple[k] = s * pressing.patches.couple[k]
    for c in range(pressing.patches.first[k], pressing.patches.first[k] + pressing.patches.count[k]):
        pressing.points.impulse[c] = s * pressing.points.impulse[c]
        pressing.points.load[c] = s * pressing.points.load[c]


@kernel
def find_left(rounds: Rounds, wanted: wp.array[wp.int32], tolerance: real) -> None:
    """Worlds whose sweeps have ended outside their tolerance are busy."""
    w = wp.tid()
    open_world(rounds, w, wanted[w] == 1 and wp.max(rounds.along[w], rounds.across[w]) > tolerance)


@kernel
def begin_blows(rounds: Rounds) -> None:
    """Nobody has been looked at."""
    rounds.busy[wp.tid()] = 0
    rounds.any_busy[0] = 0


@kernel
def find_blows(
    bodies: Bodies, before: Motion, after: Motion, clock: Clock, gravity: real, rounds: Rounds, lanes: int
) -> None:
    """Worlds in which loads push a body so much that they may be blows are busy."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        w = bodies.world[i]
        much = MUCH * real(clock.time_step[w]) * gravity
        v = after.velocity[i] - before.velocity[i]
        if wp.dot(v, v) > much * much:
            rounds.busy[w] = 1
            rounds.any_busy[0] = 1


@kernel
def keep_wanted(rounds: Rounds, wanted: wp.array[wp.int32]) -> None:
    """Only worlds that are wanted are busy."""
    rounds.busy[wp.tid()] = rounds.busy[wp.tid()] * wanted[wp.tid()]


@kernel
def find_fall(bodies: Bodies, loads: Loads, weights: Weights, clock: Clock, fall: Motion) -> None:
    """What forces add to the mean velocity of a body over a step."""
    i = wp.tid()
    half = real(0.5) * real(clock.time_step[bodies.world[i]])
    fall.velocity[i] = half * bodies.inverse_mass[i] * loads.force[i]
    fall.angular_velocity[i] = vec3()
    if bodies.inverse_mass[i] > ZERO:
        fall.angular_velocity[i] = half * (weights.inverse_inertia[i] * loads.torque[i])


@kernel
def begin_fall(graph: Graph, pressing: Pressing, fall: Motion, lanes: int) -> None:
    """Before the step is predicted: what that means for a patch."""
    for k in range(wp.tid(), graph.total[0], lanes):
        u, w = twist_of(pressing.patches, fall, k)
        pressing.patches.drive[k] = u
        pressing.patches.spin[k] = w
        for c in range(pressing.patches.first[k], pressing.patches.first[k] + pressing.patches.count[k]):
            place = pressing.points.place[c]
            pressing.points.place[c] = vec3(place[0], place[1], ZERO)


@kernel
def ease(
    bodies: Bodies,
    graph: Graph,
    pressing: Pressing,
    motion: Motion,
    rounds: Rounds,
    easing: Easing,
    alone: wp.array[wp.int32],
) -> None:
    """Scale the impulses of islands of busy worlds where they create energy, on one thread."""
    if easing.gathered[0] != graph.gathered[0]:
        find_islands(bodies, graph, pressing, easing)
        easing.gathered[0] = graph.gathered[0]
    for i in range(bodies.world.shape[0]):
        easing.momentum[i] = vec3()
        easing.spin[i] = vec3()
        easing.work[i] = ZERO
        easing.answer[i] = ZERO
        easing.held[i] = 0
    for k in range(graph.total[0]):
        if rounds.busy[pressing.patches.world[k]] == 1:
            add_work(bodies, pressing, motion, easing, k)
    for i in range(bodies.world.shape[0]):
        add_answer(bodies, pressing.weights, easing, alone, i)
    eased = bool(False)
    for i in range(bodies.world.shape[0]):
        easing.part[i] = part_of(easing, i)
        if easing.part[i] < real(1.0):
            eased = True
    if not eased:
        return
    for k in range(graph.total[0]):
        s = easing.part[easing.root[mover(bodies, pressing.patches, k)]]
        if s < real(1.0):
            scale_patch(pressing, k, s)
    for i in range(bodies.world.shape[0]):
        less = real(1.0) - easing.part[easing.root[i]]
        if less > ZERO:
            turn = pressing.weights.inverse_inertia[i] * easing.spin[i]
            motion.velocity[i] = motion.velocity[i] - less * (bodies.inverse_mass[i] * easing.momentum[i])
            motion.angular_velocity[i] = motion.angular_velocity[i] - less * turn


class Easer:
    """Records what eases the impulses of the patches of a model.

    Args:
        bench: What the step works on.
        problem: The contact problem.
        alone: 1 for every body without joints.
    """

    def __init__(self, bench: "Bench", problem: "ContactProblem", alone: Any) -> None:
        self.bench, self.alone = bench, alone
        self.pressing, self.graph, self.rounds = problem.pressing, problem.graph, problem.status
        self.easing = arrays.allocate(Easing, {"bodies": bench.model.count, "flags": 1}, bench.model.device)
        self.fall, self.loads = bench.scratch(Motion), bench.scratch(Loads)
        self.gravity = math.hypot(*bench.model.scene.gravity)

    def ease_left(self, motion: Motion, wanted: Any, tolerance: float) -> None:
        """Record what eases impulses of worlds whose sweeps have ended outside their tolerance.

        Args:
            motion: The velocities that they act on.
            wanted: 1 for every world that was swept.
            tolerance: Largest residual [m/s].
        """
        bench = self.bench
        bench.for_worlds(find_left, self.rounds, wanted, tolerance)
        with bench.program.when(self.rounds.any_busy):
            self._ease(motion)

    def ease_start(self, motion: Motion, wanted: Any) -> None:
        """Record what eases the loads just pushed at the start of a step in wanted worlds, where they may be blows."""
        bench, room = self.bench, len(self.pressing.points.impulse)
        now = Moment(bench.state.motion, bench.state.clock)
        self._find_blows(now.motion, motion)
        bench.for_worlds(keep_wanted, self.rounds, wanted)
        with bench.program.when(self.rounds.any_busy):
            bench.evaluate(now, self.loads)
            bench.for_bodies(find_fall, self.loads, self.pressing.weights, now.clock, self.fall)
            bench.program.share(begin_fall, room, self.graph, self.pressing, self.fall)
            self._ease(motion)

    def ease_end(self, before: Motion, motion: Motion) -> None:
        """Record the same at its end; ``before`` has the velocities without loads."""
        self._find_blows(before, motion)
        with self.bench.program.when(self.rounds.any_busy):
            self._ease(motion)

    def _find_blows(self, before: Motion, after: Motion) -> None:
        bench = self.bench
        bench.for_worlds(begin_blows, self.rounds)
        bench.share_bodies(find_blows, before, after, bench.state.clock, self.gravity, self.rounds)

    def _ease(self, motion: Motion) -> None:
        bench = self.bench
        given = (bench.model.bodies, self.graph, self.pressing, motion, self.rounds)
        bench.program.launch(ease, 1, *given, self.easing, self.alone)
