"""The solids of a scene by mould: what changes from picture to picture is one small table for each mould.

place = origin of the body + R (place in the body),      turn = turn of the body · turn in the body
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.joints.joint import turn_to
from rattleback.maths.rotation import multiply, rotate
from rattleback.recording.joint_marks import Span, marks, rods, spans
from rattleback.recording.moulds import Cast, Mould, casts, mould
from rattleback.recording.picture import solid_of
from rattleback.shapes import Box, Cylinder, Plane

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.model import Scene
    from rattleback.recording.snapshot import Snapshot

    Floats = NDArray[np.float64]

# Flat pieces around a circle, for at most so many solids: a crowd need not be as round as a ball alone.
ROUNDNESS = ((64, 60), (400, 36), (2000, 24), (2**62, 14))
# The shape of rods between points of two bodies.
ROD = Cylinder(1.0, 2.0)
# Columns of the table: place, turn, size, rounding, colour.
COLUMNS = 14


class Castings(NamedTuple):
    """The solids of one mould.

    Attributes:
        mould: The mould.
        body: Row of the body each belongs to, shape (solids,); one past the last body for the world.
        paint: Row of its colour, shape (solids,).
        position: Place in the body, shape (solids, 3) [m].
        orientation: Turn in the body, shape (solids, 4).
        fixed: Size and rounding, shape (solids, 4) [m].
        sharp: Whether they are what they are without their rounding, too.
    """

    mould: Mould
    body: NDArray[np.int64]
    paint: NDArray[np.int64]
    position: Floats
    orientation: Floats
    fixed: Floats
    sharp: bool

    def table(self, snapshot: Snapshot, colours: Floats, middle: ArrayLike) -> NDArray[np.float32]:
        """What the graphics card needs of each solid, shape (solids, COLUMNS), with ``middle`` as the origin."""
        origin = np.concatenate([snapshot.origin, np.zeros((1, 3))])[self.body]
        turn = np.concatenate([snapshot.orientation, [[0.0, 0.0, 0.0, 1.0]]])[self.body]
        place = origin + rotate(turn, self.position) - np.asarray(middle)
        parts = [place, multiply(turn, self.orientation), self.fixed, colours[self.paint]]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def sharpened(self, finest: float) -> Castings:
        """The same solids, but roundings that are finer than that are left out [m]."""
        fine = self.sharp & (self.fixed[:, 3] < finest)
        added = np.where(fine[:, None], self.fixed[:, 3:], 0.0) * (1.0, 1.0, 1.0, -1.0)
        return self._replace(fixed=self.fixed + added)


class Spans(NamedTuple):
    """Rods between points of two bodies, which turn and stretch as the points move.

    Attributes:
        mould: The mould of a cylinder.
        body: Rows of the bodies at both ends, shape (rods, 2); one past the last body for the world.
        paint: Row of the colour of all.
        points: The ends in the frames of the bodies, shape (rods, 2, 3) [m].
        radius: Radii, shape (rods,) [m].
    """

    mould: Mould
    body: NDArray[np.int64]
    paint: int
    points: Floats
    radius: Floats

    def table(self, snapshot: Snapshot, colours: Floats, middle: ArrayLike) -> NDArray[np.float32]:
        """As of ``Castings``."""
        origin = np.concatenate([snapshot.origin, np.zeros((1, 3))])[self.body]
        turn = np.concatenate([snapshot.orientation, [[0.0, 0.0, 0.0, 1.0]]])[self.body]
        ends = origin + rotate(turn, self.points)
        way = ends[:, 1] - ends[:, 0]
        size = np.stack([self.radius, self.radius, 0.5 * np.linalg.norm(way, axis=1), 0.0 * self.radius], axis=1)
        paint = np.tile(colours[self.paint], (len(way), 1))
        along = np.array([turn_to(one) for one in way])
        return np.concatenate([ends.mean(axis=1) - middle, along, size, paint], axis=1).astype(np.float32)

    def sharpened(self, finest: float) -> Spans:
        """Itself: it has no roundings."""
        return self


def batches(scene: Scene, joints: bool) -> list[Castings | Spans]:
    """All solids of a scene but its planes, by mould; with the marks of its joints if asked for.

    Colours are numbered as the bodies are; that of the marks comes after them.
    """
    found: dict[Any, list[tuple[int, int, Cast]]] = {}
    for row, body in enumerate(scene.bodies):
        if not isinstance(body.shape, Plane):
            for cast in casts(solid_of(body)):
                found.setdefault(cast.key, []).append((row, row, cast))
    if joints:
        for row, cast in (*marks(scene), *rods(scene)):
            found.setdefault(cast.key, []).append((row, len(scene.bodies), cast))
    rounded = [cast.rounding for solids in found.values() for _, _, cast in solids if cast.key in (Box, Cylinder)]
    most = float(np.median(rounded)) if rounded else 0.0
    count = sum(len(solids) for solids in found.values())
    segments = next(pieces for limit, pieces in ROUNDNESS if count <= limit)
    held = list(spans(scene)) if joints else []
    return [*(_batch(solids, segments, most) for solids in found.values()), *([_rods(scene, held)] if held else [])]


def _rods(scene: Scene, held: list[Span]) -> Spans:
    rows, points, radii = zip(*held, strict=True)
    return Spans(mould(ROD, 16), np.array(rows), len(scene.bodies), np.array(points), np.array(radii))


def _batch(solids: list[tuple[int, int, Cast]], segments: int, most: float) -> Castings:
    """The solids of one mould; none is rounded much more than the others."""
    cast_of = [cast.sharpened(1.5 * most) for _, _, cast in solids]
    return Castings(
        mould(cast_of[0].shape, segments),
        np.array([row for row, _, _ in solids], dtype=np.int64),
        np.array([paint for _, paint, _ in solids], dtype=np.int64),
        np.array([cast.position for cast in cast_of]),
        np.array([cast.orientation for cast in cast_of]),
        np.array([(*cast.size, cast.rounding) for cast in cast_of]),
        cast_of[0].key in (Box, Cylinder),
    )
