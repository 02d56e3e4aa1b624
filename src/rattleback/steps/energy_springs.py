"""What springs and drives inside the constraint solve give to the bodies of a step.

    W = ½ k ((e₀ − q)² − (e₁ − q)²) + ½ A (u₀² − u₁²)

k stiffness and A armature of a row, e₀ and e₁ its error at both ends of the step, q what it aims at, u₀ and u₁ its rate
there. It is below zero where they take energy in; what dampers take is not counted. A spring that is stiff beside the
step counts for nothing: what it gives back is damped away within that step, and e is there but the error of the loop.
Cost: a look at every such row.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import row_velocity
from rattleback.steps.energy_islands import ZERO, Ledger
from rattleback.steps.torn_mechanisms import Measured

# A spring is stiff beside the step where its impulse moves the row this many times more than the row yields.
STIFF = wp.constant(real(100.0))


@wp.func
def is_slow(measured: Measured, j: int, r: int) -> bool:
    """Whether the spring of a row is not stiff beside the step."""
    joints = measured.joints
    rows = measured.rows
    mass = (joints.inverse_mass_a[j] + joints.inverse_mass_b[j]) * wp.length_sq(rows.linear[r])
    spin = wp.dot(rows.angular_a[r], rows.spin_a[r]) + wp.dot(rows.angular_b[r], rows.spin_b[r])
    return mass + spin < STIFF * rows.compliance[r]


@wp.func
def add_springs(bodies: Bodies, measured: Measured, motion: Motion, ledger: Ledger, j: int) -> None:
    """Add the work of the springs of a joint to that of the loads at one of its bodies."""
    joints = measured.joints
    rows = measured.rows
    if joints.broken[j] != 0:
        return
    work = ZERO
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        k = measured.definitions.stiffness[r]
        inertia = measured.definitions.armature[r]
        if k > ZERO and is_slow(measured, j, r):
            before = rows.was[r] - rows.aim[r]
            now = rows.error[r] - rows.aim[r]
            work += real(0.5) * k * (before * before - now * now)
        if inertia > ZERO:
            rate = row_velocity(joints, rows, motion, j, r)
            work += real(0.5) * inertia * (rows.rate[r] * rows.rate[r] - rate * rate)
    i = joints.body_b[j]
    if i < 0 or bodies.mass[wp.max(i, 0)] == ZERO:
        i = joints.body_a[j]
    ledger.work[i] = ledger.work[i] + work
