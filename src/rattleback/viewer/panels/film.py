"""Films of what was recorded: the pictures of a tape as an MP4 file, seen from where a client stands.

Frame k shows the picture whose time is nearest to t₀ + k · speed/fps; what was seen in slow motion is so in the film.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.maths.rotation import rotate
from rattleback.recording.camera import Camera
from rattleback.recording.snapshot import Snapshot
from rattleback.recording.video import write_film

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.viewer.frame import Frame, Picture

FPS, SIZE = 30.0, (1280, 720)
STEEPEST = math.radians(89.0)


def film_of(frames: Sequence[Frame], camera: Camera | None) -> bytes:
    """An MP4 file of pictures.

    Args:
        frames: What was recorded; of several simulations, the first is shown.
        camera: Where it is seen from; such that all of it is in the picture if left out.

    Raises:
        InputError: There are none.
        DeviceError: A package is missing that draws or encodes; the sentence says what to install.
    """
    if not frames:
        raise InputError("There is nothing to film yet; record while the simulation runs.")
    times = np.array([frame.time for frame in frames])
    # Where the run went back to an earlier moment, what came before is another run.
    first = int(np.flatnonzero(np.diff(times) < 0.0)[-1] + 1) if np.any(np.diff(times) < 0.0) else 0
    frames, times = frames[first:], times[first:]
    speed = frames[-1].speed if math.isfinite(frames[-1].speed) else 1.0
    wanted = np.arange(times[0], times[-1] + 1e-9, speed / FPS)
    after = np.clip(np.searchsorted(times, wanted), 1, max(1, len(times) - 1))
    nearest = [k if k < len(times) and abs(times[k] - t) < abs(times[k - 1] - t) else k - 1
               for k, t in zip(after.tolist(), wanted.tolist(), strict=True)]  # fmt: skip
    shots = [_snapshot(frame.picture) for frame in frames]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        write_film([shots[k] for k in nearest], path, FPS, SIZE, camera)
        return path.read_bytes()


def camera_of(client: Any) -> Camera:
    """Where a client looks from."""
    camera = client.camera
    away = np.subtract(camera.position, camera.look_at)
    elevation = math.atan2(away[2], math.hypot(away[0], away[1]))
    return Camera(
        azimuth=math.atan2(away[1], away[0]),
        elevation=min(max(elevation, -STEEPEST), STEEPEST),
        distance=float(np.linalg.norm(away)),
        target=tuple(np.asarray(camera.look_at, dtype=np.float64).tolist()),
        field_of_view=float(camera.fov),
    )


def _snapshot(picture: Picture) -> Snapshot:
    centres = np.array([body.center_of_mass for body in picture.scene.bodies]).reshape(-1, 3)
    turn = np.asarray(picture.orientation, dtype=np.float64)
    place = np.asarray(picture.position, dtype=np.float64) - rotate(turn, centres)
    return Snapshot(picture.scene, place, turn, np.linalg.norm(picture.velocity, axis=-1).astype(np.float64))
