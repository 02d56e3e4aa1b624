"""The feet of an actor: held where they stand, lifted where they swing, with hips low enough for both legs.

The hold is that of ``motion/foot``. What a foot that stands slides is measured on the finished pose and kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.motion.blend import branch
from rattleback.characters.motion.foot import Foot
from rattleback.characters.motion.footfall import OFF
from rattleback.characters.motion.footing import drop, soles
from rattleback.characters.motion.ground import moved
from rattleback.characters.motion.limb import reached, turned
from rattleback.maths.rotation import quaternion_from_axis_angle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rattleback.characters.acting.anatomy import Anatomy
    from rattleback.characters.acting.hurdle import Hurdle
    from rattleback.characters.motion.footfall import Stance
    from rattleback.characters.pose import Pose

    Floats = NDArray[np.float64]

# Lift of a foot that steps in place, in parts of the leg.
STEP = 0.07
# A foot has to step when it is shifted by this part of the leg or turned so far [rad]; it need not at a third of it.
SHIFTED, TURNED = 0.05, 0.3
# Time in which hips come up again [s].
RISING = 0.15


class Feet:
    """The feet of one figure.

    Attributes:
        slide: The farthest that a foot has slid while it stood [m].
        hurdles: What is stepped over.
    """

    def __init__(self, parts: Anatomy, floor: float) -> None:
        self.parts, self.floor = parts, floor
        self.feet, self.slide = [Foot() for _ in parts.legs], 0.0
        self.hurdles: list[Hurdle] = []
        self._long, self._low = parts.legs[0].length(parts.skeleton), 0.0
        heights = parts.skeleton.matrices(parts.skeleton.rest)[:, 2, 3]
        self._heights = heights - heights.min()
        self._below = [np.flatnonzero(branch(parts.skeleton, [leg.limb.end])) for leg in parts.legs]
        self._bends = [parts.bend(leg.limb, leg=True) for leg in parts.legs]

    @property
    def stood(self) -> list[int]:
        """What each foot stands on: 0 its heel, 1 its ball, −1 nothing."""
        return [foot.part for foot in self.feet]

    def strained(self, going_on: bool) -> bool:
        """Whether a foot has to step for the figure to stand at ease."""
        most = 1.0 / 3.0 if going_on else 1.0
        return any(
            foot.part == OFF
            or np.hypot(*foot.shift[:2]) > most * SHIFTED * self._long
            or abs(foot.turn) > most * TURNED
            for foot in self.feet
        )

    def plant(
        self, pose: Pose, stances: Sequence[Stance], lifted: float, time_step: float, landing: Callable[[int], Floats]
    ) -> Pose:
        """A pose with the feet held, a moment after the last one.

        Args:
            pose: The pose over the ground.
            stances: What the feet do.
            lifted: How much of a step in place a foot that swings is lifted for, from 0 to 1.
            time_step: Length of the moment [s].
            landing: Heel and ball (2, 3) [m] where a foot, by its number, is going to land.
        """
        skeleton, goals, turns = self.parts.skeleton, [], []
        points = skeleton.matrices(pose)[:, :3, 3]
        for k, (foot, leg, stance) in enumerate(zip(self.feet, self.parts.legs, stances, strict=True)):
            ends, up = soles(skeleton, pose, leg), 0.0
            if stance.part == OFF:
                if foot.part != OFF and self.hurdles:
                    heel, ball = landing(k)
                    foot.landing = np.sum([hurdle.clear(heel, ball) for hurdle in self.hurdles], axis=0)
                up = STEP * self._long * lifted * np.sin(np.pi * stance.swung) ** 2
                heel, ball = foot.held(ends)
                up = max([up, *(hurdle.lift(heel, ball, stance.swung) for hurdle in self.hurdles)])
            foot.step(ends, stance, float(ends[stance.part, 2]) - self.floor, time_step)
            if stance.part == OFF:
                low = (points[:, 2] - self._heights)[self._below[k]].min() + foot.shift[2]
                up = max(up, self.floor - float(low))
            goals.append(points[skeleton.number(leg.limb.end)] + foot.shift + (0.0, 0.0, up))
            turns.append(foot.turn)
        return self._posed(pose, points, goals, turns, time_step)

    def _posed(self, pose: Pose, points: Floats, goals: list[Floats], turns: list[float], time_step: float) -> Pose:
        skeleton, legs = self.parts.skeleton, self.parts.legs
        low = max(float(drop(skeleton, points[None], leg, g[None])[0]) for leg, g in zip(legs, goals, strict=True))
        self._low = max(low, self._low * np.exp(-time_step / RISING))
        found = moved(skeleton, pose, (0.0, 0.0, -self._low))
        for leg, bend, goal, turn in zip(legs, self._bends, goals, turns, strict=True):
            found = reached(skeleton, found, leg.limb, goal, bend=bend)
            about = quaternion_from_axis_angle((0.0, 0.0, 1.0), turn)
            found = turned(skeleton, found, skeleton.matrices(found), skeleton.number(leg.limb.end), about)
        self._measure(found)
        return found

    def _measure(self, pose: Pose) -> None:
        for foot, leg in zip(self.feet, self.parts.legs, strict=True):
            if foot.part != OFF:
                here = soles(self.parts.skeleton, pose, leg)[foot.part, :2]
                self.slide = max(self.slide, float(np.hypot(*(here - foot.place))))
