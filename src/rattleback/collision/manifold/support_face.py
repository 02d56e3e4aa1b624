"""Support faces: the face, edge or point of a convex solid farthest along a direction, projected along the normal.

Of the faces at the support vertex, a box and a hull give the one whose normal is nearest to the direction. A cylinder
and a cone give the disc at an end, as an octagon with a corner where the disc is lowest, or the line along their side.
A capsule gives its segment. A solid that is round in every direction gives a single point.
"""

import math

import warp as wp

from rattleback.collision.geometry.colliders import Hulls
from rattleback.collision.geometry.solid import BOX, CAPSULE, CONE, CYLINDER, HULL, PLANE, Solid
from rattleback.core.precision import mat33, real, vec3

DISC_CORNERS = wp.constant(8)
EIGHTH = wp.constant(real(0.25 * math.pi))
# A disc faces along a direction if it is nearer to its normal than the line along the side is.
STEEP = wp.constant(real(math.sqrt(0.5)))
# A disc that leans less than this has its corners where they are on the body, so that names last [rad].
LEVEL = wp.constant(real(5e-4))


@wp.struct
class SupportFace:
    """Number of points of an outline, and its height plane · (x, y, 1)."""

    count: wp.int32
    plane: vec3


@wp.func
def across(normal: vec3) -> mat33:
    """Two axes across a unit normal and the normal itself, as rows of a rotation."""
    sign = wp.where(normal[2] < real(0.0), real(-1.0), real(1.0))
    a = real(-1.0) / (sign + normal[2])
    b = normal[0] * normal[1] * a
    u = vec3(real(1.0) + sign * normal[0] * normal[0] * a, sign * b, -sign * normal[0])
    v = vec3(b, sign + normal[1] * normal[1] * a, -normal[1])
    return mat33(u[0], u[1], u[2], v[0], v[1], v[2], normal[0], normal[1], normal[2])


@wp.func
def named(x: vec3, name: int) -> vec3:
    """A point of an outline: (x, y, name)."""
    return vec3(x[0], x[1], real(name))


@wp.func
def tilted(normal: vec3, through: vec3) -> vec3:
    """Height plane · (x, y, 1) of the plane with this normal through a point, both in the view."""
    gx = -normal[0] / normal[2]
    gy = -normal[1] / normal[2]
    return vec3(gx, gy, through[2] - gx * through[0] - gy * through[1])


@wp.func
def sloping(p: vec3, q: vec3) -> vec3:
    """Height plane · (x, y, 1) of the level plane across a line through two points."""
    ex = q[0] - p[0]
    ey = q[1] - p[1]
    square = ex * ex + ey * ey
    rise = wp.where(square > real(0.0), (q[2] - p[2]) / square, real(0.0))
    return vec3(rise * ex, rise * ey, p[2] - rise * (ex * p[0] + ey * p[1]))


@wp.func
def box_face(solid: Solid, view: mat33, toward: real, point: wp.array[vec3]) -> SupportFace:
    """The face of a box; corners are numbered by their signs, as in hull_table."""
    turn = view * solid.rotation
    center = view * solid.position
    h = solid.size
    axis = int(0)
    if wp.abs(turn[2, 1]) > wp.abs(turn[2, 0]):
        axis = 1
    if wp.abs(turn[2, 2]) > wp.abs(turn[2, axis]):
        axis = 2
    up = wp.where(toward * turn[2, axis] >= real(0.0), real(1.0), real(-1.0))
    i = wp.where(axis == 2, 0, axis + 1)
    j = wp.where(i == 2, 0, i + 1)
    e = h[i] * vec3(turn[0, i], turn[1, i], turn[2, i])
    f = h[j] * vec3(turn[0, j], turn[1, j], turn[2, j])
    normal = vec3(turn[0, axis], turn[1, axis], turn[2, axis])
    middle = center + up * h[axis] * normal
    of_b = wp.where(toward < real(0.0), 0, 1)
    base = wp.where(up > real(0.0), 1 << axis, 0)
    point[of_b] = named(middle - e - f, base)
    point[of_b + 2] = named(middle + e - f, base + (1 << i))
    point[of_b + 4] = named(middle + e + f, base + (1 << i) + (1 << j))
    point[of_b + 6] = named(middle - e + f, base + (1 << j))
    out = SupportFace()
    out.count = 4
    out.plane = tilted(normal, middle)
    return out


@wp.func
def hull_face(solid: Solid, hulls: Hulls, view: mat33, toward: real, point: wp.array[vec3]) -> SupportFace:
    """The face of a hull, or a triangle as it is; of a face with very many corners, some of them."""
    turn = view * solid.rotation
    center = view * solid.position
    of_b = wp.where(toward < real(0.0), 0, 1)
    out = SupportFace()
    if solid.count == 3:
        p = center + turn * hulls.vertex[solid.first]
        q = center + turn * hulls.vertex[solid.first + 1]
        r = center + turn * hulls.vertex[solid.first + 2]
        point[of_b] = named(p, 0)
        point[of_b + 2] = named(q, 1)
        point[of_b + 4] = named(r, 2)
        out.count = 3
        out.plane = tilted(wp.cross(q - p, r - p), p)
        return out
    # Only faces at the vertex that lies farthest show the place of contact; others may face the same way.
    up = toward * vec3(turn[2, 0], turn[2, 1], turn[2, 2])
    far = solid.first
    for k in range(solid.first + 1, solid.first + solid.count):
        if wp.dot(hulls.vertex[k], up) > wp.dot(hulls.vertex[far], up):
            far = k
    best = int(-1)
    high = real(-2.0)
    for k in range(hulls.vertex_edge[far], hulls.vertex_edge[far] + hulls.vertex_edges[far]):
        for side in range(2):
            f = wp.where(side == 0, hulls.edge_left[hulls.spoke[k]], hulls.edge_right[hulls.spoke[k]])
            plane = hulls.plane[f]
            along = plane[0] * up[0] + plane[1] * up[1] + plane[2] * up[2]
            if along > high:
                high = along
                best = f
    corners = hulls.face_corners[best]
    out.count = wp.min(corners, point.shape[0] // 2)
    for k in range(out.count):
        vertex = hulls.corner[hulls.face_corner[best] + (k * corners) // out.count]
        point[2 * k + of_b] = named(center + turn * hulls.vertex[vertex], (vertex - solid.first) % 1024)
    plane = hulls.plane[best]
    some = center + turn * hulls.vertex[hulls.corner[hulls.face_corner[best]]]
    out.plane = tilted(turn * vec3(plane[0], plane[1], plane[2]), some)
    return out


@wp.func
def disc_face(solid: Solid, view: mat33, toward: real, z: real, point: wp.array[vec3]) -> SupportFace:
    """The disc of a cylinder or cone at height z of its own frame, as an octagon; leaning, with a corner deepest."""
    turn = view * solid.rotation
    of_b = wp.where(toward < real(0.0), 0, 1)
    normal = vec3(turn[0, 2], turn[1, 2], turn[2, 2])
    middle = view * solid.position + z * normal
    start = real(0.0)
    if turn[2, 0] * turn[2, 0] + turn[2, 1] * turn[2, 1] > LEVEL * LEVEL:
        start = wp.atan2(toward * turn[2, 1], toward * turn[2, 0])
    # Corners stay on the body but for the turn to the deepest point, by less than an eighth, so that names last.
    steps = wp.round(start / EIGHTH)
    angle = start - steps * EIGHTH
    for k in range(DISC_CORNERS):
        local = vec3(solid.size[0] * wp.cos(angle), solid.size[0] * wp.sin(angle), real(0.0))
        point[2 * k + of_b] = named(middle + turn * local, k)
        angle = angle + EIGHTH
    out = SupportFace()
    out.count = DISC_CORNERS
    out.plane = tilted(normal, middle)
    return out


@wp.func
def edge_face(p: vec3, q: vec3, toward: real, point: wp.array[vec3]) -> SupportFace:
    """A line between two points of the view."""
    of_b = wp.where(toward < real(0.0), 0, 1)
    point[of_b] = named(p, 0)
    point[of_b + 2] = named(q, 1)
    out = SupportFace()
    out.count = 2
    out.plane = sloping(p, q)
    return out


@wp.func
def support_face(solid: Solid, hulls: Hulls, view: mat33, toward: real, point: wp.array[vec3]) -> SupportFace:
    """The support face of a core along toward × the normal, written for A (toward −1) or B (toward +1)."""
    if solid.kind == BOX:
        return box_face(solid, view, toward, point)
    if solid.kind == HULL:
        return hull_face(solid, hulls, view, toward, point)
    turn = view * solid.rotation
    center = view * solid.position
    axis = vec3(turn[0, 2], turn[1, 2], turn[2, 2])
    s = solid.size
    if solid.kind == PLANE:
        of_b = wp.where(toward < real(0.0), 0, 1)
        e = s[0] * vec3(turn[0, 0], turn[1, 0], turn[2, 0])
        f = s[1] * vec3(turn[0, 1], turn[1, 1], turn[2, 1])
        point[of_b] = named(center - e - f, 0)
        point[of_b + 2] = named(center + e - f, 1)
        point[of_b + 4] = named(center + e + f, 2)
        point[of_b + 6] = named(center - e + f, 3)
        square = SupportFace()
        square.count = 4
        square.plane = tilted(axis, center)
        return square
    if solid.kind == CAPSULE and s[2] > real(0.0):
        return edge_face(center - s[2] * axis, center + s[2] * axis, toward, point)
    if solid.kind == CYLINDER or solid.kind == CONE:
        up = toward * turn[2, 2]
        lean = wp.sqrt(turn[2, 0] * turn[2, 0] + turn[2, 1] * turn[2, 1])
        if solid.kind == CYLINDER and wp.abs(up) > STEEP:
            return disc_face(solid, view, toward, wp.where(up < real(0.0), -s[2], s[2]), point)
        # The line along a cone's side faces along (2 h, r), its base along (0, −1).
        slant = wp.length(vec3(real(2.0) * s[2], s[0], real(0.0)))
        if solid.kind == CONE and -up * slant > real(2.0) * s[2] * lean + s[0] * up:
            return disc_face(solid, view, toward, -s[2], point)
        if lean > real(0.0):
            rim = vec3(toward * s[0] * turn[2, 0] / lean, toward * s[0] * turn[2, 1] / lean, real(0.0))
            low = center + turn * rim - s[2] * axis
            high = center + s[2] * axis
            if solid.kind == CYLINDER:
                high = high + turn * rim
            return edge_face(low, high, toward, point)
    out = SupportFace()
    out.count = 1
    return out
