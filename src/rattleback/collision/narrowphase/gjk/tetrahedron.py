"""A tetrahedron of corners of A − B that is not flat, or the finding that A − B is flat itself.

    h(d) = d · w(d)      w(d) = s_A(d) − s_B(−d)

Starting from one corner, the farthest of a few farthest points is taken in turn: from the corner, from the line through
two, from the plane through three. Where none of them leads away, A − B is a point (two points), a segment (two parallel
segments) or lies in a plane (crossing segments, coplanar triangles), and has no depth across it.

Reference: van den Bergen (2003), §4.3.8.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid, support
from rattleback.collision.narrowphase.gjk.distance import Core, largest
from rattleback.collision.narrowphase.gjk.simplex import Simplex, with_corner
from rattleback.core.precision import epsilon, real, vec3

# Part of the coordinates below which an extent is rounding.
THIN = wp.constant(real(256.0 * epsilon))


@wp.struct
class Start:
    """A tetrahedron, or how many dimensions A − B has and a direction across it."""

    dimensions: wp.int32
    across: vec3
    simplex: Simplex


@wp.func
def perpendicular(n: vec3) -> vec3:
    """A unit vector at right angles to a vector that is not zero."""
    x = wp.abs(n[0])
    y = wp.abs(n[1])
    z = wp.abs(n[2])
    e = vec3(real(0.0), real(0.0), real(1.0))
    if x <= y and x <= z:
        e = vec3(real(1.0), real(0.0), real(0.0))
    elif y <= z:
        e = vec3(real(0.0), real(1.0), real(0.0))
    return wp.normalize(wp.cross(n, e))


@wp.func
def thickness(s: Simplex) -> real:
    """Height of the fourth corner of a tetrahedron over the plane of the others."""
    n = wp.cross(s.w1 - s.w0, s.w2 - s.w0)
    length = wp.length(n)
    if length == real(0.0):
        return real(0.0)
    return wp.abs(wp.dot(n, s.w3 - s.w0)) / length


@wp.func
def beyond(s: Simplex, w: vec3, n: vec3) -> real:
    """Square of the distance of w from a corner, from a line along n, or from a plane across n."""
    r = w - s.w0
    along = wp.dot(n, r)
    if s.count == 1:
        return wp.dot(r, r)
    if s.count == 2:
        return wp.dot(r - along * n, r - along * n)
    return along * along


@wp.func
def tetrahedron(a: Solid, b: Solid, hulls: Hulls, core: Core) -> Start:
    """A tetrahedron to start from, that of the search where it is thick enough."""
    out = Start()
    out.across = vec3(real(0.0), real(0.0), -real(1.0))
    thin = real(THIN * core.scale)
    if core.simplex.count == 4 and thickness(core.simplex) > thin:
        out.dimensions = 3
        out.simplex = core.simplex
        return out
    s = with_corner(Simplex(), core.simplex.w0, core.simplex.a0)
    # The directions to search: u, v, n across what there is so far, n along the line or across the plane.
    u = vec3(real(1.0), real(0.0), real(0.0))
    v = vec3(real(0.0), real(1.0), real(0.0))
    n = vec3(real(0.0), real(0.0), real(1.0))
    for dimension in range(3):
        far = real(0.0)
        new_w = vec3()
        new_a = vec3()
        for k in range(6):
            d = wp.where(k < 2, n, wp.where(k < 4, u, v))
            if k % 2 == 1:
                d = -d
            p = support(a, hulls, d)
            q = support(b, hulls, -d)
            w = p - q
            thin = wp.max(thin, THIN * wp.max(largest(p), largest(q)))
            square = beyond(s, w, n)
            if square > far:
                far = square
                new_w = w
                new_a = p
        if far <= thin * thin:
            out.dimensions = dimension
            break
        s = with_corner(s, new_w, new_a)
        out.dimensions = dimension + 1
        if dimension == 0:
            n = wp.normalize(s.w1 - s.w0)
            u = perpendicular(n)
            v = wp.cross(n, u)
        elif dimension == 1:
            # Taken from the part across the line, n is as square to it as numbers allow, however thin the triangle is.
            side = s.w2 - s.w0
            side = wp.normalize(side - wp.dot(side, n) * n)
            n = wp.normalize(wp.cross(n, side - wp.dot(side, n) * n))
    out.simplex = s
    out.across = across_what_is_flat(core, n, out.dimensions)
    return out


@wp.func
def across_what_is_flat(core: Core, n: vec3, dimensions: int) -> vec3:
    """A unit direction across a point, across a line along n, or across a plane with normal n, towards the origin."""
    to_origin = core.point_b - core.point_a
    if dimensions == 2:
        return wp.where(wp.dot(n, to_origin) < real(0.0), -n, n)
    if dimensions == 1:
        to_origin = to_origin - wp.dot(to_origin, n) * n
        if wp.length(to_origin) <= THIN * core.scale:
            return perpendicular(n)
    if wp.length(to_origin) == real(0.0):
        return vec3(real(0.0), real(0.0), -real(1.0))
    return wp.normalize(to_origin)
