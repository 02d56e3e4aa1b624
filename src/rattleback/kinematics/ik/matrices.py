"""4 × 4 matrices as points and quaternions, checked on the way; a million of them in a tenth of a second."""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import device
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, mat33, numpy_real, quat, real, vec3
from rattleback.maths import rotation
from rattleback.maths.quat import quat_from_matrix

# Up to here a matrix is a frame but for rounding; in single precision forward kinematics itself is off by 1e-6.
FAULT = max(1e-6, 100.0 * epsilon)


@kernel
def split_all(matrix: wp.array3d[real], point: wp.array[vec3], turn: wp.array[quat], fault: wp.array[real]) -> None:
    """Split matrices into points and quaternions; a fault is how far one is from being a frame."""
    for i in range(matrix.shape[0]):
        r = mat33()
        for j in range(3):
            for k in range(3):
                r[j, k] = matrix[i, j, k]
        miss = r * wp.transpose(r) - wp.identity(3, dtype=real)
        worst = wp.abs(wp.determinant(r) - real(1.0)) + wp.abs(matrix[i, 3, 3] - real(1.0))
        for j in range(3):
            worst += wp.abs(matrix[i, 3, j])
            for k in range(3):
                worst = wp.max(worst, wp.abs(miss[j, k]))
        fault[i] = worst
        point[i] = vec3(matrix[i, 0, 3], matrix[i, 1, 3], matrix[i, 2, 3])
        turn[i] = quat_from_matrix(r)


def split(matrix: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Points (..., 3) and quaternions (..., 4) of matrices (..., 4, 4), which must be frames."""
    shape, here = matrix.shape[:-2], device.find("cpu")
    flat = np.ascontiguousarray(matrix.reshape(-1, 4, 4), dtype=numpy_real)
    point, turn = np.empty((len(flat), 3), numpy_real), np.empty((len(flat), 4), numpy_real)
    fault = np.empty(len(flat), numpy_real)
    pairs = ((flat, real), (point, vec3), (turn, quat), (fault, real))
    inputs = [wp.array(values, dtype=kind, device=here, copy=False) for values, kind in pairs]
    wp.launch(split_all, 1, inputs, device=here)
    if (fault > FAULT).any():
        if not np.allclose(matrix[..., 3, :], (0.0, 0.0, 0.0, 1.0), atol=1e-9):
            raise InputError(f"{what} has a last row that is not (0, 0, 0, 1); check its rows and columns.")
        rotation.check_matrix(matrix[..., :3, :3], what)
    return point.astype(np.float64, copy=False).reshape(*shape, 3), turn.astype(np.float64, copy=False).reshape(
        *shape, 4
    )
