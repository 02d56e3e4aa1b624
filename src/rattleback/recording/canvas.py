"""What is drawn on: light as it comes, the sum of several drawings, and the picture developed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.shaders import ADD_FRAGMENT, DEVELOP_FRAGMENT, SCREEN_VERTEX, SMOOTH_FRAGMENT

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Canvas:
    """A canvas on the graphics card.

    Args:
        context: Where it is.
        size: Width and height [pixels].
        quick: Whether a picture is drawn once, and its edges smoothed afterwards.
    """

    def __init__(self, context: Any, size: tuple[int, int], quick: bool) -> None:
        self.context, self.size = context, size
        self._drawn = context.texture(size, 4, dtype="f1" if quick else "f2")
        self._drawing = context.framebuffer(self._drawn, context.depth_renderbuffer(size))
        self._total = self._drawn if quick else context.texture(size, 4, dtype="f4")
        self._sum: Any = None if quick else context.framebuffer(self._total)
        self._picture = context.framebuffer(context.renderbuffer(size, 3, dtype="f1"))
        self._sheet = context.buffer(np.array([(-1, -1), (3, -1), (-1, 3)], dtype=np.float32).tobytes())
        self._add = context.program(SCREEN_VERTEX, ADD_FRAGMENT)
        self._develop = context.program(SCREEN_VERTEX, SMOOTH_FRAGMENT if quick else DEVELOP_FRAGMENT)
        self._drawn.repeat_x = self._drawn.repeat_y = False

    def begin(self) -> None:
        """Draw to it from here on, with nothing on it."""
        self._drawing.use()
        self._drawing.clear(depth=1.0)

    def clear_sum(self) -> None:
        """Begin a sum."""
        self._sum.clear()

    def add(self, weight: float) -> None:
        """Add what was drawn to the sum."""
        self._sum.use()
        self.context.enable_only(self.context.BLEND)
        self.context.blend_func = self.context.ONE, self.context.ONE
        self._drawn.use(0)
        self._add["drawn"], self._add["weight"] = 0, weight
        self._paint(self._add)

    def develop(self) -> NDArray[np.uint8]:
        """The picture of the sum, or of the one drawing, shape (height, width, 3), upper row first."""
        self._picture.use()
        self.context.enable_only(self.context.NOTHING)
        self._total.use(0)
        self._develop["drawn"] = 0
        self._paint(self._develop)
        raw = np.frombuffer(self._picture.read(components=3, alignment=1), dtype=np.uint8)
        return raw.reshape(self.size[1], self.size[0], 3)[::-1].copy()

    def _paint(self, program: Any) -> None:
        self.context.simple_vertex_array(program, self._sheet, "corner").render(self.context.TRIANGLES)
