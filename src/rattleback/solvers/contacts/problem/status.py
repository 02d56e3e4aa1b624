"""Sweeps over the patches until every world is within its tolerance: who is busy, and kernels that go in order.

    residual of a patch: the change of velocity its correction made, along the normal and across; it is the natural
    residual of the contact problem, zero where every point pushes and separates not, or separates and pushes not,
    and grips or slides at the limit of its friction

On one thread patches are swept in their order, and back where that does not suffice: a sweep forth and back is
symmetric, which conjugate directions want.

What lies still needs a finer residual than what moves. A velocity that is within the tolerance at the foot of a column
is ten times that at its top, and the loads that stop it there are not those that it rests on: a heap that is stopped
only to within its tolerance creeps and rocks for ever, at ten times the tolerance, and that takes more sweeps in each
step than rest does. So where hardly anything moves sweeps go on to a part of the fastest velocity.

Few sweeps leave what is wedged, as an arch of bodies across a funnel, to sink into each other step by step. Such places
are few; so a few sweeps over all are followed by some over the patches that overlap by more than the tolerance.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import push_patch, solve_patch
from rattleback.solvers.contacts.kernels.twist import BACK, FORTH, THERE_AND_BACK
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Pressing

# Part of the tolerance up to which a change does not matter to neighbours, where sweeps go on and where they are few.
LITTLE = wp.constant(real(0.01))
COARSE = wp.constant(real(0.1))
# Part of the fastest velocity of a world that sweeps go on to, and the part of the tolerance below which they do not.
CALM = wp.constant(real(0.01))
FINEST = wp.constant(real(0.03))
# Sweeps after which the tolerance does: what has not come to rest by then takes its time.
ENOUGH = wp.constant(8)
# Multiple of the tolerance up to which that part is slow.
SLOW = wp.constant(real(10.0))
# Sweeps over what overlaps deep, after a few over all.
DEEP_SWEEPS = wp.constant(4)
# No residual is as large.
ANY = wp.constant(real(1e30))


@group(axis="worlds")
class Rounds:
    """How the sweeps of each world go."""

    busy: wp.int32 = field("1", "1 while the world is swept")
    sweeps: wp.int32 = field("1", "sweeps done")
    along: real = field("m/s", "largest residual along a normal in the last sweep")
    across: real = field("m/s", "the same across")
    aim: real = field("m/s", "residual that the world is swept to where that is finer than its tolerance")
    jointed: real = field("m/s", "largest residual where joints hold a body, in the last sweep")
    beginning: real = field("m/s", "largest residual of the first sweep")
    turn: wp.int32 = field("1", "sweeps that any world has done", axis="flags")
    any_busy: wp.int32 = field("1", "1 while any world is busy", axis="flags")
    exchanging: wp.int32 = field("1", "1 while the world exchanges impulses with joints")
    exchanges: wp.int32 = field("1", "exchanges done", axis="flags")
    any_exchanging: wp.int32 = field("1", "1 while any world does", axis="flags")


@kernel
def begin_rounds(rounds: Rounds, wanted: wp.array[wp.int32], marked: int) -> None:
    """Worlds that want it are to be swept: all their patches at first, or those that are not marked as swept.

    What is known of the last sweeps of other worlds stays.
    """
    w = wp.tid()
    rounds.busy[w] = wanted[w]
    rounds.any_busy[0] = 1
    rounds.turn[0] = marked
    if wanted[w] == 1:
        rounds.sweeps[w] = 0
        rounds.along[w] = real(0.0)
        rounds.across[w] = real(0.0)
        rounds.beginning[w] = real(0.0)
        rounds.aim[w] = ANY


@kernel
def find_aims(bodies: Bodies, motion: Motion, rounds: Rounds, tolerance: real) -> None:
    """The residual that what hardly moves is swept to, on one thread."""
    for w in range(rounds.aim.shape[0]):
        rounds.aim[w] = FINEST * tolerance
    for i in range(bodies.world.shape[0]):
        if bodies.inverse_mass[i] > real(0.0):
            moments = bodies.moments[i]
            spin = bodies.inverse_mass[i] * (moments[0] + moments[1] + moments[2])
            v = motion.velocity[i]
            turn = motion.angular_velocity[i]
            speed = wp.sqrt(wp.dot(v, v) + spin * wp.dot(turn, turn))
            rounds.aim[bodies.world[i]] = wp.max(rounds.aim[bodies.world[i]], CALM * speed)


@wp.func
def goal(rounds: Rounds, w: int, tolerance: real) -> real:
    """The residual that a world is swept to; after enough sweeps its tolerance."""
    return wp.where(rounds.sweeps[w] < ENOUGH, wp.min(tolerance, rounds.aim[w]), tolerance)


@wp.func
def is_slow(rounds: Rounds, w: int, tolerance: real) -> bool:
    """Whether hardly anything moves in a world."""
    return rounds.aim[w] < SLOW * tolerance


@wp.func
def manner(rounds: Rounds, w: int, tolerance: real, way: int) -> int:
    """How the points of a patch are taken in a sweep that is to take them this way."""
    return wp.where(is_slow(rounds, w, tolerance), THERE_AND_BACK, way)


@kernel
def next_sweep(rounds: Rounds) -> None:
    """A sweep begins."""
    w = wp.tid()
    if rounds.busy[w] == 1:
        rounds.along[w] = real(0.0)
        rounds.across[w] = real(0.0)
        rounds.jointed[w] = real(0.0)
    rounds.any_busy[0] = 0


@wp.func
def open_world(rounds: Rounds, w: int, off: bool) -> None:
    """A world is busy where it is off."""
    rounds.busy[w] = wp.where(off, 1, 0)
    if off:
        rounds.any_busy[0] = 1


@wp.func
def judge_world(rounds: Rounds, w: int, tolerance: real, most: int, cost: int) -> None:
    """A sweep of a world is done: go on if the residual is too large and as many sweeps are left as going on takes."""
    if rounds.busy[w] == 0:
        return
    worst = wp.max(rounds.along[w], rounds.across[w])
    if rounds.sweeps[w] == 0:
        rounds.beginning[w] = worst
    rounds.sweeps[w] = rounds.sweeps[w] + 1
    open_world(rounds, w, worst > tolerance and rounds.sweeps[w] + cost <= most)


@kernel
def judge(rounds: Rounds, tolerance: real, most: int, cost: int) -> None:
    """A sweep is done: which worlds go on."""
    w = wp.tid()
    judge_world(rounds, w, goal(rounds, w, tolerance), most, cost)


@kernel
def judge_plain(rounds: Rounds, tolerance: real, most: int, early: int) -> None:
    """A plain sweep is done: which worlds go on, fewer times where joints keep contacts off or all is slow."""
    w = wp.tid()
    few = rounds.jointed[w] > tolerance or is_slow(rounds, w, tolerance)
    judge_world(rounds, w, goal(rounds, w, tolerance), wp.where(few, early, most), 1)


@kernel
def reopen(rounds: Rounds, wanted: wp.array[wp.int32], tolerance: real, most: int) -> None:
    """Worlds whose residual is still too large are swept on, in another way, if sweeps forth and back are left."""
    w = wp.tid()
    worst = wp.max(rounds.along[w], rounds.across[w])
    off = worst > goal(rounds, w, tolerance) and rounds.sweeps[w] + 2 <= most
    open_world(rounds, w, wanted[w] == 1 and off)


@kernel
def note_rounds(rounds: Rounds, which: wp.array[wp.int32], noted: Rounds) -> None:
    """Note how the sweeps of some worlds went, before others follow."""
    w = wp.tid()
    if which[w] == 1:
        noted.sweeps[w] = rounds.sweeps[w]
        noted.along[w] = rounds.along[w]
        noted.across[w] = rounds.across[w]


@kernel
def begin_exchange(rounds: Rounds, which: wp.array[wp.int32]) -> None:
    """Worlds that want it are to exchange impulses with joints."""
    w = wp.tid()
    rounds.exchanging[w] = which[w]
    rounds.exchanges[0] = 0
    rounds.any_exchanging[0] = 1


@kernel
def next_exchange(rounds: Rounds) -> None:
    """An exchange begins."""
    rounds.exchanges[0] = rounds.exchanges[0] + 1
    rounds.any_exchanging[0] = 0


@kernel
def judge_exchange(rounds: Rounds, tolerance: real, most: int) -> None:
    """An exchange is done: go on where the joints had put the contacts off."""
    w = wp.tid()
    off = rounds.exchanging[w] == 1 and rounds.beginning[w] > tolerance and rounds.exchanges[0] < most
    rounds.exchanging[w] = wp.where(off, 1, 0)
    if off:
        rounds.any_exchanging[0] = 1


@wp.func
def is_quiet(pressing: Pressing, k: int) -> bool:
    """Whether neither body of a patch has been pushed since it was looked at."""
    seen = pressing.patches.swept[k]
    pushed = pressing.weights.pushed
    return pushed[pressing.patches.body_a[k]] < seen and pushed[pressing.patches.body_b[k]] < seen


@wp.func
def little(rounds: Rounds, w: int, tolerance: real, way: int) -> real:
    """The change of a velocity that does not matter to neighbours of a patch whose points are taken this way."""
    return wp.where(way == THERE_AND_BACK, LITTLE, COARSE) * goal(rounds, w, tolerance)


@wp.func
def sweep_patch(
    bodies: Bodies, pressing: Pressing, motion: Motion, k: int, turn: int, small: real, way: int
) -> tuple[real, real]:
    """Solve a patch; returns its residual along the normal and across."""
    along, across = solve_patch(bodies, pressing, motion, k, way)
    pressing.patches.swept[k] = turn
    if along > small or across > small:
        note_push(bodies, pressing, pressing.patches.body_a[k], turn)
        note_push(bodies, pressing, pressing.patches.body_b[k], turn)
    return along, across


@wp.func
def note_residual(rounds: Rounds, w: int, along: real, across: real) -> None:
    """A patch of a world had this residual."""
    rounds.along[w] = wp.max(rounds.along[w], along)
    rounds.across[w] = wp.max(rounds.across[w], across)


@wp.func
def note_push(bodies: Bodies, pressing: Pressing, i: int, turn: int) -> None:
    """A body was pushed; nothing pushes static ones."""
    if bodies.inverse_mass[i] > real(0.0):
        pressing.weights.pushed[i] = turn


@wp.func
def next_turn(bodies: Bodies, pressing: Pressing, rounds: Rounds) -> int:
    """Number of the sweep that begins; before the first nobody has been pushed."""
    turn = rounds.turn[0] + 1
    rounds.turn[0] = turn
    if turn == 1:
        for i in range(bodies.world.shape[0]):
            pressing.weights.pushed[i] = 0
    return turn


@kernel
def sweep_in_order(
    bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, rounds: Rounds, tolerance: real, way: int
) -> None:
    """One sweep over the patches of busy worlds, on one thread; after the first, over those that are not quiet."""
    turn = next_turn(bodies, pressing, rounds)
    for k in range(graph.total[0]):
        w = pressing.patches.world[k]
        if rounds.busy[w] == 1 and (turn == 1 or not is_quiet(pressing, k)):
            taken = manner(rounds, w, tolerance, way)
            small = little(rounds, w, tolerance, taken)
            along, across = sweep_patch(bodies, pressing, motion, k, turn, small, taken)
            note_residual(rounds, w, along, across)
            if pressing.patches.jointed[k] == 1:
                rounds.jointed[w] = wp.max(rounds.jointed[w], wp.max(along, across))


@kernel
def sweep_back(
    bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, rounds: Rounds, tolerance: real, way: int
) -> None:
    """One sweep over the patches of busy worlds the other way, on one thread."""
    turn = next_turn(bodies, pressing, rounds)
    for w in range(rounds.sweeps.shape[0]):
        rounds.sweeps[w] = rounds.sweeps[w] + rounds.busy[w]
    count = graph.total[0]
    for i in range(count):
        k = count - 1 - i
        w = pressing.patches.world[k]
        if rounds.busy[w] == 1 and not is_quiet(pressing, k):
            taken = manner(rounds, w, tolerance, way)
            sweep_patch(bodies, pressing, motion, k, turn, little(rounds, w, tolerance, taken), taken)


@kernel
def sweep_deep(bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, wanted: wp.array[wp.int32]) -> None:
    """A few sweeps forth and back over the patches of wanted worlds that overlap deep, on one thread."""
    patches = pressing.patches
    count = int(0)
    for k in range(graph.total[0]):
        # Written whether it is deep or not, which costs less than to foresee it.
        patches.listed[count] = k
        count += patches.deep[k] * wanted[patches.world[k]]
    for turn in range(DEEP_SWEEPS):
        for i in range(count):
            if turn % 2 == 0:
                solve_patch(bodies, pressing, motion, patches.listed[i], FORTH)
            else:
                solve_patch(bodies, pressing, motion, patches.listed[count - 1 - i], BACK)


@kernel
def push_in_order(bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, wanted: wp.array[wp.int32]) -> None:
    """Apply the impulses that the patches of wanted worlds have, on one thread."""
    for k in range(graph.total[0]):
        if wanted[pressing.patches.world[k]] == 1:
            push_patch(bodies, pressing, motion, k)
