"""The point of a simplex nearest to the origin, one round of GJK.

    v = Σ λ_k w_k      λ_k ≥ 0      Σ λ_k = 1      |v| least

w_k = a_k − b_k the one to four corners, differences of points of A and B. The newest corner belongs to the nearest
feature, or nothing was gained; so only the edges and faces at it are tested, each on its own, and the nearest answer
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
    """The corners that carry weight, in their order."""
    count = int(0)
    if weights[3] > real(0.0):
        count = 1
    if weights[2] > real(0.0):
        count += 1
    else:
        s.w2 = s.w3
        s.a2 = s.a3
    if weights[1] > real(0.0):
        count += 1
    else:
        s.w1 = s.w2
        s.a1 = s.a2
        s.w2 = s.w3
        s.a2 = s.a3
    if weights[0] > real(0.0):
        count += 1
    else:
        s.w0 = s.w1
        s.a0 = s.a1
        s.w1 = s.w2
        s.a1 = s.a2
        s.w2 = s.w3
        s.a2 = s.a3
    s.count = count
    return s


@wp.func
def reduced_weights(weights: vec4) -> vec4:
    """The weights of the corners that ``reduced`` keeps."""
    x = weights[0]
    y = weights[1]
    z = weights[2]
    w = weights[3]
    if z <= real(0.0):
        z = w
        w = real(0.0)
    if y <= real(0.0):
        y = z
        z = w
        w = real(0.0)
    if x <= real(0.0):
        x = y
        y = z
        z = w
        w = real(0.0)
    return vec4(x, y, z, w)


@wp.func
def weighted(s: Simplex, weights: vec4) -> vec3:
    """The point of the simplex that weights stand for."""
    return weights[0] * s.w0 + weights[1] * s.w1 + weights[2] * s.w2 + weights[3] * s.w3


@wp.func
def weighted_a(s: Simplex, weights: vec4) -> vec3:
    """The point of A that belongs to a point of the simplex."""
    return weights[0] * s.a0 + weights[1] * s.a1 + weights[2] * s.a2 + weights[3] * s.a3


@wp.func
def along_edge(p: vec3, q: vec3) -> real:
    """How far along the edge from p to q the point nearest to the origin lies; from 0 to 1."""
    e = q - p
    t = -wp.dot(p, e)
    square = wp.dot(e, e)
    if t <= real(0.0):
        return real(0.0)
    if t >= square:
        return real(1.0)
    return t / square


@wp.func
def on_edge(p: vec3, q: vec3, t: real) -> vec3:
    """The point a part t of the way along an edge; exactly q at its end."""
    if t == real(1.0):
        return q
    return p + t * (q - p)


@wp.func
def across_face(p: vec3, q: vec3, r: vec3) -> vec3:
    """The normal of a face, not of unit length; zero where the origin's foot does not lie between its corners."""
    e = q - p
    f = r - p
    n = wp.cross(e, f)
    square = wp.dot(n, n)
    if square <= FLAT * FLAT * wp.dot(e, e) * wp.dot(f, f):
        return vec3()
    y = wp.dot(n, wp.cross(f, p))
    z = wp.dot(n, wp.cross(p, e))
    if y <= real(0.0) or z <= real(0.0) or square - y - z <= real(0.0):
        return vec3()
    return n


@wp.func
def face_weights(p: vec3, q: vec3, r: vec3, n: vec3) -> vec3:
    """The weights of the corners of a face at the origin's foot, which lies between them; n its normal."""
    square = wp.dot(n, n)
    y = wp.dot(n, wp.cross(r - p, p)) / square
    z = wp.dot(n, wp.cross(p, q - p)) / square
    return vec3(real(1.0) - y - z, y, z)


@wp.func
def nearest_on_two(p: vec3, q: vec3) -> NearestOnSimplex:
    """The point of an edge nearest to the origin."""
    out = NearestOnSimplex()
    t = along_edge(p, q)
    out.point = on_edge(p, q, t)
    out.square = wp.dot(out.point, out.point)
    out.weights = vec4(real(1.0) - t, t, real(0.0), real(0.0))
    return out


@wp.func
def nearest_on_three(p: vec3, q: vec3, r: vec3) -> NearestOnSimplex:
    """The point of a triangle nearest to the origin, but for the inside of its edge from p to q."""
    out = NearestOnSimplex()
    n = across_face(p, q, r)
    square = wp.dot(n, n)
    if square > real(0.0):
        # The foot lies along n from the origin.
        out.point = (wp.dot(n, p) / square) * n
        out.square = wp.dot(out.point, out.point)
        x = face_weights(p, q, r, n)
        out.weights = vec4(x[0], x[1], x[2], real(0.0))
        return out
    s = along_edge(p, r)
    t = along_edge(q, r)
    u = on_edge(p, r, s)
    v = on_edge(q, r, t)
    first = wp.dot(u, u) <= wp.dot(v, v)
    if first:
        out.point = u
        out.weights = vec4(real(1.0) - s, real(0.0), s, real(0.0))
    else:
        out.point = v
        out.weights = vec4(real(0.0), real(1.0) - t, t, real(0.0))
    out.square = wp.dot(out.point, out.point)
    return out


@wp.func
def nearest_on_four(s: Simplex) -> NearestOnSimplex:
    """The point of the three faces at the last corner of a tetrahedron that is nearest to the origin."""
    best = nearest_on_three(s.w0, s.w1, s.w3)
    x = best.weights
    best.weights = vec4(x[0], x[1], real(0.0), x[2])
    next = nearest_on_three(s.w1, s.w2, s.w3)
    if next.square < best.square:
        best = next
        x = next.weights
        best.weights = vec4(real(0.0), x[0], x[1], x[2])
    next = nearest_on_three(s.w2, s.w0, s.w3)
    if next.square < best.square:
        best = next
        x = next.weights
        best.weights = vec4(x[1], real(0.0), x[0], x[2])
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
    if s.count == 2:
        return nearest_on_two(s.w0, s.w1)
    if s.count == 3:
        return nearest_on_three(s.w0, s.w1, s.w2)
    out = NearestOnSimplex()
    if s.count == 1:
        out.point = s.w0
        out.square = wp.dot(s.w0, s.w0)
        out.weights = vec4(real(1.0), real(0.0), real(0.0), real(0.0))
        return out
    weights = holds_origin(s)
    if wp.min(weights) > real(0.0):
        out.weights = weights
        out.inside = 1
        return out
    return nearest_on_four(s)
