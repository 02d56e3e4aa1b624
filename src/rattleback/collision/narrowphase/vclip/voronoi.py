"""One step of V-Clip: where a feature lies outside the Voronoi region of another, and which neighbour lies nearer.

    vertex v     (x − v) · u ≤ 0                for its edges, u along each, away from v
    edge a…b     (x − a) · u ≥ 0 ≥ (x − b) · u, (x − a) · (n_l × u) ≤ 0, (x − a) · (u × n_r) ≤ 0,   u = b − a
    face         (x − a) · (n × u) ≥ 0          for the edges of its loop

u direction of an edge, n, n_l, n_r outward normals of a face and of those left and right of an edge. The closest points
of two features are those of the polyhedra when each lies in the Voronoi region of the other feature. A vertex is simply
tested; an edge is clipped, and the sign of the derivative of its distance at the cuts tells on which side of them its
closest point lies, so that this point itself is never needed and no tolerance either.

Reference: Mirtich (1998), V-Clip, §3 and §4; Bender, dissertation, §4.4.5.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.narrowphase.vclip.features import (
    EDGE,
    FACE,
    VERTEX,
    Meeting,
    Polyhedron,
    edge_ends,
    edge_normals,
    edge_places,
    edge_sides,
    face_plane,
    nearest_on_segments,
    spoke,
    spoke_end,
    spokes,
    vertex_place,
)
from rattleback.core.precision import real, vec3

# What a step ends with: a feature replaced by a neighbour, the closest pair, or a point common to both solids.
MOVED = wp.constant(0)
APART = wp.constant(1)
INSIDE = wp.constant(2)


@wp.struct
class Cut:
    """The part of a segment left by planes, from ``low`` to ``high``, and the features beyond the cuts."""

    low: real
    high: real
    before: wp.int32
    after: wp.int32


@wp.func
def whole() -> Cut:
    """A segment not cut yet."""
    cut = Cut()
    cut.high = real(1.0)
    return cut


@wp.func
def clipped(cut: Cut, p: real, q: real, feature: int) -> Cut:
    """What a plane leaves whose distances to the ends are p and q, not both negative; ``feature`` lies beyond it."""
    out = cut
    if p < real(0.0):
        x = p / (p - q)
        if x > out.low:
            out.low = x
            out.before = feature
    elif q < real(0.0):
        x = p / (p - q)
        if x < out.high:
            out.high = x
            out.after = feature
    return out


@wp.func
def beyond_vertex(hulls: Hulls, p: Polyhedron, v: int, x: vec3) -> int:
    """The edge of a vertex that lies nearer to a point; 0 where the point is in the vertex's region."""
    d = x - vertex_place(hulls, p, v)
    first, count = spokes(hulls, p, v)
    for k in range(first, first + count):
        e, away = spoke(hulls, p, v, k)
        if wp.dot(d, away) > real(0.0):
            return 4 * e + EDGE
    return 0


@wp.func
def inward(a: vec3, b: vec3, n: vec3, sign: real, x: vec3) -> real:
    """How far a point lies on a face's side of its edge a…b, in units of the edge; sign −1 for the face to the right.

    Every state uses this function, so that a point beside an edge is found on one side of it or on the other.
    """
    return sign * wp.dot(x - a, wp.cross(n, b - a))


@wp.func
def beyond_edge(hulls: Hulls, p: Polyhedron, e: int, x: vec3) -> int:
    """The end or side of an edge that lies nearer to a point; 0 where the point is in the edge's region."""
    tail, head = edge_ends(hulls, p, e)
    a = vertex_place(hulls, p, tail)
    b = vertex_place(hulls, p, head)
    if wp.dot(x - a, b - a) < real(0.0):
        return 4 * tail + VERTEX
    if wp.dot(x - b, b - a) > real(0.0):
        return 4 * head + VERTEX
    if p.faces > 0:
        left, right = edge_sides(hulls, p, e)
        n, o = edge_normals(hulls, p, e)
        if inward(a, b, n, real(1.0), x) > real(0.0):
            return 4 * left + FACE
        if inward(a, b, o, real(-1.0), x) > real(0.0):
            return 4 * right + FACE
    return 0


@wp.func
def beyond_face(hulls: Hulls, p: Polyhedron, f: int, x: vec3) -> int:
    """The edge of a face nearest to a point beside it; 0 where the point is above or below the face."""
    n, _height = face_plane(hulls, p, f)
    first = hulls.face_corner[p.first_face + f]
    nearest = int(0)
    least = real(wp.inf)
    for k in range(first, first + hulls.face_corners[p.first_face + f]):
        e = hulls.corner_edge[k] - p.first_edge
        a, b = edge_places(hulls, p, e)
        left, _right = edge_sides(hulls, p, e)
        if inward(a, b, n, wp.where(left == f, real(1.0), real(-1.0)), x) < real(0.0):
            u = b - a
            off = x - a - wp.clamp(wp.dot(x - a, u) / wp.dot(u, u), real(0.0), real(1.0)) * u
            if wp.dot(off, off) < least:
                least = wp.dot(off, off)
                nearest = 4 * e + EDGE
    return nearest


@wp.func
def segment_beyond_vertex(hulls: Hulls, p: Polyhedron, v: int, tail: vec3, head: vec3) -> int:
    """The edge of a vertex towards which the closest point of a segment lies; 0 where that is in the region."""
    x = vertex_place(hulls, p, v)
    cut = whole()
    first, count = spokes(hulls, p, v)
    for k in range(first, first + count):
        e, away = spoke(hulls, p, v, k)
        at_tail = -wp.dot(tail - x, away)
        at_head = -wp.dot(head - x, away)
        if at_tail < real(0.0) and at_head < real(0.0):
            return 4 * e + EDGE
        cut = clipped(cut, at_tail, at_head, 4 * e + EDGE)
    u = head - tail
    if cut.before != 0 and wp.dot(u, tail + cut.low * u - x) > real(0.0):
        return cut.before
    if cut.after != 0 and wp.dot(u, tail + cut.high * u - x) < real(0.0):
        return cut.after
    return 0


@wp.func
def slope(n: vec3, d: real, tail: vec3, head: vec3, x: real) -> real:
    """The sign of the derivative of the distance from a plane along a segment, at part x of it."""
    low = wp.dot(n, tail) - d
    rise = wp.dot(n, head) - d - low
    return wp.where(low + x * rise < real(0.0), -rise, rise)


@wp.func
def segment_beyond_sides(hulls: Hulls, p: Polyhedron, e: int, tail: vec3, head: vec3, cut: Cut) -> int:
    """The side of an edge towards which the closest point of a segment lies; 0 where that is in the region.

    Args:
        hulls: Corners, edges and faces.
        p: Polyhedron of the edge.
        e: The edge.
        tail: Start of the segment.
        head: Its end.
        cut: Its part between the planes through the ends of the edge, on which its closest point lies.
    """
    a, b = edge_places(hulls, p, e)
    left, right = edge_sides(hulls, p, e)
    for k in range(2):
        f = wp.where(k == 0, left, right)
        n, d = face_plane(hulls, p, f)
        sign = wp.where(k == 0, real(1.0), real(-1.0))
        at_tail = inward(a, b, n, sign, tail)
        at_head = inward(a, b, n, sign, head)
        if at_tail > real(0.0) and at_head > real(0.0):
            return 4 * f + FACE
        if at_tail > real(0.0) or at_head > real(0.0):
            x = at_tail / (at_tail - at_head)
            leaves = at_tail > real(0.0)
            if (leaves and x > cut.high) or (not leaves and x < cut.low):
                return 4 * f + FACE
            if x >= cut.low and x <= cut.high:
                fall = slope(n, d, tail, head, x)
                if (leaves and fall > real(0.0)) or (not leaves and fall < real(0.0)):
                    return 4 * f + FACE
    return 0


@wp.func
def segment_beyond_edge(hulls: Hulls, p: Polyhedron, e: int, tail: vec3, head: vec3) -> int:
    """The end or side of an edge towards which the closest point of a segment lies; 0 where that is in the region."""
    i, j = edge_ends(hulls, p, e)
    a = vertex_place(hulls, p, i)
    b = vertex_place(hulls, p, j)
    u = head - tail
    cut = whole()
    for k in range(2):
        end = wp.where(k == 0, a, b)
        away = wp.where(k == 0, b - a, a - b)
        feature = 4 * wp.where(k == 0, i, j) + VERTEX
        at_tail = wp.dot(tail - end, away)
        at_head = wp.dot(head - end, away)
        if at_tail < real(0.0) and at_head < real(0.0):
            return feature
        cut = clipped(cut, at_tail, at_head, feature)
        if cut.before == feature and wp.dot(u, tail + cut.low * u - end) > real(0.0):
            return feature
        if cut.after == feature and wp.dot(u, tail + cut.high * u - end) < real(0.0):
            return feature
    if p.faces == 0:
        return 0
    return segment_beyond_sides(hulls, p, e, tail, head, cut)


@wp.func
def highest_face(hulls: Hulls, p: Polyhedron, x: vec3) -> tuple[int, real]:
    """The face a point is highest above or least deep below, and that height."""
    best = int(0)
    most = real(-wp.inf)
    for f in range(p.faces):
        n, d = face_plane(hulls, p, f)
        height = wp.dot(n, x) - d
        if height > most:
            most = height
            best = f
    return best, most


@wp.func
def nearest_side(hulls: Hulls, p: Polyhedron, f: int, tail: vec3, head: vec3) -> int:
    """The edge of a face nearest to a segment beside it."""
    first = hulls.face_corner[p.first_face + f]
    count = hulls.face_corners[p.first_face + f]
    best = int(0)
    least = real(wp.inf)
    for k in range(first, first + count):
        e = hulls.corner_edge[k] - p.first_edge
        a, b = edge_places(hulls, p, e)
        s, t = nearest_on_segments(tail, head, a, b)
        d = tail + s * (head - tail) - a - t * (b - a)
        if wp.dot(d, d) < least:
            least = wp.dot(d, d)
            best = e
    return 4 * best + EDGE


@wp.func
def step_vertex_face(hulls: Hulls, m: Meeting, v: int, f: int) -> tuple[int, int, int]:
    """From vertex v of X and face f of Y."""
    x = m.R * vertex_place(hulls, m.x, v) + m.t
    side = beyond_face(hulls, m.y, f, x)
    if side != 0:
        return 4 * v + VERTEX, side, MOVED
    n, d = face_plane(hulls, m.y, f)
    height = wp.dot(n, x) - d
    first, count = spokes(hulls, m.x, v)
    for k in range(first, first + count):
        e, other = spoke_end(hulls, m.x, v, k)
        beside = wp.dot(n, m.R * vertex_place(hulls, m.x, other) + m.t) - d
        # Along an edge that leads towards the plane of the face.
        if (height > real(0.0) and beside < height) or (height < real(0.0) and beside > height):
            return 4 * e + EDGE, 4 * f + FACE, MOVED
    if height > real(0.0):
        return 4 * v + VERTEX, 4 * f + FACE, APART
    # Below the face with nowhere to go: inside, or a local minimum, left by the face that is farthest below.
    lowest, most = highest_face(hulls, m.y, x)
    return 4 * v + VERTEX, 4 * lowest + FACE, wp.where(most > real(0.0), MOVED, INSIDE)


@wp.func
def step_edge_face(hulls: Hulls, m: Meeting, e: int, f: int) -> tuple[int, int, int]:
    """From edge e of X and face f of Y."""
    i, j = edge_ends(hulls, m.x, e)
    tail = m.R * vertex_place(hulls, m.x, i) + m.t
    head = m.R * vertex_place(hulls, m.x, j) + m.t
    n, d = face_plane(hulls, m.y, f)
    cut = whole()
    first = hulls.face_corner[m.y.first_face + f]
    for k in range(first, first + hulls.face_corners[m.y.first_face + f]):
        side = hulls.corner_edge[k] - m.y.first_edge
        a, b = edge_places(hulls, m.y, side)
        left, _right = edge_sides(hulls, m.y, side)
        sign = wp.where(left == f, real(1.0), real(-1.0))
        at_tail = inward(a, b, n, sign, tail)
        at_head = inward(a, b, n, sign, head)
        if at_tail < real(0.0) and at_head < real(0.0):
            cut.low = real(2.0)
        elif cut.low <= cut.high:
            cut = clipped(cut, at_tail, at_head, 4 * side + EDGE)
    if cut.low > cut.high:
        return 4 * e + EDGE, nearest_side(hulls, m.y, f, tail, head), MOVED
    low = wp.dot(n, tail) - d
    rise = wp.dot(n, head) - d - low
    if (low + cut.low * rise) * (low + cut.high * rise) <= real(0.0):
        return 4 * e + EDGE, 4 * f + FACE, INSIDE
    x = int(4 * e + EDGE)
    y = int(4 * f + FACE)
    # The end of what is left where the edge is nearest, on whichever side of the face.
    if slope(n, d, tail, head, cut.low) >= real(0.0):
        if cut.before != 0:
            y = cut.before
        else:
            x = 4 * i + VERTEX
    elif cut.after != 0:
        y = cut.after
    else:
        x = 4 * j + VERTEX
    return x, y, MOVED


@wp.func
def step(hulls: Hulls, m: Meeting, x: int, y: int) -> tuple[int, int, int]:
    """One step from feature x of X and feature y of Y, of no lower kind: the next features, and the state."""
    i = x // 4
    j = y // 4
    if y % 4 == FACE:
        if x % 4 == VERTEX:
            fx, fy, state = step_vertex_face(hulls, m, i, j)
            return fx, fy, state
        gx, gy, other = step_edge_face(hulls, m, i, j)
        return gx, gy, other
    new_x = int(0)
    new_y = int(0)
    if y % 4 == VERTEX:
        new_x = beyond_vertex(hulls, m.x, i, m.S * vertex_place(hulls, m.y, j) + m.s)
        if new_x == 0:
            new_y = beyond_vertex(hulls, m.y, j, m.R * vertex_place(hulls, m.x, i) + m.t)
    else:
        tail, head = edge_places(hulls, m.y, j)
        tail = m.S * tail + m.s
        head = m.S * head + m.s
        if x % 4 == VERTEX:
            new_y = beyond_edge(hulls, m.y, j, m.R * vertex_place(hulls, m.x, i) + m.t)
            if new_y == 0:
                new_x = segment_beyond_vertex(hulls, m.x, i, tail, head)
        else:
            new_x = segment_beyond_edge(hulls, m.x, i, tail, head)
            if new_x == 0:
                p, q = edge_places(hulls, m.x, i)
                new_y = segment_beyond_edge(hulls, m.y, j, m.R * p + m.t, m.R * q + m.t)
    if new_x != 0:
        return new_x, y, MOVED
    if new_y != 0:
        return x, new_y, MOVED
    return x, y, APART
