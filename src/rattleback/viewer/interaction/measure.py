"""Measuring: clicks on bodies set points that go along with them; two show their distance, three an angle.

    d = |q − p|,        α = arccos((p − q)·(r − q) / (|p − q| |r − q|))

p, q, r points where bodies were clicked on, in the order of the clicks; the angle is at the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.maths.rotation import conjugate, rotate
from rattleback.viewer.amounts import amount
from rattleback.viewer.drawing.bodies import bodies_of, layout_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

COLOUR, WIDTH, DOT = (20, 110, 220), 3.0, 0.008
MOST = 3


@dataclass(frozen=True)
class Point:
    """A point of a body: number of its picture, its name, and the place in its frame from the centre of mass [m]."""

    picture: int
    body: str
    local: Floats

    def place(self, frame: Frame, offsets: Floats) -> Floats | None:
        """Where it is now (3,) [m]; None where its body is gone."""
        if self.picture >= len(frame.pictures) or self.body not in frame.pictures[self.picture].scene:
            return None
        picture = frame.pictures[self.picture]
        row = picture.scene.index(self.body)
        found: Floats = picture.position[row] + rotate(picture.orientation[row], self.local) + offsets[self.picture]
        return found


class Measure:
    """The points and what is between them.

    Attributes:
        points: What was clicked on.
        words: What was measured last, as it is shown.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self.points: list[Point] = []
        self.words = ""
        self._drawn: list[Any] = []
        self._last: bytes = b""
        gui: Any = window.server.gui
        with window.tabs["Show"]:
            hint = "Click on two points of bodies for their distance, on a third for the angle at the second. Key: M."
            self.box = gui.add_checkbox("Measure", False, hint=hint)
            self.said = gui.add_markdown("")
        self.box.on_update(lambda _: self._clear())
        gui.add_command("Measure distances and angles", hotkey="M").on_trigger(lambda _: self._toggle())
        scene: Any = window.server.scene
        scene.on_click()(self._clicked)

    def add(self, picture: int, body: str, place: Floats) -> None:
        """Set a point, in a place of the scene (3,) [m]; after the third the first is forgotten with the others."""
        frame = self._window.session.frame
        offset = layout_of(self._window, frame).offsets[picture]
        there, scene = frame.pictures[picture], frame.pictures[picture].scene
        row = scene.index(body)
        local = rotate(conjugate(there.orientation[row]), place - offset - there.position[row])
        self.points = [*(self.points if len(self.points) < MOST else []), Point(picture, body, np.asarray(local))]
        self._window.session.do(lambda sim: None)

    def renew(self, frame: Frame) -> None:
        """Points of bodies that are gone are, too."""
        offsets = layout_of(self._window, frame).offsets
        self.points = [point for point in self.points if point.place(frame, offsets) is not None]
        self._last = b""

    def show(self, frame: Frame) -> None:
        """Draw the points where they are now."""
        offsets = layout_of(self._window, frame).offsets if self.points else np.zeros((1, 3))
        places = [place for point in self.points if (place := point.place(frame, offsets)) is not None]
        now = np.array(places).tobytes()
        if now == self._last:
            return
        self._last, self.words = now, measured(places)
        for handle in self._drawn:
            handle.remove()
        self._drawn = list(self._draw(np.array(places, dtype=np.float32), frame)) if places else []
        self.said.content = f"<small>{self.words}</small>" if self.words else ""

    def _draw(self, places: NDArray[np.float32], frame: Frame) -> Any:
        scene, size = self._window.server.scene, DOT * layout_of(self._window, frame).size
        yield scene.add_point_cloud("/measure/points", places, COLOUR, point_size=size, point_shape="circle")
        if len(places) > 1:
            lines = np.stack([places[:-1], places[1:]], axis=1)
            yield scene.add_line_segments("/measure/lines", lines, COLOUR, thickness=WIDTH, thickness_units="screen")
            middle = places[1] if len(places) == MOST else places.mean(axis=0)
            yield scene.add_label("/measure/words", self.words, position=middle, anchor="bottom-center")

    def _toggle(self) -> None:
        self.box.value = not self.box.value
        self._clear()

    def _clear(self) -> None:
        self.points = []
        self._window.session.do(lambda sim: None)

    # Functions that do not wait are called in the order of what happened.
    async def _clicked(self, event: Any) -> None:
        if not self.box.value or (bodies := bodies_of(self._window)) is None:
            return
        ray = np.array(event.ray_origin, dtype=np.float64), np.array(event.ray_direction, dtype=np.float64)
        if (found := bodies.hit(*ray)) is not None:
            self.add(*found)


def measured(places: list[Floats]) -> str:
    """The distance of two points, or the angle at the second of three, in words; empty for fewer."""
    if len(places) < 2:
        return ""
    if len(places) == 2:
        return f"{amount(float(np.linalg.norm(places[1] - places[0])), 4)} m"
    one, other = places[0] - places[1], places[2] - places[1]
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    if lengths == 0.0:
        return "no angle"
    angle = math.acos(max(-1.0, min(1.0, float(one @ other) / lengths)))
    return f"{amount(math.degrees(angle), 4)}°"
