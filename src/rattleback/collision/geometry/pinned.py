"""Bodies that joints pin to one point of a common body, and that overlap as they start: they do not collide.

    {i, j} is excluded   where   joints hold i and j to a body c at one point of it   and   i and j overlap at the start

Two branches of a tree, or three bars on one bolt: at the pin the joints hold the bodies in one another, and contacts
would push them apart against that in every step. Pairs that ``scene.allow`` names collide all the same; bodies that are
apart at the start do, too. Joints that let the point slide do not pin it.

Cost: when a scene is compiled, one question about the overlap of all such pairs.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.scene import Scene

    Pair = tuple[int, int]

# Part of its distance from the origin by which a point may be off, and of a depth to the size of bodies: rounding.
ROUNDING = 1e-6


def pinned_pairs(scene: Scene, settled: set[Pair]) -> set[Pair]:
    """The pairs of bodies (i, j), i < j, that do not collide for that reason, without those that are settled."""
    found = sorted(_pinned_together(scene) - settled - _allowed(scene))
    if not found:
        return set()
    from rattleback.collision.queries.distance import distance

    first, second = ([scene.bodies[pair[side]] for pair in found] for side in range(2))
    size = np.array([_size(a) + _size(b) for a, b in zip(first, second, strict=True)])
    inside = distance(first, second).distance < -ROUNDING * size
    return {pair for pair, deep in zip(found, inside, strict=True) if deep}


def _size(body: Any) -> float:
    """Size of the smallest part of a body [m]."""
    return min(float(placed.shape.bounding_radius()) for placed in body.colliders)


def _allowed(scene: Scene) -> set[Pair]:
    """The pairs that ``scene.allow`` names."""
    named = [names for names, meet in scene.meetings.items() if meet]
    pairs = [sorted((scene.index(names[0]), scene.index(names[-1]))) for names in named]
    return {(i, j) for i, j in pairs}


def _pinned_together(scene: Scene) -> set[Pair]:
    """The pairs of moving bodies that joints hold to one point of a common body."""
    pins: dict[str, list[tuple[int, NDArray[np.float64]]]] = {}
    for joint in scene.joints.values():
        if sum(row.kind == "slide" for row in joint.rows()) == 3:
            for own, other, point in ((joint.a, joint.b, 0), (joint.b, joint.a, 1)):
                if other != scene.world.name and _collides(scene.bodies[scene.index(other)]):
                    pins.setdefault(own, []).append((scene.index(other), _place(scene, joint, own, point)))
    found = set()
    for held in pins.values():
        for (i, here), (j, there) in combinations(held, 2):
            if i != j and np.linalg.norm(here - there) <= ROUNDING * (1.0 + np.linalg.norm(here)):
                found.add((min(i, j), max(i, j)))
    return found


def _collides(body: Any) -> bool:
    return not body.static and bool(body.colliders)


def _place(scene: Scene, joint: Any, own: str, side: int) -> NDArray[np.float64]:
    """Where a joint holds a body at the start, in the world."""
    point = np.asarray(joint.points()[side], dtype=np.float64)
    if not joint.in_bodies or own == scene.world.name:
        return point
    body = scene.bodies[scene.index(own)]
    return np.asarray(body.position + rotation.rotate(body.orientation, point))
