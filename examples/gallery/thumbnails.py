"""The small pictures of the gallery in the simulator: every scene of the list, run to a moment and drawn.

    .venv/bin/python examples/gallery/thumbnails.py src/rattleback/viewer/gallery/pictures [NAME ...]

All of them together take a few minutes on two cores.
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

SIZE, DRAWN, QUALITY = (320, 200), (640, 400), 74


class Shot(NamedTuple):
    """The moment that is shown [s], where it is seen from [degrees] and how far away [m]."""

    moment: float
    azimuth: float | None = None
    elevation: float = 18.0
    distance: float | None = None


SHOTS = {
    "tumbling": Shot(2.0),
    "torque_free": Shot(3.0),
    "thrown": Shot(0.7),
    "free_motion": Shot(1.0),
    "free_fall": Shot(0.4),
    "frictionless_box": Shot(2.0),
    "kepler": Shot(2.2),
    "orbits": Shot(1.0),
    "swarm": Shot(0.6),
    "pendulum": Shot(0.3),
    "double_pendulum": Shot(1.3),
    "heavy_top": Shot(0.4),
    "chain": Shot(2.0),
    "rope": Shot(0.9),
    "mass_ladder": Shot(2.5),
    "tree": Shot(3.0),
    "andrews": Shot(0.012),
    "governor": Shot(0.2),
    "slider_crank": Shot(1.1),
    "stewart": Shot(1.4, -50.0, 16.0),
    "cubes_1000": Shot(0.7),
    "funnel": Shot(2.2, -60.0, 24.0),
    "wall": Shot(2.0, -62.0, 14.0),
    "tower": Shot(0.5),
    "book_stack": Shot(0.5),
    "arch": Shot(0.5),
    "incline": Shot(3.0),
    "rolling": Shot(0.6),
    "sliding_ball": Shot(0.5),
    "cradle": Shot(2.0, -65.0, 12.0),
    "bounces": Shot(0.35),
    "painleve": Shot(0.1),
    "double_pendulum_impact": Shot(0.2),
    "tippe_top": Shot(3.0),
    "rattleback": Shot(1.0),
    "ragdoll_on_stairs": Shot(1.2, -50.0, 18.0),
    "twenty_ragdolls": Shot(1.4, -50.0, 18.0),
    "humanoid": Shot(0.4),
    "breaking_bridge": Shot(1.3, -55.0, 16.0),
    "hanging_bridge": Shot(1.0, -60.0, 18.0),
    "bowl": Shot(2.0, -60.0, 34.0),
    "car_on_height_field": Shot(3.0, -50.0, 14.0, 5.5),
}
USUAL = Shot(1.0)


def take(name: str, path: Path) -> None:
    """Run a scene to its moment and draw it."""
    entry, shot = rb.scenes.MENU[name], SHOTS.get(name, USUAL)
    sim = rb.Simulation(entry.build(), time_step=entry.time_step, integrator=entry.integrator)
    sim.run(shot.moment)
    azimuth = None if shot.azimuth is None else math.radians(shot.azimuth)
    camera = rb.Camera(azimuth, math.radians(shot.elevation), shot.distance)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "drawn.png"
        rb.render(sim, drawn, size=DRAWN, camera=camera, samples=4)
        with Image.open(drawn) as picture:
            small = picture.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
            small.save(path, quality=QUALITY, optimize=True, progressive=True)


def main(folder: str, *names: str) -> None:
    """Take the pictures named, or all."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", rb.NotConvergedWarning)
    for name in names or rb.scenes.MENU:
        begun = time.perf_counter()
        take(name, place / f"{name}.jpg")
        size = (place / f"{name}.jpg").stat().st_size
        print(f"{name}.jpg: {size / 1000:.0f} kB, {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
