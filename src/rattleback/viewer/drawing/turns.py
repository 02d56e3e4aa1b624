"""Rotations of many things at once, without the checks of ``maths.rotation``, for what is done in every frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def turned(turn: Floats, vectors: Floats) -> Floats:
    """Vectors turned by unit quaternions x, y, z, w, row by row (rows, 3)."""
    x, y, z, w = turn.T
    a, b, c = vectors.T
    # t = 2 u × v,  v' = v + w t + u × t
    p, q, r = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return np.stack([a + w * p + y * r - z * q, b + w * q + z * p - x * r, c + w * r + x * q - y * p], axis=1)


def product(first: Floats, second: Floats) -> Floats:
    """Products of quaternions x, y, z, w, row by row (rows, 4); as rotations, ``second`` is done before ``first``."""
    x, y, z, w = first.T
    a, b, c, d = second.T
    return np.stack(
        [
            w * a + d * x + y * c - z * b,
            w * b + d * y + z * a - x * c,
            w * c + d * z + x * b - y * a,
            w * d - x * a - y * b - z * c,
        ],
        axis=1,
    )


def along(directions: Floats) -> Floats:
    """The shortest turns that take z to unit directions, as quaternions x, y, z, w (rows, 4)."""
    x, y, z = directions.T
    turn = np.stack([-y, x, np.zeros_like(x), 1.0 + z], axis=1)
    # Straight down every half turn about a level axis will do.
    turn[1.0 + z < 1e-9] = (1.0, 0.0, 0.0, 0.0)
    return np.asarray(turn / np.linalg.norm(turn, axis=1, keepdims=True))


def wxyz(turn: Floats) -> Floats:
    """Quaternions as the page wants them, w first (rows, 4)."""
    return np.roll(turn, 1, axis=-1)
