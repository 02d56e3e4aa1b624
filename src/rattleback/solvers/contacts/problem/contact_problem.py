"""The contact problem that a solver gets: manifolds, their targets, the velocities that respond, room for the impulses.

    0 ≤ p_n  ⟂  u_n + b_n ≥ 0,     |p_t| ≤ μ p_n,   p_t against u_t + b_t,     u = J v,     v = v₀ + M⁻¹ Jᵀ p

p impulses of the contact points on A, u relative velocities of A against B there, b their bias, which is the target
with the opposite sign; v₀ velocities without p. Resistance to rolling and spinning is part of a manifold.

The impulses at the start of a step, the velocity correction at its end, impacts and the position correction are this
one problem with other targets. A scheme sets them, and which manifolds take part; a solver finds p and changes the
velocities with it. Where joints hold bodies that touch, M⁻¹ goes through the mechanism: a response answers to every
sweep, with the stops of the joints as one-sided rows of the same problem, 0 ≤ λ ⟂ u_s + b_s ≥ 0.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.block import apply_impulses
from rattleback.solvers.contacts.problem import delassus
from rattleback.solvers.contacts.problem.colouring import ColourDriver, make_colour_driver
from rattleback.solvers.contacts.problem.contact_graph import LEVELS, Graph
from rattleback.solvers.contacts.problem.manifolds import BodyInertias, ContactSystem, ManifoldPoints, Manifolds
from rattleback.solvers.contacts.problem.status import SolverStatus

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext


@group(axis="contacts")
class Active:
    """The manifolds that take part."""

    listed: wp.int32 = field("1", "manifolds that take part, in the order they are solved")
    marked: wp.int32 = field("1", "1 where one takes part")
    count: wp.int32 = field("1", "number of manifolds that take part", axis="flags")


@kernel
def activate_all(graph: Graph, active: Active, lanes: int) -> None:
    """Every manifold takes part."""
    if wp.tid() == 0:
        active.count[0] = graph.total[0]
    for k in range(wp.tid(), graph.total[0], lanes):
        active.listed[k] = k
        active.marked[k] = 1


@kernel
def apply_in_order(
    bodies: Bodies, system: ContactSystem, graph: Graph, motion: Motion, wanted: wp.array[wp.int32]
) -> None:
    """Apply the impulses of the manifolds of selected worlds, on one thread."""
    for k in range(graph.total[0]):
        if wanted[system.manifolds.world[k]] == 1:
            apply_impulses(bodies, system, motion, k)


def is_parallel(device: Any) -> bool:
    """Whether manifolds are solved by colour, in parallel, and not in order."""
    return not device.is_cpu


class ContactProblem:
    """The contact problem of a model; its arrays are filled in every step.

    Attributes:
        program: Where launches are recorded.
        bodies: The bodies.
        system: Manifolds, their points and the inertias of bodies, which solvers read; impulses, which they write.
        graph: Number and order of the manifolds.
        active: The manifolds that take part.
        status: Sweeps of each world, and the residual they reach.
        colour_driver: The colours of the manifolds; None where they are solved in order, on one thread.
        everywhere: 1 for every world.
        law: Law of friction, see ``kernels.laws``.

    Args:
        context: What the step works on.
        room: Most contacts.
        in_order: Whether manifolds have to be solved in the order of the contact graph, also on a GPU.
        law: Law of friction.
    """

    def __init__(self, context: "StepContext", room: int, in_order: bool = False, law: str = "coulomb") -> None:
        self.law = law
        model, self.program, self.bodies, self.room = context.model, context.program, context.model.bodies, room
        self.worlds, device = model.worlds, model.device
        counts = {"contacts": room, "ends": 2 * room, "bodies": model.count, "worlds": self.worlds}
        counts |= {"levels_and_one": LEVELS + 1, "one": 1, "flags": 1}
        kinds: tuple[type[Any], ...] = (ManifoldPoints, BodyInertias, Graph, SolverStatus, Active)
        points, inertias, self.graph, self.status, self.active = (
            arrays.allocate(kind, counts, device) for kind in kinds
        )
        self.system = ContactSystem()
        # One more manifold than there can be, to solve one with other masses.
        self.system.manifolds = arrays.allocate(Manifolds, {"contacts": room + 1}, device)
        self.system.points, self.system.inertias = points, inertias
        self.everywhere = wp.full(self.worlds, 1, dtype=wp.int32, device=device)
        self.colour_driver: ColourDriver | None = None
        if is_parallel(device) and not in_order:
            self.colour_driver = make_colour_driver(context, self.system, self.graph, counts)

    def record_all_active(self) -> None:
        """Record that every manifold takes part."""
        self.program.share(activate_all, self.room, self.graph, self.active)

    def record_push(self, motion: Motion, which: Any = None) -> None:
        """Record what applies the impulses that all points have to the velocities of a motion.

        Args:
            motion: The velocities.
            which: 1 for every world in which that is done; None for all.
        """
        which = self.everywhere if which is None else which
        if self.colour_driver is None:
            self.program.launch(apply_in_order, 1, self.bodies, self.system, self.graph, motion, which)
        else:
            self.colour_driver.apply_impulses(motion, which)

    def for_manifolds(self, kernel: Any, *inputs: Any) -> None:
        """Record a kernel whose threads share the manifolds."""
        self.program.share(kernel, self.room, *inputs)

    def matrix(self, response: Any = None) -> np.ndarray:
        """The Delassus operator J M⁻¹ Jᵀ of the active points as it is now, shape (3 points, 3 points).

        Three rows a point, along n, t and s = n × t: what a unit impulse there does to the velocities there. Where
        joints answer a row for every stop of theirs follows.

        Args:
            response: What joints answer, a ``coupling.joint_response.JointResponse``; None to leave joints out.
        """
        return delassus.matrix(self, response)
