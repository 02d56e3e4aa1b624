"""Locomotion: standing, walking and running blended by one number, the speed, along any path.

    pose(φ) = Σ w_k pose_k(φ),   stride L = Σ w_k L_k,   rate f = Σ w_k f_k,   v = L f

w_k weights of the two cycles on either side of the speed, φ phase of the stride, common to all cycles, L_k stride
and f_k rate of cycle k; standing has no rate of its own and takes that of the slowest gait. The weights are those for
which v is the speed that is asked for. Feet are then held where they stand, so that no blend and no turn lets them
slide.

Reference: lecture notes on forward and inverse kinematics, §4.1, the three levels of control.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.motion.blend import blend
from rattleback.characters.motion.footfall import Footfall
from rattleback.characters.motion.ground import moved
from rattleback.characters.motion.hold import held
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.characters.motion.cycle import Cycle
    from rattleback.characters.motion.footing import Leg
    from rattleback.characters.pose import Pose

    Floats = NDArray[np.float64]


@sealed
class Locomotion:
    """Gaits of one figure, blended by speed.

    Attributes:
        cycles: The gaits, slowest first.
        legs: Its legs.
        footfall: When its feet stand.

    Args:
        cycles: The gaits, in any order, of different speeds; one that stands may be among them.
        legs: Its legs, whose feet are planted.
    """

    def __init__(self, cycles: Sequence[Cycle], legs: Sequence[Leg]) -> None:
        self.cycles, self.legs = tuple(sorted(cycles, key=lambda cycle: cycle.speed)), tuple(legs)
        if not self.cycles or any(cycle.skeleton is not self.cycles[0].skeleton for cycle in self.cycles):
            raise InputError("Locomotion needs one cycle at least, and all of them of one skeleton.")
        speeds = [cycle.speed for cycle in self.cycles]
        if any(fast - slow < 1e-6 for slow, fast in pairwise(speeds)):
            raise InputError(f"Locomotion has two cycles of the same speed: {np.round(speeds, 4).tolist()} m/s.")
        gaits = [cycle for cycle in self.cycles if cycle.stride > 0.0]
        idle = 1.0 / gaits[0].duration if gaits else 1.0
        self.footfall = Footfall(self.cycles, self.legs)
        self._strides = np.array([cycle.stride for cycle in self.cycles])
        self._rates = np.array([1.0 / cycle.duration if cycle.stride > 0.0 else idle for cycle in self.cycles])

    @property
    def fastest(self) -> float:
        """The greatest speed [m/s]."""
        return self.cycles[-1].speed

    def weights(self, speed: ArrayLike) -> Floats:
        """Weights of the cycles at speeds [m/s]: (cycles, ...); below the slowest and above the fastest they hold."""
        v = np.clip(checks.finite(speed, "The speed"), self.cycles[0].speed, self.fastest)
        found = np.zeros((len(self.cycles), *v.shape))
        if len(self.cycles) == 1:
            return found + 1.0
        speeds = self._strides * self._rates
        k = np.clip(np.searchsorted(speeds, v, side="right") - 1, 0, len(speeds) - 2)
        # (L₀ + w ΔL)(f₀ + w Δf) = v
        stride, more = self._strides[k], self._strides[k + 1] - self._strides[k]
        rate, faster = self._rates[k], self._rates[k + 1] - self._rates[k]
        a, b, c = more * faster, more * rate + stride * faster, stride * rate - v
        w = np.clip(-2.0 * c / (b + np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))), 0.0, 1.0)
        np.put_along_axis(found, k[None], 1.0 - w[None], axis=0)
        np.put_along_axis(found, k[None] + 1, w[None], axis=0)
        return found

    def rate(self, speed: ArrayLike) -> Floats:
        """Strides a second at speeds [m/s] (...)."""
        return np.tensordot(self._rates, self.weights(speed), axes=1)

    def pose(self, phase: ArrayLike, speed: ArrayLike) -> Pose:
        """The pose in place, heading along x.

        Args:
            phase: Phases of the stride (...).
            speed: Speeds [m/s] (...).
        """
        v, at = np.broadcast_arrays(np.asarray(speed, dtype=np.float64), np.asarray(phase, dtype=np.float64))
        return blend([cycle.pose(at) for cycle in self.cycles], self.weights(v))

    def along(
        self,
        path: ArrayLike,
        speed: float | Callable[[float], float],
        *,
        phase: float = 0.0,
        frame_time: float = 1.0 / 60.0,
        name: str = "along",
    ) -> Clip:
        """A clip that goes along a path over the ground, with planted feet.

        Args:
            path: Points of it (points, 2) [m]; between them it is a straight line, whose corners are rounded by how
                the figure turns.
            speed: How fast [m/s], or a function of the way gone [m].
            phase: Phase of the stride to begin with.
            frame_time: Time between frames [s].
            name: What the clip is called.
        """
        points = checks.finite(path, "The path")
        if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
            raise InputError(f"The path has shape {points.shape}; it must be (points, 2), two points at least.")
        step = checks.positive(frame_time, "The frame_time")
        course = _Course(points)
        pace = speed if callable(speed) else _constant(checks.positive(speed, "The speed"))
        gone, phases, speeds = self._march(course.length, pace, phase, step)
        poses = self.pose(phases, speeds)
        places, headings = course.at(gone)
        skeleton = self.cycles[0].skeleton
        placed = moved(skeleton, poses, places, headings)
        weights = self.weights(speeds)
        stances = [self.footfall.at(float(p), w) for p, w in zip(phases, weights.T, strict=True)]
        return Clip.from_poses(skeleton, held(skeleton, placed, self.legs, stances, step), step, name)

    def _march(self, length: float, pace: Any, phase: float, step: float) -> tuple[Floats, Floats, Floats]:
        """Way gone, phase and speed in each frame, until a way is gone."""
        rows = [(0.0, phase, self._held(pace(0.0)))]
        while rows[-1][0] < length:
            gone, at, v = rows[-1]
            if len(rows) > 1_000_000 or v <= 0.0:
                raise InputError(
                    f"The figure does not arrive: at {gone:.3g} m of {length:.3g} m its speed is {v:.3g} m/s."
                )
            rate = float(self.rate(v))
            rows.append((gone + v * step, at + rate * step, self._held(pace(gone + v * step))))
        ways, phases, speeds = np.array(rows).T
        return np.minimum(ways, length), phases, speeds

    def _held(self, speed: float) -> float:
        return float(np.clip(speed, self.cycles[0].speed, self.fastest))


class _Course:
    """A path over the ground, by the way gone along it; its corners are rounded within a metre or so."""

    ROUND = 1.2

    def __init__(self, points: Floats) -> None:
        parts = np.linalg.norm(np.diff(points, axis=0), axis=1)
        if (parts <= 0.0).any():
            raise InputError(f"The path stays at point {int(np.argmin(parts))}; leave out points that repeat.")
        self.points, self.ways = points, np.concatenate([[0.0], np.cumsum(parts)])
        self.length = float(self.ways[-1])

    def at(self, gone: Floats) -> tuple[Floats, Floats]:
        """Places (n, 2) [m] and headings (n,) [rad]."""
        offsets = np.linspace(-0.5, 0.5, 33) * self.ROUND
        near = gone[:, None] + offsets
        places = np.stack([np.interp(near, self.ways, self.points[:, k]) for k in range(2)], axis=-1)
        # Beyond its ends the path goes straight on.
        for end, corner, sign in ((0, 1, -1.0), (-1, -2, 1.0)):
            away = self.points[end] - self.points[corner]
            beyond = np.maximum(0.0, sign * (near - self.ways[end]))
            places += beyond[..., None] * away / np.linalg.norm(away)
        ahead = places[:, -1] - places[:, 0]
        return places.mean(axis=1), np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))


def _constant(speed: float) -> Callable[[float], float]:
    return lambda _gone: speed
