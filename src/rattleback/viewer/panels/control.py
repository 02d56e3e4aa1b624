"""Play, pause, step, reset; how fast and in which steps; and what comes of it."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import viser

from rattleback.viewer.front import PAGE, reply
from rattleback.viewer.panels.held import Held
from rattleback.viewer.panels.number_form import Number, NumberForm
from rattleback.viewer.panels.readings import readings
from rattleback.viewer.panels.verdict import chip, details

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.core.report import Report
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

# Simulated seconds in a second, by what they are called.
SPEEDS = {
    "1/100 ×": 0.01,
    "1/30 ×": 1.0 / 30.0,
    "1/10 ×": 0.1,
    "1/3 ×": 1.0 / 3.0,
    "real time": 1.0,
    "2 ×": 2.0,
    "5 ×": 5.0,
    "10 ×": 10.0,
    "as fast as possible": math.inf,
}
# Readings change at most so often, that they can be read [1/s].
READINGS_RATE = 8.0
# What was wrong stays to be read for so long [s].
LINGERING = 1.5
# Place below everything else in the tab, since its height changes.
LAST = 1e9
FIRST = -1.0
STEP, STEPS, RESET = "Step", "10 steps", "Reset"
TIME_STEP = Number(
    "time_step", "Step [ms]", "Length of a time step in milliseconds.", lambda frame: 1e3 * frame.time_step
)


class Control:
    """The controls of the run.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session = session = window.session
        session.wanted.add("report")
        gui: Any = window.server.gui
        with window.tabs["Run"]:
            self.play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY, hint="Run or pause. Key: space.")
            self.chip = gui.add_html("")
            self.form = NumberForm(window, None, [TIME_STEP], self._set_time_step)
            with self.form.frame:
                hint = "Keys: N for a step, R to go back to the start."
                self.buttons = gui.add_button_group("Go", (STEP, STEPS, RESET), hint=hint, order=FIRST)
                hint = "How fast simulated time passes."
                speed = gui.add_dropdown("Speed", tuple(SPEEDS), initial_value=name_of_speed(1.0), hint=hint)
            self.readings = gui.add_html("", order=LAST)
        self.speed = Held(session, speed, lambda frame: name_of_speed(frame.speed), self._set_speed)
        self.play.on_click(lambda _: self.toggle())
        self.buttons.on_click(lambda event: self.press(event.target.value))
        self._add_keys(gui)
        self._playing: bool | None = None
        self._read = 0.0
        self._trouble: dict[int, tuple[float, Report]] = {}
        window.front.serve("verdict", lambda rest, query: reply(self._details(), PAGE))

    def _add_keys(self, gui: Any) -> None:
        keys = (
            ("Play or pause", "space", viser.Icon.PLAYER_PLAY, self.toggle),
            ("Take one step", "N", viser.Icon.PLAYER_TRACK_NEXT, lambda: self.press(STEP)),
            ("Back to the start", "R", viser.Icon.REFRESH, lambda: self.press(RESET)),
        )
        for label, key, icon, act in keys:
            gui.add_command(label, hotkey=key, icon=icon).on_trigger(lambda _, act=act: act())

    def toggle(self) -> Future[Any]:
        """Run, or pause."""
        return self.session.pause() if self.session.frame.playing else self.session.play()

    def press(self, button: str) -> Future[Any]:
        """Do what one of the small buttons says."""
        if button == RESET:
            return self.session.reset()
        return self.session.step(1 if button == STEP else 10)

    def renew(self, frame: Frame) -> None:
        """What was wrong with another scene is forgotten."""
        self._trouble.clear()

    def show(self, frame: Frame) -> None:
        """Show how it runs."""
        if frame.playing != self._playing:
            self._playing = frame.playing
            self.play.label = "Pause" if frame.playing else "Play"
            self.play.icon = viser.Icon.PLAYER_PAUSE if frame.playing else viser.Icon.PLAYER_PLAY
        self.speed.show(frame)
        self.form.show(frame)
        now = time.perf_counter()
        if not frame.playing or now - self._read >= 1.0 / READINGS_RATE:
            self._read = now
            reports = self._accuracy(frame, now)
            self.readings.content = readings(frame, reports)
            if (said := chip(frame, reports)) != self.chip.content:
                self.chip.content = said

    def _details(self) -> str:
        """Every error beside its tolerance."""
        frame = self.session.frame
        return details(frame, [picture.report for picture in frame.pictures])

    def _accuracy(self, frame: Frame, now: float) -> list[Report | None]:
        """The reports; while it runs, what was wrong a moment ago, so that it can be read."""
        shown = []
        for number, picture in enumerate(frame.pictures):
            report = picture.report
            if report is not None and not report.converged:
                self._trouble[number] = now, report
            since, trouble = self._trouble.get(number, (-math.inf, None))
            shown.append(trouble if frame.playing and now - since < LINGERING else report)
        return shown

    def _set_speed(self, name: str) -> Future[Any]:
        return self.session.set_speed(SPEEDS[name] if name in SPEEDS else float(name.removesuffix(" ×")))

    def _set_time_step(self, values: Any) -> Future[Any]:
        return self.session.do(lambda sim: sim.use(time_step=1e-3 * values["time_step"]))


def name_of_speed(speed: float) -> str:
    """What a speed is called; those that have no name by their number."""
    return next((name for name, known in SPEEDS.items() if math.isclose(known, speed)), f"{speed:.3g} ×")
