"""Playback: how far the clips of a figure are, and the pose that they make together.

    t_k = a_k + φ T_k      dφ/dt = s / T,   T = Σ w_k T_k      x = (blend of poses in place) + Σ w_k (c_k(φ) − c_k(0))

φ phase, the same for all clips; a_k, T_k start and length of clip k, w_k its weight, normalised; s speed; c_k its
course, the way of its hips over the ground with what is quicker than half a second smoothed out. Without root motion
the last term is left out, and the figure stays where it is but sways as the clip does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.motion.blend import blend
from rattleback.characters.motion.ground import hips_of
from rattleback.characters.pose import Pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.clip import Clip
    from rattleback.characters.figure import Figure
    from rattleback.characters.skeleton import Skeleton

    Floats = NDArray[np.float64]

# What is quicker than this is no course [s]; it is looked at so often [1/s], but no more often than so many times.
SMOOTH, RATE, MOST = 0.5, 30.0, 2000


class Playback:
    """The clips of a figure under way.

    Attributes:
        figure: The figure.
        weights: Weight of each clip by name; all zero is the pose at rest.
        phase: How far they are, from 0 to 1.
        speed: Seconds of clips in a second.
        loop: Whether they begin again where they end.
        travels: Whether the figure goes where its clips lead it.

    Args:
        figure: The figure, in metres with z up.
        clip: The clip that is played at first; the first if left out.
    """

    def __init__(self, figure: Figure, clip: str | None = None) -> None:
        self.figure, self.skeleton = figure, figure.skeleton
        self.weights = dict.fromkeys(figure.clips, 0.0)
        self.phase, self.speed, self.loop, self.travels = 0.0, 1.0, True, False
        if figure.clips:
            first = next(iter(figure.clips)) if clip is None else clip
            figure.clip(first)
            self.weights[first] = 1.0
        self._courses = {name: _course(one) for name, one in figure.clips.items()}

    @property
    def shares(self) -> dict[str, float]:
        """Normalised weights of the clips that have one."""
        total = sum(self.weights.values())
        return {name: weight / total for name, weight in self.weights.items() if weight > 0.0}

    @property
    def duration(self) -> float:
        """How long the clips take together at speed 1 [s]."""
        return sum(share * _length(self.figure.clips[name]) for name, share in self.shares.items())

    @property
    def time(self) -> float:
        """How far they are [s]."""
        return self.phase * self.duration

    def choose(self, clip: str) -> None:
        """Play one clip alone."""
        self.figure.clip(clip)
        self.weights = dict.fromkeys(self.weights, 0.0) | {clip: 1.0}

    def advance(self, seconds: float) -> bool:
        """Go on by so many seconds; whether that led anywhere."""
        before, length = self.phase, self.duration
        if length > 0.0:
            after = before + self.speed * seconds / length
            self.phase = after % 1.0 if self.loop else min(max(after, 0.0), 1.0)
        return self.phase != before

    def pose(self, phase: ArrayLike | None = None) -> Pose:
        """The pose now, or those at other phases (...)."""
        at = np.asarray(self.phase if phase is None else phase, dtype=np.float64)
        poses = self.in_place(at)
        return shifted(self.skeleton, poses, self.way(at)) if self.travels else poses

    def in_place(self, phase: ArrayLike) -> Pose:
        """Poses at phases (...) above the origin."""
        at, shares = np.asarray(phase, dtype=np.float64), self.shares
        if not shares:
            rest = self.skeleton.rest
            return Pose(
                *(np.broadcast_to(a, (*at.shape, *a.shape)) for a in (rest.rotation, rest.translation, rest.scale))
            )
        poses = []
        for name in shares:
            clip = self.figure.clips[name]
            pose = clip.pose(clip.start + at * _length(clip))
            poses.append(shifted(self.skeleton, pose, -self._along(name, at)))
        return blend(poses, list(shares.values()))

    def way(self, phase: ArrayLike) -> Floats:
        """How far the clips have led it at phases (..., 3) [m]; whole numbers are whole rounds."""
        at = np.asarray(phase, dtype=np.float64)
        rounds, part = np.floor(at), at - np.floor(at)
        # The end of the last round is no start of another.
        rounds, part = np.where((part == 0.0) & (at == 1.0), 0.0, rounds), np.where(at == 1.0, 1.0, part)
        found = np.zeros((*at.shape, 3))
        for name, share in self.shares.items():
            start, end = (self._along(name, np.asarray(k)) for k in (0.0, 1.0))
            found += share * (self._along(name, part) - start + rounds[..., None] * (end - start))
        return found

    def _along(self, name: str, phase: Floats) -> Floats:
        """Course of a clip at phases (..., 3) [m]."""
        course = self._courses[name]
        grid = np.linspace(0.0, 1.0, len(course))
        x, y = (np.interp(phase, grid, column) for column in course.T)
        return np.stack([x, y, np.zeros_like(x)], axis=-1)


def shifted(skeleton: Skeleton, pose: Pose, way: Floats) -> Pose:
    """A pose elsewhere, all of it alike.

    Args:
        skeleton: Its skeleton.
        pose: The pose, or a stack of them (...).
        way: How far (..., 3) [m].
    """
    roots = np.flatnonzero(skeleton.parents < 0)
    ways: Any = np.array(pose.translation)
    ways[..., roots, :] += way[..., None, :]
    return Pose(pose.rotation, ways, pose.scale)


def _length(clip: Clip) -> float:
    return float(clip.duration - clip.start)


def _course(clip: Clip) -> Floats:
    """Way of the hips of a clip over the ground at even phases, smoothed (phases, 2) [m]."""
    length = _length(clip)
    count = int(min(MOST, max(2, round(RATE * length) + 1)))
    skeleton = clip.skeleton
    frames = skeleton.matrices(clip.pose(np.linspace(clip.start, clip.duration, count)))
    path = frames[:, hips_of(skeleton), :2, 3]
    reach = min(count - 1, max(1, round(SMOOTH * RATE)))
    # Turned about its ends it goes on as it began: what is straight stays as it is.
    before, after = 2.0 * path[0] - path[reach:0:-1], 2.0 * path[-1] - path[-2 : -2 - reach : -1]
    longer = np.concatenate([before, path, after])
    window = np.bartlett(2 * reach + 3)[1:-1]
    return np.stack([np.convolve(column, window / window.sum(), mode="valid") for column in longer.T], axis=1)
