"""Blending the frames of joints into vertices, all vertices of all poses at once; the equations are in ``skin``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import mat33, mat34, numpy_real, quat, real, vec3
from rattleback.maths import rotation
from rattleback.maths.quat import rotate

# Axes of a rigid frame are of length one and square to each other within this.
RIGID = 1e-12


@wp.struct
class Binding:
    """A skin as kernels see it; the joints of a vertex stand in the order of their weights, the greatest first."""

    points: wp.array[vec3]
    joints: wp.array2d[wp.int32]
    weights: wp.array2d[real]


@kernel
def blend_linear(skin: Binding, frames: wp.array2d[mat34], strands: int, found: wp.array2d[vec3]) -> None:
    """Linear blending; a thread some vertices of a pose."""
    p, strand = wp.tid()
    for v in range(strand, skin.points.shape[0], strands):
        x = skin.points[v]
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
    strands: int,
    found: wp.array2d[vec3],
) -> None:
    """Dual quaternion blending; a thread some vertices of a pose. Without stretches, frames are rigid."""
    p, strand = wp.tid()
    for v in range(strand, skin.points.shape[0], strands):
        x = skin.points[v]
        pivot = turns[p, skin.joints[v, 0]]
        turn = quat()
        dual = quat()
        stretch = mat33()
        for k in range(skin.joints.shape[1]):
            j = skin.joints[v, k]
            w = skin.weights[v, k]
            if stretches.shape[0] > 0:
                stretch += w * stretches[p, j]
            if wp.dot(turns[p, j], pivot) < real(0.0):
                w = -w
            turn += w * turns[p, j]
            dual += w * duals[p, j]
        if stretches.shape[0] > 0:
            x = stretch * x
        length = wp.length(turn)
        turn = turn / length
        dual = dual / length
        way = real(2.0) * (dual * wp.quat_inverse(turn))
        found[p, v] = rotate(turn, x) + vec3(way[0], way[1], way[2])


def make_binding(points: Any, joints: Any, weights: Any, device: Any) -> Binding:
    """A skin on a device."""
    order = np.argsort(-weights, axis=1, kind="stable")
    joints, weights = (np.take_along_axis(array, order, axis=1) for array in (joints, weights))
    binding = Binding()
    binding.points = wp.array(points.astype(numpy_real), dtype=vec3, device=device)
    binding.joints = wp.array(np.ascontiguousarray(joints), dtype=wp.int32, device=device)
    binding.weights = wp.array(np.ascontiguousarray(weights.astype(numpy_real)), dtype=real, device=device)
    return binding


def blended_linear(binding: Binding, frames: Any, out: Any = None) -> Any:
    """Vertices (poses, vertices, 3) by linear blending of frames (poses, joints, 4, 4)."""
    rows = np.ascontiguousarray(frames[..., :3, :], dtype=numpy_real)
    return _blended(blend_linear, binding, [wp.array(rows, dtype=mat34, device=binding.points.device)], out, len(rows))


def blended_dual(binding: Binding, frames: Any, out: Any = None) -> Any:
    """Vertices (poses, vertices, 3) by dual quaternion blending of frames (poses, joints, 4, 4)."""
    turn, dual, stretch = split_frames(frames)
    given = [
        wp.array(np.ascontiguousarray(array, dtype=numpy_real), dtype=kind, device=binding.points.device)
        for array, kind in ((turn, quat), (dual, quat), (stretch, mat33))
    ]
    return _blended(blend_dual_quaternions, binding, given, out, len(frames))


def _blended(blend: Any, binding: Binding, given: list[Any], out: Any, poses: int) -> Any:
    """Blend on the device of a skin; ``out``, an array of ours that is written instead of a new one, saves its pages.

    In one thread, a pose is done vertex by vertex, so that what is written lies side by side; with many, so is what
    they write at the same moment.
    """
    device, count = binding.points.device, len(binding.points)
    straight = out is not None and device.is_cpu and out.dtype == numpy_real
    found = (
        wp.array(out, dtype=vec3, device=device, copy=False)
        if straight
        else wp.empty((poses, count), dtype=vec3, device=device)
    )
    strands = 1 if device.is_cpu else count
    wp.launch(blend, (poses, strands), [binding, *given, strands, found], device=device)
    if out is None:
        return found.numpy().astype(np.float64, copy=False)
    if not straight:
        out[...] = found.numpy()
    return out


def split_frames(frames: Any) -> tuple[Any, Any, Any]:
    """Frames (..., 4, 4) as unit dual quaternions, two of (..., 4), and what stretches before them (..., 3, 3).

    F x = R S x + t; R is the rotation nearest to the linear part, by its singular values, and S = Rᵀ F is symmetric.
    Where all frames are rigid to rounding, R is their linear part and there is no S (0, joints, 3, 3).
    """
    linear, way = frames[..., :3, :3], frames[..., :3, 3]
    off = np.abs(np.swapaxes(linear, -1, -2) @ linear - np.eye(3)).max(initial=0.0)
    rigid = off < RIGID and bool((np.linalg.det(linear) > 0.0).all())
    matrix = linear if rigid else _nearest_rotation(linear)
    turn = rotation.quaternion_from_matrix(matrix)
    x, y, z, w = np.moveaxis(turn, -1, 0)
    a, b, c = np.moveaxis(0.5 * way, -1, 0)
    dual = np.stack(
        (a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -(a * x + b * y + c * z)), axis=-1
    )
    return turn, dual, np.swapaxes(matrix, -1, -2) @ linear if not rigid else linear[:0]


def _nearest_rotation(linear: Any) -> Any:
    u, _, v = np.linalg.svd(linear)
    mirrored = np.linalg.det(u @ v) < 0.0
    u[..., :, 2] = np.where(mirrored[..., None], -u[..., :, 2], u[..., :, 2])
    return u @ v


SKINNING: dict[str, Callable[..., Any]] = {"linear": blended_linear, "dual_quaternion": blended_dual}
