"""Trees of boxes: complete binary trees over any boxes along the axes, built on the host, refitted on the device.

    box(k) = box(2k) ∪ box(2k + 1)        root 1, leaves L … 2L − 1, L a power of two

k number of a node in its tree; its row in the arrays is ``root + k``, where ``root`` is 2L times the number of the tree
for trees of one size. At every node half of the boxes go to either side, parted at the median of their centres along
the axis on which these lie farthest apart; a leaf without an item has a box that overlaps nothing. Since the numbers
say where a node's children and successor are, a walk needs no stack and can stop and go on at any leaf:

    k = next_leaf(tree, root, leaves, 0, lower, upper)
    while k > 0:
        i = tree.item[root + k]
        k = next_leaf(tree, root, leaves, k, lower, upper)

Building costs O(n log² n), refitting 2n boxes, a walk O(log n) boxes for each leaf found. Refitting keeps the tree
right whatever moves; after large motions its boxes overlap more and walks are longer, until it is built anew.

Reference: van den Bergen (1997), Efficient collision detection of complex deformable models using AABB trees.
"""

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from rattleback.core.arrays import allocate, field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3

# The box of a leaf without an item runs from +EMPTY to −EMPTY: it overlaps nothing and adds nothing to a union.
EMPTY = wp.constant(real(float(np.finfo(numpy_real).max)))


@group(axis="nodes")
class Tree:
    """The nodes of one or more trees, tree by tree; row 0 of each is unused."""

    lower: vec3 = field("m", "lower corner of the box of a node")
    upper: vec3 = field("m", "upper corner of that box")
    item: wp.int32 = field("1", "what a leaf holds; -1 for an inner node or an empty leaf")


def leaf_count(items: int) -> int:
    """Leaves of a tree over so many items: the next power of two."""
    return 1 << max(0, items - 1).bit_length()


def leaf_order(lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[np.int32]:
    """Which item each leaf holds, −1 for none, for one or more trees with equally many items.

    Args:
        lower: Lower corners (trees, items, 3) [m].
        upper: Upper corners (trees, items, 3) [m].

    Returns:
        Items in their tree, (trees, leaves).
    """
    trees, items, _ = lower.shape
    leaves = leaf_count(items)
    centers = (0.5 * lower + 0.5 * upper).reshape(-1, 3)
    ranks = _ranks(centers)
    order = np.arange(trees * items)
    sizes = np.full(trees, items)
    for _ in range(leaves.bit_length() - 1):
        order = _sorted_in_parts(order, centers, ranks, sizes)
        sizes = np.column_stack([(sizes + 1) // 2, sizes // 2]).ravel()
    result = np.full(trees * leaves, -1, dtype=np.int32)
    result[sizes > 0] = order % max(1, items)
    return result.reshape(trees, leaves)


def _ranks(centers: NDArray[Any]) -> NDArray[np.int64]:
    """The place of every centre in their order along each axis, ties by number, shape (items, 3)."""
    ranks = np.empty(centers.shape, dtype=np.int64)
    for axis in range(3):
        ranks[np.argsort(centers[:, axis], kind="stable"), axis] = np.arange(len(centers))
    return ranks


def _sorted_in_parts(
    order: NDArray[np.int64], centers: NDArray[Any], ranks: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Each part of the order sorted along the axis on which its centres lie farthest apart."""
    filled = sizes > 0
    starts = (np.cumsum(sizes) - sizes)[filled]
    points = centers[order]
    spread = np.maximum.reduceat(points, starts) - np.minimum.reduceat(points, starts)
    part = np.repeat(np.arange(len(starts)), sizes[filled])
    along = ranks[order, spread.argmax(axis=1)[part]]
    # Whole numbers that differ are sorted several times faster than by three keys.
    result: NDArray[np.int64] = order[np.argsort(part * len(order) + along)]
    return result


def build(lower: NDArray[Any], upper: NDArray[Any], device: Any, order: NDArray[np.int32] | None = None) -> Tree:
    """Trees over boxes that do not move, ready to be walked.

    Args:
        lower: Lower corners (trees, items, 3) [m].
        upper: Upper corners (trees, items, 3) [m].
        device: Warp device.
        order: Which item each leaf holds, −1 for none, (trees, leaves), their number a power of two; None to find out.
    """
    order = leaf_order(lower, upper) if order is None else order
    trees, leaves = order.shape
    tree = allocate(Tree, {"nodes": trees * 2 * leaves}, device)
    far = float(np.finfo(numpy_real).max)
    boxes = [np.full((trees, 2 * leaves, 3), far), np.full((trees, 2 * leaves, 3), -far)]
    item = np.full((trees, 2 * leaves), -1, dtype=np.int32)
    item[:, leaves:] = order
    which, where = np.nonzero(order >= 0)
    for k, (given, join) in enumerate(((lower, np.minimum), (upper, np.maximum))):
        boxes[k][which, leaves + where] = given[which, order[which, where]]
        for first in (leaves >> n for n in range(1, leaves.bit_length())):
            under = boxes[k][:, 2 * first : 4 * first]
            boxes[k][:, first : 2 * first] = join(under[:, 0::2], under[:, 1::2])
    tree.lower.assign(boxes[0].reshape(-1, 3).astype(numpy_real, copy=False))
    tree.upper.assign(boxes[1].reshape(-1, 3).astype(numpy_real, copy=False))
    tree.item.assign(item.ravel())
    return tree


@wp.func
def after(k: int) -> int:
    """The node a walk comes to when it has done with node k and all below it; 0 at the end."""
    node = k
    while (node & 1) == 1:
        node = node >> 1
    if node > 0:
        node = node + 1
    return node


@wp.func
def overlap(lower_a: vec3, upper_a: vec3, lower_b: vec3, upper_b: vec3) -> bool:
    """Whether two boxes share a point."""
    return (
        lower_a[0] <= upper_b[0]
        and lower_b[0] <= upper_a[0]
        and lower_a[1] <= upper_b[1]
        and lower_b[1] <= upper_a[1]
        and lower_a[2] <= upper_b[2]
        and lower_b[2] <= upper_a[2]
    )


@wp.func
def next_leaf(tree: Tree, root: int, leaves: int, k: int, lower: vec3, upper: vec3) -> int:
    """The leaf that comes next after node k and whose box shares a point with a given one; 0 if there is none.

    Args:
        tree: The tree.
        root: Row of its node 0.
        leaves: Number of its leaves.
        k: The leaf found before; 0 to begin.
        lower: Lower corner of the given box [m].
        upper: Upper corner [m].
    """
    node = int(1)
    if k > 0:
        node = after(k)
    while node > 0:
        if overlap(tree.lower[root + node], tree.upper[root + node], lower, upper):
            if node >= leaves:
                return node
            node = 2 * node
        else:
            node = after(node)
    return 0


@wp.func
def join(tree: Tree, root: int, k: int) -> None:
    """Put the box around its children on an inner node."""
    left = root + 2 * k
    tree.lower[root + k] = wp.min(tree.lower[left], tree.lower[left + 1])
    tree.upper[root + k] = wp.max(tree.upper[left], tree.upper[left + 1])


@kernel
def refit_serially(tree: Tree, leaves: int) -> None:
    """Refit all inner nodes of one tree from the leaves to the root."""
    root = 2 * leaves * wp.tid()
    k = leaves - 1
    while k > 0:
        join(tree, root, k)
        k = k - 1


@kernel
def refit_level(tree: Tree, leaves: int, first: int) -> None:
    """Refit the inner nodes first … 2 first − 1 of every tree."""
    i = wp.tid()
    join(tree, 2 * leaves * (i // first), first + i % first)


def record_refit(program: Any, tree: Tree, trees: int, leaves: int) -> None:
    """Record the launches that refit the inner nodes of trees of one size, after their leaves were written."""
    if program.device.is_cpu:
        program.launch(refit_serially, trees, tree, leaves)
        return
    first = leaves // 2
    while first > 0:
        program.launch(refit_level, trees * first, tree, leaves, first)
        first //= 2
