"""Values between samples: positions along straight lines, orientations along the shortest turn, and how far both err.

    x(t) ≈ x_i + θ (x_{i+1} − x_i)        q(t) ≈ exp(θ log(q_{i+1} q_i⁻¹)) q_i        θ = (t − t_i)/(t_{i+1} − t_i)

    error ≈ |x[t_{i−1}, t_i, t_{i+1}]| (t − t_i)(t_{i+1} − t),   at most h²/8 max |ẍ|

x[…] the second divided difference of the samples around the interval, the larger one of the two; for orientations it is
taken of the angular velocities between samples. A frame at the time of a sample shows that sample and has no error.
Cost: linear in frames times bodies. A straight line never overshoots, which a cubic does where bodies collide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.maths.rotation import (
    conjugate,
    multiply,
    quaternion_from_rotation_vector,
    rotation_vector_from_quaternion,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Part of an interval that rounding may put a frame beside its sample.
ROUNDING = 1e-9


class Between:
    """The moments of frames among the samples.

    Args:
        samples: Times of the samples, each after the one before (samples,) [s].
        frames: Times of the frames, within those of the samples (frames,) [s].
    """

    def __init__(self, samples: Floats, frames: Floats) -> None:
        self.samples, self.frames = samples, frames
        last = max(len(samples) - 2, 0)
        self._low = np.clip(np.searchsorted(samples, frames, side="right") - 1, 0, last)
        self._high = np.minimum(self._low + 1, len(samples) - 1)
        length = np.where(self._high > self._low, samples[self._high] - samples[self._low], 1.0)
        part = np.clip((frames - samples[self._low]) / length, 0.0, 1.0)
        self._part = np.where(part < ROUNDING, 0.0, np.where(part > 1.0 - ROUNDING, 1.0, part))

    def values(self, values: Floats) -> Floats:
        """Numbers at the frames, along straight lines; shape (samples, ...) to (frames, ...)."""
        part = self._part.reshape(-1, *[1] * (values.ndim - 1))
        low, high = values[self._low], values[self._high]
        found: Floats = np.where(part == 1.0, high, low + part * (high - low))
        return found

    def steps(self, values: NDArray[np.generic]) -> Floats:
        """Numbers that jump, such as counts and truth values: those of the last sample before each frame."""
        found: Floats = values[np.where(self._part == 1.0, self._high, self._low)].astype(np.float64)
        return found

    def orientations(self, values: Floats) -> Floats:
        """Quaternions at the frames along the shortest turn, none far from the one before; (samples, bodies, 4)."""
        low, high = values[self._low], values[self._high]
        turn = rotation_vector_from_quaternion(multiply(high, conjugate(low)))
        found = multiply(quaternion_from_rotation_vector(self._part[:, None, None] * turn), low)
        sign = np.sign(np.sum(found[1:] * found[:-1], axis=-1))
        found[1:] *= np.cumprod(np.where(sign < 0.0, -1.0, 1.0), axis=0)[..., None]
        return found

    def error(self, values: Floats) -> float:
        """How far the straight lines are off at the worst frame, in the unit of the values, shape (samples, n, 3)."""
        if len(self.samples) < 3:
            return 0.0
        slope = np.diff(values, axis=0) / np.diff(self.samples)[:, None, None]
        return self._off(slope)

    def turn_error(self, values: Floats) -> float:
        """The same for orientations, shape (samples, n, 4) [rad]."""
        if len(self.samples) < 3:
            return 0.0
        turn = rotation_vector_from_quaternion(multiply(values[1:], conjugate(values[:-1])))
        return self._off(turn / np.diff(self.samples)[:, None, None])

    def _off(self, slope: Floats) -> float:
        """The worst error at the frames from the slopes between samples, shape (samples − 1, n, 3)."""
        change = np.linalg.norm(np.diff(slope, axis=0), axis=-1).max(axis=-1, initial=0.0)
        second = change / (self.samples[2:] - self.samples[:-2])
        padded = np.concatenate([second[:1], second, second[-1:]])
        largest = np.maximum(padded[self._low], padded[self._low + 1])
        length = self.samples[self._high] - self.samples[self._low]
        return float(np.max(largest * self._part * (1.0 - self._part) * length**2, initial=0.0))
