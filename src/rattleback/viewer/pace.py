"""Pace: how much simulated time is due, so that it passes as fast as it should.

    due = s (now − now₀) − (t − t₀)

s speed, now and t real and simulated time, now₀ and t₀ those when it was set. What cannot be made up is forgiven: after
``PATIENCE`` seconds of delay it starts anew from where it is.
"""

from __future__ import annotations

import math
from collections import deque

# A delay longer than this is not made up [s].
PATIENCE = 0.1
# The speed reached is that of about so long [s].
WINDOW = 0.5


class Pace:
    """How fast simulated time is to pass, and does.

    Attributes:
        speed: Simulated seconds in a second; infinite for as many as can be.

    Args:
        speed: The same.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._start: tuple[float, float] | None = None
        self._past: deque[tuple[float, float]] = deque()

    def restart(self) -> None:
        """Count from the next look on; what was due is forgotten."""
        self._start = None
        self._past.clear()

    def due(self, now: float, time: float) -> float:
        """Simulated time that is due [s]; negative where the simulation is ahead.

        Args:
            now: Real time [s].
            time: Simulated time [s].
        """
        if math.isinf(self.speed):
            return math.inf
        if self._start is None:
            self._start = (now, time)
        due = self.speed * (now - self._start[0]) - (time - self._start[1])
        if due > PATIENCE * self.speed:
            self._start = (now - PATIENCE, time)
            return PATIENCE * self.speed
        return due

    def note(self, now: float, time: float) -> None:
        """Simulated time has passed; both in seconds."""
        self._past.append((now, time))
        while len(self._past) > 2 and self._past[1][0] <= now - WINDOW:
            self._past.popleft()

    @property
    def reached(self) -> float:
        """Simulated seconds in a second, of late; zero where nothing moves."""
        if len(self._past) < 2:
            return 0.0
        (begun, before), (now, time) = self._past[0], self._past[-1]
        return (time - before) / (now - begun) if now > begun else 0.0
