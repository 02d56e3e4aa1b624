"""A tape: what is recorded of a running simulation, its numbers and its pictures, until it is stopped."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.recording import Recorder
from rattleback.recording.recorder import SUFFIXES
from rattleback.viewer.panels.film import film_of
from rattleback.viewer.replay_page import compose
from rattleback.viewer.timeline.reel import slim

if TYPE_CHECKING:
    from rattleback.model.scene import Scene
    from rattleback.recording.camera import Camera
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.session import Session

# Numbers and pictures that a tape has room for.
MOST_NUMBERS, MOST_FRAMES = 25_000_000, 3600
REPLAY, FILM, PLOTS = "html", "mp4", ("png", "svg")
# What a tape can be written as, by what it is called: numbers, plots of them, and a page that shows the run again.
FORMATS = {
    **{f"data ({suffix.lstrip('.')})": suffix.lstrip(".") for suffix in sorted(SUFFIXES, reverse=True)},
    **{f"plot ({kind})": kind for kind in PLOTS},
    f"replay ({REPLAY})": REPLAY,
    f"film ({FILM})": FILM,
}


class Tape:
    """Records a simulation; make it and stop it by commands of the session.

    It ends by itself where the scene becomes another one, and where it is full.

    Attributes:
        every: Number of steps from one sample to the next.
        recorder: The numbers.
        running: Whether it records.

    Args:
        session: The session; its first simulation is recorded.
        every: Number of steps from one sample to the next.
        quantities: Names of what is recorded, as a Recorder takes them.
    """

    def __init__(self, session: Session, every: int, quantities: list[str]) -> None:
        sim = session.sims[0]
        self.recorder = Recorder(sim, every, quantities)
        self.recorder.detach()
        self.every, self.running = self.recorder.every, True
        self._session, self._sim, self._scene = session, sim, sim.scene
        self._frames: list[Frame] = []
        self._most = MOST_NUMBERS // len(self.recorder.columns)
        sim.observe(self)

    def __len__(self) -> int:
        return len(self.recorder)

    def observe(self, simulation: Simulation) -> None:
        """Take a sample."""
        if self.end_with(simulation.scene):
            return
        self.recorder.sample()
        if len(self) >= self._most:
            self._end(f"The recording has ended after {len(self)} samples: it is full.")

    def see(self, frame: Frame) -> None:
        """Keep a picture for the replay."""
        now = frame.picture.scene is self._scene and not frame.timeline.past
        if self.running and now and len(self._frames) < MOST_FRAMES:
            self._frames.append(_bare(frame))

    def end_with(self, scene: Scene) -> bool:
        """End where the scene is another one now, and say whether it is."""
        if scene is self._scene:
            return False
        self._end("The recording has ended, since the scene is another one now.")
        return True

    def stop(self) -> None:
        """Stop recording; what was recorded stays."""
        self.running = False
        self._sim.unobserve(self)

    def write(self, kind: str, camera: Camera | None = None) -> bytes:
        """What was recorded, as a file; only of a tape that has stopped.

        Args:
            kind: A value of FORMATS.
            camera: Where a film is seen from.
        """
        if kind == FILM:
            return film_of(self._frames, camera)
        if kind == REPLAY:
            return compose(self._frames).encode()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"recording.{kind}"
            if kind in PLOTS:
                self.recorder.plot(path=path)
            else:
                self.recorder.save(path)
            return path.read_bytes()

    def _end(self, text: str) -> None:
        if self.running:
            self.stop()
            self._session.tell(text)


def _bare(frame: Frame) -> Frame:
    """A frame with nothing but motion."""
    pictures = (replace(picture, contacts=None, energy=None, report=None, probes={}) for picture in frame.pictures)
    return slim(replace(frame, pictures=tuple(pictures)))
