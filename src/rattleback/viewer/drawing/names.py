"""Names of bodies, written beside them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.bodies import bodies_of, layout_of
from rattleback.viewer.drawing.crowd import joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

# More of them hide each other, and each is a message of its own; they move so often [1/s].
MOST, RATE = 48, 12.0


class Names:
    """The names of the bodies, those that move first.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.

    Args:
        window: The page.
    """

    title = "Names"

    def __init__(self, window: Window) -> None:
        self.visible = False
        self._window, self._layout = window, None
        self._labels: list[tuple[int, Any]] = []
        self._hidden: frozenset[str] = frozenset()
        self._moved = 0.0

    _layout: Layout | None

    def renew(self, frame: Frame) -> None:
        """Forget those of another scene."""
        self._layout = layout_of(self._window, frame)
        self._drop()

    def show(self, frame: Frame) -> None:
        """Write those there are where the bodies are now."""
        if not self.visible or self._layout is None:
            self._drop()
            return
        bodies = bodies_of(self._window)
        hidden = frozenset[str]() if bodies is None else bodies.hidden
        now = time.perf_counter()
        if self._labels and hidden == self._hidden and frame.playing and now - self._moved < 1.0 / RATE:
            return
        if hidden != self._hidden:
            self._drop()
        self._hidden, self._moved = hidden, now
        place = joined(frame.pictures, self._layout.offsets)[0]
        if not self._labels:
            self._make(frame, place)
        for row, label in self._labels:
            if not np.array_equal(label.position, place[row]):
                label.position = place[row]

    def _make(self, frame: Frame, place: NDArray[np.float64]) -> None:
        bodies = [body for picture in frame.pictures for body in picture.scene.bodies]
        rows = sorted((row for row, body in enumerate(bodies) if body.name not in self._hidden),
                      key=lambda row: bodies[row].static)  # fmt: skip
        scene: Any = self._window.server.scene
        self._labels = [
            (row, scene.add_label(f"/names/{row}", bodies[row].name, position=place[row], anchor="center-left"))
            for row in rows[:MOST]
        ]

    def _drop(self) -> None:
        for _, label in self._labels:
            label.remove()
        self._labels = []
