"""The point of a simplex nearest to the origin: what GJK asks in every round.

    v = Σ λ_k w_k      λ_k ≥ 0      Σ λ_k = 1      |v| least

w_k = a_k − b_k the one to four corners, differences of points of A and B. The newest corner belongs to the nearest
feature, or nothing was gained; so only the edges and faces at it are asked, each on its own, and the nearest answer
wins. Every answer is a point of the simplex, however flat it is: a face too thin to have a normal and a tetrahedron too
flat to have an inside are left out, their edges and faces say the same. On a face, v is the part of a corner along the
normal, so that its direction is right even where its length is lost in rounding.

Reference: van den Bergen (2003), §4.3; Ericson, Real-Time Collision Detection, §5.1.
"""

import warp as wp

from rattleback.core.precision import epsilon, real, vec3, vec4

# Sine of an angle below which three corners lie on a line, or four in a plane.
FLAT = wp.constant(real(16.0 * epsilon))
LARGE = wp.constant(real(1e30))


@wp.struct
class Simplex:
    """Up to four corners of A − B, each with the point of A it comes from; that of B is a − w."""

    count: wp.int32
    w0: vec3
    w1: vec3
    w2: vec3
    w3: vec3
    a0: vec3
    a1: vec3
    a2: vec3
    a3: vec3


@wp.struct
class NearestOnSimplex:
    """A point of a simplex: where, the square of its distance from the origin, and its weights."""

    point: vec3
    square: real
    weights: vec4
    inside: wp.int32


@wp.func
def corner(s: Simplex, k: int) -> vec3:
    """Corner k."""
    if k == 0:
        return s.w0
    if k == 1:
        return s.w1
    if k == 2:
        return s.w2
    return s.w3


@wp.func
def corner_a(s: Simplex, k: int) -> vec3:
    """The point of A that corner k comes from."""
    if k == 0:
        return s.a0
    if k == 1:
        return s.a1
    if k == 2:
        return s.a2
    return s.a3


@wp.func
def with_corner(s: Simplex, w: vec3, a: vec3) -> Simplex:
    """The simplex with one corner more; it has at most three before."""
    if s.count == 0:
        s.w0 = w
        s.a0 = a
    elif s.count == 1:
        s.w1 = w
        s.a1 = a
    elif s.count == 2:
        s.w2 = w
        s.a2 = a
    else:
        s.w3 = w
        s.a3 = a
    s.count = s.count + 1
    return s


@wp.func
def reduced(s: Simplex, weights: vec4) -> Simplex:
    """The corners that carry weight."""
    out = Simplex()
    for k in range(4):
        if weights[k] > real(0.0):
            out = with_corner(out, corner(s, k), corner_a(s, k))
    return out


@wp.func
def reduced_weights(weights: vec4) -> vec4:
    """The weights of the corners that ``reduced`` keeps."""
    out = vec4()
    n = int(0)
    for k in range(4):
        if weights[k] > real(0.0):
            out[n] = weights[k]
            n += 1
    return out


@wp.func
def weighted_a(s: Simplex, weights: vec4) -> vec3:
    """The point of A that belongs to a point of the simplex."""
    return weights[0] * s.a0 + weights[1] * s.a1 + weights[2] * s.a2 + weights[3] * s.a3


@wp.func
def nearer_on_edge(s: Simplex, i: int, j: int, best: NearestOnSimplex) -> NearestOnSimplex:
    """The better of an answer and the nearest point of the edge from corner i to corner j."""
    p = corner(s, i)
    e = corner(s, j) - p
    square = wp.dot(e, e)
    t = real(0.0)
    if square > real(0.0):
        t = wp.clamp(-wp.dot(p, e) / square, real(0.0), real(1.0))
    v = p + t * e
    if t == real(1.0):
        v = corner(s, j)
    if wp.dot(v, v) < best.square:
        best.point = v
        best.square = wp.dot(v, v)
        best.weights = vec4()
        best.weights[i] = real(1.0) - t
        best.weights[j] = t
    return best


@wp.func
def nearer_in_face(s: Simplex, i: int, j: int, k: int, best: NearestOnSimplex) -> NearestOnSimplex:
    """The better of an answer and the foot of the origin on a face, where that lies between its corners."""
    p = corner(s, i)
    e = corner(s, j) - p
    f = corner(s, k) - p
    n = wp.cross(e, f)
    square = wp.dot(n, n)
    if square <= FLAT * FLAT * wp.dot(e, e) * wp.dot(f, f):
        return best
    y = wp.dot(n, wp.cross(f, p))
    z = wp.dot(n, wp.cross(p, e))
    x = square - y - z
    if x <= real(0.0) or y <= real(0.0) or z <= real(0.0):
        return best
    # The foot lies along n from the origin.
    v = (wp.dot(n, p) / square) * n
    if wp.dot(v, v) < best.square:
        best.point = v
        best.square = wp.dot(v, v)
        best.weights = vec4()
        best.weights[i] = x / square
        best.weights[j] = y / square
        best.weights[k] = z / square
    return best


@wp.func
def holds_origin(s: Simplex) -> vec4:
    """Weights of the origin in a tetrahedron that is not flat; not all positive where it lies outside."""
    e = s.w0 - s.w3
    f = s.w1 - s.w3
    g = s.w2 - s.w3
    volume = wp.dot(e, wp.cross(f, g))
    if wp.abs(volume) <= FLAT * wp.length(e) * wp.length(f) * wp.length(g):
        return vec4()
    x = wp.dot(s.w3, wp.cross(g, f)) / volume
    y = wp.dot(s.w3, wp.cross(e, g)) / volume
    z = wp.dot(s.w3, wp.cross(f, e)) / volume
    return vec4(x, y, z, real(1.0) - x - y - z)


@wp.func
def nearest_to_origin(s: Simplex) -> NearestOnSimplex:
    """The point of a simplex nearest to the origin, on a feature that its last corner belongs to."""
    best = NearestOnSimplex()
    last = s.count - 1
    if last == 3:
        weights = holds_origin(s)
        if wp.min(weights) > real(0.0):
            best.weights = weights
            best.inside = 1
            return best
    best.point = corner(s, last)
    best.square = wp.dot(best.point, best.point)
    best.weights[last] = real(1.0)
    for i in range(last):
        best = nearer_on_edge(s, i, last, best)
    for i in range(last):
        for j in range(i + 1, last):
            best = nearer_in_face(s, i, j, last, best)
    return best
