"""The tree: all bodies, joints and forces of the scene, to be searched, selected, shown and hidden.

It is a page of its own inside the tab, which makes only those rows that are in sight: a thousand bodies cost no more
than ten. It asks twice a second for what is selected, and for the names only when the scene is another one. Names are
data there, never code.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from rattleback.core.errors import InputError
from rattleback.viewer.drawing.bodies import bodies_of
from rattleback.viewer.front import ASSETS, DATA, PAGE, reply
from rattleback.viewer.interaction.grip import GRIP

if TYPE_CHECKING:
    from rattleback.model.scene import Scene
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.gate import Answer
    from rattleback.viewer.window import Window

LOOK = "width:100%;height:15em;border:0"
FRAME = f'<iframe src="/rattleback/tree" title="Bodies, joints and forces" style="{LOOK}"></iframe>'
FIRST = -2.0


class Tree:
    """The tree.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        gui: Any = window.server.gui
        with window.tabs["Edit"]:
            gui.add_html(f'<div style="padding:0.2em 0.75em 0.5em">{FRAME}</div>', order=FIRST)
        window.front.serve("tree", self._answer)
        window.front.serve("tree_act", self._act, acts=True)

    def renew(self, frame: Frame) -> None:
        """What was hidden may be gone."""
        bodies = bodies_of(self._window)
        if bodies is not None:
            bodies.hidden = frozenset(name for name in bodies.hidden if name in frame.picture.scene)

    def show(self, frame: Frame) -> None:
        """The page asks by itself."""

    def _answer(self, rest: str, query: str) -> Answer | None:
        """The page of the tree, what is in the scene, and what is selected and hidden."""
        frame = self._window.session.frame
        if rest == "":
            return reply((ASSETS / "tree.html").read_text(encoding="utf-8"), PAGE)
        if rest == "things":
            return reply(json.dumps(things(frame.picture.scene)), DATA)
        if rest != "state":
            return None
        bodies = bodies_of(self._window)
        state = {
            "version": frame.version,
            "selected": self._window.selected,
            "hidden": [] if bodies is None else sorted(bodies.hidden),
            "dark": self._window.dark,
        }
        return reply(json.dumps(state), DATA)

    def _act(self, rest: str, query: str) -> Answer | None:
        """Select, show or hide bodies by their names."""
        scene, names = self._window.session.frame.picture.scene, parse_qs(query).get("name", [])
        known = {*(body.name for body in scene.bodies), *scene.joints, *scene.forces}
        if strangers := [name for name in names if name not in known]:
            raise InputError(f"There is nothing called {strangers[0]!r} in the scene now.")
        if rest == "select":
            self._window.select(names[0] if names else "")
            return reply("done")
        bodies = bodies_of(self._window)
        if bodies is None or rest not in ("hide", "show", "only", "all"):
            return None
        every = frozenset(body.name for body in scene.bodies)
        bodies.hidden = {
            "hide": bodies.hidden | {*names},
            "show": bodies.hidden - {*names},
            "only": every - {*names},
            "all": frozenset[str](),
        }[rest] & every
        # A frame that shows it, even if nothing moves.
        self._window.session.do(lambda sim: None)
        return reply("done")


def things(scene: Scene) -> dict[str, list[tuple[str, str]]]:
    """What is in a scene, by kind: names, and a few words about each."""
    return {
        "bodies": [(body.name, _words(body)) for body in scene.bodies],
        "joints": [
            (name, f"{type(joint).__name__}: {joint.a} – {joint.b}")
            for name, joint in scene.joints.items()
            if name != GRIP
        ],
        "forces": [(name, type(force).__name__) for name, force in scene.forces.items()],
    }


def _words(body: Any) -> str:
    shape = "" if body.shape is None else type(body.shape).__name__
    return " ".join(filter(None, (shape, "static" if body.static else "", body.group or "")))
