"""Paths through way-points: straight between places, evenly turned between orientations, in time within limits.

    p(t) = p₀ + Σ d_i s_i(t),   R(t) = R₀ Π exp(φ_i s_i(t)),   s_i(t) = S((t − t_i)/T_i)
    cubic      S(τ) = 3 τ² − 2 τ³                     S′ ≤ 3/2,    |S″| ≤ 6
    quintic    S(τ) = 10 τ³ − 15 τ⁴ + 6 τ⁵            S′ ≤ 15/8,   |S″| ≤ 10/√3
    T_i = max(S′ |d_i|/v, √(S″ |d_i|/a), S′ |φ_i|/ω, √(S″ |φ_i|/α))

d_i way and φ_i = log(R_iᵀ R_{i+1}) turn of leg i, t_i its start and T_i its duration, v, a, ω, α limits of speed,
acceleration, angular speed and angular acceleration. The turn between two orientations is the shortest, at an even rate
but for S: spherical linear interpolation.

    blend = 0       every leg starts when the one before ends: all way-points are reached, at rest
    blend > 0       it starts earlier, by this part of the shorter of both: corners are rounded; where both together
                    are too fast, all times are stretched until the limits hold

Speeds never jump; with ``quintic`` accelerations do not, either.

Cost: legs times asked for, all side by side.

Reference: Lynch and Park, Modern Robotics (2017), §9.2; Shoemake, SIGGRAPH 1985, for the turns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.kinematics.pose import check_poses, make_pose
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

# Greatest slope and greatest second derivative of each scaling.
SCALINGS = {"cubic": (1.5, 6.0), "quintic": (1.875, 10.0 / 3.0**0.5)}
LIMITS = ("speed", "acceleration", "turn_speed", "turn_acceleration")
# Points a leg is looked at to find how fast it is where it overlaps with others.
FINE = 400
STILL = 1e-12


@sealed
@dataclass(frozen=True, eq=False)
class Path:
    """A way through way-points; calling it with times gives the poses at these times.

    Attributes:
        ways: Way of each leg (legs, 3) [m].
        turns: Turn of each leg, as a rotation vector in the frame it starts from (legs, 3) [rad].
        starts: When each leg starts (legs,) [s].
        durations: How long each leg takes (legs,) [s].

    Args:
        waypoints: Poses to pass (n, 4, 4), or places (n, 3) [m].
        speed: Greatest speed [m/s].
        acceleration: Greatest acceleration [m/s²].
        turn_speed: Greatest angular speed [rad/s].
        turn_acceleration: Greatest angular acceleration [rad/s²].
        scaling: ``"cubic"`` or ``"quintic"``.
        blend: By which part of a leg the next one starts earlier, from 0 to 0.5; 0 stops at every way-point.
    """

    waypoints: Any
    speed: float = 1.0
    acceleration: float = 5.0
    turn_speed: float = 2.0
    turn_acceleration: float = 10.0
    scaling: str = "cubic"
    blend: float = 0.0
    ways: Floats = field(init=False, repr=False)
    turns: Floats = field(init=False, repr=False)
    starts: Floats = field(init=False, repr=False)
    durations: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check it and find the times of its legs."""
        for name in LIMITS:
            object.__setattr__(self, name, checks.positive(getattr(self, name), f"The {name} of Path"))
        checks.one_of(self.scaling, SCALINGS, "The scaling of Path")
        if not 0.0 <= checks.number(self.blend, "The blend of Path") <= 0.5:
            raise InputError(f"The blend of Path is {self.blend!r}; it must be from 0 to 0.5.")
        object.__setattr__(self, "waypoints", _waypoints(self.waypoints))
        turns = rotation.quaternion_from_matrix(self.waypoints[:, :3, :3])
        between = rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:])
        object.__setattr__(self, "ways", np.diff(self.waypoints[:, :3, 3], axis=0))
        object.__setattr__(self, "turns", rotation.rotation_vector_from_quaternion(between))
        self._keep_times(self._least_durations())
        if self.blend > 0.0:
            self._keep_times(self.durations * self._stretch())

    @property
    def duration(self) -> float:
        """Time from the first way-point to the last [s]."""
        return float(self.starts[-1] + self.durations[-1])

    def __call__(self, time: ArrayLike) -> Floats:
        """Poses at times (...), (..., 4, 4); those before the start and after the end are at rest there."""
        share, _ = self._shares(time)
        place = self.waypoints[0, :3, 3] + share @ self.ways
        turn = self._first_turn(share)
        for k, whole in enumerate(self.turns):
            turn = rotation.multiply(turn, rotation.quaternion_from_rotation_vector(share[..., k, None] * whole))
        return make_pose(place, rotation.matrix_from_quaternion(turn))

    def velocity(self, time: ArrayLike) -> Floats:
        """Velocities above angular velocities at times (...), in the world frame (..., 6) [m/s, rad/s]."""
        share, rate = self._shares(time)
        turn = self._first_turn(share)
        spin = np.zeros((*share.shape[:-1], 3))
        for k, whole in enumerate(self.turns):
            spin += rotation.rotate(turn, rate[..., k, None] * whole)
            turn = rotation.multiply(turn, rotation.quaternion_from_rotation_vector(share[..., k, None] * whole))
        return np.concatenate([rate @ self.ways, spin], axis=-1)

    def times(self, count: int) -> Floats:
        """Evenly spaced times from start to end (count,) [s]."""
        return np.linspace(0.0, self.duration, checks.count(count, "The number of times", least=2))

    def _first_turn(self, share: Floats) -> Floats:
        first = rotation.quaternion_from_matrix(self.waypoints[0, :3, :3])
        return np.broadcast_to(first, (*share.shape[:-1], 4))

    def _shares(self, time: ArrayLike) -> tuple[Floats, Floats]:
        """How much of each leg is done at times (...), and how fast that grows (..., legs)."""
        now = checks.finite(time, "The time of Path")[..., None]
        t = np.clip((now - self.starts) / self.durations, 0.0, 1.0)
        if self.scaling == "cubic":
            return t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / self.durations
        return t**3 * (10.0 - 15.0 * t + 6.0 * t * t), 30.0 * t * t * (1.0 - t) ** 2 / self.durations

    def _least_durations(self) -> Floats:
        slope, bend = SCALINGS[self.scaling]
        way = np.linalg.norm(self.ways, axis=1)
        turn = np.linalg.norm(self.turns, axis=1)
        if (same := np.flatnonzero((way < STILL) & (turn < STILL))).size:
            k = int(same[0])
            raise InputError(f"The way-points {k} and {k + 1} of Path are the same; leave one of them out.")
        return np.max(
            [
                slope * way / self.speed,
                np.sqrt(bend * way / self.acceleration),
                slope * turn / self.turn_speed,
                np.sqrt(bend * turn / self.turn_acceleration),
            ],
            axis=0,
        )

    def _keep_times(self, durations: Floats) -> None:
        overlap = self.blend * np.minimum(durations[:-1], durations[1:])
        starts = np.concatenate([[0.0], np.cumsum(durations[:-1] - overlap)])
        object.__setattr__(self, "durations", durations)
        object.__setattr__(self, "starts", starts)

    def _stretch(self) -> float:
        """How much longer everything must take for all limits to hold."""
        times = self.times(FINE * len(self.starts))
        motion = self.velocity(times)
        change = np.diff(motion, axis=0) / (times[1] - times[0])
        peaks = [
            float(np.linalg.norm(part, axis=1).max())
            for part in (motion[:, :3], change[:, :3], motion[:, 3:], change[:, 3:])
        ]
        ratios = [peak / getattr(self, name) for peak, name in zip(peaks, LIMITS, strict=True)]
        return max(1.0, ratios[0], ratios[1] ** 0.5, ratios[2], ratios[3] ** 0.5)


def _waypoints(value: Any) -> Floats:
    found = checks.finite(value, "The waypoints of Path")
    poses = make_pose(found) if found.ndim == 2 and found.shape[1] == 3 else found
    if poses.ndim != 3 or len(poses) < 2:
        raise InputError(f"The waypoints of Path have shape {found.shape}; give two or more, (n, 4, 4) or (n, 3).")
    return check_poses(poses, "The waypoints of Path")
