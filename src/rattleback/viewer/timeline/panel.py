"""The timeline on the page: a slider over what was recorded, to look back, play it again, and go on from there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import viser

from rattleback.viewer.panels.held import Held

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.viewer.frame import Frame, Timeline
    from rattleback.viewer.window import Window

# The slider follows a run so often [1/s].
RATE = 5.0
# Places of the slider in a second.
FINENESS = 1000
# Recordings shorter than this have no slider to speak of [s].
SHORTEST = 1.0 / FINENESS
TO_START, TO_END, GO_ON = "Start", "End", "Go on from here"


class TimelinePanel:
    """The timeline.

    Attributes:
        slider: Where the page looks.
        play: Plays what was recorded, or stops that.
        loop: Whether it begins anew at the end.
        buttons: Go to the start, to the end, or on from here.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session = session = window.session
        gui: Any = window.server.gui
        with window.tabs["Run"], gui.add_folder("Timeline"):
            hint = "Look back at what was recorded. Whatever you do next goes on from there. Keys: J and K."
            slider = gui.add_slider("Seen [s]", 0.0, SHORTEST, 1.0 / FINENESS, 0.0, hint=hint, disabled=True)
            hint = "Show again what was recorded, at the speed of the page. Key: L."
            self.play = gui.add_button("Play recording", icon=viser.Icon.REPEAT, hint=hint, disabled=True)
            loop = gui.add_checkbox("Loop", False, hint="At the end of the recording, begin it anew.")
            self.buttons = gui.add_button_group("", (TO_START, TO_END, GO_ON))
            self.said = gui.add_markdown("")
        self.slider = Held(session, slider, lambda frame: _on(slider, frame.time), session.record.look_back)
        self.loop = Held(session, loop, lambda frame: frame.timeline.loop, session.record.set_loop)
        self.play.on_click(lambda _: self.toggle())
        self.buttons.on_click(lambda event: self.press(event.target.value))
        keys = (("Play the recording", "L", self.toggle), ("Look back", "J", self._back), ("Look on", "K", self._forth))
        for label, key, act in keys:
            gui.add_command(label, hotkey=key).on_trigger(lambda _, act=act: act())
        self._shown_at, self._shown = 0.0, (False, False)

    def toggle(self) -> Future[Any]:
        """Play what was recorded, or stop that."""
        return self.session.pause() if self.session.frame.timeline.playing else self.session.record.play()

    def press(self, button: str) -> Future[Any]:
        """Go to one of the ends, or on from what is seen."""
        record, there = self.session.record, self.session.frame.timeline
        if button == GO_ON:
            return record.go_on()
        return record.look_back(there.begin if button == TO_START else there.end)

    def renew(self, frame: Frame) -> None:
        """Nothing here hangs on the scene."""

    def show(self, frame: Frame) -> None:
        """Show what there is and where on it the page is."""
        there, now = frame.timeline, time.perf_counter()
        state = (there.playing, there.past)
        moving = frame.playing or there.playing
        if moving and state == self._shown and now - self._shown_at < 1.0 / RATE:
            return
        self._shown_at = now
        if there.playing != self._shown[0]:
            self.play.label = "Stop" if there.playing else "Play recording"
            self.play.icon = viser.Icon.PLAYER_PAUSE if there.playing else viser.Icon.REPEAT
        self._shown = state
        self._stretch(there)
        self.slider.show(frame)
        self.loop.show(frame)
        said = self._words(frame)
        if said != self.said.content:
            self.said.content = said

    def _stretch(self, there: Timeline) -> None:
        """Have the slider reach over the recording."""
        handle = self.slider.handle
        begin, end = there.begin, max(there.end, there.begin + SHORTEST)
        if (handle.min, handle.max) != (begin, end):
            handle.min, handle.max = begin, end
        nothing = there.count < 2
        for control in (handle, self.play):
            if control.disabled != nothing:
                control.disabled = nothing

    def _words(self, frame: Frame) -> str:
        """What is recorded, and what comes of going on."""
        there = frame.timeline
        if there.count < 2:
            return "<small>What runs is recorded.</small>"
        gap, rate = self.session.record.reel.gap, there.count / max(there.end - there.begin, SHORTEST)
        said = f"{there.count} pictures, {rate:.2g} a second"
        said += f", at most {gap:.2g} s apart" if gap > 2.0 / rate else ""
        return f"<small>{said}.{' You look back; Play goes on from here.' if there.past else ''}</small>"

    def _back(self) -> Future[Any]:
        return self._nudge(-1)

    def _forth(self) -> Future[Any]:
        return self._nudge(1)

    def _nudge(self, pictures: int) -> Future[Any]:
        """Look at a picture before or after the one that is seen."""
        frame, record = self.session.frame, self.session.record
        return record.look_back(record.reel.beside(frame.time, pictures))


def _on(slider: Any, moment: float) -> float:
    """A time [s] as the slider takes it."""
    return float(min(max(moment, slider.min), slider.max))
