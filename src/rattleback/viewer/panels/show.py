"""The Show tab: what is drawn, and in which colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.viewer.amounts import amount
from rattleback.viewer.drawing.arrows import Velocities
from rattleback.viewer.drawing.bodies import Bodies, bodies_of
from rattleback.viewer.drawing.colours import MODES, bar
from rattleback.viewer.drawing.contacts import Contacts
from rattleback.viewer.drawing.ground import Ground

if TYPE_CHECKING:
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

HINTS = {
    "Bodies": "The bodies themselves.",
    "Ground": "Planes, or a grid below the scene.",
    "Joints and springs": "Balls, pins, rails, rods and coils; motors are red, and so is what is broken.",
    "Contact forces": "Where bodies touch, and how hard in the last step.",
    "Centres of mass": "Axes at the centre of mass of each body.",
    "Velocities": "Arrows along the velocity of each body.",
    "Names": "What the bodies are called, the first few dozen.",
    "Trails": "Where bodies were in the last three seconds.",
}
UNITS = {"Speed": "m/s", "Contact force": "N"}


class Show:
    """Tick boxes for everything that can be drawn, and the choice of colours.

    Args:
        window: The page; parts made before this one get a tick box.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._bodies = bodies_of(window)
        # At the bottom of the panel, whichever tab is open; the style of the page has it stand over the scene.
        self._legend = window.server.gui.add_html("")
        self._asked: set[str] = set()
        with window.tabs["Show"]:
            self._add_colours()
            for part in window.parts:
                if hasattr(part, "title") and hasattr(part, "visible"):
                    self._add_tick(part, part.title, "visible", HINTS.get(part.title))
                if isinstance(part, Bodies):
                    self._add_tick(part, "See-through", "clear", "See what goes on inside.")
                if isinstance(part, Ground):
                    self._add_tick(part, "Shadows", "shadows", "Switch them off where the page is slow.")
            dark = window.server.gui.add_checkbox("Dark", window.dark, hint="A dark page, for all that look at it.")
        dark.on_update(lambda _: self._darken(bool(dark.value)))

    def renew(self, frame: Frame) -> None:
        """Nothing here hangs on the scene."""

    def show(self, frame: Frame) -> None:
        """Say over the scene what colours and arrows mean."""
        rows = []
        if self._bodies is not None and (mode := self._bodies.colours.mode) in UNITS:
            rows.append(legend(mode, self._bodies.colours.largest, UNITS[mode], self._bodies.colours.passed))
        rows += [
            arrow_legend(part.title, part.colour, part.largest, part.unit)
            for part in self._window.parts
            if isinstance(part, (Contacts, Velocities)) and part.visible
        ]
        said = f'<div class="rattleback-legend">{"".join(rows)}</div>' if rows else ""
        if said != self._legend.content:
            self._legend.content = said

    def _add_colours(self) -> None:
        if self._bodies is None:
            return
        gui, colours = self._window.server.gui, self._bodies.colours
        choice = gui.add_dropdown("Colour by", MODES, initial_value=colours.mode, hint="What colours of bodies mean.")

        @choice.on_update
        def _(event: Any) -> None:
            colours.mode = choice.value
            self._redraw()

    def _add_tick(self, part: Any, title: str, name: str, hint: str | None) -> None:
        box = self._window.server.gui.add_checkbox(title, initial_value=getattr(part, name), hint=hint)

        @box.on_update
        def _(event: Any) -> None:
            setattr(part, name, box.value)
            self._redraw()

    def _darken(self, dark: bool) -> None:
        self._window.darken(dark)
        self._redraw()

    def _redraw(self) -> None:
        """Have a frame made, even if nothing moves, now that other things are wanted in it."""
        wanted = self._window.session.wanted
        needed = {name for part in self._window.parts for name in getattr(part, "wants", ())}
        wanted.difference_update(self._asked - needed)
        self._asked = (self._asked & needed) | (needed - wanted)
        wanted.update(needed)
        self._window.session.read()


def legend(title: str, largest: float, unit: str, passed: bool) -> str:
    """A colour bar with its ends, as HTML.

    Args:
        title: What the colours show.
        largest: The number at its end.
        unit: Its unit.
        passed: Whether some bodies are beyond it.
    """
    line = f'<div style="height:0.7em;border-radius:0.2em;background:{bar()}"></div>'
    ends = f"<span>0</span><span>{amount(largest, 2)} {unit}{' or more' if passed else ''}</span>"
    row = f'<div style="display:flex;justify-content:space-between">{ends}</div>'
    return f"<div>{title}{line}{row}</div>"


def arrow_legend(title: str, colour: tuple[int, int, int], largest: float, unit: str) -> str:
    """What arrows show and how much the longest one is, as HTML."""
    arrow = f'<span style="color:rgb{colour};font-weight:bold">&#10230;</span>'
    return f"<div>{arrow} {title}, largest {amount(largest, 2)} {unit}</div>"
