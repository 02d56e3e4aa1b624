"""Mid-phase: from pairs of colliders to items; a pair with a mesh becomes one item for each triangle near the other.

    c' = Rᵀ (c − p)      h' = |Rᵀ| (h + w) + r

c, h centre and half edges of the other collider's box, p, R pose of the mesh, w half the contact distance (that box
already holds the other half), r the shell of the mesh; c', h' the box that is looked up in the mesh's tree. The
triangles of a pair come in ascending order, on every device: first those in the present box, then those only in the box
stretched by a speculative margin. In order on a CPU, items are written one behind the other; in parallel on CUDA they
are counted, the counts added up, and the items filled in.

Cost: O(log n) boxes for each triangle found; without a mesh, one copy.
"""

from typing import Any

import warp as wp

from rattleback.collision.broadphase.listing import sort_row
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.bvh import Tree, next_leaf, overlap
from rattleback.collision.geometry.colliders import Colliders, Places, SpeculativeMargins
from rattleback.collision.geometry.solid import MESH
from rattleback.collision.geometry.surface_table import Surfaces, tree_of
from rattleback.collision.narrowphase.items import Items
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.core.sums import Sum

# Parts of the coordinates by which the box is widened against rounding.
ROUNDING = wp.constant(real(16.0 * epsilon))


@wp.struct
class MidphaseInput:
    """What the kernels read: colliders and their places, surfaces and their trees, half the contact distance.

    ``margins`` has the boxes before they were stretched; empty where they are not.
    """

    colliders: Colliders
    places: Places
    surfaces: Surfaces
    tree: Tree
    wider: real
    margins: SpeculativeMargins


@wp.struct
class Window:
    """A box in the frame of a mesh."""

    lower: vec3
    upper: vec3


@wp.func
def window(ground: MidphaseInput, mesh: int, other: int, lower: vec3, upper: vec3) -> Window:
    """The box in a mesh's frame in which the other collider, whose box is given, can meet its triangles."""
    half = real(0.5) * (upper - lower) + vec3(ground.wider, ground.wider, ground.wider)
    offset = real(0.5) * (upper + lower) - ground.places.position[mesh]
    R = ground.places.rotation[mesh]
    center = wp.transpose(R) * offset
    grow = ground.colliders.round[mesh] + ROUNDING * (wp.length(upper) + wp.length(offset))
    wide = vec3(grow, grow, grow)
    for k in range(3):
        wide[k] += wp.abs(R[0, k]) * half[0] + wp.abs(R[1, k]) * half[1] + wp.abs(R[2, k]) * half[2]
    out = Window()
    out.lower = center - wide
    out.upper = center + wide
    return out


@wp.func
def put_pair(ground: MidphaseInput, pairs: Pairs, k: int, items: Items, at: int, room: int) -> int:
    """Write the parts of the items of pair k, below ``room``; returns the place after the last.

    They are in any order, but those that are near now come first.
    """
    items.speculative_count[k] = 0
    mesh = pairs.a[k]
    other = pairs.b[k]
    if ground.colliders.kind[mesh] != MESH:
        mesh = pairs.b[k]
        other = pairs.a[k]
    if ground.colliders.kind[mesh] != MESH:
        if at < room:
            items.part[at] = -1
        return at + 1
    surface = ground.colliders.hull[mesh]
    root = ground.surfaces.root[surface]
    leaves = ground.surfaces.leaves[surface]
    lower = ground.places.lower[other]
    upper = ground.places.upper[other]
    box = window(ground, mesh, other, lower, upper)
    wide = box
    turns = int(1)
    if ground.margins.lower.shape[0] > 0:
        # What meets a mesh that moves itself is looked for from where the mesh is now.
        more = wp.length(ground.margins.travel[mesh]) + ground.margins.turn[mesh]
        drift = vec3(more, more, more)
        wide = window(ground, mesh, other, lower - drift, upper + drift)
        box = window(ground, mesh, other, ground.margins.lower[other], ground.margins.upper[other])
        turns = 2
    near = box
    to = at
    for turn in range(turns):
        leaf = next_leaf(ground.tree, root, leaves, 0, box.lower, box.upper)
        while leaf > 0:
            node = root + leaf
            if turn == 0 or not overlap(ground.tree.lower[node], ground.tree.upper[node], near.lower, near.upper):
                if to < room:
                    items.part[to] = ground.tree.item[node]
                to = to + 1
                items.speculative_count[k] = items.speculative_count[k] + turn
            leaf = next_leaf(ground.tree, root, leaves, leaf, box.lower, box.upper)
        box = wide
    return to


@wp.func
def finish_pair(pairs: Pairs, k: int, items: Items, at: int, to: int) -> None:
    """Sort the parts of the items of pair k, write the rest of these items, and say where they begin."""
    room = items.part.shape[0]
    first = wp.min(at, room)
    end = wp.min(to, room)
    items.first[k] = first
    later = wp.max(first, wp.min(to - items.speculative_count[k], room))
    sort_row(items.part, first, later)
    sort_row(items.part, later, end)
    for m in range(first, end):
        items.a[m] = pairs.a[k]
        items.b[m] = pairs.b[k]
        items.pair[m] = k


@kernel
def copy_pairs(pairs: Pairs, items: Items, lanes: int) -> None:
    """One item for each pair, where there are no meshes."""
    count = wp.min(pairs.needed[0], pairs.a.shape[0])
    room = items.a.shape[0]
    if wp.tid() == 0:
        items.needed[0] = pairs.needed[0]
        items.first[count] = wp.min(count, room)
    for k in range(wp.tid(), count, lanes):
        items.first[k] = wp.min(k, room)
        if k < room:
            items.a[k] = pairs.a[k]
            items.b[k] = pairs.b[k]
            items.part[k] = -1
            items.pair[k] = k


@kernel
def split_serially(ground: MidphaseInput, pairs: Pairs, items: Items) -> None:
    """All items, in order."""
    room = items.part.shape[0]
    count = wp.min(pairs.needed[0], pairs.a.shape[0])
    at = int(0)
    for k in range(count):
        to = put_pair(ground, pairs, k, items, at, room)
        finish_pair(pairs, k, items, at, to)
        at = to
    items.first[count] = wp.min(at, room)
    items.needed[0] = at


@kernel
def count_items(ground: MidphaseInput, pairs: Pairs, items: Items, start: wp.array[wp.int32]) -> None:
    """The number of items of every pair."""
    k = wp.tid()
    count = int(0)
    if k < pairs.needed[0]:
        count = put_pair(ground, pairs, k, items, 0, 0)
    start[k] = count


@kernel
def fill_items(ground: MidphaseInput, pairs: Pairs, items: Items, start: wp.array[wp.int32]) -> None:
    """The items of every pair, from where they begin."""
    k = wp.tid()
    room = items.part.shape[0]
    count = pairs.a.shape[0]
    if k + 1 == count:
        items.first[count] = wp.min(start[count], room)
        items.needed[0] = start[count]
    if k < pairs.needed[0]:
        if start[k] < room:
            put_pair(ground, pairs, k, items, start[k], room)
        finish_pair(pairs, k, items, start[k], start[k + 1])
    else:
        items.first[k] = wp.min(start[k], room)


def record_split(
    program: Any,
    geometry: Any,
    places: Places,
    pairs: Pairs,
    items: Items,
    wider: float = 0.0,
    *,
    margins: "SpeculativeMargins | None" = None,
) -> None:
    """Record the launches that turn pairs into items.

    Args:
        program: Where to record.
        geometry: Colliders and their tables.
        places: Where the colliders are.
        pairs: The pairs.
        items: Where the items go.
        wider: Half the contact distance, by which the boxes of the colliders were widened [m].
        margins: Motion and boxes before they were stretched, where there are speculative margins.
    """
    count = int(pairs.a.shape[0])
    if int(MESH) not in geometry.kinds:
        program.share(copy_pairs, count, pairs, items)
        return
    ground = MidphaseInput()
    ground.colliders, ground.places, ground.surfaces = geometry.colliders, places, geometry.surfaces
    ground.tree, ground.wider = tree_of(geometry.surfaces), wider
    if margins is not None:
        ground.margins = margins
    if program.device.is_cpu:
        program.launch(split_serially, 1, ground, pairs, items)
        return
    start = wp.zeros(count + 1, dtype=wp.int32, device=geometry.device)
    program.launch(count_items, count, ground, pairs, items, start)
    Sum(start, count, geometry.device).record(program)
    program.launch(fill_items, count, ground, pairs, items, start)
