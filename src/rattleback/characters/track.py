"""Tracks: how one part of the poses of some joints goes over time, between keys.

    step      the key before
    linear    x₀ + u (x₁ − x₀); rotations on the shorter arc, at constant rate
    cubic     h₀₀(u) x₀ + h₁₀(u) d m₀ + h₀₁(u) x₁ + h₁₁(u) d m₁; rotations made unit again

u part of the way between two keys, d the time between them, m the rates given with the keys, h Hermite's polynomials.
Before the first key and after the last the nearest one holds.

Reference: glTF 2.0 specification, appendix C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.pose import slerp
from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PARTS = {"rotation": 4, "translation": 3, "scale": 3}
INTERPOLATIONS = ("step", "linear", "cubic")


@sealed
@dataclass(frozen=True)
class Track:
    """How one part of the poses of some joints goes over time.

    Args:
        part: ``"rotation"``, ``"translation"`` or ``"scale"``.
        joints: Names of the joints it moves.
        times: Times of the keys, rising (keys,) [s].
        values: Their values (keys, joints, 4 or 3); with ``"cubic"`` (keys, 3, joints, 4 or 3): rate before the key,
            value, rate behind it.
        interpolation: ``"step"``, ``"linear"`` or ``"cubic"``.
    """

    part: str
    joints: Any
    times: Any
    values: Any
    interpolation: str = "linear"

    def __post_init__(self) -> None:
        """Check it; keys of rotations become unit quaternions, each on the side of the one before."""
        checks.one_of(self.part, PARTS, "The part of a track")
        checks.one_of(self.interpolation, INTERPOLATIONS, "The interpolation of a track")
        names = tuple(self.joints)
        what = f"The track of the {self.part} of {', '.join(map(repr, names[:3]))}"
        times, values = checks.finite(self.times, f"{what} has times that"), checks.finite(self.values, what)
        if times.ndim != 1 or not len(times) or (np.diff(times) <= 0.0).any():
            raise InputError(
                f"{what} has keys whose times do not rise; there must be one at least, each after the last."
            )
        middle = (3,) if self.interpolation == "cubic" else ()
        shape = (len(times), *middle, len(names), PARTS[self.part])
        if values.shape != shape:
            raise InputError(f"{what} has values of shape {values.shape}; they must be {shape}.")
        if self.part == "rotation" and self.interpolation != "cubic":
            lengths = np.linalg.norm(values, axis=-1, keepdims=True)
            if (lengths < 1e-6).any():
                raise InputError(f"{what} has a key that is no rotation: all its entries are zero.")
            values = values / lengths
        for field, value in {"joints": names, "times": times, "values": values}.items():
            object.__setattr__(self, field, value)

    def at(self, times: Floats) -> Floats:
        """Its values at times (n,): (n, joints, 4 or 3)."""
        after = np.clip(np.searchsorted(self.times, times, side="right"), 1, max(1, len(self.times) - 1))
        before = after - 1
        if len(self.times) == 1:
            after = before
        gap = self.times[after] - self.times[before]
        u = np.clip((times - self.times[before]) / np.where(gap > 0.0, gap, 1.0), 0.0, 1.0)
        if self.interpolation == "step":
            last = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, None)
            return np.asarray(self.values[last])
        if self.interpolation == "cubic":
            return self._cubic(before, after, u, gap)
        first, second = self.values[before], self.values[after]
        if self.part == "rotation":
            return slerp(first, second, np.broadcast_to(u[:, None], first.shape[:-1]))
        part = u[:, None, None]
        return np.asarray(np.where(part == 1.0, second, first + part * (second - first)))

    def rates(self, times: Floats) -> Floats:
        """Its rates at times (n,): angular velocities in the axes of the joints, or rates of values (n, joints, 3)."""
        after = np.clip(np.searchsorted(self.times, times, side="right"), 1, max(1, len(self.times) - 1))
        before = after - 1
        inside = (times >= self.times[0]) & (times <= self.times[-1])
        if self.interpolation == "step" or len(self.times) == 1:
            return np.zeros((len(times), len(self.joints), 3))
        gap = (self.times[after] - self.times[before])[:, None, None]
        if self.interpolation == "cubic":
            found = self._cubic_rates(before, after, times, gap)
        elif self.part == "rotation":
            turn = rotation.multiply(rotation.conjugate(self.values[before]), self.values[after])
            turn = np.where(turn[..., 3:] < 0.0, -turn, turn)
            found = rotation.rotation_vector_from_quaternion(turn) / gap
        else:
            found = (self.values[after] - self.values[before]) / gap
        return np.asarray(np.where(inside[:, None, None], found, 0.0))

    def _cubic_rates(self, before: Any, after: Any, times: Floats, gap: Floats) -> Floats:
        t = (times - self.times[before])[:, None, None] / gap
        start, leaving = self.values[before, 1], self.values[before, 2]
        end, arriving = self.values[after, 1], self.values[after, 0]
        square, cube = t * t, t * t * t
        rate = (6.0 * square - 6.0 * t) * (start - end) / gap
        rate += (3.0 * square - 4.0 * t + 1.0) * leaving + (3.0 * square - 2.0 * t) * arriving
        if self.part != "rotation":
            return np.asarray(rate)
        # With p before it is made unit, q = p/|p|, the angular velocity is the vector part of 2 q* ṗ/|p|.
        p = (2.0 * cube - 3.0 * square + 1.0) * start + gap * (cube - 2.0 * square + t) * leaving
        p += (3.0 * square - 2.0 * cube) * end + gap * (cube - square) * arriving
        size = (p * p).sum(axis=-1, keepdims=True)
        return np.asarray(2.0 * rotation.multiply(rotation.conjugate(p), rate)[..., :3] / size)

    def _cubic(self, before: Any, after: Any, u: Floats, gap: Floats) -> Floats:
        t, d = u[:, None, None], gap[:, None, None]
        start, leaving = self.values[before, 1], self.values[before, 2]
        end, arriving = self.values[after, 1], self.values[after, 0]
        square, cube = t * t, t * t * t
        found = (2.0 * cube - 3.0 * square + 1.0) * start + d * (cube - 2.0 * square + t) * leaving
        found += (3.0 * square - 2.0 * cube) * end + d * (cube - square) * arriving
        if self.part == "rotation":
            found /= np.linalg.norm(found, axis=-1, keepdims=True)
        return np.asarray(found)
