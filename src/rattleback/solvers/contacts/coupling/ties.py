"""Which worlds are solved with the answers of joints: those in which a joint holds anything that touches.

    tied     contacts and joints in turn, see ``exchange``
    loose    sweeps over the contacts alone, which then are none of the joints' business

Every world is one or the other for itself, so that it goes the same way beside other worlds as alone.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.solvers.contacts.coupling.alternation import Turn
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import Pressing

if TYPE_CHECKING:
    from rattleback.model.bench import Bench
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem


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


class TiedWorlds:
    """Records which worlds are tied and which loose, and what is done in either.

    Attributes:
        alone: 1 for every body without joints.
        ties: The worlds.

    Args:
        bench: What the step works on.
        problem: The contact problem.
    """

    def __init__(self, bench: "Bench", problem: "ContactProblem") -> None:
        model, self.program, self.problem = bench.model, bench.program, problem
        held = {name for joint in model.scene.joints.values() for name in (joint.a, joint.b)}
        alone = np.tile(np.array([name not in held for name in model.names], dtype=np.int32), model.worlds)
        self.alone = wp.array(alone, dtype=wp.int32, device=model.device)
        counts = {"worlds": model.worlds, "flags": 1}
        self.ties, self.some = (arrays.allocate(Ties, counts, model.device) for _ in range(2))
        self.jointed = False

    def record_look(self) -> None:
        """Record the look in which worlds a joint holds anything that touches."""
        worlds = self.problem.worlds
        self.program.launch(begin_ties, worlds, self.ties)
        given = (self.problem.pressing, self.problem.graph, self.alone, self.ties)
        self.problem.for_manifolds(find_tied, *given)
        self.program.launch(find_loose, worlds, self.ties)

    def choose(self, which: Any) -> "Ties | None":
        """Record which of some worlds are tied and which loose; None where there are no joints."""
        if not self.jointed:
            return None
        program, worlds = self.program, self.problem.worlds
        program.launch(begin_ties, worlds, self.some)
        program.launch(choose, worlds, self.ties, which, self.some)
        return self.some

    def where_loose(self, ties: "Ties | None", record: Turn, which: Any = None) -> None:
        """Record something for worlds in which no joint holds anything that touches; without joints, for ``which``."""
        if ties is None:
            record(self.problem.everywhere if which is None else which)
            return
        with self.program.when(ties.any_loose):
            record(ties.loose)

    def where_tied(self, ties: "Ties | None", record: Turn) -> None:
        """Record something for worlds in which a joint does."""
        if ties is not None:
            with self.program.when(ties.any_tied):
                record(ties.tied)
