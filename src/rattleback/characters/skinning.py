"""Blending the frames of joints into vertices, all vertices of all poses at once; the equations are in ``skin``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, mat34, numpy_real, quat, real, vec3
from rattleback.maths import rotation
from rattleback.maths.quat import rotate


@wp.struct
class Binding:
    """A skin as kernels see it."""

    points: wp.array[vec3]
    joints: wp.array2d[wp.int32]
    weights: wp.array2d[real]


@kernel
def blend_linear(skin: Binding, frames: wp.array2d[mat34], found: wp.array2d[vec3]) -> None:
    """Linear blending; a thread a vertex, for all poses."""
    v = wp.tid()
    x = skin.points[v]
    for p in range(frames.shape[0]):
        m = mat34()
        for k in range(skin.joints.shape[1]):
            m += skin.weights[v, k] * frames[p, skin.joints[v, k]]
        found[p, v] = vec3(
            m[0, 0] * x[0] + m[0, 1] * x[1] + m[0, 2] * x[2] + m[0, 3],
            m[1, 0] * x[0] + m[1, 1] * x[1] + m[1, 2] * x[2] + m[1, 3],
            m[2, 0] * x[0] + m[2, 1] * x[1] + m[2, 2] * x[2] + m[2, 3],
        )


@kernel
def blend_dual_quaternions(
    skin: Binding,
    turns: wp.array2d[quat],
    duals: wp.array2d[quat],
    stretches: wp.array2d[mat33],
    found: wp.array2d[vec3],
) -> None:
    """Dual quaternion blending; a thread a vertex, for all poses."""
    v = wp.tid()
    most = int(0)
    for k in range(1, skin.joints.shape[1]):
        if skin.weights[v, k] > skin.weights[v, most]:
            most = k
    for p in range(turns.shape[0]):
        pivot = turns[p, skin.joints[v, most]]
        turn = quat()
        dual = quat()
        stretch = mat33()
        for k in range(skin.joints.shape[1]):
            j = skin.joints[v, k]
            w = skin.weights[v, k]
            stretch += w * stretches[p, j]
            if wp.dot(turns[p, j], pivot) < real(0.0):
                w = -w
            turn += w * turns[p, j]
            dual += w * duals[p, j]
        length = wp.length(turn)
        turn = turn / length
        dual = dual / length
        way = real(2.0) * (dual * wp.quat_inverse(turn))
        found[p, v] = rotate(turn, stretch * skin.points[v]) + vec3(way[0], way[1], way[2])


def make_binding(points: Any, joints: Any, weights: Any, device: Any) -> Binding:
    """A skin on a device."""
    binding = Binding()
    binding.points = wp.array(points.astype(numpy_real), dtype=vec3, device=device)
    binding.joints = wp.array(np.ascontiguousarray(joints), dtype=wp.int32, device=device)
    binding.weights = wp.array(np.ascontiguousarray(weights.astype(numpy_real)), dtype=real, device=device)
    return binding


def blended_linear(binding: Binding, frames: Any) -> Any:
    """Vertices (poses, vertices, 3) by linear blending of frames (poses, joints, 4, 4)."""
    device, count = binding.points.device, len(binding.points)
    found = wp.empty((len(frames), count), dtype=vec3, device=device)
    rows = np.ascontiguousarray(frames[..., :3, :], dtype=numpy_real)
    wp.launch(blend_linear, count, [binding, wp.array(rows, dtype=mat34, device=device), found], device=device)
    return found.numpy().astype(np.float64)


def blended_dual(binding: Binding, frames: Any) -> Any:
    """Vertices (poses, vertices, 3) by dual quaternion blending of frames (poses, joints, 4, 4)."""
    device, count = binding.points.device, len(binding.points)
    turn, dual, stretch = split_frames(frames)
    given = [
        wp.array(np.ascontiguousarray(array, dtype=numpy_real), dtype=kind, device=device)
        for array, kind in ((turn, quat), (dual, quat), (stretch, mat33))
    ]
    found = wp.empty((len(frames), count), dtype=vec3, device=device)
    wp.launch(blend_dual_quaternions, count, [binding, *given, found], device=device)
    return found.numpy().astype(np.float64)


def split_frames(frames: Any) -> tuple[Any, Any, Any]:
    """Frames (..., 4, 4) as unit dual quaternions, two of (..., 4), and what stretches before them (..., 3, 3).

    F x = R S x + t; R is the rotation nearest to the linear part, by its singular values, and S = Rᵀ F is symmetric.
    """
    linear, way = frames[..., :3, :3], frames[..., :3, 3]
    u, _, v = np.linalg.svd(linear)
    mirrored = np.linalg.det(u @ v) < 0.0
    u[..., :, 2] = np.where(mirrored[..., None], -u[..., :, 2], u[..., :, 2])
    matrix = u @ v
    turn = rotation.quaternion_from_matrix(matrix)
    x, y, z, w = np.moveaxis(turn, -1, 0)
    a, b, c = np.moveaxis(0.5 * way, -1, 0)
    dual = np.stack(
        (a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -(a * x + b * y + c * z)), axis=-1
    )
    return turn, dual, np.swapaxes(matrix, -1, -2) @ linear


SKINNING: dict[str, Callable[[Binding, Any], Any]] = {"linear": blended_linear, "dual_quaternion": blended_dual}
