"""Holding feet over a whole motion whose footfall is known: every foot that stands stays to rounding, turns included.

The same hold as that of a steered figure, see ``motion/foot``, one moment after the other; legs then follow for all
moments at once, with hips that go down gently before a leg would be too short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.motion.foot import Foot
from rattleback.characters.motion.footfall import OFF
from rattleback.characters.motion.footing import FADE, drop, smooth, soles
from rattleback.characters.motion.ground import moved
from rattleback.characters.motion.limb import reached, turned
from rattleback.maths.rotation import quaternion_from_axis_angle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.characters.motion.footfall import Stance
    from rattleback.characters.motion.footing import Leg
    from rattleback.characters.pose import Pose
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]


def held(
    skeleton: Skeleton, poses: Pose, legs: Sequence[Leg], stances: Sequence[Sequence[Stance]], frame_time: float
) -> Pose:
    """Poses in which every foot that stands stays.

    Args:
        skeleton: The skeleton, in metres with z up.
        poses: Poses at equal distances in time (frames, ...).
        legs: The legs.
        stances: What each foot does in each frame (frames, legs).
        frame_time: Time between them [s].
    """
    points = skeleton.matrices(poses)[..., :3, 3]
    count = max(1, round(FADE / frame_time))
    goals, turns = [], []
    for k, leg in enumerate(legs):
        shift, turn = _shifts(soles(skeleton, poses, leg), [stance[k] for stance in stances], frame_time)
        goals.append(points[:, skeleton.number(leg.limb.end)] + shift)
        turns.append(turn)
    low = np.max([drop(skeleton, points, leg, goal) for leg, goal in zip(legs, goals, strict=True)], axis=0)
    down = np.zeros((len(poses), 3))
    down[:, 2] = -smooth(low, count)
    found = moved(skeleton, poses, down)
    for leg, goal, turn in zip(legs, goals, turns, strict=True):
        found = reached(skeleton, found, leg.limb, goal)
        about = quaternion_from_axis_angle((0.0, 0.0, 1.0), turn)
        found = turned(skeleton, found, skeleton.matrices(found), skeleton.number(leg.limb.end), about)
    return found


def _shifts(ends: Floats, stances: Sequence[Stance], frame_time: float) -> tuple[Floats, Floats]:
    """Shifts of an ankle (frames, 3) [m] and turns of its foot (frames,) [rad]."""
    foot, shift, turn = Foot(), np.zeros((len(ends), 3)), np.zeros(len(ends))
    level = np.median([here[s.part, 2] for here, s in zip(ends, stances, strict=True) if s.part != OFF] or [0.0])
    for k, (here, stance) in enumerate(zip(ends, stances, strict=True)):
        foot.step(here, stance, float(here[stance.part, 2] - level), frame_time)
        shift[k], turn[k] = foot.shift, foot.turn
    return shift, turn
