"""Euler angles: a rotation as three turns about coordinate axes, in any of the 24 sequences.

    q = q_i(α) q_j(β) q_k(γ)

The turns are about moving axes: i first, then j and k as carried along. Turns about fixed axes are the same
product read backwards: "xyz" with (α, β, γ) is "ZYX" with (γ, β, α). With σ = (α + γ)/2, δ = (α − γ)/2 and
ε = ±1 for i, j, l (l the axis that is neither i nor j) in cyclic or anticyclic order, expanding the product gives

    i = k:  (w, q_i) = cos(β/2) (cos σ, sin σ)                     (q_j, ε q_l) = sin(β/2) (cos δ, sin δ)
    i ≠ k:  (w + ε q_j, q_i + q_k) = √2 cos(β'/2) (cos σ, sin σ)   (w − ε q_j, q_i − q_k) = √2 sin(β'/2) (cos δ, sin δ)

where β' = π/2 − ε β, so that sin β = 2 (w q_j + ε q_i q_k). Each pair is read by one arctangent; what a pair that
vanishes leaves open does not matter to the rotation, which is why the angles stay exact at the gimbal lock.

Symbols: (x, y, z, w) the quaternion; i, j, k numbers of axes; α, β, γ the angles [rad].
Source: lecture on contact dynamics, "Eulerovy úhly rotace" (z-x-z); Bender, dissertation, C.2 (x-y-z). The turns
drawn in the lecture, first φ, then θ, then ψ about fixed axes, are "zxz" with (φ, θ, ψ); the matrix printed there
is, misprints mended, "ZXZ" with (φ, θ, ψ); its quaternion is "ZXZ" with (φ, ψ, θ). Bender's matrix is "XYZ".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIXED = tuple(a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if b not in (a, c))

SEQUENCES: tuple[str, ...] = (*_FIXED, *(sequence.upper() for sequence in _FIXED))
"""The 24 sequences: lower case about fixed axes, upper case about moving axes."""

LOCK = 4.0 * float(np.finfo(np.float64).eps)
"""A pair of components shorter than this is rounding: the outer angles are locked together."""


def sequence_code(sequence: object) -> int:
    """The number that stands for a sequence in kernels: i + 3 j + 9 k as written, plus 27 about fixed axes.

    Args:
        sequence: One of ``SEQUENCES``, such as "ZXZ".

    Raises:
        UnknownName: If there is no such sequence.
    """
    if not isinstance(sequence, str) or sequence not in SEQUENCES:
        typed = str(sequence)
        hint = did_you_mean(typed if typed.islower() else typed.upper(), SEQUENCES)
        raise UnknownName(
            f"There is no Euler sequence {sequence!r}.{hint} Lower case turns about fixed axes, upper case about "
            f"moving ones: {listing(SEQUENCES, len(SEQUENCES))}."
        )
    i, j, k = ("xyz".index(letter) for letter in sequence.lower())
    return i + 3 * j + 9 * k + (27 if sequence.islower() else 0)


def quaternion_from_angles(angles: NDArray[np.float64], code: int) -> NDArray[np.float64]:
    """The quaternion of three turns.

    Args:
        angles: In the order of the sequence [rad], shape (..., 3).
        code: The sequence, from ``sequence_code``.

    Returns:
        Unit quaternions of either sign, shape (..., 4).
    """
    i, j, k, fixed = _moving_axes(code)
    half = 0.5 * (angles[..., ::-1] if fixed else angles)
    (ca, cb, cc), (sa, sb, sc) = np.moveaxis(np.cos(half), -1, 0), np.moveaxis(np.sin(half), -1, 0)
    sign = _handedness(i, j)
    result = np.empty((*half.shape[:-1], 4))
    if i == k:
        result[..., 3] = cb * (ca * cc - sa * sc)
        result[..., i] = cb * (sa * cc + ca * sc)
        result[..., j] = sb * (ca * cc + sa * sc)
        result[..., 3 - i - j] = sign * sb * (sa * cc - ca * sc)
    else:
        result[..., 3] = ca * cb * cc - sign * sa * sb * sc
        result[..., i] = sa * cb * cc + sign * ca * sb * sc
        result[..., j] = ca * sb * cc - sign * sa * cb * sc
        result[..., k] = ca * cb * sc + sign * sa * sb * cc
    return result


def angles_from_quaternion(quaternion: NDArray[np.float64], code: int) -> NDArray[np.float64]:
    """The three turns of a quaternion; at the gimbal lock the third angle is zero.

    Args:
        quaternion: Unit quaternions of either sign, shape (..., 4).
        code: The sequence, from ``sequence_code``.

    Returns:
        Angles [rad], shape (..., 3): the outer ones in (−π, π], the middle one in [0, π] where the first and last
        axis agree and in [−π/2, π/2] where they differ.
    """
    i, j, k, fixed = _moving_axes(code)
    q = [quaternion[..., n] for n in range(4)]
    sign = _handedness(i, j)
    if i == k:
        cos_sum, sin_sum, cos_difference, sin_difference = q[3], q[i], q[j], sign * q[3 - i - j]
    else:
        cos_sum, sin_sum = q[3] + sign * q[j], q[i] + q[k]
        cos_difference, sin_difference = q[3] - sign * q[j], q[i] - q[k]
    length_sum, length_difference = np.hypot(cos_sum, sin_sum), np.hypot(cos_difference, sin_difference)
    if i == k:
        middle = 2.0 * np.arctan2(length_difference, length_sum)
    else:
        middle = np.arctan2(2.0 * (q[3] * q[j] + sign * q[i] * q[k]), length_sum * length_difference)
    half_sum, half_difference = np.arctan2(sin_sum, cos_sum), np.arctan2(sin_difference, cos_difference)
    third = -1.0 if fixed else 1.0
    half_difference = np.where(length_difference <= LOCK, third * half_sum, half_difference)
    half_sum = np.where(length_sum <= LOCK, third * half_difference, half_sum)
    outer = [_wrapped(half_sum + half_difference), _wrapped(half_sum - half_difference)]
    return np.stack([outer[fixed], middle, outer[not fixed]], axis=-1) + 0.0  # no negative zeros


def _moving_axes(code: int) -> tuple[int, int, int, bool]:
    """The axes i, j, k as turns about moving axes, and whether the sequence was about fixed ones."""
    i, j, k, fixed = code % 3, code // 3 % 3, code // 9 % 3, code >= 27
    return (k, j, i, True) if fixed else (i, j, k, False)


def _handedness(i: int, j: int) -> float:
    """+1 if j follows i in the cycle x, y, z, and −1 if it goes before."""
    return 1.0 if (j - i) % 3 == 1 else -1.0


def _wrapped(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same angle in (−π, π], for angles in [−2π, 2π]."""
    down = np.where(angle > np.pi, angle - 2.0 * np.pi, angle)
    result: NDArray[np.float64] = np.where(down <= -np.pi, down + 2.0 * np.pi, down)
    return result
