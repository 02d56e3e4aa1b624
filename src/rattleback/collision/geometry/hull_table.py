"""Corners, edges and faces of convex polyhedra gathered into the flat tables that kernels walk over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.collision.geometry.colliders import Hulls
from rattleback.core import arrays
from rattleback.core.precision import numpy_real

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

BOX_CORNERS = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])
# Corner c of a box has bit 0 set where x > 0, bit 1 where y > 0, bit 2 where z > 0.
BOX_FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))


class HullTable:
    """The polyhedra of a scene, each kept once; ``triangles`` of meshes lie behind them as loose vertices."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, int] = {}
        self._columns: dict[str, list[Any]] = {name: [] for name in arrays.fields(Hulls) if name != "vertex"}
        # Vertices as they came; those of large meshes would be slow as a list.
        self._points: list[NDArray[np.float64]] = []
        self._count = 0

    def box(self, half: tuple[float, float, float]) -> int:
        """Row of a box with these half edges [m]."""
        return self._row(("box", half), BOX_CORNERS * half, BOX_FACES)

    def hull(self, shape: Any) -> int:
        """Row of a convex hull, from its ``vertices`` and ``faces``."""
        return self._row(shape, shape.vertices, shape.faces)

    def span(self, row: int) -> tuple[int, int]:
        """First vertex of a hull and their number."""
        return self._columns["first_vertex"][row], self._columns["vertices"][row]

    def loose(self, points: NDArray[np.float64]) -> int:
        """Take in vertices without edges and faces, such as the corners of a mesh's triangles; returns the first."""
        self._points.append(points)
        self._count += len(points)
        return self._count - len(points)

    def tables(self, device: Any) -> Hulls:
        """Everything on the device."""
        declared = arrays.fields(Hulls)
        counts = {declared[name].axis: len(column) for name, column in self._columns.items()}
        result = arrays.allocate(Hulls, counts | {declared["vertex"].axis: self._count}, device)
        for name, column in self._columns.items():
            array = getattr(result, name)
            if len(array):
                kind = np.int32 if array.numpy().dtype == np.int32 else numpy_real
                array.assign(np.array(column, dtype=kind))
        if self._count:
            result.vertex.assign(np.concatenate(self._points).astype(numpy_real, copy=False))
        return result

    def _row(self, key: Hashable, vertices: NDArray[np.float64], faces: Sequence[Sequence[int]]) -> int:
        if key not in self._rows:
            self._rows[key] = len(self._columns["center"])
            self._add(np.asarray(vertices, dtype=np.float64), faces)
        return self._rows[key]

    def _add(self, vertices: NDArray[np.float64], faces: Sequence[Sequence[int]]) -> None:
        columns = self._columns
        v0, e0, f0 = self._count, len(columns["edge_tail"]), len(columns["plane"])
        sides = {(loop[k - 1], loop[k]): f for f, loop in enumerate(faces) for k in range(len(loop))}
        edges = [pair for pair in sides if pair[0] < pair[1]]
        number = {pair: e for e, pair in enumerate(edges)} | {(b, a): e for e, (a, b) in enumerate(edges)}
        columns["center"].append(vertices.mean(axis=0))
        for name, first, count in (("vertex", v0, len(vertices)), ("edge", e0, len(edges)), ("face", f0, len(faces))):
            columns[f"first_{name}"].append(first)
            columns["vertices" if name == "vertex" else f"{name}s"].append(count)
        for loop in faces:
            columns["face_corner"].append(len(columns["corner"]))
            columns["face_corners"].append(len(loop))
            columns["plane"].append(_plane(vertices[list(loop)]))
            for a, b in zip(loop, (*loop[1:], loop[0]), strict=True):
                columns["corner"].append(v0 + a)
                columns["corner_edge"].append(e0 + number[a, b])
                columns["corner_face"].append(f0 + sides[b, a])
        for tail, head in edges:
            columns["edge_tail"].append(v0 + tail)
            columns["edge_head"].append(v0 + head)
            columns["edge_left"].append(f0 + sides[tail, head])
            columns["edge_right"].append(f0 + sides[head, tail])
        self._add_vertices(vertices, edges, e0)

    def _add_vertices(self, vertices: NDArray[np.float64], edges: list[tuple[int, int]], e0: int) -> None:
        for name in ("vertex_edge", "vertex_edges"):
            # Loose vertices before these have no edges.
            self._columns[name].extend([0] * (self._count - len(self._columns[name])))
        self.loose(vertices)
        spokes: list[list[int]] = [[] for _ in vertices]
        for e, (tail, head) in enumerate(edges):
            spokes[tail].append(e0 + e)
            spokes[head].append(e0 + e)
        for own in spokes:
            self._columns["vertex_edge"].append(len(self._columns["spoke"]))
            self._columns["vertex_edges"].append(len(own))
            self._columns["spoke"].extend(own)


def _plane(loop: NDArray[np.float64]) -> NDArray[np.float64]:
    """Outward unit normal and distance from the origin of a planar loop (corners, 3), by Newell's sum."""
    middle = loop.mean(axis=0)
    around = loop - middle
    normal = np.cross(around, np.roll(around, -1, axis=0)).sum(axis=0)
    normal /= np.linalg.norm(normal)
    return np.append(normal, normal @ middle)
