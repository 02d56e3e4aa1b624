"""Poses, velocities, motion subspaces and bias accelerations of articulated bodies, from coordinates and rates.

    v_i = v_p + ω_p × r + Σ S_k v_k        v̇_i = v̇_p + ω̇_p × r + c_i + Σ S_k v̇_k

v, ω velocity of the centre of mass and angular velocity of body i and its parent p, in the world; r way between their
centres of mass; S_k column of rate k, a velocity of the centre of mass of i above an angular velocity; c_i the
acceleration of i that is left where parent and rates do not accelerate.

Algorithm, from the joint's place on the parent to the centre of mass, move by move (s way, a axis, in the world):

    along s at rate ṡ    v += ω × s + ṡ;   c += ċ × s + ω × (ω × s) + 2 ω × ṡ       S = (a, 0)
    about a at rate θ̇    ω += a θ̇;         ċ += ω × a θ̇                             S = (a × (x − p), a)

with ċ the angular part of c, p the point reached, x the centre of mass. Reference points are the centres of mass and
axes those of the world, so that inertias are block-diagonal and are turned, never shifted, on the way in.

Cost: one pass over the bodies, about 0.1 µs a body on a CPU.

Reference: Featherstone, Rigid Body Dynamics Algorithms, sections 3.5 and 4.4.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.maths.quat import quat_from_axis_angle
from rattleback.reduced import moves
from rattleback.reduced.forest import Coordinates, Forest, Slot

SLIDE = wp.constant(moves.SLIDE)
TURN = wp.constant(moves.TURN)
SPIN = wp.constant(moves.SPIN)


@group(axis="bodies")
class ForestMotion:
    """Articulated bodies at coordinates and rates, in the world."""

    position: vec3 = field("m", "centre of mass")
    orientation: quat = field("1", "orientation")
    velocity: vec3 = field("m/s", "velocity of the centre of mass")
    angular_velocity: vec3 = field("rad/s", "angular velocity")
    way: vec3 = field("m", "from the parent's centre of mass; on the ground from the origin")
    drift: vec3 = field("m/s²", "bias acceleration of the centre of mass against the parent")
    swirl: vec3 = field("rad/s²", "angular bias acceleration")
    linear: vec3 = field("1 or m", "S: velocity of the centre of mass by a unit rate", axis="columns")
    angular: vec3 = field("1", "S: angular velocity by a unit rate", axis="columns")


@wp.struct
class Traveller:
    """A frame on its way from the parent to the body."""

    way: vec3
    turn: quat
    velocity: vec3
    spin: vec3
    drift: vec3
    swirl: vec3


@wp.func
def shifted(at: Traveller, s: vec3) -> Traveller:
    """The frame after a way that is fixed in it."""
    across = wp.cross(at.spin, s)
    at.way = at.way + s
    at.velocity = at.velocity + across
    at.drift = at.drift + wp.cross(at.swirl, s) + wp.cross(at.spin, across)
    return at


@wp.func
def slid(at: Traveller, a: vec3, s: real, rate: real) -> Traveller:
    """The frame after a way s along the axis a that grows at a rate."""
    at = shifted(at, s * a)
    at.velocity = at.velocity + rate * a
    at.drift = at.drift + (real(2.0) * rate) * wp.cross(at.spin, a)
    return at


@wp.func
def unit_quat(q: wp.array[real], k: int) -> quat:
    """The quaternion in four coordinates; not ``wp.normalize``, which would hide that its length is zero."""
    turn = quat(q[k], q[k + 1], q[k + 2], q[k + 3])
    return turn * (real(1.0) / wp.sqrt(wp.dot(turn, turn)))


@wp.func
def spun(forest: Forest, slot: Slot, m: int, state: Coordinates, at: Traveller, motion: ForestMotion) -> Traveller:
    """The frame after a spin; writes its columns."""
    k = slot.q + forest.q[m]
    turn = unit_quat(state.q, k)
    frame = at.turn
    if forest.sense[m] > 0:
        at.turn = at.turn * turn
        frame = at.turn
    else:
        at.turn = at.turn * wp.quat_inverse(turn)
    axes = wp.quat_to_matrix(frame) * real(forest.sense[m])
    rate = vec3()
    for e in range(forest.free[m], 3):
        c = forest.rate[m] + e - forest.free[m]
        a = vec3(axes[0, e], axes[1, e], axes[2, e])
        rate += a * state.v[slot.v + c]
        motion.angular[slot.column + c] = a
        motion.linear[slot.column + c] = -wp.cross(a, at.way)
    at.swirl = at.swirl + wp.cross(at.spin, rate)
    at.spin = at.spin + rate
    return at


@wp.func
def moved(forest: Forest, slot: Slot, m: int, state: Coordinates, at: Traveller, motion: ForestMotion) -> Traveller:
    """The frame after a move; writes its columns, their linear parts as if the centre of mass were at the parent's."""
    kind = forest.kind[m]
    if kind == SPIN:
        return spun(forest, slot, m, state, at, motion)
    a = wp.quat_rotate(at.turn, forest.axis[m])
    if kind > SPIN:
        return shifted(at, a)
    c = slot.column + forest.rate[m]
    value = state.q[slot.q + forest.q[m]]
    rate = state.v[slot.v + forest.rate[m]]
    if kind == SLIDE:
        motion.linear[c] = a
        motion.angular[c] = vec3()
        return slid(at, a, value, rate)
    lead = forest.lead[m]
    if lead != real(0.0):
        at = slid(at, a, lead * value, lead * rate)
    motion.linear[c] = lead * a - wp.cross(a, at.way)
    motion.angular[c] = a
    at.turn = at.turn * quat_from_axis_angle(forest.axis[m], value)
    at.swirl = at.swirl + rate * wp.cross(at.spin, a)
    at.spin = at.spin + rate * a
    return at


@wp.func
def departed(forest: Forest, slot: Slot, i: int, motion: ForestMotion) -> Traveller:
    """The frame of the joint of body i on its parent."""
    at = Traveller()
    p = forest.parent[i]
    if p < 0:
        at.way = forest.place[i]
        at.turn = forest.turn[i]
        return at
    k = slot.body + p
    at.turn = motion.orientation[k]
    at.velocity = motion.velocity[k]
    at.spin = motion.angular_velocity[k]
    at = shifted(at, wp.quat_rotate(at.turn, forest.place[i]))
    at.turn = at.turn * forest.turn[i]
    return at


@wp.func
def walk_body(forest: Forest, slot: Slot, i: int, state: Coordinates, motion: ForestMotion) -> None:
    """Pose, velocity, columns and bias of body i; its parent's are there."""
    at = departed(forest, slot, i, motion)
    for m in range(forest.first[i], forest.first[i] + forest.moves[i]):
        at = moved(forest, slot, m, state, at, motion)
    k = slot.body + i
    at.turn = at.turn * forest.back[i]
    motion.orientation[k] = at.turn
    at = shifted(at, -wp.quat_rotate(at.turn, forest.tip[i]))
    motion.velocity[k] = at.velocity
    motion.angular_velocity[k] = at.spin
    motion.way[k] = at.way
    motion.drift[k] = at.drift
    motion.swirl[k] = at.swirl
    position = at.way
    if forest.parent[i] >= 0:
        position += motion.position[slot.body + forest.parent[i]]
    motion.position[k] = position
    for c in range(slot.column + forest.column[i], slot.column + forest.column[i] + forest.columns[i]):
        motion.linear[c] = motion.linear[c] + wp.cross(motion.angular[c], at.way)


@wp.func
def walk_forest(forest: Forest, slot: Slot, state: Coordinates, motion: ForestMotion) -> None:
    """All bodies of a configuration, parents before children."""
    for i in range(forest.parent.shape[0]):
        walk_body(forest, slot, i, state, motion)


@wp.func
def turned_inertia(forest: Forest, slot: Slot, i: int, motion: ForestMotion) -> mat33:
    """Inertia of body i about its centre of mass, in the axes of the world."""
    R = wp.quat_to_matrix(motion.orientation[slot.body + i])
    return R * forest.inertia[i] * wp.transpose(R)
