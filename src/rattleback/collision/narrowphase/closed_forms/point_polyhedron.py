"""The point of a convex polyhedron's or a triangle's surface nearest to a point, by looking at every face and edge.

    inside:   distance = max_f (n_f · x − c_f)
    outside:  the foot on the face or edge whose region x lies in, else the nearest vertex

n_f, c_f plane of face f. Outside, x lies in one region: of a face when it is above it and to the left of all its edges,
of an edge when it is beside it and to the right of it in both its faces. Regions are told apart by signs, because the
distances of two features differ too little near their common border. A triangle has two sides and no inside; its
distance is never negative, and for a point on it the normal is that of its corners seen anticlockwise. Cost: one pass
over the faces, and one over the edges where an edge or a vertex is nearest.

Reference: Ericson (2005), Real-Time Collision Detection, section 5.1.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.narrowphase.closed_forms.nearest import Nearest, direction, perpendicular
from rattleback.core.precision import epsilon, real, vec3, vec4

# A point this near to an edge, relative to the coordinates, has no direction from it but rounding.
TOUCHING = wp.constant(real(16.0 * epsilon))


@wp.func
def way_from_edge(x: vec3, tail: vec3, head: vec3) -> vec3:
    """The way to x from the point of a segment nearest to it, told from the nearer end to keep its digits."""
    edge = head - tail
    way = x - tail
    square = wp.dot(edge, edge)
    along = wp.dot(way, edge)
    if real(2.0) * along > square:
        way = x - head
        edge = -edge
        along = wp.dot(way, edge)
    if along <= real(0.0):
        return way
    return way - (along / square) * edge


@wp.func
def is_beside(x: vec3, tail: vec3, head: vec3) -> bool:
    """Whether the point of a segment nearest to x lies between its ends."""
    edge = head - tail
    return wp.dot(x - tail, edge) > real(0.0) and wp.dot(head - x, edge) > real(0.0)


@wp.func
def is_right_of(way: vec3, edge: vec3, plane: vec4) -> bool:
    """Whether a way from an edge leads out of the face whose loop runs along it."""
    return wp.dot(wp.cross(vec3(plane[0], plane[1], plane[2]), edge), way) <= real(0.0)


@wp.func
def foot(hulls: Hulls, face: int, x: vec3) -> Nearest:
    """The point of a face's plane below x."""
    plane = hulls.plane[face]
    out = Nearest()
    out.normal = vec3(plane[0], plane[1], plane[2])
    out.distance = wp.dot(out.normal, x) - plane[3]
    out.point = x - out.distance * out.normal
    return out


@wp.func
def is_over(hulls: Hulls, face: int, x: vec3) -> bool:
    """Whether x lies straight above or below a face."""
    plane = hulls.plane[face]
    n = vec3(plane[0], plane[1], plane[2])
    first = hulls.face_corner[face]
    count = hulls.face_corners[face]
    tail = hulls.vertex[hulls.corner[first + count - 1]]
    for k in range(first, first + count):
        head = hulls.vertex[hulls.corner[k]]
        if wp.dot(wp.cross(n, head - tail), x - tail) < real(0.0):
            return False
        tail = head
    return True


@wp.func
def point_hull(x: vec3, hull: int, hulls: Hulls) -> Nearest:
    """A convex polyhedron, by its row in the tables."""
    first = hulls.first_face[hull]
    last = first + hulls.faces[hull]
    out = foot(hulls, first, x)
    for f in range(first + 1, last):
        plane = hulls.plane[f]
        if wp.dot(vec3(plane[0], plane[1], plane[2]), x) - plane[3] > out.distance:
            out = foot(hulls, f, x)
    if out.distance <= real(0.0):
        return out
    for f in range(first, last):
        over = foot(hulls, f, x)
        if over.distance > real(0.0) and is_over(hulls, f, x):
            return over
    first_edge = hulls.first_edge[hull]
    way = x - hulls.vertex[hulls.edge_tail[first_edge]]
    length = real(0.0)
    for e in range(first_edge, first_edge + hulls.edges[hull]):
        tail = hulls.vertex[hulls.edge_tail[e]]
        head = hulls.vertex[hulls.edge_head[e]]
        other = way_from_edge(x, tail, head)
        found = is_beside(x, tail, head) and is_right_of(other, head - tail, hulls.plane[hulls.edge_left[e]])
        found = found and is_right_of(other, tail - head, hulls.plane[hulls.edge_right[e]])
        if found or wp.length_sq(other) < wp.length_sq(way):
            way = other
            length = wp.length(head - tail)
        if found:
            break
    distance = wp.length(way)
    if distance > TOUCHING * (wp.length(x) + length):
        out.distance = distance
        out.point = x - way
        out.normal = way / distance
    return out


@wp.func
def point_triangle(x: vec3, a: vec3, b: vec3, c: vec3) -> Nearest:
    """A triangle with these corners."""
    across = wp.cross(b - a, c - a)
    longer = b - a
    if wp.length_sq(c - a) > wp.length_sq(longer):
        longer = c - a
    n = direction(across, perpendicular(longer))
    out = Nearest()
    over = wp.dot(wp.cross(n, b - a), x - a) >= real(0.0) and wp.dot(wp.cross(n, c - b), x - b) >= real(0.0)
    if over and wp.dot(wp.cross(n, a - c), x - c) >= real(0.0) and wp.length_sq(across) > real(0.0):
        height = wp.dot(n, x - a)
        out.normal = wp.where(height < real(0.0), -n, n)
        out.distance = wp.abs(height)
        out.point = x - height * n
        return out
    way = x - a
    tail = c
    head = a
    for k in range(3):
        other = way_from_edge(x, tail, head)
        found = is_beside(x, tail, head) and wp.dot(wp.cross(n, head - tail), other) <= real(0.0)
        if found or wp.length_sq(other) < wp.length_sq(way):
            way = other
        if found:
            break
        tail = head
        head = wp.where(k == 0, b, c)
    out.distance = wp.length(way)
    out.point = x - way
    out.normal = n
    if out.distance > TOUCHING * (wp.length(a) + wp.length(b) + wp.length(c)):
        out.normal = way / out.distance
    return out
