"""Subjects: what a dialog is about, the scene itself or something in it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from rattleback.core.errors import RattlebackError
from rattleback.model.pairing import RULES
from rattleback.viewer.panels.declared import label_of, meanings_of
from rattleback.viewer.panels.entry import Choice, Entry, Numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Picture
    from rattleback.viewer.session import Session

    Sections = Mapping[str, Sequence[Entry]]

REMOVE = "Remove"
# What frames hold for the readings of a subject goes by this name.
PROBE = "edit"


class Subject(Protocol):
    """What a dialog is about."""

    @property
    def kind(self) -> str:
        """``"scene"``, ``"body"``, ``"joint"`` or ``"force"``."""

    @property
    def name(self) -> str:
        """Its name in the scene."""

    def sections(self, scene: Scene) -> Sections:
        """Everything it has, by the titles it stands under."""

    def apply(self, session: Session, values: dict[str, Any]) -> Future[Any]:
        """Ask for other values, by the names of their entries."""

    def actions(self, scene: Scene) -> dict[str, Callable[[Session], Future[Any]]]:
        """What can be done to it, by what the buttons say."""

    def look(self, sim: Simulation) -> dict[str, Any]:
        """What of a running simulation its readings need beside a picture."""

    def readings(self, picture: Picture, seen: dict[str, Any]) -> list[tuple[str, str]]:
        """How it is now, as names and texts."""


@dataclass(frozen=True)
class SceneSubject:
    """The scene: its gravity, and how materials are combined."""

    kind, name = "scene", ""

    def sections(self, scene: Scene) -> Sections:
        """Gravity and rules."""
        hint = "Acceleration of every body that is not static; zeros for none."
        gravity = Entry("gravity", "Gravity [m/s²]", hint, Numbers((3,)), lambda frame: frame.picture.scene.gravity)
        meanings = meanings_of(type(scene.rules))
        rules = [
            Entry(
                field.name,
                label_of(field.name),
                f"How two materials become one. {meanings[field.name]}",
                Choice(RULES),
                lambda frame, name=field.name: getattr(frame.picture.scene.rules, name),  # type: ignore[misc]
            )
            for field in fields(scene.rules)
        ]
        return {"": [gravity], "Where materials touch": rules}

    def apply(self, session: Session, values: dict[str, Any]) -> Future[Any]:
        """Build the scene anew."""

        def edit(scene: Scene) -> Scene:
            made = scene.copy()
            rules = {name: value for name, value in values.items() if name != "gravity"}
            made.combine(**{**vars(scene.rules), **rules})
            made.gravity = type(made)(values.get("gravity", scene.gravity)).gravity
            return made

        return session.rebuild(edit)

    def actions(self, scene: Scene) -> dict[str, Callable[[Session], Future[Any]]]:
        """Nothing can be done to all of it."""
        return {}

    def look(self, sim: Simulation) -> dict[str, Any]:
        """Nothing: the picture has it all."""
        return {}

    def readings(self, picture: Picture, seen: dict[str, Any]) -> list[tuple[str, str]]:
        """What there is in it."""
        there = {"Bodies": picture.scene.bodies, "Joints": picture.scene.joints, "Forces": picture.scene.forces}
        return [(name, str(len(things))) for name, things in there.items()]


def edited(edit: Callable[[Scene], Any]) -> Callable[[Scene], Scene]:
    """A function that makes another scene, from one that changes a scene in its place."""

    def make(scene: Scene) -> Scene:
        made = scene.copy()
        edit(made)
        return made

    return make


def seen_in(picture: Picture, subject: Subject) -> dict[str, Any]:
    """What a picture holds for the readings of a subject; nothing where it was taken for another one."""
    whose, seen = picture.probes.get(PROBE, (None, {}))
    return seen if whose == (subject.kind, subject.name) else {}


def probe_for(subject: Subject) -> Callable[[Simulation], Any]:
    """What frames are to find out for the readings of a subject."""

    def probe(sim: Simulation) -> Any:
        try:
            return (subject.kind, subject.name), subject.look(sim)
        except (RattlebackError, LookupError):  # gone, until the page has heard of it
            return None, {}

    return probe
