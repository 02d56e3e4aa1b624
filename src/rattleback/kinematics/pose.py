"""Poses as 4 × 4 matrices, one or a stack of them: checked, put together, moved, and compared.

    T = [R p; 0 1]        T′ = (exp(ω) R, p + v)        T₁ − T₂ = (p₁ − p₂, log(R₁ R₂ᵀ))

R rotation, p position of the origin [m], (v, ω) a small motion in the world frame: way of the origin [m] above turn
[rad].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def check_poses(value: ArrayLike, what: str) -> Floats:
    """Poses (..., 4, 4) whose rotations are rotations."""
    found = checks.finite(value, what)
    if found.shape[-2:] != (4, 4):
        raise InputError(f"{what} has shape {found.shape}; its last two axes must be 4 × 4.")
    if not np.allclose(found[..., 3, :], (0.0, 0.0, 0.0, 1.0), atol=1e-12):
        raise InputError(f"{what} has a matrix whose last row is not (0, 0, 0, 1).")
    rotation.check_matrix(found[..., :3, :3], what)
    return found


def make_pose(position: ArrayLike, turn: ArrayLike | None = None) -> Floats:
    """Poses (..., 4, 4) from positions (..., 3) [m] and rotation matrices (..., 3, 3); unturned if left out."""
    where = np.asarray(position, dtype=np.float64)
    matrix = np.asarray(np.eye(3) if turn is None else turn, dtype=np.float64)
    shape = np.broadcast_shapes(where.shape[:-1], matrix.shape[:-2])
    result = np.zeros((*shape, 4, 4))
    result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = matrix, where, 1.0
    return result


def moved(pose: Floats, motion: Floats) -> Floats:
    """Poses (..., 4, 4) after small motions (..., 6) in the world frame, way above turn."""
    turn = rotation.matrix_from_quaternion(rotation.quaternion_from_rotation_vector(motion[..., 3:]))
    return make_pose(pose[..., :3, 3] + motion[..., :3], turn @ pose[..., :3, :3])


def difference(first: Floats, second: Floats) -> Floats:
    """The motions (..., 6) that take the second poses to the first, way [m] above turn [rad]."""
    way = first[..., :3, 3] - second[..., :3, 3]
    turn = first[..., :3, :3] @ np.swapaxes(second[..., :3, :3], -1, -2)
    return np.concatenate([way, rotation.rotation_vector_from_quaternion(rotation.quaternion_from_matrix(turn))], -1)
