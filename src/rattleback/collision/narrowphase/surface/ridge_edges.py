"""The answer of a solid that has sunk into a ridge between two triangles while being over neither of them.

    y = argmin { d · y : y in the other core }      (y − q) ∥ d,   q on the edge,   d between n_t and n_u

n_t, n_u normals of the two triangles, d a normal of the arc between them. The place of y beside the edge, seen along d,

    f(d) = (y − x) · (d × e)

x, e a point and the direction of the edge, changes its sign along the arc where such an answer exists, and is halved in
on. Where y jumps there, because the solid shows a face or an edge, y is taken between the two points.

Without it a round solid that rolls over the ridge would lose its contact while d turns from one normal to the other.
Cost: one farthest point for each halving. Reference: derived here; the arcs are those of the Gauss map.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid, support
from rattleback.collision.geometry.surface_table import Surfaces
from rattleback.collision.narrowphase.closest import Closest
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.surface.edges import NEAR, Triangle, corner_at, next_of, normal_at, twin_of
from rattleback.core.precision import real

HALVINGS = wp.constant(32)


@wp.func(inline=False)
def over_edge(t: Triangle, hulls: Hulls, surfaces: Surfaces, other: Solid, h: int) -> Closest:
    """The cores' answer on an edge of the triangle, the other solid as A; the largest separation if there is none."""
    out = Closest()
    out.separation = LARGE
    g = twin_of(t, surfaces, h)
    if g < 0:
        return out
    x = corner_at(t, hulls, surfaces, h)
    edge = corner_at(t, hulls, surfaces, next_of(h)) - x
    length = wp.length(edge)
    sign = wp.where(wp.dot(t.normal, normal_at(t, surfaces, h)) < real(0.0), real(-1.0), real(1.0))
    e = (sign / length) * edge
    low = t.normal
    high = sign * normal_at(t, surfaces, g)
    # A ridge falls off on both sides; d × e points into the triangle.
    if wp.dot(high, wp.cross(low, e)) > -NEAR:
        return out
    p = support(other, hulls, -low)
    q = support(other, hulls, -high)
    if wp.dot(p - x, wp.cross(low, e)) >= real(0.0) or wp.dot(q - x, wp.cross(high, e)) <= real(0.0):
        return out
    for _k in range(HALVINGS):
        d = wp.normalize(low + high)
        y = support(other, hulls, -d)
        if wp.dot(y - x, wp.cross(d, e)) < real(0.0):
            low = d
            p = y
        else:
            high = d
            q = y
    d = wp.normalize(low + high)
    beside = wp.dot(p - x, wp.cross(d, e))
    beyond = wp.dot(q - x, wp.cross(d, e))
    part = wp.where(beyond > beside, beside / (beside - beyond), real(0.5))
    y = p + part * (q - p)
    s = wp.dot(d, y - x)
    along = sign * wp.dot(y - x, e)
    if along >= real(0.0) and along <= length:
        out.separation = s
        out.normal = d
        out.point_a = y
        out.point_b = y - s * d
    return out


@wp.func
def over_edges(t: Triangle, hulls: Hulls, surfaces: Surfaces, other: Solid) -> Closest:
    """The deepest of the answers on the three edges of the triangle."""
    best = Closest()
    best.separation = LARGE
    for k in range(3):
        answer = over_edge(t, hulls, surfaces, other, 3 * t.part + k)
        if answer.separation < best.separation:
            best = answer
    return best
