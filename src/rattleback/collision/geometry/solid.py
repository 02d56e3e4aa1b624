"""A convex solid at its place, as kernels see it, and the point of it that lies farthest in a direction.

    s(d) = c + R argmax { d' · x : x in the core }      d' = Rᵀ d

c, R place of the solid's own frame, d a direction. Every solid is a core with a shell of thickness ``round`` around it:
a sphere is a point with a shell, a capsule a segment with one, and a margin is a shell on anything. Distances are found
between cores, where GJK is exact, and the shells are subtracted.

==========  ============================================================  ==========================================
Kind        Core, in its own frame                                        ``size``
==========  ============================================================  ==========================================
SPHERE      the origin                                                    unused
CAPSULE     a segment along z                                             (0, 0, half its length)
BOX         a block                                                       half its edges
CYLINDER    a circular cylinder along z                                   (radius, radius, half its length)
CONE        base at z = −h, apex at z = +h                                (radius, radius, half its height h)
ELLIPSOID   an ellipsoid                                                  its radii
HULL        the hull of its vertices; three of them for a triangle        unused
PLANE       the half-space z ≤ 0; has no farthest point                   unused
MESH        a surface of triangles; met triangle by triangle, as hulls    half the edges of its box
==========  ============================================================  ==========================================

Reference: van den Bergen (2003), chapter 4; Bender, dissertation, §2.2.3.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.core.precision import mat33, real, vec3

SPHERE = wp.constant(0)
CAPSULE = wp.constant(1)
BOX = wp.constant(2)
CYLINDER = wp.constant(3)
CONE = wp.constant(4)
ELLIPSOID = wp.constant(5)
HULL = wp.constant(6)
PLANE = wp.constant(7)
MESH = wp.constant(8)
# Number of kinds: tables of pairs of kinds have so many rows and columns.
KINDS = wp.constant(9)


@wp.struct
class Solid:
    """A solid: what it is, how large, and where."""

    kind: wp.int32
    size: vec3
    round: real
    hull: wp.int32
    first: wp.int32
    count: wp.int32
    position: vec3
    rotation: mat33


@wp.func
def load(colliders: Colliders, places: Places, i: int, part: int, origin: vec3) -> Solid:
    """A collider seen from ``origin``, in the axes of the world; of a mesh, its triangle ``part``."""
    solid = Solid()
    solid.kind = colliders.kind[i]
    solid.size = colliders.size[i]
    solid.round = colliders.round[i]
    solid.hull = colliders.hull[i]
    solid.first = colliders.first[i]
    solid.count = colliders.count[i]
    solid.position = places.position[i] - origin
    solid.rotation = places.rotation[i]
    if solid.kind == MESH:
        solid.kind = HULL
        solid.size = vec3()
        solid.first = solid.first + 3 * part
        solid.count = 3
    return solid


@wp.func
def load_whole(colliders: Colliders, places: Places, i: int, origin: vec3) -> Solid:
    """A collider seen from ``origin``, in the axes of the world; of a mesh, the box around all of its triangles."""
    solid = load(colliders, places, i, 0, origin)
    if colliders.kind[i] == MESH:
        solid.kind = BOX
        solid.size = colliders.size[i]
        solid.position += solid.rotation * colliders.center[i]
    return solid


@wp.func
def support_local(solid: Solid, hulls: Hulls, d: vec3) -> vec3:
    """A point of the core farthest along d, both in the solid's own frame; d may have any length."""
    s = solid.size
    if solid.kind == BOX:
        return vec3(
            wp.where(d[0] < real(0.0), -s[0], s[0]),
            wp.where(d[1] < real(0.0), -s[1], s[1]),
            wp.where(d[2] < real(0.0), -s[2], s[2]),
        )
    if solid.kind == HULL:
        best = hulls.vertex[solid.first]
        high = wp.dot(best, d)
        for k in range(solid.first + 1, solid.first + solid.count):
            x = hulls.vertex[k]
            along = wp.dot(x, d)
            if along > high:
                high = along
                best = x
        return best
    if solid.kind == CAPSULE:
        return vec3(real(0.0), real(0.0), wp.where(d[2] < real(0.0), -s[2], s[2]))
    if solid.kind == ELLIPSOID:
        e = wp.cw_mul(s, d)
        length = wp.length(e)
        if length == real(0.0):
            return vec3(s[0], real(0.0), real(0.0))
        return wp.cw_mul(s, e) / length
    if solid.kind == CYLINDER or solid.kind == CONE:
        across = wp.sqrt(d[0] * d[0] + d[1] * d[1])
        # The apex of a cone lies farther than its rim where 2 h d_z > r |d_xy|.
        if solid.kind == CONE and real(2.0) * s[2] * d[2] > s[0] * across:
            return vec3(real(0.0), real(0.0), s[2])
        z = wp.where(d[2] < real(0.0) or solid.kind == CONE, -s[2], s[2])
        if across == real(0.0):
            return vec3(s[0], real(0.0), z)
        return vec3(s[0] * d[0] / across, s[0] * d[1] / across, z)
    return vec3(real(0.0), real(0.0), real(0.0))


@wp.func
def support(solid: Solid, hulls: Hulls, d: vec3) -> vec3:
    """A point of the core farthest along d, in the frame the solid is seen in."""
    return solid.position + solid.rotation * support_local(solid, hulls, wp.transpose(solid.rotation) * d)


@wp.func
def has_half_extent(solid: Solid) -> bool:
    """Whether ``half_extent`` knows the core; the box around any other one follows from its support points."""
    if solid.kind == SPHERE or solid.kind == CAPSULE or solid.kind == BOX:
        return True
    return solid.kind == CYLINDER or solid.kind == ELLIPSOID


@wp.func
def half_extent(solid: Solid) -> vec3:
    """Half the size of the smallest box along the axes around a core that is symmetric about its origin."""
    R = solid.rotation
    s = solid.size
    if solid.kind == BOX:
        return vec3(
            wp.abs(R[0, 0]) * s[0] + wp.abs(R[0, 1]) * s[1] + wp.abs(R[0, 2]) * s[2],
            wp.abs(R[1, 0]) * s[0] + wp.abs(R[1, 1]) * s[1] + wp.abs(R[1, 2]) * s[2],
            wp.abs(R[2, 0]) * s[0] + wp.abs(R[2, 1]) * s[1] + wp.abs(R[2, 2]) * s[2],
        )
    half = vec3(real(0.0), real(0.0), real(0.0))
    for k in range(3):
        if solid.kind == CAPSULE:
            half[k] = wp.abs(R[k, 2]) * s[2]
        elif solid.kind == ELLIPSOID:
            half[k] = wp.length(vec3(R[k, 0] * s[0], R[k, 1] * s[1], R[k, 2] * s[2]))
        elif solid.kind == CYLINDER:
            half[k] = wp.abs(R[k, 2]) * s[2] + s[0] * wp.length(vec3(R[k, 0], R[k, 1], real(0.0)))
    return half


@wp.func
def middle(solid: Solid, hulls: Hulls) -> vec3:
    """A point inside the core, in the frame the solid is seen in."""
    if solid.kind != HULL:
        return solid.position
    if solid.count != 3:
        return solid.position + solid.rotation * hulls.center[solid.hull]
    third = hulls.vertex[solid.first] + hulls.vertex[solid.first + 1] + hulls.vertex[solid.first + 2]
    return solid.position + solid.rotation * (third / real(3.0))
