"""Lengths, angles and dihedrals of points, for any number of them at once.

    n₁ = b₁ × b₂,  n₂ = b₂ × b₃,   φ = atan2(|b₂| b₁·n₂, n₁·n₂)

b₁, b₂, b₃ the ways from the first point to the last; φ > 0 where, seen along b₂, the last one is clockwise of the
first.

Reference: Blondel and Karplus, "New formulation for derivatives of torsion angles and improper torsion angles in
molecular mechanics", Journal of Computational Chemistry 17 (1996), 1132-1141, eq. 3 and 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


TINY = 1e-150


def dihedral(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Dihedral angles of points (..., 3), in (−π, π] [rad]."""
    first, second, third = b - a, c - b, d - c
    left, right = np.cross(first, second), np.cross(second, third)
    length = np.linalg.norm(second, axis=-1)
    return np.arctan2(length * np.sum(first * right, axis=-1), np.sum(left * right, axis=-1))


def angle(a: Floats, b: Floats, c: Floats) -> Floats:
    """Angles at b of points (..., 3) [rad]."""
    left, right = a - b, c - b
    across = np.linalg.norm(np.cross(left, right), axis=-1)
    return np.arctan2(across, np.sum(left * right, axis=-1))


def distance(a: Floats, b: Floats) -> Floats:
    """Distances of points (..., 3)."""
    return np.asarray(np.linalg.norm(b - a, axis=-1))


def unit(vectors: Floats) -> Floats:
    """Vectors (..., 3) scaled to length one; zero stays zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), TINY)


def wrapped(angles: Floats) -> Floats:
    """Angles in (−π, π]; those that already are there keep every bit."""
    inside = (angles > -np.pi) & (angles <= np.pi)
    return np.where(inside, angles, np.pi - np.mod(np.pi - angles, 2.0 * np.pi))


def placed(a: Floats, b: Floats, c: Floats, internal: tuple[float, float, float]) -> Floats:
    """The point d at a distance from c [Å], with the angle b-c-d and the dihedral a-b-c-d [rad]."""
    length, bend, turn = internal
    along = unit(c - b)
    normal = unit(np.cross(b - a, along))
    inward = np.cross(normal, along)
    way = (-np.cos(bend), np.sin(bend) * np.cos(turn), np.sin(bend) * np.sin(turn))
    return c + length * (way[0] * along + way[1] * inward + way[2] * normal)
