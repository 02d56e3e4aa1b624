"""What springs and drives inside the constraint solve give to the bodies of a step.

    W = λ₀ (u₀ + u₀⁺)/2 + λ₁ (u₁⁻ + u₁)/2

λ₀ and λ₁ impulses of a row at the start and at the end of the step, u₀ and u₀⁺ its rates before and after the first,
u₁⁻ and u₁ those before and after the second. Impulses that act at once change the kinetic energy by the sum of this for
all of them, so W is the share of the row, whatever else acts. It is below zero where the row takes energy in. As of the
work of forces, a twentieth of it may be missed, for hard rows that carry it turn in the step. Rows that only damp are
left out: what they take is not to be given back by others. Cost: a look at every row.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import row_velocity
from rattleback.problem.yielding import work_of
from rattleback.steps.energy_islands import ZERO, Ledger
from rattleback.steps.torn_mechanisms import Measured

# Part of the work that may be missed, as of that of forces in ``energy_audit``.
MISSED = wp.constant(real(0.05))


@wp.func
def add_springs(bodies: Bodies, measured: Measured, motion: Motion, ledger: Ledger, j: int) -> None:
    """Add the work of the springs and drives of a joint to that of the loads at one of its bodies."""
    joints = measured.joints
    rows = measured.rows
    if joints.broken[j] != 0:
        return
    work = ZERO
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if measured.definitions.stiffness[r] + measured.definitions.armature[r] > ZERO:
            second = work_of(rows, r, rows.came[r], row_velocity(joints, rows, motion, j, r))
            work += rows.work[r] + second + MISSED * (wp.abs(rows.work[r]) + wp.abs(second))
    i = joints.body_b[j]
    if i < 0 or bodies.mass[wp.max(i, 0)] == ZERO:
        i = joints.body_a[j]
    ledger.work[i] = ledger.work[i] + work
