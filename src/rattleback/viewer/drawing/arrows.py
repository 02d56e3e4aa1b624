"""Dots at the centres of mass, and arrows for velocities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.bodies import layout_of
from rattleback.viewer.drawing.crowd import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

DOT, ARROW = (30, 34, 40), (30, 120, 220)
# An arrow is as long as a body moves in this part of the time a thing takes to fall as far as the scene is large.
PART_OF_FALL = 0.3
# None is longer than this part of the scene, and what would be shorter than that part of a body is left out.
LONGEST, SHORTEST = 0.4, 0.02


class _Overlay:
    """Something drawn at bodies that move, made when first shown and taken away when not."""

    def __init__(self, window: Window) -> None:
        self.visible = False
        self._window, self._scene = window, window.server.scene
        self._layout: Layout | None = None
        self._moving = np.zeros(0, dtype=np.int64)
        self._handle: Any = None

    def renew(self, frame: Frame) -> None:
        """Find sizes for another scene."""
        self._layout = layout_of(self._window, frame)
        static = [body.static for picture in frame.pictures for body in picture.scene.bodies]
        self._moving = np.flatnonzero(~np.array(static, dtype=np.bool_))
        self._hide()

    def _hide(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


class Centres(_Overlay):
    """A dot at the centre of mass of everything that moves.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.

    Args:
        window: The page.
    """

    title = "Centres of mass"

    def show(self, frame: Frame) -> None:
        """Draw those there are now."""
        if not self.visible or self._layout is None or not len(self._moving):
            self._hide()
            return
        points = joined(frame.pictures, self._layout.offsets)[0][self._moving]
        if self._handle is None:
            size = 0.1 * self._layout.body
            self._handle = self._scene.add_batched_axes(
                "/centres", np.tile((1.0, 0.0, 0.0, 0.0), (len(points), 1)), points, axes_length=size,
                axes_radius=0.12 * size,
            )  # fmt: skip
        self._handle.batched_positions = points


class Velocities(_Overlay):
    """An arrow for the velocity of everything that moves.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.
        largest: The largest speed now [m/s].

    Args:
        window: The page.
    """

    title, colour, unit = "Velocities", ARROW, "m/s"
    largest = 0.0

    def show(self, frame: Frame) -> None:
        """Draw those there are now."""
        if not self.visible or self._layout is None:
            self._hide()
            return
        arrows = self._found(frame, self._layout)
        if self._handle is None:
            size = 0.12 * self._layout.body
            self._handle = self._scene.add_arrows("/velocities", arrows, ARROW, shaft_radius=0.15 * size,
                                                  head_radius=0.4 * size, head_length=size)  # fmt: skip
        elif len(arrows):
            self._handle.points = arrows
        self._handle.visible = bool(len(arrows))

    def _found(self, frame: Frame, layout: Layout) -> Floats:
        """Starts and ends of the arrows (arrows, 2, 3) [m]."""
        start = joined(frame.pictures, layout.offsets)[0][self._moving]
        velocity = np.concatenate([picture.velocity for picture in frame.pictures])[self._moving]
        self.largest = float(np.linalg.norm(velocity, axis=1).max(initial=0.0))
        ways = PART_OF_FALL * math.sqrt(2.0 * layout.size / 9.81) * velocity
        length = np.linalg.norm(ways, axis=1)
        seen = length > SHORTEST * layout.body
        shorter = np.minimum(1.0, LONGEST * layout.size / length[seen])
        return np.stack([start[seen], start[seen] + shorter[:, None] * ways[seen]], axis=1)
