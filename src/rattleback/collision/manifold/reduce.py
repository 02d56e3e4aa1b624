"""Manifold reduction: at most n contact points of a manifold, those that keep its area and its depth.

    area lost with point k:  a_k = (p_k+1 − p_k) × (p_k−1 − p_k)        in the plane across the normal

Points are sorted around their middle. While there are more than n, the one with the least a_k goes; of two that are
equal to rounding, the one with the higher feature id. One of the deepest points, to a tenth of the contact distance,
always stays. Of two points at most, the deepest stays and the one farthest from it.

Cost: O(n) for every point that goes.

Reference: Bender, dissertation, §4.5.2.1.
"""

import warp as wp

from rattleback.core.precision import real, vec4

# Part of the area that does not matter.
LITTLE = wp.constant(real(1e-3))
# Corners this part of the contact distance less deep than the deepest are as good.
SLACK = wp.constant(real(0.1))


@wp.func
def turned(x: vec4, cx: real, cy: real) -> real:
    """A number that grows with the angle of (x, y) seen from a point, from 0 to 4 in a full turn."""
    dx = x[0] - cx
    dy = x[1] - cy
    length = wp.abs(dx) + wp.abs(dy)
    if length == real(0.0):
        return real(0.0)
    return wp.where(dy >= real(0.0), real(1.0) - dx / length, real(3.0) + dx / length)


@wp.func
def sort_around(corner: wp.array[vec4], count: int) -> None:
    """Sort corners by their angle around their middle."""
    cx = real(0.0)
    cy = real(0.0)
    for k in range(count):
        cx += corner[k][0] / real(count)
        cy += corner[k][1] / real(count)
    for k in range(1, count):
        x = corner[k]
        angle = turned(x, cx, cy)
        m = k - 1
        while m >= 0 and turned(corner[wp.max(m, 0)], cx, cy) > angle:
            corner[m + 1] = corner[m]
            m -= 1
        corner[m + 1] = x


@wp.func
def area_lost(corner: wp.array[vec4], count: int, k: int) -> real:
    """Twice the area that is lost with a corner."""
    x = corner[k]
    p = corner[wp.where(k == 0, count - 1, k - 1)] - x
    q = corner[wp.where(k + 1 == count, 0, k + 1)] - x
    return q[0] * p[1] - q[1] * p[0]


@wp.func
def keep_two(corner: wp.array[vec4], count: int) -> None:
    """Bring the deepest corner to the front, and behind it the one farthest from it."""
    for place in range(2):
        best = int(place)
        least = real(0.0)
        for k in range(place, count):
            dx = corner[k][0] - corner[0][0]
            dy = corner[k][1] - corner[0][1]
            rank = wp.where(place == 0, corner[k][2], -(dx * dx + dy * dy))
            if k == place or rank < least:
                least = rank
                best = k
        x = corner[place]
        corner[place] = corner[best]
        corner[best] = x


@wp.func
def reduce_manifold(corner: wp.array[vec4], count: int, most: int, slack: real) -> int:
    """Leave out corners until at most this many are left, each time the one with which the least area is lost.

    One of those that are at most ``slack`` less deep than the deepest always stays. Returns how many are left.
    """
    if count <= most:
        return count
    if most < 3:
        keep_two(corner, count)
        return most
    low = corner[0][2]
    for k in range(1, count):
        low = wp.min(low, corner[k][2])
    deep = int(0)
    for k in range(count):
        if corner[k][2] <= low + slack:
            deep += 1
    sort_around(corner, count)
    little = real(0.0)
    for k in range(2, count):
        p = corner[k - 1] - corner[0]
        q = corner[k] - corner[0]
        little += LITTLE * (p[0] * q[1] - p[1] * q[0])
    while count > most:
        best = int(-1)
        least = real(0.0)
        for k in range(count):
            if deep > 1 or corner[k][2] > low + slack:
                area = area_lost(corner, count, k)
                # Ties are for names to decide, not for rounding.
                first = best < 0 or area < real(0.98) * least - little
                if first or (area < real(1.02) * least + little and corner[k][3] > corner[wp.max(best, 0)][3]):
                    least = area
                    best = k
        if corner[best][2] <= low + slack:
            deep -= 1
        count -= 1
        for k in range(best, count):
            corner[k] = corner[k + 1]
    return count
