"""Surfaces: triangle meshes and height fields that stand still, met triangle by triangle.

Half-edge h = 3 t + k runs along triangle t from its corner k to the next one; its twin runs the other way along the
triangle across. Half-edges out of one corner follow each other as

    h → twin(previous(h))        previous(h) = 3 t + (k + 2) mod 3

so a kernel can walk around a corner. Corners are the same where their coordinates are. An edge with one triangle only,
with more than two, or with two that face opposite ways has no twin: the surface ends there. Over the triangles of each
surface stands a tree of boxes in its own frame.

A surface is solid behind its triangles if it is a height field or closed with a positive volume; any other one is a
sheet with two sides. Cost: O(n log² n), a third of a second for 100,000 triangles; of a height field, whose neighbours
and boxes follow from the grid, O(n) and a quarter of that.

Reference: Bender, dissertation, §2.2.3; van den Bergen (1997) for the trees.
"""

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from rattleback.collision.geometry import bvh
from rattleback.collision.geometry.bvh import Tree
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import epsilon, numpy_real, vec3
from rattleback.shapes import HeightField

# Part of the coordinates by which the box around a surface is wider, against rounding.
ROUNDING = 8.0 * epsilon
# Part of the square of its longest edge below which twice the area of a triangle is rounding: it has no normal.
NO_AREA = 1e-14


@group(axis="surfaces")
class Surfaces:
    """Columns of a surface, of its triangles, and of the nodes of its tree (see ``geometry.bvh``)."""

    corner: wp.int32 = field("1", "first of the corners of its triangles in Hulls")
    first: wp.int32 = field("1", "first of its triangles")
    triangles: wp.int32 = field("1", "number of its triangles")
    solid: wp.int32 = field("1", "1 where what lies behind its triangles is solid, 0 for a sheet with two sides")
    root: wp.int32 = field("1", "row of node 0 of its tree")
    leaves: wp.int32 = field("1", "number of leaves of its tree")
    normal: vec3 = field("1", "unit normal of a triangle, outward; zero if it has no area", axis="surface_triangles")
    twin: wp.vec3i = field("1", "half-edges, in the surface, across its three edges; -1", axis="surface_triangles")
    lower: vec3 = field("m", "lower corner of the box of a node", axis="surface_nodes")
    upper: vec3 = field("m", "upper corner of that box", axis="surface_nodes")
    item: wp.int32 = field("1", "triangle of a leaf, in its surface; -1 for none", axis="surface_nodes")


def tree_of(surfaces: Surfaces) -> Tree:
    """The trees of all surfaces, as walks want them."""
    tree = Tree()
    tree.lower, tree.upper, tree.item = surfaces.lower, surfaces.upper, surfaces.item
    return tree


class SurfaceTable:
    """The surfaces of a scene while they are gathered."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {name: [] for name in ("corner", "first", "triangles", "solid")}
        self._normals: list[NDArray[Any]] = []
        self._twins: list[NDArray[np.int32]] = []
        self._boxes: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._orders: list[NDArray[np.int32] | None] = []
        self._known: dict[Any, int] = {}

    def find(self, shape: Any) -> int | None:
        """Row of a mesh or a height field that was taken in before; None for a new one."""
        return self._known.get(shape)

    def first_corner(self, row: int) -> int:
        """First of the corners of a surface's triangles in Hulls."""
        return self._rows["corner"][row]

    def box(self, row: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Half the edges and the middle of the box around a surface [m], no less wide for rounding."""
        lower, upper = self._boxes[row]
        low, high = lower.min(axis=0), upper.max(axis=0)
        rounding = ROUNDING * max(np.abs(low).max(), np.abs(high).max())
        return 0.5 * (high - low) + rounding, 0.5 * (high + low)

    def add(self, shape: Any, first: int) -> int:
        """Take in a mesh or a height field; returns its row.

        Args:
            shape: It has ``vertices`` (vertices, 3) [m] and ``triangles`` (triangles, 3).
            first: First of the corners of its triangles in Hulls.
        """
        corners = np.asarray(shape.vertices, dtype=np.float64)[shape.triangles]
        field = isinstance(shape, HeightField)
        twin = grid_twins(shape) if field else twins(merged(shape.vertices, shape.triangles))
        solid = field or (bool((twin >= 0).all()) and _volume(corners) > 0.0)
        row = (first, sum(self._rows["triangles"]), len(corners), int(solid))
        for column, value in zip(self._rows.values(), row, strict=True):
            column.append(value)
        self._normals.append(normals(corners))
        self._twins.append(twin)
        a, b, c = np.moveaxis(corners, 1, 0)
        self._boxes.append((np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)))
        self._orders.append(grid_order(shape) if field else None)
        self._known[shape] = len(self._normals) - 1
        return self._known[shape]

    def tables(self, device: Any) -> Surfaces:
        """Everything on the device."""
        boxes = zip(self._boxes, self._orders, strict=True)
        trees = [bvh.build(lower[None], upper[None], device, order) for (lower, upper), order in boxes]
        nodes = [tree.item.shape[0] for tree in trees]
        counts = {
            "surfaces": len(trees),
            "surface_triangles": sum(self._rows["triangles"]),
            "surface_nodes": sum(nodes),
        }
        result = arrays.allocate(Surfaces, counts, device)
        if not trees:
            return result
        for name, column in self._rows.items():
            getattr(result, name).assign(np.array(column, dtype=np.int32))
        result.root.assign(np.concatenate([[0], np.cumsum(nodes[:-1])]).astype(np.int32))
        result.leaves.assign(np.array(nodes, dtype=np.int32) // 2)
        result.normal.assign(np.concatenate(self._normals).astype(numpy_real, copy=False))
        result.twin.assign(np.concatenate(self._twins))
        for name in ("lower", "upper", "item"):
            getattr(result, name).assign(np.concatenate([getattr(tree, name).numpy() for tree in trees]))
        return result


def grid_order(field: HeightField) -> NDArray[np.int32]:
    """Which triangle each leaf of the tree over a height field holds, −1 for none, shape (1, leaves).

    The tree halves the longer side of the cells that are left, down to one cell and then to its two triangles.
    """
    cells = [count - 1 for count in field.heights.shape]
    left = [(count - 1).bit_length() for count in cells]
    leaves = 1 << sum(left)
    place = [np.arange(count) for count in cells]
    leaf = np.zeros(cells, dtype=np.int64)
    while any(left):
        longer = int(field.spacing[1] * 2.0 ** left[1] > field.spacing[0] * 2.0 ** left[0])
        axis = longer if left[longer] else 1 - longer
        left[axis] -= 1
        bit = (place[axis] >> left[axis]) & 1
        leaf = 2 * leaf + (bit[:, None] if axis == 0 else bit[None, :])
    order = np.full((leaves, 2), -1, dtype=np.int32)
    order[leaf.ravel()] = np.arange(2 * leaf.size, dtype=np.int32).reshape(-1, 2)
    return order.reshape(1, -1)


def normals(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit normals (triangles, 3) of triangles (triangles, 3, 3) [m]; zero for those without area."""
    edges = np.roll(corners, -1, axis=1) - corners
    size = np.abs(edges).max(axis=(1, 2))
    edges = edges / np.where(size > 0.0, size, 1.0)[:, None, None]
    across = np.cross(edges[:, 0], edges[:, 1])
    area = np.linalg.norm(across, axis=1)
    flat = area <= NO_AREA
    result: NDArray[np.float64] = np.where(flat[:, None], 0.0, across / np.where(flat, 1.0, area)[:, None])
    return result


def merged(vertices: Any, triangles: Any) -> NDArray[np.int64]:
    """The triangles (triangles, 3) with one number for all vertices in one place."""
    points = np.asarray(vertices, dtype=np.float64) + 0.0
    order = np.lexsort(points.T)
    new = np.append(True, (points[order][1:] != points[order][:-1]).any(axis=1))
    number = np.empty(len(points), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    result: NDArray[np.int64] = number[np.asarray(triangles)]
    return result


def twins(triangles: NDArray[np.int64]) -> NDArray[np.int32]:
    """The half-edge across every half-edge, −1 where there is none or not just one, shape (triangles, 3)."""
    tail = triangles.ravel()
    head = np.roll(triangles, -1, axis=1).ravel()
    key = np.minimum(tail, head) * (tail.max() + 1) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(key[order]) != 0))
    two = starts[np.diff(np.append(starts, len(key))) == 2]
    h, g = order[two], order[two + 1]
    opposite = (tail[h] == head[g]) & (tail[h] != head[h])
    result = np.full(len(key), -1, dtype=np.int32)
    result[h[opposite]], result[g[opposite]] = g[opposite], h[opposite]
    return result.reshape(-1, 3)


def grid_twins(field: HeightField) -> NDArray[np.int32]:
    """What ``twins`` says of the triangles of a height field, from where they are in the grid, shape (triangles, 3)."""
    nx, ny = (count - 1 for count in field.heights.shape)
    # First half-edges of the two triangles of each cell; a border of cells that are not there.
    low = np.full((nx + 2, ny + 2), -3, dtype=np.int32)
    low[1:-1, 1:-1] = 6 * np.arange(nx * ny, dtype=np.int32).reshape(nx, ny)
    high = np.where(low < 0, -3, low + 3)
    inner, before, after = slice(1, -1), slice(0, -2), slice(2, None)
    # Of the triangle on the side of x, then of the other one: the half-edges across its own three.
    one: list[Any] = [(high, inner, before, 1), (high, after, inner, 2), (high, inner, inner, 0)]
    other: list[Any] = [(low, inner, inner, 2), (low, inner, after, 0), (low, before, inner, 1)]
    result = np.stack([first[x, y] + edge for first, x, y, edge in one + other], axis=-1).reshape(-1, 3)
    result[result < 0] = -1
    return result


def _volume(corners: NDArray[np.float64]) -> float:
    """Six times the volume inside closed triangles (triangles, 3, 3) [m³]; zero where it is only rounding."""
    middle = corners.reshape(-1, 3).mean(axis=0)
    a, b, c = np.moveaxis(corners - middle, 1, 0)
    pieces = np.einsum("ij,ij->i", a, np.cross(b, c))
    total = float(pieces.sum())
    return total if abs(total) > 1e-12 * float(np.abs(pieces).sum()) else 0.0
