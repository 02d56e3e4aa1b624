"""The ground: planes of a scene with a grid of round lengths, or a plain floor where it has none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rattleback.maths.rotation import rotate
from rattleback.shapes import Plane

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.recording.snapshot import Snapshot

    Floats = NDArray[np.float64]

# How far below all bodies a floor lies, beside the size of what is seen.
BELOW = 0.12
UPWARD = np.array([0.0, 0.0, 1.0])


class GroundPlane(NamedTuple):
    """A plane to be drawn: its normal (3,), a point of it (3,) [m], and whether it has lines."""

    normal: Floats
    point: Floats
    lines: bool

    def sides(self) -> tuple[Floats, Floats]:
        """Two directions in the plane, at right angles: x and y where it is level."""
        first = np.eye(3)[1 if abs(self.normal[0]) > 0.9 else 0]
        along = first - (first @ self.normal) * self.normal
        along /= np.linalg.norm(along)
        return along, np.cross(self.normal, along)

    def foot(self, point: Floats) -> Floats:
        """The point of the plane below another one (3,) [m]."""
        nearest: Floats = point + ((self.point - point) @ self.normal) * self.normal
        return nearest


def grounds(snapshot: Snapshot) -> list[GroundPlane]:
    """The planes of a scene where they are in a snapshot."""
    found = []
    for row, body in enumerate(snapshot.scene.bodies):
        if isinstance(body.shape, Plane):
            normal = rotate(snapshot.orientation[row], np.array(body.shape.normal))
            found.append(GroundPlane(normal, snapshot.origin[row] + body.shape.offset * normal, True))
    return found


def floor_below(points: Floats, lowest: float = math.inf) -> GroundPlane:
    """A floor below all points, shape (points, 3) [m], and below a height [m]."""
    low, high = points.min(axis=0), points.max(axis=0)
    under = min(float(low[2]), lowest) - BELOW * 0.5 * float(np.linalg.norm(high - low))
    return GroundPlane(UPWARD, np.array([0.0, 0.0, under]), False)


def round_length(length: float) -> float:
    """The largest of 1, 2, 5, 10, … that is not longer [m]."""
    power = 10.0 ** math.floor(math.log10(length))
    return power * max(step for step in (1.0, 2.0, 5.0) if step * power <= max(length, power))
