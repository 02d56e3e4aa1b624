"""Picking: which instance of a mesh a ray from the eye meets first.

    o' = S⁻¹ Rᵀ (o − p),  d' = S⁻¹ Rᵀ d        o' + t d' = (1 − u − v) a + u b + v c,   t, u, v ≥ 0,  u + v ≤ 1

o, d ray; p, R, S place, turn and scale of an instance; a, b, c corners of a triangle of the mesh. t is the same in the
world and in the mesh, so the least of all counts. Instances whose ball about the mesh the ray misses are left out.

Reference: Möller and Trumbore, Journal of Graphics Tools 2 (1997), 21-28.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.viewer.drawing.turns import turned

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.recording.tessellation import Surface

    Floats = NDArray[np.float64]


def distances(surface: Surface, pose: tuple[Floats, Floats, Floats], ray: tuple[Floats, Floats]) -> Floats:
    """How far along a ray each instance of a mesh is met, in lengths of its direction (instances,); ∞ where it is not.

    Args:
        surface: The mesh.
        pose: Places (instances, 3) [m], turns x, y, z, w (instances, 4) and scales (instances, 3).
        ray: Where it starts (3,) [m] and where it goes (3,).
    """
    place, turn, scale = pose
    back = turn * (-1.0, -1.0, -1.0, 1.0)
    start = turned(back, ray[0] - place) / scale
    way = turned(back, np.broadcast_to(ray[1], place.shape)) / scale
    reach = float(np.max(np.sum(surface.vertices**2, axis=1)))
    beside = np.sum(np.cross(start, way) ** 2, axis=1)
    found = np.full(len(place), np.inf)
    for k in np.flatnonzero(beside <= reach * np.sum(way * way, axis=1)):
        found[k] = meets(surface.vertices[surface.triangles], start[k], way[k]).min(initial=np.inf)
    return found


def meets(corners: Floats, origin: Floats, direction: Floats) -> Floats:
    """How far along a ray triangles are met, in lengths of its direction (triangles,); ∞ where they are not.

    Args:
        corners: Corners of the triangles (triangles, 3, 3) [m].
        origin: Where the ray starts (3,) [m].
        direction: Where it goes (3,).
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    side, other = b - a, c - a
    normal = np.cross(direction, other)
    volume = np.sum(side * normal, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = origin - a
        turned_away = np.cross(away, side)
        u = np.sum(away * normal, axis=1) / volume
        v = turned_away @ direction / volume
        t = np.sum(other * turned_away, axis=1) / volume
        met = (volume != 0.0) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= 0.0)
    return np.where(met, t, np.inf)
