"""Surroundings of every page: sky, lamp and a grid to stand on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.turns import along, wxyz

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Sky, horizon, ground, its lines and its broader lines, of a light and a dark page.
LIGHT = ((196, 212, 230), (247, 248, 250), (228, 231, 235), (205, 210, 216), (176, 183, 191))
DARK = ((24, 27, 33), (52, 57, 66), (58, 62, 69), (76, 82, 90), (96, 103, 112))
# The lamp stands in this direction.
LAMP = np.array([0.35, -0.55, 0.9]) / np.linalg.norm([0.35, -0.55, 0.9])
# The ground reaches so many diagonals of the scene, a slope and a wall so many.
REACH, SLOPE, WALL = 14.0, 8.0, 1.5
# Upward parts of the normals of what is flat, and of what is too steep to lie on.
FLAT, STEEP = 0.999, 0.3


def paint_sky(scene: Any, dark: bool = False) -> None:
    """A sky that is lighter towards the horizon."""
    sky, horizon = (DARK if dark else LIGHT)[:2]
    part = np.linspace(0.0, 1.0, 64)[:, None, None] ** 0.8
    rows = (1.0 - part) * np.array(sky) + part * np.array(horizon)
    scene.set_background_image(np.tile(rows, (1, 4, 1)).astype(np.uint8), format="png")


def light(scene: Any, shadows: bool = True) -> Any:
    """A lamp that throws shadows, and light from the sky; returns the lamp."""
    scene.configure_default_lights(enabled=False)
    scene.configure_environment_map(None)
    lamp = scene.add_light_directional("/light/lamp", position=tuple(LAMP), intensity=2.4, cast_shadow=shadows)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(150, 146, 142), intensity=1.1)
    return lamp


def lay_grid(
    scene: Any, name: str, plane: tuple[Floats, float], middle: Floats, size: float, dark: bool = False
) -> Any:
    """A grid on a plane, around the point of it nearest to the middle of a scene.

    Args:
        scene: Scene of the page.
        name: What it is called.
        plane: Normal (3,) and offset [m] of the plane.
        middle: Middle of the scene (3,) [m].
        size: Diagonal of the scene [m].
        dark: Whether the page is dark.
    """
    normal, offset = plane
    ground, cells, sections = (DARK if dark else LIGHT)[2:]
    flat, wall = normal[2] > FLAT, normal[2] < STEEP
    width, cell = (REACH if flat else WALL if wall else SLOPE) * size, nice(0.1 * size)
    foot = middle + (offset - normal @ middle) * normal
    if flat:
        foot[:2] = np.round(foot[:2] / (5.0 * cell)) * 5.0 * cell
    return scene.add_grid(
        name,
        *(width, width),
        plane="xy",
        cell_size=cell,
        section_size=5.0 * cell,
        cell_color=cells,
        section_color=sections,
        section_thickness=1.2,
        plane_color=ground,
        plane_opacity=0.3 if wall else 1.0,
        shadow_opacity=0.5,
        fade_distance=0.5 * width if flat else 20.0 * width,
        fade_strength=1.5 if flat else 0.5,
        fade_from="camera",
        wxyz=wxyz(along(normal[None])[0]),
        position=foot,
    )


def nice(length: float) -> float:
    """A round length, 1, 2 or 5 times a power of ten, not above this one [m]."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= length * (1.0 + 1e-9))
