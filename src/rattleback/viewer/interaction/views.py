"""Views: at all, from the front, the side and the top, at what is selected; and along with what is selected.

To go along with a body, all of the scene is moved the other way, by less than the page would notice: a camera that its
user turns at the same time is not disturbed.

    t = R (p₀ − p)

t place of the scene in the browser, R how its axes lie there, p₀ and p where the body was first and where it is now.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.camera import Camera
from rattleback.viewer.drawing.bodies import bodies_of, layout_of
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.drawing.layout import box_around
from rattleback.viewer.drawing.lookout import FIELD_OF_VIEW
from rattleback.viewer.drawing.surroundings import LAMP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# Directions to look from: azimuth and elevation [rad]; straight down has no azimuth of its own.
SIDES = {"Front": (-0.5 * math.pi, 0.0), "Side": (0.0, 0.0), "Top": (-0.5 * math.pi, math.radians(89.0))}
ALL = "All"
HOTKEYS = {ALL: "0", "Front": "1", "Side": "2", "Top": "3"}
# A body that is looked at fills this part of the picture.
FILLED = 0.3
# Clicks so soon after each other, and so near, are one double click [s], [part of the window].
DOUBLE, NEAR = 0.4, 0.02
# Where x, y and z of a scene point to in the browser, as viser 1.1.1 lays them with z up.
AXES = np.array([(0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0)])


class Views:
    """Turns the cameras.

    Attributes:
        followed: Name of the body that cameras go along with; empty for none.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self.followed, self._scene = "", window.session.frame.picture.scene.name
        # Where the body was that is followed [m].
        self._from = np.zeros(3)
        # How far cameras have gone along with bodies [m].
        self._gone = np.zeros(3)
        self._clicks: dict[int, tuple[float, tuple[float, float]]] = {}
        gui: Any = window.server.gui
        with window.tabs["Show"]:
            hint = "Turn the camera: at all (0), from the front (1), the side (2), the top (3)."
            self.sides = gui.add_button_group("Look", tuple(HOTKEYS), hint=hint)
            self.follow = gui.add_checkbox("Follow selected", False, hint="Go along with the selected body. Key: F.")
        self.sides.on_click(lambda event: self.look(event.target.value, event.client))
        self.follow.on_update(lambda event: None if event.client is None else self.go_along(event.target.value))
        for name, key in HOTKEYS.items():
            label = f"Look from the {name.lower()}" if name in SIDES else "Look at all"
            gui.add_command(label, hotkey=key).on_trigger(lambda event, name=name: self.look(name, event.client))
        label = "Follow what is selected"
        gui.add_command(label, hotkey="F").on_trigger(lambda _: self.go_along(not self.followed))
        gui.add_command("Look at what is selected", hotkey="C").on_trigger(lambda event: self.focus(event.client))
        scene: Any = window.server.scene
        scene.on_click()(self._clicked)

    def look(self, name: str, client: Any) -> None:
        """Turn the camera of a client to a side; at all, all cameras.

        Args:
            name: A key of HOTKEYS.
            client: The client.
        """
        if name in SIDES:
            azimuth, elevation = SIDES[name]
            camera = Camera(azimuth=azimuth, elevation=elevation, field_of_view=FIELD_OF_VIEW)
            self._window.lookout.turn(client, camera)
            return
        for part in self._window.parts:
            if isinstance(part, Ground):
                part.look(self._window.session.frame)

    def focus(self, client: Any, name: str | None = None, picture: int = 0) -> None:
        """Turn the camera of a client to a body, or to the bodies of a joint, from where it stands.

        Args:
            client: The client.
            name: Name of the body or joint; of what is selected if left out.
            picture: Number of the picture it is in.
        """
        wanted = self._window.selected if name is None else name
        frame = self._window.session.frame
        box = box_around(frame.pictures[picture], _bodies_of(frame, wanted)) if wanted else None
        if box is None:
            self.look(ALL, client)
            return
        middle = box.mean(axis=0) + layout_of(self._window, frame).offsets[picture]
        half = max(float(np.linalg.norm(box[-1] - box[0])), 1e-9) / (2.0 * FILLED)
        corners = middle + half * (2.0 * (np.indices((2, 2, 2)).reshape(3, -1).T) - 1.0) / math.sqrt(3.0)
        self._window.lookout.turn(client, _towards(client.camera, middle), corners)

    def go_along(self, wanted: bool) -> None:
        """Go along with what is selected, or stop."""
        frame, name = self._window.session.frame, self._window.selected
        scene = frame.picture.scene
        if wanted and (not name or name not in scene or scene[name].static):
            self._window.session.tell("Select a body that moves first: click on it, or choose it in the tab Edit.")
            wanted = False
        self.followed = name if wanted else ""
        self.follow.value = bool(self.followed)
        if self.followed:
            self._from = self._place(frame) - self._gone

    def renew(self, frame: Frame) -> None:
        """What was followed may be gone, and another scene is where scenes are."""
        if self.followed and self.followed not in frame.picture.scene:
            self.followed, self.follow.value = "", False
        if frame.picture.scene.name != self._scene:
            self._scene = frame.picture.scene.name
            self._move(np.zeros(3))
            self._from = self._place(frame) if self.followed else np.zeros(3)

    def show(self, frame: Frame) -> None:
        """Go along."""
        if self.followed and self.followed in frame.picture.scene:
            self._move(self._place(frame) - self._from)

    def _place(self, frame: Frame) -> Floats:
        """Where the body that is followed is now (3,) [m]."""
        return np.asarray(frame.picture.position[frame.picture.scene.index(self.followed)])

    def _move(self, gone: Floats) -> None:
        """Have cameras stand so far from where they would [m]."""
        from viser import _messages

        if np.array_equal(gone, self._gone) or not np.all(np.isfinite(gone)):
            return
        self._gone = gone
        place = tuple((AXES @ -gone).tolist())
        self._window.server.scene._queue_scene_message(_messages.SetPositionMessage("", place))
        for part in self._window.parts:
            # The browser has the light come from where the lamp is, seen from its own origin.
            if isinstance(part, Ground) and part.lamp is not None:
                part.lamp.position = LAMP + gone

    # Functions that do not wait are called in the order of what happened.
    async def _clicked(self, event: Any) -> None:
        """Two clicks at one place turn the camera to what is there."""
        now, place = time.perf_counter(), tuple(event.screen_pos)
        since, before = self._clicks.get(event.client_id, (-math.inf, place))
        self._clicks[event.client_id] = now, place
        if now - since > DOUBLE or max(abs(a - b) for a, b in zip(place, before, strict=True)) > NEAR:
            return
        bodies = bodies_of(self._window)
        ray = np.array(event.ray_origin, dtype=np.float64), np.array(event.ray_direction, dtype=np.float64)
        found = None if bodies is None else bodies.pick(*ray)
        picture, name = (0, "") if found is None else found
        self.focus(event.client, name, picture)


def _bodies_of(frame: Frame, name: str) -> tuple[str, ...]:
    """Names of the bodies that something is, or fastens."""
    scene = frame.picture.scene
    if name in scene:
        return (name,)
    if name in scene.joints:
        joint = scene.joints[name]
        return tuple(body for body in (joint.a, joint.b) if body in scene)
    return ()


def _towards(camera: Any, target: Floats) -> Camera:
    """A camera that looks at a point (3,) [m], into the direction of one that is there."""
    x, y, z = np.subtract(camera.position, camera.look_at)
    elevation = math.atan2(z, math.hypot(x, y))
    steepest = math.radians(89.0)
    return Camera(
        azimuth=math.atan2(y, x),
        elevation=min(max(elevation, -steepest), steepest),
        target=tuple(target.tolist()),
        field_of_view=FIELD_OF_VIEW,
    )
