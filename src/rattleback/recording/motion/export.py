"""Motion to a file: which kinds there are, and what is said of what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rattleback.core import checks, whole_file
from rattleback.recording.motion.take import Take, take_of
from rattleback.recording.still import check_place

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from pathlib import Path

    from rattleback.recording.recorder import Recorder

FPS = 60.0


class Exported(NamedTuple):
    """What was written.

    Attributes:
        frames: Number of frames.
        fps: Frames in a second of film.
        position_error: How far a body may be off where a frame lies between two samples, estimated [m].
        orientation_error: The same for its orientation [rad].
    """

    frames: int
    fps: float
    position_error: float
    orientation_error: float


def export(recorder: Recorder, path: str | PathLike[str], tempo: tuple[float, float], **shown: bool) -> Exported:
    """Write the motion of a recording; see ``Recorder.export``.

    Args:
        recorder: The recording.
        path: Where to.
        tempo: Frames in a second of film, and simulated seconds in one.
        **shown: ``joints`` and ``arrows``.
    """
    for name, value in shown.items():
        checks.flag(value, f"The {name} of a motion")
    target = check_place(path, WRITERS, "a motion")
    take = take_of(recorder, *tempo)
    content = WRITERS[target.suffix.lower()](take, target, shown)
    whole_file.write(target, content, "motion")
    return Exported(take.frames, take.fps, take.position_error, take.orientation_error)


def _glb(take: Take, target: Path, shown: dict[str, bool]) -> bytes:
    from rattleback.recording.motion.gltf import Gltf

    return Gltf(take, **shown).document.binary()


def _gltf(take: Take, target: Path, shown: dict[str, bool]) -> bytes:
    from rattleback.recording.motion.gltf import Gltf

    return Gltf(take, **shown).document.embedded()


def _usd(take: Take, target: Path, shown: dict[str, bool]) -> bytes:
    from rattleback.recording.motion.usd import stage_of

    return stage_of(take, target.suffix.lower(), **shown)


WRITERS: dict[str, Callable[[Take, Path, dict[str, Any]], bytes]] = {
    ".glb": _glb,
    ".gltf": _gltf,
    ".usd": _usd,
    ".usda": _usd,
    ".usdc": _usd,
}
