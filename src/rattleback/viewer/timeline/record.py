"""The record of a session: what was shown, where on it the page is, and how to go on from there."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.viewer.frame import Timeline
from rattleback.viewer.timeline.player import Player
from rattleback.viewer.timeline.reel import Reel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame

    Queue = Callable[..., Future[Any]]


class Record:
    """What was recorded of a session.

    Attributes:
        reel: The frames; read it, and change it by commands.
        player: Where on it the page is.

    Args:
        queue: Queues a command of the session; ``acts=False`` where it changes no simulation.
        stand_still: Has the simulations stand still.
        rate: Frames in a second.
    """

    def __init__(self, queue: Queue, stand_still: Callable[[], None], rate: float) -> None:
        self.reel = Reel()
        self.player = Player(self.reel, rate)
        self._queue, self._stand_still = queue, stand_still
        # Whether steps or edits came after the last frame that was recorded, and whether anything but steps did.
        self._moved, self._disturbed = True, True

    def look_back(self, moment: float) -> Future[Any]:
        """Stand still and show what was recorded at a time [s]; what is done next goes on from there."""
        wanted = checks.number(moment, "The time to look at")
        return self._quietly(lambda: self.player.seek(wanted))

    def play(self) -> Future[Any]:
        """Show what was recorded, from where the page looks back, else from the beginning."""
        return self._quietly(lambda: self.player.play(time.perf_counter()))

    def stop(self) -> Future[Any]:
        """Stand still, wherever the page looks."""
        return self._quietly(lambda: setattr(self.player, "playing", False))

    def set_loop(self, loop: bool) -> Future[Any]:
        """Choose whether that begins anew at the end."""
        return self._queue(lambda: setattr(self.player, "loop", bool(loop)), acts=False)

    def go_on(self) -> Future[Any]:
        """Have the simulations stand where the page looks back at, bit for bit as they did."""
        return self._queue(lambda: None)

    def _quietly(self, act: Callable[[], None]) -> Future[Any]:
        """Have the simulations stand still, and do something that does not change them."""

        def command() -> None:
            self._stand_still()
            act()

        return self._queue(command, acts=False)

    def clear(self) -> None:
        """Forget everything: the simulations are others."""
        self.reel.clear()
        self.player.leave()
        self._moved = self._disturbed = True

    def note(self, moved: bool, disturbed: bool) -> None:
        """Steps or an edit were done: ``moved``; something else than steps: ``disturbed``."""
        self._moved, self._disturbed = self._moved or moved, self._disturbed or disturbed

    def restore(self, sims: Sequence[Simulation]) -> bool:
        """Go to where the page looks back at, if it does; says whether a scene has changed by that."""
        shot, self._disturbed = self.player.shot, True
        self.player.leave()
        return shot is not None and shot.moment.restore(sims, shot.frame.steps)

    def shown(self, number: int, present: Callable[[], Frame], sims: Sequence[Simulation]) -> Frame:
        """The frame that is to be seen: the present one, which is recorded, or what the page looks back at.

        Args:
            number: Number of the frame.
            present: Makes the present one.
            sims: The simulations.
        """
        shot = self.player.shot
        if shot is None:
            frame = present()
            if self._moved or frame.time >= self.reel.span[1]:
                self.reel.add(frame, sims, self._disturbed)
                self._moved = self._disturbed = False
        else:
            frame = replace(shot.frame, number=number, playing=False)
        there = (*self.reel.span, len(self.reel.shots), shot is not None)
        return replace(frame, timeline=Timeline(*there, self.player.playing, self.player.loop))
