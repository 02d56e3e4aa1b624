"""A still picture of a simulation, as a PNG file."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rattleback.core import checks, whole_file
from rattleback.core.errors import FileError
from rattleback.recording.camera import Camera
from rattleback.recording.extent import body_boxes
from rattleback.recording.files import check_suffix
from rattleback.recording.look import Appearance, LookOptions
from rattleback.recording.reach import reach
from rattleback.recording.renderer import Renderer, check_size
from rattleback.recording.snapshot import moment_of, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from rattleback.simulation import Simulation

STILL, FILM = Appearance(samples=32), Appearance(samples=128)
QUALITIES = ("quick", "film")


def render(
    sim: Simulation,
    path: str | os.PathLike[str],
    *,
    size: tuple[int, int] = (1280, 720),
    camera: Camera | None = None,
    quality: str = "quick",
    **look: Unpack[LookOptions],
) -> None:
    """Write a picture of a simulation as it is now; of several worlds, the first.

    Args:
        sim: The simulation; it is only looked at.
        path: Where to, a name that ends with ``.png``.
        size: Width and height [pixels].
        camera: Where it is seen from; what a :class:`Camera` leaves out, or all of it, is chosen so that every body is
            in the picture.
        quality: ``"quick"``, drawn by OpenGL in about a second; or ``"film"``, with soft shadows, light that goes from
            surface to surface and materials, in about a minute.
        **look: ``colour``, ``"body"`` (the default) or ``"speed"``; ``fastest``, the speed that is red [m/s] (default
            the largest there is); ``samples``, how many drawings are averaged (default 32; 1 is quick), or in film
            quality how many paths of light are followed for each pixel (default 128); ``sun``, the direction towards
            the sun; ``joints=False`` to leave out their marks; ``floor=False`` to leave out the floor that a scene with
            gravity gets where it has no plane.

    Raises:
        DeviceError: moderngl or EGL, or for film quality mitsuba, is missing; the sentence says what to install.
        FileError: The file cannot be written.
    """
    target = check_place(path, (".png",), "a picture")
    film = checks.one_of(quality, QUALITIES, "The quality of a picture") == "film"
    chosen = (FILM if film else STILL).with_options(look, "render")
    drawn = (_traced if film else _drawn)(sim, check_camera(camera), chosen, check_size(size))
    from PIL import Image

    picture = Image.fromarray(drawn)
    whole_file.write(target, lambda stream: picture.save(stream, format="png"), "picture")


def _drawn(sim: Simulation, camera: Camera, look: Appearance, size: tuple[int, int]) -> NDArray[np.uint8]:
    """The picture, drawn by OpenGL."""
    snapshot = snapshot_of(sim)
    with Renderer(size, look) as renderer:
        return renderer.draw(snapshot, renderer.aim(camera, [snapshot], depth_of(sim)))


def _traced(sim: Simulation, camera: Camera, look: Appearance, size: tuple[int, int]) -> NDArray[np.uint8]:
    """The picture in film quality."""
    from rattleback.recording.film.tracer import trace

    seen = trace(snapshot_of(sim), camera, look, size, depth_of(sim))
    return np.round(255.0 * np.clip(seen, 0.0, 1.0)).astype(np.uint8)


def depth_of(sim: Simulation) -> float:
    """Height that nothing is expected below [m]; ∞ where something may fall on and on, and a floor lies anywhere."""
    snapshot = snapshot_of(sim)
    found = reach(moment_of(sim), *body_boxes(snapshot)).depth
    return found if math.isfinite(found) else math.inf


def check_camera(camera: Any) -> Camera:
    """The camera given, or one that finds its place by itself."""
    if camera is None:
        return Camera()
    checks.instance(camera, Camera, "The camera", "rb.Camera(azimuth=0.5, elevation=0.3)")
    found: Camera = camera
    return found


def check_place(path: Any, suffixes: Iterable[str], what: str) -> Path:
    """The path, if a file of that kind can be written there, as far as that can be known before the work is done."""
    target = check_suffix(path, suffixes, what)
    kind, folder = what.split()[-1], target.parent
    if target.is_dir():
        raise FileError(f"The {kind} {str(target)!r} cannot be written: it is a folder.")
    if not folder.is_dir():
        raise FileError(f"The {kind} {str(target)!r} cannot be written: there is no folder {str(folder)!r}.")
    if not os.access(folder, os.W_OK) or (target.exists() and not os.access(target, os.W_OK)):
        raise FileError(f"The {kind} {str(target)!r} cannot be written: it is write-protected.")
    return target
