"""Corners and faces of a convex hull: the triangles Qhull finds, with those that lie in one plane joined.

    |n · (p − q)| ≤ ε for every corner p of a face,      ε = 10⁻⁹ size

n unit normal and q a corner of the largest triangle of the face. Starting there, a face takes in the triangles next to
it as long as their corners keep within ε; measured against the first triangle only, a chain of small bends cannot creep
round a curve. Its boundary is one loop. A vertex at which fewer than three faces meet lies on an edge between two faces
or inside one, so it is no corner and is left out.

The whole is repeated with the corners alone until all of them stay, so the hull of the corners of a hull is that hull,
bit for bit. Cost: Qhull's O(n log n), then some 15 µs a triangle.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Loop = tuple[int, ...]

# How far from the plane of its face a corner may lie, in sizes of the hull.
PLANAR = 1e-9
# Thinner than this many tolerances, the two sides of a plate could not be told apart.
FLAT = 10.0


def corners_and_faces(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[Loop, ...]]:
    """The corners of the convex hull, in the order given, and its faces.

    Args:
        points: Any points that do not lie in one plane [m], shape (points, 3).

    Returns:
        The corners [m], shape (corners, 3), and for each face the indices of its corners, anticlockwise seen from
        outside.
    """
    if len(points) < 4:
        raise InputError(f"ConvexHull has {len(points)} points; it needs at least 4 that do not lie in one plane.")
    count = len(points)
    while True:
        points = _distinct(points, _tolerance(points))
        if _is_flat(points):
            raise InputError(f"The {count} points of ConvexHull lie in one plane; it needs at least 4 that do not.")
        faces = _faces(points)
        used = sorted(set(chain.from_iterable(faces)))
        if len(used) == len(points):
            return points, faces
        points = points[used]


def fan(faces: tuple[Loop, ...]) -> NDArray[np.int32]:
    """Triangles between the first corner of each face and its opposite edges, shape (triangles, 3)."""
    return np.array([(a, b, c) for a, *rest in faces for b, c in pairwise(rest)], dtype=np.int32)


def _tolerance(points: NDArray[np.float64]) -> float:
    """ε [m]; more, where the coordinates are so large that their rounding exceeds it."""
    with np.errstate(over="ignore"):
        size = float(np.ptp(points, axis=0).max())
    if not np.isfinite(size):
        raise InputError("The points of ConvexHull lie too far apart to compute with; scale them down.")
    return max(PLANAR * size, 64.0 * float(np.finfo(np.float64).eps) * float(np.abs(points).max()))


def _distinct(points: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
    """The points without those that lie within ε of an earlier one."""
    from scipy.spatial import cKDTree

    points = points[np.sort(np.unique(points, axis=0, return_index=True)[1])]
    dropped: set[int] = set()
    for first, second in sorted(cKDTree(_scaled(points)).query_pairs(tolerance / _unit(points))):
        if first not in dropped:
            dropped.add(second)
    return np.delete(points, sorted(dropped), axis=0)


def _is_flat(points: NDArray[np.float64]) -> bool:
    """Whether the points lie in one plane but for their rounding."""
    if len(points) < 4:
        return True
    scaled = _scaled(points)
    across = np.linalg.svd(scaled - scaled.mean(axis=0), full_matrices=False)[2][2]
    return float(np.ptp(scaled @ across)) <= FLAT * _tolerance(points) / _unit(points)


def _unit(points: NDArray[np.float64]) -> float:
    """A power of two near the size, so that dividing by it is exact [m]."""
    return float(np.exp2(np.frexp(np.ptp(points, axis=0).max())[1] - 1))


def _scaled(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points about the middle of their box, scaled to a size between one and two."""
    low = points.min(axis=0)
    scaled: NDArray[np.float64] = ((points - low) - 0.5 * np.ptp(points, axis=0)) / _unit(points)
    return scaled


def _faces(points: NDArray[np.float64]) -> tuple[Loop, ...]:
    """The faces of the hull; where joining triangles gives no convex loop, with a smaller ε, at last with none."""
    scaled, tolerance = _scaled(points), _tolerance(points) / _unit(points)
    triangles, neighbours = _triangles(scaled)
    for allowed in (tolerance, 1e-3 * tolerance):
        loops = _loops(triangles, neighbours, _joined(scaled, triangles, neighbours, allowed))
        if loops and all(len(loop) == 3 or _is_convex(scaled, loop, 2.0 * tolerance) for loop in loops):
            break
    else:
        loops = [tuple(row) for row in triangles]
    return tuple(sorted(loop[loop.index(min(loop)) :] + loop[: loop.index(min(loop))] for loop in loops))


def _triangles(points: NDArray[np.float64]) -> tuple[list[list[int]], list[list[int]]]:
    """Triangles of the hull, anticlockwise seen from outside, and the one beyond the edge opposite each corner."""
    from scipy import spatial

    try:
        hull: Any = spatial.ConvexHull(points)
    except spatial.QhullError as error:
        said = str(error).splitlines()[0]
        raise InputError(f"The convex hull of {len(points)} points cannot be found: {said}") from None
    triangles, neighbours = hull.simplices.tolist(), hull.neighbors.tolist()
    normal, area = _normals(points, hull.simplices)
    first = int(np.argmax(area))
    turn = bool(normal[first] @ hull.equations[first, :3] < 0.0)
    # The largest triangle knows which way it faces; the others turn as their neighbours do, even those without area.
    waiting, seen = [(first, turn)], {first}
    while waiting:
        index, turn = waiting.pop()
        if turn:
            triangles[index].reverse()
            neighbours[index].reverse()
        for corner, beyond in enumerate(neighbours[index]):
            if beyond not in seen:
                seen.add(beyond)
                waiting.append((beyond, _runs(triangles[beyond], triangles[index], corner)))
    return triangles, neighbours


def _runs(triangle: list[int], other: list[int], corner: int) -> bool:
    """Whether a triangle passes the edge opposite a corner of the other in the same direction as that one."""
    start, end = other[corner - 2], other[corner - 1]
    return triangle[triangle.index(start) - 2] == end


def _normals(
    points: NDArray[np.float64], triangles: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Normals of triangles, of any length, shape (triangles, 3), and twice their areas, shape (triangles,)."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    return normal, np.linalg.norm(normal, axis=1)


def _joined(
    points: NDArray[np.float64], triangles: list[list[int]], neighbours: list[list[int]], tolerance: float
) -> list[int]:
    """For each triangle the largest one of its face."""
    normal, area = _normals(points, np.array(triangles))
    place, home = points.tolist(), [-1] * len(triangles)
    for seed in np.argsort(-area, kind="stable").tolist():
        if home[seed] >= 0 or area[seed] == 0.0:
            continue
        home[seed] = seed
        x, y, z = (normal[seed] / area[seed]).tolist()
        offset = _dot(place[triangles[seed][0]], x, y, z)
        waiting = [seed]
        while waiting:
            for beyond in neighbours[waiting.pop()]:
                if home[beyond] < 0 and all(
                    abs(_dot(place[corner], x, y, z) - offset) <= tolerance for corner in triangles[beyond]
                ):
                    home[beyond] = seed
                    waiting.append(beyond)
    return [seed if seed >= 0 else index for index, seed in enumerate(home)]


def _dot(point: list[float], x: float, y: float, z: float) -> float:
    return point[0] * x + point[1] * y + point[2] * z


def _loops(triangles: list[list[int]], neighbours: list[list[int]], home: list[int]) -> list[Loop]:
    """The boundary of each face as one loop of corners; empty, if a face has holes or touches itself."""
    following: dict[int, dict[int, int]] = {}
    edges: Counter[int] = Counter()
    for index, (triangle, around) in enumerate(zip(triangles, neighbours, strict=True)):
        for corner, beyond in enumerate(around):
            if home[beyond] != home[index]:
                following.setdefault(home[index], {})[triangle[corner - 2]] = triangle[corner - 1]
                edges[home[index]] += 1
    loops = []
    for seed, after in following.items():
        loop = [next(iter(after))]
        while (vertex := after.get(loop[-1], loop[0])) != loop[0] and len(loop) <= len(after):
            loop.append(vertex)
        if len(loop) != edges[seed]:
            return []
        loops.append(tuple(loop))
    return _without_blunt_vertices(loops)


def _without_blunt_vertices(loops: list[Loop]) -> list[Loop]:
    """The loops without vertices at which fewer than three of them meet, and without loops that have no area then."""
    while True:
        meeting = Counter(chain.from_iterable(loops))
        cut = [tuple(vertex for vertex in loop if meeting[vertex] > 2) for loop in loops]
        cut = [loop for loop in cut if len(loop) > 2]
        if cut == loops:
            return loops
        loops = cut


def _is_convex(points: NDArray[np.float64], loop: Loop, tolerance: float) -> bool:
    """Whether no corner of a loop lies farther than the tolerance on the inner side of the line past it."""
    here = points[list(loop)]
    before, after = np.roll(here, 1, axis=0), np.roll(here, -1, axis=0)
    normal = np.cross(here - here[0], after - here[0]).sum(axis=0)
    length = float(np.linalg.norm(normal))
    outward = np.cross(here - before, after - before) @ normal
    return bool((outward >= -tolerance * length * np.linalg.norm(after - before, axis=1)).all())
