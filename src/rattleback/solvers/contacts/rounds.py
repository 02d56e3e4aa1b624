"""Sweeps over the patches until every world is within its tolerance: who is busy, and kernels that go in order.

    residual of a patch: the change of velocity its correction made, along the normal and across; it is the natural
    residual of the contact problem, zero where every point pushes and separates not, or separates and pushes not,
    and grips or slides at the limit of its friction

On one thread patches are swept in their order, and back where that does not suffice: a sweep forth and back is
symmetric, which conjugate directions want.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.contact_graph import Graph
from rattleback.solvers.contacts.patch import Pressing
from rattleback.solvers.contacts.sweep import push_patch, solve_patch

# Part of the tolerance up to which a change does not matter to neighbours.
LITTLE = wp.constant(real(0.01))


@group(axis="worlds")
class Rounds:
    """How the sweeps of each world go."""

    busy: wp.int32 = field("1", "1 while the world is swept")
    sweeps: wp.int32 = field("1", "sweeps done")
    along: real = field("m/s", "largest residual along a normal in the last sweep")
    across: real = field("m/s", "the same across")
    jointed: real = field("m/s", "largest residual where joints hold a body, in the last sweep")
    beginning: real = field("m/s", "largest residual of the first sweep")
    turn: wp.int32 = field("1", "sweeps that any world has done", axis="flags")
    any_busy: wp.int32 = field("1", "1 while any world is busy", axis="flags")
    exchanging: wp.int32 = field("1", "1 while the world exchanges impulses with joints")
    exchanges: wp.int32 = field("1", "exchanges done", axis="flags")
    any_exchanging: wp.int32 = field("1", "1 while any world does", axis="flags")


@wp.kernel(enable_backward=False)
def begin_rounds(rounds: Rounds, wanted: wp.array[wp.int32]) -> None:
    """All worlds that want it are to be swept."""
    w = wp.tid()
    rounds.busy[w] = wanted[w]
    rounds.sweeps[w] = 0
    rounds.along[w] = real(0.0)
    rounds.across[w] = real(0.0)
    rounds.beginning[w] = real(0.0)
    rounds.any_busy[0] = 1
    rounds.turn[0] = 0


@wp.kernel(enable_backward=False)
def next_sweep(rounds: Rounds) -> None:
    """A sweep begins."""
    w = wp.tid()
    if rounds.busy[w] == 1:
        rounds.along[w] = real(0.0)
        rounds.across[w] = real(0.0)
        rounds.jointed[w] = real(0.0)
    rounds.any_busy[0] = 0


@wp.func
def judge_world(rounds: Rounds, w: int, tolerance: real, most: int, cost: int) -> None:
    """A sweep of a world is done: go on if the residual is too large and as many sweeps are left as going on takes."""
    if rounds.busy[w] == 0:
        return
    worst = wp.max(rounds.along[w], rounds.across[w])
    if rounds.sweeps[w] == 0:
        rounds.beginning[w] = worst
    rounds.sweeps[w] = rounds.sweeps[w] + 1
    rounds.busy[w] = wp.where(worst > tolerance and rounds.sweeps[w] + cost <= most, 1, 0)
    if rounds.busy[w] == 1:
        rounds.any_busy[0] = 1


@wp.kernel(enable_backward=False)
def judge(rounds: Rounds, tolerance: real, most: int, cost: int) -> None:
    """A sweep is done: which worlds go on."""
    judge_world(rounds, wp.tid(), tolerance, most, cost)


@wp.kernel(enable_backward=False)
def judge_plain(rounds: Rounds, tolerance: real, most: int, most_jointed: int) -> None:
    """A plain sweep is done: which worlds go on, fewer times where it is joints that keep contacts off."""
    w = wp.tid()
    judge_world(rounds, w, tolerance, wp.where(rounds.jointed[w] > tolerance, most_jointed, most), 1)


@wp.kernel(enable_backward=False)
def reopen(rounds: Rounds, wanted: wp.array[wp.int32], tolerance: real) -> None:
    """Worlds whose residual is still too large are swept on, in another way."""
    w = wp.tid()
    worst = wp.max(rounds.along[w], rounds.across[w])
    rounds.busy[w] = wp.where(wanted[w] == 1 and worst > tolerance, 1, 0)
    if rounds.busy[w] == 1:
        rounds.any_busy[0] = 1


@wp.kernel(enable_backward=False)
def begin_exchange(rounds: Rounds) -> None:
    """All worlds are to exchange impulses with joints."""
    rounds.exchanging[wp.tid()] = 1
    rounds.exchanges[0] = 0
    rounds.any_exchanging[0] = 1


@wp.kernel(enable_backward=False)
def next_exchange(rounds: Rounds) -> None:
    """An exchange begins."""
    rounds.exchanges[0] = rounds.exchanges[0] + 1
    rounds.any_exchanging[0] = 0


@wp.kernel(enable_backward=False)
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
def sweep_patch(
    bodies: Bodies, pressing: Pressing, motion: Motion, k: int, turn: int, little: real
) -> tuple[real, real]:
    """Solve a patch; returns its residual along the normal and across."""
    along, across = solve_patch(bodies, pressing, motion, k)
    pressing.patches.swept[k] = turn
    if along > little or across > little:
        note_push(bodies, pressing, pressing.patches.body_a[k], turn)
        note_push(bodies, pressing, pressing.patches.body_b[k], turn)
    return along, across


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


@wp.kernel(enable_backward=False)
def sweep_in_order(
    bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, rounds: Rounds, tolerance: real
) -> None:
    """One sweep over the patches of busy worlds, on one thread; after the first, over those that are not quiet."""
    turn = next_turn(bodies, pressing, rounds)
    for k in range(graph.total[0]):
        w = pressing.patches.world[k]
        if rounds.busy[w] == 1 and (turn == 1 or not is_quiet(pressing, k)):
            along, across = sweep_patch(bodies, pressing, motion, k, turn, LITTLE * tolerance)
            rounds.along[w] = wp.max(rounds.along[w], along)
            rounds.across[w] = wp.max(rounds.across[w], across)
            if pressing.patches.jointed[k] == 1:
                rounds.jointed[w] = wp.max(rounds.jointed[w], wp.max(along, across))


@wp.kernel(enable_backward=False)
def sweep_back(
    bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion, rounds: Rounds, tolerance: real
) -> None:
    """One sweep over the patches of busy worlds the other way, on one thread."""
    turn = next_turn(bodies, pressing, rounds)
    for w in range(rounds.sweeps.shape[0]):
        rounds.sweeps[w] = rounds.sweeps[w] + rounds.busy[w]
    count = graph.total[0]
    for i in range(count):
        k = count - 1 - i
        if rounds.busy[pressing.patches.world[k]] == 1 and not is_quiet(pressing, k):
            sweep_patch(bodies, pressing, motion, k, turn, LITTLE * tolerance)


@wp.kernel(enable_backward=False)
def push_in_order(bodies: Bodies, pressing: Pressing, graph: Graph, motion: Motion) -> None:
    """Apply the impulses all patches have, on one thread."""
    for k in range(graph.total[0]):
        push_patch(bodies, pressing, motion, k)
