"""The mass matrix of a forest, by composite rigid bodies.

    M_jk = S_j · Y_k S_k   for j on the way from the root to k, zero where neither is on the way of the other

Symbols: S_k column of rate k, brought to the centre of mass where it is needed; Y_k inertia of all bodies that k
carries, as one rigid body: mass m, first moment h and inertia J about the centre of mass of the first of them.

    Y (s, w) = (m s + w × h, J w + h × s)

Algorithm: 1. inertias inwards, children into parents. 2. for every column the wrench Y S, handed inwards; dot products
with the columns it meets.

Cost: O(n d), d the depth of the forest. The armature stands on the diagonal.

Reference: Walker, Orin, Efficient dynamic computer simulation of robotic mechanisms, 1982; Featherstone, Rigid Body
Dynamics Algorithms, section 6.2.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.reduced.forest import Forest, Slot
from rattleback.reduced.walk import ForestMotion, turned_inertia


@group(axis="bodies")
class Composite:
    """The inertia of each body with all it carries, about its centre of mass, in the world's axes."""

    mass: real = field("kg", "mass")
    moment: vec3 = field("kg m", "first moment")
    inertia: mat33 = field("kg m²", "inertia")


@wp.func
def point_inertia(r: vec3, s: vec3) -> mat33:
    """The matrix of w ↦ r × (w × s)."""
    return wp.identity(3, dtype=real) * wp.dot(r, s) - wp.outer(s, r)


@wp.func
def gather(forest: Forest, slot: Slot, motion: ForestMotion, composite: Composite) -> None:
    """The inertias of all bodies with what they carry."""
    count = forest.parent.shape[0]
    for i in range(count):
        composite.mass[slot.body + i] = forest.mass[i]
        composite.moment[slot.body + i] = vec3()
        composite.inertia[slot.body + i] = turned_inertia(forest, slot, i, motion)
    for j in range(count):
        i = count - 1 - j
        if forest.parent[i] >= 0:
            k = slot.body + i
            p = slot.body + forest.parent[i]
            r = motion.way[k]
            m = composite.mass[k]
            h = composite.moment[k]
            shift = point_inertia(r, m * r + h) + point_inertia(h, r)
            composite.mass[p] = composite.mass[p] + m
            composite.moment[p] = composite.moment[p] + h + m * r
            composite.inertia[p] = composite.inertia[p] + composite.inertia[k] + shift


@wp.func
def column_wrench(forest: Forest, slot: Slot, c: int, motion: ForestMotion, composite: Composite) -> tuple[vec3, vec3]:
    """Y S of a column: the force and the torque that a unit acceleration of its rate takes."""
    k = slot.body + forest.owner[c]
    s = motion.linear[slot.column + c]
    w = motion.angular[slot.column + c]
    h = composite.moment[k]
    return composite.mass[k] * s + wp.cross(w, h), composite.inertia[k] * w + wp.cross(h, s)


@wp.func
def mass_matrix(forest: Forest, slot: Slot, motion: ForestMotion, composite: Composite, M: wp.array[real]) -> None:
    """The entries of M of a configuration that has been walked, row by row; those between branches stay as they are."""
    n = forest.owner.shape[0]
    first = slot.v * n
    gather(forest, slot, motion, composite)
    for c in range(n):
        force, torque = column_wrench(forest, slot, c, motion, composite)
        i = int(forest.owner[c])
        j = int(c)
        while j >= 0:
            # Columns of one body stand together, so that the wrench moves on only where the body changes.
            while i != forest.owner[j]:
                torque = torque + wp.cross(motion.way[slot.body + i], force)
                i = forest.parent[i]
            entry = wp.dot(motion.linear[slot.column + j], force) + wp.dot(motion.angular[slot.column + j], torque)
            M[first + c * n + j] = entry
            M[first + j * n + c] = entry
            j = forest.above[j]
        M[first + c * n + c] = M[first + c * n + c] + forest.armature[c]
