"""The lookout: turns the cameras of a page to what is to be seen, each as the shape of its window wants it.

A camera is turned to all of it when its client comes, when another scene is opened and when the user asks for it; one
client may ask for something else, a side or a body. Until the user turns it, a camera is turned anew where the window
gets another shape, as when the panel is drawn wider.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.recording.camera import Camera

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FIELD_OF_VIEW = math.radians(42.0)
# Width over height for clients of unknown size: whatever fits into this fits into all that is broader.
ASPECT = 1.0
# Windows narrower than this are not looked through.
NARROWEST = 0.05
# Shapes that differ by less than this are the same; so are poses, beside the distance.
SAME_SHAPE, SAME_POSE = 0.02, 1e-3
# Nothing nearer or farther than so many sizes of the scene is drawn.
NEAR, FAR = 0.01, 20.0


class Sight(NamedTuple):
    """What is to be seen.

    Attributes:
        corners: Points that are to be in the picture (points, 3) [m].
        size: Size of the scene [m].
        camera: What is chosen about the camera already.
    """

    corners: Floats
    size: float
    camera: Camera

    def pose(self, aspect: float) -> tuple[Floats, Floats]:
        """Where a camera stands and what it looks at, each (3,) [m]."""
        chosen = self.camera.framing(self.corners, aspect)
        return chosen.eye, np.array(chosen.target)


class Aim(NamedTuple):
    """How a camera was turned.

    Attributes:
        aspect: Width over height of its window.
        eye: Where it stands (3,) [m].
        target: What it looks at (3,) [m].
        arrived: Whether the client has said that it is there.
    """

    aspect: float
    eye: Floats
    target: Floats
    arrived: bool = False

    def holds(self, camera: Any) -> bool:
        """Whether a camera is where it was turned to."""
        near = SAME_POSE * float(np.linalg.norm(self.target - self.eye))
        pairs = ((camera.position, self.eye), (camera.look_at, self.target))
        return all(float(np.linalg.norm(there - wanted)) <= near for there, wanted in pairs)


class Lookout:
    """The cameras of a page.

    Args:
        server: What serves the page.
    """

    def __init__(self, server: Any) -> None:
        self._server = server
        self._sight: Sight | None = None
        # What clients look at that asked for something else.
        self._own: dict[int, Sight] = {}
        self._aims: dict[int, Aim] = {}
        # The page's own thread, those of its buttons and the messages of clients all come here.
        self._lock = threading.RLock()
        server.on_client_connect(self._came)
        server.on_client_disconnect(self._left)

    def look_at(self, corners: Floats, size: float, camera: Camera | None = None) -> None:
        """Turn all cameras to what is to be seen, also of later clients.

        Args:
            corners: What is to be seen, as points (points, 3) [m].
            size: Size of the scene [m].
            camera: What is chosen about the camera already.
        """
        with self._lock:
            chosen = Camera(field_of_view=FIELD_OF_VIEW) if camera is None else camera
            self._sight = sight = Sight(corners, size, chosen)
            self._own.clear()
            first = self._server.initial_camera
            first.fov, first.near, first.far = chosen.field_of_view, NEAR * size, FAR * size
            first.position, first.look_at = sight.pose(ASPECT)
            for client in self._server.get_clients().values():
                self._turn(client)

    def turn(self, client: Any, camera: Camera, corners: Floats | None = None) -> None:
        """Turn the camera of a client only.

        Args:
            client: The client.
            camera: What is chosen about the camera.
            corners: What is to be seen, as points (points, 3) [m]; what all look at if left out.
        """
        with self._lock:
            if (sight := self._sight) is not None:
                seen = sight.corners if corners is None else corners
                self._own[client.client_id] = Sight(seen, sight.size, camera)
                self._turn(client)

    # Functions that do not wait are called in the order of what happened.
    async def _came(self, client: Any) -> None:
        with self._lock:
            self._turn(client)
        client.camera.on_update(self._moved)

    async def _left(self, client: Any) -> None:
        with self._lock:
            self._aims.pop(client.client_id, None)
            self._own.pop(client.client_id, None)

    async def _moved(self, camera: Any) -> None:
        """A camera is elsewhere, or its window has another shape."""
        with self._lock:
            number, aspect = camera.client.client_id, _aspect_of(camera)
            aim, sight = self._aims.get(number), self._sight
            if sight is None or aspect is None:
                return
            if aim is None or not aim.holds(camera):
                # The page goes to where all cameras begin when it has just opened, and when its user resets the view.
                if Aim(ASPECT, *sight.pose(ASPECT)).holds(camera):
                    self._own.pop(number, None)
                    self._turn(camera.client)
                elif aim is not None and aim.arrived:
                    del self._aims[number]
            elif abs(aspect / aim.aspect - 1.0) > SAME_SHAPE:
                self._turn(camera.client)
            else:
                self._aims[number] = aim._replace(arrived=True)

    def _turn(self, client: Any) -> None:
        """Turn the camera of a client to what is to be seen."""
        from viser import _messages

        aspect, sight = _aspect_of(client.camera), self._own.get(client.client_id, self._sight)
        if sight is None or aspect is None:
            return
        self._aims[client.client_id] = aim = Aim(aspect, *sight.pose(aspect))
        # viser's own handles move what is looked at along with the camera, by what they know of both.
        say, size = client._websock_connection.queue_message, sight.size
        with client.atomic():
            say(_messages.SetCameraFovMessage(sight.camera.field_of_view))
            say(_messages.SetCameraNearMessage(NEAR * size))
            say(_messages.SetCameraFarMessage(FAR * size))
            say(_messages.SetCameraPositionMessage(tuple(aim.eye.tolist())))
            say(_messages.SetCameraLookAtMessage(tuple(aim.target.tolist())))


def _aspect_of(camera: Any) -> float | None:
    """Width over height of the part of a window that the panel leaves free; None where there is none."""
    width, height = camera.image_width, camera.image_height
    return max(width / height, NARROWEST) if width > 0 and height > 0 else None
