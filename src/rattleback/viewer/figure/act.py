"""A figure that does as it is told on the page: it goes where one clicks, sits, crouches, and looks at the viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.acting.actor import Actor
from rattleback.characters.acting.command import POSTURES
from rattleback.viewer.figure.playback import shifted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.figure import Figure
    from rattleback.characters.pose import Pose

    Floats = NDArray[np.float64]

# A frame of the page goes on by so much at most [s]; what is left of its time is forgiven.
MOST, LEAST = 0.1, 1.0 / 240.0


class Act:
    """A figure under command.

    Attributes:
        actor: The figure that is told.
        pose: The pose it is in.
        before: The pose of the frame before, and how long ago that was [s].

    Args:
        figure: The figure, in metres with z up.
        place: Where it stands at first (2,) [m].
        floor: Height of the ground on the page [m]; an actor's own is at zero.
    """

    def __init__(self, figure: Figure, place: Floats, floor: float) -> None:
        self.actor = Actor(figure, place)
        self._last = "stand"
        self._lift = np.array([0.0, 0.0, floor])
        self.pose: Pose = self._next(LEAST)
        self.before: tuple[Pose, float] = self.pose, LEAST

    def tell(self, command: str, **options: Any) -> None:
        """Have it do something now, instead of all that it was told before."""
        if command not in ("look", "reach"):
            self.actor.stop()
            self._last = command if command in POSTURES else "stand"
        self.actor.do(command, **options)

    def advance(self, seconds: float) -> None:
        """Go on by so many seconds."""
        step = min(max(seconds, LEAST), MOST)
        self.before, self.pose = (self.pose, step), self._next(step)

    @property
    def words(self) -> str:
        """What it does."""
        x, y = self.actor.place
        return f"{self.actor.doing or self._last} · at ({x:.1f}, {y:.1f}) m"

    def _next(self, seconds: float) -> Pose:
        return shifted(self.actor.figure.skeleton, self.actor.advance(seconds), self._lift)
