"""Half-spaces against every convex solid: the solid's lowest point above the plane.

    separation = n · (s(−n) − c) − r_a − r_b

n, c normal of the plane and a point of it, s support of the solid's core, r_a, r_b the shells. It is exact apart,
touching and overlapping alike: the shortest way out of a half-space is along its normal. Cost: one support point.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import PLANE, Solid, load, support
from rattleback.collision.narrowphase.closest import Closest, Found, swapped, with_shells, write_found
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3


@wp.func
def solid_plane(a: Solid, b: Solid, hulls: Hulls) -> Closest:
    """A convex solid A and a half-space B."""
    core = Closest()
    core.normal = b.rotation * vec3(real(0.0), real(0.0), real(1.0))
    core.point_a = support(a, hulls, -core.normal)
    core.separation = wp.dot(core.normal, core.point_a - b.position)
    core.point_b = core.point_a - core.separation * core.normal
    return with_shells(core, a.round, b.round)


@kernel
def find_planes(items: Items, colliders: Colliders, places: Places, hulls: Hulls, found: Found, lanes: int) -> None:
    """Look at the pairs of a half-space and a convex solid."""
    for i in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        if items.kept[i] == 1:
            continue
        a = items.a[i]
        b = items.b[i]
        turned = colliders.kind[a] == PLANE
        if turned == (colliders.kind[b] == PLANE):
            continue
        origin = places.position[a]
        solid = load(colliders, places, wp.where(turned, b, a), items.part[i], origin)
        plane = load(colliders, places, wp.where(turned, a, b), items.part[i], origin)
        answer = solid_plane(solid, plane, hulls)
        if turned:
            answer = swapped(answer)
        write_found(found, i, answer)


def record_planes(program: Any, geometry: Any, items: Items, places: Places, found: Found) -> None:
    """Record the launch that tests half-spaces, where there are any."""
    if PLANE in geometry.kinds:
        program.share(find_planes, len(items.a), items, geometry.colliders, places, geometry.hulls, found)
