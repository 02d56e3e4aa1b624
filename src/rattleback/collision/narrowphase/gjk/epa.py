"""The depth of an overlap by the expanding polytope algorithm.

    depth = min h(d),  |d| = 1      h(d) = max { d · w : w in A − B }      normal = −d

A polytope of corners of A − B grows where its surface is nearest to the origin: the plane of that face, at a distance e
along its normal d, and the farthest corner along d bound the depth, e ≤ depth ≤ h(d). The corner joins the polytope
until the bounds meet. Distances of planes are signed, so the polytope need not hold the origin at the start, and cores
that only just miss each other come out with the normal of the face they miss.

Between polyhedra the bounds meet after as many rounds as there are corners near the answer. Between round solids they
would close like the square of the size of the faces; so as soon as they are near, ``refine`` finds the least depth u
around d, and the point u d of A − B joins the polytope. It alone proves a depth of u cos θ at every angle θ from d, so
few more corners are needed to prove that there is none less anywhere, or to find where there is. Where all corners are
used up before, as in the middle of what is nearly a ball, the faces that leave room are refined one after the other.

Cost: a round visits every face, 0.1 to 0.3 µs; 5 to 30 rounds. When not: for cores that are apart.

Reference: van den Bergen (2003), §4.3.8.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import CONE, CYLINDER, ELLIPSOID, Solid, support
from rattleback.collision.narrowphase.closest import Closest
from rattleback.collision.narrowphase.gjk.distance import Core, largest
from rattleback.collision.narrowphase.gjk.polytope import (
    MOST_CORNERS,
    MOST_FACES,
    begin,
    close_hole,
    face_corner,
    most_seeing,
    nearest_face,
    normal_of,
    open_hole,
)
from rattleback.collision.narrowphase.gjk.refine import agreed, refined
from rattleback.collision.narrowphase.gjk.simplex import (
    LARGE,
    Simplex,
    corner,
    corner_a,
    weighted_a,
    with_corner,
)
from rattleback.collision.narrowphase.gjk.tetrahedron import Start, tetrahedron
from rattleback.collision.narrowphase.gjk.witness import flat_witness, nearest_on_triangle, witness
from rattleback.core.precision import epsilon, real, vec3, vec4

# Parts of the coordinates by which the bounds may differ: on a facet, elsewhere, and before the first answer is sought.
EXACT = wp.constant(real(32.0 * epsilon))
SURE = wp.constant(real(max(2.5e-7, 64.0 * epsilon)))
NEAR = wp.constant(real(0.02))
# Part of the coordinates within which a foot lies on its facet.
BESIDE = wp.constant(real(4096.0 * epsilon))
# Most places where round solids are refined, and the cosines of angles that part two of them.
TRIES = wp.constant(12)
FAR_APART = wp.constant(real(0.9))
NEAR_EACH_OTHER = wp.constant(real(0.999))
# Part of the coordinates within which a corner lies in a plane.
COPLANAR = wp.constant(real(8.0 * epsilon))
# Cosine of the angle within which planes are parallel.
PARALLEL = wp.constant(real(1.0 - epsilon**0.5))


@wp.func
def is_round(solid: Solid) -> bool:
    """Whether a core has a curved surface."""
    return solid.kind == CYLINDER or solid.kind == CONE or solid.kind == ELLIPSOID


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
def on_face(w: wp.array[vec3], origin: wp.array[vec3], count: int, facet: Simplex, foot: vec3, scale: real) -> Closest:
    """The answer where the point of A − B nearest to the origin's outside is known.

    Args:
        w: Corners of A − B.
        origin: The points of A they come from.
        count: Number of corners.
        facet: The three of them that it should lie between.
        foot: That point.
        scale: How large the coordinates are [m].
    """
    nearest = nearest_on_triangle(facet)
    out = Closest()
    out.point_a = weighted_a(facet, nearest.weights)
    if wp.length(nearest.point - foot) > BESIDE * scale:
        # Rounding has left the facet with gaps.
        out.point_a = witness(w, origin, count, foot, scale).point_a
    out.point_b = out.point_a - foot
    return out


@wp.func
def flat_answer(a: Solid, b: Solid, hulls: Hulls, core: Core, start: Start) -> Closest:
    """The answer where A − B has no depth in a direction."""
    d = start.across
    high = wp.dot(d, support(a, hulls, d) - support(b, hulls, -d))
    out = Closest()
    out.normal = -d
    out.separation = -high
    out.point_a = flat_witness(core.simplex)
    out.point_b = out.point_a - high * d
    return out


@wp.func
def settled(
    a: Solid, b: Solid, hulls: Hulls, best: Closest, planes: wp.array[vec4], count: int, scale: real
) -> Closest:
    """The best of an answer and those along normals of faces whose planes leave room for a better one.

    Args:
        a: A solid.
        b: Another one.
        hulls: Their corners.
        best: The best answer so far.
        planes: Those of the polytope.
        count: Number of faces.
        scale: How large the coordinates are [m].
    """
    high = wp.zeros(shape=(128,), dtype=real)
    for tried in range(2 * TRIES):
        # First places far apart, then those near each other that are left.
        same = wp.where(tried < TRIES, FAR_APART, NEAR_EACH_OTHER)
        if tried % TRIES == 0:
            for f in range(count):
                high[f] = LARGE
                if planes[f][3] < -best.separation - SURE * scale:
                    d = normal_of(planes[f])
                    if wp.dot(d, best.normal) > -same:
                        high[f] = wp.dot(d, support(a, hulls, d) - support(b, hulls, -d))
        guess = Closest()
        guess.separation = -LARGE
        for f in range(count):
            if planes[f][3] < -best.separation - SURE * scale and high[f] < -guess.separation:
                guess.separation = -high[f]
                guess.normal = -normal_of(planes[f])
        if guess.separation > -LARGE:
            answer = refined(a, b, hulls, guess, scale)
            if answer.separation > best.separation:
                best = answer
            for f in range(count):
                n = -normal_of(planes[f])
                if wp.dot(n, guess.normal) > same or wp.dot(n, answer.normal) > same:
                    high[f] = LARGE
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
    faces = wp.zeros(shape=(192,), dtype=wp.int32)
    edges = wp.zeros(shape=(64,), dtype=wp.uint64)
    s = start.simplex
    for k in range(4):
        w[k] = corner(s, k)
        origin[k] = corner_a(s, k)
    count = begin(w, planes, faces)
    scale = core.scale
    best = Closest()
    best.separation = -LARGE
    for n in range(4, MOST_CORNERS + 1):
        f = nearest_face(planes, count)
        d = normal_of(planes[f])
        low = planes[f][3]
        if low == LARGE or low >= -best.separation - SURE * scale:
            break
        p = support(a, hulls, d)
        q = support(b, hulls, -d)
        high = wp.dot(d, p - q)
        scale = wp.max(scale, wp.max(largest(p), largest(q)))
        if high - low <= EXACT * scale:
            reach = vec4(d[0], d[1], d[2], low + EXACT * scale)
            facet = facet_under_origin(w, origin, planes, faces, count, reach)
            best = on_face(w, origin, n, facet, high * d, scale)
            best.normal = -d
            best.separation = -high
            return best
        if n == MOST_CORNERS:
            break
        w[n] = p - q
        origin[n] = p
        if curved and high < -best.separation and high - low <= NEAR * scale:
            guess = Closest()
            guess.separation = -high
            guess.normal = -d
            guess = refined(a, b, hulls, guess, scale)
            if guess.separation > best.separation:
                best = guess
            # The point of A − B it stands on bounds the depth around it, u cos θ at an angle θ.
            x = guess.point_a - guess.point_b
            g = most_seeing(planes, count, x)
            if wp.dot(normal_of(planes[g]), x) - planes[g][3] > SURE * scale:
                f = g
                w[n] = x
                origin[n] = guess.point_a
        apex = vec4(w[n][0], w[n][1], w[n][2], COPLANAR * scale)
        kept = open_hole(planes, faces, edges, count, f, apex)
        count = close_hole(w, planes, faces, edges, wp.vec2i(kept, count), n)
        if count > MOST_FACES:
            count = MOST_FACES
            break
    best = settled(a, b, hulls, best, planes, count, scale)
    if best.separation == -LARGE:
        return flat_answer(a, b, hulls, core, start)
    return agreed(a, b, hulls, best, scale)
