"""A solid whose lowest point lies over a triangle, or a little below it: its answer needs no search.

    y = argmin { n · y : y in the other core }      s = n · (y − q)      q the foot of y in the plane of the triangle

n the normal of the triangle, on either side. With q inside the triangle, s > 0 is the distance: the plane parts the
two. And s = −p < 0 is the depth where

    r ≥ p / tan(π/8),      H ≥ p,      H ≥ |l|

r distance of q from the border of the triangle, H height of a point of the core above its plane, l how far aside of q
that is. Along any direction d at an angle θ to n, two points of the core and those of the triangle at r from q say

    σ(d) ≤ −p cos θ − r sin θ,      σ(d) ≤ H cos θ + (|l| − r) sin θ

and one of the two is at most −p: the first up to 3π/4, as r ≥ p cot((π − θ)/2), the second beyond, as it is concave in
between −H at π and −r/√2. So no way out is shorter. Cost: a farthest point or two, where GJK and EPA take 10 to 100.

Reference: derived here; σ is that of ``refine``.
"""

import math

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid, middle, support
from rattleback.collision.narrowphase.closest import Closest
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.core.precision import real, vec3

# Part of the depth that the foot must be inside of the border, cot(π/8) and something for rounding.
INSIDE = wp.constant(real(1.001 / math.tan(0.125 * math.pi)))


@wp.func
def room_around(p: vec3, q: vec3, r: vec3, n: vec3, x: vec3) -> real:
    """Distance of a point of the plane from the border of a triangle pqr, anticlockwise about n; negative outside."""
    u = q - p
    v = r - q
    w = p - r
    least = wp.dot(wp.cross(n, u), x - p) / wp.length(u)
    least = wp.min(least, wp.dot(wp.cross(n, v), x - q) / wp.length(v))
    return wp.min(least, wp.dot(wp.cross(n, w), x - r) / wp.length(w))


@wp.func
def over_face(triangle: Solid, other: Solid, hulls: Hulls, far: real) -> Closest:
    """The cores' answer along the normal of a triangle, the solid as A; the largest separation if it is not theirs.

    Of cores that are farther than ``far`` apart along that normal it is a lower bound.
    """
    out = Closest()
    out.separation = LARGE
    p = triangle.position + triangle.rotation * hulls.vertex[triangle.first]
    q = triangle.position + triangle.rotation * hulls.vertex[triangle.first + 1]
    r = triangle.position + triangle.rotation * hulls.vertex[triangle.first + 2]
    across = wp.cross(q - p, r - p)
    area = wp.length(across)
    if area == real(0.0):
        return out
    front = across / area
    center = middle(other, hulls) - p
    side = wp.where(wp.dot(front, center) < real(0.0), real(-1.0), real(1.0))
    n = side * front
    y = support(other, hulls, -n)
    s = wp.dot(n, y - p)
    foot = y - s * n
    room = room_around(p, q, r, front, foot)
    if room < real(0.0) and s <= far:
        return out
    if s <= real(0.0):
        height = wp.dot(n, center)
        aside = center - height * n - (foot - p)
        if room < -INSIDE * s or height < -s or wp.length_sq(aside) > height * height:
            return out
    out.separation = s
    out.normal = n
    out.point_a = y
    out.point_b = foot
    return out
