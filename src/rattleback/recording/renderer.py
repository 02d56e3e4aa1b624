"""The renderer: solids of a scene with sun, sky and shadows on a ground that fades, drawn without a window.

    1. map of depths from the sun, map of depths from the sky
    2. solids, ground, backdrop, each pixel lit by what the maps leave of sun and sky
    3. light to colour

With several samples, 1 and 2 are done for each and added up before 3. Lengths are measured from the middle of what is
seen, so that a scene far from the origin is as sharp as one at it. Cost: about 45 triangles for a box, and the pixels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.recording import shaders
from rattleback.recording.canvas import Canvas
from rattleback.recording.context import close_context, open_context
from rattleback.recording.extent import extent, lowest
from rattleback.recording.ground import UPWARD, GroundPlane, floor_below, grounds, round_length
from rattleback.recording.instances import batches
from rattleback.recording.lamp import DEEP, TO_MAP, lamp_matrix, places, skies, suns
from rattleback.recording.look import Appearance
from rattleback.recording.pile import Pile, assign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.model import Scene
    from rattleback.recording.camera import Camera
    from rattleback.recording.snapshot import Snapshot

    Floats = NDArray[np.float64]

MOST_PIXELS = 8192
# Pixels of the maps from sun and sky, and width of the soft edge of a shadow [texels], drawn once and many times.
QUICK_MAPS, FINE_MAPS = (1280, 192), (2048, 1024)
QUICK_EDGE, FINE_EDGE = 1.6, 0.7
# How far the ground is seen beside the size of the scene, or beside the distance of the camera.
GROUND, GROUND_AFAR = 7.0, 2.0


class Stand(NamedTuple):
    """Where everything stands.

    Attributes:
        camera: The camera, in its place.
        middle: Middle of what is seen (3,) [m].
        radius: Radius of a ball about it that holds all of it [m].
        sun: Direction towards the sun (3,).
        floor: Where a floor is, if the scene has no plane.
        fastest: The speed that is red [m/s], where colours tell speeds.
    """

    camera: Camera
    middle: Floats
    radius: float
    sun: Floats
    floor: GroundPlane
    fastest: float

    @property
    def reach(self) -> float:
        """How far the ground is seen [m]."""
        return max(GROUND * self.radius, GROUND_AFAR * float(self.camera.distance or 0.0))


class Renderer:
    """Draws snapshots of simulations; close it, or use it in a ``with`` block.

    Args:
        size: Width and height [pixels].
        look: How pictures look.
    """

    def __init__(self, size: tuple[int, int] = (1280, 720), look: Appearance | None = None) -> None:
        self.size, self.look = check_size(size), Appearance() if look is None else look
        self.context = open_context()
        quick = self.look.samples == 1
        self._canvas = Canvas(self.context, self.size, quick)
        maps, edge = (QUICK_MAPS, QUICK_EDGE) if quick else (FINE_MAPS, FINE_EDGE)
        self._maps = [self._map(maps[0], True), self._map(maps[1], not quick)]
        make = self.context.program
        self._solid = make(shaders.SOLID_VERTEX, shaders.fragment(shaders.SOLID_FRAGMENT, quick, edge))
        self._ground = make(shaders.GROUND_VERTEX, shaders.fragment(shaders.GROUND_FRAGMENT, quick, edge))
        self._backdrop = make(shaders.SCREEN_VERTEX, shaders.backdrop_fragment(quick))
        self._depth = make(shaders.DEPTH_VERTEX, shaders.DEPTH_FRAGMENT)
        corners = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)], dtype=np.float32)
        square = self.context.buffer(corners.tobytes())
        self._plane = self.context.vertex_array(self._ground, [(square, "2f", "corner")])
        self._sheet = self.context.vertex_array(self._backdrop, [(square, "2f", "corner")])
        self._scene: Scene | None = None
        self._piles: list[Pile] = []

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the memory it draws in."""
        close_context(self.context)

    def aim(self, camera: Camera, snapshots: Sequence[Snapshot], depth: float = math.inf) -> Stand:
        """Where everything stands in pictures of these snapshots, so that all of them fit.

        Args:
            camera: Where they are seen from, as far as it is chosen.
            snapshots: What they show.
            depth: Height that a floor has to be below, beside all bodies [m].
        """
        return stand_of(camera, snapshots, depth, self.size, self.look)

    def draw(self, snapshot: Snapshot, stand: Stand) -> NDArray[np.uint8]:
        """The picture of a snapshot, shape (height, width, 3), sRGB, upper row first."""
        self._load(snapshot.scene)
        colours, shown = self.look.colours(snapshot, stand.fastest), grounds_of(snapshot, stand, self.look)
        for pile in self._piles:
            solids = pile.batch.sharpened(self._finest(stand))
            pile.place(solids.table(snapshot, colours, stand.middle), stand.camera.axes()[2])
        count = self.look.samples
        if count == 1:
            self._draw_once(stand, shown, (stand.sun, UPWARD), np.zeros(2))
            return self._canvas.develop()
        self._canvas.clear_sum()
        for sun, sky, place in zip(suns(stand.sun, count), skies(count), places(count), strict=True):
            self._draw_once(stand, shown, (sun, sky), place)
            self._canvas.add(1.0 / count)
        return self._canvas.develop()

    def _finest(self, stand: Stand) -> float:
        """What is finer than that flickers where a picture is drawn once [m]: about a pixel."""
        pixel = 2.0 * math.tan(0.5 * stand.camera.field_of_view) * float(stand.camera.distance or 0.0) / self.size[1]
        return 0.9 * pixel if self.look.samples == 1 else 0.0

    def _load(self, scene: Scene) -> None:
        """Bring the solids of a scene to the graphics card, if they are not there yet."""
        if scene is self._scene:
            return
        for pile in self._piles:
            pile.release()
        found = batches(scene, self.look.joints)
        self._piles = [Pile(self.context, batch, self._solid, self._depth) for batch in found]
        self._scene = scene

    def _draw_once(self, stand: Stand, shown: list[GroundPlane], toward: tuple[Floats, Floats], place: Floats) -> None:
        """Maps, solids, ground and backdrop, with one sun, one sky and one place in the pixel."""
        lamps = [lamp_matrix(direction, np.zeros(3), stand.radius) for direction in toward]
        self.context.enable_only(self.context.DEPTH_TEST)
        self.context.depth_func = "<="
        for lamp, (target, _) in zip(lamps, self._maps, strict=True):
            target.use()
            target.clear(depth=1.0)
            assign(self._depth, {"clip": lamp})
            for pile in self._piles:
                pile.draw_depth()
        self._canvas.begin()
        uniforms = self._uniforms(stand, lamps, toward, place)
        for unit, (_, texture) in enumerate(self._maps):
            texture.use(unit)
        for program in (self._solid, self._ground, self._backdrop):
            assign(program, uniforms)
        for pile in self._piles:
            pile.draw()
        self.context.disable(self.context.CULL_FACE)
        for ground in shown:
            self._draw_ground(ground, stand)
        self._sheet.render(self.context.TRIANGLE_STRIP)

    def _draw_ground(self, ground: GroundPlane, stand: Stand) -> None:
        """A plane around the point below the middle of what is seen; its grid stays where it is in the world."""
        foot, (along, across) = ground.foot(stand.middle), ground.sides()
        cell = round_length(stand.radius / 3.0)
        phase = np.array([foot @ along, foot @ across]) % (5.0 * cell)
        frame = {"middle": foot - stand.middle, "along": along, "across": across, "up": ground.normal, "phase": phase}
        assign(self._ground, {**frame, "reach": stand.reach, "cell": cell, "lines": float(ground.lines)})
        self._plane.render(self.context.TRIANGLE_STRIP)

    def _uniforms(
        self, stand: Stand, lamps: list[Floats], toward: tuple[Floats, Floats], place: Floats
    ) -> dict[str, Any]:
        """What every shader is told."""
        camera, shift = stand.camera, np.eye(4)
        away = float(np.linalg.norm(camera.eye - stand.middle))
        near, far = max(0.02 * away, 0.5 * (away - 2.0 * stand.radius)), away + 2.0 * stand.reach
        shift[:2, 3] = 2.0 * place / np.array(self.size)
        seen = camera.projection_matrix(self.size[0] / self.size[1], near, far) @ camera.view_matrix(stand.middle)
        told: dict[str, Any] = {"clip": shift @ seen, "pixels": np.array(self.size), "eye": camera.eye - stand.middle}
        for unit, (name, (_, texture)) in enumerate(zip(("sun", "sky"), self._maps, strict=True)):
            told |= {name: toward[unit], f"{name}_clip": TO_MAP @ lamps[unit], f"{name}_map": unit}
            told[f"{name}_texel"] = 2.0 * stand.radius / texture.width
        return {**told, "sky_depth": 2.0 * DEEP * stand.radius}

    def _map(self, size: int, compared: bool) -> tuple[Any, Any]:
        """A square of depths to draw to and to read from; compared with a depth, or as it is."""
        texture = self.context.depth_texture((size, size))
        texture.compare_func = "<=" if compared else ""
        texture.filter = (self.context.LINEAR, self.context.LINEAR)
        texture.repeat_x = texture.repeat_y = False
        return self.context.framebuffer(depth_attachment=texture), texture


def stand_of(
    camera: Camera, snapshots: Sequence[Snapshot], depth: float, size: tuple[int, int], look: Appearance
) -> Stand:
    """Where everything stands in pictures of these snapshots, so that all of them fit.

    Args:
        camera: Where they are seen from, as far as it is chosen.
        snapshots: What they show.
        depth: Height that a floor has to be below, beside all bodies [m].
        size: Width and height of the pictures [pixels].
        look: How they look.
    """
    points = extent(snapshots, look.joints)
    placed = camera.framing(points, size[0] / size[1])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = 1.05 * float(np.linalg.norm(points - middle, axis=1).max()) or 1.0
    fastest = look.fastest or max(float(snapshot.speed.max(initial=0.0)) for snapshot in snapshots)
    floor = floor_below(points, min(depth, lowest(snapshots)))
    return Stand(placed, middle, radius, look.towards_sun(placed), floor, fastest)


def grounds_of(snapshot: Snapshot, stand: Stand, look: Appearance) -> list[GroundPlane]:
    """The planes of the scene that are seen from above, or a floor."""
    found = grounds(snapshot)
    if not found and look.floor and snapshot.scene.gravity.any():
        found = [stand.floor]
    return [ground for ground in found if (stand.camera.eye - ground.point) @ ground.normal > 0.0]


def check_size(size: Any) -> tuple[int, int]:
    """Width and height of a picture [pixels]."""
    try:
        width, height = size
    except (TypeError, ValueError):
        raise InputError(f"The size of a picture is {size!r}; it must be two numbers, such as (1280, 720).") from None
    return (
        checks.count(width, "The width of a picture", most=MOST_PIXELS),
        checks.count(height, "The height of a picture", most=MOST_PIXELS),
    )
