"""Forward dynamics: the accelerations of the rates of a forest under forces, by articulated bodies.

    (M(q) + I) v̇ = τ − b(q, v)

without forming M. The force that the joint of body i carries is an affine function of the acceleration y of i as its
parent carries it, (f, n) = Y y + z. Rate by rate of the joint, the last first, with U = Y S:

    D = S · U + I,   u = τ − S · z,   Y ← Y − U Uᵀ / D,   z ← z + U u / D;        v̇ = (u − U · y) / D

after which Y and z + Y c, brought to the parent's centre of mass, are added to the parent's. So one arithmetic serves
joints of any number of freedoms, and no inverse larger than a number is needed.

Symbols: S column of the rate, c bias acceleration, I armature (or what an implicit method adds to it), Y the 6 × 6
inertia as three blocks: A of the angular part, B of angular by linear, C of the linear part.

Algorithm: 1. ``factor``: Y, U and D, inwards; depends on the pose only. 2. ``pull``: z and u, inwards.
3. ``swing``: v̇ and accelerations of the bodies, outwards. Steps 2 and 3 alone answer to any further wrenches.

Cost: three passes over the bodies, O(n); about 0.2 µs a hinge on a CPU.

Reference: Featherstone, Rigid Body Dynamics Algorithms, section 7.3; here each joint is eliminated rate by rate.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.maths.quat import cross_matrix
from rattleback.reduced.forest import Forest, Slot
from rattleback.reduced.newton_euler import TreeForces, carried, push_outside
from rattleback.reduced.walk import ForestMotion, turned_inertia


@group(axis="bodies")
class Articulated:
    """Articulated inertias, about the centres of mass, and how the rates answer."""

    A: mat33 = field("kg m²", "inertia Y, angular part; of a body with a parent what its rates leave of it")
    B: mat33 = field("kg m", "inertia Y, angular by linear")
    C: mat33 = field("kg", "inertia Y, linear part")
    push: vec3 = field("N", "U, force by a unit acceleration of the rate", axis="columns")
    twist: vec3 = field("N m", "U, torque by a unit acceleration of the rate", axis="columns")
    ease: real = field("1/(kg m²) or 1/kg", "1/D", axis="columns")
    drive: real = field("N m or N", "u, what is left of the force on the rate", axis="columns")


@wp.func
def start_inertia(forest: Forest, slot: Slot, i: int, motion: ForestMotion, articulated: Articulated) -> None:
    """The inertia of body i alone."""
    k = slot.body + i
    articulated.A[k] = turned_inertia(forest, slot, i, motion)
    articulated.B[k] = mat33()
    articulated.C[k] = wp.identity(3, dtype=real) * forest.mass[i]


@wp.func
def factor_body(forest: Forest, slot: Slot, i: int, motion: ForestMotion, articulated: Articulated) -> None:
    """Eliminate the rates of body i and add what is left of its inertia to its parent."""
    k = slot.body + i
    A = articulated.A[k]
    B = articulated.B[k]
    C = articulated.C[k]
    for j in range(forest.columns[i]):
        own = forest.column[i] + forest.columns[i] - 1 - j
        c = slot.column + own
        s = motion.linear[c]
        w = motion.angular[c]
        twist = A * w + B * s
        push = w * B + C * s
        ease = real(1.0) / (wp.dot(w, twist) + wp.dot(s, push) + forest.armature[own])
        articulated.twist[c] = twist
        articulated.push[c] = push
        articulated.ease[c] = ease
        A -= wp.outer(twist * ease, twist)
        B -= wp.outer(twist * ease, push)
        C -= wp.outer(push * ease, push)
    p = forest.parent[i]
    if p >= 0:
        articulated.A[k] = A
        articulated.B[k] = B
        articulated.C[k] = C
        r = cross_matrix(motion.way[k])
        T = B + r * C
        articulated.C[slot.body + p] = articulated.C[slot.body + p] + C
        articulated.B[slot.body + p] = articulated.B[slot.body + p] + T
        articulated.A[slot.body + p] = articulated.A[slot.body + p] + A - T * r + r * wp.transpose(B)


@wp.func
def factor(forest: Forest, slot: Slot, motion: ForestMotion, articulated: Articulated) -> None:
    """Articulated inertias and the answers of all rates at a configuration that has been walked."""
    count = forest.parent.shape[0]
    for i in range(count):
        start_inertia(forest, slot, i, motion, articulated)
    for j in range(count):
        factor_body(forest, slot, count - 1 - j, motion, articulated)


@wp.func
def pull_body(
    forest: Forest, slot: Slot, i: int, motion: ForestMotion, articulated: Articulated, forces: TreeForces
) -> None:
    """What is left of the forces on the rates of body i, and the force it hands to its parent.

    ``force`` and ``torque`` of the body come in as z, ``drive`` as the forces on the rates.
    """
    k = slot.body + i
    force = forces.force[k]
    torque = forces.torque[k]
    for j in range(forest.columns[i]):
        c = slot.column + forest.column[i] + forest.columns[i] - 1 - j
        drive = articulated.drive[c] - wp.dot(motion.linear[c], force) - wp.dot(motion.angular[c], torque)
        articulated.drive[c] = drive
        force += articulated.push[c] * (drive * articulated.ease[c])
        torque += articulated.twist[c] * (drive * articulated.ease[c])
    p = forest.parent[i]
    if p >= 0:
        y = motion.drift[k]
        z = motion.swirl[k]
        force += articulated.C[k] * y + z * articulated.B[k]
        torque += articulated.A[k] * z + articulated.B[k] * y
        p = slot.body + p
        forces.force[p] = forces.force[p] + force
        forces.torque[p] = forces.torque[p] + torque + wp.cross(motion.way[k], force)


@wp.func
def swing_body(
    forest: Forest, slot: Slot, i: int, motion: ForestMotion, articulated: Articulated, forces: TreeForces
) -> None:
    """Accelerations of the rates of body i, and of the body."""
    linear, angular = carried(forest, slot, i, motion, forces)
    for c in range(slot.column + forest.column[i], slot.column + forest.column[i] + forest.columns[i]):
        left = articulated.drive[c] - wp.dot(articulated.push[c], linear) - wp.dot(articulated.twist[c], angular)
        a = left * articulated.ease[c]
        forces.a[slot.v + c - slot.column] = a
        linear += motion.linear[c] * a
        angular += motion.angular[c] * a
    forces.acceleration[slot.body + i] = linear
    forces.turning[slot.body + i] = angular


@wp.func
def weigh_body(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces) -> None:
    """The force and torque that keep body i alone from accelerating, z."""
    k = slot.body + i
    w = motion.angular_velocity[k]
    momentum = turned_inertia(forest, slot, i, motion) * w
    forces.force[k] = -forest.mass[i] * forces.gravity[0]
    forces.torque[k] = wp.cross(w, momentum)
    push_outside(slot, i, forces)


@wp.func
def answer(forest: Forest, slot: Slot, motion: ForestMotion, articulated: Articulated, forces: TreeForces) -> None:
    """Accelerations of all rates from the forces on them in ``articulated.drive``; the inertias have been factored."""
    count = forest.parent.shape[0]
    for i in range(count):
        weigh_body(forest, slot, i, motion, forces)
    for j in range(count):
        pull_body(forest, slot, count - 1 - j, motion, articulated, forces)
    for i in range(count):
        swing_body(forest, slot, i, motion, articulated, forces)
