"""A tree of boxes for every world, refitted each step and built anew when it has become loose.

    visit(k): box(k) ∩ box(a) ≠ ∅  ⇒  visit(2k), visit(2k + 1)

a collider, k node. The tree is built on the host; each step its leaves take the boxes of their colliders, the inner
nodes are refitted, and every collider walks down to those it overlaps. Big colliders stay outside and are tested
against all. When the sum of the surfaces of all nodes has doubled since the tree was built, the flag
``wants_renewal`` goes up: the list is right all the same, but ``renew()`` makes it faster.

The cost is O(n log n) whatever the sizes; use it where these spread over decades.

Reference: van den Bergen (1997), Efficient collision detection of complex deformable models using AABB trees.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from rattleback.collision.broadphase.listing import Crowd, Listing, crowd, drivers, is_partner, put, put_all, put_big
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry import bvh
from rattleback.collision.geometry.bvh import EMPTY, next_leaf
from rattleback.collision.geometry.colliders import Places
from rattleback.core import arrays
from rattleback.core.checks import number
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed

# Threads that add up the surfaces of the nodes.
PARTS = wp.constant(256)


@wp.struct
class Forest:
    """The trees of all worlds."""

    tree: bvh.Tree
    leaves: wp.int32


@wp.struct
class Looseness:
    """The sum of the surfaces of all nodes: in parts, when the tree was built, and how much more it may become."""

    part: wp.array[wp.float64]
    built: wp.array[wp.float64]
    looser: wp.float64


@kernel
def take_boxes(crowd: Crowd, forest: Forest) -> None:
    """Give every leaf the box of its collider."""
    i = wp.tid()
    world = i // forest.leaves
    node = 2 * forest.leaves * world + forest.leaves + i % forest.leaves
    item = forest.tree.item[node]
    if item < 0:
        forest.tree.lower[node] = vec3(EMPTY, EMPTY, EMPTY)
        forest.tree.upper[node] = vec3(-EMPTY, -EMPTY, -EMPTY)
    else:
        forest.tree.lower[node] = crowd.places.lower[item]
        forest.tree.upper[node] = crowd.places.upper[item]


@kernel
def add_surfaces(forest: Forest, looseness: Looseness) -> None:
    """Add up the surfaces of a share of the inner nodes."""
    part = wp.tid()
    total = wp.float64(0.0)
    nodes = forest.tree.item.shape[0]
    for k in range(part, nodes, PARTS):
        inner = k % (2 * forest.leaves)
        if inner > 0 and inner < forest.leaves:
            d = forest.tree.upper[k] - forest.tree.lower[k]
            if d[0] >= real(0.0):
                total = total + wp.float64(d[0] * d[1] + d[1] * d[2] + d[2] * d[0])
    looseness.part[part] = total


@kernel
def judge(looseness: Looseness, wants_renewal: wp.array[wp.int32]) -> None:
    """Raise the flag when the tree has become loose; right after it was built, note how tight it is."""
    total = wp.float64(0.0)
    for part in range(PARTS):
        total = total + looseness.part[part]
    if looseness.built[0] < wp.float64(0.0):
        looseness.built[0] = total
    elif total > looseness.looser * looseness.built[0]:
        wants_renewal[0] = 1


@wp.func
def row(crowd: Crowd, forest: Forest, a: int, pairs: Pairs, at: int, room: int) -> int:
    """The colliders of a higher row that collider a overlaps."""
    if crowd.is_big[a % crowd.each] != 0:
        return put_all(crowd, a, pairs, at, room)
    to = put_big(crowd, a, pairs, at, room)
    root = 2 * forest.leaves * (a // crowd.each)
    lower = crowd.places.lower[a]
    upper = crowd.places.upper[a]
    k = int(0)
    k = next_leaf(forest.tree, root, forest.leaves, k, lower, upper)
    while k > 0:
        b = forest.tree.item[root + k]
        if is_partner(crowd, lower, upper, a, b):
            to = put(pairs, to, room, b)
        k = next_leaf(forest.tree, root, forest.leaves, k, lower, upper)
    return to


KERNELS = drivers(row, Forest)


@sealed
@dataclass(frozen=True)
class BoxTree:
    """Walks a tree of boxes.

    Args:
        looser: By which factor the surfaces of the tree's boxes may grow before it is to be rebuilt.
    """

    looser: float = 2.0

    def __post_init__(self) -> None:
        """Check the parameter."""
        object.__setattr__(self, "looser", number(self.looser, "looser of BoxTree"))
        if self.looser <= 1.0:
            raise InputError(f"looser of BoxTree is {self.looser!r}; it must be greater than 1.")

    def bind(self, geometry: Any, places: Places, pairs: Pairs, each_body: int) -> "BoundBoxTree":
        """The method on the colliders of a model.

        Args:
            geometry: The colliders.
            places: Their places.
            pairs: Where the list goes.
            each_body: Number of bodies of a world.
        """
        return BoundBoxTree(self, geometry, crowd(geometry, places, each_body), pairs)


class BoundBoxTree:
    """The trees of the colliders of a model.

    Attributes:
        wants_renewal: One-entry array; not zero when the trees have become loose.
    """

    def __init__(self, method: BoxTree, geometry: Any, crowd: Crowd, pairs: Pairs) -> None:
        device = geometry.device
        self.crowd, self.worlds = crowd, geometry.count // max(1, geometry.each)
        self.small = np.flatnonzero(crowd.is_big.numpy() == 0)
        self.forest, self.looseness = Forest(), Looseness()
        self.forest.leaves = bvh.leaf_count(len(self.small))
        self.forest.tree = arrays.allocate(bvh.Tree, {"nodes": self.worlds * 2 * self.forest.leaves}, device)
        self.looseness.part = wp.zeros(int(PARTS), dtype=wp.float64, device=device)
        self.looseness.built = wp.zeros(1, dtype=wp.float64, device=device)
        self.looseness.looser = method.looser
        self.wants_renewal = wp.zeros(1, dtype=wp.int32, device=device)
        self.listing = Listing(KERNELS, crowd, self.forest, pairs)
        self.renew()

    def record(self, program: Any) -> None:
        """Record the launches that write the list."""
        forest = self.forest
        program.launch(take_boxes, self.worlds * forest.leaves, self.crowd, forest)
        bvh.record_refit(program, forest.tree, self.worlds, forest.leaves)
        program.launch(add_surfaces, int(PARTS), forest, self.looseness)
        program.launch(judge, 1, self.looseness, self.wants_renewal)
        self.listing.record(program)

    def write_to(self, pairs: Pairs) -> None:
        """Write another list from now on; then record again."""
        self.listing.pairs = pairs

    def buffers(self) -> dict[str, tuple[Any, int]]:
        """For every buffer of its own, the array that counts what is needed, and what there is."""
        return {}

    def grow(self) -> None:
        """Enlarge the buffers that were too small; then record again."""

    def renew(self) -> None:
        """Build the trees anew where the colliders are now; call it between steps."""
        each, leaves = self.crowd.each, self.forest.leaves
        shape = (self.worlds, each, 3)
        lower = self.crowd.places.lower.numpy().reshape(shape)[:, self.small]
        upper = self.crowd.places.upper.numpy().reshape(shape)[:, self.small]
        item = np.full((self.worlds, 2 * leaves), -1, dtype=np.int32)
        if len(self.small):
            order = bvh.leaf_order(lower, upper)
            rows = self.small[order] + each * np.arange(self.worlds)[:, None]
            item[:, leaves:] = np.where(order >= 0, rows, -1)
        self.forest.tree.item.assign(item.ravel())
        self.looseness.built.fill_(-1.0)
        self.wants_renewal.zero_()
