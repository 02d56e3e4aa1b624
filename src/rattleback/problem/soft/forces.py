"""The forces of soft rows with all their Jacobians, as a kernel.

    λ = −k (e − q) − c (J V − r),    F = Jᵀ λ,    F = (force, torque) on A and on B
    ∂F/∂q = −k Jᵀ J  +  λ ∂Jᵀ/∂q − c Jᵀ (∂J/∂q V),      ∂F/∂V = −c Jᵀ J

e error of a row, q what it aims at, J its Jacobian, V velocities and angular velocities, k stiffness, c damping, r the
rate aimed at. Poses are moved by (δx, δθ) of both bodies, turns on the left. The first term alone is the Gauss–Newton
Jacobian; the others have the second derivatives of the row, see ``constraints.change``.

For a ball with C = p_a − p_b and G = [1, −r_aˣ, −1, r_bˣ] the first is −k GᵀG; the second adds −k Cˣ r_aˣ to ∂T_a/∂θ_a
and k Cˣ r_bˣ to ∂T_b/∂θ_b. Blocks: ∂F/∂x, ∂F/∂θ, ∂T/∂x, ∂T/∂θ of each body by itself and by the other.

Cost: thirteen threads a joint, one for each motion of its bodies and one for the force.
"""

import warp as wp

from rattleback.constraints.bias import Rates, rates_of
from rattleback.constraints.change import row_change
from rattleback.constraints.frame import Frames, Row
from rattleback.constraints.row import row_of
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.maths.small_solve import vec6
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import Joints, RowDefinitions, Rows, counted_frames_of, definition_of
from rattleback.problem.yielding import is_yielding

# Motions of two bodies, and one more thread for the force itself.
MOTIONS = 12
THREADS = MOTIONS + 1


@group(axis="joints")
class SoftForces:
    """Forces of soft rows and their derivatives; slope (j, s, m) is that of the force on side s by motion m."""

    on_a: vec6 = field("N, N m", "force and torque on A, about its centre of mass")
    on_b: vec6 = field("N, N m", "the same on B")
    by_pose: vec6 = field("N/m, N, N m/rad", "their derivatives by the poses of A and B", axis="slopes")
    by_rate: vec6 = field("N s/m, N s, N m s", "the same by the velocities", axis="slopes")


@wp.struct
class Pair:
    """The velocities of the two bodies of a joint."""

    velocity_a: vec3
    spin_a: vec3
    velocity_b: vec3
    spin_b: vec3


@wp.func
def pair_of(joints: Joints, motion: Motion, j: int) -> Pair:
    """The velocities of the bodies of a joint; the world has none."""
    pair = Pair()
    a = joints.body_a[j]
    b = joints.body_b[j]
    if a >= 0:
        pair.velocity_a = motion.velocity[a]
        pair.spin_a = motion.angular_velocity[a]
    if b >= 0:
        pair.velocity_b = motion.velocity[b]
        pair.spin_b = motion.angular_velocity[b]
    return pair


@wp.func
def unit_pair(m: int) -> Pair:
    """A unit motion: of A along x, y, z, about x, y, z, then of B."""
    e = vec3()
    e[m % 3] = real(1.0)
    pair = Pair()
    if m < 3:
        pair.velocity_a = e
    elif m < 6:
        pair.spin_a = e
    elif m < 9:
        pair.velocity_b = e
    else:
        pair.spin_b = e
    return pair


@wp.func
def rate_along(row: Row, pair: Pair) -> real:
    """J V of a row."""
    first = wp.dot(row.linear_a, pair.velocity_a) + wp.dot(row.angular_a, pair.spin_a)
    return first + wp.dot(row.linear_b, pair.velocity_b) + wp.dot(row.angular_b, pair.spin_b)


@wp.func
def joined(force: vec3, torque: vec3) -> vec6:
    """A force and a torque as one vector."""
    return vec6(force[0], force[1], force[2], torque[0], torque[1], torque[2])


@wp.func
def changes_of(frames: Frames, pair: Pair) -> Rates:
    """How the frames move by a motion of the bodies."""
    return rates_of(frames, pair.velocity_a, pair.spin_a, pair.velocity_b, pair.spin_b)


@kernel
def find_forces(
    joints: Joints,
    definitions: RowDefinitions,
    motion: Motion,
    remembered: JointState,
    rows: Rows,
    forces: SoftForces,
    held: wp.array[real],
    exact: int,
) -> None:
    """The forces of the rows of a joint, or their derivatives by one motion; ``held`` are those of rows that hold."""
    j = wp.tid() // THREADS
    m = wp.tid() % THREADS
    frames = counted_frames_of(joints, motion, remembered, j)
    now = pair_of(joints, motion, j)
    moved = unit_pair(m)
    rates = changes_of(frames, moved)
    on_a = vec6()
    on_b = vec6()
    slow_a = vec6()
    slow_b = vec6()
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        if joints.broken[j] != 0:
            continue
        definition = definition_of(definitions, r)
        row = row_of(definition, frames)
        k = definitions.stiffness[r]
        c = definitions.damping[r]
        along_a = joined(row.linear_a, row.angular_a)
        along_b = joined(row.linear_b, row.angular_b)
        off = wp.where(definitions.is_velocity[r] == 1, real(0.0), row.error - rows.aim[r])
        pull = -k * off - c * (rate_along(row, now) - definitions.rate[r])
        if not is_yielding(definitions, r):
            pull = held[r]
        if m == MOTIONS:
            on_a += pull * along_a
            on_b += pull * along_b
            continue
        rate = rate_along(row, moved)
        slope = -k * rate
        if exact == 1:
            change = row_change(definition, frames, rates)
            slope -= c * rate_along(change, now)
            on_a += pull * joined(change.linear_a, change.angular_a)
            on_b += pull * joined(change.linear_b, change.angular_b)
        on_a += slope * along_a
        on_b += slope * along_b
        slow_a -= c * rate * along_a
        slow_b -= c * rate * along_b
    if m == MOTIONS:
        forces.on_a[j] = on_a
        forces.on_b[j] = on_b
        return
    at = 2 * MOTIONS * j + m
    forces.by_pose[at] = on_a
    forces.by_pose[at + MOTIONS] = on_b
    forces.by_rate[at] = slow_a
    forces.by_rate[at + MOTIONS] = slow_b
