"""Clipping: the corners at which the support faces of two convex solids overlap, each with its gap and feature id.

    s(x, y) = z_A(x, y) − z_B(x, y)        z_A, z_B heights of the two faces along the contact normal

Seen along the normal, the support faces are two convex outlines. Corners of their overlap are corners of one outline
inside the other and crossings of their edges. Corners with a gap s above ``max_gap`` are left out. No point of the
overlap is nearer than the nearest points of the solids. Where no corner is as near as these, as at the rim of a disc,
the nearest points are one more corner.

A corner takes its feature id from the vertex of A near it, else from that of B, else from the two edges that cross
there. Small motions leave feature ids as they are, even where corners of A and B coincide.

Reference: Bender, dissertation, §4.5.1.3; overview of physics engines, contact regions.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import fetch
from rattleback.core.precision import epsilon, real, vec3, vec4

# Parts of the size of the manifold: points nearer than this are one; a vertex this near gives a corner its id.
SAME = wp.constant(real(1e-7))
VERTEX_RANGE = wp.constant(real(0.02))
# Feature ids: vertices of A as they are, of B from here on, crossings of the edges that begin at a vertex of either.
OF_B = wp.constant(1024)
CROSSING = wp.constant(1048576)
# The nearest points are a corner of their own if all others are this part of the size less deep.
SHALLOW = wp.constant(real(1e-6 if epsilon < 1e-10 else 1e-3))
# And, of faces that are all but parallel, this part of the contact distance.
SUNK = wp.constant(real(0.02))
# How many items before it is read the manifold of an item is prefetched.
SOON = wp.constant(8)


@group(axis="items")
class Manifolds:
    """The contact manifold of every item; its points lie in the slots of the item."""

    normal: vec3 = field("1", "unit normal from B to A")
    sensitivity: real = field(
        "1", "1 / sin² of the angle between two edges of boxes that the normal is across, else zero"
    )
    points: wp.int32 = field("1", "number of points; zero where the solids do not touch")
    point: vec3 = field("m", "middle between the two surfaces, world frame", axis="slots")
    separation: real = field("m", "signed distance of the surfaces along the normal", axis="slots")
    feature: wp.int32 = field("1", "feature id of the point within its item", axis="slots")
    same_rows: wp.int32 = field("1", "1 where its points keep their rows of the contact list")


@wp.func
def fetch_soon(manifolds: Manifolds, m: int, most: int) -> None:
    """Prefetch the manifold of an item that comes soon: many have no points, so the reads are unpredictable."""
    slot = (m + SOON) * most
    fetch(manifolds.point, slot)
    fetch(manifolds.point, slot + 3)
    fetch(manifolds.separation, slot)
    fetch(manifolds.feature, slot)


@wp.struct
class Faces:
    """Two faces seen along the normal, each one point, the two ends of an edge, or a loop.

    Point k of A is entry 2 k of an array, of B entry 2 k + 1: (x, y, feature id). Their heights are plane · (x, y, 1).
    """

    of_a: wp.int32
    of_b: wp.int32
    plane_a: vec3
    plane_b: vec3
    size: real
    max_gap: real


@wp.func
def apart(faces: Faces, x: real, y: real) -> real:
    """Separation of the surfaces at (x, y)."""
    d = faces.plane_a - faces.plane_b
    return d[0] * x + d[1] * y + d[2]


@wp.func
def left_of(line: vec4, x: vec3) -> real:
    """How far (x, y) lies to the left of a line, times the length of its edge: inside, for an edge of a loop."""
    return line[0] * x[0] + line[1] * x[1] + line[2]


@wp.func
def draw_lines(point: wp.array[vec3], line: wp.array[vec4], of_b: int, n: int) -> None:
    """Write the line through every edge of a face, and its length squared; a clockwise loop is turned round."""
    area = real(0.0)
    for k in range(2, n):
        p = point[2 * k - 2 + of_b] - point[of_b]
        q = point[2 * k + of_b] - point[of_b]
        area += p[0] * q[1] - p[1] * q[0]
    if area < real(0.0):
        for k in range(n // 2):
            i = 2 * k + of_b
            j = 2 * (n - 1 - k) + of_b
            x = point[i]
            point[i] = point[j]
            point[j] = x
    for k in range(n):
        start = point[2 * k + of_b]
        end = point[wp.where(k + 1 < n, 2 * k + 2, 0) + of_b]
        ex = end[0] - start[0]
        ey = end[1] - start[1]
        line[2 * k + of_b] = vec4(-ey, ex, ey * start[0] - ex * start[1], ex * ex + ey * ey)


@wp.func
def add_corner(corner: wp.array[vec4], count: int, x: vec4, near: real) -> int:
    """Add a corner unless one is there already; returns how many there are."""
    for k in range(count):
        dx = corner[k][0] - x[0]
        dy = corner[k][1] - x[1]
        if dx * dx + dy * dy <= near * near:
            return count
    if count == corner.shape[0]:
        return count
    corner[count] = x
    return count + 1


@wp.func
def corners_inside(
    faces: Faces, point: wp.array[vec3], line: wp.array[vec4], corner: wp.array[vec4], count: int, of_b: int
) -> int:
    """Add the corners of one face that lie inside the other; returns how many corners there are."""
    near = SAME * faces.size
    n = wp.where(of_b == 1, faces.of_a, faces.of_b)
    if n < 3:
        return count
    for k in range(wp.where(of_b == 1, faces.of_b, faces.of_a)):
        x = point[2 * k + of_b]
        s = apart(faces, x[0], x[1])
        if s <= faces.max_gap:
            within = bool(True)
            for m in range(n):
                edge = line[2 * m + 1 - of_b]
                left = left_of(edge, x)
                if left < real(0.0) and left * left > near * near * edge[3]:
                    within = False
            if within:
                count = add_corner(corner, count, vec4(x[0], x[1], s, x[2] + real(of_b * OF_B)), near)
    return count


@wp.func
def find_corners(faces: Faces, point: wp.array[vec3], line: wp.array[vec4], corner: wp.array[vec4]) -> int:
    """The corners (x, y, gap, feature id) of the overlap of two faces, those not too far apart; their number."""
    count = corners_inside(faces, point, line, corner, 0, 0)
    count = corners_inside(faces, point, line, corner, count, 1)
    for i in range(wp.where(faces.of_a == 2, 1, faces.of_a)):
        p = point[2 * i]
        q = point[wp.where(i + 1 < faces.of_a, 2 * i + 2, 0)]
        edge = line[2 * i]
        for j in range(wp.where(faces.of_b == 2, 1, faces.of_b)):
            dp = left_of(line[2 * j + 1], p)
            dq = left_of(line[2 * j + 1], q)
            if (dp < real(0.0)) != (dq < real(0.0)):
                start = point[2 * j + 1]
                end = point[wp.where(j + 1 < faces.of_b, 2 * j + 3, 1)]
                if (left_of(edge, start) < real(0.0)) != (left_of(edge, end) < real(0.0)):
                    part = dp / (dp - dq)
                    x = p[0] + part * (q[0] - p[0])
                    y = p[1] + part * (q[1] - p[1])
                    s = apart(faces, x, y)
                    if s <= faces.max_gap:
                        name = real(CROSSING) + real(OF_B) * p[2] + start[2]
                        count = add_corner(corner, count, vec4(x, y, s, name), SAME * faces.size)
    return count


@wp.func
def add_deepest(corner: wp.array[vec4], count: int, nearest: vec4, shallow: real) -> int:
    """Add the nearest points to the corners if all of these are less deep, in the place of the last if need be."""
    for k in range(count):
        if corner[k][2] <= nearest[2] + shallow:
            return count
    more = wp.min(count + 1, corner.shape[0])
    corner[more - 1] = nearest
    return more


@wp.func
def nearby_vertex(point: wp.array[vec3], of_b: int, n: int, x: vec4, near: real) -> real:
    """Feature id of the vertex of a face next to a corner; negative if none is near."""
    name = real(-1.0)
    best = near * near
    for k in range(n):
        p = point[2 * k + of_b]
        square = (p[0] - x[0]) * (p[0] - x[0]) + (p[1] - x[1]) * (p[1] - x[1])
        if square < best:
            best = square
            name = p[2] + real(of_b * OF_B)
    return name


@wp.func
def is_unused(corner: wp.array[vec4], count: int, name: real) -> bool:
    """Whether a feature id is valid and no corner has it."""
    for k in range(count):
        if corner[k][3] == name:
            return False
    return name >= real(0.0)


@wp.func
def assign_feature_ids(faces: Faces, point: wp.array[vec3], corner: wp.array[vec4], count: int) -> None:
    """Give every corner the id of a vertex near it, of A if there is one, each vertex once."""
    near = VERTEX_RANGE * faces.size
    for k in range(count):
        x = corner[k]
        if x[3] >= real(OF_B):
            name = nearby_vertex(point, 0, faces.of_a, x, near)
            if not is_unused(corner, count, name):
                name = real(-1.0)
                if x[3] >= real(CROSSING):
                    name = nearby_vertex(point, 1, faces.of_b, x, near)
            if is_unused(corner, count, name):
                corner[k] = vec4(x[0], x[1], x[2], name)
