"""Points, segments and polyhedra as sets of features: vertices, edges and faces, each named by one number.

    feature = 4 index + kind      kind: 1 vertex, 2 edge, 3 face; 0 is no feature

Indices count within one solid. The core of a sphere is a polyhedron of one vertex, that of a capsule one of two
vertices and an edge, so that what walks over features meets them like any other.

Reference: Mirtich (1998), V-Clip, §2; Bender, dissertation, §4.5.1.2.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import BOX, CAPSULE, SPHERE, Solid
from rattleback.core.precision import mat33, real, vec3

VERTEX = wp.constant(1)
EDGE = wp.constant(2)
FACE = wp.constant(3)


@wp.struct
class Polyhedron:
    """Where the features of a solid's core stand in the tables, and how large it is."""

    kind: wp.int32
    first_vertex: wp.int32
    first_edge: wp.int32
    first_face: wp.int32
    vertices: wp.int32
    edges: wp.int32
    faces: wp.int32
    half: vec3
    center: vec3


@wp.struct
class Meeting:
    """Two polyhedra X and Y and the ways between their frames, y = R x + t and x = S y + s.

    Both are kept: a step seen from either side must round alike, or two features could each be found nearer than the
    other for ever.
    """

    x: Polyhedron
    y: Polyhedron
    R: mat33
    t: vec3
    S: mat33
    s: vec3


@wp.func
def polyhedron_of(solid: Solid, hulls: Hulls) -> Polyhedron:
    """The features of the core of a sphere, a capsule, a box or a hull."""
    p = Polyhedron()
    p.kind = solid.kind
    p.half = solid.size
    if solid.kind == SPHERE or solid.kind == CAPSULE:
        p.vertices = wp.where(solid.kind == SPHERE or solid.size[2] == real(0.0), 1, 2)
        p.edges = p.vertices - 1
        return p
    p.first_vertex = hulls.first_vertex[solid.hull]
    p.first_edge = hulls.first_edge[solid.hull]
    p.first_face = hulls.first_face[solid.hull]
    p.vertices = hulls.vertices[solid.hull]
    p.edges = hulls.edges[solid.hull]
    p.faces = hulls.faces[solid.hull]
    p.center = hulls.center[solid.hull]
    return p


@wp.func
def meeting_of(a: Solid, b: Solid, hulls: Hulls) -> Meeting:
    """Two solids, A as X and B as Y."""
    m = Meeting()
    m.x = polyhedron_of(a, hulls)
    m.y = polyhedron_of(b, hulls)
    m.S = wp.transpose(a.rotation) * b.rotation
    m.R = wp.transpose(m.S)
    m.s = wp.transpose(a.rotation) * (b.position - a.position)
    m.t = wp.transpose(b.rotation) * (a.position - b.position)
    return m


@wp.func
def shifted(m: Meeting, way: vec3) -> Meeting:
    """The meeting with X moved by a way in the frame of Y."""
    out = m
    out.t = m.t + way
    out.s = m.s - m.S * way
    return out


@wp.func
def turned(m: Meeting) -> Meeting:
    """The same meeting with X and Y exchanged."""
    out = Meeting()
    out.x = m.y
    out.y = m.x
    out.R = m.S
    out.t = m.s
    out.S = m.R
    out.s = m.t
    return out


@wp.func
def vertex_place(hulls: Hulls, p: Polyhedron, v: int) -> vec3:
    """Place of a vertex."""
    if p.faces == 0:
        if p.vertices == 1:
            return vec3(real(0.0), real(0.0), real(0.0))
        return vec3(real(0.0), real(0.0), wp.where(v == 0, -p.half[2], p.half[2]))
    return hulls.vertex[p.first_vertex + v]


@wp.func
def edge_ends(hulls: Hulls, p: Polyhedron, e: int) -> tuple[int, int]:
    """The vertices an edge starts and ends at."""
    if p.faces == 0:
        return 0, 1
    return hulls.edge_tail[p.first_edge + e] - p.first_vertex, hulls.edge_head[p.first_edge + e] - p.first_vertex


@wp.func
def edge_places(hulls: Hulls, p: Polyhedron, e: int) -> tuple[vec3, vec3]:
    """Places of the two ends of an edge."""
    tail, head = edge_ends(hulls, p, e)
    return vertex_place(hulls, p, tail), vertex_place(hulls, p, head)


@wp.func
def face_plane(hulls: Hulls, p: Polyhedron, f: int) -> tuple[vec3, real]:
    """Outward unit normal of a face, and its distance from the origin."""
    plane = hulls.plane[p.first_face + f]
    return vec3(plane[0], plane[1], plane[2]), plane[3]


@wp.func
def edge_sides(hulls: Hulls, p: Polyhedron, e: int) -> tuple[int, int]:
    """The faces left and right of an edge."""
    return hulls.edge_left[p.first_edge + e] - p.first_face, hulls.edge_right[p.first_edge + e] - p.first_face


@wp.func
def edge_normals(hulls: Hulls, p: Polyhedron, e: int) -> tuple[vec3, vec3]:
    """Outward normals of the faces left and right of an edge."""
    left = hulls.plane[hulls.edge_left[p.first_edge + e]]
    right = hulls.plane[hulls.edge_right[p.first_edge + e]]
    return vec3(left[0], left[1], left[2]), vec3(right[0], right[1], right[2])


@wp.func
def spokes(hulls: Hulls, p: Polyhedron, v: int) -> tuple[int, int]:
    """Where the edges of a vertex stand in the list of spokes, and their number."""
    if p.faces == 0:
        return 0, p.edges
    return hulls.vertex_edge[p.first_vertex + v], hulls.vertex_edges[p.first_vertex + v]


@wp.func
def spoke_end(hulls: Hulls, p: Polyhedron, v: int, k: int) -> tuple[int, int]:
    """Entry k of the spokes, an edge of vertex v, and the vertex at its other end."""
    e = int(0)
    if p.faces > 0:
        e = hulls.spoke[k] - p.first_edge
    tail, head = edge_ends(hulls, p, e)
    return e, wp.where(tail == v, head, tail)


@wp.func
def spoke(hulls: Hulls, p: Polyhedron, v: int, k: int) -> tuple[int, vec3]:
    """Entry k of the spokes, an edge of vertex v, and the way along it from v to its other end."""
    e, other = spoke_end(hulls, p, v, k)
    return e, vertex_place(hulls, p, other) - vertex_place(hulls, p, v)


@wp.func
def farthest_vertex(hulls: Hulls, p: Polyhedron, d: vec3, v: int) -> int:
    """The vertex that lies farthest along d, found by climbing from vertex v along the edges."""
    if p.kind == BOX:
        zero = real(0.0)
        return wp.where(d[0] < zero, 0, 1) + wp.where(d[1] < zero, 0, 2) + wp.where(d[2] < zero, 0, 4)
    at = int(v)
    # Every round ends at a higher vertex, so there are fewer rounds than vertices.
    for _ in range(p.vertices):
        first, count = spokes(hulls, p, at)
        best = int(at)
        most = wp.dot(vertex_place(hulls, p, at), d)
        for k in range(first, first + count):
            _e, other = spoke_end(hulls, p, at, k)
            high = wp.dot(vertex_place(hulls, p, other), d)
            if high > most:
                most = high
                best = other
        if best == at:
            return at
        at = best
    return at


@wp.func
def inner_radius(hulls: Hulls, p: Polyhedron) -> real:
    """Radius of a ball around the centre that lies within, zero for points and segments."""
    if p.faces == 0:
        return real(0.0)
    if p.kind == BOX:
        return wp.min(p.half)
    least = real(wp.inf)
    for f in range(p.faces):
        n, d = face_plane(hulls, p, f)
        least = wp.min(least, d - wp.dot(n, p.center))
    return wp.max(least, real(0.0))


@wp.func
def nearest_on_segments(p: vec3, q: vec3, r: vec3, s: vec3) -> tuple[real, real]:
    """Where the segments p…q and r…s come closest, as parts of their lengths.

    The parameter of the first, ((r − p) × v) · (u × v) / |u × v|² with u = q − p, v = s − r, keeps its digits where the
    segments are almost parallel; the Gram determinant |u|²|v|² − (u·v)² would lose half of them.
    """
    u = q - p
    v = s - r
    c = wp.cross(u, v)
    cc = wp.dot(c, c)
    zero = real(0.0)
    one = real(1.0)
    x = real(0.0)
    if cc > zero:
        x = wp.clamp(wp.dot(wp.cross(r - p, v), c) / cc, zero, one)
    y = wp.dot(p + x * u - r, v) / wp.dot(v, v)
    if y < zero or y > one:
        y = wp.clamp(y, zero, one)
        x = wp.clamp(wp.dot(r + y * v - p, u) / wp.dot(u, u), zero, one)
    return x, y
