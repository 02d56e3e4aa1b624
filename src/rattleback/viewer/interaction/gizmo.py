"""Gizmo: arrows and arcs on the selected body, by which the mouse moves and turns it through a velocity joint.

While the mouse holds it, a hand leads the body after it; else it follows the body.

Reference: Bender, dissertation, §6.2.2.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.interaction.grab import reach_of
from rattleback.viewer.interaction.grip import GRIP, GripHand, Pose, let_go, take, without_grip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# Arrows are so many times as long as the body goes from its centre: arcs, at two thirds, are just outside it.
LENGTH = 1.7
WIDTH = 4.0
STANDS = "The simulation stands still; a body follows its manipulator once it runs."


class Gizmo:
    """The manipulator of the selected body.

    Attributes:
        handle: What the page calls it; None where it is not shown.

    Args:
        window: The page.
        box: Tick box that says whether to show it.
    """

    def __init__(self, window: Window, box: Any) -> None:
        self._window, self._box = window, box
        self.handle: Any = None
        self._body, self._client = "", -1
        self._hand: GripHand | None = None
        # The mouse, the panel and the page's own thread all come here.
        self._lock = threading.RLock()
        window.on_select(lambda _: self.refresh(window.session.frame))
        box.on_update(lambda _: self.refresh(window.session.frame))

    def renew(self, frame: Frame) -> None:
        """There is another scene: let go, and take out what was held when the moment was saved."""
        with self._lock:
            self._remove()
        if any(GRIP in picture.scene.joints for picture in frame.pictures):
            self._window.session.do(without_grip)

    def show(self, frame: Frame) -> None:
        """Follow the body, unless the mouse holds it."""
        with self._lock:
            self.refresh(frame)
            if self.handle is not None and self._hand is None:
                self.handle.position, self.handle.wxyz = self._place(frame)

    def refresh(self, frame: Frame) -> None:
        """Show it on the body that is selected, if that can move and the box is ticked."""
        with self._lock:
            scene, name = frame.picture.scene, self._window.selected if self._box.value else ""
            wanted = name if name in scene and not scene[name].static else ""
            if wanted == self._body:
                return
            self._remove()
            self._body = wanted
            if wanted:
                self._add(frame)

    def cancel(self) -> None:
        """Let go of the body."""
        with self._lock:
            hand, self._hand, self._client = self._hand, None, -1
            if hand is not None:
                let_go(self._window.session, hand)

    # A function that does not wait is called in the order of what happened.
    async def _moved(self, event: Any) -> None:
        position, turn = np.array(event.target.position), np.roll(np.array(event.target.wxyz), -1)
        pose = Pose(position, turn / np.linalg.norm(turn))
        with self._lock:
            if event.phase == "start" and self._hand is None and event.target is self.handle:
                self._hand, self._client = GripHand(self._body, pose), event.client_id
                take(self._window.session, self._hand)
                if not self._window.session.frame.playing:
                    self._window.session.tell(STANDS)
            elif event.phase == "update" and self._hand is not None and event.client_id == self._client:
                self._hand.target = pose
            elif event.phase == "end" and event.client_id == self._client:
                self.cancel()

    def _add(self, frame: Frame) -> None:
        position, wxyz = self._place(frame)
        self.handle = self._window.server.scene.add_transform_controls(
            "/manipulator",
            scale=LENGTH * reach_of(frame.picture.scene[self._body]),
            line_width=WIDTH,
            disable_sliders=True,
            depth_test=False,
            position=position,
            wxyz=wxyz,
        )
        self.handle.on_update(self._moved)

    def _place(self, frame: Frame) -> tuple[Floats, Floats]:
        """Where the body is in the first picture, which stands where it is: (3,) [m] and w, x, y, z."""
        row = frame.picture.scene.index(self._body)
        return frame.picture.position[row], np.roll(frame.picture.orientation[row], 1)

    def _remove(self) -> None:
        self.cancel()
        if self.handle is not None:
            self.handle.remove()
        self.handle, self._body = None, ""


def manipulator_box(gui: Any) -> Any:
    """The tick box of the page that shows the manipulator."""
    return gui.add_checkbox(
        "Manipulator", initial_value=False, hint="Moves and turns the selected body as far as joints and walls let it."
    )
