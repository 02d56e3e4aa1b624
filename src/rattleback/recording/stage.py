"""A stage for solids: triangles and lines seen by a camera without perspective, painted from back to front.

    (u, v, d) = (x · right, x · up, x · toward),   brightness = ambient + (1 − ambient) (1 + n · light)/2

x a point in the world, right, up, toward the axes of the camera, d nearness, n normal of a triangle; light from behind
does not leave a face black. Triangles that face away are left out, long ones are cut into short ones, so that painting
by nearness puts all of them in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.style import INK
from rattleback.recording.tessellation import Surface, refine

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

AMBIENT = 0.5
# From above, a little from the left and from the front; length one.
LIGHT_IN_CAMERA = np.array([-3.0, 6.0, 2.0]) / 7.0


class Stage:
    """What is to be painted.

    Args:
        azimuth: Direction the camera looks from, about z from the x axis [rad].
        elevation: Angle it looks down by [rad].
    """

    def __init__(self, azimuth: float, elevation: float) -> None:
        ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
        self.axes = np.array([(-sa, ca, 0.0), (-se * ca, -se * sa, ce), (ce * ca, ce * sa, se)])
        self._polygons: list[NDArray[np.float64]] = []
        self._nearness: list[NDArray[np.float64]] = []
        self._colours: list[NDArray[np.float64]] = []
        self._widths: list[NDArray[np.float64]] = []

    def see(self, points: ArrayLike) -> NDArray[np.float64]:
        """Points as the camera sees them: (u, v, nearness) [m], shape (..., 3)."""
        seen: NDArray[np.float64] = np.asarray(points, dtype=np.float64) @ self.axes.T
        return seen

    def add_solid(self, surface: Surface, colour: ArrayLike, longest: float) -> None:
        """Add a surface whose vertices are in the world.

        Args:
            surface: Its triangles [m].
            colour: Red, green, blue from 0 to 1.
            longest: Length above which an edge is cut [m].
        """
        vertices, triangles = refine(surface, longest)
        corners = self.see(vertices[triangles])
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(normal, axis=1)
        front = normal[:, 2] > 1e-9 * length.max(initial=0.0)
        corners, normal = corners[front], normal[front] / length[front, None]
        lit = AMBIENT + (1.0 - AMBIENT) * (0.5 + 0.5 * normal @ LIGHT_IN_CAMERA)
        shine = 0.25 * np.clip(normal @ _halfway(), 0.0, None) ** 24
        self._add(corners, lit[:, None] * np.asarray(colour) + shine[:, None], 0.8)

    def add_line(self, points: NDArray[np.float64], colours: NDArray[np.float64], width: float) -> None:
        """Add a line through points of the world (points, 3) [m], each piece in its own colour (points − 1, 3)."""
        seen = self.see(points)
        self._add(np.stack([seen[:-1], seen[1:], seen[1:]], axis=1), colours, width)

    @property
    def aspect(self) -> float:
        """Width over height of all that was added."""
        low, high = self._corners()
        width, height = high - low
        return float(width / height) if height > 0.0 else np.inf

    def paint(self, axes: Any) -> None:
        """Paint everything on Matplotlib axes, the farthest first, with the same scale in both directions."""
        from matplotlib.collections import PolyCollection

        order = np.argsort(np.concatenate(self._nearness), kind="stable")
        polygons: Any = np.concatenate(self._polygons)[order]
        colours = np.clip(np.concatenate(self._colours)[order], 0.0, 1.0)
        paint: dict[str, Any] = {
            "facecolors": colours,
            "edgecolors": colours,
            "linewidths": np.concatenate(self._widths)[order],
        }
        axes.add_collection(PolyCollection(polygons, capstyle="round", **paint), autolim=False)
        low, high = self._corners()
        margin = 0.02 * (high - low).max() or 1.0
        axes.set_xlim(low[0] - margin, high[0] + margin)
        axes.set_ylim(low[1] - margin, high[1] + margin)
        axes.set_aspect("equal")
        axes.axis("off")
        _add_scale(axes, low, high)

    def _corners(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower left and upper right corner of all that was added, each (2,) [m]."""
        points = np.concatenate([part.reshape(-1, 2) for part in self._polygons])
        return points.min(axis=0), points.max(axis=0)

    def _add(self, corners: NDArray[np.float64], colours: NDArray[np.float64], width: float) -> None:
        self._polygons.append(corners[:, :, :2])
        self._nearness.append(corners[:, :, 2].mean(axis=1))
        self._colours.append(np.broadcast_to(colours, (len(corners), 3)))
        self._widths.append(np.full(len(corners), width))


def _add_scale(axes: Any, low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
    """A bar that shows a round length, under the lower left corner."""
    wanted = 0.12 * (high[0] - low[0]) or 1.0
    power = 10.0 ** np.floor(np.log10(wanted))
    length = power * max(step for step in (1.0, 2.0, 5.0) if step * power <= wanted)
    across = (high - low).max() or 1.0
    y = low[1] - 0.01 * across
    axes.plot([low[0], low[0] + length], [y, y], color=INK, linewidth=1.6, solid_capstyle="butt")
    axes.text(low[0] + length + 0.008 * across, y, f"{length:g} m", color=INK, fontsize=10, va="center")


def _halfway() -> NDArray[np.float64]:
    """The direction halfway between light and camera, where a surface shines."""
    half = LIGHT_IN_CAMERA + np.array([0.0, 0.0, 1.0])
    return half / np.linalg.norm(half)
