"""Which triangles of a surface can be nearest to another collider.

    u = separation(A, the triangle nearest to a point of A) ≥ separation(A, the surface)

A the other collider. Only triangles that come within u of A's box and of a ball around it matter.
"""

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from rattleback.collision.geometry.bvh import next_leaf
from rattleback.collision.geometry.solid import MESH, PLANE, load, middle
from rattleback.collision.geometry.world_poses import FAR
from rattleback.collision.queries.placed_colliders import Arrangement
from rattleback.collision.queries.triangle_scene import Scenery, nearest_triangle, on_triangle, scenery_of
from rattleback.core.device import load_kernels
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, numpy_real, real, vec3

ROUNDING = wp.constant(real(64.0 * epsilon))


@wp.struct
class Window:
    """A box in the frame of a surface, and a ball around its middle."""

    lower: vec3
    upper: vec3
    center: vec3
    radius: real


@wp.func
def window(scenery: Scenery, mesh: int, other: int, bound: real) -> Window:
    """The box and the ball, in the frame of a surface, that all triangles meet within a bound of another collider."""
    places = scenery.places
    R = places.rotation[mesh]
    half = real(0.5) * (places.upper[other] - places.lower[other])
    offset = real(0.5) * (places.upper[other] + places.lower[other]) - places.position[mesh]
    grow = bound + scenery.colliders.round[mesh]
    grow = grow + ROUNDING * (wp.length(offset) + wp.length(half) + grow)
    wide = vec3(grow, grow, grow)
    for k in range(3):
        wide[k] += wp.abs(R[0, k]) * half[0] + wp.abs(R[1, k]) * half[1] + wp.abs(R[2, k]) * half[2]
    center = wp.transpose(R) * offset
    out = Window()
    out.lower = center - wide
    out.upper = center + wide
    out.center = center
    out.radius = wp.length(half) + grow
    return out


@kernel
def find_first(scenery: Scenery, a: wp.array[wp.int32], b: wp.array[wp.int32], part: wp.array[wp.int32]) -> None:
    """For every pair with a surface, the triangle nearest to a point of the other collider; −1 without a surface."""
    k = wp.tid()
    mesh = a[k]
    other = b[k]
    if scenery.colliders.kind[mesh] != MESH:
        mesh = b[k]
        other = a[k]
    part[k] = -1
    if scenery.colliders.kind[mesh] == MESH:
        places = scenery.places
        solid = load(scenery.colliders, places, other, -1, places.position[mesh])
        x = wp.transpose(places.rotation[mesh]) * middle(solid, scenery.hulls)
        part[k] = wp.max(0, nearest_triangle(scenery, scenery.colliders.hull[mesh], x, real(0.25) * FAR))


@kernel
def list_triangles(
    scenery: Scenery,
    a: wp.array[wp.int32],
    b: wp.array[wp.int32],
    bound: wp.array[real],
    count: wp.array[wp.int32],
    first: wp.array[wp.int32],
    part: wp.array[wp.int32],
) -> None:
    """Count the triangles of every pair, or write them where ``part`` has room; without a surface, one part −1."""
    k = wp.tid()
    mesh = a[k]
    other = b[k]
    if scenery.colliders.kind[mesh] != MESH:
        mesh = b[k]
        other = a[k]
    filling = part.shape[0] > 0
    at = int(0)
    if filling:
        at = first[k]
    if scenery.colliders.kind[mesh] != MESH:
        if filling:
            part[at] = -1
        count[k] = 1
        return
    surface = scenery.colliders.hull[mesh]
    if scenery.colliders.kind[other] == PLANE:
        count[k] = scenery.surfaces.triangles[surface]
        if filling:
            for t in range(scenery.surfaces.triangles[surface]):
                part[at + t] = t
        return
    box = window(scenery, mesh, other, bound[k])
    root = scenery.surfaces.root[surface]
    leaves = scenery.surfaces.leaves[surface]
    found = int(0)
    leaf = next_leaf(scenery.triangles, root, leaves, 0, box.lower, box.upper)
    while leaf > 0:
        t = scenery.triangles.item[root + leaf]
        if on_triangle(scenery, surface, t, box.center).distance <= box.radius:
            if filling:
                part[at + found] = t
            found = found + 1
        leaf = next_leaf(scenery.triangles, root, leaves, leaf, box.lower, box.upper)
    count[k] = found


def first_parts(arrangement: Arrangement, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int32]:
    """For pairs of colliders a triangle that is near, of the one that is a surface; −1 without a surface."""
    scenery, rows = _inputs(arrangement, a, b)
    part = wp.zeros(len(a), dtype=wp.int32, device=arrangement.device)
    wp.launch(find_first, len(a), inputs=[scenery, *rows, part], device=arrangement.device)
    result: NDArray[np.int32] = part.numpy()
    return result


def split(
    arrangement: Arrangement, a: NDArray[Any], b: NDArray[Any], bound: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The triangles to look at for pairs of colliders.

    Args:
        arrangement: Colliders where they are.
        a: First colliders (pairs,).
        b: Second colliders (pairs,); no pair has two surfaces.
        bound: For every pair a distance that is not less than its own [m], or all that is of interest.

    Returns:
        For every triangle the pair it belongs to, and its number; −1 for the one part of a pair without a surface.
    """
    device, pairs = arrangement.device, len(a)
    if int(MESH) not in arrangement.kind:
        return np.arange(pairs), np.full(pairs, -1, dtype=np.int32)
    scenery, rows = _inputs(arrangement, a, b)
    rows.append(wp.array(bound.astype(numpy_real), dtype=real, device=device))
    count, nowhere = wp.zeros(pairs, dtype=wp.int32, device=device), wp.zeros(0, dtype=wp.int32, device=device)
    wp.launch(list_triangles, pairs, inputs=[scenery, *rows, count, nowhere, nowhere], device=device)
    counts = count.numpy().copy()
    first = wp.array((np.cumsum(counts) - counts).astype(np.int32), dtype=wp.int32, device=device)
    part = wp.zeros(int(counts.sum()), dtype=wp.int32, device=device)
    wp.launch(list_triangles, pairs, inputs=[scenery, *rows, count, first, part], device=device)
    return np.repeat(np.arange(pairs), counts), part.numpy()


def _inputs(arrangement: Arrangement, a: NDArray[Any], b: NDArray[Any]) -> tuple[Scenery, list[Any]]:
    load_kernels([list_triangles.module], arrangement.device)
    scenery = scenery_of(arrangement, np.zeros(len(arrangement.kind)))
    return scenery, [wp.array(rows.astype(np.int32), dtype=wp.int32, device=arrangement.device) for rows in (a, b)]
