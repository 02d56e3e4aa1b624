"""The Edit tab: every parameter of the scene, and of any body, joint or force in it, while it runs."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError
from rattleback.viewer.building.rename import rename
from rattleback.viewer.interaction.grip import GRIP
from rattleback.viewer.panels.dialog import Dialog, signature_of
from rattleback.viewer.panels.edit_body import BodySubject
from rattleback.viewer.panels.edit_force import ForceSubject
from rattleback.viewer.panels.edit_joint import JointSubject
from rattleback.viewer.panels.entry import Entry, Numbers, Words, figure
from rattleback.viewer.panels.readings import NAME, TABLE
from rattleback.viewer.panels.subject import PROBE, REMOVE, SceneSubject, Subject, probe_for, seen_in

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

# Readings change at most so often, that they can be read [1/s].
RATE = 5.0
# A longer list would keep the browser busy.
MOST_LISTED = 2000
KINDS: dict[str, Any] = {"body": BodySubject, "joint": JointSubject, "force": ForceSubject}
# Places in the tab; the motors come before them.
PICKER, READINGS, DIALOG, IMPULSE, ACTIONS = range(5)
PUSH, NAMED = "Push", "name of it"


class Edit:
    """The dialogs.

    Attributes:
        picker: Chooses what they are about.
        dialog: The one that is open.
        impulse: How hard to push; None where nothing can be pushed.
        buttons: What can be done.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session, self._window = window.session, window
        self._wish: Subject = SceneSubject()
        self._subject: Subject | None = None
        self._renewed, self._shown_at = False, 0.0
        self.dialog: Dialog | None = None
        self.impulse: Any = None
        self.buttons: Any = None
        self._push_form: Any = None
        hint = "Bodies, joints and forces; type to search. A click on a body chooses it, too."
        with window.tabs["Edit"]:
            gui: Any = window.server.gui
            self.picker = gui.add_dropdown("Selected", (title_of(self._wish),), hint=hint, order=PICKER)
            self.readings = gui.add_html("", order=READINGS)
        self.picker.on_update(self._picked)
        window.on_select(self.choose)

    def choose(self, name: str) -> None:
        """Show the dialog of a body, a joint or a force by its name; that of the scene for none."""
        if self._wish.name != name:
            self._wish = find_subject(self.session.frame.picture.scene, name)
        self.session.read()

    def renew(self, frame: Frame) -> None:
        """Offer what is in the scene; a dialog that still fits stays."""
        self._renewed = True
        options = options_of(frame.picture.scene)
        if options != self.picker.options:
            self.picker.options = options
            if self._subject is not None:
                self._offer(existing(self._subject, frame.picture.scene))

    def show(self, frame: Frame) -> None:
        """Show how it is now; while it runs a few times a second."""
        now, wish = time.perf_counter(), existing(self._wish, frame.picture.scene)
        if wish != self._subject or self._renewed:
            self._make(wish, frame)
        elif frame.playing and now - self._shown_at < 1.0 / RATE:
            return
        self._shown_at = now
        if self.dialog is not None:
            self.dialog.show(frame)
        rows = wish.readings(frame.picture, seen_in(frame.picture, wish))
        self.readings.content = table(rows)

    def do(self, action: str) -> Future[Any] | None:
        """Do what a button says."""
        subject = self._subject
        if subject is None or action == PUSH:
            return self._push()
        asked = subject.actions(self.session.frame.picture.scene)[action](self.session)
        if action == REMOVE:
            asked.add_done_callback(lambda done: None if done.exception() else self._window.select(""))
        return asked

    def _push(self) -> Future[Any] | None:
        """Push the body with the impulse that was typed."""
        if not isinstance(self._subject, BodySubject) or self.impulse is None:
            return None
        try:
            impulse = Numbers((3,)).parse(self.impulse.value, None, self.impulse.label)
        except InputError as error:
            self.session.tell(str(error), fault=True)
            return None
        return self._subject.push(self.session, impulse)

    def _picked(self, event: Any) -> None:
        if event.client is None:  # set by the program itself
            return
        kind, _, name = self.picker.value.partition(" · ")
        self._wish = KINDS[kind](name) if kind in KINDS else SceneSubject()
        self._window.select(self._wish.name)

    def _make(self, subject: Subject, frame: Frame) -> None:
        """Make the dialog of a subject, unless the one there is fits it."""
        sections = dict(subject.sections(frame.picture.scene))
        if subject.name:
            hint = "What it is called, wherever it is named."
            sections["Name"] = [Entry(NAMED, "Name", hint, Words(), lambda frame: subject.name)]
        same = self._subject == subject and self.dialog is not None and self.dialog.signature == signature_of(sections)
        if not same:
            self._clear()
            self._subject = subject
            with self._window.tabs["Edit"]:
                self.dialog = Dialog(self._window, sections, lambda values: self._apply(subject, values), order=DIALOG)
                self._add_actions(subject, frame.picture.scene)
            self._offer(subject)
        if not same or self._renewed:
            self._probe(subject)
        self._renewed = False

    def _apply(self, subject: Subject, values: dict[str, Any]) -> Future[Any]:
        """Ask for other values; another name comes last, since the rest goes by the one before."""
        new = values.pop(NAMED, None)
        if values or new is None:
            asked = subject.apply(self.session, values)
            if new is None:
                return asked
        asked = rename(self.session, subject.kind, subject.name, new)
        asked.add_done_callback(lambda done: None if done.exception() else self._window.select(new))
        return asked

    def _clear(self) -> None:
        for handle in (self._push_form, self.buttons, self.dialog):
            if handle is not None:
                handle.remove()
        self.dialog = self.buttons = self.impulse = self._push_form = None

    def _add_actions(self, subject: Subject, scene: Scene) -> None:
        gui: Any = self._window.server.gui
        actions = tuple(subject.actions(scene))
        if isinstance(subject, BodySubject) and not scene[subject.name].static:
            self._push_form = gui.add_form(None, order=IMPULSE)
            with self._push_form:
                text = f"0, 0, {figure(scene[subject.name].mass, 3)}"
                self.impulse = gui.add_text("Impulse [N s]", text, hint="A blow at the centre of mass. Enter pushes.")
            self._push_form.on_submit(lambda _: self.do(PUSH))
            actions = (PUSH, *actions)
        if actions:
            self.buttons = gui.add_button_group("", actions, order=ACTIONS)
            self.buttons.on_click(lambda event: self.do(event.target.value))

    def _offer(self, subject: Subject) -> None:
        """Have the picker show what the dialog is about, also where its list was cut short."""
        title = title_of(subject)
        if title not in self.picker.options:
            self.picker.options = (*self.picker.options, title)
        self.picker.value = title

    def _probe(self, subject: Subject) -> None:
        """Have frames hold what the readings of the subject need."""
        probes, probe = self.session.probes, probe_for(subject)
        self.session.read(lambda sim: probes.update({PROBE: probe}))


def find_subject(scene: Scene, name: str) -> Subject:
    """What goes by a name: a body, a joint, a force, or the scene for none."""
    places: dict[str, Any] = {"body": scene, "joint": scene.joints, "force": scene.forces}
    kind = next((kind for kind, known in places.items() if name and name in known), None)
    found: Subject = SceneSubject() if kind is None else KINDS[kind](name)
    return found


def existing(subject: Subject, scene: Scene) -> Subject:
    """A subject, if it is in the scene; else the scene itself."""
    places: dict[str, Any] = {"body": scene, "joint": scene.joints, "force": scene.forces}
    return subject if subject.name in places.get(subject.kind, ()) else SceneSubject()


def title_of(subject: Subject) -> str:
    """What a subject is called in the list."""
    return f"{subject.kind} · {subject.name}" if subject.name else subject.kind


def options_of(scene: Scene) -> tuple[str, ...]:
    """Everything there is to edit, by what it is called in the list."""
    found: list[Subject] = [
        *(BodySubject(body.name) for body in scene.bodies),
        *(JointSubject(name) for name in scene.joints if name != GRIP),
        *(ForceSubject(name) for name in scene.forces),
    ]
    return (title_of(SceneSubject()), *(title_of(subject) for subject in found[:MOST_LISTED]))


def table(rows: list[tuple[str, str]]) -> str:
    """Readings as HTML; names from scenes are escaped."""
    cells = "".join(f'<tr><td style="{NAME}">{escape(name)}</td><td>{escape(text)}</td></tr>' for name, text in rows)
    return f'<div style="padding:0 0.75em 0.4em"><table style="{TABLE}">{cells}</table></div>' if rows else ""
