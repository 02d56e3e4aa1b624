"""The picker of scenes: all that are built in, with the parameters their functions take."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import viser

from rattleback.scenes import MENU
from rattleback.scenes.parameters import KINDS, parameters_of, summary_of
from rattleback.viewer.gallery.link import Link

if TYPE_CHECKING:
    from rattleback.scenes.parameters import Parameter
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

# Place below all parameters.
LAST = 1e9
# Digits after the point that can be typed.
DIGITS = 6


class Scenes:
    """The picker of scenes.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session, self._server, self._rename = window.session, window.server, window.rename
        self._opener = window.opener
        gui: Any = window.server.gui
        there = window.session.frame.picture.scene.name
        # Several picks may be under way at once, each on a thread of its own.
        self._lock, self.fields = threading.Lock(), dict[str, Any]()
        with window.tabs["Run"], gui.add_folder("Scenes", expand_by_default=False) as self._folder:
            first = there if there in MENU else next(iter(MENU))
            self.picker = gui.add_dropdown("Scene", tuple(MENU), initial_value=first, hint="Type to search.")
            self.summary = gui.add_markdown("")
            self.button = gui.add_button("Open", icon=viser.Icon.FOLDER_OPEN, order=LAST)
        self.picker.on_update(lambda _: self.offer())
        self.button.on_click(lambda _: self.open())
        self.offer()

    def offer(self) -> None:
        """Show what the scene picked is and which parameters it has."""
        with self._lock, self._server.atomic():
            self._offered = self.picker.value
            build = MENU[self._offered].build
            for field in self.fields.values():
                field.remove()
            self.summary.content = summary_of(build)
            with self._folder:
                self.fields = {name: self._field(parameter) for name, parameter in parameters_of(build).items()}

    def open(self) -> None:
        """Open the scene picked in place of the one that is shown; it waits at its start."""
        with self._lock:
            name, values = self._offered, {key: field.value for key, field in self.fields.items()}
        known = parameters_of(MENU[name].build)
        read = {key: KINDS[known[key].kind](value) for key, value in values.items()}
        given = {key: value for key, value in read.items() if value != known[key].default}
        self.button.disabled, self.button.label = True, "Opening …"
        opened = self._opener.open(Link(name, given, speed=self.session.frame.speed, paused=True))
        opened.add_done_callback(lambda _: self._opened())

    def _opened(self) -> None:
        self.button.disabled, self.button.label = False, "Open"

    def _field(self, parameter: Parameter) -> Any:
        gui, label = self._server.gui, parameter.name.replace("_", " ")
        hint = parameter.meaning or None
        if parameter.kind == "bool":
            return gui.add_checkbox(label, bool(parameter.default), hint=hint)
        if parameter.kind == "str":
            return gui.add_text(label, parameter.default, hint=hint)
        if parameter.kind == "int":
            return gui.add_number(label, int(parameter.default), step=1, hint=hint)
        field = gui.add_number(label, float(parameter.default), step=_stride(parameter.default), hint=hint)
        field.precision = DIGITS
        return field

    def renew(self, frame: Frame) -> None:
        """Give the page the name of the scene."""
        self._rename(frame.picture.scene.name)

    def show(self, frame: Frame) -> None:
        """Nothing here hangs on the step."""


def _stride(value: float) -> float:
    """A step of the arrows beside a number that suits its size."""
    return 0.1 if value == 0.0 else float(10.0 ** (math.floor(math.log10(abs(value))) - 1))
