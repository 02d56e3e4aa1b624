"""A walker: place, heading, speed and phase of a figure that goes over the ground, one moment after the other.

    ψ̇ → k e, at most ω_max       v → v_max max(0, cos e)²,  at most √(2 a d)       φ̇ = f(v)

e angle from the heading ψ to the next point, d way to the last one, a deceleration, f strides a second at a speed. Both
the speed and the turning change at limited rates, so a figure speeds up, goes around a corner and stops without a jump.
Close to the last point it goes straight there. The phase of a figure that stands stays, unless its feet have to follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.characters.motion.locomotion import Locomotion

    Floats = NDArray[np.float64]

# Turning [rad/s], how fast it changes [rad/s²], its gain [1/s]; speeding up and slowing down in leg lengths [1/s²].
TURNING, SWING, GAIN, SPEEDING, SLOWING = 2.4, 9.0, 3.5, 1.6, 1.4
# Within this many leg lengths of the last point it goes straight there; a point on the way counts as reached so near.
NEAR, PASSED, THERE = 0.5, 0.6, 2e-3
# Strides a second of a figure that shifts its feet in place.
SHUFFLE = 1.0


class Walker:
    """Where a figure is on the ground and how it goes on.

    Attributes:
        place: On the ground (2,) [m].
        heading: Turn about z from x [rad].
        speed: How fast it goes [m/s].
        phase: Phase of the stride.
        points: Where it still has to go (points, 2) [m].
        pace: Speed that it goes at where nothing slows it [m/s].
        facing: Heading to take at the end [rad]; not a number for that in which it comes.
        ahead: Whether it goes straight on.
        through: Whether it comes by its last point without slowing down.
    """

    def __init__(self, gaits: Locomotion, leg: float, place: Floats, heading: float) -> None:
        self.gaits, self.leg = gaits, leg
        self.place, self.heading = np.array(place, dtype=np.float64), float(heading)
        self.speed, self.turning, self.phase, self.pace = 0.0, 0.0, 0.0, 0.0
        self.points, self.facing, self.ahead = np.zeros((0, 2)), float("nan"), False
        self.through = False

    @property
    def still(self) -> bool:
        """Whether it has arrived and stands."""
        return not len(self.points) and not self.ahead and self.speed == 0.0 and abs(self.turning) < 1e-3

    @property
    def passed(self) -> bool:
        """Whether it is near its last point."""
        return not len(self.points) or (
            len(self.points) == 1 and bool(np.linalg.norm(self.points[0] - self.place) < PASSED * self.leg)
        )

    def step(self, time_step: float, shuffling: bool) -> None:
        """Go on by a moment.

        Args:
            time_step: Length of the moment [s].
            shuffling: Whether feet have to move though the figure stands.
        """
        way, left = self._way()
        wanted, course = self._wanted(way, left)
        rate = (SPEEDING if wanted > self.speed else SLOWING) * self.leg
        self.speed += float(np.clip(wanted - self.speed, -rate * time_step, rate * time_step))
        self._turn(course, time_step)
        self._move(way, left, time_step)
        if self.speed > 0.0 or shuffling:
            self.phase += time_step * max(float(self.gaits.rate(self.speed)), SHUFFLE if shuffling else 0.0)

    def _way(self) -> tuple[Floats, float]:
        """To the next point (2,), and how far it is to the last [m]."""
        while len(self.points) > 1 and np.linalg.norm(self.points[0] - self.place) < PASSED * self.leg:
            self.points = self.points[1:]
        if not len(self.points):
            return np.zeros(2), 0.0
        parts = np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum()
        way = self.points[0] - self.place
        return way, float(np.linalg.norm(way) + parts)

    def _wanted(self, way: Floats, left: float) -> tuple[float, float]:
        """Speed [m/s] and heading [rad] that it ought to have."""
        if self.ahead:
            return self.pace, self.heading
        if not len(self.points):
            return 0.0, self.heading if np.isnan(self.facing) else self.facing
        brake = float(np.sqrt(2.0 * 0.8 * SLOWING * self.leg * left))
        if self.through:
            brake = np.inf
        elif left < NEAR * self.leg and len(self.points) == 1:
            return min(self.pace, brake, max(self.speed, 0.3 * self.leg)), (
                self.heading if np.isnan(self.facing) else self.facing
            )
        course = float(np.arctan2(way[1], way[0]))
        off = _wrapped(course - self.heading)
        return min(self.pace * max(0.0, np.cos(off)) ** 2, brake), course

    def _turn(self, course: float, time_step: float) -> None:
        wanted = float(np.clip(GAIN * _wrapped(course - self.heading), -TURNING, TURNING))
        change = SWING * time_step
        self.turning += float(np.clip(wanted - self.turning, -change, change))
        self.heading += self.turning * time_step

    def _move(self, way: Floats, left: float, time_step: float) -> None:
        ahead = np.array([np.cos(self.heading), np.sin(self.heading)])
        if len(self.points) == 1 and left < NEAR * self.leg and not self.through:
            if left <= max(self.speed * time_step, THERE):
                self.place, self.points, self.speed = self.points[0].copy(), np.zeros((0, 2)), 0.0
                return
            ahead = way / left
        self.place = self.place + self.speed * time_step * ahead


def _wrapped(angle: float) -> float:
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
