"""The motor panel: a slider for the target of every servo and for every rate of the velocity joints."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from rattleback.viewer.panels.drives import PROBE, Motor, drives_of, look, nice
from rattleback.viewer.panels.held import Held

if TYPE_CHECKING:
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.panels.drives import Drive
    from rattleback.viewer.window import Window

# Sliders move at most so often by themselves [1/s].
RATE = 10.0
# A slider has about so many places.
PLACES = 400
# More sliders could not be found one's way in; the drop-down has all.
MOST = 40
# So many leave room for the dialog below them.
MOST_OPEN = 8
DIGITS = 6
FIRST = -1.0


class Motors:
    """The sliders.

    Attributes:
        sliders: The sliders by their labels.
        ticks: Tick boxes of servos by their names, ticked where they follow their own target.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session, self._window = window.session, window
        self.sliders: dict[str, Held] = {}
        self.ticks: dict[str, Held] = {}
        self._drives: tuple[Motor | Drive, ...] = ()
        self._folder: Any = None
        self._shown_at = 0.0

    def renew(self, frame: Frame) -> None:
        """Make the sliders of another scene; where the motors are the same, they stay."""
        self.session.read(lambda sim: self.session.probes.update({PROBE: look}))
        drives = drives_of(frame.picture.scene)[:MOST]
        if drives == self._drives:
            return
        self._drives = drives
        if self._folder is not None:
            self._folder.remove()
        self._folder, self.sliders, self.ticks = None, {}, {}
        gui: Any = self._window.server.gui
        if drives:
            with self._window.tabs["Edit"]:
                self._folder = gui.add_folder("Motors", order=FIRST, expand_by_default=len(drives) <= MOST_OPEN)
            with self._folder:
                for drive in drives:
                    self._add(gui, drive)

    def show(self, frame: Frame) -> None:
        """Show what holds."""
        now = time.perf_counter()
        if frame.playing and now - self._shown_at < 1.0 / RATE:
            return
        self._shown_at = now
        for control in (*self.sliders.values(), *self.ticks.values()):
            control.show(frame)

    def _add(self, gui: Any, drive: Motor | Drive) -> None:
        step = nice((drive.high - drive.low) / PLACES)
        start = min(max(0.0, drive.low), drive.high)
        hint = "What the motor aims at." if isinstance(drive, Motor) else "How fast the joint is driven."
        slider = gui.add_slider(drive.label, drive.low, drive.high, step, start, hint=hint)
        self.sliders[drive.label] = Held(
            self.session,
            slider,
            lambda frame: placed(slider, drive.read(frame)),
            lambda value: drive.set(self.session, float(value)),
        )
        if isinstance(drive, Motor):
            label = "Follow schedule" if drive.scheduled else "Own target"
            hint = "Ticked, it aims at what the scene says; moving the slider unticks it."
            box = gui.add_checkbox(label, True, hint=hint)
            self.ticks[drive.name] = Held(
                self.session,
                box,
                lambda frame: box.value if (found := drive.follows(frame)) is None else found,
                lambda value: drive.follow(self.session, bool(value)),
            )


def placed(slider: Any, value: float | None) -> float:
    """A value as a slider shows it, which goes as far as it must; where nothing is known, what it shows now."""
    if value is None:
        shown: float = slider.value
        return shown
    if value < slider.min:
        slider.min = math.floor(1e3 * value) / 1e3
    if value > slider.max:
        slider.max = math.ceil(1e3 * value) / 1e3
    return round(value, DIGITS)
