"""Which worlds are solved with the answers of joints: those in which a joint holds anything that touches.

    jointed  contacts and joints in turn, see ``exchange``
    free     sweeps over the contacts alone, which then are none of the joints' business

Every world is one or the other for itself, so that it goes the same way beside other worlds as alone.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.solvers.contacts.coupling.alternation import WorldStage
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import ContactSystem

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext
    from rattleback.solvers.contacts.problem.contact_problem import ContactProblem


@group(axis="worlds")
class JointedWorlds:
    """Which worlds are jointed, and which are free; of some worlds only, neither are the others."""

    jointed: wp.int32 = field("1", "1 where a joint holds anything that touches")
    free: wp.int32 = field("1", "1 where none does")
    any_jointed: wp.int32 = field("1", "1 where any world is jointed", axis="flags")
    any_free: wp.int32 = field("1", "1 where any world is free", axis="flags")


@kernel
def begin_jointed_worlds(jointed_worlds: JointedWorlds) -> None:
    """Nothing that touches has been found to have joints."""
    jointed_worlds.jointed[wp.tid()] = 0
    jointed_worlds.any_jointed[0] = 0
    jointed_worlds.any_free[0] = 0


@kernel
def find_jointed(
    system: ContactSystem, graph: Graph, unjointed: wp.array[wp.int32], jointed_worlds: JointedWorlds, lanes: int
) -> None:
    """Whether a joint holds anything that touches."""
    for k in range(wp.tid(), graph.total[0], lanes):
        both = unjointed[system.manifolds.body_a[k]] + unjointed[system.manifolds.body_b[k]]
        system.manifolds.jointed[k] = wp.where(both < 2, 1, 0)
        if both < 2:
            jointed_worlds.jointed[system.manifolds.world[k]] = 1


@wp.func
def set_world_kind(jointed_worlds: JointedWorlds, w: int, jointed: int, free: int) -> None:
    """Note what a world is."""
    jointed_worlds.jointed[w] = jointed
    jointed_worlds.free[w] = free
    if jointed == 1:
        jointed_worlds.any_jointed[0] = 1
    if free == 1:
        jointed_worlds.any_free[0] = 1


@kernel
def find_free(jointed_worlds: JointedWorlds) -> None:
    """All other worlds are free."""
    w = wp.tid()
    set_world_kind(jointed_worlds, w, jointed_worlds.jointed[w], 1 - jointed_worlds.jointed[w])


@kernel
def select_worlds(jointed_worlds: JointedWorlds, which: wp.array[wp.int32], selected: JointedWorlds) -> None:
    """The jointed and the free ones of some worlds."""
    w = wp.tid()
    set_world_kind(selected, w, jointed_worlds.jointed[w] * which[w], jointed_worlds.free[w] * which[w])


class CoupledWorlds:
    """Records which worlds are jointed and which free, and what is done in either.

    Attributes:
        unjointed: 1 for every body without joints.
        jointed_worlds: The worlds.

    Args:
        context: What the step works on.
        problem: The contact problem.
    """

    def __init__(self, context: "StepContext", problem: "ContactProblem") -> None:
        model, self.program, self.problem = context.model, context.program, problem
        held = {name for joint in model.scene.joints.values() for name in (joint.a, joint.b)}
        unjointed = np.tile(np.array([name not in held for name in model.names], dtype=np.int32), model.worlds)
        self.unjointed = wp.array(unjointed, dtype=wp.int32, device=model.device)
        counts = {"worlds": model.worlds, "flags": 1}
        self.jointed_worlds, self.selected_worlds = (
            arrays.allocate(JointedWorlds, counts, model.device) for _ in range(2)
        )
        self.jointed = False

    def record_jointed_worlds(self) -> None:
        """Record the look in which worlds a joint holds anything that touches."""
        worlds = self.problem.worlds
        self.program.launch(begin_jointed_worlds, worlds, self.jointed_worlds)
        given = (self.problem.system, self.problem.graph, self.unjointed, self.jointed_worlds)
        self.problem.for_manifolds(find_jointed, *given)
        self.program.launch(find_free, worlds, self.jointed_worlds)

    def choose(self, which: Any) -> "JointedWorlds | None":
        """Record which of some worlds are jointed and which free; None where there are no joints."""
        if not self.jointed:
            return None
        program, worlds = self.program, self.problem.worlds
        program.launch(begin_jointed_worlds, worlds, self.selected_worlds)
        program.launch(select_worlds, worlds, self.jointed_worlds, which, self.selected_worlds)
        return self.selected_worlds

    def where_free(self, jointed_worlds: "JointedWorlds | None", record: WorldStage, which: Any = None) -> None:
        """Record something for worlds in which no joint holds anything that touches; without joints, for ``which``."""
        if jointed_worlds is None:
            record(self.problem.everywhere if which is None else which)
            return
        with self.program.when(jointed_worlds.any_free):
            record(jointed_worlds.free)

    def where_jointed(self, jointed_worlds: "JointedWorlds | None", record: WorldStage) -> None:
        """Record something for worlds in which a joint does."""
        if jointed_worlds is not None:
            with self.program.when(jointed_worlds.any_jointed):
                record(jointed_worlds.jointed)
