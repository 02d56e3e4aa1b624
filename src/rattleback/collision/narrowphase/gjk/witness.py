"""The points of A and B that belong to a point of A − B, from the corners a search has met.

    x = Σ λ_k w_k      λ_k ≥ 0      Σ λ_k = 1      p_a = Σ λ_k a_k      p_b = p_a − x

w_k = a_k − b_k corners of A − B. Which of them to weigh follows as in GJK: the nearest point of a simplex of corners,
and the corner farthest towards x joins it. So no triangulation of a facet is needed, which rounding leaves with gaps
where A − B is a needle or a plate.

Reference: van den Bergen (2003), §4.3.
"""

import warp as wp

from rattleback.collision.narrowphase.gjk.simplex import (
    LARGE,
    NearestOnSimplex,
    Simplex,
    corner,
    corner_a,
    nearest_on_four,
    nearest_on_three,
    nearest_on_two,
    nearest_to_origin,
    reduced,
    reduced_weights,
    weighted,
    weighted_a,
    with_corner,
)
from rattleback.core.precision import epsilon, real, vec3, vec4

# Part of the coordinates within which a point is met, and most rounds to meet it.
MET = wp.constant(real(16.0 * epsilon))
SEARCH = wp.constant(48)


@wp.struct
class Witness:
    """A point of A, and how far the point of A − B it belongs to is from the given one."""

    point_a: vec3
    miss: real


@wp.func
def nearest_on_triangle(s: Simplex) -> NearestOnSimplex:
    """The point of a triangle nearest to the origin, on any of its features."""
    best = nearest_on_three(s.w0, s.w1, s.w2)
    edge = nearest_on_two(s.w0, s.w1)
    if edge.square < best.square:
        return edge
    return best


@wp.func
def witness(w: wp.array[vec3], origin: wp.array[vec3], count: int, x: vec3, scale: real) -> Witness:
    """The point of A that belongs to x, or to the point nearest to it among those between the corners.

    Args:
        w: Corners of A − B.
        origin: The points of A they come from.
        count: Number of corners.
        x: A point of A − B.
        scale: How large the coordinates are [m].
    """
    s = Simplex()
    v = w[0] - x
    weights = vec4()
    square = LARGE
    for _ in range(SEARCH):
        new = int(0)
        low = wp.dot(v, w[0] - x)
        for k in range(1, count):
            along = wp.dot(v, w[k] - x)
            if along < low:
                low = along
                new = k
        if s.count > 0 and wp.dot(v, v) - low <= MET * scale * wp.length(v):
            break
        grown = with_corner(s, w[new] - x, origin[new])
        nearest = nearest_to_origin(grown)
        if nearest.inside == 1 and wp.length(weighted(grown, nearest.weights)) > MET * scale:
            # Too flat for weights that mean anything; its faces are not.
            nearest = nearest_on_four(grown)
        if nearest.square >= square:
            break
        s = reduced(grown, nearest.weights)
        weights = reduced_weights(nearest.weights)
        v = nearest.point
        square = nearest.square
        if nearest.inside == 1 or square <= MET * MET * scale * scale:
            break
    out = Witness()
    out.point_a = weighted_a(s, weights)
    out.miss = wp.length(weighted(s, weights))
    return out


@wp.func
def flat_witness(s: Simplex) -> vec3:
    """The point of A that belongs to the point of a flat simplex nearest to the origin."""
    if s.count < 3:
        return weighted_a(s, nearest_to_origin(s).weights)
    best = vec3()
    least = LARGE
    # Of three corners, a face is all of them; of four, all but one.
    for left_out in range(wp.where(s.count == 4, 4, 1)):
        face = Simplex()
        for k in range(s.count):
            if s.count == 3 or k != left_out:
                face = with_corner(face, corner(s, k), corner_a(s, k))
        nearest = nearest_on_triangle(face)
        if nearest.square < least:
            least = nearest.square
            best = weighted_a(face, nearest.weights)
    return best
