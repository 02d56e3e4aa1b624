"""Jacobians of points: how points of articulated bodies move with the rates, and how that changes.

    V = J v,   J_k = (S_k + a_k × (p − x_k), a_k)        V̇ = J v̇ + J̇ v,   J̇_k = Ṡ_k at p, + (a_k × ṗ, 0)

Symbols: V velocity of the point p above the angular velocity of its body; S_k, a_k linear and angular part of column k
at the centre of mass x_k of the body it belongs to, zero where rate k does not carry the point; Ṡ_k = w × S_k with the
twist w of the frame in which the axis of the column is fixed.

Cost: one column a rate on the way from the root, O(d).

Reference: Featherstone, Rigid Body Dynamics Algorithms, sections 2.9 and 4.4.
"""

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.reduced.forest import Forest, Slot
from rattleback.reduced.walk import ForestMotion


@wp.func
def frame_twist(forest: Forest, slot: Slot, c: int, v: wp.array[real], motion: ForestMotion) -> tuple[vec3, vec3]:
    """The twist w of the frame in which the axis of a column is fixed, at the centre of mass of its body."""
    i = forest.owner[c]
    k = slot.body + i
    linear = vec3()
    angular = vec3()
    if forest.parent[i] >= 0:
        p = slot.body + forest.parent[i]
        angular = motion.angular_velocity[p]
        linear = motion.velocity[p] + wp.cross(angular, motion.way[k])
    for j in range(forest.column[i], forest.carried[c]):
        linear += motion.linear[slot.column + j] * v[slot.v + j]
        angular += motion.angular[slot.column + j] * v[slot.v + j]
    return linear, angular


@wp.func
def column_at(slot: Slot, c: int, i: int, point: vec3, motion: ForestMotion) -> tuple[vec3, vec3]:
    """The column of a rate of body i at a point of the world."""
    a = motion.angular[slot.column + c]
    return motion.linear[slot.column + c] + wp.cross(a, point - motion.position[slot.body + i]), a


@wp.func
def column_rate_at(
    forest: Forest, slot: Slot, c: int, point: vec3, v: wp.array[real], motion: ForestMotion
) -> tuple[vec3, vec3]:
    """The rate of a column at a point that stays where it is."""
    linear, angular = frame_twist(forest, slot, c, v, motion)
    a = motion.angular[slot.column + c]
    turning = wp.cross(angular, a)
    moving = wp.cross(angular, motion.linear[slot.column + c]) + wp.cross(linear, a)
    return moving + wp.cross(turning, point - motion.position[slot.body + forest.owner[c]]), turning


@wp.func
def last_column(forest: Forest, i: int) -> int:
    """The last column on the way from the root to body i; −1 for none."""
    b = int(i)
    while b >= 0 and forest.columns[b] == 0:
        b = forest.parent[b]
    if b < 0:
        return -1
    return forest.column[b] + forest.columns[b] - 1


@wp.func
def point_on(forest: Forest, slot: Slot, i: int, point: vec3, motion: ForestMotion) -> vec3:
    """Place in the world of a point given in the frame of body i."""
    k = slot.body + i
    return motion.position[k] + wp.quat_rotate(motion.orientation[k], point - forest.center[i])


@wp.func
def write_column(out: wp.array[real], first: int, stride: int, linear: vec3, angular: vec3) -> None:
    """Write six numbers below each other into a matrix."""
    for e in range(3):
        out[first + e * stride] = linear[e]
        out[first + (3 + e) * stride] = angular[e]


@wp.func
def jacobian(forest: Forest, slot: Slot, i: int, point: vec3, motion: ForestMotion, out: wp.array[real]) -> None:
    """J of a point of the world on body i (6, rates)."""
    n = forest.owner.shape[0]
    first = 6 * slot.v
    for e in range(6 * n):
        out[first + e] = real(0.0)
    c = last_column(forest, i)
    while c >= 0:
        linear, angular = column_at(slot, c, forest.owner[c], point, motion)
        write_column(out, first + c, n, linear, angular)
        c = forest.above[c]


@wp.struct
class Carried:
    """A point of the world on a body, and its velocity."""

    body: wp.int32
    point: vec3
    velocity: vec3


@wp.func
def jacobian_rate(
    forest: Forest, slot: Slot, at: Carried, v: wp.array[real], motion: ForestMotion, out: wp.array[real]
) -> None:
    """J̇ of a point that its body carries (6, rates)."""
    n = forest.owner.shape[0]
    first = 6 * slot.v
    for e in range(6 * n):
        out[first + e] = real(0.0)
    c = last_column(forest, at.body)
    while c >= 0:
        linear, angular = column_rate_at(forest, slot, c, at.point, v, motion)
        linear += wp.cross(motion.angular[slot.column + c], at.velocity)
        write_column(out, first + c, n, linear, angular)
        c = forest.above[c]
