"""The ends of boxes along the three axes, kept sorted.

    e₁ ≤ e₂ ≤ …        where two are equal, lower ends come first, so that boxes that touch overlap

Along every axis of every world lie the lower and upper ends of its boxes; end 2i is the lower, 2i + 1 the upper end of
the i-th. Sorted all at once they are merged in O(n log n); one that has moved is put in its place by insertion.
"""

import warp as wp

from rattleback.core.precision import real


@wp.struct
class Endpoints:
    """Sorted ends of every axis and world: their coordinates, which ends they are, and the place of each end."""

    each: wp.int32
    worlds: wp.int32
    value: wp.array[real]
    end: wp.array[wp.int32]
    place: wp.array[wp.int32]
    spare_value: wp.array[real]
    spare_end: wp.array[wp.int32]


@wp.func
def stretch(ends: Endpoints, axis: int, w: int) -> int:
    """Where the ends of a world along an axis begin."""
    return (axis * ends.worlds + w) * 2 * ends.each


@wp.func
def comes_before(x: real, end_x: int, y: real, end_y: int) -> bool:
    """Whether one end must lie before another."""
    return x < y or (x == y and (end_x & 1) < (end_y & 1))


@wp.func
def set_end(ends: Endpoints, begin: int, k: int, value: real, end: int) -> None:
    """Put an end at a place."""
    ends.value[begin + k] = value
    ends.end[begin + k] = end
    ends.place[begin + end] = k


@wp.func
def merge(ends: Endpoints, begin: int, spare: int, first: int, width: int, count: int) -> None:
    """Merge two sorted runs of a stretch into the spare room."""
    i = first
    j = wp.min(first + width, count)
    middle = j
    last = wp.min(first + 2 * width, count)
    for k in range(first, last):
        left = j >= last
        if i < middle and j < last:
            x = ends.value[begin + i]
            y = ends.value[begin + j]
            left = not comes_before(y, ends.end[begin + j], x, ends.end[begin + i])
        if left:
            ends.spare_value[spare + k] = ends.value[begin + i]
            ends.spare_end[spare + k] = ends.end[begin + i]
            i = i + 1
        else:
            ends.spare_value[spare + k] = ends.value[begin + j]
            ends.spare_end[spare + k] = ends.end[begin + j]
            j = j + 1


@wp.func
def sort_stretch(ends: Endpoints, axis: int, w: int, count: int) -> None:
    """Sort ``count`` ends of a world along an axis by merging, and note their places."""
    begin = stretch(ends, axis, w)
    spare = w * 2 * ends.each
    width = int(1)
    while width < count:
        for first in range(0, count, 2 * width):
            merge(ends, begin, spare, first, width, count)
        for k in range(count):
            ends.value[begin + k] = ends.spare_value[spare + k]
            ends.end[begin + k] = ends.spare_end[spare + k]
        width = 2 * width
    for k in range(count):
        ends.place[begin + ends.end[begin + k]] = k
