"""What an actor plays besides its gaits: a clip of its own or one made for it, in place and with its footfall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.motion.blend import eased
from rattleback.characters.motion.footfall import BALL, HEEL, OFF, Stance
from rattleback.characters.motion.footing import soles, standing
from rattleback.characters.motion.ground import moved, where
from rattleback.characters.motion.limb import reached, turned
from rattleback.characters.pose import Pose
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.acting.anatomy import Anatomy

    Floats = NDArray[np.float64]

FRAME = 1.0 / 60.0
# Of what is made: time it takes [s], how far the hips go down and back in parts of a leg, and the lean of the trunk
# [rad].
POSTURES = {"crouch": (0.8, 0.45, 0.12, 0.5), "sit": (0.9, 0.5, 0.42, 0.1)}


class Played:
    """A motion in place.

    Attributes:
        duration: Its length [s].
        travel: How far the middle between the feet goes (2,) [m], from the first frame to the last.
        turn: By how much the hips turn over that [rad].
        ended: Its last pose, where the figure stands then.
    """

    def __init__(self, clip: Clip, parts: Anatomy, floor: float) -> None:
        skeleton = parts.skeleton
        self.duration = max(clip.duration - clip.start, FRAME)
        self._times = np.linspace(0.0, self.duration, max(3, round(self.duration / FRAME) + 1))
        poses = clip.pose(clip.start + self._times)
        low = min(float(soles(skeleton, poses[0], leg)[:, 2].min()) for leg in parts.legs)
        _, heading = where(skeleton, poses)
        poses = moved(skeleton, poses, np.zeros(2), -float(heading[0]))
        middle = np.mean([soles(skeleton, poses, leg)[..., :2].mean(axis=-2) for leg in parts.legs], axis=0)
        rise = np.array([*-middle[0], floor - low])
        self.poses, self._skeleton = moved(skeleton, poses, rise), skeleton
        self.travel, self.turn = middle[-1] - middle[0], float(np.unwrap(heading)[-1] - heading[0])
        self.ended = moved(skeleton, moved(skeleton, self.poses[-1], -self.travel), np.zeros(2), -self.turn)
        step = float(self._times[1])
        stands = [standing(skeleton, self.poses, leg, step) for leg in parts.legs]
        self._parts = np.array([np.where(s[:, 1], BALL, np.where(s[:, 0], HEEL, OFF)) for s in stands])

    def pose(self, time: float) -> Pose:
        """The pose at a time [s], the middle between the feet at the origin at first."""
        return self.poses[self._frame(time)]

    def stances(self, time: float) -> list[Stance]:
        """What the feet do at a time [s]."""
        k = self._frame(time)
        found = []
        for parts in self._parts:
            swung = 0.0
            if parts[k] == OFF:
                on = np.flatnonzero(parts != OFF)
                start = on[on < k].max() if (on < k).any() else -1
                end = on[on > k].min() if (on > k).any() else len(parts)
                swung = (k - start) / (end - start)
            found.append(Stance(int(parts[k]), swung))
        return found

    def _frame(self, time: float) -> int:
        return int(np.clip(round(time / self._times[1]), 0, len(self._times) - 1))


def posture(parts: Anatomy, stand: Pose, kind: str) -> Clip:
    """A clip in which a figure sits down or crouches: the hips go down over feet that stay.

    Args:
        parts: What the joints are.
        stand: How the figure stands.
        kind: ``"sit"`` or ``"crouch"``.
    """
    time, depth, back, lean = POSTURES[kind]
    skeleton, leg = parts.skeleton, parts.legs[0].length(parts.skeleton)
    gentle = eased(np.linspace(0.0, 1.0, round(time / FRAME) + 1))
    shift = np.outer(gentle, [-back * leg, 0.0, -depth * leg])
    pose = moved(skeleton, stand, shift)
    if parts.spine:
        joint = skeleton.number(parts.spine[0])
        turn = rotation.quaternion_from_axis_angle((0.0, 1.0, 0.0), lean * gentle)
        pose = turned(skeleton, pose, skeleton.matrices(pose), joint, turn)
    still = skeleton.matrices(stand)[:, :3, 3]
    for one in parts.legs:
        goal = np.tile(still[skeleton.number(one.limb.end)], (len(gentle), 1))
        pose = reached(skeleton, pose, one.limb, goal, bend=parts.bend(one.limb, leg=True))
    return Clip.from_poses(skeleton, pose, FRAME, kind)
