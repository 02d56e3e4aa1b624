"""How the sweeps of a solver go in every world: which worlds are busy, and the residual that was reached.

    residual of a manifold: the change of velocity that its correction made, along the normal and across

It is the natural residual of the contact problem: zero where every point pushes and does not separate, or separates and
does not push, and sticks, or slides at its Coulomb limit.

Worlds that hardly move get a finer residual. A velocity within the tolerance at the foot of a column is ten times that
at its top, and the impulses that stop it there are not those that it rests on: a heap that is stopped only to within
the tolerance creeps and rocks for ever. So there sweeps go on to a part of the fastest velocity.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

# Part of the fastest velocity of a world that sweeps go on to, and the part of the tolerance below which they do not.
CALM = wp.constant(real(0.01))
FINEST = wp.constant(real(0.03))
# Sweeps after which the tolerance does: what has not come to rest by then takes its time.
ENOUGH = wp.constant(8)
# Multiple of the tolerance up to which that part is slow.
SLOW = wp.constant(real(10.0))
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
def note_residual(rounds: Rounds, w: int, along: real, across: real) -> None:
    """A patch of a world had this residual."""
    rounds.along[w] = wp.max(rounds.along[w], along)
    rounds.across[w] = wp.max(rounds.across[w], across)
