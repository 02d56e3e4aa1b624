"""The reel: the frames of a run, and moments to go on from, in a bounded amount of memory.

Every frame that was shown is kept. Moments are kept after anything but steps, and else so seldom that keeping them
takes little of the time. A frame between two moments is reached by the steps from the one before.

When the frames or the moments need too much room, half of them go: the newest quarter stays, and what is left of the
older ones is evenly apart. So the whole run stays on the reel, its older part more coarsely; ``gap`` says how coarsely.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rattleback.viewer.timeline.moment import Moment, moment_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame, Picture

# Room for frames and for moments [bytes].
MOST_BYTES = 1 << 26
# Keeping a moment may take this part of the time; and so often one is kept at most [1/s].
PART, LEAST_SECONDS = 0.01, 0.5
# Room of a frame beside its arrays [bytes].
FRAME_BYTES = 2000
# More contacts are not kept in frames.
MOST_CONTACTS = 300
ARRAYS = ("position", "orientation", "velocity", "angular_velocity")


@dataclass(frozen=True, eq=False)
class Shot:
    """A frame on the reel.

    Attributes:
        frame: What was shown.
        moment: The last moment that was kept before it, or with it.
    """

    frame: Frame
    moment: Moment


class Reel:
    """The frames of a run, in the order of time.

    Attributes:
        shots: The frames with their moments.
        most_bytes: Room for frames, and for moments.
    """

    def __init__(self) -> None:
        self.shots: list[Shot] = []
        self.most_bytes = MOST_BYTES
        self._seconds, self._kept_at = 0.0, 0.0

    def clear(self) -> None:
        """Forget all."""
        self.shots = []

    @property
    def span(self) -> tuple[float, float]:
        """Time of the first and the last frame [s]; zeros where there is none."""
        return (self.shots[0].frame.time, self.shots[-1].frame.time) if self.shots else (0.0, 0.0)

    @property
    def gap(self) -> float:
        """The longest time between two frames [s]."""
        times = [shot.frame.time for shot in self.shots]
        return float(np.diff(times).max()) if len(times) > 1 else 0.0

    def add(self, frame: Frame, sims: Sequence[Simulation], disturbed: bool) -> None:
        """Keep a frame; those of the same time and later are forgotten, since the run has gone back.

        Args:
            frame: What is shown now.
            sims: The simulations, at that moment.
            disturbed: Whether anything but steps happened since the last frame.
        """
        if self.shots and self.shots[-1].frame.time >= frame.time:
            self.shots = self.shots[: bisect_left(self.shots, frame.time, key=_time)]
            disturbed = True
        now = time.perf_counter()
        if disturbed or not self.shots or now - self._kept_at > max(LEAST_SECONDS, self._seconds / PART):
            self.shots.append(Shot(slim(frame), moment_of(sims, disturbed or not self.shots)))
            self._kept_at = time.perf_counter()
            self._seconds = self._kept_at - now
            self._fit_moments()
        else:
            self.shots.append(Shot(slim(frame), self.shots[-1].moment))
        if room_of(self.shots[-1].frame) * len(self.shots) > self.most_bytes:
            self.shots = [self.shots[row] for row in thinned(np.array([_time(shot) for shot in self.shots]))]

    def at(self, moment: float) -> Shot | None:
        """The last frame at a time [s] or before; the first where there is none, None on an empty reel."""
        return self.shots[max(0, bisect_right(self.shots, moment, key=_time) - 1)] if self.shots else None

    def beside(self, moment: float, frames: int) -> float:
        """Time of the frame that comes so many after the one of a time [s], or before it; that of the last of them."""
        row = max(0, bisect_right(self.shots, moment, key=_time) - 1) + frames
        return self.shots[min(max(row, 0), len(self.shots) - 1)].frame.time if self.shots else 0.0

    def _fit_moments(self) -> None:
        """Thin out moments that take too much room."""
        for disturbed in (False, True):
            moments = self._moments()
            if len(moments) > 1 and sum(moment.bytes for moment in moments) > self.most_bytes:
                self.shots = _fewer_moments(self.shots, moments, disturbed)

    def _moments(self) -> list[Moment]:
        return list({id(shot.moment): shot.moment for shot in self.shots}.values())


def _time(shot: Shot) -> float:
    """When it was [s]."""
    return shot.frame.time


def thinned(times: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows of half of some times: the newest quarter as it is, and of the older ones some that are evenly apart."""
    newest = len(times) - max(1, len(times) // 4)
    old = times[:newest]
    if len(old) < 2:
        return np.arange(newest, len(times))
    ticks = np.linspace(old[0], old[-1], max(1, len(times) // 4))
    return np.concatenate([np.unique(np.searchsorted(old, ticks)), np.arange(newest, len(times))])


def _fewer_moments(shots: list[Shot], moments: list[Moment], disturbed: bool) -> list[Shot]:
    """The shots with fewer moments: a moment that goes leaves its shots to the one before, if steps alone led to it.

    Args:
        shots: The shots.
        moments: Their moments.
        disturbed: Whether moments may go that something else led to, and their shots with them.
    """
    kept = {id(moments[row]) for row in thinned(np.array([moment.steps for moment in moments], np.float64))}
    heirs: dict[int, Moment | None] = {}
    heir: Moment | None = None
    for moment in moments:
        if id(moment) in kept or (moment.disturbed and not disturbed):
            heir = moment
        elif moment.disturbed:
            heir = None
        heirs[id(moment)] = heir
    found = [(shot.frame, heirs[id(shot.moment)]) for shot in shots]
    return [Shot(frame, moment) for frame, moment in found if moment is not None]


def slim(frame: Frame) -> Frame:
    """A frame that takes little room: single precision, and few contacts."""
    return replace(frame, pictures=tuple(map(_slim, frame.pictures)))


def room_of(frame: Frame) -> int:
    """Room that a frame takes [bytes]."""
    rows = sum(getattr(picture, name).nbytes for picture in frame.pictures for name in ARRAYS)
    contacts = sum(0 if picture.contacts is None else len(picture.contacts) for picture in frame.pictures)
    return FRAME_BYTES * len(frame.pictures) + rows + 120 * contacts


def _slim(picture: Picture) -> Picture:
    with np.errstate(over="ignore"):  # a body that flies apart may be faster than that
        arrays = {name: getattr(picture, name).astype(np.float32) for name in ARRAYS}
    few = picture.contacts is not None and len(picture.contacts) <= MOST_CONTACTS
    return replace(picture, contacts=picture.contacts if few else None, **arrays)
