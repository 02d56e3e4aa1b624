"""Where the pictures of a frame stand beside each other, and how large what is in them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.recording.reach import reach
from rattleback.viewer.drawing.batches import solids
from rattleback.viewer.drawing.turns import turned

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.recording.reach import Reach
    from rattleback.viewer.frame import Frame, Picture

    Floats = NDArray[np.float64]

# Pictures stand this much farther apart than they are wide.
SPACING = 1.25
# Surroundings count as far as this many diagonals of what moves.
SURROUNDINGS = 1.2
# What is this many times farther from the middle than nine tenths of all that moves has flown away.
AWAY = 4.0
# Part of the scene's width that is left free around it, and above it.
ROOM = 0.06
SIGNS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)


@dataclass(frozen=True)
class Layout:
    """Sizes of a scene and the places of its pictures.

    Attributes:
        low: Lower corner of a box around each picture, with what its motion reaches (3,) [m].
        high: Upper corner (3,) [m].
        offsets: What is added to the places of each picture (pictures, 3) [m].
        body: Size of a usual body [m].
        depth: Height that nothing is expected below [m]; −∞ where something may fall on and on.
    """

    low: Floats
    high: Floats
    offsets: Floats
    body: float
    depth: float

    @property
    def size(self) -> float:
        """Diagonal of the box [m]."""
        return float(np.linalg.norm(self.high - self.low))

    @property
    def middle(self) -> Floats:
        """Middle of all pictures (3,) [m]."""
        return np.asarray(0.5 * (self.low + self.high) + self.offsets.mean(axis=0))

    @property
    def corners(self) -> Floats:
        """Corners of boxes around all pictures, with a little room (corners, 3) [m]."""
        room = ROOM * (self.high - self.low)
        low, high = self.low - room * (1.0, 1.0, 0.0), self.high + room
        box = low + SIGNS * (high - low)
        return np.asarray((self.offsets[:, None, :] + box).reshape(-1, 3))


def lay_out(frame: Frame) -> Layout:
    """The layout of the pictures of a frame, side by side along the broader side of the scene."""
    found = [extent(picture) for picture in frame.pictures]
    low, high = np.min([one[0] for one in found], axis=0), np.max([one[1] for one in found], axis=0)
    step = np.zeros(3)
    widths = (high - low)[:2]
    broad = 0 if widths[0] >= widths[1] else 1
    step[broad] = SPACING * max(widths[broad], 0.5 * float(np.linalg.norm(high - low)))
    offsets = np.arange(len(frame.pictures))[:, None] * step
    return Layout(low, high, offsets, found[0][2], min(one[3] for one in found))


def extent(picture: Picture) -> tuple[Floats, Floats, float, float]:
    """A box around a scene, the size of a usual body, and how deep anything gets.

    What moves counts with all that its motion reaches, surroundings only near it, planes and what has flown away not.

    Returns:
        Lower and upper corner of the box (3,) [m]; size of a usual body [m]; height that nothing is expected below [m].
    """
    rows, low, high = _boxes(picture)
    static = np.array([body.static for body in picture.scene.bodies], dtype=np.bool_)[rows]
    own = ~static if np.any(~static) else np.ones(len(rows), dtype=np.bool_)
    there = _reach(picture, rows, low, high)
    near = own & _stayed(0.5 * (low + high), high - low, own)
    points = np.concatenate([low[near], high[near], there.low, there.high, *([] if len(rows) else [SIGNS - 0.5])])
    lowest, highest = points.min(axis=0), points.max(axis=0)
    size = float(np.linalg.norm(highest - lowest))
    sizes = np.linalg.norm(high - low, axis=1)[own]
    body = float(np.median(sizes[sizes > 0.0])) if np.any(sizes > 0.0) else 0.2 * size
    margin = SURROUNDINGS * max(size, body)
    inner, outer = lowest - margin, highest + margin
    for edge, pick, others in ((lowest, np.minimum, low[static]), (highest, np.maximum, high[static])):
        edge[:] = pick.reduce(np.concatenate([edge[None], np.clip(others, inner, outer)]))
    return (lowest, highest, body, there.depth) if size > 0.0 else (lowest - 0.5, highest + 0.5, 0.2, there.depth)


def box_around(picture: Picture, names: Collection[str]) -> Floats | None:
    """Corners of a box around some bodies where they are now (8, 3) [m]; None where none of them has an end."""
    wanted = {picture.scene.index(name) for name in names}
    rows, low, high = _boxes(picture)
    here = np.array([row in wanted for row in rows], dtype=np.bool_)
    if not np.any(here):
        return None
    lowest, highest = low[here].min(axis=0), high[here].max(axis=0)
    return np.asarray(lowest + SIGNS * (highest - lowest))


def _reach(picture: Picture, rows: NDArray[np.int64], low: Floats, high: Floats) -> Reach:
    """What the motion of a scene reaches, but for what has flown away."""
    lows, highs = (np.full((len(picture.scene.bodies), 3), np.nan) for _ in range(2))
    moving = np.array([not picture.scene.bodies[row].static for row in rows], dtype=np.bool_)
    kept = ~moving | _stayed(0.5 * (low + high), high - low, moving)
    lows[rows[kept]], highs[rows[kept]] = low[kept], high[kept]
    return reach(picture, lows, highs)


def _stayed(middles: Floats, sizes: Floats, moving: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of some boxes have not flown away from those that move (boxes,)."""
    if not np.any(moving):
        return np.ones(len(middles), dtype=np.bool_)
    away = np.linalg.norm(middles - np.median(middles[moving], axis=0), axis=1)
    size = float(np.median(np.linalg.norm(sizes[moving], axis=1)))
    return np.asarray(away <= AWAY * max(float(np.quantile(away[moving], 0.9)), size))


def _boxes(picture: Picture) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Boxes along the axes of the world around bodies that have an end: rows (boxes,), corners (boxes, 3) [m]."""
    rows, corners = [], []
    known: dict[int, Floats | None] = {}
    for row, body in enumerate(picture.scene.bodies):
        if id(body.shape) not in known or body.shape is None:
            known[id(body.shape)] = _corners(body)
        if (found := known[id(body.shape)]) is not None:
            rows.append(row)
            corners.append(found - body.center_of_mass)
    if not rows:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 3))
    sizes = [len(own) for own in corners]
    bodies = np.repeat(rows, sizes)
    points = turned(picture.orientation[bodies], np.concatenate(corners)) + picture.position[bodies]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    low, high = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    return np.array(rows, dtype=np.int64), low, high


def _corners(body: Body) -> Floats | None:
    """Corners of the boxes around the solids of a body, in its frame (corners, 3) [m]; None for what has no end."""
    found = []
    for shape, place, turn in solids(body):
        low, high = shape.bounds()
        if not np.all(np.isfinite(high - low)):
            return None
        found.append(turned(np.tile(turn, (8, 1)), low + SIGNS * (high - low)) + place)
    return np.concatenate(found) if found else body.center_of_mass[None]
