"""The player: which frame of the reel is looked at, and which comes next while it plays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rattleback.viewer.timeline.reel import Reel, Shot

# Played as fast as possible, this much passes in a second [s].
FASTEST = 20.0


class Player:
    """Where on the reel the page is.

    Attributes:
        shot: What is looked at; None where the page shows the simulation itself.
        playing: Whether the reel plays.
        loop: Whether it begins anew at the end.

    Args:
        reel: The reel.
        rate: Frames in a second.
    """

    def __init__(self, reel: Reel, rate: float) -> None:
        self.shot: Shot | None = None
        self.playing = self.loop = False
        self._reel, self._rate = reel, rate
        self._from, self._since, self._shown = 0.0, 0.0, -math.inf

    def seek(self, time: float) -> None:
        """Look at the frame of a time [s], and stand still."""
        self.playing, self.shot = False, self._reel.at(time)

    def play(self, now: float) -> None:
        """Play from what is looked at on; from the beginning where that is the end, or nothing is looked at."""
        begin, end = self._reel.span
        at = end if self.shot is None else self.shot.frame.time
        self._from, self._since, self._shown = begin if at >= end else at, now, -math.inf
        self.playing = bool(self._reel.shots)

    def leave(self) -> None:
        """Look at the simulation itself."""
        self.shot, self.playing = None, False

    def is_due(self, now: float) -> bool:
        """Whether another frame is to be shown while it plays."""
        return self.playing and now - self._shown >= 1.0 / self._rate

    def wait(self, now: float) -> float | None:
        """How long until then [s]; None where it does not play."""
        return max(0.0, self._shown + 1.0 / self._rate - now) if self.playing else None

    def advance(self, now: float, speed: float) -> None:
        """Go on to what is due now; at the end begin anew or stand still.

        Args:
            now: Real time [s].
            speed: Simulated seconds in a second.
        """
        begin, end = self._reel.span
        time = self._from + min(speed, FASTEST) * (now - self._since)
        if time > end and self.loop and end > begin:
            time, self._from, self._since = begin, begin, now
        self.playing = time <= end
        self.shot, self._shown = self._reel.at(time), now
