"""Dialogs: fields that hold what the simulation has, but for those the user is about to change.

What the user has typed stays until it is applied, whatever frames come. Then everything that was changed is asked for
at once, and the fields show what came of it: the new values, or the old ones where they were refused.

Fields are written to by the thread of the page alone; the others only say that they are to be written anew.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import viser

from rattleback.core.errors import InputError
from rattleback.viewer.panels.entry import Choice, Tick

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from rattleback.viewer.frame import Frame
    from rattleback.viewer.panels.entry import Entry
    from rattleback.viewer.window import Window

    Sections = Mapping[str, Sequence[Entry]]

ENTER = "Enter or Apply takes it."
RUNS = "While it runs, type a value to set it."
LAST = 1e9


class Dialog:
    """The fields of something.

    Attributes:
        fields: The controls by the names of their entries.
        button: Applies what was typed.

    Args:
        window: The page; the dialog goes into what is open.
        sections: Entries by the titles they stand under; those of an empty title stand on top.
        ask: Asks for the values that were changed, by name.
        order: Place among its neighbours.
    """

    def __init__(
        self, window: Window, sections: Sections, ask: Callable[[dict[str, Any]], Future[Any]], order: float
    ) -> None:
        self._session, self._ask = window.session, ask
        self._entries = {entry.name: entry for entries in sections.values() for entry in entries}
        self.signature = signature_of(sections)
        gui: Any = window.server.gui
        self._form = gui.add_form(None, order=order)
        self.fields: dict[str, Any] = {}
        with self._form:
            for number, (title, entries) in enumerate(sections.items()):
                if title:
                    with gui.add_folder(title, expand_by_default=number < 2):
                        self._add(gui, entries)
                else:
                    self._add(gui, entries)
            self.button = gui.add_button("Apply", icon=viser.Icon.CHECK, order=LAST, visible=bool(self._open))
        self._shown: dict[str, Any] = {name: control.value for name, control in self.fields.items()}
        self._wanted, self._written, self._lock = 1, 0, threading.Lock()
        self._form.on_submit(lambda _: self.submit())
        self.button.on_click(lambda _: self._form.submit())

    @property
    def stale(self) -> bool:
        """Whether its fields are yet to show what holds."""
        return self._written != self._wanted

    @property
    def _open(self) -> list[Entry]:
        """Entries that can be changed."""
        return [entry for entry in self._entries.values() if not entry.fixed]

    def _add(self, gui: Any, entries: Sequence[Entry]) -> None:
        for entry in entries:
            hint = f"{entry.hint} {RUNS if entry.live else ENTER}".strip()
            if isinstance(entry.form, Tick):
                made = gui.add_checkbox(entry.label, False, hint=hint, disabled=entry.fixed)
            elif isinstance(entry.form, Choice):
                made = gui.add_dropdown(entry.label, entry.form.options, hint=hint, disabled=entry.fixed)
            else:
                made = gui.add_text(entry.label, "", hint=hint, disabled=entry.fixed)
            self.fields[entry.name] = made

    def show(self, frame: Frame) -> None:
        """Show what holds where that has changed, but for what the user is about to change."""
        wanted, stale = self._wanted, self.stale
        with self._lock:
            for name, entry in self._entries.items():
                control = self.fields[name]
                now = "" if entry.live and frame.playing else entry.form.write(entry.read(frame))
                if stale or (now != self._shown[name] and control.value == self._shown[name]):
                    self._shown[name] = control.value = now
        self._written = wanted

    def submit(self) -> None:
        """Ask for what the user has changed; where it is refused, show again what holds."""
        frame = self._session.frame
        with self._lock:
            typed = {name: control.value for name, control in self.fields.items() if control.value != self._shown[name]}
        try:
            values = {name: self._parse(name, text, frame) for name, text in typed.items()}
        except InputError as error:
            self._session.tell(str(error), fault=True)
            self.restore()
            return
        except LookupError:  # it is gone, and so will be its dialog
            return
        if values:
            self._ask(values).add_done_callback(lambda _: self.restore())

    def restore(self) -> None:
        """Have what holds shown in all fields, in a frame that is yet to come."""
        self._wanted += 1
        self._session.read()

    def remove(self) -> None:
        """Take it off the page."""
        self._form.remove()

    def _parse(self, name: str, text: Any, frame: Frame) -> Any:
        entry = self._entries[name]
        return entry.form.parse(text, entry.read(frame), entry.label)


def signature_of(sections: Sections) -> tuple[Any, ...]:
    """What a dialog is made of; another one is needed only where this changes."""
    return tuple((title, entry.name, entry.label, entry.form) for title in sections for entry in sections[title])
