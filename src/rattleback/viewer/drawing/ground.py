"""Ground, light, sky and the first look at a scene."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.camera import Camera
from rattleback.shapes import Plane
from rattleback.viewer.drawing.batches import solids
from rattleback.viewer.drawing.bodies import layout_of
from rattleback.viewer.drawing.turns import along, turned, wxyz

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

SKY, HORIZON = (196, 212, 230), (247, 248, 250)
GROUND, CELLS, SECTIONS = (228, 231, 235), (205, 210, 216), (176, 183, 191)
FIELD_OF_VIEW = math.radians(42.0)
# Width over height of the part of the page that the panel leaves free.
ASPECT = 1.0
# At its start, a scene so many times larger or smaller is looked at anew.
OTHER_SIZE = 1.3
# The lamp stands in this direction.
LAMP = np.array([0.35, -0.55, 0.9])
# The ground reaches so many diagonals of the scene, a slope and a wall so many.
REACH, SLOPE, WALL = 14.0, 8.0, 1.5
# Upward parts of the normals of what is flat, and of what is too steep to lie on.
FLAT, STEEP = 0.999, 0.3


class Ground:
    """Planes of the scene as grids that catch shadows; without one, a grid below the scene where things fall.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.
        shadows: Whether there are shadows.

    Args:
        window: The page.
    """

    title = "Ground"

    def __init__(self, window: Window) -> None:
        self.visible, self.shadows = True, True
        self._window = window
        self._handles: list[Any] = []
        self._lamp: Any = None
        self._seen: tuple[str, int, float] = ("", 0, 0.0)
        self._paint_sky()

    def renew(self, frame: Frame) -> None:
        """Lay the ground of another scene, and look at it if it is quite another."""
        layout = layout_of(self._window, frame)
        for handle in self._handles:
            handle.remove()
        self._handles = list(self._lay(frame, layout))
        self._light(layout)
        if self._is_another(frame, layout):
            self._seen = (frame.picture.scene.name, len(frame.pictures), layout.size)
            look_at_all(self._window, layout)

    def show(self, frame: Frame) -> None:
        """Show it or not."""
        for handle in self._handles:
            handle.visible = self.visible
        if self._lamp is not None and self._lamp.cast_shadow != self.shadows:
            self._lamp.cast_shadow = self.shadows

    def _is_another(self, frame: Frame, layout: Layout) -> bool:
        """Whether a scene is not the one looked at last with something changed."""
        name, pictures, size = self._seen
        if (frame.picture.scene.name, len(frame.pictures)) != (name, pictures):
            return True
        return frame.steps == 0 and not size / OTHER_SIZE < layout.size < size * OTHER_SIZE

    def _lay(self, frame: Frame, layout: Layout) -> Iterator[Any]:
        """A grid for every plane."""
        planes = list(dict.fromkeys(plane for picture in frame.pictures[:1] for plane in _planes(picture)))
        if not planes and np.linalg.norm(frame.picture.scene.gravity) > 0.0:
            planes = [((0.0, 0.0, 1.0), layout.floor - 0.01 * layout.size)]
        for number, (normal, offset) in enumerate(planes):
            # A flat ground is for all pictures; a slope or a wall for each.
            flat = normal[2] > FLAT
            apart = layout.offsets - layout.offsets.mean(axis=0)
            for k, own in enumerate(apart[:1] * 0.0 if flat else apart):
                yield self._grid(f"/ground/{number}_{k}", np.array(normal), offset, layout.middle + own, layout.size)

    def _grid(self, name: str, normal: Floats, offset: float, middle: Floats, size: float) -> Any:
        """A grid on a plane, around the point of it nearest to the middle of a scene of this size [m]."""
        flat, wall = normal[2] > FLAT, normal[2] < STEEP
        width, cell = (REACH if flat else WALL if wall else SLOPE) * size, nice(0.1 * size)
        foot = middle + (offset - normal @ middle) * normal
        if flat:
            foot[:2] = np.round(foot[:2] / (5.0 * cell)) * 5.0 * cell
        return self._window.server.scene.add_grid(
            name,
            width,
            width,
            plane="xy",
            cell_size=cell,
            section_size=5.0 * cell,
            cell_color=CELLS,
            section_color=SECTIONS,
            section_thickness=1.2,
            plane_color=GROUND,
            plane_opacity=0.3 if wall else 1.0,
            shadow_opacity=0.35,
            fade_distance=0.5 * width if flat else 20.0 * width,
            fade_strength=1.5 if flat else 0.5,
            fade_from="camera",
            wxyz=wxyz(along(normal[None])[0]),
            position=foot,
            visible=self.visible,
        )

    def _light(self, layout: Layout) -> None:
        """A lamp that throws shadows, as wide as the scene, and light from the sky."""
        scene = self._window.server.scene
        scene.configure_default_lights(enabled=False)
        scene.configure_environment_map(None)
        direction = LAMP / np.linalg.norm(LAMP)
        self._lamp = scene.add_light_directional(
            "/light/lamp", position=tuple(direction), intensity=1.9, cast_shadow=self.shadows
        )
        scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(150, 146, 142), intensity=1.2)

    def _paint_sky(self) -> None:
        """A sky that is lighter towards the horizon."""
        part = np.linspace(0.0, 1.0, 64)[:, None, None] ** 0.8
        rows = (1.0 - part) * np.array(SKY) + part * np.array(HORIZON)
        self._window.server.scene.set_background_image(np.tile(rows, (1, 4, 1)).astype(np.uint8), format="png")


def nice(length: float) -> float:
    """A round length, 1, 2 or 5 times a power of ten, not above this one [m]."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= length * (1.0 + 1e-9))


def look_at_all(window: Window, layout: Layout) -> None:
    """Turn all cameras to the whole scene, also those of whoever comes later."""
    camera = Camera(field_of_view=FIELD_OF_VIEW).framing(layout.corners, ASPECT)
    views: list[Any] = [client.camera for client in window.server.get_clients().values()]
    for view in (window.server.initial_camera, *views):
        view.fov = FIELD_OF_VIEW
        view.near, view.far = 0.01 * layout.size, 20.0 * layout.size
        view.position, view.look_at = camera.eye, np.array(camera.target)


def _planes(picture: Picture) -> Iterator[tuple[tuple[float, ...], float]]:
    """Normals and offsets in the world [m] of the planes of a scene."""
    for row, body in enumerate(picture.scene.bodies):
        for shape, *_ in solids(body):
            if isinstance(shape, Plane):
                normal = turned(picture.orientation[row][None], np.array([shape.normal]))[0]
                offset = shape.offset + float(normal @ picture.position[row])
                yield tuple(normal.round(12).tolist()), offset
