"""A round solid beside a triangle: nearest to it on the border, where the distance from a point has a closed form.

    min { d(p + t (q − p)) : 0 ≤ t ≤ 1 }      d'(t) = n(t) · (q − p)

p, q two corners, d the distance of a point from the core, n the outward normal there. d is convex, so d' has one change
of sign. It is closed in on by the rule of Illinois, and by halves where that does not halve the bracket: past the rim
of a disc close by, d' rises from next to nothing to its most at once.

The nearest point of the triangle is on its border unless it is inside of it. Then n is normal to the triangle, and the
solid either has several lowest points, some of them over the border too, or goes through the triangle. The latter where
a point of the solid in the plane of the triangle is inside of it: what the plane cuts out of the solid is convex, so if
it does not touch the border either all of it is inside or nothing.

Cost: 10 to 20 closed forms. GJK goes round a rim from point to point, and has not come near after 30 rounds of four
times that. Only for solids that do not touch the triangle; ``over_face`` knows those that lie over it. Derived here.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid, support
from rattleback.collision.narrowphase.closed_forms.nearest import Nearest
from rattleback.collision.narrowphase.closed_forms.sphere import point_core
from rattleback.collision.narrowphase.closest import Closest
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.surface.face_below import room_around
from rattleback.core.precision import epsilon, real, vec3

# Rounds in which any bracket is closed; some ten are usual.
ROUNDS = wp.constant(128)
# Part of an edge that need not be searched, and cosine of edge and normal that is none.
SHORT, ACROSS = wp.constant(real(epsilon)), wp.constant(real(epsilon**0.75))


@wp.func(inline=False)
def nearest_of_edge(p: vec3, q: vec3, solid: Solid, hulls: Hulls) -> Nearest:
    """The answer for the point of an edge that is nearest to a core, all in the frame of the solid."""
    edge = q - p
    out = point_core(p, solid, hulls)
    low = wp.dot(out.normal, edge)
    if low >= real(0.0):
        return out
    end = point_core(q, solid, hulls)
    high = wp.dot(end.normal, edge)
    if high <= real(0.0):
        return end
    flat = ACROSS * wp.length(edge)
    begin = real(0.0)
    until = real(1.0)
    last = real(2.0)
    side = int(0)
    for _ in range(ROUNDS):
        t = (begin * high - until * low) / (high - low)
        if real(2.0) * (until - begin) > last or t <= begin or t >= until:
            t = real(0.5) * (begin + until)
        last = until - begin
        out = point_core(p + t * edge, solid, hulls)
        slope = wp.dot(out.normal, edge)
        if wp.abs(slope) <= flat or last <= SHORT:
            break
        # The end that stays twice counts half.
        if slope < real(0.0):
            begin = t
            low = slope
            if side < 0:
                high = real(0.5) * high
            side = -1
        else:
            until = t
            high = slope
            if side > 0:
                low = real(0.5) * low
            side = 1
    return out


@wp.func
def beside(triangle: Solid, other: Solid, hulls: Hulls) -> Closest:
    """The cores' answer for a triangle and a round solid that lies beside it, the solid as A.

    The separation is the largest number where they may touch.
    """
    out = Closest()
    out.separation = LARGE
    p = triangle.position + triangle.rotation * hulls.vertex[triangle.first]
    q = triangle.position + triangle.rotation * hulls.vertex[triangle.first + 1]
    r = triangle.position + triangle.rotation * hulls.vertex[triangle.first + 2]
    n = wp.cross(q - p, r - p)
    below = support(other, hulls, -n)
    above = support(other, hulls, n)
    depth = wp.dot(n, below - p)
    height = wp.dot(n, above - p)
    if depth <= real(0.0) and height >= real(0.0):
        part = wp.where(height > depth, -depth / (height - depth), real(0.0))
        if room_around(p, q, r, wp.normalize(n), below + part * (above - below)) >= real(0.0):
            return out
    # Into the frame of the solid.
    back = wp.transpose(other.rotation)
    p = back * (p - other.position)
    q = back * (q - other.position)
    r = back * (r - other.position)
    near = nearest_of_edge(p, q, other, hulls)
    third = nearest_of_edge(q, r, other, hulls)
    if third.distance < near.distance:
        near = third
    third = nearest_of_edge(r, p, other, hulls)
    if third.distance < near.distance:
        near = third
    if near.distance <= real(0.0):
        return out
    out.separation = near.distance
    out.normal = -(other.rotation * near.normal)
    out.point_a = other.position + other.rotation * near.point
    out.point_b = out.point_a - near.distance * out.normal
    return out
