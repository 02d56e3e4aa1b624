"""Momentum, energy and centre of mass of all articulated bodies together.

    c = Σ m_i x_i / Σ m_i        h = A(q) v = Σ (m_i v_i, J_i ω_i + (x_i − c) × m_i v_i)
    T = Σ (m_i v_i² + ω_i · J_i ω_i) / 2 + Σ I_k v_k² / 2,   V = −Σ m_i g · x_i

Symbols: x_i, v_i, ω_i centre of mass, its velocity and the angular velocity of body i, m_i, J_i mass and inertia; h
momentum above angular momentum about c; A centroidal momentum matrix, whose columns are the wrenches of the composite
bodies; I_k armature, which has energy and, as it stays in the joint, no momentum.

Cost: one pass over the bodies, for A with a wrench a column.

Reference: Orin, Goswami, Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 35 (2013).
"""

import warp as wp

from rattleback.core.precision import real, vec3
from rattleback.reduced.composite import Composite, column_wrench, gather
from rattleback.reduced.forest import Forest, Slot
from rattleback.reduced.points import write_column
from rattleback.reduced.walk import ForestMotion, turned_inertia


@wp.func
def center_of_mass(forest: Forest, slot: Slot, motion: ForestMotion) -> tuple[vec3, real]:
    """The centre of mass of all bodies, and their mass."""
    total = real(0.0)
    moment = vec3()
    for i in range(forest.parent.shape[0]):
        total += forest.mass[i]
        moment += forest.mass[i] * motion.position[slot.body + i]
    return moment / total, total


@wp.func
def momentum(forest: Forest, slot: Slot, motion: ForestMotion) -> tuple[vec3, vec3]:
    """Momentum and angular momentum about the centre of mass of all."""
    center, _total = center_of_mass(forest, slot, motion)
    linear = vec3()
    angular = vec3()
    for i in range(forest.parent.shape[0]):
        k = slot.body + i
        own = forest.mass[i] * motion.velocity[k]
        linear += own
        angular += turned_inertia(forest, slot, i, motion) * motion.angular_velocity[k]
        angular += wp.cross(motion.position[k] - center, own)
    return linear, angular


@wp.func
def momentum_matrix(
    forest: Forest, slot: Slot, motion: ForestMotion, composite: Composite, out: wp.array[real]
) -> None:
    """A of a configuration (6, rates)."""
    n = forest.owner.shape[0]
    center, _total = center_of_mass(forest, slot, motion)
    gather(forest, slot, motion, composite)
    for c in range(n):
        force, torque = column_wrench(forest, slot, c, motion, composite)
        torque = torque + wp.cross(motion.position[slot.body + forest.owner[c]] - center, force)
        write_column(out, 6 * slot.v + c, n, force, torque)


@wp.func
def energy(forest: Forest, slot: Slot, v: wp.array[real], motion: ForestMotion, gravity: vec3) -> tuple[real, real]:
    """Kinetic and potential energy."""
    kinetic = real(0.0)
    potential = real(0.0)
    for i in range(forest.parent.shape[0]):
        k = slot.body + i
        w = motion.angular_velocity[k]
        own = turned_inertia(forest, slot, i, motion) * w
        kinetic += forest.mass[i] * wp.dot(motion.velocity[k], motion.velocity[k]) + wp.dot(w, own)
        potential -= forest.mass[i] * wp.dot(gravity, motion.position[k])
    for c in range(forest.owner.shape[0]):
        kinetic += forest.armature[c] * v[slot.v + c] * v[slot.v + c]
    return real(0.5) * kinetic, potential
