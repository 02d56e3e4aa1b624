"""Rows that yield: springs, dampers and drives inside the constraint solve.

    λ = −h/2 (k (e₁ − q) + c (ē − r)) − A (ē − u₀)                in the first half of a step
    λ = −h/2 (k (e₁ + h ė − q') + c (ė − r)) − A (ė − ē)          in the second

k stiffness, c damping and A armature of the row, h length of the step, λ the impulse of the half. e₁ is the error that
the step ends with, q what it aims at, ē the mean of the row's rate over the step, u₀ the rate it began with, r the rate
aimed at, ė the rate at the end of the step and q' the aim one step later. Both halves look ahead by the impulse they
are about to give, as in λ = −K (q + w⁺ h) − B w⁺. With β = k h + c + 2 A/h they read

    u + s λ = 0,   s = 2/(h β),   u = p (e₁ − q) + b (ē − r) + a (ē − u₀),   p = k/β,  b = c/β,  a = 2 A/(h β)

and p h + b + a = 1: u answers to an impulse as the rate of the row does. So s stands on the diagonal of the matrix of
the joints and s λ beside u wherever a row is measured, and a row that yields is like any other to a joint method. With
k or c → ∞ it holds as the others do. A free mass m on an undamped spring has, with z = h² k/m, the two multipliers
(1 ± i √((1 + z/2)² − 1))/(1 + z/2)² of modulus 1/(1 + z/2): below one for every z, so that no stiffness and no step is
unstable. The price is damping: of first order in h for slow motions, all of it for what is stiff beside the step. A
damper brings the mass nearer to its rate by 1/(1 + h c/(2 m))² in each step, where exp(−h c/m) is exact.

λ is what the joint has done along the row since the half began, found from its impulse and couple with those of its
limits left aside. Velocities that are written are made fit the other rows before a step begins; that takes no time, so
rows that yield are left out there, by a compliance that is large beside what the bodies yield.

Reference: the controllers and springs inside the engine of the lecture notes on physics engines by Hasegawa.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.small_solve import solve6, vec6
from rattleback.model.state import Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.corrections import JointStatus, Reactions
from rattleback.problem.joint_rows import JointRows, Joints, Levers, RowDefinitions, Rows, row_velocity
from rattleback.problem.rotors import note_rotors
from rattleback.problem.yielding_errors import measure_yielding

# What a definition has where its row yields.
LAWS = ("damping", "stiffness", "armature", "friction")
# Compliance of a row that is left out, beside what its bodies yield.
LEFT_OUT = wp.constant(real(1e9))
# The same of a row that friction holds.
HELD = wp.constant(real(1e-10))


@wp.struct
class Acting:
    """What the joints have done, and the limits of their freedoms, with the limit that each row belongs to."""

    reactions: Reactions
    levers: Levers
    total: wp.array[real]
    stop_of: wp.array[wp.int32]


@wp.func
def is_yielding(definitions: RowDefinitions, r: int) -> bool:
    """Whether a row has a law of its own."""
    law = definitions.stiffness[r] + definitions.damping[r] + definitions.armature[r]
    return law + definitions.friction[r] > real(0.0)


@wp.func
def without_limits(joints: Joints, fixed: Joints, rows: Rows, acting: Acting, j: int) -> tuple[vec3, vec3]:
    """Impulse and couple of a joint without those of its limits."""
    p = acting.reactions.impulse[j]
    c = acting.reactions.couple[j]
    for r in range(joints.first[j] + fixed.count[j], joints.first[j] + joints.count[j]):
        s = acting.stop_of[r]
        if s >= 0:
            part = acting.total[s] * rows.linear[r]
            p -= part
            c -= acting.total[s] * rows.angular_b[r] - wp.cross(acting.levers.b[j], part)
    return p, c


@wp.func
def wrench_of(rows: Rows, lever: vec3, r: int) -> vec6:
    """Impulse and couple on B about its anchor by a unit impulse along a row."""
    n = rows.linear[r]
    t = rows.angular_b[r] - wp.cross(lever, n)
    return vec6(n[0], n[1], n[2], t[0], t[1], t[2])


@wp.func
def done_along(joints: Joints, fixed: Joints, rows: Rows, acting: Acting, j: int) -> vec6:
    """Impulses of a joint along its rows: those whose impulse and couple come nearest to what it has done."""
    p, c = without_limits(joints, fixed, rows, acting, j)
    done = vec6(p[0], p[1], p[2], c[0], c[1], c[2])
    lever = acting.levers.b[j]
    first = fixed.first[j]
    n = fixed.count[j]
    normal = wp.identity(n=6, dtype=real)
    right = vec6()
    for i in range(n):
        row = wrench_of(rows, lever, first + i)
        right[i] = wp.dot(row, done)
        for k in range(n):
            normal[i, k] = wp.dot(row, wrench_of(rows, lever, first + k))
    return solve6(normal, right)


@wp.func
def has_yielding(fixed: Joints, rows: Rows, j: int) -> bool:
    """Whether a joint has a row that yields now."""
    for r in range(fixed.first[j], fixed.first[j] + fixed.count[j]):
        if rows.compliance[r] > real(0.0):
            return True
    return False


@wp.func
def work_of(rows: Rows, r: int, before: real, after: real) -> real:
    """What a row that yields has done to the bodies since the half began, from its rates before and after: λ ū."""
    if rows.compliance[r] == real(0.0):
        return real(0.0)
    return rows.yielded[r] / rows.compliance[r] * real(0.5) * (before + after)


@wp.func
def response_of(joints: Joints, rows: Rows, j: int, r: int) -> real:
    """J M⁻¹ Jᵀ of a row with its own bodies alone."""
    mass = (joints.inverse_mass_a[j] + joints.inverse_mass_b[j]) * wp.length_sq(rows.linear[r])
    spin = wp.dot(rows.angular_a[r], rows.spin_a[r]) + wp.dot(rows.angular_b[r], rows.spin_b[r])
    return mass + spin


@wp.func
def ease_row(joints: Joints, definitions: RowDefinitions, rows: Rows, h: real, j: int, r: int) -> None:
    """The compliance of a row, the parts of its law, and the push it has in a mode of ``bounded``."""
    mode = rows.mode[r]
    inertia = real(2.0) * definitions.armature[r] / h
    k = definitions.stiffness[r]
    c = definitions.damping[r]
    effort = -definitions.friction[r]
    if mode != 0 and definitions.limit[r] > real(0.0):
        k = real(0.0)
        c = real(0.0)
        effort = definitions.limit[r]
    beta = k * h + c + inertia
    rows.push[r] = real(0.0)
    rows.pull[r] = real(0.0)
    rows.brake[r] = real(1.0)
    rows.carry[r] = real(0.0)
    if mode == 0 and definitions.friction[r] > real(0.0):
        # It holds: its rate is to be zero, whatever it aims at beside.
        rows.compliance[r] = HELD * response_of(joints, rows, j, r)
        rows.push[r] = definitions.rate[r]
        return
    rows.compliance[r] = LEFT_OUT * response_of(joints, rows, j, r)
    if beta > real(0.0):
        rows.compliance[r] = real(2.0) / (h * beta)
        rows.pull[r] = k / beta
        rows.brake[r] = c / beta
        rows.carry[r] = inertia / beta
    if mode != 0:
        rows.push[r] = -rows.compliance[r] * real(0.5) * h * real(mode) * effort


@kernel
def ease(
    joints: Joints, definitions: RowDefinitions, rows: Rows, status: JointStatus, which: wp.array[wp.int32]
) -> None:
    """The compliance of the rows of a joint, and the parts of their laws, in the worlds that are wanted."""
    j = wp.tid()
    w = joints.world[j]
    if which[w] == 0:
        return
    h = status.time_step[w]
    status.eased[w] = h
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.compliance[r] = real(0.0)
        if is_yielding(definitions, r) and joints.broken[j] == 0:
            ease_row(joints, definitions, rows, h, j, r)


@kernel
def leave_out(
    joints: Joints, definitions: RowDefinitions, rows: Rows, status: JointStatus, which: wp.array[wp.int32]
) -> None:
    """Let the rows of a joint that yield do nothing, in the worlds that are wanted."""
    j = wp.tid()
    if which[joints.world[j]] == 0:
        return
    status.eased[joints.world[j]] = real(0.0)
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if is_yielding(definitions, r):
            rows.compliance[r] = LEFT_OUT * response_of(joints, rows, j, r)


@kernel
def find_stale(status: JointStatus, stale: wp.array[wp.int32], any_stale: wp.array[wp.int32]) -> None:
    """Whether the compliance of the rows is that of another step."""
    w = wp.tid()
    stale[w] = wp.where(status.eased[w] == status.time_step[w], 0, 1)
    if stale[w] == 1:
        any_stale[0] = 1


@wp.func
def steady_of(definitions: RowDefinitions, rows: Rows, r: int) -> real:
    """The rate at the end of the step at which a row does nothing but its push."""
    law = rows.pull[r] * (rows.next_aim[r] - rows.error[r]) + rows.brake[r] * definitions.rate[r]
    return law + rows.carry[r] * rows.mean[r] - rows.push[r]


@kernel
def set_steady(joints: Joints, definitions: RowDefinitions, rows: Rows) -> None:
    """The same for the rows of a joint whose laws have changed."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.steady[r] = steady_of(definitions, rows, r)


@kernel
def begin_half(
    joints: Joints,
    fixed: Joints,
    definitions: RowDefinitions,
    rows: Rows,
    acting: Acting,
    motion: Motion,
    second: int,
) -> None:
    """A half of the step begins."""
    j = wp.tid()
    if not has_yielding(fixed, rows, j):
        return
    done = done_along(joints, fixed, rows, acting, j)
    for r in range(fixed.first[j], fixed.first[j] + fixed.count[j]):
        rows.begun[r] = done[r - fixed.first[j]]
        rate = row_velocity(joints, rows, motion, j, r)
        if second == 0:
            rows.rate[r] = rate
        else:
            rows.work[r] = work_of(rows, r, rows.rate[r], rows.sent[r])
            rows.came[r] = rate
        rows.entry[r] = wp.where(second == 1, rows.mean[r], rate)
        rows.yielded[r] = real(0.0)
        rows.steady[r] = steady_of(definitions, rows, r)


@kernel
def lower_stale(any_stale: wp.array[wp.int32]) -> None:
    """No compliance is known to be that of another step."""
    any_stale[0] = 0


@kernel
def note_yielded(joints: Joints, fixed: Joints, rows: Rows, acting: Acting) -> None:
    """How far the rows of a joint have yielded by what it has done since."""
    j = wp.tid()
    if not has_yielding(fixed, rows, j):
        return
    done = done_along(joints, fixed, rows, acting, j)
    for r in range(fixed.first[j], fixed.first[j] + fixed.count[j]):
        if rows.compliance[r] > real(0.0):
            rows.yielded[r] = rows.compliance[r] * (done[r - fixed.first[j]] - rows.begun[r])


@wp.func
def eased_velocity(joints: Joints, rows: Rows, motion: Motion, j: int, r: int) -> real:
    """ė of a row, with what it has yielded."""
    rate = row_velocity(joints, rows, motion, j, r)
    if rows.compliance[r] > real(0.0):
        rate += rows.yielded[r]
    return rate


class Yielding:
    """Records what rows that yield need; nothing where none does.

    Args:
        context: Where the step is recorded.
        problem: The joints as rows.
        solver: The joint method, prepared for them.
        status: How the loops go.
        acting: What the joints do, where they act, and the stops of their freedoms.
    """

    def __init__(
        self,
        context: StepContext,
        problem: JointRows,
        solver: Any,
        status: JointStatus,
        acting: tuple[Reactions, Levers, Any],
    ) -> None:
        self.context, self.problem, self.solver, self.status = context, problem, solver, status
        definitions: Any = problem.definitions
        self.some = any(getattr(definitions, name).numpy().any() for name in LAWS)
        worlds, device = problem.model.worlds, problem.model.device
        self.stale, self.any_stale = (wp.zeros(n, dtype=wp.int32, device=device) for n in (worlds, 1))
        self.acting: Any = Acting()
        self.acting.reactions, self.acting.levers, self.stops = acting
        stops = self.stops.system.stops
        self.acting.total = stops.total
        stop_of = np.full(max(problem.row_count, 1), -1, dtype=np.int32)
        stop_of[stops.row.numpy()] = np.arange(len(stops.row))
        self.acting.stop_of = wp.array(stop_of, dtype=wp.int32, device=device)

    def ease(self, which: Any) -> None:
        """Record the compliance of the rows, which have been evaluated, in the worlds where ``which`` is 1."""
        problem = self.problem
        self._for_joints(ease, problem.joints, problem.definitions, problem.rows, self.status, which)

    def note_rotors(self, links: Any, inertias: Any, which: Any) -> None:
        """Record what drives add to the inertia of bodies, in the worlds where ``which`` is 1."""
        if self.some:
            problem = self.problem
            given = (problem.fixed, links, problem.definitions, problem.rows, inertias, which)
            self.context.for_bodies(note_rotors, *given)

    def leave_out(self, which: Any) -> None:
        """Record that the rows do nothing until the step begins, in the worlds where ``which`` is 1."""
        if self.some:
            problem = self.problem
            self._for_joints(leave_out, problem.joints, problem.definitions, problem.rows, self.status, which)
            self.solver.record_preparation(self.context.program, which)
            self.begin_half()

    def begin_step(self) -> None:
        """Record that a step begins, maybe of another length than the last one."""
        if self.some:
            self.context.for_worlds(find_stale, self.status, self.stale, self.any_stale)
            with self.context.program.when(self.any_stale):
                self.renew()
            self.context.program.launch(lower_stale, 1, self.any_stale)
            self.begin_half()

    def renew(self) -> None:
        """Record the compliance of the rows and the matrix anew, in worlds where they are stale."""
        self.ease(self.stale)
        self.solver.record_preparation(self.context.program, self.stale)
        self.stops.forget_columns(self.stale)

    def begin_half(self, second: bool = False) -> None:
        """Record that a half of the step begins, the first or the second."""
        problem, motion = self.problem, self.context.state.motion
        given = (problem.joints, problem.fixed, problem.definitions, problem.rows, self.acting, motion)
        self._for_joints(begin_half, *given, int(second))

    def measure(self, *given: Any) -> None:
        """Record what they are off by, with the arguments of ``joint_errors.measure_positions``, after the others."""
        self.note()
        self._for_joints(measure_yielding, *given)

    def note(self) -> None:
        """Record how far the rows have yielded, before they are measured."""
        problem = self.problem
        self._for_joints(note_yielded, problem.joints, problem.fixed, problem.rows, self.acting)

    def _for_joints(self, kernel: Any, *inputs: Any) -> None:
        if self.some:
            self.context.program.launch(kernel, self.problem.joint_count, *inputs)
