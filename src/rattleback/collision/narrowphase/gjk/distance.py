"""The distance of two convex cores by the method of Gilbert, Johnson and Keerthi.

    min |v|,  v in A − B      w = s_A(−v) − s_B(v)      v · w / |v| ≤ distance ≤ |v|

s_A, s_B farthest points of the cores. The nearest point of a simplex of up to four corners of A − B replaces v, the
corner farthest against v joins the simplex, and those the nearest point does not need leave it. The two bounds meet;
they are taken to have met when they differ by less than the rounding of the corners. The cores overlap when the simplex
holds the origin, and touch when v is so short that rounding hides its direction.

Cost: two farthest points and one small simplex a round; 4 to 8 rounds for polyhedra, 10 to 30 for round solids.
When not: for the depth of an overlap, which the simplex does not know; see ``epa``.

Reference: Gilbert, Johnson, Keerthi (1988); van den Bergen (2003), §4.3; Bender, dissertation, §2.2.3.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import Solid, middle, support
from rattleback.collision.narrowphase.gjk.simplex import (
    LARGE,
    Simplex,
    nearest_to_origin,
    reduced,
    reduced_weights,
    weighted_a,
    with_corner,
)
from rattleback.core.precision import epsilon, real, vec3, vec4

# Part of the distance by which its bounds may differ, and the part of the coordinates that rounding may hide.
GAP = wp.constant(real(64.0 * epsilon))
ROUNDING = wp.constant(real(4.0 * epsilon))
# Part of the coordinates below which rounding hides the direction of v.
TOUCH = wp.constant(real(4.0 * epsilon ** (2.0 / 3.0)))
ROUNDS = wp.constant(128)


@wp.struct
class Core:
    """The distance of two cores: nearest points, unit normal from B to A, and how it was found."""

    distance: real
    normal: vec3
    point_a: vec3
    point_b: vec3
    overlap: wp.int32
    iterations: wp.int32
    scale: real
    simplex: Simplex


@wp.struct
class Bounds:
    """When a search may stop early: it is known to be farther than ``far``, or has done ``most`` rounds."""

    far: real
    most: wp.int32


@wp.func
def largest(v: vec3) -> real:
    """The largest coordinate of a vector, without its sign."""
    return wp.max(wp.max(wp.abs(v[0]), wp.abs(v[1])), wp.abs(v[2]))


@wp.func
def size_of(solid: Solid) -> real:
    """The largest number that goes into the points of a core, but for the vertices of a hull."""
    return wp.max(largest(solid.size), largest(solid.position))


@wp.func
def is_corner(s: Simplex, w: vec3) -> bool:
    """Whether w already is a corner of a simplex."""
    if s.count > 0 and w == s.w0:
        return True
    if s.count > 1 and w == s.w1:
        return True
    if s.count > 2 and w == s.w2:
        return True
    return s.count > 3 and w == s.w3


@wp.func(inline=False)
def search(a: Solid, b: Solid, hulls: Hulls, axis: vec3, bounds: Bounds) -> Core:
    """The distance of two cores, from a first guess of the direction from B to A.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        axis: First guess; zero for the difference of their middles.
        bounds: When to stop early.
    """
    core = Core()
    core.scale = wp.max(size_of(a), size_of(b))
    s = Simplex()
    v = axis
    if wp.dot(v, v) == real(0.0):
        v = middle(a, hulls) - middle(b, hulls)
    if wp.dot(v, v) == real(0.0):
        v = vec3(real(1.0), real(0.0), real(0.0))
    square = LARGE
    weights = vec4()
    for k in range(bounds.most):
        core.iterations = k + 1
        p = support(a, hulls, -v)
        q = support(b, hulls, v)
        w = p - q
        core.scale = wp.max(core.scale, wp.max(largest(p), largest(q)))
        length = wp.length(v)
        low = wp.dot(v, w) / length
        if low > bounds.far:
            core.distance = low
            core.normal = v / length
            core.point_a = p
            core.point_b = q
            return core
        if s.count > 0 and (length - low <= GAP * length + ROUNDING * core.scale or is_corner(s, w)):
            break
        grown = with_corner(s, w, p)
        nearest = nearest_to_origin(grown)
        if nearest.inside == 1:
            core.overlap = 1
            core.simplex = grown
            core.point_a = weighted_a(grown, nearest.weights)
            core.point_b = core.point_a
            return core
        if nearest.square >= square:
            break
        s = reduced(grown, nearest.weights)
        weights = reduced_weights(nearest.weights)
        v = nearest.point
        square = nearest.square
        if square <= TOUCH * TOUCH * core.scale * core.scale:
            core.overlap = 1
            break
    core.simplex = s
    core.distance = wp.length(v)
    if core.overlap == 0:
        core.normal = v / core.distance
    core.point_a = weighted_a(s, weights)
    core.point_b = core.point_a - v
    return core


@wp.func
def gjk(a: Solid, b: Solid, hulls: Hulls, axis: vec3) -> Core:
    """The distance of two cores, to the end; see ``search``."""
    bounds = Bounds()
    bounds.far = LARGE
    bounds.most = ROUNDS
    return search(a, b, hulls, axis, bounds)
