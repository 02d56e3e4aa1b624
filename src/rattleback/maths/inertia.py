"""Inertia tensors: moved, turned, diagonalised, put together and checked.

    J = Σ m (|r|² I − r rᵀ)                      of point masses at r
    J_p = J_c + m (|d|² I − d dᵀ)                parallel axes: from the centre of mass c to p, with d from c to p
    J' = R J Rᵀ                                  the same body in turned axes
    J = R diag(J₁, J₂, J₃) Rᵀ                    principal axes: the columns of R

The principal axes come from Jacobi's method: plane rotations, each removing one off-diagonal entry, in the order xy,
xz, yz until all are rounding. It starts from the axes given and turns each time by the smaller angle, so axes that are
already principal are kept, in order, and equal moments need no special care.

Symbols: J inertia tensor [kg m²]; m mass [kg]; d offset [m]; R rotation matrix.
Source: Bender, dissertation, D.1 and 3.1.1 (whose rows are our columns).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.maths import rotation as rotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_TOLERANCE = 1e-9
_EPSILON = float(np.finfo(np.float64).eps)


def parallel_axis(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Floats:
    """The inertia about a point away from the centre of mass.

    Args:
        inertia: About the centre of mass [kg m²], shape (3, 3).
        mass: Mass [kg].
        offset: From the centre of mass to the point [m], shape (3,).

    Returns:
        The inertia about the point, in the same axes [kg m²], shape (3, 3).
    """
    return _symmetric(inertia, "inertia") + _of_point(mass, offset)


def parallel_axis_inverse(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Floats:
    """The inertia about the centre of mass, from the inertia about another point.

    Args:
        inertia: About the point [kg m²], shape (3, 3).
        mass: Mass [kg].
        offset: From the centre of mass to the point [m], shape (3,).

    Returns:
        The inertia about the centre of mass, in the same axes [kg m²], shape (3, 3).
    """
    return _symmetric(inertia, "inertia") - _of_point(mass, offset)


def rotate_inertia(inertia: ArrayLike, rotation: ArrayLike) -> Floats:
    """The inertia of the same body in other axes, R J Rᵀ.

    Args:
        inertia: In the first axes [kg m²], shape (3, 3).
        rotation: Rotation matrix from the first axes to the second, shape (3, 3).

    Returns:
        In the second axes [kg m²], shape (3, 3), exactly symmetric.
    """
    r = rotations.check_matrix(checks.array(rotation, (3, 3), "rotation"), "rotation")
    turned = r @ _symmetric(inertia, "inertia") @ r.T
    return 0.5 * (turned + turned.T)


def principal_axes(inertia: ArrayLike) -> tuple[Floats, Floats]:
    """The principal moments and the axes they belong to.

    Args:
        inertia: Inertia tensor [kg m²], shape (3, 3).

    Returns:
        The moments [kg m²], shape (3,), and the quaternion that turns the principal axes into the axes of the tensor,
        shape (4,). A diagonal tensor gives its diagonal, in order, and exactly the identity.
    """
    j, axes = _symmetric(inertia, "inertia"), np.eye(3)
    for _ in range(30):  # seven are enough in practice: the off-diagonal entries are squared in every sweep
        pairs = [(p, q) for p, q in ((0, 1), (0, 2), (1, 2)) if not _negligible(j, p, q)]
        for p, q in pairs:
            turn = _plane_rotation(j, p, q)
            j, axes = turn.T @ j @ turn, axes @ turn
            j[p, q] = j[q, p] = 0.0
            j = 0.5 * (j + j.T)
        if not pairs:
            break
    return np.diagonal(j).copy(), rotations.quaternion_from_matrix(axes)


def check_inertia(inertia: ArrayLike, what: str) -> Floats:
    """An inertia tensor that a rigid body can have, exactly symmetric, shape (3, 3) [kg m²].

    Raises:
        InputError: If the tensor is not symmetric, has a moment that is not above zero, or has a moment greater than
            the sum of the two others.
    """
    tensor = _symmetric(inertia, what)
    moments = np.linalg.eigvalsh(tensor)
    shown = f"{what} has the principal moments {', '.join(f'{moment:.6g}' for moment in moments)} kg m²"
    if moments[0] <= 8.0 * _EPSILON * moments[2]:
        raise InputError(f"{shown}; each must be greater than zero.")
    if 0.5 * moments[2] > (0.5 * moments[0] + 0.5 * moments[1]) * (1.0 + _TOLERANCE):
        raise InputError(f"{shown}; in a rigid body none is greater than the sum of the two others.")
    return tensor


def combine(parts: Sequence[tuple[float, ArrayLike, ArrayLike]]) -> tuple[float, Floats, Floats]:
    """One rigid body out of several.

    Args:
        parts: For each part its mass [kg], its centre of mass [m], shape (3,), and its inertia about its own centre
            of mass [kg m²], shape (3, 3), all in common axes. The inertia of a point mass is zero.

    Returns:
        The mass [kg], the centre of mass [m], shape (3,), and the inertia about it [kg m²], shape (3, 3).
    """
    if not parts:
        raise InputError("There are no parts to combine; give at least one (mass, centre of mass, inertia).")
    masses = [checks.positive(mass, f"the mass of part {n}") for n, (mass, _, _) in enumerate(parts)]
    places = [checks.vector(place, f"the centre of mass of part {n}") for n, (_, place, _) in enumerate(parts)]
    tensors = [_symmetric(tensor, f"the inertia of part {n}") for n, (_, _, tensor) in enumerate(parts)]
    mass = math.fsum(masses)
    centre = sum((m / mass * place for m, place in zip(masses, places, strict=True)), start=np.zeros(3))
    total = np.zeros((3, 3))
    for m, place, tensor in zip(masses, places, tensors, strict=True):
        total += tensor + _of_point(m, place - centre)
    return mass, centre, total


def _of_point(mass: float, offset: ArrayLike) -> Floats:
    """The inertia m (|d|² I − d dᵀ) of a point mass at d."""
    m, d = checks.positive(mass, "mass"), checks.vector(offset, "offset")
    x, y, z = d
    tensor = [[y * y + z * z, -x * y, -x * z], [-x * y, x * x + z * z, -y * z], [-x * z, -y * z, x * x + y * y]]
    return m * np.array(tensor)


def _symmetric(inertia: ArrayLike, what: str) -> Floats:
    """A finite tensor of shape (3, 3), made exactly symmetric; one off by more than 1e-9 is refused."""
    tensor = checks.array(inertia, (3, 3), what)
    error = np.abs(tensor - tensor.T)
    if error.max() > _TOLERANCE * np.abs(tensor).max():
        i, j = np.unravel_index(int(error.argmax()), (3, 3))
        raise InputError(
            f"{what} is not symmetric: the entries [{i}, {j}] and [{j}, {i}] are {tensor[i, j]:.12g} and "
            f"{tensor[j, i]:.12g}; they must be equal."
        )
    return 0.5 * tensor + 0.5 * tensor.T


def _negligible(tensor: Floats, p: int, q: int) -> bool:
    """Whether the entry [p, q] is below the rounding of the moments p and q."""
    scale = math.sqrt(abs(tensor[p, p])) * math.sqrt(abs(tensor[q, q]))
    return bool(abs(tensor[p, q]) <= _EPSILON * scale)


def _plane_rotation(tensor: Floats, p: int, q: int) -> Floats:
    """The rotation in the plane of axes p and q, by at most π/4, that removes the entry [p, q]."""
    angle = 0.5 * math.atan2(2.0 * tensor[p, q], tensor[q, q] - tensor[p, p])
    if abs(angle) > 0.25 * math.pi:
        angle -= math.copysign(0.5 * math.pi, angle)
    result = np.eye(3)
    result[p, p] = result[q, q] = math.cos(angle)
    result[p, q], result[q, p] = math.sin(angle), -math.sin(angle)
    return result
