"""A camera with perspective: where it stands, what of the world it sees where, and how it finds its place by itself.

    (u, v, w) = (x − eye) · (right, up, toward)        pixel = centre + f (u, −v)/(−w),   f = height/(2 tan(φ/2))

x a point, eye the place of the camera, φ the angle it sees from the lower to the upper edge. A camera that shows all
points, none nearer to an edge than a margin, has four planes through the eye that leave all of them inside. With
t = tan(φ/2) less the margin, for the upper and the lower one:

    T = max(v + t w),  B = max(t w − v)        eye:  v = (T − B)/2,   w = (T + B)/(2t)

likewise to the sides; the larger w counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

# Looks a little from the side at what is broad, and a little down [rad].
ASIDE, ELEVATION = math.radians(28.0), math.radians(20.0)
FIELD_OF_VIEW = math.radians(32.0)
# Part of half a picture that is left free at its edges.
MARGIN = 0.09
STEEPEST = math.radians(89.9)


@sealed
@dataclass(frozen=True)
class Camera:
    """A camera; what is left out it chooses by itself, so that the scene fills the picture.

    Args:
        azimuth: Direction it looks from, about z from the x axis [rad].
        elevation: Angle it looks down by [rad], less than a right angle.
        distance: Distance from what it looks at [m].
        target: Point it looks at, in the middle of the picture (3,) [m].
        field_of_view: Angle it sees from the lower to the upper edge [rad].
    """

    azimuth: float | None = None
    elevation: float = ELEVATION
    distance: float | None = None
    target: Any = None
    field_of_view: float = FIELD_OF_VIEW

    def __post_init__(self) -> None:
        """Check what was given."""
        if self.azimuth is not None:
            self._keep("azimuth", checks.number(self.azimuth, "The azimuth of a Camera"))
        if self.distance is not None:
            self._keep("distance", checks.positive(self.distance, "The distance of a Camera"))
        if self.target is not None:
            self._keep("target", tuple(checks.vector(self.target, "The target of a Camera").tolist()))
        self._keep("elevation", checks.number(self.elevation, "The elevation of a Camera"))
        self._keep("field_of_view", checks.positive(self.field_of_view, "The field_of_view of a Camera"))
        if abs(self.elevation) > STEEPEST:
            raise InputError(
                f"The elevation of a Camera is {self.elevation!r}; it must be within ±{STEEPEST:.4f} rad, "
                "just short of straight down."
            )
        if self.field_of_view > 0.9 * math.pi:
            raise InputError(f"The field_of_view of a Camera is {self.field_of_view!r}; it must be at most 0.9 π rad.")

    @property
    def settled(self) -> bool:
        """Whether nothing is left to choose."""
        return None not in (self.azimuth, self.distance, self.target)

    def framing(self, points: ArrayLike, aspect: float) -> Camera:
        """The camera that shows all points as large as it can, where what was given leaves it the choice.

        Args:
            points: What is to be seen, shape (points, 3) [m].
            aspect: Width of the picture over its height.
        """
        if self.settled:
            return self
        seen = checks.array(points, (-1, 3), "The points a Camera is to show")
        azimuth = _facing(seen) if self.azimuth is None else self.azimuth
        turned = replace(self, azimuth=azimuth)
        if self.target is not None:
            return replace(turned, distance=turned._distance_for(seen, aspect))
        middle, distance = turned._fit(seen, aspect)
        return replace(turned, target=middle, distance=distance if self.distance is None else self.distance)

    def axes(self) -> Floats:
        """Right, up and toward the camera, as rows (3, 3)."""
        azimuth = 0.0 if self.azimuth is None else self.azimuth
        ca, sa = math.cos(azimuth), math.sin(azimuth)
        ce, se = math.cos(self.elevation), math.sin(self.elevation)
        return np.array([(-sa, ca, 0.0), (-se * ca, -se * sa, ce), (ce * ca, ce * sa, se)])

    @property
    def eye(self) -> Floats:
        """Where it stands (3,) [m]; only for a camera that has found its place."""
        self._must_be_settled()
        place: Floats = np.array(self.target) + (self.distance or 0.0) * self.axes()[2]
        return place

    def project(self, points: ArrayLike, size: tuple[int, int]) -> Floats:
        """Where points appear: pixels from the left, pixels from the top, and distance in front of the camera [m].

        Args:
            points: Points of the world, shape (..., 3) [m].
            size: Width and height of the picture [pixels].
        """
        u, v, w = np.moveaxis((np.asarray(points, dtype=np.float64) - self.eye) @ self.axes().T, -1, 0)
        scale = 0.5 * size[1] / math.tan(0.5 * self.field_of_view)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack([0.5 * size[0] - scale * u / w, 0.5 * size[1] + scale * v / w, -w], axis=-1)

    def view_matrix(self, origin: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
        """From the world, with its origin moved to ``origin``, to the axes of the camera (4, 4)."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.axes()
        matrix[:3, 3] = self.axes() @ (np.asarray(origin, dtype=np.float64) - self.eye)
        return matrix

    def projection_matrix(self, aspect: float, near: float, far: float) -> Floats:
        """From the axes of the camera to those OpenGL clips at, for depths between ``near`` and ``far`` [m] (4, 4)."""
        scale = 1.0 / math.tan(0.5 * self.field_of_view)
        depth = 1.0 / (near - far)
        return np.array(
            [
                (scale / aspect, 0.0, 0.0, 0.0),
                (0.0, scale, 0.0, 0.0),
                (0.0, 0.0, (near + far) * depth, 2.0 * near * far * depth),
                (0.0, 0.0, -1.0, 0.0),
            ]
        )

    def _fit(self, points: Floats, aspect: float) -> tuple[tuple[float, ...], float]:
        """The point to look at and the distance from it, by the four planes."""
        axes = self.axes()
        u, v, w = (points @ axes.T).T
        across, upward = self._slopes(aspect)
        right, left = float(np.max(u + across * w)), float(np.max(across * w - u))
        top, bottom = float(np.max(v + upward * w)), float(np.max(upward * w - v))
        eye = max((right + left) / (2.0 * across), (top + bottom) / (2.0 * upward))
        # The target lies halfway between the nearest and the farthest point.
        depth = 0.5 * float(w.min() + w.max())
        place = np.array([0.5 * (right - left), 0.5 * (top - bottom), depth]) @ axes
        return tuple(place.tolist()), max(eye - depth, 1e-6)

    def _distance_for(self, points: Floats, aspect: float) -> float:
        """How far from a given target all points are seen."""
        if self.distance is not None:
            return self.distance
        u, v, w = ((points - np.array(self.target)) @ self.axes().T).T
        across, upward = self._slopes(aspect)
        return max(float(np.max(w + np.abs(u) / across)), float(np.max(w + np.abs(v) / upward)), 1e-6)

    def _slopes(self, aspect: float) -> tuple[float, float]:
        """How fast the picture, less its margin, widens to the sides and upward."""
        upward = (1.0 - MARGIN) * math.tan(0.5 * self.field_of_view)
        return upward * aspect, upward

    def _must_be_settled(self) -> None:
        if not self.settled:
            raise InputError("This Camera has not found its place yet; give azimuth, distance and target, or frame it.")

    def _keep(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _facing(points: Floats) -> float:
    """The direction to look from, so that the broader side of what is there faces the camera [rad]."""
    x, y, _ = np.std(points, axis=0)
    return -0.5 * math.pi + ASIDE if x >= y else ASIDE
