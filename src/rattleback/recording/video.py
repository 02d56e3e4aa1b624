"""Films: a simulation is stepped, then drawn frame by frame and written as H.264 in an MP4 file.

    t_k = t_0 + k · speed/fps,      k = 0 … N − 1,      N = round(duration · fps/speed), at least 1

t_k time that frame k is meant to show; it shows the whole step that is nearest, so that no frame is between two steps.
All frames are simulated before the first is drawn, so that the camera finds a place from which all of them are seen.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from rattleback.core import checks, whole_file
from rattleback.core.errors import DeviceError, FileError, InputError, RattlebackError
from rattleback.recording.context import NO_PACKAGE
from rattleback.recording.look import Appearance, LookOptions
from rattleback.recording.renderer import Renderer, check_size
from rattleback.recording.snapshot import Snapshot, snapshot_of
from rattleback.recording.still import check_camera, check_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from rattleback.recording.camera import Camera
    from rattleback.simulation import Simulation

QUICK = Appearance(samples=1)
MOST_FRAMES = 10**6
# Quality that the eye cannot tell from the drawing, colours as screens expect them, playable before it is all there.
ENCODING = (
    "-an", "-c:v", "libx264", "-pix_fmt", "yuv420p",
    "-crf", "17", "-preset", "fast", "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-colorspace", "bt709",
    "-color_primaries", "bt709", "-color_trc", "bt709", "-movflags", "+faststart",
)  # fmt: skip


class Tempo(NamedTuple):
    """How time runs in a film: simulated time [s], frames a second, simulated seconds in a second of film."""

    duration: float
    fps: float
    speed: float

    @property
    def frames(self) -> int:
        """Number of frames."""
        return max(1, round(self.duration * self.fps / self.speed))

    def time(self, frame: int) -> float:
        """Time that a frame is meant to show, from the start [s]."""
        return frame * self.speed / self.fps


def film(
    sim: Simulation,
    path: str | PathLike[str],
    *,
    duration: float = 5.0,
    fps: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = (1280, 720),
    camera: Camera | None = None,
    progress: bool = True,
    **look: Unpack[LookOptions],
) -> None:
    """Step a simulation and write a film of it; of several worlds, the first is shown.

    Every frame shows a whole step, the one nearest to its time: at 30 frames a second and steps of 0.01 s, three or
    four steps lie between two frames. The first frame is the simulation as it is now; in the end it is ``duration``
    later, to the nearest step. Where it gives up, the film is written up to there, and the error comes after that.

    Args:
        sim: The simulation.
        path: Where to, a name that ends with ``.mp4``.
        duration: Time to simulate [s]; the film lasts ``duration/speed``.
        fps: Frames in a second of film.
        speed: Simulated seconds in a second of film; 0.25 is slow motion.
        size: Width and height, both even [pixels].
        camera: Where it is seen from; what is left out is chosen so that all that happens is in the picture.
        progress: Whether to show a progress bar, if standard error is a terminal.
        **look: As for :func:`render`, but ``samples`` is 1 by default, which is quick.

    Raises:
        DeviceError: imageio-ffmpeg, moderngl or EGL is missing; the sentence says what to install.
        FileError: The file cannot be written.
    """
    target, tempo, even = check_place(path, (".mp4",), "a film"), check_tempo(sim, duration, fps, speed), _even(size)
    view, command = check_camera(camera), _encoder(even, tempo.fps)
    with Renderer(even, QUICK.with_options(look, "film")) as renderer, _bar(sim, progress) as track:
        snapshots, fault = _simulate(sim, tempo, track)
        stand = renderer.aim(view, snapshots)
        drawn = (renderer.draw(snapshot, stand) for snapshot in track(snapshots, "drawing", len(snapshots)))
        _write(target, drawn, command)
    if fault is not None:
        fault.add_note(f"The film up to there is in {str(target)!r}.")
        raise fault


def write_film(
    snapshots: Sequence[Snapshot], path: Path, fps: float, size: tuple[int, int], camera: Camera | None = None
) -> None:
    """Draw snapshots and write them as a film.

    Args:
        snapshots: What each frame shows.
        path: Where to, a name that ends with ``.mp4``.
        fps: Frames in a second of film.
        size: Width and height, both even [pixels].
        camera: Where it is seen from; what is left out is chosen so that all of it is in the picture.

    Raises:
        DeviceError: imageio-ffmpeg, moderngl or EGL is missing; the sentence says what to install.
        FileError: The file cannot be written.
    """
    command = _encoder(_even(size), fps)
    with Renderer(size, QUICK) as renderer:
        stand = renderer.aim(check_camera(camera), snapshots)
        _write(path, (renderer.draw(snapshot, stand) for snapshot in snapshots), command)


def check_tempo(sim: Simulation, duration: float, fps: float, speed: float) -> Tempo:
    """How time runs in a film, if it can."""
    rate = checks.positive(fps, "The fps of a film")
    tempo = Tempo(sim.check_duration(duration), rate, checks.positive(speed, "The speed of a film"))
    if tempo.duration * tempo.fps / tempo.speed > MOST_FRAMES:
        raise InputError(
            f"A film of {duration:g} s at {fps:g} frames a second and speed {speed:g} has more than a million frames; "
            "make it shorter, or faster."
        )
    return tempo


def step_to(sim: Simulation, time: float) -> None:
    """Take whole steps until none brings the simulation nearer to a time [s]."""
    while (left := round((time - sim.time) / sim.time_step)) > 0:
        sim.step(left if sim.methods.contact_time == "off" else 1)


def _simulate(
    sim: Simulation, tempo: Tempo, track: Callable[..., Any]
) -> tuple[list[Snapshot], RattlebackError | None]:
    """The snapshots of all frames, and what ended them early."""
    start, snapshots = sim.time, [snapshot_of(sim)]
    try:
        for frame in track(range(1, tempo.frames), "simulating", tempo.frames - 1):
            step_to(sim, start + tempo.time(frame))
            snapshots.append(snapshot_of(sim))
        step_to(sim, start + tempo.duration)
    except RattlebackError as error:
        return snapshots, error
    return snapshots, None


def _write(target: Path, drawn: Iterable[NDArray[np.uint8]], command: Sequence[str]) -> None:
    """Encode the frames beside, and put the film in its place when it is whole."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "said").open("w+", encoding="utf-8") as said:
        whole = Path(folder) / "film.mp4"
        encoder = subprocess.Popen([*command, str(whole)], stdin=subprocess.PIPE, stdout=said, stderr=said)
        with encoder, suppress(BrokenPipeError):
            for frame in drawn:
                encoder.stdin.write(frame.tobytes())  # type: ignore[union-attr]
        if encoder.returncode:
            said.seek(0)
            reason = " ".join(said.read().split()) or f"its encoder ended with code {encoder.returncode}"
            raise FileError(f"The film {str(target)!r} cannot be written: {reason}.")
        with whole.open("rb") as source:
            whole_file.write(target, lambda stream: shutil.copyfileobj(source, stream), "film")


def _encoder(size: tuple[int, int], fps: float) -> list[str]:
    """The command that turns raw frames into a film, all but where to."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise DeviceError(NO_PACKAGE.format(package="imageio-ffmpeg")) from None
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.9g}", "-i", "-"]
    return [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", *raw, *ENCODING]


def _even(size: Any) -> tuple[int, int]:
    width, height = check_size(size)
    if width % 2 or height % 2:
        raise InputError(f"The size of a film is {width} by {height}; both must be even, as H.264 needs them.")
    return width, height


@contextmanager
def _bar(sim: Simulation, wanted: bool) -> Iterator[Callable[..., Any]]:
    """What passes things on one by one and shows how far they are, if standard error is a terminal."""
    if not (wanted and sys.stderr is not None and sys.stderr.isatty()):
        yield lambda things, doing, count: things
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield lambda things, doing, count: progress.track(things, count, description=f"{sim.scene.name}: {doing}")
