"""Sheets that lie over the scene: the gallery, what mouse and keys do, and the link of what is shown."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from rattleback.core.errors import InputError
from rattleback.viewer.front import PAGE, PICTURE, reply
from rattleback.viewer.gallery.cards import cards, picture_of

if TYPE_CHECKING:
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.gate import Answer
    from rattleback.viewer.window import Window

BUTTONS = (
    ("gallery", "Gallery", "All scenes, with pictures. Key: G"),
    ("keys", "Keys", "What mouse and keys do. Key: ?"),
    ("link", "Link", "An address that opens this scene with these settings"),
)
KEYS = {
    "Mouse": (
        ("drag", "turn the camera; on a body: push it"),
        ("ctrl-drag on a body", "push it along the line of sight"),
        ("shift-drag on a body", "pull it by a spring"),
        ("click", "select; on nothing: deselect"),
        ("double click", "look at a body; on nothing: at all"),
        ("right drag, wheel", "move the camera, come nearer"),
    ),
    "Run": (("space", "run or pause"), ("N", "one step"), ("R", "back to the start"), ("B, U", "save point, undo")),
    "Camera": (
        ("1, 2, 3", "from the front, from the side, from the top"),
        ("0", "look at all"),
        ("F", "follow what is selected, or stop"),
        ("C", "look at what is selected"),
        ("W A S D Q E, arrows", "fly"),
    ),
    "Page": (
        ("M", "measure by clicks on bodies"),
        ("P", "plots under the view"),
        ("G", "gallery"),
        ("?", "this help"),
        ("ctrl-K", "search all commands"),
        ("Esc", "close"),
    ),
}


class Sheets:
    """Serves the sheets, and opens scenes from them.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._opener, self._front = window.opener, window.front
        front, gui = window.front, window.server.gui
        front.serve("gallery", lambda rest, query: reply(cards(), PAGE))
        front.serve("pictures", _picture)
        front.serve("keys", lambda rest, query: reply(keys(), PAGE))
        front.serve("link", self._link)
        front.serve("open", self._open, acts=True)
        front.open_link = self._opener.follow
        buttons = "".join(
            f'<button type="button" data-rattleback="{name}" title="{escape(hint)}">{label}</button>'
            for name, label, hint in BUTTONS
        )
        with window.tabs["Run"]:
            gui.add_html(f'<div class="rattleback-buttons">{buttons}</div>')

    def renew(self, frame: Frame) -> None:
        """Nothing here hangs on the scene."""

    def show(self, frame: Frame) -> None:
        """Nothing here hangs on the step."""

    def _open(self, rest: str, query: str) -> Answer:
        """Open a scene of the gallery."""
        if not self._opener.follow(query):
            raise InputError("Name the scene to open: scene=wall.")
        self._front.greets = False
        return reply("opening")

    def _link(self, rest: str, query: str) -> Answer:
        """The link of what is shown, as a sheet."""
        link = self._opener.link()
        why = "A browser that has not been here needs the token of the address that was printed, too."
        rows = (("As an address", "data-address", f"/?{link.query}"), ("As a command", "", link.command))
        pieces = (f"<h2>{name}</h2><pre {kind}>{escape(text)}</pre>" for name, kind, text in rows)
        return reply(f"{''.join(pieces)}<p>{why}</p>", PAGE)


def keys() -> str:
    """What mouse and keys do, as HTML."""
    found = []
    for title, rows in KEYS.items():
        cells = "".join(f"<tr><td><kbd>{escape(key)}</kbd></td><td>{escape(text)}</td></tr>" for key, text in rows)
        found.append(f"<h2>{title}</h2><table>{cells}</table>")
    return "".join(found)


def _picture(rest: str, query: str) -> Answer | None:
    found = picture_of(rest)
    return None if found is None else reply(found, PICTURE)
