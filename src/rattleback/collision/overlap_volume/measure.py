"""The overlap of two convex bodies as a solid: volume, centroid, moments, and the region it covers along the normal.

    V = ∫ dV      c = (1/V) ∫ r dV      C = ∫ (r − c)(r − c)ᵀ dV      S = ∫ dS      D = ∫ (r − b)(r − b)ᵀ dS

V, c, C volume, centroid and second moments of A ∩ B; S, b, D area, centroid and second moments of its shadow along the
contact normal. With a pressure in proportion to the local depth the contact force goes with V and acts at c; V / S is
the mean depth, and D tells how friction resists turning. All are right to rounding, for two polyhedra (boxes, hulls), a
polyhedron and a half-space (``clip_solid``), two balls, a ball and a half-space (``lens``). Other
round solids are tested by the query only, as polyhedra inscribed in them. The shell that a margin adds to a box or a
hull is left out.

Reference: overview of physics engines, kinds of contact information (shape of the contact part).
"""

from typing import Any

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import BOX, HULL, PLANE, SPHERE, load
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.overlap_volume.clip_solid import Integrals, Workbench, cut_by_all, integrate, spread_out
from rattleback.collision.overlap_volume.lens import ball_half_space, two_balls
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, real, vec3

APART = wp.constant(0)
OVERLAPPING = wp.constant(1)
UNKNOWN = wp.constant(2)
NO_ROOM = wp.constant(3)

# Heights over a plane that are zero but for rounding, in sizes of the two solids.
ROUNDING = wp.constant(real(8.0 * epsilon))
# Memory for edges at work on a GPU [B], and the most workers that share it.
MEMORY = 2**28
MOST_WORKERS = 2**14


@group(axis="items")
class Volumes:
    """The overlap of every item; places are relative to that of collider A, in the axes of the world."""

    status: wp.int32 = field("1", "0 apart, 1 overlapping, 2 not known for these kinds, 3 too many edges at work")
    volume: real = field("m³", "volume of the overlap")
    centroid: vec3 = field("m", "its centroid")
    second_moments: mat33 = field("m⁵", "its second moments about the centroid")
    area_a: real = field("m²", "area of the part of its surface that belongs to A")
    area_b: real = field("m²", "area of the part that belongs to B; what belongs to both is counted once")
    region_area: real = field("m²", "area of its shadow along the contact normal")
    region_centroid: vec3 = field("m", "centroid of the shadow, in the plane through the centroid of the overlap")
    region_moments: mat33 = field("m⁴", "second moments of the shadow about its centroid")


@wp.func
def is_polyhedron(kind: int) -> bool:
    """Whether a collider has a table of faces."""
    return kind == BOX or kind == HULL


@wp.func
def write_volume(volumes: Volumes, i: int, answer: Integrals, kept_b: bool, shift: vec3) -> None:
    """Keep the answer for item i; ``kept_b`` where the face numbers were those of B."""
    volumes.volume[i] = answer.volume
    volumes.centroid[i] = answer.centroid + shift
    volumes.second_moments[i] = answer.moments
    volumes.area_a[i] = wp.where(kept_b, answer.area_cut, answer.area_kept)
    volumes.area_b[i] = wp.where(kept_b, answer.area_kept, answer.area_cut)
    volumes.region_area[i] = answer.region
    volumes.region_centroid[i] = answer.region_centroid + shift
    volumes.region_moments[i] = answer.region_moments


@wp.func
def find_volume(
    items: Items,
    colliders: Colliders,
    places: Places,
    hulls: Hulls,
    n: vec3,
    bench: Workbench,
    volumes: Volumes,
    i: int,
) -> int:
    """Measure the overlap of one item; returns its status. Each worker has a part of the bench to itself."""
    a = items.a[i]
    b = items.b[i]
    # The smaller solid is cut by the larger one; half-spaces have no end.
    swap = colliders.kind[a] == PLANE or (colliders.kind[b] != PLANE and colliders.reach[b] < colliders.reach[a])
    small = wp.where(swap, b, a)
    large = wp.where(swap, a, b)
    shift = places.position[small] - places.position[a]
    first = load(colliders, places, small, 0, places.position[small])
    other = load(colliders, places, large, 0, places.position[small])
    kind = colliders.kind[large]
    answer = Integrals()
    if is_polyhedron(colliders.kind[small]) and (is_polyhedron(kind) or kind == PLANE):
        near = ROUNDING * (colliders.reach[small] + wp.max(colliders.reach[large], real(0.0)))
        kept = hulls.faces[first.hull]
        body = spread_out(bench, i % bench.workers, first, hulls)
        body = cut_by_all(bench, body, other, hulls, kept, near)
        if body.full == 1:
            return NO_ROOM
        if body.edges == 0:
            return APART
        answer = integrate(bench, body, kept, n)
        if answer.volume <= real(2.0) * near * (answer.area_kept + answer.area_cut) or answer.region <= real(0.0):
            return APART
    elif colliders.kind[small] == SPHERE and kind == SPHERE:
        answer = two_balls(first.position, other.position, first.round, other.round, wp.where(swap, -n, n))
    elif colliders.kind[small] == SPHERE and kind == PLANE:
        up = other.rotation * vec3(real(0.0), real(0.0), real(1.0))
        answer = ball_half_space(first.position, first.round, up, wp.dot(up, other.position) + other.round)
    else:
        return UNKNOWN
    if answer.volume <= real(0.0):
        return APART
    write_volume(volumes, i, answer, swap, shift)
    return OVERLAPPING


@kernel
def find_volumes(
    items: Items,
    colliders: Colliders,
    places: Places,
    hulls: Hulls,
    found: Found,
    bench: Workbench,
    volumes: Volumes,
) -> None:
    """Measure the overlaps of all items; a worker does every item so many after its first."""
    i = wp.tid()
    count = wp.min(items.needed[0], items.a.shape[0])
    while i < count:
        status = int(APART)
        write_volume(volumes, i, Integrals(), False, vec3(real(0.0), real(0.0), real(0.0)))
        if found.separation[i] < real(0.0):
            status = find_volume(items, colliders, places, hulls, found.normal[i], bench, volumes, i)
        volumes.status[i] = status
        i += bench.workers


def workbench(geometry: Any, items: int) -> Any:
    """A workbench on which the overlaps of so many items are measured.

    A polyhedron of f faces has fewer than 6 f directed edges, and f is at most the number of faces of both solids. On
    the CPU there is one worker; on a GPU as many as MEMORY holds.
    """
    counts = geometry.hulls.faces.numpy()
    room = 12 * int(counts.max(initial=0)) + 32
    bytes_each = 2 * room * (2 * wp.types.type_size_in_bytes(vec3) + 4)
    most = min(MOST_WORKERS, max(1, MEMORY // bytes_each)) if geometry.device.is_cuda else 1
    bench = Workbench()
    bench.room, bench.workers = room, max(1, min(items, most))
    entries = 2 * room * bench.workers
    bench.tail = wp.zeros(entries, dtype=vec3, device=geometry.device)
    bench.head = wp.zeros(entries, dtype=vec3, device=geometry.device)
    bench.face = wp.zeros(entries, dtype=wp.int32, device=geometry.device)
    return bench


def record_volumes(program: Any, geometry: Any, items: Any, places: Any, found: Any, volumes: Any) -> None:
    """Record the launch that measures the overlaps of the items.

    Args:
        program: Where to record.
        geometry: Colliders and their tables.
        items: The items to test.
        places: Where the colliders are.
        found: What the narrow phase says of the items; only those it finds overlapping are measured.
        volumes: Where the answers go; its status tells which there are.
    """
    bench = workbench(geometry, items.a.shape[0])
    inputs = (items, geometry.colliders, places, geometry.hulls, found, bench, volumes)
    program.launch(find_volumes, min(bench.workers, items.a.shape[0]), *inputs)
