"""How far a scene reaches, as a camera needs to know it: planes, huge statics and what has flown away do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.maths.rotation import matrix_from_quaternion
from rattleback.recording.joint_marks import hooks
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


def extent(snapshots: Sequence[Snapshot], joints: bool = False) -> Floats:
    """Corners of boxes around the bodies in all snapshots, shape (points, 3) [m].

    Left out are planes, static bodies more than three times as large as all that moves, and bodies that have flown
    away. Where nothing is left, it is a cube of 2 m about the origin.

    Args:
        snapshots: The snapshots.
        joints: Whether joints count, where they are marked and stand.
    """
    boxes: dict[int, Floats] = {}
    some = _some(snapshots)
    points = _near([_corners(snapshot, False, boxes) for snapshot in some])
    fixed = _corners(snapshots[-1], True, boxes)
    if len(points):
        sizes = np.linalg.norm(np.ptp(fixed, axis=1), axis=1)
        fixed = fixed[sizes <= HUGE * np.linalg.norm(np.ptp(points, axis=0))]
    found = np.concatenate([points, fixed.reshape(-1, 3), *([hooks(snapshots[-1].scene)] if joints else ())])
    return found if len(found) else 2.0 * CORNERS - 1.0


def lowest(snapshots: Sequence[Snapshot]) -> float:
    """Height of the lowest point of all bodies in all snapshots [m]; ∞ without a body."""
    boxes: dict[int, Floats] = {}
    corners = [_corners(snapshot, static, boxes) for snapshot in _some(snapshots) for static in (False, True)]
    return float(min(np.min(one[..., 2], initial=np.inf) for one in corners))


def body_boxes(snapshot: Snapshot) -> tuple[Floats, Floats]:
    """Lower and upper corners of boxes around the bodies, along the axes of the world (bodies, 3) [m].

    They are not finite for planes.
    """
    bodies = snapshot.scene.bodies
    low, high = (np.full((len(bodies), 3), np.nan) for _ in range(2))
    for static in (False, True):
        rows, corners = _rows(snapshot, static), _corners(snapshot, static, {})
        low[rows], high[rows] = corners.min(axis=1), corners.max(axis=1)
    return low, high


def _some(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Snapshots enough to tell how far all of them reach, the last one among them."""
    return [*snapshots[:: 1 + len(snapshots) // MOST_SNAPSHOTS], snapshots[-1]]


def _rows(snapshot: Snapshot, static: bool) -> list[int]:
    """Rows of the bodies that move, or of the static ones, but for planes."""
    bodies = enumerate(snapshot.scene.bodies)
    return [row for row, body in bodies if body.static == static and not isinstance(body.shape, Plane)]


def _corners(snapshot: Snapshot, static: bool, boxes: dict[int, Floats]) -> Floats:
    """Corners of boxes around bodies that move, or around static ones, in the world, shape (bodies, 8, 3) [m].

    Args:
        snapshot: The snapshot.
        static: Whether static bodies are meant.
        boxes: The boxes known so far, in the frames of their bodies, by the identity of the body.
    """
    bodies, rows = snapshot.scene.bodies, _rows(snapshot, static)
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
