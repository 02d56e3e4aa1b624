"""The depth of an overlap by the expanding polytope algorithm.

    depth = min h(d),  |d| = 1      h(d) = max { d · w : w in A − B }      normal = −d

A polytope of corners of A − B grows where its surface is nearest to the origin: the plane of that face, at a distance e
along its normal d, and the farthest corner along d bound the depth, e ≤ depth ≤ h(d). The corner joins the polytope
until the bounds meet. Distances of planes are signed, so the polytope need not hold the origin at the start, and cores
that only just miss each other come out with the normal of the face they miss.

Between polyhedra the bounds meet after as many rounds as there are corners near the answer. Between round solids they
close like the square of the size of the faces; there the polytope serves to find the right place, and ``refine``
measures.

Cost: a round looks at every face, some 0.3 µs; 5 to 30 rounds. When not: for cores that are apart.

Reference: van den Bergen (2003), §4.3.8.
"""

import warp as wp

from rattleback.collision.closest import Closest
from rattleback.collision.colliders import Hulls
from rattleback.collision.narrowphase.polytope import (
    MOST_CORNERS,
    MOST_FACES,
    begin,
    close_hole,
    face_corner,
    nearest_face,
    normal_of,
    open_hole,
)
from rattleback.collision.narrowphase.refine import refined
from rattleback.collision.narrowphase.separation import Core, largest
from rattleback.collision.narrowphase.simplex import (
    LARGE,
    NearestOnSimplex,
    Simplex,
    nearer_on_edge,
    nearest_to_origin,
    weighted_a,
    with_corner,
)
from rattleback.collision.narrowphase.tetrahedron import Start, tetrahedron
from rattleback.collision.solid import CONE, CYLINDER, ELLIPSOID, Solid, support
from rattleback.core.precision import epsilon, real, vec3, vec4

# Parts of the coordinates by which the bounds may differ: between polyhedra, and between round solids before refining.
EXACT = wp.constant(real(32.0 * epsilon))
COARSE = wp.constant(real(1e-6))
# Corners after which round solids are refined.
ENOUGH = wp.constant(48)
# Most places where round solids are refined, and the cosine of the angle that parts two of them.
TRIES = wp.constant(12)
SAME_PLACE = wp.constant(real(0.9))
# Part of the coordinates within which a corner lies in a plane.
COPLANAR = wp.constant(real(8.0 * epsilon))
# Cosine of the angle within which planes are parallel.
PARALLEL = wp.constant(real(1.0 - epsilon**0.5))


@wp.func
def is_round(solid: Solid) -> bool:
    """Whether a core has a curved surface."""
    return solid.kind == CYLINDER or solid.kind == CONE or solid.kind == ELLIPSOID


@wp.func
def nearest_on_triangle(s: Simplex) -> NearestOnSimplex:
    """The point of a triangle nearest to the origin, on any of its features."""
    return nearer_on_edge(s, 0, 1, nearest_to_origin(s))


@wp.func
def facet_under_origin(
    w: wp.array[vec3],
    origin: wp.array[vec3],
    planes: wp.array[vec4],
    faces: wp.array[wp.int32],
    count: int,
    chosen: vec4,
) -> Simplex:
    """Of the faces in one plane, the pieces of one facet, the one nearest to the origin itself."""
    best = Simplex()
    least = LARGE
    for f in range(count):
        if wp.dot(normal_of(planes[f]), normal_of(chosen)) >= PARALLEL and planes[f][3] <= chosen[3]:
            i = face_corner(faces[f], 0)
            j = face_corner(faces[f], 1)
            k = face_corner(faces[f], 2)
            s = with_corner(with_corner(with_corner(Simplex(), w[i], origin[i]), w[j], origin[j]), w[k], origin[k])
            square = nearest_on_triangle(s).square
            if square < least:
                least = square
                best = s
    return best


@wp.func
def on_face(s: Simplex, d: vec3, high: real) -> Closest:
    """The answer on a face of A − B with outward normal d, as far as ``high`` from the origin."""
    best = nearest_on_triangle(s)
    out = Closest()
    out.normal = -d
    out.separation = -high
    out.point_a = weighted_a(s, best.weights)
    out.point_b = out.point_a - high * d
    return out


@wp.func
def flat_answer(a: Solid, b: Solid, hulls: Hulls, core: Core, start: Start) -> Closest:
    """The answer where A − B has no depth in a direction."""
    d = start.across
    high = wp.dot(d, support(a, hulls, d) - support(b, hulls, -d))
    out = Closest()
    out.normal = -d
    out.separation = -high
    out.point_a = core.point_a
    out.point_b = core.point_a - high * d
    return out


@wp.func
def settled(
    a: Solid, b: Solid, hulls: Hulls, guess: Closest, planes: wp.array[vec4], count: int, scale: real
) -> Closest:
    """The best answer near the guess and along normals of faces whose planes leave room for a better one.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        guess: Separation and normal.
        planes: Those of the polytope.
        count: Number of faces.
        scale: How large the coordinates are [m].
    """
    high = wp.zeros(shape=(128,), dtype=real)
    for f in range(count):
        high[f] = LARGE
        if planes[f][3] < -guess.separation - COARSE * scale:
            d = normal_of(planes[f])
            high[f] = wp.dot(d, support(a, hulls, d) - support(b, hulls, -d))
            if high[f] < -guess.separation:
                guess.separation = -high[f]
                guess.normal = -d
    best = Closest()
    best.separation = -LARGE
    for _ in range(TRIES):
        answer = refined(a, b, hulls, guess, scale)
        if answer.separation > best.separation:
            best = answer
        start = guess.normal
        guess.separation = -LARGE
        for f in range(count):
            n = -normal_of(planes[f])
            if wp.dot(n, start) > SAME_PLACE or wp.dot(n, answer.normal) > SAME_PLACE:
                high[f] = LARGE
            elif planes[f][3] < -best.separation - COARSE * scale and high[f] < -guess.separation:
                guess.separation = -high[f]
                guess.normal = n
        if guess.separation == -LARGE:
            break
    return best


@wp.func(inline=False)
def penetration(a: Solid, b: Solid, hulls: Hulls, core: Core) -> Closest:
    """Depth, normal and points of two cores that overlap or touch.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        core: What GJK found of them.
    """
    start = tetrahedron(a, b, hulls, core)
    if start.dimensions < 3:
        return flat_answer(a, b, hulls, core, start)
    curved = is_round(a) or is_round(b)
    w = wp.zeros(shape=(64,), dtype=vec3)
    origin = wp.zeros(shape=(64,), dtype=vec3)
    planes = wp.zeros(shape=(128,), dtype=vec4)
    faces = wp.zeros(shape=(128,), dtype=wp.int32)
    edges = wp.zeros(shape=(64,), dtype=wp.uint64)
    s = start.simplex
    w[0] = s.w0
    w[1] = s.w1
    w[2] = s.w2
    w[3] = s.w3
    origin[0] = s.a0
    origin[1] = s.a1
    origin[2] = s.a2
    origin[3] = s.a3
    count = begin(w, planes, faces)
    scale = core.scale
    best = Closest()
    best.separation = -LARGE
    for n in range(4, MOST_CORNERS + 1):
        f = nearest_face(planes, count)
        d = normal_of(planes[f])
        low = planes[f][3]
        if low == LARGE:
            break
        p = support(a, hulls, d)
        q = support(b, hulls, -d)
        high = wp.dot(d, p - q)
        scale = wp.max(scale, wp.max(largest(p), largest(q)))
        if high < -best.separation:
            best.separation = -high
            best.normal = -d
        if high - low <= EXACT * scale:
            reach = vec4(d[0], d[1], d[2], low + EXACT * scale)
            facet = facet_under_origin(w, origin, planes, faces, count, reach)
            return on_face(facet, d, high)
        if n == MOST_CORNERS or (curved and (n == ENOUGH or -best.separation - low <= COARSE * scale)):
            break
        w[n] = p - q
        origin[n] = p
        apex = vec4(w[n][0], w[n][1], w[n][2], COPLANAR * scale)
        kept = open_hole(planes, faces, edges, count, f, apex)
        count = close_hole(w, planes, faces, edges, kept, n)
        if count > MOST_FACES:
            count = MOST_FACES
            break
    if best.separation == -LARGE:
        return flat_answer(a, b, hulls, core, start)
    return settled(a, b, hulls, best, planes, count, scale)
