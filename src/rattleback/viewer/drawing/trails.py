"""Trails: the paths of the last seconds, of no more bodies than can be told apart."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.bodies import bodies_of, layout_of
from rattleback.viewer.drawing.colours import by_body
from rattleback.viewer.drawing.crowd import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# Length of a trail [s] and the points it is made of.
SECONDS, POINTS = 3.0, 60
MOST_BODIES = 60
# Trails begin in this colour and end in that of their body.
PALE = np.array([235.0, 238.0, 242.0])


class Trails:
    """The paths of bodies in the last seconds.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.

    Args:
        window: The page.
    """

    title = "Trails"

    def __init__(self, window: Window) -> None:
        self.visible = False
        self._window, self._scene = window, window.server.scene
        self._layout: Layout | None = None
        self._rows = np.zeros(0, dtype=np.int64)
        self._colours = np.zeros((0, 2, 3), dtype=np.uint8)
        self._path: deque[tuple[float, Floats]] = deque(maxlen=POINTS)
        self._handle: Any = None

    def renew(self, frame: Frame) -> None:
        """Choose the bodies of another scene that leave trails."""
        self._hide()
        self._layout = layout_of(self._window, frame)
        bodies = [body for picture in frame.pictures for body in picture.scene.bodies]
        moving = np.flatnonzero([not body.static for body in bodies])
        chosen = np.linspace(0, len(moving) - 1, min(len(moving), MOST_BODIES)).round().astype(np.int64)
        self._rows = moving[chosen] if len(moving) else moving
        drawn = bodies_of(self._window)
        known = {} if drawn is None else drawn.colours.known
        own = np.concatenate([by_body(picture.scene, known) for picture in frame.pictures])[self._rows]
        part = np.stack([np.arange(POINTS - 1), np.arange(1, POINTS)], axis=1)[:, None, :, None] / (POINTS - 1)
        mixed = (1.0 - part) * PALE + part * own[None, :, None, :]
        self._colours = mixed.reshape(-1, 2, 3).astype(np.uint8)

    def show(self, frame: Frame) -> None:
        """Draw the paths as far as they are known."""
        if not self.visible or self._layout is None or not len(self._rows):
            self._hide()
            return
        if self._path and frame.time < self._path[-1][0]:
            self._path.clear()
        if self._path and frame.time < self._path[-1][0] + SECONDS / POINTS:
            return
        self._path.append((frame.time, joined(frame.pictures, self._layout.offsets)[0][self._rows]))
        known = np.array([place for _, place in self._path])
        path = np.concatenate([np.repeat(known[:1], POINTS - len(known), axis=0), known])
        points = np.stack([path[:-1], path[1:]], axis=2).reshape(-1, 2, 3)
        if self._handle is None:
            self._handle = self._scene.add_line_segments(
                "/trails", points, self._colours, thickness=2.5, thickness_units="screen"
            )
        self._handle.points = points

    def _hide(self) -> None:
        self._path.clear()
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
