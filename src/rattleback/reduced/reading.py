"""Coordinates and rates of joints, from the poses and velocities of the bodies.

The way d and the turn R from frame A to frame B of a joint, with their rates, are taken apart move by move, from A:

    slide     s = e · d                       ṡ = e · u
    turn      θ about e, from what is left    θ̇ = e · w; of an orbit (e × d) · u / |e × d|²
    rod       shortest turn from x to d       x × u / |d|, without its x part
    ball      R                               Rᵀ w

each taken off what is left: d, R, the velocity u and the angular velocity w, in the axes of the frame reached. Of
angles that differ by full turns, and of the two quaternions of a turn, those nearest the coordinates before are meant.

Where the bodies violate a joint, this is the nearest in the freedoms read: what the joint forbids is left out.
"""

import warp as wp

from rattleback.constraints.coupling import counted
from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import quat_from_axis_angle, quat_from_rotation_vector
from rattleback.model.state import Motion
from rattleback.reduced import moves
from rattleback.reduced.forest import Coordinates, Forest, Slot
from rattleback.reduced.manifold import declared, shortest_turn, write_quat
from rattleback.reduced.walk import SLIDE, SPIN

BY_WAY = wp.constant(moves.BY_WAY)
BY_AXIS = wp.constant(moves.BY_AXIS)


@wp.struct
class Left:
    """What is left of the motion of frame B against frame A, in the axes of the frame reached."""

    way: vec3
    turn: quat
    velocity: vec3
    spin: vec3


@wp.struct
class Carrier:
    """A frame on a body, in the world."""

    position: vec3
    turn: quat
    velocity: vec3
    spin: vec3


@wp.func
def carrier(bodies: Motion, row: int, place: vec3, turn: quat) -> Carrier:
    """A frame on the body in a row; on the ground for none."""
    at = Carrier()
    at.position = place
    at.turn = turn
    if row >= 0:
        lever = wp.quat_rotate(bodies.orientation[row], place)
        at.position = bodies.position[row] + lever
        at.turn = bodies.orientation[row] * turn
        at.spin = bodies.angular_velocity[row]
        at.velocity = bodies.velocity[row] + wp.cross(at.spin, lever)
    return at


@wp.func
def between(forest: Forest, i: int, bodies: Motion, first: int) -> Left:
    """The motion of frame B of the joint of body i against frame A; ``first`` is the row of the world's first body."""
    row = int(-1)
    if forest.parent[i] >= 0:
        row = first + forest.body[forest.parent[i]]
    a = carrier(bodies, row, forest.place[i], forest.turn[i])
    b = carrier(bodies, first + forest.body[i], forest.tip[i], wp.quat_inverse(forest.back[i]))
    if forest.forward[i] == 0:
        kept = a
        a = b
        b = kept
    back = wp.quat_inverse(a.turn)
    way = b.position - a.position
    left = Left()
    left.way = wp.quat_rotate(back, way)
    left.turn = back * b.turn
    left.velocity = wp.quat_rotate(back, b.velocity - a.velocity - wp.cross(a.spin, way))
    left.spin = wp.quat_rotate(back, b.spin - a.spin)
    return left


@wp.func
def turned_back(left: Left, turn: quat, spin: vec3) -> Left:
    """What is left after a turn at an angular velocity, which is given in the turned axes."""
    back = wp.quat_inverse(turn)
    left.way = wp.quat_rotate(back, left.way)
    left.velocity = wp.quat_rotate(back, left.velocity) - wp.cross(spin, left.way)
    left.spin = wp.quat_rotate(back, left.spin) - spin
    left.turn = back * left.turn
    return left


@wp.func
def angle_of(read: int, e: vec3, left: Left) -> tuple[real, real]:
    """Angle and rate of a turn about e; of an orbit and of the first of two crossed axes e is z."""
    if read == BY_WAY:
        across = wp.cross(e, left.way)
        return wp.atan2(left.way[1], left.way[0]), wp.dot(across, left.velocity) / wp.dot(across, across)
    if read == BY_AXIS:
        x = wp.quat_rotate(left.turn, vec3(real(1.0), real(0.0), real(0.0)))
        return wp.atan2(x[1], x[0]), wp.dot(e, left.spin)
    r = left.turn
    return real(2.0) * wp.atan2(e[0] * r[0] + e[1] * r[1] + e[2] * r[2], r[3]), wp.dot(e, left.spin)


@wp.func
def read_spin(forest: Forest, slot: Slot, m: int, state: Coordinates, left: Left) -> Left:
    """Read the quaternion and the rates of a spin, and take them off."""
    k = slot.q + forest.q[m]
    turn = left.turn
    if forest.free[m] == 1:
        turn = quat_from_rotation_vector(shortest_turn(left.way))
    spin = wp.quat_rotate_inv(turn, left.spin)
    if forest.free[m] == 1:
        u = wp.quat_rotate_inv(turn, left.velocity)
        spin = vec3(real(0.0), -u[2], u[1]) / wp.length(left.way)
    kept = real(0.0)
    for e in range(4):
        kept += state.q[k + e] * turn[e]
    write_quat(state.q, k, wp.where(kept < real(0.0), -turn, turn))
    for e in range(forest.free[m], 3):
        state.v[slot.v + forest.rate[m] + e - forest.free[m]] = spin[e]
    return turned_back(left, turn, spin)


@wp.func
def read_move(forest: Forest, slot: Slot, m: int, state: Coordinates, left: Left) -> Left:
    """Read the coordinate and the rate of a move, and take them off."""
    kind = forest.kind[m]
    if kind == SPIN:
        return read_spin(forest, slot, m, state, left)
    e = forest.axis[m] * real(forest.sense[m])
    if kind > SPIN:
        left.way = left.way - e
        return left
    k = slot.q + forest.q[m]
    c = slot.v + forest.rate[m]
    if kind == SLIDE:
        state.q[k] = wp.dot(e, left.way)
        state.v[c] = wp.dot(e, left.velocity)
        left.way = left.way - state.q[k] * e
        left.velocity = left.velocity - state.v[c] * e
        return left
    raw, rate = angle_of(forest.read[m], e, left)
    state.q[k] = real(counted(raw, wp.float64(state.q[k])))
    state.v[c] = rate
    left.way = left.way - (forest.lead[m] * state.q[k]) * e
    left.velocity = left.velocity - (forest.lead[m] * rate) * e
    return turned_back(left, quat_from_axis_angle(e, raw), rate * e)


@wp.func
def read_body(forest: Forest, slot: Slot, i: int, state: Coordinates, bodies: Motion, first: int) -> None:
    """Coordinates and rates of the joint of body i; ``state.q`` comes in as the coordinates before."""
    left = between(forest, i, bodies, first)
    for n in range(forest.moves[i]):
        left = read_move(forest, slot, declared(forest, i, n), state, left)
