"""What a narrow phase says of two solids: how far apart, in which direction, and where.

    separation = n · (p_a − p_b)

n unit normal from B to A, p_a, p_b points of their surfaces, shells included. Apart, the separation is the distance and
the points are nearest to each other; overlapping, it is minus the length of the shortest translation, along n, that
takes A out of B.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3


@wp.struct
class Closest:
    """The answer for one pair of solids, in the frame the solids are seen in."""

    separation: real
    normal: vec3
    point_a: vec3
    point_b: vec3


@group(axis="items")
class Found:
    """The answers for all pairs, relative to the place of collider A, in the axes of the world."""

    separation: real = field("m", "signed distance; the largest number where the pair was not looked at")
    normal: vec3 = field("1", "unit normal from B to A")
    point_a: vec3 = field("m", "point of A's surface")
    point_b: vec3 = field("m", "point of B's surface")
    settled: wp.int32 = field("1", "1 where the solids are known to be farther apart than the contact distance")


@wp.func
def with_shells(core: Closest, round_a: real, round_b: real) -> Closest:
    """The answer for two solids, from that for their cores, by the shells around them."""
    out = Closest()
    out.normal = core.normal
    out.separation = core.separation - round_a - round_b
    out.point_a = core.point_a - round_a * core.normal
    out.point_b = core.point_b + round_b * core.normal
    return out


@wp.func
def swapped(found: Closest) -> Closest:
    """The answer with A and B exchanged."""
    out = Closest()
    out.separation = found.separation
    out.normal = -found.normal
    out.point_a = found.point_b
    out.point_b = found.point_a
    return out


@wp.func
def write_found(found: Found, i: int, answer: Closest) -> None:
    """Keep the answer for item i."""
    found.separation[i] = answer.separation
    found.normal[i] = answer.normal
    found.point_a[i] = answer.point_a
    found.point_b[i] = answer.point_b
