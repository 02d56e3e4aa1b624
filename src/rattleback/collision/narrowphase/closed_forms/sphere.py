"""Balls against every solid: how far their centres are from its core, in closed form.

    separation = d(x) − r_a − r_b      normal = R n(x)      x = Rᵀ (p − c)

p centre of the ball, c, R place of the other solid, d, n signed distance from its core and normal at the nearest point,
r_a, r_b the shells. This is exact apart, touching and overlapping alike: the shortest way of a ball out of a convex
solid is that of its centre plus its radius.

Reference: Ericson (2005), Real-Time Collision Detection, chapter 5; Bender, dissertation, §2.2.3.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import BOX, CONE, CYLINDER, ELLIPSOID, HULL, KINDS, PLANE, Solid, load
from rattleback.collision.narrowphase.closed_forms.ellipsoid import point_ellipsoid
from rattleback.collision.narrowphase.closed_forms.nearest import Nearest, point_box, point_plane, point_segment
from rattleback.collision.narrowphase.closed_forms.point_cylinder_cone import point_cone, point_cylinder
from rattleback.collision.narrowphase.closed_forms.point_polyhedron import point_hull, point_triangle
from rattleback.collision.narrowphase.closest import Closest, Found, swapped, with_shells, write_found
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import vec3


@wp.func
def point_core(x: vec3, solid: Solid, hulls: Hulls) -> Nearest:
    """The point of a core's surface nearest to x, in the solid's own frame."""
    s = solid.size
    if solid.kind == BOX:
        return point_box(x, s)
    if solid.kind == CYLINDER:
        return point_cylinder(x, s[0], s[2])
    if solid.kind == CONE:
        return point_cone(x, s[0], s[2])
    if solid.kind == ELLIPSOID:
        return point_ellipsoid(x, s)
    if solid.kind == PLANE:
        return point_plane(x)
    if solid.kind == HULL:
        if solid.count == 3:
            k = solid.first
            return point_triangle(x, hulls.vertex[k], hulls.vertex[k + 1], hulls.vertex[k + 2])
        return point_hull(x, solid.hull, hulls)
    return point_segment(x, s[2])


@wp.func
def ball_solid(a: Solid, b: Solid, hulls: Hulls) -> Closest:
    """A ball A and any solid B."""
    near = point_core(wp.transpose(b.rotation) * (a.position - b.position), b, hulls)
    core = Closest()
    core.separation = near.distance
    core.normal = b.rotation * near.normal
    core.point_a = a.position
    core.point_b = b.position + b.rotation * near.point
    return with_shells(core, a.round, b.round)


@kernel
def find_balls(
    items: Items,
    colliders: Colliders,
    places: Places,
    hulls: Hulls,
    handles: wp.array[wp.int32],
    found: Found,
    lanes: int,
) -> None:
    """Look at the pairs of a ball and another solid whose kinds are marked."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        a = items.a[i]
        b = items.b[i]
        if items.kept[i] == 1 or handles[colliders.kind[a] * KINDS + colliders.kind[b]] == 0:
            continue
        turned = colliders.kind[a] > colliders.kind[b]
        origin = places.position[a]
        ball = load(colliders, places, wp.where(turned, b, a), items.part[i], origin)
        other = load(colliders, places, wp.where(turned, a, b), items.part[i], origin)
        answer = ball_solid(ball, other, hulls)
        if turned:
            answer = swapped(answer)
        write_found(found, i, answer)
