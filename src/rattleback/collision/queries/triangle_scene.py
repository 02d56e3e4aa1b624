"""The scene of rays and nearest-point queries: colliders under a tree of boxes, the triangles of surfaces under theirs.

A ray meets a triangle abc, seen from its origin, where the three products

    u = d · (c × b)      v = d · (a × c)      w = d · (b × a)

have one sign; the point is (u a + v b + w c) / (u + v + w). A point is inside a surface that is solid behind its
triangles where a ray upward first meets one of them from behind.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.geometry import bvh
from rattleback.collision.geometry.bvh import Tree
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import HULL, PLANE, Solid
from rattleback.collision.geometry.surface_table import Surfaces, tree_of
from rattleback.collision.geometry.world_poses import FAR
from rattleback.collision.narrowphase.closed_forms.nearest import Nearest, direction
from rattleback.collision.narrowphase.closed_forms.point_polyhedron import point_triangle
from rattleback.collision.queries.bvh_walk import Walk, next_near, point_probe, ray_probe
from rattleback.collision.queries.line_interval import to_shell
from rattleback.core.precision import epsilon, real, vec3

# Rays this near to an edge, relative to the corners, meet both of its triangles, so that none slips through.
SEAM = wp.constant(real(8.0 * epsilon))
# A ray straight up would meet edges and corners wherever coordinates are round; one a little tilted does not.
UPWARD = wp.constant(vec3(0.83 * epsilon**0.5, 0.57 * epsilon**0.5, 1.0))


@wp.struct
class Scenery:
    """Colliders that are tested, and the trees over them and over the triangles of surfaces."""

    colliders: Colliders
    hulls: Hulls
    places: Places
    surfaces: Surfaces
    triangles: Tree
    tree: Tree
    leaves: wp.int32
    endless: wp.array[wp.int32]
    seen: wp.array[wp.int32]


@wp.struct
class Hit:
    """Where a ray meets something; a distance of FAR for nowhere."""

    distance: real
    normal: vec3
    collider: wp.int32
    triangle: wp.int32


def scenery_of(arrangement: Any, seen: Any) -> Scenery:
    """The scenery of an arrangement.

    Args:
        arrangement: Colliders where they are.
        seen: One entry for each collider, 0 for those to be passed over.
    """
    geometry, places, device = arrangement.geometry, arrangement.places, arrangement.device
    out = Scenery()
    out.colliders, out.hulls, out.places, out.surfaces = geometry.colliders, geometry.hulls, places, geometry.surfaces
    out.triangles = tree_of(geometry.surfaces)
    wanted = np.asarray(seen, dtype=bool)
    finite = np.flatnonzero(wanted & (arrangement.kind != int(PLANE)))
    lower, upper = (array.numpy()[finite][None] for array in (places.lower, places.upper))
    out.tree = bvh.build(lower, upper, device) if len(finite) else Tree()
    if len(finite):
        item = out.tree.item.numpy()
        out.tree.item.assign(np.where(item >= 0, finite[item], -1).astype(np.int32))
    out.leaves = len(out.tree.item) // 2 if len(finite) else 0
    endless = np.flatnonzero(wanted & (arrangement.kind == int(PLANE))).astype(np.int32)
    out.endless = wp.array(endless, dtype=wp.int32, device=device)
    out.seen = wp.array(wanted.astype(np.int32), dtype=wp.int32, device=device)
    return out


@wp.func
def triangle_of(surface_corner: int, t: int) -> Solid:
    """A triangle of a surface as a solid in the surface's frame."""
    out = Solid()
    out.kind = HULL
    out.hull = -1
    out.first = surface_corner + 3 * t
    out.count = 3
    return out


@wp.func
def ray_triangle(o: vec3, d: vec3, p: vec3, q: vec3, r: vec3) -> Hit:
    """Where a ray meets a triangle, from either side; the normal faces the ray."""
    out = Hit()
    out.distance = FAR
    a = p - o
    b = q - o
    c = r - o
    u = wp.dot(d, wp.cross(c, b))
    v = wp.dot(d, wp.cross(a, c))
    w = wp.dot(d, wp.cross(b, a))
    seam = SEAM * wp.max(wp.dot(a, a), wp.max(wp.dot(b, b), wp.dot(c, c)))
    total = u + v + w
    inside = (u >= -seam and v >= -seam and w >= -seam) or (u <= seam and v <= seam and w <= seam)
    if not inside or wp.abs(total) <= seam:
        return out
    t = wp.dot(d, (u * a + v * b + w * c) / total)
    if t >= real(0.0):
        n = direction(wp.cross(q - p, r - p), -d)
        out.distance = t
        out.normal = wp.where(wp.dot(n, d) > real(0.0), -n, n)
    return out


@wp.func
def cast_surface(scenery: Scenery, i: int, o: vec3, d: vec3, far: real, shell: real) -> Hit:
    """The first triangle of collider i, or the shell around it, that a ray meets, in the collider's own frame."""
    surface = scenery.colliders.hull[i]
    root = scenery.surfaces.root[surface]
    leaves = scenery.surfaces.leaves[surface]
    corner = scenery.surfaces.corner[surface]
    probe = ray_probe(o, d)
    probe.wider = shell
    best = Hit()
    best.distance = far
    best.triangle = -1
    walk = next_near(scenery.triangles, root, leaves, Walk(), probe, best.distance)
    while walk.node > 0:
        t = scenery.triangles.item[root + walk.node]
        k = corner + 3 * t
        hit = ray_triangle(o, d, scenery.hulls.vertex[k], scenery.hulls.vertex[k + 1], scenery.hulls.vertex[k + 2])
        if shell > real(0.0):
            solid = triangle_of(corner, t)
            solid.round = shell
            line = to_shell(o, d, real(0.0), solid, scenery.hulls)
            hit.distance = line.enter
            hit.normal = line.normal
            if line.enter == real(0.0):
                hit.normal = -d
        if hit.distance < best.distance or (hit.distance == best.distance and best.triangle >= 0 and t < best.triangle):
            best = hit
            best.triangle = t
        walk = next_near(scenery.triangles, root, leaves, walk, probe, best.distance)
    if best.triangle < 0:
        best.distance = FAR
    return best


@wp.func
def is_behind(scenery: Scenery, i: int, x: vec3) -> bool:
    """Whether a point is inside what a surface encloses, in its own frame."""
    surface = scenery.colliders.hull[i]
    if scenery.surfaces.solid[surface] == 0:
        return False
    hit = cast_surface(scenery, i, x, UPWARD, real(0.25) * FAR, real(0.0))
    if hit.distance >= FAR:
        return False
    return scenery.surfaces.normal[scenery.surfaces.first[surface] + hit.triangle][2] > real(0.0)


@wp.func
def on_triangle(scenery: Scenery, surface: int, t: int, x: vec3) -> Nearest:
    """The point of a triangle nearest to x, in the frame of its surface."""
    k = scenery.surfaces.corner[surface] + 3 * t
    return point_triangle(x, scenery.hulls.vertex[k], scenery.hulls.vertex[k + 1], scenery.hulls.vertex[k + 2])


@wp.func
def nearest_triangle(scenery: Scenery, surface: int, x: vec3, far: real) -> int:
    """The triangle nearest to x among those nearer than ``far``; −1 if there is none."""
    root = scenery.surfaces.root[surface]
    leaves = scenery.surfaces.leaves[surface]
    probe = point_probe(x)
    distance = far
    best = int(-1)
    walk = next_near(scenery.triangles, root, leaves, Walk(), probe, distance)
    while walk.node > 0:
        t = scenery.triangles.item[root + walk.node]
        near = on_triangle(scenery, surface, t, x)
        if near.distance < distance:
            distance = near.distance
            best = t
        walk = next_near(scenery.triangles, root, leaves, walk, probe, distance)
    return best


@wp.func
def near_surface(scenery: Scenery, i: int, x: vec3, far: real) -> Nearest:
    """The point of a surface nearest to x, in its own frame, or only ``far`` if it is no nearer; not signed."""
    surface = scenery.colliders.hull[i]
    out = Nearest()
    out.distance = far
    t = nearest_triangle(scenery, surface, x, far)
    if t >= 0:
        out = on_triangle(scenery, surface, t, x)
    return out
