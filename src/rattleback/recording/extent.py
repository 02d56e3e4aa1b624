"""How far a scene reaches, as a camera needs to know it: planes, huge statics and what has flown away do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.maths.rotation import matrix_from_quaternion
from rattleback.recording.picture import solid_of
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.model import Body
    from rattleback.recording.snapshot import Snapshot

    Floats = NDArray[np.float64]

# A static body this much larger than all that moves is scenery.
HUGE = 3.0
# A body this many times farther from the middle than nine tenths of all are has flown away.
AWAY = 4.0
# Of a long film, about so many moments tell how far it reaches.
MOST_SNAPSHOTS = 150
CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])


def extent(snapshots: Sequence[Snapshot]) -> Floats:
    """Corners of boxes around the bodies in all snapshots, shape (points, 3) [m].

    Left out are planes, static bodies more than three times as large as all that moves, and bodies that have flown
    away. Where nothing is left, it is a cube of 2 m about the origin.
    """
    boxes: dict[int, Floats] = {}
    some = snapshots[:: 1 + len(snapshots) // MOST_SNAPSHOTS]
    points = _near([_corners(snapshot, False, boxes) for snapshot in (*some, snapshots[-1])])
    fixed = _corners(snapshots[-1], True, boxes)
    if len(points):
        sizes = np.linalg.norm(np.ptp(fixed, axis=1), axis=1)
        fixed = fixed[sizes <= HUGE * np.linalg.norm(np.ptp(points, axis=0))]
    found = np.concatenate([points, fixed.reshape(-1, 3)])
    return found if len(found) else 2.0 * CORNERS - 1.0


def _corners(snapshot: Snapshot, static: bool, boxes: dict[int, Floats]) -> Floats:
    """Corners of boxes around bodies that move, or around static ones, in the world, shape (bodies, 8, 3) [m].

    Args:
        snapshot: The snapshot.
        static: Whether static bodies are meant.
        boxes: The boxes known so far, in the frames of their bodies, by the identity of the body.
    """
    bodies = snapshot.scene.bodies
    rows = [row for row, body in enumerate(bodies) if body.static == static and not isinstance(body.shape, Plane)]
    if not rows:
        return np.zeros((0, 8, 3))
    for row in rows:
        if id(bodies[row]) not in boxes:
            boxes[id(bodies[row])] = _box(bodies[row])
    own = np.stack([boxes[id(bodies[row])] for row in rows])
    turn = matrix_from_quaternion(snapshot.orientation[rows])
    placed: Floats = np.einsum("bij,bkj->bki", turn, own) + snapshot.origin[rows][:, None]
    return placed


def _box(body: Body) -> Floats:
    """Corners of the box around a body in its own frame, shape (8, 3) [m]."""
    low, high = (np.asarray(corner) for corner in solid_of(body).bounds())
    return low + CORNERS * (high - low)


def _near(corners: list[Floats]) -> Floats:
    """The points of boxes, each (bodies, 8, 3), that have not flown away, shape (points, 3)."""
    boxes = np.concatenate(corners)
    if not len(boxes):
        return np.zeros((0, 3))
    middles = boxes.mean(axis=1)
    away = np.linalg.norm(middles - np.median(middles, axis=0), axis=1)
    size = float(np.median(np.linalg.norm(np.ptp(boxes, axis=1), axis=1)))
    kept = away <= AWAY * max(float(np.quantile(away, 0.9)), size)
    return boxes[kept].reshape(-1, 3)
