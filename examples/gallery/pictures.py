"""The pictures of the gallery: scenes of the list, run to a moment and drawn in film quality.

    .venv/bin/python examples/gallery/pictures.py docs/pictures/gallery [NAME ...]

Each takes a minute or two on two cores. The picture of the wrecking ball comes from Blender, by `make demo-blender`.
"""

import math
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

from PIL import Image

import rattleback as rb

SIZE, QUALITY = (800, 450), 84


class Shot(NamedTuple):
    """A scene, the moment that is shown [s], the length of a step [s], and where it is seen from."""

    scene: str
    moment: float
    time_step: float
    azimuth: float | None = None
    elevation: float = 20.0
    samples: int = 96
    distance: float | None = None


SHOTS = {
    "wall": Shot("wall", 2.1, 1 / 240, -62.0, 14.0),
    "funnel": Shot("funnel", 2.2, 1 / 240, -60.0, 24.0),
    "ragdolls": Shot("twenty_ragdolls", 1.6, 1 / 240, -50.0, 18.0),
    "bridge": Shot("breaking_bridge", 1.3, 1 / 240, -55.0, 16.0),
    "car": Shot("car_on_height_field", 3.0, 1 / 240, -50.0, 14.0, distance=5.5),
    "stewart": Shot("stewart", 1.4, 1 / 500, -50.0, 16.0),
    "cradle": Shot("cradle", 2.0, 1 / 1000, -65.0, 12.0),
    "hanging_bridge": Shot("hanging_bridge", 1.0, 1 / 240, -60.0, 18.0),
}


def take(shot: Shot, path: Path) -> None:
    """Run a scene to its moment and draw it."""
    entry = rb.scenes.MENU[shot.scene]
    sim = rb.Simulation(entry.build(), time_step=shot.time_step, integrator=entry.integrator)
    sim.run(shot.moment)
    azimuth = None if shot.azimuth is None else math.radians(shot.azimuth)
    camera = rb.Camera(azimuth, math.radians(shot.elevation), shot.distance)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "drawn.png"
        rb.render(sim, drawn, size=SIZE, camera=camera, quality="film", samples=shot.samples)
        with Image.open(drawn) as picture:
            picture.convert("RGB").save(path, quality=QUALITY, optimize=True, progressive=True)


def main(folder: str, *names: str) -> None:
    """Take the pictures named, or all."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", rb.NotConvergedWarning)
    for name in names or SHOTS:
        begun = time.perf_counter()
        take(SHOTS[name], place / f"{name}.jpg")
        size = (place / f"{name}.jpg").stat().st_size
        print(f"{name}.jpg: {size / 1000:.0f} kB, {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
