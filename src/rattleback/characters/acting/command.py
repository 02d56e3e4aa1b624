"""Commands: what an actor is told to do, checked when it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Collection

MOVES, POSTURES, AIMS = ("walk", "run"), ("sit", "crouch"), ("look", "reach")
BUILT_IN = (*MOVES, "stand", *POSTURES, *AIMS)
# What each takes besides its name; a clip takes with_ and seconds.
TAKES = {
    "walk": ("to", "speed", "seconds", "facing"),
    "run": ("to", "speed", "seconds", "facing"),
    "stand": ("seconds", "facing"),
    "sit": ("seconds",),
    "crouch": ("seconds",),
    "look": ("to",),
    "reach": ("to", "with_"),
}
OF_CLIPS = ("seconds", "with_")


@sealed
@dataclass(frozen=True)
class Command:
    """One thing to do.

    Args:
        name: ``"walk"``, ``"run"``, ``"stand"``, ``"sit"``, ``"crouch"``, ``"look"``, ``"reach"`` or the name of a
            clip.
        to: Where to go, a point (2,) or points of a path (points, 2) [m]; what to look at or reach for (3,) [m].
        with_: The hand that reaches, ``"left_hand"`` or ``"right_hand"``; joints or an arm that play a clip.
        speed: How fast to go [m/s].
        seconds: How long to go, stand, sit or play [s].
        facing: Heading to end with, from x about z [rad].
    """

    name: str
    to: Any = None
    with_: Any = None
    speed: float | None = None
    seconds: float | None = None
    facing: float | None = None

    def check(self, clips: Collection[str]) -> Command:
        """The same with plain values, for a figure with clips of given names."""
        if self.name not in BUILT_IN and self.name not in clips:
            names = [*BUILT_IN, *(name for name in clips if name not in BUILT_IN)]
            raise UnknownName(
                f"A figure cannot {self.name!r}.{did_you_mean(self.name, names)} It can {listing(names, 30)}."
            )
        takes = TAKES.get(self.name, OF_CLIPS)
        for field in ("to", "with_", "speed", "seconds", "facing"):
            if getattr(self, field) is not None and field not in takes:
                raise InputError(f"The command {self.name!r} takes no {field}=; it takes {listing(list(takes))}.")
        for field in ("speed", "seconds"):
            if getattr(self, field) is not None:
                checks.positive(getattr(self, field), f"The {field} of {self.name!r}")
        if self.facing is not None:
            checks.number(self.facing, f"The facing of {self.name!r}")
        return Command(self.name, self._place(), self.with_, self.speed, self.seconds, self.facing)

    def _place(self) -> Any:
        if self.to is None:
            return None
        what = f"The to of {self.name!r}"
        if self.name in AIMS:
            return checks.vector(self.to, what)
        points = np.atleast_2d(checks.finite(self.to, what))
        if points.ndim != 2 or points.shape[1] not in (2, 3) or not len(points):
            raise InputError(
                f"{what} has shape {np.shape(self.to)}; it must be a point on the ground (2,) or points of a path "
                "(points, 2)."
            )
        return points[:, :2]
