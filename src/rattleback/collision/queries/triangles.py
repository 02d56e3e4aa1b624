"""Which triangles of a surface can be nearest to another collider.

    u = |x − q|      x a point of the other collider, q the point of the surface nearest to it

The two are no farther apart than u, so only triangles whose box comes within u of the other collider's box matter.
Under a bound on the distances of interest, u is that at most.
"""

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from rattleback.collision.bvh import next_leaf
from rattleback.collision.queries.arrangement import Arrangement
from rattleback.collision.queries.scenery import Scenery, near_surface, scenery_of
from rattleback.collision.solid import MESH, PLANE, load, middle
from rattleback.core.device import load_kernels
from rattleback.core.precision import epsilon, real, vec3

ROUNDING = wp.constant(real(64.0 * epsilon))


@wp.struct
class Window:
    """A box in the frame of a surface."""

    lower: vec3
    upper: vec3


@wp.func
def window(scenery: Scenery, mesh: int, other: int, gap: real) -> Window:
    """The box, in the frame of a surface, in which the triangles lie that can be nearest to another collider."""
    places = scenery.places
    R = places.rotation[mesh]
    solid = load(scenery.colliders, places, other, -1, places.position[mesh])
    x = wp.transpose(R) * middle(solid, scenery.hulls)
    shells = scenery.colliders.round[mesh] + scenery.colliders.round[other]
    reach = near_surface(scenery, mesh, x, gap + shells).distance
    half = real(0.5) * (places.upper[other] - places.lower[other])
    offset = real(0.5) * (places.upper[other] + places.lower[other]) - places.position[mesh]
    grow = reach + scenery.colliders.round[mesh] + ROUNDING * (wp.length(offset) + wp.length(half) + reach)
    wide = vec3(grow, grow, grow)
    for k in range(3):
        wide[k] += wp.abs(R[0, k]) * half[0] + wp.abs(R[1, k]) * half[1] + wp.abs(R[2, k]) * half[2]
    center = wp.transpose(R) * offset
    out = Window()
    out.lower = center - wide
    out.upper = center + wide
    return out


@wp.kernel(enable_backward=False)
def list_triangles(
    scenery: Scenery,
    a: wp.array[wp.int32],
    b: wp.array[wp.int32],
    gap: real,
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
    box = window(scenery, mesh, other, gap)
    root = scenery.surfaces.root[surface]
    leaves = scenery.surfaces.leaves[surface]
    found = int(0)
    leaf = next_leaf(scenery.triangles, root, leaves, 0, box.lower, box.upper)
    while leaf > 0:
        if filling:
            part[at + found] = scenery.triangles.item[root + leaf]
        found = found + 1
        leaf = next_leaf(scenery.triangles, root, leaves, leaf, box.lower, box.upper)
    count[k] = found


def split(
    arrangement: Arrangement, a: NDArray[Any], b: NDArray[Any], gap: float
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The triangles to look at for pairs of colliders.

    Args:
        arrangement: Colliders where they are.
        a: First colliders (pairs,).
        b: Second colliders (pairs,); no pair has two surfaces.
        gap: Distance of interest [m].

    Returns:
        For every triangle the pair it belongs to, and its number; −1 for the one part of a pair without a surface.
    """
    device, pairs = arrangement.device, len(a)
    if int(MESH) not in arrangement.kind:
        return np.arange(pairs), np.full(pairs, -1, dtype=np.int32)
    scenery = scenery_of(arrangement, np.zeros(len(arrangement.kind)))
    rows = [wp.array(column.astype(np.int32), dtype=wp.int32, device=device) for column in (a, b)]
    count, nowhere = wp.zeros(pairs, dtype=wp.int32, device=device), wp.zeros(0, dtype=wp.int32, device=device)
    load_kernels([list_triangles.module], device)
    wp.launch(list_triangles, pairs, inputs=[scenery, *rows, gap, count, nowhere, nowhere], device=device)
    counts = count.numpy().copy()
    first = wp.array((np.cumsum(counts) - counts).astype(np.int32), dtype=wp.int32, device=device)
    part = wp.zeros(int(counts.sum()), dtype=wp.int32, device=device)
    wp.launch(list_triangles, pairs, inputs=[scenery, *rows, gap, count, first, part], device=device)
    return np.repeat(np.arange(pairs), counts), part.numpy()
