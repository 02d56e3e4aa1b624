"""Lamps far away: directions of the sun and the sky, and the map of depths seen from each.

    (u, v, w) = (x − middle) · (right, up, toward)/radius,   map = ½ + ½ (u, v, −w/DEEP)

middle and radius of a ball around all that casts a shadow. Many directions are spread evenly by the golden angle.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Depth of a map beside its width: what is outside the ball towards the lamp casts shadows, too.
DEEP = 3.0
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
# Half of the angle under which the sun is seen [rad]; a few times the real one, as through thin haze.
SUN_RADIUS = math.radians(1.9)
# Inverse powers of the plastic number: steps of a sequence that fills a square evenly.
PLASTIC = (0.7548776662466927, 0.5698402909980532)
# From clip coordinates to those of a texture.
TO_MAP = np.array([(0.5, 0.0, 0.0, 0.5), (0.0, 0.5, 0.0, 0.5), (0.0, 0.0, 0.5, 0.5), (0.0, 0.0, 0.0, 1.0)])


def lamp_matrix(toward: Floats, middle: Floats, radius: float) -> Floats:
    """From the world to the clip coordinates of the map of a lamp in a direction (4, 4)."""
    axes = frame(toward)
    scale = np.array([1.0, 1.0, -1.0 / DEEP]) / radius
    matrix = np.eye(4)
    matrix[:3, :3] = scale[:, None] * axes
    matrix[:3, 3] = -matrix[:3, :3] @ middle
    return matrix


def frame(toward: Floats) -> Floats:
    """Right, up and toward as rows (3, 3), for a direction of length one."""
    aside = np.cross((0.0, 0.0, 1.0) if abs(toward[2]) < 0.999 else (0.0, 1.0, 0.0), toward)
    right = aside / np.linalg.norm(aside)
    return np.stack([right, np.cross(toward, right), toward])


def suns(toward: Floats, count: int) -> Floats:
    """Directions towards points spread over the disc of the sun, shape (count, 3)."""
    k = np.arange(count)
    radius, angle = SUN_RADIUS * np.sqrt((k + 0.5) / count), GOLDEN * k
    right, up, ahead = frame(toward)
    found = ahead + (radius * np.cos(angle))[:, None] * right + (radius * np.sin(angle))[:, None] * up
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def skies(count: int) -> Floats:
    """Directions spread over the sky, each the middle of an equal part of it, shape (count, 3)."""
    k = np.arange(count)
    height, angle = (k + 0.5) / count, GOLDEN * k + 0.3
    flat = np.sqrt(1.0 - height**2)
    # In an order of their own, so that they do not go with the places on the sun.
    order = np.argsort(np.modf(PLASTIC[0] * (k + 1))[0], kind="stable")
    return np.stack([flat * np.cos(angle), flat * np.sin(angle), height], axis=1)[order]


def places(count: int) -> Floats:
    """Places in a pixel from its middle, shape (count, 2) [pixels]."""
    found: Floats = np.modf(0.5 + np.outer(np.arange(1, count + 1), PLASTIC))[0] - 0.5
    return found
