"""Where the pictures of a frame stand beside each other, and how large what is in them is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.shapes import Plane
from rattleback.viewer.drawing.batches import solids
from rattleback.viewer.drawing.turns import turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.viewer.frame import Frame, Picture

    Floats = NDArray[np.float64]

# Pictures stand this much farther apart than they are wide.
SPACING = 1.25
# Surroundings count as far as this many diagonals of what moves.
SURROUNDINGS = 1.2
# Things may move this much beyond where they start; those that hang on the world fall this part of the scene's width.
ROOM, FALL = 0.12, 0.4
# So much of their fall is seen.
SEEN = 0.3
# Flights are looked ahead for twice so long [s].
LONGEST_FLIGHT = 0.6
# What slides or rolls, for so long [s].
SLIDE = 0.5
SIGNS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)


@dataclass(frozen=True)
class Layout:
    """Sizes of a scene and the places of its pictures.

    Attributes:
        low: Lower corner of a box around the first picture (3,) [m].
        high: Upper corner (3,) [m].
        offsets: What is added to the places of each picture (pictures, 3) [m].
        body: Size of a usual body [m].
        floor: Height of the ground where the scene has none [m].
    """

    low: Floats
    high: Floats
    offsets: Floats
    body: float
    floor: float

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
        """Corners of boxes around all pictures, with some room for what is going to move (corners, 3) [m]."""
        low, high = self.low.copy(), self.high + 0.5 * ROOM * (self.high - self.low)
        low[:2] -= 0.5 * ROOM * (self.high - self.low)[:2]
        low[2] -= SEEN * (self.low[2] - self.floor)
        box = low + SIGNS * (high - low)
        return np.asarray((self.offsets[:, None, :] + box).reshape(-1, 3))


def lay_out(frame: Frame) -> Layout:
    """The layout of the pictures of a frame, side by side along the broader side of the scene."""
    low, high, body = extent(frame.picture)
    step = np.zeros(3)
    widths = (high - low)[:2]
    broad = 0 if widths[0] >= widths[1] else 1
    step[broad] = SPACING * max(widths[broad], 0.5 * float(np.linalg.norm(high - low)))
    offsets = np.arange(len(frame.pictures))[:, None] * step
    return Layout(low, high, offsets, body, _floor(frame.picture, low, high))


def _floor(picture: Picture, low: Floats, high: Floats) -> float:
    """Height below which nothing is expected to fall [m]."""
    if any(body.static for body in picture.scene.bodies) or not np.any(picture.scene.gravity):
        return float(low[2])
    hangs = any(picture.scene.world.name in (joint.a, joint.b) for joint in picture.scene.joints.values())
    widest = float((high - low)[:2].max())
    return float(low[2]) - (FALL * widest if hangs else 0.1 * float(np.linalg.norm(high - low)))


def extent(picture: Picture) -> tuple[Floats, Floats, float]:
    """Lower and upper corner of a box around a scene (3,) [m], and the size of a usual body [m].

    What moves counts with all it has, surroundings only near it; a plane does not count.
    """
    rows, low, high = _boxes(picture)
    static = np.array([body.static for body in picture.scene.bodies], dtype=np.bool_)[rows]
    own = ~static if np.any(~static) else np.ones(len(rows), dtype=np.bool_)
    points = np.concatenate([low[own], high[own], *_ahead(picture), *([] if len(rows) else [SIGNS - 0.5])])
    lowest, highest = points.min(axis=0), points.max(axis=0)
    size = float(np.linalg.norm(highest - lowest))
    sizes = np.linalg.norm(high - low, axis=1)[own]
    body = float(np.median(sizes[sizes > 0.0])) if np.any(sizes > 0.0) else 0.2 * size
    margin = SURROUNDINGS * max(size, body)
    inner, outer = lowest - margin, highest + margin
    for edge, pick, others in ((lowest, np.minimum, low[static]), (highest, np.maximum, high[static])):
        near = np.clip(others, inner, outer)
        edge[:] = pick.reduce(np.concatenate([edge[None], near]))
    return (lowest, highest, body) if size > 0.0 else (lowest - 0.5, highest + 0.5, 0.2)


def _ahead(picture: Picture) -> Iterator[Floats]:
    """Points on the world that joints hold (1, 3) [m], and those that bodies without joints will fly through."""
    scene = picture.scene
    held: set[str] = set()
    for joint in scene.joints.values():
        held.update((joint.a, joint.b))
        for name, point in zip((joint.a, joint.b), joint.points(), strict=True):
            if name == scene.world.name:
                yield point[None]
    fall = float(np.linalg.norm(scene.gravity))
    planes = [body.shape for body in scene.bodies if isinstance(body.shape, Plane)]
    for row, body in enumerate(scene.bodies):
        if not body.static and body.name not in held and fall > 0.0:
            velocity = picture.velocity[row]
            # Half the time until it is as high as it was; the highest point, and where it comes down.
            rise = min(max(-float(velocity @ scene.gravity) / fall**2, 0.0), LONGEST_FLIGHT)
            for t in (rise, 2.0 * rise):
                yield (picture.position[row] + t * velocity + 0.5 * t**2 * scene.gravity)[None]
            level = velocity - (velocity @ scene.gravity) / fall**2 * scene.gravity
            yield (picture.position[row] + SLIDE * level)[None]
            for plane in planes:
                drop = plane.offset - np.dot(plane.normal, picture.position[row])
                yield (picture.position[row] + drop * np.array(plane.normal))[None]


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
