"""Ground, light, sky and the first look at a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.shapes import Plane
from rattleback.viewer.drawing.batches import solids
from rattleback.viewer.drawing.bodies import layout_of
from rattleback.viewer.drawing.surroundings import FLAT, lay_grid, light, look_at, paint_sky
from rattleback.viewer.drawing.turns import turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# At its start, a scene so many times larger or smaller is looked at anew.
OTHER_SIZE = 1.3


class Ground:
    """Planes of the scene as grids that catch shadows; without one, a grid below the scene where things fall.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.
        shadows: Whether there are shadows.

    Args:
        window: The page.
    """

    title = "Ground"

    def __init__(self, window: Window) -> None:
        self.visible, self.shadows = True, True
        self._window = window
        self._handles: list[Any] = []
        self._lamp: Any = None
        self._seen: tuple[str, int, float] = ("", 0, 0.0)
        paint_sky(window.server.scene)

    def renew(self, frame: Frame) -> None:
        """Lay the ground of another scene, and look at it if it is quite another."""
        layout = layout_of(self._window, frame)
        for handle in self._handles:
            handle.remove()
        self._handles = list(self._lay(frame, layout))
        self._lamp = light(self._window.server.scene, self.shadows)
        if self._is_another(frame, layout):
            self._seen = (frame.picture.scene.name, len(frame.pictures), layout.size)
            look_at_all(self._window, layout)

    def show(self, frame: Frame) -> None:
        """Show it or not."""
        for handle in self._handles:
            handle.visible = self.visible
        if self._lamp is not None and self._lamp.cast_shadow != self.shadows:
            self._lamp.cast_shadow = self.shadows

    def _is_another(self, frame: Frame, layout: Layout) -> bool:
        """Whether a scene is not the one looked at last with something changed."""
        name, pictures, size = self._seen
        if (frame.picture.scene.name, len(frame.pictures)) != (name, pictures):
            return True
        return frame.steps == 0 and not size / OTHER_SIZE < layout.size < size * OTHER_SIZE

    def _lay(self, frame: Frame, layout: Layout) -> Iterator[Any]:
        """A grid for every plane."""
        planes = list(dict.fromkeys(plane for picture in frame.pictures[:1] for plane in _planes(picture)))
        if not planes and np.linalg.norm(frame.picture.scene.gravity) > 0.0:
            planes = [((0.0, 0.0, 1.0), layout.floor - 0.01 * layout.size)]
        for number, (normal, offset) in enumerate(planes):
            # A flat ground is for all pictures; a slope or a wall for each.
            flat = normal[2] > FLAT
            apart = layout.offsets - layout.offsets.mean(axis=0)
            for k, own in enumerate(apart[:1] * 0.0 if flat else apart):
                yield lay_grid(
                    self._window.server.scene,
                    f"/ground/{number}_{k}",
                    (np.array(normal), offset),
                    layout.middle + own,
                    layout.size,
                    self.visible,
                )


def look_at_all(window: Window, layout: Layout) -> None:
    """Turn all cameras to the whole scene, also those of whoever comes later."""
    look_at(window.server, layout.corners, layout.size)


def _planes(picture: Picture) -> Iterator[tuple[tuple[float, ...], float]]:
    """Normals and offsets in the world [m] of the planes of a scene."""
    for row, body in enumerate(picture.scene.bodies):
        for shape, *_ in solids(body):
            if isinstance(shape, Plane):
                normal = turned(picture.orientation[row][None], np.array([shape.normal]))[0]
                offset = shape.offset + float(normal @ picture.position[row])
                yield tuple(normal.round(12).tolist()), offset
