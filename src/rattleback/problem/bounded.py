"""Rows that yield with a bound: friction of joints, and springs and controllers whose effort has a limit.

    friction    |λ_f| ≤ h/2 f:    it holds, ē = 0, while it can;   else λ_f = −σ h/2 f against the motion σ
    limit       λ = −h/2 (k (e − q) + c (ē − r)) while |λ| ≤ h/2 F;   else λ = σ h/2 F

for either half of a step, with armature and, for friction, a spring beside it. So a row has three modes: 0 where its
law is that of ``yielding`` or it holds, σ = 1 or −1 beyond. A mode is a law with another compliance and a push of its
own,

    u + s (λ − λ_σ) = 0

A loop of corrections begins with what the rate at the start says. After each measurement a row whose law or bound does
not fit its mode changes it, and the matrix of the joints is made anew: Newton's method on a function with kinks.

    measure;  a row that holds with more than its bound slips, one that slips back holds;  a law beyond its limit is cut
Cost: a factorisation for every change, and one a step. Where modes still change after some corrections, they stay.
"""

from typing import Any

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.state import Motion
from rattleback.problem.corrections import JointStatus, Limits
from rattleback.problem.joint_rows import Joints, RowDefinitions, Rows, row_velocity
from rattleback.problem.yielding import Yielding, set_steady

# Corrections after which modes stay as they are.
MOST_SWITCHES = wp.constant(12)
# Part of a bound by which it may be passed before a row slips.
SLACK = wp.constant(real(1e-9))


@wp.func
def has_bound(definitions: RowDefinitions, r: int) -> bool:
    """Whether a row has friction, or a limit of its effort."""
    return definitions.friction[r] + definitions.limit[r] > real(0.0)


@kernel
def begin_modes(
    joints: Joints, definitions: RowDefinitions, rows: Rows, motion: Motion, limits: Limits, status: JointStatus
) -> None:
    """A step begins: what moves slips, all else holds or has its law; the matrix is to be made anew."""
    j = wp.tid()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.mode[r] = 0
        if definitions.friction[r] > real(0.0):
            rate = row_velocity(joints, rows, motion, j, r)
            if wp.abs(rate) > limits.velocity:
                rows.mode[r] = wp.where(rate > real(0.0), 1, -1)
    status.eased[joints.world[j]] = real(0.0)


@wp.func
def mode_of(definitions: RowDefinitions, rows: Rows, r: int, h: real, rate: real, strain: real) -> int:
    """The mode that fits what a row does: its mean rate or that at the end, and its error beyond what it aims at."""
    half = real(0.5) * h
    drive = -half * (definitions.stiffness[r] * strain + definitions.damping[r] * (rate - definitions.rate[r]))
    mode = rows.mode[r]
    if definitions.friction[r] == real(0.0):
        most = half * definitions.limit[r]
        if mode == 0:
            return wp.where(wp.abs(drive) > (real(1.0) + SLACK) * most, wp.where(drive > real(0.0), 1, -1), 0)
        return wp.where(real(mode) * drive < most, 0, mode)
    most = half * definitions.friction[r]
    if mode == 0:
        inertia = definitions.armature[r] * (rate - rows.entry[r])
        held = rows.yielded[r] / rows.compliance[r] - drive + inertia
        return wp.where(wp.abs(held) > (real(1.0) + SLACK) * most, wp.where(held < real(0.0), 1, -1), 0)
    return wp.where(real(mode) * rate < real(0.0), 0, mode)


@kernel
def switch(
    joints: Joints,
    definitions: RowDefinitions,
    rows: Rows,
    motion: Motion,
    status: JointStatus,
    stale: wp.array[wp.int32],
    any_stale: wp.array[wp.int32],
    second: int,
) -> None:
    """Rows of a joint whose mode does not fit change it, in worlds where a loop is on."""
    j = wp.tid()
    w = joints.world[j]
    if status.going[w] == 0 or status.iterations[w] >= MOST_SWITCHES or status.eased[w] == real(0.0):
        return
    h = status.time_step[w]
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if not has_bound(definitions, r) or rows.compliance[r] == real(0.0):
            continue
        rate = rows.mean[r]
        strain = rows.end[r] - rows.aim[r]
        if second == 1:
            rate = row_velocity(joints, rows, motion, j, r)
            strain = rows.error[r] + h * rate - rows.next_aim[r]
        mode = mode_of(definitions, rows, r, h, rate, strain)
        if mode != rows.mode[r]:
            rows.mode[r] = mode
            stale[w] = 1
            any_stale[0] = 1


@kernel
def lower(stale: wp.array[wp.int32], any_stale: wp.array[wp.int32]) -> None:
    """No mode has changed."""
    stale[wp.tid()] = 0
    any_stale[0] = 0


class Bounded(Yielding):
    """Records what rows that yield need, and those that have a bound; nothing where none does.

    Args:
        limits: Tolerances of the loop.
        given: What ``Yielding`` is made of.
    """

    def __init__(self, limits: Any, *given: Any) -> None:
        super().__init__(*given)
        self.limits = limits
        definitions: Any = self.problem.definitions
        self.bounded = any(getattr(definitions, name).numpy().any() for name in ("friction", "limit"))

    def begin_step(self) -> None:
        """Record that a step begins, maybe of another length than the last one."""
        if self.bounded:
            given = (self.problem.definitions, self.problem.rows, self.context.state.motion)
            self._for_held(begin_modes, *given, self.limits, self.status)
        super().begin_step()

    def switch(self, measure: Any, second: bool = False) -> None:
        """Record that rows change their modes, and what is measured anew where any does.

        Args:
            measure: Records a measurement.
            second: Whether it is of velocities at the end of the step.
        """
        if not self.bounded:
            return
        problem, motion = self.problem, self.context.state.motion
        self.context.for_worlds(lower, self.stale, self.any_stale)
        given = (problem.definitions, problem.rows, motion, self.status, self.stale, self.any_stale)
        self._for_held(switch, *given, int(second))
        with self.context.program.when(self.any_stale):
            self.renew()
            self._for_held(set_steady, problem.definitions, problem.rows)
            measure()

    def _for_held(self, kernel: Any, *inputs: Any) -> None:
        self.context.program.launch(kernel, self.problem.joint_count, self.problem.fixed, *inputs)
