"""Newton's method for an implicit step: velocities u of the bodies and forces λ of the rows that hold.

    M (u − u₀) = τ (F(y₀ exp(τ u), u) + Jᵀ λ),    e(y₀ exp(h u)) = 0
    implicit Euler:      τ = h,       v₁ = u
    implicit midpoint:   τ = h/2,     p₁ = 2 M u − p₀

with p momenta; the angular one is R I Rᵀ ω, so that free bodies turn by the same rule. F are forces of soft rows, of
all force modules and of gravity. Their derivatives are those of soft rows alone: other forces are taken from iteration
to iteration, which converges where they are not stiff. ``system`` has the matrix.

    u = u₀, λ = 0;  repeat: poses; forces; matrix; change;  until no velocity changes by more than the tolerance
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.frame import Row
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.maths.small_solve import vec6
from rattleback.maths.spin import angular_momentum, angular_velocity
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import Diagnostics, Moment, StepContext
from rattleback.problem.corrections import Reactions
from rattleback.problem.joint_rows import JointRows, Joints, RowDefinitions
from rattleback.problem.soft.elimination import find_rank, limit, solve, take_change, take_forces
from rattleback.problem.soft.forces import MOTIONS, THREADS, SoftForces, find_forces
from rattleback.problem.soft.layout import Unknowns, make_layout
from rattleback.problem.soft.system import Held, Search, System, add_bodies, add_joints, clear, find_rows, spin_of


@group(axis="worlds")
class Progress:
    """Which worlds are still iterating."""

    moving: wp.int32 = field("1", "1 when a body of it changed by more than the tolerance")
    iterations: wp.int32 = field("1", "iterations done in this step")
    scale: real = field("1", "part of the change that is taken")
    any_busy: wp.int32 = field("1", "1 while any world iterates", axis="flags")


@kernel
def begin(bodies: Bodies, start: Motion, search: Search, clock: Clock, part: real, progress: Progress) -> None:
    """The first guess is the velocity at the start; a world that nothing slows down has not converged."""
    i = wp.tid()
    v = start.velocity[i]
    w = start.angular_velocity[i]
    world = bodies.world[i]
    search.u[i] = vec6(v[0], v[1], v[2], w[0], w[1], w[2])
    search.change[i] = real(0.0)
    search.busy[world] = 1
    search.step[world] = real(clock.time_step[world])
    search.acting[world] = part * real(clock.time_step[world])
    progress.moving[world] = 0
    progress.iterations[world] = 0
    progress.any_busy[0] = 1


@kernel
def let_go(force: wp.array[real], dropped: wp.array[wp.int32]) -> None:
    """No row holds with any force yet, and none is known to be implied by others."""
    force[wp.tid()] = real(0.0)
    dropped[wp.tid()] = 0


@wp.func
def place(start: Motion, motion: Motion, u: vec6, t: real, i: int) -> None:
    """The pose of a body after a time at velocities, with those."""
    v = vec3(u[0], u[1], u[2])
    motion.position[i] = start.position[i] + t * v
    motion.orientation[i] = wp.normalize(quat_from_rotation_vector(t * spin_of(u)) * start.orientation[i])
    motion.velocity[i] = v
    motion.angular_velocity[i] = spin_of(u)


@kernel
def place_bodies(bodies: Bodies, start: Motion, search: Search, acting: Motion, end: Motion) -> None:
    """Where a body is when forces act, and at the end of the step."""
    i = wp.tid()
    w = bodies.world[i]
    place(start, acting, search.u[i], search.acting[w], i)
    place(start, end, search.u[i], search.step[w], i)


@kernel
def decide(search: Search, progress: Progress, most: int) -> None:
    """Is the world done?"""
    w = wp.tid()
    progress.iterations[w] = progress.iterations[w] + search.busy[w]
    if progress.moving[w] == 0 or progress.iterations[w] >= most:
        search.busy[w] = 0
    if search.busy[w] == 1:
        wp.atomic_max(progress.any_busy, 0, 1)
    progress.moving[w] = 0


@kernel
def look(bodies: Bodies, search: Search, progress: Progress, tolerance: real) -> None:
    """Whether a body of a world has changed by more than the tolerance."""
    i = wp.tid()
    progress.any_busy[0] = 0
    if not (search.change[i] <= tolerance):
        wp.atomic_max(progress.moving, bodies.world[i], 1)


@kernel
def finish(
    bodies: Bodies,
    start: Motion,
    acting: Motion,
    end: Motion,
    search: Search,
    tolerance: real,
    diagnostics: Diagnostics,
    progress: Progress,
) -> None:
    """The velocities at the end of the step, from the momenta at its start and where forces act, and the account."""
    i = wp.tid()
    w = bodies.world[i]
    if search.acting[w] < search.step[w] and bodies.mass[i] > real(0.0):
        end.velocity[i] = real(2.0) * acting.velocity[i] - start.velocity[i]
        before = angular_momentum(start.orientation[i], start.angular_velocity[i], bodies.inertia[i])
        middle = angular_momentum(acting.orientation[i], acting.angular_velocity[i], bodies.inertia[i])
        momentum = real(2.0) * middle - before
        end.angular_velocity[i] = angular_velocity(end.orientation[i], momentum, bodies.inverse_inertia[i])
    diagnostics.integration_error[i] = search.change[i]
    diagnostics.iterations[i] = progress.iterations[w]
    if not (search.change[i] <= tolerance):
        diagnostics.trouble[i] = 1


@kernel
def add_reactions(
    joints: Joints, definitions: RowDefinitions, forces: SoftForces, search: Search, end: Motion, reactions: Reactions
) -> None:
    """What a joint has done in the step, as an impulse on B at its anchor."""
    j = wp.tid()
    on_b = forces.on_b[j]
    b = joints.body_b[j]
    if b < 0:
        on_b = -forces.on_a[j]
    h = search.step[joints.world[j]]
    p = h * vec3(on_b[0], on_b[1], on_b[2])
    turning = h * spin_of(on_b)
    lever = vec3()
    if b >= 0:
        lever = wp.quat_rotate(end.orientation[b], joints.anchor_b[j])
    else:
        a = joints.body_a[j]
        # The world has no centre of mass: the torque about that of A is moved to the anchor.
        lever = joints.anchor_b[j] - end.position[a]
    reactions.impulse[j] = p
    reactions.couple[j] = turning - wp.cross(lever, p)


class ImplicitMotion:
    """Records the implicit step of a model.

    Args:
        context: Where the step is recorded.
        problem: Its joints as rows, soft and hard.
        method: The joint method, with ``rule``, ``jacobian``, ``tolerance`` and ``max_iterations``.
    """

    def __init__(self, context: StepContext, problem: JointRows, method: Any) -> None:
        self.context, self.problem, self.method = context, problem, method
        model, count = context.model, problem.joint_count
        hard = _hard_rows(problem)
        self.layout = make_layout(problem, hard)
        worlds, device = model.worlds, model.device
        sizes = {"joints": count, "slopes": 2 * MOTIONS * count, "bodies": model.count, "worlds": worlds, "flags": 1}
        sizes |= {"nodes": self.layout.nodes * worlds, "blocks": self.layout.blocks * worlds}
        self.forces: Any = arrays.allocate(SoftForces, sizes, device)
        self.progress: Any = arrays.allocate(Progress, sizes, device)
        self.acting: Any = context.scratch(Motion)
        self.system, self.search, self.held = self._make_system(sizes), self._make_search(), self._make_held()
        self.unsprung: Any = Held()
        self.unsprung.acting, self.unsprung.end = self.held.acting, self.held.end
        self.loops = _has_loops(problem, hard)

    def record(self) -> None:
        """Record the motion of the step, into the prediction."""
        context, search, progress = self.context, self.search, self.progress
        part, most = (1.0 if self.method.rule == "euler" else 0.5), self.method.max_iterations
        context.for_bodies(begin, context.start, search, context.state.clock, part, progress)
        context.program.launch(let_go, len(search.force), search.force, search.dropped)
        self._record_rank()
        with context.program.loop(progress.any_busy):
            self._record_iteration(part)
            context.for_bodies(look, search, progress, self.method.tolerance)
            context.for_worlds(decide, search, progress, most)
        self._place(part)
        motions = (context.start, self.acting, context.predicted)
        context.for_bodies(finish, *motions, search, self.method.tolerance, context.diagnostics, progress)

    def record_reactions(self, reactions: Reactions) -> None:
        """Record what the joints have done in the step."""
        given = (self.problem.definitions, self.forces, self.search, self.context.predicted, reactions)
        self._for_joints(add_reactions, self.problem.joints, *given)

    def _place(self, part: float) -> None:
        """Poses where forces act and at the end, with all loads and forces there."""
        context, problem, search = self.context, self.problem, self.search
        context.for_bodies(place_bodies, context.start, search, self.acting, context.predicted)
        at = context.start if self.method.jacobian == "explicit" else self.acting
        context.evaluate(Moment(self.acting, context.state.clock, part), context.loads)
        given = (problem.joints, problem.definitions, at, context.state.joints)
        context.program.launch(
            find_forces,
            THREADS * problem.joint_count,
            *given,
            problem.rows,
            self.forces,
            search.force,
            int(self.method.jacobian == "exact"),
        )
        self._for_joints(find_rows, *given, self.held.acting)
        ends = (context.predicted, context.state.joints, self.held.end)
        self._for_joints(find_rows, problem.joints, problem.definitions, *ends)

    def _record_rank(self) -> None:
        """Record which rows others imply, by the matrix of free bodies at the pose the step starts from."""
        if not self.loops:
            return
        context, problem, system = self.context, self.problem, self.system
        given = (problem.joints, problem.definitions, context.start, context.state.joints)
        for rows in (self.held.acting, self.held.end):
            self._for_joints(find_rows, *given, rows)
        context.program.launch(clear, len(system.unknowns.value), system, self.search)
        context.for_bodies(add_bodies, system, self.search, context.start, context.start, context.loads)
        parts = (problem.joints, problem.definitions, self.forces, system, self.search, self.unsprung)
        context.for_worlds(add_joints, context.model.bodies, *parts)
        context.for_worlds(find_rank, problem.joints, system, self.search)

    def _record_iteration(self, part: float) -> None:
        context, problem, search, system = self.context, self.problem, self.search, self.system
        self._place(part)
        context.program.launch(clear, len(system.unknowns.value), system, search)
        context.for_bodies(add_bodies, system, search, context.start, self.acting, context.loads)
        given = (problem.joints, problem.definitions, self.forces, system, search, self.held)
        context.for_worlds(add_joints, context.model.bodies, *given)
        context.for_worlds(solve, system, search)
        context.for_worlds(limit, context.model.bodies, system, search, self.progress.scale)
        context.for_bodies(take_change, system, search, self.progress.scale)
        self._for_joints(take_forces, problem.joints, problem.definitions, system, search, self.progress.scale)

    def _make_system(self, sizes: dict[str, int]) -> Any:
        layout, model, system = self.layout, self.context.model, System()
        made: Any = system
        made.places, made.order = layout.places, layout.order
        made.unknowns = arrays.allocate(Unknowns, sizes, model.device)
        made.body_node, made.body_block = layout.bodies, layout.diagonal
        made.nodes, made.blocks = layout.nodes, layout.blocks
        made.joints, made.bodies = len(self.problem.names), len(model.names)
        return made

    def _make_search(self) -> Any:
        model, search = self.context.model, Search()
        made: Any = search
        made.u = wp.zeros(model.count, dtype=vec6, device=model.device)
        made.change = wp.zeros(model.count, dtype=real, device=model.device)
        made.force = wp.zeros(max(self.problem.row_count, 1), dtype=real, device=model.device)
        made.busy = wp.zeros(model.worlds, dtype=wp.int32, device=model.device)
        made.step, made.acting = (wp.zeros(model.worlds, dtype=real, device=model.device) for _ in range(2))
        made.turn = self.context.start.orientation
        rows = max(self.problem.row_count, 1)
        made.size = wp.zeros(rows, dtype=real, device=model.device)
        made.dropped = wp.zeros(rows, dtype=wp.int32, device=model.device)
        return made

    def _make_held(self) -> Any:
        model, made = self.context.model, Held()
        held: Any = made
        rows = max(self.problem.row_count, 1)
        held.acting, held.end = (wp.zeros(rows, dtype=Row, device=model.device) for _ in range(2))
        jacobian = self.method.jacobian
        held.slopes, held.crossed = int(jacobian != "explicit"), int(jacobian != "body_by_body")
        return held

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.problem.joint_count, *inputs)


def _has_loops(problem: JointRows, hard: np.ndarray) -> bool:
    """Whether joints with rows that hold close a loop, or more than one of them holds the same two bodies."""
    root = list(range(len(problem.model.names) + 1))

    def find(k: int) -> int:
        while root[k] != k:
            k = root[k]
        return k

    for pair, rows in zip(problem.pairs.tolist(), hard, strict=True):
        # The world, −1, is the last of the nodes.
        a, b = (find(body % len(root)) for body in pair)
        if rows and a == b:
            return True
        if rows:
            root[max(a, b)] = min(a, b)
    return False


def _hard_rows(problem: JointRows) -> np.ndarray:
    """Number of rows of each joint of one world that hold."""
    definitions: Any = problem.definitions
    yields = sum(getattr(definitions, name).numpy() for name in ("stiffness", "damping", "armature")) > 0.0
    first = np.cumsum(problem.counts) - problem.counts
    return np.array([int((~yields[f : f + n]).sum()) for f, n in zip(first, problem.counts, strict=True)])
