"""Ground, light, sky and the look at a scene."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.shapes import Plane
from rattleback.viewer.drawing.batches import solids
from rattleback.viewer.drawing.bodies import layout_of
from rattleback.viewer.drawing.layout import lay_out
from rattleback.viewer.drawing.surroundings import FLAT, lay_grid, light, paint_sky
from rattleback.viewer.drawing.turns import turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.model.scene import Scene
    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# At its start, a scene so many times larger or smaller is looked at anew.
OTHER_SIZE = 1.3
# A floor that a scene does not have itself lies so far below all of it, beside its size.
BELOW = 0.01


class Ground:
    """Planes of the scene as grids that catch shadows; without one, a floor below all that its motion reaches.

    Where something may fall on and on there is no floor, and none from when something is below it after all.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.
        shadows: Whether there are shadows.
        lamp: What throws them; None before there is anything.

    Args:
        window: The page.
    """

    title = "Ground"

    def __init__(self, window: Window) -> None:
        self.visible, self.shadows = True, True
        self._window, self._dark = window, False
        # The page's own thread lays it, and the button that looks at all.
        self._lock, self._handles = threading.Lock(), list[Any]()
        self.lamp: Any = None
        self._laid = 0
        # Height of a floor that the scene does not have itself [m]; None where there is none.
        self._floor: float | None = None
        self._seen: tuple[str, int, float] = ("", 0, 0.0)
        paint_sky(window.server.scene)

    def renew(self, frame: Frame) -> None:
        """Lay the ground of another scene, and look at it if it is quite another."""
        layout = layout_of(self._window, frame)
        self._lay_all(frame, layout)
        self.lamp = light(self._window.server.scene, self.shadows)
        if self._is_another(frame, layout):
            self._seen = (frame.picture.scene.name, len(frame.pictures), layout.size)
            self._window.lookout.look_at(layout.corners, layout.size)

    def show(self, frame: Frame) -> None:
        """Show it or not."""
        if (dark := getattr(self._window, "dark", False)) != self._dark:
            self._dark = dark
            paint_sky(self._window.server.scene, dark)
            self._lay_all(frame, layout_of(self._window, frame))
        visible = self.visible and not self._is_passed(frame)
        for handle in self._handles:
            handle.visible = visible
        if self.lamp is not None and self.lamp.cast_shadow != self.shadows:
            self.lamp.cast_shadow = self.shadows

    def look(self, frame: Frame) -> None:
        """Turn all cameras to where the bodies are now, and lay the ground there."""
        offsets = layout_of(self._window, frame).offsets
        layout = replace(lay_out(frame), offsets=offsets)
        with self._window.server.atomic():
            self._lay_all(frame, layout)
            self.show(frame)
        self._window.lookout.look_at(layout.corners, layout.size)

    def _is_passed(self, frame: Frame) -> bool:
        """Whether something is below a floor that the scene does not have itself."""
        floor = self._floor
        return floor is not None and any(np.any(picture.position[:, 2] < floor) for picture in frame.pictures)

    def _is_another(self, frame: Frame, layout: Layout) -> bool:
        """Whether a scene is not the one looked at last with something changed."""
        name, pictures, size = self._seen
        if (frame.picture.scene.name, len(frame.pictures)) != (name, pictures):
            return True
        return frame.steps == 0 and not size / OTHER_SIZE < layout.size < size * OTHER_SIZE

    def _lay_all(self, frame: Frame, layout: Layout) -> None:
        """Lay the ground in place of what there was."""
        with self._lock:
            for handle in self._handles:
                handle.remove()
            # The page of viser 1.1.1 keeps how far a grid is seen from one of the same name.
            self._laid += 1
            self._handles = list(self._lay(frame, layout))

    def _lay(self, frame: Frame, layout: Layout) -> Iterator[Any]:
        """A grid for every plane, or for a floor."""
        planes = list(dict.fromkeys(plane for picture in frame.pictures[:1] for plane in _planes(picture)))
        self._floor = None
        if not planes and _falls_down(frame.picture.scene) and math.isfinite(layout.depth):
            self._floor = layout.depth - BELOW * layout.size
            planes = [((0.0, 0.0, 1.0), self._floor)]
        for number, (normal, offset) in enumerate(planes):
            # A flat ground is for all pictures; a slope or a wall for each.
            flat = normal[2] > FLAT
            apart = layout.offsets - layout.offsets.mean(axis=0)
            for k, own in enumerate(apart[:1] * 0.0 if flat else apart):
                yield lay_grid(
                    self._window.server.scene,
                    f"/ground/{self._laid}_{number}_{k}",
                    (np.array(normal), offset),
                    layout.middle + own,
                    layout.size,
                    self._dark,
                )


def _falls_down(scene: Scene) -> bool:
    """Whether what falls in a scene falls straight down."""
    x, y, z = scene.gravity
    return bool(z < 0.0 and x == 0.0 and y == 0.0)


def _planes(picture: Picture) -> Iterator[tuple[tuple[float, ...], float]]:
    """Normals and offsets in the world [m] of the planes of a scene."""
    for row, body in enumerate(picture.scene.bodies):
        for shape, *_ in solids(body):
            if isinstance(shape, Plane):
                normal = turned(picture.orientation[row][None], np.array([shape.normal]))[0]
                offset = shape.offset + float(normal @ picture.position[row])
                yield tuple(normal.round(12).tolist()), offset
