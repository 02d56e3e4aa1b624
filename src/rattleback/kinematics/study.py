"""Study's coordinates of a pose, in which the leg of a parallel machine is a quadric.

    |x|² R v = x v x̄,   |x|² p = 2 y x̄,   x · y = 0                                              the pose of z = (x, y)
    zᵀ Q z = 4 |y|² + (a·a + b·b − s) |x|² + 2 b · (2 x̄ y) − 2 a · (2 y x̄) − 2 a · (x b x̄) = 0    |p + R b − a|² = s

x, y quaternions (x, y, z, w), z defined up to a factor; a anchor on the base, b on the platform, s square of the length
of the leg. Six legs and Study's quadric x · y = 0 make seven quadrics in projective 7-space: 128 common points by
Bézout, of which 40 are poses and the others lie on x = 0, where there is none.

Reference: Husty, Mech. Mach. Theory 31 (1996), 365–379, §2 and §3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.kinematics.pose import make_pose
from rattleback.maths.rotation import conjugate, matrix_from_quaternion, multiply

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Coefficients of a leg: 1, a·a + b·b − s, the entries of b, of a, and of a bᵀ.
TERMS = 17


def _bilinear(z: Floats, other: Floats) -> Floats:
    """What the coefficients of a leg are multiplied with, for two points instead of one twice (17,)."""
    x, y_other = z[:4], other[4:]
    to_platform, to_base = multiply(conjugate(x), y_other)[:3], multiply(y_other, conjugate(x))[:3]
    turned = [multiply(multiply(x, np.append(axis, 0.0)), conjugate(other[:4]))[:3] for axis in np.eye(3)]
    tail = -2.0 * np.stack(turned, axis=1).ravel()
    head = [4.0 * z[4:] @ y_other, x @ other[:4]]
    return np.concatenate([head, 4.0 * to_platform, -4.0 * to_base, tail])


def _forms() -> Floats:
    """Symmetric matrices of the terms (17, 64)."""
    unit = np.eye(8)
    table = np.array([[_bilinear(first, second) for second in unit] for first in unit])
    return (0.5 * (table + table.transpose(1, 0, 2))).reshape(64, TERMS).T


FORMS = _forms()
STUDY = np.kron([[0.0, 0.5], [0.5, 0.0]], np.eye(4))


def coefficients(a: Any, b: Any, s: Any) -> Any:
    """Coefficients of legs (..., 17) with anchors a and b (..., 3) and squared lengths s (...), real or complex."""
    outer = (a[..., :, None] * b[..., None, :]).reshape(*a.shape[:-1], 9)
    size = (a * a + b * b).sum(-1) - s
    return np.concatenate([np.ones_like(size)[..., None], size[..., None], b, a, outer], axis=-1)


def slopes(a: Any, b: Any, rates: Any) -> Any:
    """Rates of change of the coefficients (..., 17) where a, b and s change at given rates."""
    da, db, ds = np.broadcast_to(rates[0], a.shape), np.broadcast_to(rates[1], b.shape), rates[2]
    outer = (da[..., :, None] * b[..., None, :] + a[..., :, None] * db[..., None, :]).reshape(*a.shape[:-1], 9)
    size = 2.0 * (a * da + b * db).sum(-1) - ds
    return np.concatenate([np.zeros_like(size)[..., None], size[..., None], db, da, outer], axis=-1)


def quadrics(terms: Any) -> Any:
    """Symmetric matrices (..., 8, 8) of coefficients (..., 17)."""
    return (terms @ FORMS).reshape(*terms.shape[:-1], 8, 8)


def size_of(z: Any) -> Any:
    """|x · x| of points of length one (n,); zero where a point is no pose, but lies at infinity."""
    return np.abs((z[:, :4] ** 2).sum(axis=1))


def imaginary_part(z: Any) -> Floats:
    """How far points (n, 8) of length one are from being real, whatever factor they carry (n,)."""
    lead = np.take_along_axis(z, np.abs(z).argmax(axis=1)[:, None], axis=1)
    found: Floats = np.abs((z * (np.abs(lead) / lead)).imag).max(axis=1)
    return found


def real_poses(z: Any) -> Floats:
    """Poses (n, 4, 4) of points (n, 8) that are real up to a factor."""
    lead = np.take_along_axis(z, np.abs(z).argmax(axis=1)[:, None], axis=1)
    real = (z / lead).real
    length = np.linalg.norm(real[:, :4], axis=1, keepdims=True)
    x, y = real[:, :4] / length, real[:, 4:] / length
    return make_pose(2.0 * multiply(y, conjugate(x))[:, :3], matrix_from_quaternion(x))
