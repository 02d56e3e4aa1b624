"""The kernel of cyclic coordinate descent for loops: see ``ccd``."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3

# A sweep that turns no bond by more than that has come to rest [rad].
RESTED = wp.constant(real(1e-10))
# A chain that has not come nearer by this factor in so many sweeps is stuck, and is shaken by angles up to that [rad].
NEARER = wp.constant(real(0.9))
PATIENCE = 150
REACH = wp.constant(real(1.5))


@wp.func
def spin(points: wp.array2d[vec3], row: int, pivot: int, angle: real) -> None:
    """Turn all points behind the bond from ``pivot − 1`` to ``pivot`` about it."""
    origin = points[row, pivot]
    axis = wp.normalize(origin - points[row, pivot - 1])
    c = wp.cos(angle)
    s = wp.sin(angle)
    for k in range(pivot + 1, points.shape[1]):
        v = points[row, k] - origin
        along = wp.dot(v, axis) * axis
        points[row, k] = origin + along + c * (v - along) + s * wp.cross(axis, v)


@wp.func
def best_turn(native: wp.array[vec3], points: wp.array2d[vec3], row: int, pivot: int) -> real:
    """The turn about a bond that brings the last three points nearest to the anchor."""
    origin = points[row, pivot]
    axis = wp.normalize(origin - points[row, pivot - 1])
    last = points.shape[1]
    b = real(0.0)
    c = real(0.0)
    for k in range(last - 3, last):
        v = points[row, k] - origin
        f = native[k] - origin
        b += wp.dot(f, v - wp.dot(v, axis) * axis)
        c += wp.dot(f, wp.cross(axis, v))
    return wp.atan2(c, b)


@wp.func
def sweep_once(
    native: wp.array[vec3], pivots: wp.array[wp.int32], turns: wp.array2d[real], points: wp.array2d[vec3], row: int
) -> real:
    """Turn every bond to where the anchor is nearest, from the first to the last; the largest turn [rad]."""
    largest = real(0.0)
    for j in range(pivots.shape[0]):
        angle = best_turn(native, points, row, pivots[j])
        spin(points, row, pivots[j], angle)
        turns[row, j] = turns[row, j] + angle
        largest = wp.max(largest, wp.abs(angle))
    return largest


@wp.func
def distance_left(native: wp.array[vec3], points: wp.array2d[vec3], row: int) -> real:
    """Distance of the last three points from the anchor, root of the mean square [Å]."""
    last = points.shape[1]
    total = real(0.0)
    for k in range(last - 3, last):
        total += wp.length_sq(points[row, k] - native[k])
    return wp.sqrt(total / real(3.0))


@wp.func
def shake(
    native: wp.array[vec3],
    pivots: wp.array[wp.int32],
    turns: wp.array2d[real],
    points: wp.array2d[vec3],
    row: int,
    n: int,
) -> None:
    """Turn every bond by an angle drawn for the n-th shaking of a chain."""
    state = wp.rand_init(n, row)
    for j in range(pivots.shape[0]):
        angle = REACH * real(wp.randf(state, -1.0, 1.0))
        spin(points, row, pivots[j], angle)
        turns[row, j] = turns[row, j] + angle


@kernel
def descend_chains(
    native: wp.array[vec3],
    pivots: wp.array[wp.int32],
    turns: wp.array2d[real],
    points: wp.array2d[vec3],
    miss: wp.array[real],
    taken: wp.array[wp.int32],
    tolerance: real,
    bounds: wp.vec2i,
) -> None:
    """Turn chains by ``turns`` and then, sweep by sweep, towards the anchor; bounds: most sweeps, lanes."""
    row = wp.tid()
    while row < turns.shape[0]:
        for k in range(points.shape[1]):
            points[row, k] = native[k]
        for j in range(pivots.shape[0]):
            spin(points, row, pivots[j], turns[row, j])
        left = distance_left(native, points, row)
        before = left
        since = int(0)
        sweep = int(0)
        while sweep < bounds[0] and left > tolerance:
            largest = sweep_once(native, pivots, turns, points, row)
            left = distance_left(native, points, row)
            sweep += 1
            since += 1
            if largest < RESTED or since == PATIENCE:
                if left > tolerance and left > NEARER * before:
                    shake(native, pivots, turns, points, row, sweep)
                    left = distance_left(native, points, row)
                before = left
                since = 0
        miss[row] = left
        taken[row] = sweep
        row += bounds[1]
