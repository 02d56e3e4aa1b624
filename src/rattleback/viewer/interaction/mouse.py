"""The mouse: a click selects a body, a drag pushes it, with shift it pulls it; all else turns the camera.

Clicks are heard on the scene, and the body is found here. Where a batch hears clicks itself, the page of viser 1.1.1
adds an outline of size one at the origin, or where the mouse was last; it cannot be seen, but it is hit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import RattlebackError
from rattleback.maths.rotation import rotate
from rattleback.viewer.drawing.bodies import bodies_of
from rattleback.viewer.interaction.gizmo import Gizmo, manipulator_box
from rattleback.viewer.interaction.grab import grab
from rattleback.viewer.interaction.push import Push, into_depth, speed_slider
from rattleback.viewer.interaction.spring import Spring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.drawing.bodies import Bodies
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.interaction.grab import Grab
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

HELP = (
    "**Drag** a body to push it; with **ctrl**, up pushes it away from you. **Shift-drag** pulls it, "
    "a **click** selects it, and a click on nothing deselects."
)

# What is said to be farther away than this is no place [m].
FARTHEST = 1e6
# Held with the middle button, these do nothing.
IDLE = "cmd/ctrl+alt+shift"


class Mouse:
    """What the mouse does to bodies.

    Attributes:
        push: The pushes.
        spring: The springs.
        gizmo: The manipulator.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._window, gui = window, window.server.gui
        with window.tabs["Run"], gui.add_folder("Mouse"):
            gui.add_markdown(HELP)
            slider = speed_slider(gui)
            box = manipulator_box(gui)
        self.push = Push(window, lambda: float(slider.value))
        self.spring = Spring(window)
        self.gizmo = Gizmo(window, box)
        self._listening = False
        scene: Any = window.server.scene
        scene.on_click()(self._clicked)

    def renew(self, frame: Frame) -> None:
        """There is another scene: whoever holds something lets go."""
        self.push.cancel_all()
        self.spring.cancel_all()
        self.gizmo.renew(frame)
        if not self._listening and (bodies := bodies_of(self._window)) is not None:
            self._listening = True
            bodies.on_renew.append(self._listen)
            self._listen()

    def show(self, frame: Frame) -> None:
        """The bodies have moved."""
        self.push.show(frame)
        self.spring.show(frame)
        self.gizmo.show(frame)

    def _listen(self) -> None:
        """Listen to the mouse over the bodies."""
        if (bodies := bodies_of(self._window)) is None:
            return
        for handle in bodies.handles:
            if self._can_move(bodies, handle):
                handle.on_drag("left")(self._pushed)
                handle.on_drag("left", modifier="cmd/ctrl")(self._thrust)
                handle.on_drag("left", modifier="shift")(self._pulled)
            else:
                # Else a drag that begins on it would take hold of what is behind.
                handle.on_drag("middle", modifier=IDLE)(self._idle)

    def _can_move(self, bodies: Bodies, handle: Any) -> bool:
        """Whether a body of a batch can be moved; a drag on any other turns the camera."""
        scene = self._window.session.frame.picture.scene
        names = {bodies.body_of(handle, instance)[1] for instance in range(len(handle.batched_positions))}
        return any(name in scene and not scene[name].static for name in names)

    # Functions that do not wait are called in the order of what happened.
    async def _clicked(self, event: Any) -> None:
        ray = np.array(event.ray_origin, dtype=np.float64), np.array(event.ray_direction, dtype=np.float64)
        bodies = bodies_of(self._window)
        found = None if bodies is None else bodies.pick(*ray)
        self._window.picked = None if bodies is None or found is None else bodies.met(*ray)
        self._window.select("" if found is None else found[1])
        self._window.picked = None

    async def _idle(self, event: Any) -> None:
        """Nothing is done."""

    async def _pushed(self, event: Any) -> None:
        self._drag(self.push, event, np.array(event.end_position, dtype=np.float64))

    async def _thrust(self, event: Any) -> None:
        camera, start, end = event.client.camera, np.array(event.start_position), np.array(event.end_position)
        up = rotate(np.roll(camera.wxyz, -1), (0.0, -1.0, 0.0))
        self._drag(self.push, event, into_depth(start, end, np.array(camera.position), up))

    async def _pulled(self, event: Any) -> None:
        self._drag(self.spring, event, np.array(event.end_position, dtype=np.float64))

    def _drag(self, tool: Push | Spring, event: Any, pointer: Floats) -> None:
        """Hand what happens in a drag to what it is for."""
        if not np.all(np.abs(pointer) < FARTHEST):
            tool.cancel(event.client_id)
        elif event.phase == "start":
            if (held := self._grab(event)) is not None:
                tool.begin(event.client_id, held, pointer)
        elif event.phase == "update":
            (x, y), (across, down) = event.start_screen_pos, event.end_screen_pos
            tool.move(event.client_id, pointer, (across - x, y - down))
        elif event.client_id in self._window.server.get_clients():
            tool.finish(event.client_id, pointer)
        else:
            tool.cancel(event.client_id)

    def _grab(self, event: Any) -> Grab | None:
        """What a drag has got hold of; None where it cannot be moved or is gone."""
        bodies, frame, found = bodies_of(self._window), self._window.session.frame, self._found(event)
        if bodies is None or bodies.layout is None or found is None:
            return None
        number, name = found
        if number >= len(frame.pictures) or name not in frame.pictures[number].scene:
            return None
        picture = frame.pictures[number]
        if picture.scene[name].static:
            return None
        return grab(picture, name, event.start_position, number, bodies.layout.offsets[number])

    def _found(self, event: Any) -> tuple[int, str] | None:
        """Number of the picture and name of the body under the mouse; None where another scene has come in between."""
        bodies = bodies_of(self._window)
        if bodies is None or event.instance_index is None:
            return None
        try:
            return bodies.body_of(event.target, event.instance_index)
        except (RattlebackError, LookupError):
            return None
