"""Steps and differences of coordinates, where quaternions are turned by rotation vectors.

    q ⊕ u:   s + u for slides and turns,   Q exp(u) for spins        (q ⊕ (p ⊖ q) is the pose of p)

Of a rod, a spin whose x axis is not free, only the direction is a pose. The difference of two rods is the shortest turn
from one direction to the other; what their quaternions differ in the turn about x is passed on to the spin at the end
of the rod, so that the pose reached is that of p although its quaternions may be others.

Symbols: Q unit quaternion, u step in the rates [rad or m], exp the exponential of a rotation vector.

Reference: Hertzberg, Wagner, Frese, Schröder, Integrating generic sensor fusion algorithms with sound state
representations through encapsulation of manifolds, Information Fusion 14 (2013).
"""

import math

import warp as wp

from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import quat_from_rotation_vector, rotation_vector_from_quat
from rattleback.reduced.forest import Coordinates, Forest, Slot
from rattleback.reduced.walk import SPIN, unit_quat

HALF_TURN = wp.constant(real(math.pi))


@wp.func
def declared(forest: Forest, i: int, n: int) -> int:
    """Move n of the joint of body i, counted from its body A to its body B."""
    if forest.forward[i] == 1:
        return forest.first[i] + n
    return forest.first[i] + forest.moves[i] - 1 - n


@wp.func
def write_quat(q: wp.array[real], first: int, value: quat) -> None:
    """Write the four numbers of a quaternion."""
    for e in range(4):
        q[first + e] = value[e]


@wp.func
def step_body(forest: Forest, slot: Slot, i: int, state: Coordinates, h: real, out: wp.array[real]) -> None:
    """The coordinates of body i after moving at its rates for a time; ``out`` may be ``state.q``."""
    for m in range(forest.first[i], forest.first[i] + forest.moves[i]):
        k = slot.q + forest.q[m]
        c = slot.v + forest.rate[m]
        if forest.kind[m] < SPIN:
            out[k] = state.q[k] + h * state.v[c]
        elif forest.kind[m] == SPIN:
            turn = vec3()
            for e in range(forest.free[m], 3):
                turn[e] = h * state.v[c + e - forest.free[m]]
            write_quat(out, k, unit_quat_of(unit_quat(state.q, k) * quat_from_rotation_vector(turn)))


@wp.func
def unit_quat_of(q: quat) -> quat:
    """A quaternion whose length differs from one by rounding, divided by its length."""
    return q * (real(1.0) / wp.sqrt(wp.dot(q, q)))


@wp.func
def shortest_turn(d: vec3) -> vec3:
    """The shortest rotation vector that takes the x axis to a direction; about y for half a turn."""
    across = vec3(real(0.0), -d[2], d[1])
    sine = wp.length(across)
    angle = wp.atan2(sine, d[0])
    if sine > real(0.0):
        return across * (angle / sine)
    return vec3(real(0.0), wp.where(d[0] < real(0.0), HALF_TURN, real(0.0)), real(0.0))


@wp.func
def difference_of_body(
    forest: Forest, slot: Slot, i: int, q: wp.array[real], p: wp.array[real], out: wp.array[real]
) -> None:
    """The step in the rates of body i from its coordinates q to p."""
    one = quat(real(0.0), real(0.0), real(0.0), real(1.0))
    passed = one
    for n in range(forest.moves[i]):
        m = declared(forest, i, n)
        k = slot.q + forest.q[m]
        c = slot.v + forest.rate[m]
        if forest.kind[m] < SPIN:
            out[c] = p[k] - q[k]
        elif forest.kind[m] == SPIN:
            start = unit_quat(q, k)
            end = passed * unit_quat(p, k)
            passed = one
            turn = rotation_vector_from_quat(wp.quat_inverse(start) * end)
            if forest.free[m] == 1:
                rod = wp.quat_rotate(wp.quat_inverse(start) * end, vec3(real(1.0), real(0.0), real(0.0)))
                turn = shortest_turn(rod)
                passed = wp.quat_inverse(start * quat_from_rotation_vector(turn)) * end
            for e in range(forest.free[m], 3):
                out[c + e - forest.free[m]] = turn[e]
