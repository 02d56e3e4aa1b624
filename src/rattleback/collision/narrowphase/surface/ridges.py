"""The shortest way of a solid out of a surface that bulges, over ridges divided into many triangles.

    s = max { σ(n) }      σ(n) = min { n · y : y in the other core } − max { n · x : x a corner of the triangles }

n unit normals that the surface has. No single triangle knows s where the solid is deeper in a ridge than its edges are
long: each is left by its nearest border. But where the triangles of a pair all lie on the border of their convex hull,
that hull stands in for what they enclose. From the best of their normals, and of those found for single triangles that
the surface has, s is sought uphill, from up to ``STARTS`` directions, some between these. The triangle that has the
point of the surface carries the answer; the border of the hull that no triangle makes up does not count. Triangles that
only the stretched box reaches are left out.

Exact for shallow overlaps. Where the solid is deeper than a tenth of its size the maximum nearby need not be the
largest: one hull in 200 came out 1 % too deep. Only surfaces that are solid are tested, pairs of up to ``MOST``
triangles, and ``WORK`` triangles times directions; where triangles are hollow towards each other, or too many,
``surface_normals`` has to guess. Cost: n d products to see whether n triangles of d directions bulge, then a few
distances to their hull. Reference: derived here, after ``refine``.
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Hulls, PlacedColliders
from rattleback.collision.geometry.solid import MESH, SPHERE, Solid, load, support, support_local
from rattleback.collision.geometry.surface_table import Surfaces
from rattleback.collision.narrowphase.closed_forms.point_polyhedron import point_triangle
from rattleback.collision.narrowphase.closest import Closest, Found
from rattleback.collision.narrowphase.gjk.distance import largest
from rattleback.collision.narrowphase.gjk.refine import refined
from rattleback.collision.narrowphase.gjk.simplex import LARGE
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.surface.edges import NEAR, ON_FACE, Triangle, has_normal, triangle_at
from rattleback.core.arrays import allocate, each, field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3

# Most triangles of a pair that are tested, and most of them times most directions.
MOST = wp.constant(2048)
WORK = wp.constant(65536)
# Directions that are remembered, so that the triangles of a flat face are tested once.
SEEN = 16
# Most directions from which the way out is sought, and the angle by which they differ at least [rad].
STARTS = 10
ANOTHER = wp.constant(real(0.4))


@group(axis="items")
class Ridges:
    """The way out of what the triangles of a pair enclose, in the row of its first item."""

    carrier: wp.int32 = field("1", "item that has this answer; -1 where there is none")
    separation: real = field("m", "σ of the cores")
    normal: vec3 = field("1", "unit normal out of the surface")
    on_solid: vec3 = field("m", "point of the other core, from the place of collider A")
    on_surface: vec3 = field("m", "point of the surface's core, from there too")


@wp.struct
class Patch:
    """The triangles of a pair, whether their mesh is A, the hull of their corners, and the other solid."""

    first: wp.int32
    end: wp.int32
    turned: wp.bool
    surface: wp.int32
    hull: Solid
    other: Solid


@wp.func
def place_in(seen: wp.array[vec3], count: int, n: vec3) -> int:
    """Where a normal is among the last ones seen, ``count`` so far; −1 if it is not."""
    for k in range(wp.min(count, SEEN)):
        if seen[k] == n:
            return k
    return -1


@wp.func(inline=False)
def bulges(items: Items, patch: Patch, corners: Hulls, surfaces: Surfaces) -> bool:
    """Whether all triangles lie on the border of the hull of their corners."""
    row = surfaces.first[patch.surface]
    seen = wp.zeros(shape=(wp.static(SEEN),), dtype=vec3)
    top = wp.zeros(shape=(wp.static(SEEN),), dtype=vec3)
    count = int(0)
    for i in range(patch.first, patch.end):
        n = surfaces.normal[row + items.part[i]]
        k = place_in(seen, count, n)
        if k < 0:
            k = count % SEEN
            seen[k] = n
            top[k] = support_local(patch.hull, corners, n)
            count = count + 1
        way = top[k] - corners.vertex[patch.hull.first + 3 * (i - patch.first)]
        if count * (patch.end - patch.first) > WORK or wp.dot(n, way) > NEAR * wp.length(way):
            return False
    return True


@wp.func
def touches(patch: Patch, found: Found) -> bool:
    """Whether the other solid touches a triangle."""
    for i in range(patch.first, patch.end):
        if found.separation[i] <= real(0.0):
            return True
    return False


@wp.func
def gather_corners(items: Items, patch: Patch, hulls: Hulls, corners: Hulls, mesh_corner: int) -> None:
    """Write the corners of the triangles of a pair one after the other, which makes them a hull."""
    for i in range(patch.first, patch.end):
        for k in range(3):
            row = patch.hull.first + 3 * (i - patch.first) + k
            corners.vertex[row] = hulls.vertex[mesh_corner + 3 * items.part[i] + k]


@wp.func
def is_behind(items: Items, patch: Patch, corners: Hulls, surfaces: Surfaces) -> bool:
    """Whether the core of the other solid reaches behind the planes of all triangles."""
    row = surfaces.first[patch.surface]
    for i in range(patch.first, patch.end):
        n = patch.hull.rotation * surfaces.normal[row + items.part[i]]
        x = corners.vertex[patch.hull.first + 3 * (i - patch.first)]
        corner = patch.hull.position + patch.hull.rotation * x
        if wp.dot(n, support(patch.other, corners, -n) - corner) > real(0.0):
            return False
    return True


@wp.func(inline=False)
def along(patch: Patch, corners: Hulls, n: vec3) -> Closest:
    """The answer for the cores along a normal of the surface, the other solid as A."""
    out = Closest()
    out.normal = n
    out.point_a = support(patch.other, corners, -n)
    out.separation = wp.dot(n, out.point_a - support(patch.hull, corners, n))
    out.point_b = out.point_a - out.separation * n
    return out


@wp.func
def triangle_of(items: Items, patch: Patch, hulls: Hulls, surfaces: Surfaces, i: int) -> Triangle:
    """The triangle of an item, in its surface."""
    return triangle_at(patch.surface, items.part[i], patch.hull, hulls, surfaces)


@wp.func(inline=False)
def best_start(
    items: Items,
    patch: Patch,
    hulls: Hulls,
    corners: Hulls,
    surfaces: Surfaces,
    found: Found,
    former: wp.array[vec3],
    count: int,
) -> Closest:
    """The best answer along the normals of triangles, and along those found for one of them that the surface has.

    Normals near to the first ``count`` of ``former`` do not count; the separation is −LARGE where no others are.
    """
    best = Closest()
    best.separation = -LARGE
    seen = wp.zeros(shape=(wp.static(SEEN),), dtype=vec3)
    evaluated = int(0)
    for k in range(2 * (patch.end - patch.first)):
        i = patch.first + k // 2
        t = triangle_of(items, patch, hulls, surfaces, i)
        n = t.normal
        if k % 2 == 1:
            n = wp.where(patch.turned, -found.normal[i], found.normal[i])
        fresh = wp.length_sq(n) > real(0.5)
        if k % 2 == 1:
            fresh = fresh and found.separation[i] <= real(0.0)
        for m in range(count):
            fresh = fresh and wp.length(n - former[m]) > ANOTHER
        if fresh and place_in(seen, evaluated, n) < 0:
            answer = along(patch, corners, n)
            if k % 2 == 0:
                seen[evaluated % SEEN] = n
                evaluated = evaluated + 1
            if answer.separation > best.separation:
                q = wp.where(patch.turned, found.point_a[i], found.point_b[i]) - patch.hull.round * n
                if k % 2 == 0 or has_normal(t, hulls, surfaces, n, q):
                    best = answer
    return best


@wp.func
def holder(patch: Patch, corners: Hulls, x: vec3, near: real) -> int:
    """The first item whose triangle has a point x but for ``near``; −1 if none has."""
    local = wp.transpose(patch.hull.rotation) * (x - patch.hull.position)
    for i in range(patch.first, patch.end):
        k = patch.hull.first + 3 * (i - patch.first)
        if point_triangle(local, corners.vertex[k], corners.vertex[k + 1], corners.vertex[k + 2]).distance <= near:
            return i
    return -1


@wp.func(inline=False)
def carrier_of(
    items: Items, patch: Patch, hulls: Hulls, corners: Hulls, surfaces: Surfaces, answer: Closest, near: real
) -> int:
    """The item whose triangle has the point of an answer; −1 where the surface does not have it or its normal."""
    i = holder(patch, corners, answer.point_b, near)
    # Where the hull is closed by what is not a triangle, its border is no part of the surface.
    if i < 0:
        return -1
    t = triangle_of(items, patch, hulls, surfaces, i)
    turned = wp.length(answer.normal - t.normal) > ON_FACE * NEAR
    if turned and not has_normal(t, hulls, surfaces, answer.normal, answer.point_b):
        return -1
    return i


@wp.func
def patch_of(items: Items, placed: PlacedColliders, first: int, start: int) -> Patch:
    """The triangles of the pair that begins with an item; the corners of all items begin at row ``start``."""
    a = items.a[first]
    b = items.b[first]
    colliders = placed.colliders
    places = placed.places
    patch = Patch()
    patch.first = first
    patch.end = items.first[items.pair[first] + 1] - items.speculative_count[items.pair[first]]
    patch.turned = colliders.kind[a] == MESH
    patch.hull = load(colliders, places, wp.where(patch.turned, a, b), 0, places.position[a])
    patch.other = load(colliders, places, wp.where(patch.turned, b, a), 0, places.position[a])
    patch.surface = patch.hull.hull
    patch.hull.first = start + 3 * first
    patch.hull.count = 3 * (patch.end - first)
    return patch


@wp.func(inline=False)
def find_way_out(
    items: Items,
    patch: Patch,
    hulls: Hulls,
    corners: Hulls,
    surfaces: Surfaces,
    found: Found,
    ridges: Ridges,
    first: int,
) -> None:
    """The shortest way out of what bulges, in the row of the first item of its pair."""
    former = wp.zeros(shape=(wp.static(STARTS),), dtype=vec3)
    ridges.separation[first] = -LARGE
    between = int(0)
    for k in range(STARTS):
        guess = best_start(items, patch, hulls, corners, surfaces, found, former, k)
        if guess.separation == -LARGE and k > 1 and between < 3:
            # There are no other normals: so from between the first three.
            n = former[wp.where(between == 2, 1, 0)] + former[wp.where(between == 0, 1, 2)]
            guess = along(patch, corners, wp.normalize(n))
            between = between + 1
        if guess.separation == -LARGE or guess.separation >= real(0.0):
            break
        former[k] = guess.normal
        scale = wp.max(largest(guess.point_a), largest(guess.point_b))
        answer = guess
        carrier = carrier_of(items, patch, hulls, corners, surfaces, answer, NEAR * scale)
        # A point of a face that is under the solid's nearest one is a way out that cannot be bettered nearby.
        if carrier < 0:
            answer = refined(patch.other, patch.hull, corners, guess, scale)
            carrier = carrier_of(items, patch, hulls, corners, surfaces, answer, NEAR * scale)
        if carrier >= 0 and answer.separation > ridges.separation[first]:
            ridges.carrier[first] = carrier
            ridges.separation[first] = answer.separation
            ridges.normal[first] = answer.normal
            ridges.on_solid[first] = answer.point_a
            ridges.on_surface[first] = answer.point_b


@kernel
def find_ridges(
    items: Items,
    placed: PlacedColliders,
    corners: Hulls,
    surfaces: Surfaces,
    start: int,
    found: Found,
    ridges: Ridges,
    lanes: int,
) -> None:
    """For every pair with a surface that bulges, the shortest way out of it."""
    for first in range(wp.tid(), wp.min(items.needed[0], items.a.shape[0]), lanes):
        ridges.carrier[first] = -1
        if items.part[first] < 0 or items.first[items.pair[first]] != first:
            continue
        patch = patch_of(items, placed, first, start)
        if surfaces.solid[patch.surface] == 0 or patch.other.kind == SPHERE or patch.end - first > MOST:
            continue
        if touches(patch, found):
            gather_corners(items, patch, placed.hulls, corners, surfaces.corner[patch.surface])
            if is_behind(items, patch, corners, surfaces) and bulges(items, patch, corners, surfaces):
                find_way_out(items, patch, placed.hulls, corners, surfaces, found, ridges, first)


def record_ridges(program: Any, geometry: Any, items: Any, places: Any, found: Any) -> Any:
    """Record the launches that look for ridges, and say where they are kept.

    Args:
        program: Where to record.
        geometry: Colliders and their tables.
        items: The items tested.
        places: Where the colliders are.
        found: The answers for single triangles.
    """
    # Behind the vertices of hulls lie the corners of all triangles, here those of the items.
    count, start = int(items.a.shape[0]), int(geometry.hulls.vertex_edge.shape[0])
    corners = Hulls()
    for name, array in each(geometry.hulls):
        setattr(corners, name, array)
    corners.vertex = wp.zeros(start + 3 * count, dtype=vec3, device=geometry.device)
    if start:
        wp.copy(corners.vertex, geometry.hulls.vertex, count=start)
    ridges = allocate(Ridges, {"items": count}, geometry.device)
    placed = PlacedColliders()
    placed.colliders, placed.places, placed.hulls = geometry.colliders, places, geometry.hulls
    program.share(find_ridges, count, items, placed, corners, geometry.surfaces, start, found, ridges)
    return ridges
