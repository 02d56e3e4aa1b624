"""Contacts of bodies that loaded joints make stiff: one inertia for contacts and joints, which solve one problem.

    δω = M̃⁻¹ L,   M̃ = I + h w K⁺

L angular impulse of a contact on a body at the start of the step, M̃ its inertia with the stiffness K of its joints,
see ``problem.stiffness``. A link of a loaded chain that a contact rubs turns by as much as its load lets it over the
step, which may be a hundredth of what it would turn alone. With I in its place contacts and joints take the same body
for a different one, and what one of them stops the other drives on. So the inertias of stiff bodies, brought to the
start of the step, take the place of the others in the contacts too, until the step is taken.

    before sweeps in a stiff world   inertias M̃, and K of its manifolds with them
    before joints are held           what contacts did, with I: the stiffness finds M̃⁻¹ L by itself
    when a step begins or ends       inertias I again
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.corrections import JointStatus
from rattleback.problem.joint_rows import Inertias
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.manifolds import (
    BodyInertias,
    ContactSystem,
    find_effective_mass,
    rotate_inertias,
)


@group(axis="worlds")
class Softened:
    """Worlds whose manifolds answer with the stiffness of joints."""

    world: wp.int32 = field("1", "1 where they do")
    any_world: wp.int32 = field("1", "1 where any world does", axis="flags")


@kernel
def begin_pushes(bodies: Bodies, pushed: Motion, which: wp.array[wp.int32], lanes: int) -> None:
    """No contact has pushed a body of the wanted worlds."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        if which[bodies.world[i]] == 1:
            pushed.velocity[i] = vec3()
            pushed.angular_velocity[i] = vec3()


@kernel
def note_softened(joint_status: JointStatus, softened: Softened) -> None:
    """Note the worlds that are stiff, of those that are wanted."""
    w = wp.tid()
    if joint_status.turned[w] == 1:
        softened.world[w] = 1
        softened.any_world[0] = 1


@kernel
def soften_weights(
    bodies: Bodies, inertias: Inertias, joint_status: JointStatus, weights: BodyInertias, lanes: int
) -> None:
    """The inverse inertias of the bodies of stiff worlds, brought from the end of the step to its start."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        if joint_status.turned[bodies.world[i]] == 1 and inertias.weight[i] > real(0.0):
            back = wp.quat_to_matrix(inertias.back[i])
            weights.inverse_inertia[i] = back * inertias.inverse[i] * wp.transpose(back)
            weights.soft[i] = 1


@kernel
def answer_anew(bodies: Bodies, graph: Graph, system: ContactSystem, which: wp.array[wp.int32], lanes: int) -> None:
    """How the manifolds of some worlds answer with the inertias that their bodies have now."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if which[system.manifolds.world[k]] == 1:
            find_effective_mass(bodies, system, k, k, real(1.0), real(1.0))


@kernel
def forget_softened(softened: Softened) -> None:
    """No world answers so."""
    softened.world[wp.tid()] = 0
    softened.any_world[0] = 0


class Softness:
    """Records what contacts know of the stiffness of joints.

    Args:
        problem: The contact problem.
        preview: The joints.
    """

    def __init__(self, problem: Any, preview: Any) -> None:
        self.problem, self.preview, self.context = problem, preview, preview.context
        model = preview.context.model
        self.softened: Any = arrays.allocate(Softened, {"worlds": model.worlds, "flags": 1}, model.device)

    def soften(self) -> None:
        """Record M̃ in the worlds that the joints have just been prepared for."""
        system, joint_status = self.problem.system, self.preview.status
        self.context.for_worlds(note_softened, joint_status, self.softened)
        self.context.share_bodies(soften_weights, self.preview.inertias, joint_status, system.inertias)
        self._answer(joint_status.turned)

    def harden(self) -> None:
        """Record I in the worlds that have M̃; the state is where the manifolds are."""
        with self.context.program.when(self.softened.any_world):
            self._weigh()
            self._answer(self.softened.world)
            self.context.for_worlds(forget_softened, self.softened)

    def note_pushes(self, which: Any) -> None:
        """Record what contacts alone have done at the start of the step, as free bodies answer."""
        self.begin_pushes(which)
        with self.context.program.when(self.softened.any_world):
            self._weigh()
        self.problem.record_push(self.preview.flight.pushed, which)

    def begin_pushes(self, which: Any) -> None:
        """Record that contacts have done nothing yet."""
        self.context.share_bodies(begin_pushes, self.preview.flight.pushed, which)

    def _weigh(self) -> None:
        self.context.share_bodies(rotate_inertias, self.context.state.motion, self.problem.system.inertias)

    def _answer(self, which: Any) -> None:
        problem = self.problem
        problem.for_manifolds(answer_anew, problem.bodies, problem.graph, problem.system, which)
