"""A triangle in its surface: which answers for it are also answers for the surface.

    n · (x − q) ≤ 0      for every corner x of the triangles around q

q the nearest point of the triangle, on an edge or a corner of it, n the normal there. Where this holds, no triangle
around q comes nearer, so q is nearest within the surface too. Along a ridge that admits the arc between the normals of
both sides; along a flat edge only their common normal, along a hollow edge nothing. Of a surface that is solid, n must
also point out of it:

    n · Σ α_t n_t ≥ 0

n_t normals of the triangles around q, α_t their angles there (π for both sides of an edge). Of the triangle nearest to
a solid that touches none, this sum tells whether the solid lies outside or inside. A sheet is seen from either side.

Reference: Bærentzen and Aanæs (2005), Signed distance computation using the angle weighted pseudonormal.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid
from rattleback.collision.geometry.surface_table import Surfaces
from rattleback.collision.narrowphase.closed_forms.nearest import direction
from rattleback.core.precision import epsilon, real, vec3

# Angle, and part of a length, below which directions and places are the same; a normal this many times farther from
# that of a triangle still is its own, so that none falls between.
NEAR = wp.constant(real(epsilon ** (1.0 / 3.0)))
ON_FACE = wp.constant(real(8.0))
# Cosine between directions that are about the same; of a triangle seen along a normal, one that is seen too flat.
ALIKE = wp.constant(real(0.7))
# Most triangles around a corner that are tested.
FAN = wp.constant(64)

# What an answer is: none; valid on the face; valid on an edge or a corner; valid, but another triangle has it and
# is seen less flat; replaced after EPA left by the border, by the back, by the back with most of the solid behind;
# replaced where the solid is behind the triangle without touching it; none, because it comes from inside the surface.
NONE = wp.constant(0)
FACE = wp.constant(1)
EDGE = wp.constant(2)
DOUBLE = wp.constant(3)
SIDE = wp.constant(4)
BACK = wp.constant(5)
DEEP = wp.constant(6)
UNDER = wp.constant(7)
INSIDE = wp.constant(8)


@wp.struct
class Triangle:
    """A triangle in its surface: rows, place, the normal on the side that counts, and its own one."""

    surface: wp.int32
    part: wp.int32
    is_solid: wp.int32
    body: Solid
    normal: vec3
    corner: vec3
    size: real


@wp.func
def corner_at(t: Triangle, hulls: Hulls, surfaces: Surfaces, h: int) -> vec3:
    """The corner a half-edge of the surface begins at, in the frame the triangle is seen in."""
    return t.body.position + t.body.rotation * hulls.vertex[surfaces.corner[t.surface] + h]


@wp.func
def normal_at(t: Triangle, surfaces: Surfaces, h: int) -> vec3:
    """The normal of the triangle of a half-edge."""
    return t.body.rotation * surfaces.normal[surfaces.first[t.surface] + h // 3]


@wp.func
def next_of(h: int) -> int:
    """The half-edge that follows in its triangle."""
    return wp.where(h % 3 == 2, h - 2, h + 1)


@wp.func
def before(h: int) -> int:
    """The half-edge before in its triangle."""
    return wp.where(h % 3 == 0, h + 2, h - 1)


@wp.func
def twin_of(t: Triangle, surfaces: Surfaces, h: int) -> int:
    """The half-edge across, or −1."""
    return surfaces.twin[surfaces.first[t.surface] + h // 3][h % 3]


@wp.func
def triangle_at(surface: int, part: int, body: Solid, hulls: Hulls, surfaces: Surfaces) -> Triangle:
    """A triangle of a surface, with its outward normal."""
    t = Triangle()
    t.surface = surface
    t.part = part
    t.is_solid = surfaces.solid[surface]
    t.body = body
    t.normal = normal_at(t, surfaces, 3 * part)
    t.corner = corner_at(t, hulls, surfaces, 3 * part)
    t.size = wp.length(corner_at(t, hulls, surfaces, 3 * part + 1) - t.corner)
    t.size = wp.max(t.size, wp.length(corner_at(t, hulls, surfaces, 3 * part + 2) - t.corner))
    return t


@wp.func
def inward(t: Triangle, hulls: Hulls, surfaces: Surfaces, h: int, x: vec3) -> real:
    """How far a point lies inside of an edge of the triangle, seen along its normal."""
    tail = corner_at(t, hulls, surfaces, h)
    edge = corner_at(t, hulls, surfaces, next_of(h)) - tail
    return wp.dot(wp.cross(normal_at(t, surfaces, h), edge), x - tail) / wp.length(edge)


@wp.func
def rises(n: vec3, way: vec3) -> bool:
    """Whether a way leads up along n."""
    return wp.dot(n, way) > NEAR * wp.length(way)


@wp.func
def opening(t: Triangle, hulls: Hulls, surfaces: Surfaces, h: int) -> real:
    """Angle of a triangle at the corner where a half-edge of it begins."""
    tail = corner_at(t, hulls, surfaces, h)
    p = direction(corner_at(t, hulls, surfaces, next_of(h)) - tail, vec3())
    q = direction(corner_at(t, hulls, surfaces, before(h)) - tail, vec3())
    return wp.acos(wp.clamp(wp.dot(p, q), real(-1.0), real(1.0)))


@wp.func
def facing_of(t: Triangle, n: vec3, normal: vec3) -> real:
    """Cosine between an answer's normal and that of a triangle; of a sheet, with the nearer of its two sides."""
    facing = wp.dot(n, normal)
    return wp.where(t.is_solid == 1, facing, wp.abs(facing))


@wp.func
def judge_edge(t: Triangle, hulls: Hulls, surfaces: Surfaces, n: vec3, h: int) -> int:
    """What an answer with normal n is whose point is on an edge of the triangle."""
    facing = facing_of(t, n, t.normal)
    g = twin_of(t, surfaces, h)
    if g < 0:
        return wp.where(facing < real(0.0), INSIDE, EDGE)
    other = normal_at(t, surfaces, g)
    if rises(n, wp.cross(other, corner_at(t, hulls, surfaces, next_of(g)) - corner_at(t, hulls, surfaces, g))):
        return NONE
    if t.is_solid == 1 and wp.dot(n, normal_at(t, surfaces, h) + other) < real(0.0):
        return INSIDE
    return wp.where(facing < ALIKE and facing_of(t, n, other) > facing + NEAR, DOUBLE, EDGE)


@wp.func
def judge_corner(t: Triangle, hulls: Hulls, surfaces: Surfaces, n: vec3, start: int) -> int:
    """What an answer with normal n is whose point is the corner where a half-edge of the triangle begins."""
    tail = corner_at(t, hulls, surfaces, start)
    outward = vec3(real(0.0), real(0.0), real(0.0))
    best = real(-1.0)
    h = int(start)
    back = bool(False)
    for _k in range(FAN):
        if h < 0:
            break
        if rises(n, corner_at(t, hulls, surfaces, next_of(h)) - tail):
            return NONE
        if rises(n, corner_at(t, hulls, surfaces, before(h)) - tail):
            return NONE
        normal = normal_at(t, surfaces, h)
        outward += opening(t, hulls, surfaces, h) * normal
        best = wp.max(best, facing_of(t, n, normal))
        # Around the corner one way; where the surface ends, from the start the other way.
        if not back:
            h = twin_of(t, surfaces, before(h))
            if h == start:
                break
            if h < 0:
                back = True
                h = start
        if back:
            h = twin_of(t, surfaces, h)
            if h >= 0:
                h = next_of(h)
    if t.is_solid == 1 and wp.dot(n, outward) < real(0.0):
        return INSIDE
    facing = facing_of(t, n, t.normal)
    return wp.where(facing < ALIKE and best > facing + NEAR, DOUBLE, EDGE)


@wp.func
def judge(t: Triangle, hulls: Hulls, surfaces: Surfaces, n: vec3, q: vec3) -> int:
    """What an answer is that is not on the face, with normal n at a point q of the triangle."""
    near = NEAR * t.size
    kind = wp.where(facing_of(t, n, t.normal) < real(0.0), INSIDE, NONE)
    for k in range(3):
        h = 3 * t.part + k
        if inward(t, hulls, surfaces, h, q) <= near:
            if inward(t, hulls, surfaces, before(h), q) <= near:
                return judge_corner(t, hulls, surfaces, n, h)
            kind = judge_edge(t, hulls, surfaces, n, h)
            if inward(t, hulls, surfaces, next_of(h), q) <= near:
                return judge_corner(t, hulls, surfaces, n, next_of(h))
    return kind


@wp.func
def has_normal(t: Triangle, hulls: Hulls, surfaces: Surfaces, n: vec3, q: vec3) -> bool:
    """Whether the surface has a normal n at a point q of the triangle's border."""
    kind = judge(t, hulls, surfaces, n, q)
    return kind != NONE and kind != INSIDE
