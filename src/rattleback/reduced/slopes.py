"""Derivatives of inverse dynamics with respect to coordinates and rates, and the mass matrix beside them.

Moving rate j by a small step turns everything it carries by the twist S_j. Seen from what is turned, only what comes
from below has changed: velocities by ψ̇_j, accelerations by ψ̈_j − v × ψ̇_j, so that for bodies carried by i and j

    ∂τ_i/∂q_j = S_i · (Y ψ̈_j + B ψ̇_j + E S_j)  [− (S_j × S_i) · F where j does not carry the axis of i]
    ∂τ_i/∂v_j = S_i · (Y (Ṡ_j + ψ̇_j) + B S_j),      M_ij = S_i · Y S_j
    ψ̇ = v_0 × S,   ψ̈ = a_0 × S + v_0 × ψ̇,   Ṡ = v_1 × S

Symbols: v_0, a_0 twist and its rate before the move of the column (with −g for the ground), v_1 after it; for a spin
walked backwards, whose axes its parent carries, the other way round. Y, F inertia of and wrench on all bodies that both
rates carry; B ψ = v ×* Y ψ − Y (v × ψ) + ψ ×* Y v their gyroscopic matrix, which only takes the angular part of ψ; E
what external wrenches, fixed in the world, change in the axes that turn. All of a tree is about the centre of mass
of its root, where it is.

Steps in coordinates are those of ``manifold``: along spins, by rotation vectors.

Algorithm: 1. composites of each body, and ψ̇, ψ̈, Ṡ + ψ̇ of each column, outwards. 2. sums, inwards. 3. for every
column a wrench, and its product with all columns on the way to the root.

Cost: O(n d), about two mass matrices.

Reference: Singh, Russo, Wensing, Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra,
IEEE Robotics and Automation Letters 7 (2022), equations 13 to 20; Carpentier, Mansard, RSS 2018.
"""

from typing import TYPE_CHECKING, Any

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.maths.quat import cross_matrix
from rattleback.maths.spatial import Pull, Twist, crossed, power, sum_of, times, twist_of
from rattleback.reduced.composite import point_inertia
from rattleback.reduced.forest import Forest, Slot
from rattleback.reduced.newton_euler import TreeForces, outer_wrench
from rattleback.reduced.walk import SPIN, ForestMotion, turned_inertia

if TYPE_CHECKING:  # Arrays of structs are opaque to the type checker.
    Twists = Any
else:
    Twists = Twist


@group(axis="bodies")
class Slopes:
    """Sums over all that a body carries, and twists of columns; about the root's centre of mass."""

    mass: real = field("kg", "mass")
    moment: vec3 = field("kg m", "first moment")
    inertia: mat33 = field("kg m²", "inertia")
    momentum: vec3 = field("kg m/s", "momentum")
    gyration: mat33 = field("N m s", "torque of B by the angular part")
    outer_force: vec3 = field("N", "external force")
    outer: mat33 = field("N m", "−E, torque by the angular part")
    S: Twists = field("1", "column", axis="columns")
    first: Twists = field("1/s", "ψ̇", axis="columns")
    second: Twists = field("1/s²", "ψ̈", axis="columns")
    both: Twists = field("1/s", "Ṡ + ψ̇", axis="columns")


@wp.struct
class Passage:
    """A twist and its rate, on the way through the moves of a joint."""

    twist: Twist
    rate: Twist


@wp.func
def arrived(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces) -> Passage:
    """Twist and rate of body i about the centre of mass of its root, falling upwards; those of the ground for −1."""
    passage = Passage()
    passage.rate.linear = -forces.gravity[0]
    if i >= 0:
        k = slot.body + i
        r = motion.position[k] - motion.position[slot.body + forest.root[i]]
        w = motion.angular_velocity[k]
        passage.twist = twist_of(motion.velocity[k] - wp.cross(w, r), w)
        linear = forces.acceleration[k] - wp.cross(w, motion.velocity[k]) - wp.cross(forces.turning[k], r)
        passage.rate = twist_of(linear - forces.gravity[0], forces.turning[k])
    return passage


@wp.func
def differentiate_move(
    forest: Forest, slot: Slot, m: int, v: wp.array[real], forces: TreeForces, slopes: Slopes, before: Passage
) -> Passage:
    """The ψ̇, ψ̈ and Ṡ + ψ̇ of the columns of a move; returns the passage after it."""
    first = forest.rate[m]
    count = wp.where(forest.kind[m] == SPIN, 3 - forest.free[m], wp.where(forest.kind[m] < SPIN, 1, 0))
    own = Twist()
    gain = Twist()
    for c in range(first, first + count):
        S = slopes.S[slot.column + c]
        own = sum_of(own, times(v[slot.v + c], S))
        gain = sum_of(gain, times(forces.a[slot.v + c], S))
    after = Passage()
    after.twist = sum_of(before.twist, own)
    after.rate = sum_of(before.rate, sum_of(gain, crossed(before.twist, own)))
    kept = before
    if forest.kind[m] == SPIN and forest.sense[m] < 0:
        kept = after
    for c in range(slot.column + first, slot.column + first + count):
        S = slopes.S[c]
        turning = crossed(kept.twist, S)
        slopes.first[c] = turning
        slopes.second[c] = sum_of(crossed(kept.rate, S), crossed(kept.twist, turning))
        slopes.both[c] = crossed(sum_of(before.twist, after.twist), S)
    return after


@wp.func
def start_body(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces, slopes: Slopes) -> None:
    """The sums of body i alone, and its columns about the root's centre of mass."""
    k = slot.body + i
    r = motion.position[k] - motion.position[slot.body + forest.root[i]]
    w = motion.angular_velocity[k]
    m = forest.mass[i]
    J = turned_inertia(forest, slot, i, motion)
    slopes.mass[k] = m
    slopes.moment[k] = m * r
    slopes.inertia[k] = J + point_inertia(r, m * r)
    slopes.momentum[k] = m * motion.velocity[k]
    turning = cross_matrix(w)
    swept = cross_matrix(r) * cross_matrix(motion.velocity[k])
    slopes.gyration[k] = turning * J - J * turning - cross_matrix(J * w) - (real(2.0) * m) * swept
    if forces.wrenches.shape[0] > 0:
        f, n = outer_wrench(slot, i, forces)
        slopes.outer_force[k] = f
        slopes.outer[k] = cross_matrix(n) + cross_matrix(r) * cross_matrix(f)
    for c in range(slot.column + forest.column[i], slot.column + forest.column[i] + forest.columns[i]):
        a = motion.angular[c]
        slopes.S[c] = twist_of(motion.linear[c] - wp.cross(a, r), a)


@wp.func
def add_to_parent(forest: Forest, slot: Slot, i: int, slopes: Slopes) -> None:
    """Add the sums of body i to its parent's."""
    if forest.parent[i] >= 0:
        k = slot.body + i
        p = slot.body + forest.parent[i]
        slopes.mass[p] = slopes.mass[p] + slopes.mass[k]
        slopes.moment[p] = slopes.moment[p] + slopes.moment[k]
        slopes.inertia[p] = slopes.inertia[p] + slopes.inertia[k]
        slopes.momentum[p] = slopes.momentum[p] + slopes.momentum[k]
        slopes.gyration[p] = slopes.gyration[p] + slopes.gyration[k]
        slopes.outer_force[p] = slopes.outer_force[p] + slopes.outer_force[k]
        slopes.outer[p] = slopes.outer[p] + slopes.outer[k]


@wp.func
def weighed(slopes: Slopes, k: int, twist: Twist) -> Pull:
    """Y times a twist."""
    h = slopes.moment[k]
    pull = Pull()
    pull.force = slopes.mass[k] * twist.linear + wp.cross(twist.angular, h)
    pull.torque = slopes.inertia[k] * twist.angular + wp.cross(h, twist.linear)
    return pull


@wp.func
def gyrated(slopes: Slopes, k: int, pull: Pull, a: vec3) -> Pull:
    """A wrench plus B times a twist with the angular part a."""
    pull.force = pull.force + real(2.0) * wp.cross(a, slopes.momentum[k])
    pull.torque = pull.torque + slopes.gyration[k] * a
    return pull


@wp.struct
class Product:
    """What a column multiplies the columns before it with."""

    weight: Pull
    gyration: vec3
    outer: vec3
    by_q: Pull
    by_v: Pull
    carried: Pull


@wp.func
def product_of(forest: Forest, slot: Slot, c: int, motion: ForestMotion, forces: TreeForces, slopes: Slopes) -> Product:
    """The wrenches of a column and of its slopes."""
    i = forest.owner[c]
    k = slot.body + i
    S = slopes.S[slot.column + c]
    turning = slopes.first[slot.column + c]
    found = Product()
    found.weight = weighed(slopes, k, S)
    found.gyration = S.angular * slopes.gyration[k] - real(2.0) * wp.cross(S.linear, slopes.momentum[k])
    found.outer = wp.cross(slopes.outer_force[k], S.linear) - S.angular * slopes.outer[k]
    found.by_q = gyrated(slopes, k, weighed(slopes, k, slopes.second[slot.column + c]), turning.angular)
    found.by_q.force = found.by_q.force + wp.cross(S.angular, slopes.outer_force[k])
    found.by_q.torque = found.by_q.torque - slopes.outer[k] * S.angular
    found.by_v = gyrated(slopes, k, weighed(slopes, k, slopes.both[slot.column + c]), S.angular)
    r = motion.position[k] - motion.position[slot.body + forest.root[i]]
    found.carried.force = forces.force[k]
    found.carried.torque = forces.torque[k] + wp.cross(r, forces.force[k])
    return found


@group(axis="entries")
class Matrices:
    """Derivatives of the forces on the rates, row by row of each configuration."""

    by_q: real = field("N m/rad …", "∂τ/∂q")
    by_v: real = field("N m s/rad …", "∂τ/∂v")
    by_a: real = field("kg m² …", "∂τ/∂v̇, the mass matrix; ∂v̇/∂τ where v̇ is differentiated")


@wp.func
def write_pair(forest: Forest, slot: Slot, c: int, j: int, found: Product, slopes: Slopes, matrices: Matrices) -> None:
    """The entries of column c and a column j on the way from the root to it, or c itself."""
    n = forest.owner.shape[0]
    lower = slot.v * n + c * n + j
    upper = slot.v * n + j * n + c
    own = slopes.S[slot.column + c]
    other = slopes.S[slot.column + j]
    turning = slopes.first[slot.column + j]
    seen = power(crossed(own, other), found.carried)
    by_q = power(slopes.second[slot.column + j], found.weight)
    by_q += wp.dot(found.gyration, turning.angular) + wp.dot(found.outer, other.angular)
    matrices.by_q[lower] = wp.where(j < forest.carried[c], by_q, by_q + seen)
    by_q = power(other, found.by_q)
    # Of two columns of one spin walked forwards, each carries the axis of the other.
    matrices.by_q[upper] = wp.where(c < forest.carried[j], by_q, by_q - seen)
    matrices.by_v[lower] = power(slopes.both[slot.column + j], found.weight) + wp.dot(found.gyration, other.angular)
    matrices.by_v[upper] = power(other, found.by_v)
    entry = power(other, found.weight)
    matrices.by_a[lower] = entry
    matrices.by_a[upper] = entry


@wp.func
def differentiate(
    forest: Forest, slot: Slot, motion: ForestMotion, v: wp.array[real], forces: TreeForces, slopes: Slopes
) -> None:
    """Sums and column twists of a configuration after Newton–Euler."""
    count = forest.parent.shape[0]
    for i in range(count):
        start_body(forest, slot, i, motion, forces, slopes)
        passage = arrived(forest, slot, forest.parent[i], motion, forces)
        for m in range(forest.first[i], forest.first[i] + forest.moves[i]):
            passage = differentiate_move(forest, slot, m, v, forces, slopes, passage)
    for j in range(count):
        add_to_parent(forest, slot, count - 1 - j, slopes)


@wp.func
def write_slopes(
    forest: Forest, slot: Slot, motion: ForestMotion, forces: TreeForces, slopes: Slopes, matrices: Matrices
) -> None:
    """The derivatives of a configuration after :func:`differentiate`."""
    n = forest.owner.shape[0]
    for e in range(slot.v * n, (slot.v + n) * n):
        matrices.by_q[e] = real(0.0)
        matrices.by_v[e] = real(0.0)
        matrices.by_a[e] = real(0.0)
    for c in range(n):
        found = product_of(forest, slot, c, motion, forces, slopes)
        j = int(c)
        while j >= 0:
            write_pair(forest, slot, c, j, found, slopes, matrices)
            j = forest.above[j]
        e = (slot.v + c) * n + c
        matrices.by_a[e] = matrices.by_a[e] + forest.armature[c]
        matrices.by_v[e] = matrices.by_v[e] + forest.damping[c]
