"""Ribbons: a band along the backbone, broad in helices and strands, with a head where a strand ends.

    p(t) uniform cubic B-spline through the Cα,   x(θ, t) = p + w(t) cos θ n(t) + h(t) sin θ b(t)

n the direction of the C=O bonds across the band, turned so that it does not flip from residue to residue; b across band
and path; w, h half width and half thickness of the kind of structure.

Reference: Carson and Bugg, "Algorithm for ribbon models of proteins", Journal of Molecular Graphics 4 (1986), 121-122.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.molecules.secondary import COIL, HELIX, STRAND, secondary_structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.molecules.linkage import Segment
    from rattleback.molecules.protein import Protein

    Floats = NDArray[np.float64]

# Half width and half thickness [Å]; a head is so much broader than its strand.
SIZES = {COIL: (0.28, 0.28), HELIX: (1.25, 0.22), STRAND: (1.05, 0.22)}
HEAD = 1.7
STEPS, AROUND = 8, 16


class Band(NamedTuple):
    """A piece of ribbon of one kind.

    Attributes:
        kind: ``"helix"``, ``"strand"`` or ``"coil"``.
        vertices: Points (vertices, 3) [Å].
        triangles: Indices of corners, anticlockwise seen from outside (triangles, 3).
    """

    kind: str
    vertices: Floats
    triangles: NDArray[np.int64]


def ribbon(protein: Protein) -> list[Band]:
    """The ribbon of a protein as it is now, piece by piece."""
    kinds = dict(zip(protein.rows, secondary_structure(protein), strict=True))
    places = protein.positions
    found: list[Band] = []
    for segment in protein.linkage.segments:
        if len(segment.residues) >= 3:
            found += _bands(protein, segment, [kinds[row] for row in segment.residues], places)
    return found


def _bands(protein: Protein, segment: Segment, kinds: list[str], places: Floats) -> list[Band]:
    own = [protein.linkage.primary[row] for row in segment.residues]
    alpha = places[[one["CA"] for one in own]]
    across = places[[one.get("O", one["C"]) for one in own]] - places[[one["C"] for one in own]]
    across[[k for k, one in enumerate(own) if "O" not in one]] = (0.0, 0.0, 1.0)
    for k in range(1, len(across)):
        if across[k] @ across[k - 1] < 0.0:
            across[k] = -across[k]
    kinds = _long_enough(kinds)
    path, side = _spline(alpha), _spline(across)
    found, start = [], 0
    for kind, members in groupby(kinds):
        stop = start + len(list(members))
        first, last = max(0, start * STEPS - STEPS // 2), min(len(path) - 1, stop * STEPS - STEPS // 2)
        part = slice(first, last + 1)
        broad = np.full(last + 1 - first, SIZES[kind][0])
        if kind == STRAND:
            head = min(int(1.5 * STEPS), len(broad) - 2)
            broad[-head:] = np.linspace(HEAD, 0.12, head) * SIZES[kind][0]
        found.append(_band(kind, (path[part], side[part]), broad, np.full(len(broad), SIZES[kind][1])))
        start = stop
    return found


def _long_enough(kinds: list[str]) -> list[str]:
    """Kinds with those runs that are too short to be drawn as bands made coil."""
    found: list[str] = []
    for kind, members in groupby(kinds):
        count = len(list(members))
        found += [kind if kind == COIL or count >= 3 else COIL] * count
    return found


def _spline(points: Floats) -> Floats:
    """A uniform cubic B-spline through points (n, d), STEPS pieces between two of them; it ends at the ends."""
    ahead, behind = 2.0 * points[0] - points[1], 2.0 * points[-1] - points[-2]
    all_points = np.concatenate([[ahead], points, [behind]])
    t = np.arange(STEPS) / STEPS
    weights = np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]) / 6.0
    pieces = [weights.T @ all_points[k : k + 4] for k in range(len(points) - 1)]
    return np.concatenate([*pieces, points[-1:]])


def _band(kind: str, course: tuple[Floats, Floats], width: Floats, height: Floats) -> Band:
    """A closed band along a path."""
    path, side = course
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = side - np.sum(side * along, axis=1, keepdims=True) * along
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    normal = np.cross(along, across)
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = (
        path[:, None]
        + (width[:, None] * np.cos(angle))[..., None] * across[:, None]
        + (height[:, None] * np.sin(angle))[..., None] * normal[:, None]
    )
    vertices = np.concatenate([rings.reshape(-1, 3), path[:1], path[-1:]])
    return Band(kind, vertices, _tube(len(path)))


def _tube(count: int) -> NDArray[np.int64]:
    """Triangles of so many rings of points and, after them, the middles of the first and the last one."""
    ring, k = np.meshgrid(np.arange(count - 1), np.arange(AROUND), indexing="ij")
    a, b = ring * AROUND + k, ring * AROUND + (k + 1) % AROUND
    c, d = a + AROUND, b + AROUND
    sides = [np.stack([a, b, d], axis=-1).reshape(-1, 3), np.stack([a, d, c], axis=-1).reshape(-1, 3)]
    rim, after = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    low, high, far = np.full(AROUND, count * AROUND), np.full(AROUND, count * AROUND + 1), (count - 1) * AROUND
    caps = [np.stack([low, after, rim], axis=1), np.stack([high, far + rim, far + after], axis=1)]
    return np.concatenate([*sides, *caps])
