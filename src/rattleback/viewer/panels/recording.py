"""Recording: quantities of the run and its pictures, to be taken home as data, as plots or as a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import viser

from rattleback.recording.quantities import BODY, JOINT, NAMES
from rattleback.viewer.panels.files import send, stem
from rattleback.viewer.panels.film import camera_of
from rattleback.viewer.panels.tape import FILM, FORMATS, Tape

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

CHOOSE = "choose …"


class Recording:
    """The recorder.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session = window.session
        self.tape: Tape | None = None
        gui: Any = window.server.gui
        with window.tabs["Files"], gui.add_folder("Record"):
            hint = "Names with commas between; of one body or joint as arm.position or hinge.angle."
            self.wanted = gui.add_text("Quantities", "energy", hint=hint)
            self.more = gui.add_dropdown("Add", (CHOOSE, *NAMES), hint="Adds a quantity to those above.")
            self.every = gui.add_number("Every", 1, min=1, step=1, hint="Number of steps from one sample to the next.")
            self.button = gui.add_button("Record", icon=viser.Icon.PLAYER_RECORD, color="red")
            self.said = gui.add_markdown("")
            self.format = gui.add_dropdown(
                "Download as", tuple(FORMATS), hint="Data, a plot, or a page that shows the run again."
            )
            self.get = gui.add_button("Download", icon=viser.Icon.DOWNLOAD, disabled=True)
        self.more.on_update(self._add)
        self.button.on_click(lambda _: self.toggle())
        self.get.on_click(lambda event: self.download(event.client))
        window.on_select(self.offer)
        self._shown: tuple[bool, int] | None = None

    def toggle(self) -> Future[Any]:
        """Start a new recording, or stop the one that runs."""
        return self.session.do(lambda sim: self._toggle() if sim is self.session.sims[0] else None)

    def offer(self, name: str) -> None:
        """Offer what there is to record of what is chosen."""
        scene = self.session.frame.picture.scene
        inner = JOINT if name in scene.joints else BODY
        self.more.options = (CHOOSE, *(f"{name}.{entry}" for entry in inner if name), *NAMES)

    def download(self, client: Any) -> None:
        """Send what was recorded."""
        tape, kind = self.tape, FORMATS[self.format.value]
        if tape is None or tape.running:
            return
        camera = None
        if kind == FILM:
            camera = camera_of(client)
            self.session.tell("The film is drawn now; it is downloaded when it is whole.")
        send(self.session, client, f"{stem(self.session.frame)}-recording.{kind}", lambda: tape.write(kind, camera))

    def renew(self, frame: Frame) -> None:
        """Nothing is chosen any more, and what was recorded of another scene ends."""
        self.offer("")
        tape = self.tape
        if tape is not None and tape.running:
            self.session.do(lambda sim: tape.end_with(self.session.sims[0].scene))

    def show(self, frame: Frame) -> None:
        """Show how much was recorded."""
        if self.tape is not None:
            self.tape.see(frame)
        state = (self._runs, 0 if self.tape is None else len(self.tape))
        if state == self._shown:
            return
        if self._shown is None or state[0] != self._shown[0]:
            self.button.label = "Stop" if state[0] else "Record"
            self.button.icon = viser.Icon.PLAYER_STOP if state[0] else viser.Icon.PLAYER_RECORD
        self.get.disabled = state[0] or state[1] == 0
        self.said.content = f"<small>{state[1]} samples</small>" if state[1] else "<small>Nothing recorded yet.</small>"
        self._shown = state

    @property
    def _runs(self) -> bool:
        return self.tape is not None and self.tape.running

    def _toggle(self) -> None:
        if self.tape is not None and self.tape.running:
            self.tape.stop()
            return
        names = [name.strip() for name in self.wanted.value.split(",") if name.strip()]
        self.tape = Tape(self.session, self.every.value, names)

    def _add(self, event: Any) -> None:
        name = self.more.value
        if event.client is not None and name != CHOOSE:
            names = [known.strip() for known in self.wanted.value.split(",") if known.strip()]
            self.wanted.value = ", ".join(dict.fromkeys([*names, name]))
            self.more.value = CHOOSE
