"""Marks of what a hand does: an arrow that grows from the grabbed point, a thread to the pointer, a few words."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COLOR = (235, 88, 0)
# Width of a thread [pixels].
WIDTH = 3.0
# Radii and length of an arrow's shaft and head, by the size of the body.
SHAFT, HEAD, TIP = 0.03, 0.08, 0.2


class Mark:
    """An arrow or a thread on the page, with words at its end.

    Args:
        server: What serves the page.
        name: What its pieces are called in the scene, but for their ends.
        size: Size of the body it is for [m].
        arrow: Whether it is an arrow, and else a thread.
    """

    def __init__(self, server: Any, name: str, size: float, arrow: bool) -> None:
        here = np.zeros((1, 2, 3), dtype=np.float32)
        # The mouse and the page's own thread both come here, and what is removed must not be written to.
        self._lock, self._there = threading.Lock(), True
        self._line: Any
        if arrow:
            radii = {"shaft_radius": SHAFT * size, "head_radius": HEAD * size, "head_length": TIP * size}
            self._line = server.scene.add_arrows(f"{name}_line", here, COLOR, visible=False, **radii)
        else:
            self._line = server.scene.add_line_segments(
                f"{name}_line", here, COLOR, thickness=WIDTH, thickness_units="screen", visible=False
            )
        self._words = server.scene.add_label(f"{name}_words", "", visible=False, anchor="bottom-center")

    def point(self, start: Floats, end: Floats, words: str) -> None:
        """Show it between two points (3,) [m], with some words."""
        with self._lock:
            if self._there:
                self._line.points = np.array([[start, end]], dtype=np.float32)
                self._line.visible = True
                self._words.position = end
                self._words.text = words
                self._words.visible = bool(words)

    def lean(self, across: float, up: float) -> None:
        """Write the words beyond its end, which lies in this direction on the screen."""
        if abs(across) > abs(up):
            anchor = "center-left" if across > 0.0 else "center-right"
        else:
            anchor = "bottom-center" if up > 0.0 else "top-center"
        with self._lock:
            if self._there:
                self._words.anchor = anchor

    def remove(self) -> None:
        """Take it off the page."""
        with self._lock:
            self._there = False
            self._line.remove()
            self._words.remove()
