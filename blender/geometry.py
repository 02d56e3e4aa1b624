# SPDX-License-Identifier: GPL-3.0-or-later
"""What the geometry of an object is to the simulation: the shape of a scene file that fits its mesh.

Scale is part of the shape, place and turn are not. With ``auto`` a mesh that is a box, a ball or an ellipsoid is
written as one, any other convex mesh as the hull of its corners, what is left as triangles. A shape whose middle is not
the origin of the object becomes a compound with one part, so that the frame of the body is that of the object.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Beside the size of a mesh: how well it fits a box, a ball or a hull.
FIT = 1e-4
# A ball has so many corners at least.
ROUND = 40


class Faults(list[str]):
    """What could not be written as it is, in sentences."""


def corners(thing: Any) -> tuple[Any, Any]:
    """Corners of an object's mesh with its modifiers, scaled (corners, 3) [m], and its triangles (triangles, 3)."""
    import bpy

    if thing.type != "MESH":
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    points = np.zeros(3 * len(mesh.vertices))
    triangles = np.zeros(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.vertices.foreach_get("co", points)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    scale = np.array(thing.matrix_world.to_scale())
    order = slice(None, None, -1 if np.prod(scale) < 0.0 else 1)
    return points.reshape(-1, 3) * scale, triangles.reshape(-1, 3)[:, order].astype(np.int64)


def shape(thing: Any, wanted: str, static: bool, faults: Faults) -> dict[str, Any] | None:
    """The shape of an object for a scene file; None for none.

    Args:
        thing: The object.
        wanted: Which shape, ``auto`` for the one that fits.
        static: Whether the body never moves, so that open surfaces will do.
        faults: Takes what could not be written.
    """
    points, triangles = corners(thing)
    if wanted == "none" or (wanted == "auto" and not len(points)):
        return None
    if wanted == "plane":
        return {"kind": "plane", "normal": [0.0, 0.0, 1.0], "offset": 0.0}
    if not len(points):
        faults.append(f"{thing.name!r} has no mesh; its shape {wanted} is left out.")
        return None
    kind = recognise(points, triangles) if wanted in ("auto", "convex_hull") else wanted
    kind = "convex_hull" if wanted == "convex_hull" and kind == "mesh" else kind
    if kind == "mesh" or (kind == "convex_hull" and static and wanted == "auto" and not closed(triangles)):
        return _triangles(points, triangles, static)
    if kind == "convex_hull":
        return {"kind": "convex_hull", "points": np.unique(np.round(points, 9), axis=0).tolist()}
    low, high = points.min(axis=0), points.max(axis=0)
    found, middle = _solid(kind, (high - low).tolist()), 0.5 * (low + high)
    if np.abs(middle).max() <= FIT * np.linalg.norm(high - low):
        return found
    return {"kind": "compound", "parts": [{"shape": found, "position": middle.tolist()}]}


def recognise(points: Any, triangles: Any) -> str:
    """What a mesh is: ``box``, ``ellipsoid``, ``sphere``, ``convex_hull`` or ``mesh``."""
    low, high = points.min(axis=0), points.max(axis=0)
    half, middle = 0.5 * (high - low), 0.5 * (low + high)
    if half.min() <= FIT * half.max():
        return "mesh"
    scaled = (points - middle) / half
    distinct = np.unique(np.round(scaled, 4), axis=0)
    if len(distinct) == 8 and np.abs(np.abs(scaled) - 1.0).max() < FIT:
        return "box"
    radius = np.linalg.norm(scaled, axis=1)
    if len(distinct) >= ROUND and np.abs(radius - 1.0).max() < 100 * FIT:
        return "sphere" if np.ptp(half) < FIT * half.max() else "ellipsoid"
    return "convex_hull" if convex(points, triangles) else "mesh"


def convex(points: Any, triangles: Any) -> bool:
    """Whether no corner lies in front of a triangle."""
    a, b, c = points[triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    normal, a = normal[length > 0.0] / length[length > 0.0, None], a[length > 0.0]
    size = np.linalg.norm(np.ptp(points, axis=0))
    return all((points @ n - p @ n).max() <= FIT * size for n, p in zip(normal, a, strict=True))


def closed(triangles: Any) -> bool:
    """Whether every edge has two triangles, one on either side."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    there = {tuple(edge) for edge in edges.tolist()}
    return len(there) == len(edges) and all((b, a) in there for a, b in there)


def _triangles(points: Any, triangles: Any, static: bool) -> dict[str, Any]:
    """A mesh as it is; one that moves is split into convex parts."""
    used, index = np.unique(triangles, return_inverse=True)
    found = {"kind": "mesh", "vertices": points[used].tolist(), "triangles": index.reshape(-1, 3).tolist()}
    return found if static else {**found, "decompose": True}


def _solid(kind: str, size: list[float]) -> dict[str, Any]:
    """A solid that fills a box of this size, round ones about z."""
    x, y, z = (max(length, 1e-9) for length in size)
    radius = 0.5 * max(x, y)
    return {
        "box": {"kind": "box", "x": x, "y": y, "z": z},
        "sphere": {"kind": "sphere", "radius": 0.5 * max(x, y, z)},
        "ellipsoid": {"kind": "ellipsoid", "x": 0.5 * x, "y": 0.5 * y, "z": 0.5 * z},
        "capsule": {"kind": "capsule", "radius": radius, "length": max(z, 2.0 * radius)},
        "cylinder": {"kind": "cylinder", "radius": radius, "length": z},
        "cone": {"kind": "cone", "radius": radius, "height": z},
    }[kind]
