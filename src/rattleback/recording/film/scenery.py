"""What is around the solids in film quality: a ground that fades, a sky that gets darker upward, a sun with an edge.

    sun: a disc of radius D tan ρ at distance D, of the radiance that lights a surface with E      L = E / (π sin² ρ)

ρ half the angle the sun is seen under, E its irradiance. The ground has the grid of pictures where it is a plane of the
scene, and becomes transparent towards its rim, where the backdrop shows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.ground import GroundPlane, round_length
from rattleback.recording.lamp import SUN_RADIUS, frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.recording.renderer import Stand

    Floats = NDArray[np.float64]

# Light of the sun, and the sky from the horizon to the zenith.
SUN = np.array([3.9, 3.65, 3.2])
HORIZON, ZENITH = np.array([0.58, 0.615, 0.66]), np.array([0.15, 0.225, 0.34])
# Colour of the ground, how much darker its thin and its thick lines are, and how wide beside their distance.
GROUND, THIN, THICK, WIDE = np.array([0.45, 0.455, 0.465]), 0.16, 0.30, 0.008
# The sun is so many times farther away than the scene is large.
FAR = 60.0
TILE, RIM, SKY = 1024, 256, (64, 128)


def sun(stand: Stand) -> dict[str, Any]:
    """The sun as a disc far away."""
    away = FAR * stand.radius
    size = away * math.tan(SUN_RADIUS)
    matrix = np.eye(4)
    # A disc shines along its own z, towards the scene.
    matrix[:3, :3] = size * frame(-stand.sun).T
    matrix[:3, 3] = stand.middle + away * stand.sun
    radiance = SUN / (math.pi * math.sin(SUN_RADIUS) ** 2)
    return {
        "type": "disk",
        "to_world": matrix,
        "emitter": {"type": "area", "radiance": {"type": "rgb", "value": radiance.tolist()}},
    }


def sky() -> Floats:
    """The sky as a map of directions, upper row up, shape (rows, columns, 3)."""
    rows, columns = SKY
    up = np.cos(np.pi * (np.arange(rows) + 0.5) / rows)
    part = np.clip(up, 0.0, 1.0)[:, None] ** 0.6
    below = np.clip(-up, 0.0, 1.0)[:, None] ** 0.5
    tone = HORIZON + part * (ZENITH - HORIZON) - 0.25 * below * HORIZON
    return np.repeat(tone[:, None, :], columns, axis=1)


def ground(plane: GroundPlane, stand: Stand) -> dict[str, Any]:
    """A plane around the point below the middle of what is seen."""
    foot, (along, across) = plane.foot(stand.middle), plane.sides()
    matrix = np.eye(4)
    matrix[:3, :3] = stand.reach * np.stack([along, across, plane.normal], axis=1)
    matrix[:3, 3] = foot
    cell = round_length(stand.radius / 3.0)
    paint: Any = {"type": "rgb", "value": GROUND.tolist()}
    if plane.lines:
        paint = {"pixels": grid(), "raw": True, "to_uv": _to_tiles(foot, (along, across), stand.reach, 5.0 * cell)}
    return {"to_world": matrix, "paint": paint, "opacity": rim()}


def grid() -> Floats:
    """Five by five cells of a ground with lines, shape (pixels, pixels, 3)."""
    at = (np.arange(TILE) + 0.5) / TILE
    ink = np.maximum(_line(5.0 * at, THIN, WIDE), _line(at, THICK, WIDE * 0.5))
    both = np.maximum(ink[:, None], ink[None, :])
    tile: Floats = GROUND * (1.0 - both[..., None])
    return tile


def rim() -> Floats:
    """How opaque the ground is, from one in its middle to nothing at its rim, shape (pixels, pixels, 1)."""
    at = (np.arange(RIM) + 0.5) / RIM * 2.0 - 1.0
    away = np.clip((np.hypot(at[:, None], at[None, :]) - 0.15) / 0.8, 0.0, 1.0)
    smooth: Floats = 1.0 - away * away * (3.0 - 2.0 * away)
    return smooth[..., None]


def _line(at: Floats, ink: float, wide: float) -> Floats:
    """Ink of the lines at whole numbers."""
    off = np.abs(at - np.round(at))
    return ink * np.clip(1.5 - off / wide, 0.0, 1.0)


def _to_tiles(foot: Floats, sides: tuple[Floats, Floats], reach: float, tile: float) -> Floats:
    """From the texture coordinates of the ground, 0 to 1 across it, to those of tiles that stay in the world (4, 4)."""
    matrix = np.eye(4)
    for axis, side in enumerate(sides):
        matrix[axis, axis] = 2.0 * reach / tile
        matrix[axis, 3] = (float(foot @ side) - reach) / tile % 1.0
    return matrix
