"""Files: save points, states and scenes to keep and to open, recordings and pictures to take home."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import viser

from rattleback.core.errors import RattlebackError
from rattleback.io.scene_file import MESHES
from rattleback.viewer.building.mesh_dialog import MeshDialog
from rattleback.viewer.building.opening import ENDINGS, opened, scene_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

SAVE, UNDO, REDO = "Save point", "Undo", "Redo"
# How long a browser may take for a picture [s].
PATIENCE = 20.0
SCENE_FILE, SCRIPT = "Scene file", "Python script"


class Files:
    """Save points, states, scenes and pictures.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.window, self.session, self.meshes = window, window.session, MeshDialog(window)
        gui: Any = window.server.gui
        with window.tabs["Files"]:
            hint = "A save point is a moment to go back to by Undo. Keys: B and U."
            self.points = gui.add_button_group("Moments", (SAVE, UNDO, REDO), hint=hint)
            self.count = gui.add_markdown("")
            hint = "Scene, settings and state as one file."
            self.save = gui.add_button("Save state", icon=viser.Icon.DOWNLOAD, hint=hint)
            hint = "The scene as it starts: a scene file, or a Python script that makes it."
            self.scene = gui.add_button_group("Save scene", (SCENE_FILE, SCRIPT), hint=hint)
            hint = (
                "A state, a scene or a robot takes the place of what is here; a mesh becomes a body. Or drop it here."
            )
            self.load = gui.add_upload_button("Open file …", icon=viser.Icon.UPLOAD, hint=hint, mime_type=ENDINGS)
            hint = "What you see, as a PNG file."
            self.picture = gui.add_button("Picture of the view", icon=viser.Icon.CAMERA, hint=hint)
        self.points.on_click(lambda event: self.press(event.target.value))
        self.save.on_click(lambda event: self.download_state(event.client))
        self.scene.on_click(lambda event: self.download_scene(event.client, event.target.value))
        self.load.on_upload(lambda event: self.open(event.target.value.name, event.target.value.content))
        self.picture.on_click(lambda event: self.download_picture(event.client))
        for label, key, name in (("Set a save point", "B", SAVE), ("Undo to the last save point", "U", UNDO)):
            gui.add_command(label, hotkey=key).on_trigger(lambda _, name=name: self.press(name))

    def press(self, button: str) -> Future[Any]:
        """Set a save point, go back to the last one, or do again what was undone."""
        acts = {SAVE: self.session.save_point, UNDO: self.session.undo, REDO: self.session.redo}
        return acts[button]()

    def download_state(self, client: Any) -> None:
        """Send scene, settings and state as they are now."""

        def write() -> bytes:
            return self.session.do(_state_bytes).result()[0]

        send(self.session, client, f"{stem(self.session.frame)}.rb.npz", write)

    def download_scene(self, client: Any, kind: str) -> None:
        """Send the scene as it starts, as a file or as a script."""

        def write() -> bytes:
            return self.session.read(lambda sim: scene_bytes(sim, kind)).result()[0]

        name = re.sub(r"[^A-Za-z0-9._-]+", "_", self.session.frame.picture.scene.name)
        send(self.session, client, f"{name}{'.rb.json' if kind == SCENE_FILE else '.py'}", write)

    def download_picture(self, client: Any) -> None:
        """Send what a client sees."""
        send(self.session, client, f"{stem(self.session.frame)}-view.png", lambda: picture_of(client))

    def open(self, name: str, content: bytes) -> Future[Any] | None:
        """Open a file in place of what is here, a mesh as a body of it; nothing is lost where it cannot be read."""
        if name.lower().endswith(MESHES):
            self.meshes.ask(name, content)
            return None
        return self.session.open(lambda: opened(name, content, self.session.sims[0].device.alias))

    def renew(self, frame: Frame) -> None:
        """Nothing here hangs on the scene."""

    def show(self, frame: Frame) -> None:
        """Say how many save points there are."""
        count = frame.save_points
        where = "the start" if count == 0 else "the save point" if count == 1 else f"the last of {count} save points"
        text = f"<small>Undo goes back to {where}.</small>"
        if self.count.content != text:
            self.count.content = text


def send(session: Any, client: Any, name: str, write: Callable[[], bytes]) -> None:
    """Send a file to the client that requested it; what goes wrong is told, unless it was told already.

    Args:
        session: Tells the user.
        client: The client that requested it.
        name: Name of the file.
        write: Makes its contents.
    """
    told = len(session.notices)
    try:
        client.send_file_download(name, write(), save_immediately=True)
    except (RattlebackError, TimeoutError, RuntimeError) as error:
        if len(session.notices) == told:
            session.tell(f"The file {name!r} could not be made: {error}", fault=True)


def stem(frame: Frame) -> str:
    """A name for files about this moment."""
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '_', frame.picture.scene.name)}-{frame.time:.3f}s"


def _state_bytes(sim: Simulation) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        sim.save(path)
        return path.read_bytes()


def picture_of(client: Any) -> bytes:
    """What a client sees, as a PNG file on white."""
    import imageio.v3
    import numpy as np

    height, width = client.camera.image_height, client.camera.image_width
    seen = client.get_render(height, width, transport_format="png", timeout=PATIENCE)
    colour, cover = seen[..., :3].astype(np.float64), seen[..., 3:].astype(np.float64) / 255.0
    flat = (colour * cover + 255.0 * (1.0 - cover)).round().astype(np.uint8)
    written: bytes = imageio.v3.imwrite("<bytes>", flat, extension=".png")
    return written
