"""The shortest way out of each other for two overlapping polyhedra, by the separating axis test.

    s(n) = min { n·x : x in A } − max { n·y : y in B }      depth = −max s(n)

over the unit normals n, from B to A, of the faces of the Minkowski difference: the normals of B's faces, those of A's
reversed, and the n = ± u × w for edges u of A, w of B whose arcs on the sphere of normals cross,

    (c·u)(d·u) < 0,   (a·w)(b·w) < 0,   n·(c + d) > 0 > n·(a + b)

a, b normals of the faces at A's edge, c, d at B's. The nearest face of the difference is the exact answer; nothing here
iterates towards it.

Cost: faces × a climb to the farthest vertex, then E_A E_B arc tests of a few products each in the worst case. A ball
inside the other solid bounds what a face or an edge can offer, n·(x − centre) − radius, and most pairs are never looked
at: shallow overlaps cost little. Meant for hulls up to some hundred vertices. Reference: Gottschalk, Lin, Manocha
(1996), OBBTree, §5, for the axes; the arcs are those of the Gauss map.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.narrowphase.vclip.features import (
    EDGE,
    FACE,
    VERTEX,
    Meeting,
    edge_normals,
    edge_places,
    face_plane,
    farthest_vertex,
    inner_radius,
    vertex_place,
)
from rattleback.core.precision import epsilon, real, vec3

# The square of the least angle at which two edges count as crossing. Below it the face between them in the Minkowski
# difference is narrower than this angle times the edge, and its normal is uncertain by as much.
LEAST_SQUARE = wp.constant(real(epsilon))
ROUNDING = wp.constant(real(8.0 * epsilon))


@wp.struct
class Axis:
    """A normal from Y to X, in the frame of Y, the separation along it, and the features it comes from."""

    separation: real
    normal: vec3
    x: wp.int32
    y: wp.int32


@wp.func
def highest_of_faces(hulls: Hulls, m: Meeting, start: Axis) -> Axis:
    """The better of an axis and those of Y's faces."""
    best = start
    center = m.R * m.x.center + m.t
    radius = inner_radius(hulls, m.x)
    v = int(0)
    for f in range(m.y.faces):
        n, d = face_plane(hulls, m.y, f)
        if wp.dot(n, center) - radius - d > best.separation:
            v = farthest_vertex(hulls, m.x, -(m.S * n), v)
            s = wp.dot(n, m.R * vertex_place(hulls, m.x, v) + m.t) - d
            if s > best.separation:
                best.separation = s
                best.normal = n
                best.x = 4 * v + VERTEX
                best.y = 4 * f + FACE
    return best


@wp.func
def separation_along(hulls: Hulls, m: Meeting, n: vec3) -> real:
    """Separation of X from Y along any normal from Y to X, in the frame of Y."""
    v = farthest_vertex(hulls, m.x, -(m.S * n), 0)
    w = farthest_vertex(hulls, m.y, n, 0)
    return wp.dot(n, m.R * vertex_place(hulls, m.x, v) + m.t - vertex_place(hulls, m.y, w))


@wp.func
def offered(n: vec3, o: vec3, edge: vec3, center: vec3, radius: real) -> real:
    """The most that normals between those of the faces n, o at an edge can offer against a solid with a ball in it.

    A normal between the two, (1 − λ) n + λ o, has a length between |n + o| / 2 and 1 before it is made a unit one.
    """
    most = wp.max(wp.dot(n, center - edge), wp.dot(o, center - edge))
    if most > real(0.0):
        most = real(2.0) * most / wp.length(n + o)
    return most - radius


@wp.func
def highest_of_edges(hulls: Hulls, m: Meeting, start: Axis) -> Axis:
    """The better of an axis and those of the pairs of edges whose arcs of normals cross."""
    best = start
    center = m.R * m.x.center + m.t
    radius_x = inner_radius(hulls, m.x)
    radius_y = inner_radius(hulls, m.y)
    a = vec3()
    b = vec3()
    for i in range(m.x.edges):
        p, q = edge_places(hulls, m.x, i)
        u = m.R * (q - p)
        p = m.R * p + m.t
        if m.x.faces > 0:
            left, right = edge_normals(hulls, m.x, i)
            a = m.R * left
            b = m.R * right
            if offered(a, b, p, m.y.center, radius_y) <= best.separation:
                continue
        for j in range(m.y.edges):
            c, d = edge_normals(hulls, m.y, j)
            if wp.dot(c, u) * wp.dot(d, u) >= real(0.0):
                continue
            r, s = edge_places(hulls, m.y, j)
            w = s - r
            if m.x.faces > 0 and wp.dot(a, w) * wp.dot(b, w) >= real(0.0):
                continue
            if offered(c, d, r, center, radius_x) <= best.separation:
                continue
            n = wp.cross(u, w)
            square = wp.dot(n, n)
            scale = wp.dot(u, u) * wp.dot(w, w)
            if square <= LEAST_SQUARE * scale:
                continue
            n = n / wp.sqrt(square)
            if wp.dot(n, c + d) < real(0.0):
                n = -n
            if wp.dot(n, a + b) > real(0.0):
                continue
            # Only what exceeds its own rounding beats a face, and only what every vertex confirms counts at all.
            least = best.separation + ROUNDING * wp.sqrt(scale / square) * (wp.length(p) + wp.length(r))
            if wp.dot(n, p - r) > least:
                found = separation_along(hulls, m, n)
                if found > least:
                    best.separation = found
                    best.normal = n
                    best.x = 4 * i + EDGE
                    best.y = 4 * j + EDGE
    return best


@wp.func
def least_axis(hulls: Hulls, m: Meeting, back: Meeting) -> Axis:
    """The axis along which two solids overlap least; ``back`` is the meeting turned round."""
    best = Axis()
    best.separation = real(-wp.inf)
    best = highest_of_faces(hulls, back, best)
    if back.y.faces > 0:
        best.normal = -(m.R * best.normal)
        x = best.x
        best.x = best.y
        best.y = x
    best = highest_of_faces(hulls, m, best)
    best = highest_of_edges(hulls, m, best)
    return best
