"""Inverse dynamics: the forces on the rates of a forest that give it accelerations, by recursive Newton–Euler.

    τ = M(q) v̇ + b(q, v)        v̇_i = v̇_p + ω̇_p × r + c_i + Σ S_k v̇_k
    f_i = m (v̇_i − g) − f_ext + Σ f_child        n_i = J ω̇_i + ω × J ω − n_ext + Σ (n_child + r × f_child)
    τ_k = S_k · (f_i, n_i) + I_k v̇_k + d_k v_k

Symbols: v̇_i acceleration of the centre of mass of body i, p its parent, r way from the parent's centre of mass, c_i
bias acceleration, S_k column of rate k; (f_i, n_i) what the joint of body i carries, about its centre of mass; f_ext,
n_ext external force and torque about the centre of mass; I_k armature, d_k damping.

Algorithm: 1. accelerations outwards. 2. forces inwards.

Cost: two passes over the bodies, O(n).

Reference: Luh, Walker, Paul, On-line computational scheme for mechanical manipulators, 1980; Featherstone, Rigid Body
Dynamics Algorithms, section 5.3.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3
from rattleback.reduced.forest import Forest, Slot
from rattleback.reduced.walk import ForestMotion, turned_inertia


@group(axis="bodies")
class TreeForces:
    """What articulated bodies carry and how they accelerate, in the world."""

    acceleration: vec3 = field("m/s²", "acceleration of the centre of mass")
    turning: vec3 = field("rad/s²", "angular acceleration")
    force: vec3 = field("N", "force that the joint of the body carries")
    torque: vec3 = field("N m", "torque that it carries, about the centre of mass")
    wrenches: real = field("N, N m", "external force and torque about the centre of mass, six a body", axis="wrenches")
    gravity: vec3 = field("m/s²", "acceleration of free fall, one row", axis="fields")
    a: real = field("rad/s² or m/s²", "accelerations of the rates", axis="rates")
    tau: real = field("N m or N", "forces on the rates", axis="rates")


@wp.func
def carried(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces) -> tuple[vec3, vec3]:
    """Acceleration of body i as its parent carries it and its rates stay: v̇_p + ω̇_p × r + c_i, and angular."""
    k = slot.body + i
    linear = motion.drift[k]
    angular = motion.swirl[k]
    if forest.parent[i] >= 0:
        p = slot.body + forest.parent[i]
        angular += forces.turning[p]
        linear += forces.acceleration[p] + wp.cross(forces.turning[p], motion.way[k])
    return linear, angular


@wp.func
def accelerate_body(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces) -> None:
    """The accelerations of body i from those of its parent and of its rates."""
    linear, angular = carried(forest, slot, i, motion, forces)
    for c in range(forest.column[i], forest.column[i] + forest.columns[i]):
        linear += motion.linear[slot.column + c] * forces.a[slot.v + c]
        angular += motion.angular[slot.column + c] * forces.a[slot.v + c]
    forces.acceleration[slot.body + i] = linear
    forces.turning[slot.body + i] = angular


@wp.func
def outer_wrench(slot: Slot, i: int, forces: TreeForces) -> tuple[vec3, vec3]:
    """External force and torque of body i; there are some."""
    e = 6 * (slot.wrench + i)
    force = vec3(forces.wrenches[e], forces.wrenches[e + 1], forces.wrenches[e + 2])
    return force, vec3(forces.wrenches[e + 3], forces.wrenches[e + 4], forces.wrenches[e + 5])


@wp.func
def push_outside(slot: Slot, i: int, forces: TreeForces) -> None:
    """Take the external wrench of body i, if there are any, off what its joint carries."""
    if forces.wrenches.shape[0] > 0:
        k = slot.body + i
        force, torque = outer_wrench(slot, i, forces)
        forces.force[k] = forces.force[k] - force
        forces.torque[k] = forces.torque[k] - torque


@wp.func
def load_body(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces) -> None:
    """The force and torque that the accelerations of body i take, without those of the bodies it carries."""
    k = slot.body + i
    J = turned_inertia(forest, slot, i, motion)
    w = motion.angular_velocity[k]
    forces.force[k] = forest.mass[i] * (forces.acceleration[k] - forces.gravity[0])
    forces.torque[k] = J * forces.turning[k] + wp.cross(w, J * w)
    push_outside(slot, i, forces)


@wp.func
def hand_inwards(forest: Forest, slot: Slot, i: int, motion: ForestMotion, forces: TreeForces) -> None:
    """Add what the joint of body i carries to its parent."""
    if forest.parent[i] >= 0:
        k = slot.body + i
        p = slot.body + forest.parent[i]
        forces.force[p] = forces.force[p] + forces.force[k]
        forces.torque[p] = forces.torque[p] + forces.torque[k] + wp.cross(motion.way[k], forces.force[k])


@wp.func
def newton_euler(forest: Forest, slot: Slot, motion: ForestMotion, v: wp.array[real], forces: TreeForces) -> None:
    """Forces on all rates of a configuration, from the accelerations in ``forces.a``; the forest has been walked."""
    count = forest.parent.shape[0]
    for i in range(count):
        accelerate_body(forest, slot, i, motion, forces)
        load_body(forest, slot, i, motion, forces)
    for j in range(count):
        i = count - 1 - j
        k = slot.body + i
        for c in range(forest.column[i], forest.column[i] + forest.columns[i]):
            along = wp.dot(motion.linear[slot.column + c], forces.force[k])
            about = wp.dot(motion.angular[slot.column + c], forces.torque[k])
            drive = forest.armature[c] * forces.a[slot.v + c] + forest.damping[c] * v[slot.v + c]
            forces.tau[slot.v + c] = along + about + drive
        hand_inwards(forest, slot, i, motion, forces)
