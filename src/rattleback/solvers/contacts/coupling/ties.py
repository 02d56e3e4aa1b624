"""Which worlds are solved with the answers of joints: those in which a joint holds anything that touches.

    tied     contacts and joints in turn, see ``exchange``
    loose    sweeps over the contacts alone, which then are none of the joints' business

Every world is one or the other for itself, so that it goes the same way beside other worlds as alone.
"""

from typing import Any

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Pressing


@group(axis="worlds")
class Ties:
    """Which worlds are tied, and which are loose; of some worlds only, neither are the others."""

    tied: wp.int32 = field("1", "1 where a joint holds anything that touches")
    loose: wp.int32 = field("1", "1 where none does")
    any_tied: wp.int32 = field("1", "1 where any world is tied", axis="flags")
    any_loose: wp.int32 = field("1", "1 where any world is loose", axis="flags")


@kernel
def begin_ties(ties: Ties) -> None:
    """Nothing that touches has been found to have joints."""
    ties.tied[wp.tid()] = 0
    ties.any_tied[0] = 0
    ties.any_loose[0] = 0


@kernel
def find_tied(pressing: Pressing, graph: Graph, alone: wp.array[wp.int32], ties: Ties, lanes: int) -> None:
    """Whether a joint holds anything that touches."""
    for k in range(wp.tid(), graph.total[0], lanes):
        both = alone[pressing.patches.body_a[k]] + alone[pressing.patches.body_b[k]]
        pressing.patches.jointed[k] = wp.where(both < 2, 1, 0)
        if both < 2:
            ties.tied[pressing.patches.world[k]] = 1


@wp.func
def note(ties: Ties, w: int, tied: int, loose: int) -> None:
    """Note what a world is."""
    ties.tied[w] = tied
    ties.loose[w] = loose
    if tied == 1:
        ties.any_tied[0] = 1
    if loose == 1:
        ties.any_loose[0] = 1


@kernel
def find_loose(ties: Ties) -> None:
    """All other worlds are loose."""
    w = wp.tid()
    note(ties, w, ties.tied[w], 1 - ties.tied[w])


@kernel
def choose(ties: Ties, which: wp.array[wp.int32], some: Ties) -> None:
    """The tied and the loose ones of some worlds."""
    w = wp.tid()
    note(some, w, ties.tied[w] * which[w], ties.loose[w] * which[w])


def record_choice(program: Any, ties: Ties, which: Any, some: Ties) -> None:
    """Record what chooses the tied and the loose ones of the worlds where ``which`` is 1."""
    program.launch(begin_ties, len(which), some)
    program.launch(choose, len(which), ties, which, some)
