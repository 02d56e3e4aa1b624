"""Rotations for the user: quaternions, matrices, axis and angle, rotation vectors and Euler angles, as NumPy arrays.

    q = (u sin(φ/2), cos(φ/2))      R v = q v q*      R = E Gᵀ      Ṙ = 2 E Ġᵀ      q̇ = ½ Eᵀ ω

Every function takes one rotation or a stack of them: quaternions (x, y, z, w) of shape (..., 4), matrices of shape
(..., 3, 3), angles in radians; leading axes are broadcast. A matrix maps the body frame to the world frame. Sequences
of Euler angles are written as in SciPy: lower case about fixed axes, upper case about moving axes, "ZXZ" for instance.
Quaternions made from matrices and Euler angles have w ≥ 0, and at w = 0 a first nonzero component above zero.

Symbols: q unit quaternion; u unit axis; φ angle [rad]; ω angular velocity, world frame [rad/s]; E, G see ``e_matrix``.
Source: lecture on contact dynamics, "Kvaterniony místo Eulerových úhlů"; Bender, dissertation, A, C.1 to C.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import euler
from rattleback.maths.euler import SEQUENCES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "SEQUENCES",
    "axis_angle_from_quaternion",
    "check_matrix",
    "check_quaternion",
    "conjugate",
    "cross_matrix",
    "e_matrix",
    "euler_from_matrix",
    "euler_from_quaternion",
    "g_matrix",
    "identity",
    "matrix_from_euler",
    "matrix_from_quaternion",
    "multiply",
    "orthonormalise",
    "quaternion_from_axis_angle",
    "quaternion_from_euler",
    "quaternion_from_matrix",
    "quaternion_from_rotation_vector",
    "quaternion_rate",
    "random",
    "rotate",
    "rotation_vector_from_quaternion",
]

_TOLERANCE = 1e-6


def identity() -> Floats:
    """The quaternion of no rotation, (0, 0, 0, 1)."""
    return np.array([0.0, 0.0, 0.0, 1.0])


def random(count: int, seed: int) -> Floats:
    """Unit quaternions spread evenly over all rotations, the same ones for the same seed.

    Args:
        count: How many.
        seed: Any whole number from zero up.

    Returns:
        Unit quaternions, shape (count, 4).
    """
    generator = np.random.default_rng(checks.count(seed, "seed", least=0))
    normal = generator.standard_normal((checks.count(count, "count"), 4))
    return normal / _length(normal)


def quaternion_from_matrix(matrix: ArrayLike) -> Floats:
    """Quaternions, shape (..., 4), of rotation matrices, shape (..., 3, 3)."""
    r = check_matrix(matrix, "matrix")
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    xy, xz, yz = r[..., 1, 0] + r[..., 0, 1], r[..., 0, 2] + r[..., 2, 0], r[..., 2, 1] + r[..., 1, 2]
    wx, wy, wz = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    outer = np.stack(  # 4 q qᵀ; every row is a multiple of q, the one with the largest diagonal entry the most exact
        [
            np.stack([1.0 + xx - yy - zz, xy, xz, wx], axis=-1),
            np.stack([xy, 1.0 - xx + yy - zz, yz, wy], axis=-1),
            np.stack([xz, yz, 1.0 - xx - yy + zz, wz], axis=-1),
            np.stack([wx, wy, wz, 1.0 + xx + yy + zz], axis=-1),
        ],
        axis=-2,
    )
    pivot = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(outer, pivot[..., None, None], axis=-2)[..., 0, :]
    return _canonical(row / _length(row))


def matrix_from_quaternion(quaternion: ArrayLike) -> Floats:
    """Rotation matrices, shape (..., 3, 3), of unit quaternions, shape (..., 4)."""
    x, y, z, w = np.moveaxis(check_quaternion(quaternion, "quaternion"), -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternion_from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Quaternions of turns about axes.

    Args:
        axis: Directions of any length but zero, shape (..., 3).
        angle: Angles [rad], shape (...).

    Returns:
        Unit quaternions, shape (..., 4).
    """
    direction, half = _stack(axis, (3,), "axis"), 0.5 * _stack(angle, (), "angle")
    _broadcast("axis", direction.shape[:-1], "angle", half.shape)
    largest = np.abs(direction).max(axis=-1, keepdims=True)
    if (none := largest[..., 0] == 0.0).any():
        raise InputError(f"{_first(none, 'axis')} is the zero vector; an axis needs a length.")
    scaled = direction / largest
    return _quaternion(scaled / _length(scaled) * np.sin(half)[..., None], np.cos(half))


def axis_angle_from_quaternion(quaternion: ArrayLike) -> tuple[Floats, Floats]:
    """Unit axes, shape (..., 3), and angles in [0, π] [rad], shape (...); the axis of no rotation is x."""
    q = _canonical(check_quaternion(quaternion, "quaternion"))
    length = _length(q[..., :3])
    none = length == 0.0
    axis = np.where(none, [1.0, 0.0, 0.0], q[..., :3] / np.where(none, 1.0, length))
    return axis, 2.0 * np.arctan2(length[..., 0], q[..., 3])


def quaternion_from_rotation_vector(vector: ArrayLike) -> Floats:
    """The exponential map: quaternions, shape (..., 4), of axis times angle [rad], shape (..., 3)."""
    w = _stack(vector, (3,), "vector")
    angle = _length(w)
    none = angle == 0.0
    factor = np.where(none, 0.5, np.sin(0.5 * angle) / np.where(none, 1.0, angle))
    return _quaternion(factor * w, np.cos(0.5 * angle[..., 0]))


def rotation_vector_from_quaternion(quaternion: ArrayLike) -> Floats:
    """The logarithm: axis times angle [rad], of length at most π, shape (..., 3); equal for q and −q."""
    axis, angle = axis_angle_from_quaternion(quaternion)
    return axis * np.asarray(angle)[..., None]


def quaternion_from_euler(angles: ArrayLike, sequence: str) -> Floats:
    """Quaternions of three turns about coordinate axes.

    Args:
        angles: In the order of the sequence [rad], shape (..., 3).
        sequence: One of ``SEQUENCES``: "zxz" about fixed axes, "ZXZ" about moving ones.

    Returns:
        Unit quaternions, shape (..., 4).
    """
    code = euler.sequence_code(sequence)
    return _canonical(euler.quaternion_from_angles(_stack(angles, (3,), "angles"), code))


def euler_from_quaternion(quaternion: ArrayLike, sequence: str) -> Floats:
    """The three turns that make up a rotation.

    At the gimbal lock, where only the sum or the difference of the outer angles is determined, the third angle is zero.

    Args:
        quaternion: Unit quaternions, shape (..., 4).
        sequence: One of ``SEQUENCES``: "zxz" about fixed axes, "ZXZ" about moving ones.

    Returns:
        Angles in the order of the sequence [rad], shape (..., 3): the outer ones in (−π, π], the middle one in [0, π]
        where the first and last axis agree and in [−π/2, π/2] where they differ.
    """
    code = euler.sequence_code(sequence)
    return euler.angles_from_quaternion(check_quaternion(quaternion, "quaternion"), code)


def matrix_from_euler(angles: ArrayLike, sequence: str) -> Floats:
    """Rotation matrices, shape (..., 3, 3), of Euler angles [rad], shape (..., 3); see ``quaternion_from_euler``."""
    return matrix_from_quaternion(quaternion_from_euler(angles, sequence))


def euler_from_matrix(matrix: ArrayLike, sequence: str) -> Floats:
    """Euler angles [rad], shape (..., 3), of matrices, shape (..., 3, 3); see ``euler_from_quaternion``."""
    code = euler.sequence_code(sequence)
    return euler.angles_from_quaternion(quaternion_from_matrix(matrix), code)


def multiply(first: ArrayLike, second: ArrayLike) -> Floats:
    """The product of quaternions of any length, shape (..., 4): as rotations, ``second`` is done before ``first``."""
    p, q = _stack(first, (4,), "first"), _stack(second, (4,), "second")
    _broadcast("first", p.shape[:-1], "second", q.shape[:-1])
    u, v, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    return _quaternion(a * v + b * u + np.cross(u, v), (a * b)[..., 0] - (u * v).sum(axis=-1))


def conjugate(quaternion: ArrayLike) -> Floats:
    """The conjugate (−x, −y, −z, w), shape (..., 4): the inverse rotation if the length is one."""
    q = _stack(quaternion, (4,), "quaternion")
    return _quaternion(0.0 - q[..., :3], q[..., 3])


def rotate(quaternion: ArrayLike, vectors: ArrayLike) -> Floats:
    """Vectors turned by unit quaternions, from the body frame to the world frame.

    Args:
        quaternion: Unit quaternions, shape (..., 4).
        vectors: Shape (..., 3).

    Returns:
        Turned vectors, shape (..., 3); one quaternion turns a whole stack of vectors.
    """
    q, v = check_quaternion(quaternion, "quaternion"), _stack(vectors, (3,), "vectors")
    _broadcast("quaternion", q.shape[:-1], "vectors", v.shape[:-1])
    twice = 2.0 * np.cross(q[..., :3], v)
    result: Floats = v + q[..., 3:] * twice + np.cross(q[..., :3], twice)
    return result


def quaternion_rate(quaternion: ArrayLike, angular_velocity: ArrayLike) -> Floats:
    """The rate of change ½ Eᵀ ω of quaternions [1/s], shape (..., 4).

    Args:
        quaternion: Unit quaternions, shape (..., 4).
        angular_velocity: In the world frame [rad/s], shape (..., 3).
    """
    q, w = check_quaternion(quaternion, "quaternion"), _stack(angular_velocity, (3,), "angular_velocity")
    _broadcast("quaternion", q.shape[:-1], "angular_velocity", w.shape[:-1])
    return 0.5 * multiply(_quaternion(w, np.zeros(w.shape[:-1])), q)


def cross_matrix(vector: ArrayLike) -> Floats:
    """Matrices that do the cross product from the left, shape (..., 3, 3), of vectors, shape (..., 3)."""
    v = _stack(vector, (3,), "vector")
    result = np.zeros((*v.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[..., i, j], result[..., j, i] = -v[..., k], v[..., k]
    return result


def e_matrix(quaternion: ArrayLike) -> Floats:
    """The matrices E = [ṽ + w I, −v], v = (x, y, z), shape (..., 3, 4), with columns in the order (x, y, z, w).

    E is linear in the quaternion, so that the matrix of a rate of change is the rate of change of the matrix.
    """
    q = _stack(quaternion, (4,), "quaternion")
    left = cross_matrix(q[..., :3]) + q[..., 3, None, None] * np.eye(3)
    return np.concatenate([left, -q[..., :3, None]], axis=-1)


def g_matrix(quaternion: ArrayLike) -> Floats:
    """The matrices G = [−ṽ + w I, −v], v = (x, y, z), shape (..., 3, 4), with columns in the order (x, y, z, w).

    G is linear in the quaternion, so that the matrix of a rate of change is the rate of change of the matrix.
    """
    q = _stack(quaternion, (4,), "quaternion")
    left = q[..., 3, None, None] * np.eye(3) - cross_matrix(q[..., :3])
    return np.concatenate([left, -q[..., :3, None]], axis=-1)


def orthonormalise(matrix: ArrayLike) -> Floats:
    """The nearest rotation matrices: Newton's iteration X ← ½ (X + X⁻ᵀ) until nothing changes.

    Args:
        matrix: Matrices of any scale with a positive determinant, shape (..., 3, 3).

    Returns:
        Rotation matrices, shape (..., 3, 3); no other rotation is closer in the sum of squared entries.
    """
    x = _stack(matrix, (3, 3), "matrix")
    x /= np.maximum(np.abs(x).max(axis=(-2, -1), keepdims=True), np.finfo(np.float64).tiny)
    if (bad := np.linalg.det(x) < _TOLERANCE).any():
        raise InputError(
            f"{_first(bad, 'matrix')} is a reflection, or flat: its determinant is not above zero, so no rotation is "
            "close to it; check the order and the signs of its columns."
        )
    for _ in range(50):
        rows = [np.cross(x[..., i, :], x[..., j, :]) for i, j in ((1, 2), (2, 0), (0, 1))]
        determinant = (x[..., 0, :] * rows[0]).sum(axis=-1)
        step = 0.5 * (np.stack(rows, axis=-2) / determinant[..., None, None] - x)
        x += step
        if np.abs(step).max(initial=0.0) < 1e-9:  # the error of x is now below the square of the step
            break
    return x


def check_quaternion(value: ArrayLike, what: str) -> Floats:
    """Unit quaternions, shape (..., 4); lengths off by up to 1e-6 are mended, others refused."""
    q = _stack(value, (4,), what)
    length = _length(q)
    if (bad := np.abs(length[..., 0] - 1.0) > _TOLERANCE).any():
        raise InputError(
            f"{_first(bad, what)} is a quaternion (x, y, z, w) of length {length[..., 0][bad][0]:.6g}; it must have "
            "length 1: divide it by its length."
        )
    return q / length


def check_matrix(value: ArrayLike, what: str) -> Floats:
    """Rotation matrices, shape (..., 3, 3), whose rows are orthonormal to 1e-6 and right-handed."""
    r = _stack(value, (3, 3), what)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(r @ np.swapaxes(r, -2, -1) - np.eye(3)).max(axis=(-2, -1))
    if (bad := ~(error <= _TOLERANCE)).any():
        raise InputError(
            f"{_first(bad, what)} is not a rotation matrix: its rows miss being orthonormal by {error[bad][0]:.2g}; "
            "call orthonormalise to get the nearest rotation."
        )
    if (bad := np.linalg.det(r) < 0.0).any():
        raise InputError(f"{_first(bad, what)} is a reflection: a rotation matrix has determinant +1, not -1.")
    return r


def _stack(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """Finite floats whose last axes have the given shape."""
    wanted = f"({', '.join(['...', *map(str, shape)])})"
    try:
        if np.iscomplexobj(value):
            raise TypeError
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} cannot be read as numbers; it must be an array of shape {wanted}.") from None
    if result.ndim < len(shape) or result.shape[result.ndim - len(shape) :] != shape:
        raise InputError(f"{what} has shape {result.shape}; it must have the shape {wanted}.")
    if not np.isfinite(result).all():
        raise InputError(f"{what} has an entry that is not finite; every entry must be a finite number.")
    return result


def _broadcast(first: str, shape: tuple[int, ...], second: str, other: tuple[int, ...]) -> None:
    """Refuse stacks that do not fit together."""
    try:
        np.broadcast_shapes(shape, other)
    except ValueError:
        raise InputError(
            f"{first} is a stack of shape {shape} and {second} one of shape {other}; give equal stacks, or one of one."
        ) from None


def _first(bad: NDArray[np.bool_], what: str) -> str:
    """The name of the first entry of a stack that is bad: the bare name if there is no stack."""
    place = ", ".join(str(n) for n in np.argwhere(bad)[0])
    return f"{what}[{place}]" if place else what


def _length(vectors: Floats) -> Floats:
    """Lengths along the last axis, which stays with one entry, without overflow or underflow."""
    with np.errstate(over="ignore"):
        result: Floats = np.hypot.reduce(vectors, axis=-1, keepdims=True)
    return result


def _quaternion(vector: Floats, scalar: Floats) -> Floats:
    """Quaternions put together from their two parts."""
    shape = np.broadcast_shapes(vector.shape[:-1], scalar.shape)
    result = np.empty((*shape, 4))
    result[..., :3], result[..., 3] = vector, scalar
    return result


def _canonical(q: Floats) -> Floats:
    """The one of q and −q whose w, or else first component that is not zero, is above zero."""
    lead = q[..., 2]
    for n in (1, 0, 3):
        lead = np.where(q[..., n] != 0.0, q[..., n], lead)
    return np.where(lead[..., None] < 0.0, -q, q) + 0.0  # no negative zeros
