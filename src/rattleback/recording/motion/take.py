"""A take: what a recording shows at the times of frames, ready to be written for another program.

    t_k = t_0 + k · speed/fps,      k = 0 … N − 1,      t_{N−1} ≤ the time of the last sample

The bodies lie where the recording has them at exactly these times, between two samples as ``between`` says. Of several
worlds, the first is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, listing
from rattleback.maths.rotation import rotate
from rattleback.recording.motion.between import ROUNDING, Between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rattleback.model import Scene
    from rattleback.recording.quantities import Quantity
    from rattleback.recording.recorder import Recorder

    Floats = NDArray[np.float64]

NEEDED = ("position", "orientation")
MOST_FRAMES = 10**6
AXES = ("x", "y", "z", "w")


class Track(NamedTuple):
    """A recorded quantity at the times of the frames: a number, or the components of a vector or quaternion.

    Attributes:
        owner: Name of the body or joint it belongs to; empty for the world.
        name: What of it, such as ``velocity``, or ``energy.total`` for the world.
        unit: Its unit; empty for none.
        values: Shape (frames, components).
    """

    owner: str
    name: str
    unit: str
    values: Floats

    @property
    def label(self) -> str:
        """Owner and name, as the recorder has them."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


class Take(NamedTuple):
    """The frames of a run.

    Attributes:
        scene: The scene.
        fps: Frames in a second of film.
        speed: Simulated seconds in a second of film.
        start: Simulated time of the first frame [s].
        origin: Origins of the bodies' frames (frames, bodies, 3) [m].
        position: Centres of mass (frames, bodies, 3) [m].
        orientation: Quaternions x, y, z, w (frames, bodies, 4).
        tracks: What else was recorded.
        position_error: How far a body may be off between two samples, estimated [m].
        orientation_error: The same for its orientation [rad].
    """

    scene: Scene
    fps: float
    speed: float
    start: float
    origin: Floats
    position: Floats
    orientation: Floats
    tracks: list[Track]
    position_error: float
    orientation_error: float

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.origin)


def take_of(recorder: Recorder, fps: float, speed: float) -> Take:
    """What a recording shows at the times of frames.

    Args:
        recorder: A recording of ``position`` and ``orientation`` of all bodies.
        fps: Frames in a second of film.
        speed: Simulated seconds in a second of film.
    """
    rate, pace = checks.positive(fps, "The fps of a motion"), checks.positive(speed, "The speed of a motion")
    kept, time = _samples(recorder)
    between = Between(time, _frame_times(time, rate / pace))
    place, turn = (_first_world(recorder, name)[kept].astype(np.float64) for name in NEEDED)
    position, orientation = between.values(place), between.orientations(turn)
    scene = recorder.simulation.scene
    centers = np.array([body.center_of_mass for body in scene.bodies]).reshape(-1, 3)
    return Take(
        scene,
        rate,
        pace,
        float(time[0]),
        position - rotate(orientation, np.broadcast_to(centers, position.shape)),
        position,
        orientation,
        _tracks(recorder, kept, between),
        between.error(place),
        between.turn_error(turn),
    )


def _samples(recorder: Recorder) -> tuple[NDArray[np.int64], Floats]:
    """Which samples count and their times; of several at one time, the last does."""
    missing = [name for name in NEEDED if name not in recorder]
    if missing:
        raise InputError(
            f"Motion needs {listing(NEEDED)} of all bodies; not recorded: {listing(missing)}. "
            f"Make the recorder with rb.Recorder(sim, quantities={[*NEEDED, *recorder.quantities]})."
        )
    time = recorder.time
    if not len(time):
        raise InputError("Motion needs at least one sample; the recording is empty.")
    if (np.diff(time) < 0.0).any():
        back = int(np.argmax(np.diff(time) < 0.0))
        raise InputError(
            f"Motion needs samples in the order of time; the recording goes back from {time[back]:.6g} s to "
            f"{time[back + 1]:.6g} s. recorder.clear() after going back begins anew."
        )
    kept = np.flatnonzero(np.append(np.diff(time) > 0.0, True))
    return kept, time[kept]


def _frame_times(time: Floats, rate: float) -> Floats:
    """Times of the frames within those of the samples [s]."""
    count = float(np.floor((time[-1] - time[0]) * rate + ROUNDING * max(1.0, len(time)))) + 1.0
    if count > MOST_FRAMES:
        raise InputError(
            f"A motion of {time[-1] - time[0]:.6g} s has {count:.3g} frames at {rate:g} a simulated second; "
            "at most a million are written. Lower fps, or raise speed."
        )
    found: Floats = np.minimum(time[0] + np.arange(int(count)) / rate, time[-1])
    return found


def _first_world(recorder: Recorder, name: str) -> NDArray[Any]:
    """Samples of a recorded quantity; of several worlds, those of the first."""
    values: NDArray[Any] = recorder[name]
    return values if recorder.quantity(name)[0].worlds is None else values[:, 0]


def _tracks(recorder: Recorder, kept: NDArray[np.int64], between: Between) -> list[Track]:
    """Everything recorded but the places of the bodies, at the times of the frames."""
    found = []
    for name in recorder.quantities:
        quantity = recorder.quantity(name)[0]
        if name not in NEEDED:
            values = _first_world(recorder, name)[kept]
            _check_finite(name, values, recorder.time[kept])
            shown = between.values(values) if values.dtype.kind == "f" else between.steps(values)
            found += _split(quantity, shown.reshape(len(shown), -1), recorder)
    return found


def _check_finite(name: str, values: NDArray[Any], time: Floats) -> None:
    """Refuse what the files cannot hold."""
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if bad.any():
        raise InputError(
            f"The quantity {name!r} is not finite at t = {time[int(np.argmax(bad))]:.6g} s, which files of motion "
            "cannot hold; leave it out of the recorder."
        )


def _split(quantity: Quantity, values: Floats, recorder: Recorder) -> list[Track]:
    """A quantity as one track for each vector or number in it."""
    scene = recorder.simulation.scene
    owners = set() if quantity.own else {*(body.name for body in scene.bodies), *scene.joints}
    found, column = [], 0
    while column < len(quantity.labels):
        width = _width(quantity.labels[column:])
        label = quantity.labels[column] if width == 1 else quantity.labels[column].rpartition(".")[0]
        owner, _, name = label.rpartition(".")
        part = values[:, column : column + width]
        found.append(Track(*((owner, name) if owner in owners else ("", label)), quantity.unit, part))
        column += width
    return found


def _width(labels: Sequence[str]) -> int:
    """How many of the first labels are the components of one vector or quaternion; 1 for a number."""
    stem, width = labels[0].rpartition(".")[0], 0
    while width < min(len(AXES), len(labels)) and labels[width] == f"{stem}.{AXES[width]}":
        width += 1
    return max(width, 1)
